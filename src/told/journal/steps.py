"""What each kind of operation does to a memory."""

from __future__ import annotations

from told.journal.model import (
    ACTIVE,
    ARCHIVED,
    CORRECTION,
    FORGOTTEN,
    GLOBAL,
    KINDS,
    OBSERVATION,
    PROJECT,
    QUARANTINED,
    SHARED,
    STRANGER,
    SUPERSEDED,
    TEAM,
    TOOL,
    USER,
    Edge,
    Evidence,
    Memory,
    Operation,
    Trigger,
)  # fmt: skip
from told.record import replaced
from told.store.memory_records import CAPTURE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from told.store.memory_records import Idle

UNDO = "undo"
ARCHIVE, RESTORE = "archive", "restore"
# What says that a memory is needed after all: it is no longer archived then.
_REVIVES = frozenset((RESTORE, "lock", "confirm", "repeat", "follow", "show", "share", "revise", "release"))
# What is only counted, or follows its project: a locked memory is not changed by that.
_HARMLESS = frozenset(("show", "follow", "repeat", "move"))
_LATEST = 1 << 53
_MOST = 32  # of each list that a memory carries


def born(memory: str, operation: Operation, key: tuple[int, str, int]) -> Memory:
    """Return the memory that an operation makes; without its payload only its place remains."""
    payload = operation.payload
    fields: dict[str, Any] = {
        "id": memory, "machine": operation.machine, "number": operation.number,
        "created": operation.at, "updated": operation.at, "last": key,
    }  # fmt: skip
    if payload is None:
        return Memory(**fields, status=FORGOTTEN)
    fields |= {
        "kind": CORRECTION if operation.kind == "correct" else OBSERVATION,
        "trust": _text(payload.get("trust")) or _text(operation.by) or TOOL,
        "created": _moment(payload.get("created")) or operation.at,
        "alpha": _amount(payload.get("alpha"), 1.0) or 1.0,
        "beta": _amount(payload.get("beta"), 1.0) or 1.0,
        "locked": payload.get("locked") is True and operation.by == USER,
        "status": QUARANTINED if payload.get("status") == QUARANTINED else ACTIVE,
        "evidence": _evidence(payload.get("evidence")),
    }
    return Memory(**(fields | _content(payload)))


def step(memory: Memory, operation: Operation, key: tuple[int, str, int]) -> Memory:
    """Return a memory after an operation. A locked one is changed by nobody but the user."""
    frozen = memory.status == FORGOTTEN and operation.kind != "forget"
    if operation.by.startswith(TEAM) and not memory.trust.startswith(TEAM):
        frozen = True  # what others wrote into a project's folder changes nothing that was said here
    if frozen or (memory.locked and operation.by != USER and operation.kind not in _HARMLESS):
        return replaced(memory, last=key)
    if memory.status == ARCHIVED:
        return replaced(_while_archived(memory, operation), last=key)
    return replaced(STEPS[operation.kind](memory, operation), last=key)


def _while_archived(memory: Memory, operation: Operation) -> Memory:
    """Let an operation do to an archived memory what it would have done to it as it was."""
    if operation.kind == ARCHIVE:
        return memory
    done = STEPS[operation.kind](replaced(memory, status=memory.was, was=""), operation)
    if operation.kind in _REVIVES or done.status == FORGOTTEN:
        return done
    return replaced(done, status=ARCHIVED, was=done.status)


def archived_as(memory: Memory | Idle) -> list[int]:
    """Return what must still be true of a memory when it is archived: nobody needed it meanwhile."""
    return [memory.updated, memory.shown, memory.shown_last, memory.followed, memory.repeated]


def _archive(memory: Memory, operation: Operation) -> Memory:
    """Put a memory away; not one that holds for good, or that was needed where the writer did not know it."""
    kept = memory.locked or memory.confirmed or memory.trust.startswith(TEAM)
    if kept or operation.by not in (USER, CAPTURE) or _said(operation).get("known") != archived_as(memory):
        return memory
    return replaced(memory, status=ARCHIVED, was=memory.status)


def _lock(memory: Memory, operation: Operation) -> Memory:
    if operation.by != USER or memory.machine.startswith(STRANGER):  # whose words can change in their folder
        return memory
    return replaced(memory, locked=True, updated=operation.at)


def _unlock(memory: Memory, operation: Operation) -> Memory:
    return replaced(memory, locked=False, updated=operation.at) if operation.by == USER else memory


def _supersede(memory: Memory, operation: Operation) -> Memory:
    return replaced(
        memory, status=SUPERSEDED, superseded_by=_text(_said(operation).get("by")), updated=operation.at
    )


def _quarantine(memory: Memory, operation: Operation) -> Memory:
    if memory.status != ACTIVE:
        return memory
    return replaced(memory, status=QUARANTINED, updated=operation.at)


def _release(memory: Memory, operation: Operation) -> Memory:
    if memory.status != QUARANTINED:
        return memory
    return replaced(memory, status=ACTIVE, updated=operation.at)


def _forget(memory: Memory, operation: Operation) -> Memory:
    """Leave only what an erased payload leaves, and the places that are not to be read in again."""
    places = [replaced(one, quote="") for one in _evidence(_said(operation).get("evidence"))]
    if memory.status == FORGOTTEN:
        places = [*memory.evidence, *places]
    return Memory(
        memory.id, memory.machine, memory.number, status=FORGOTTEN,
        created=operation.at, updated=operation.at, evidence=tuple(dict.fromkeys(places)),
    )  # fmt: skip


def _confirm(memory: Memory, operation: Operation) -> Memory:
    more = replaced(
        memory, alpha=memory.alpha + _amount(_said(operation).get("weight"), 1.0), updated=operation.at,
        confirmed=operation.at if operation.by == USER else memory.confirmed,
    )  # fmt: skip
    return _with_evidence(more, operation)


def _reject(memory: Memory, operation: Operation) -> Memory:
    return replaced(
        memory, beta=memory.beta + _amount(_said(operation).get("weight"), 1.0), updated=operation.at,
        confirmed=0 if operation.by == USER else memory.confirmed,
    )  # fmt: skip


def _follow(memory: Memory, operation: Operation) -> Memory:
    gain = _amount(_said(operation).get("weight"), 1.0)
    return replaced(memory, alpha=memory.alpha + gain, followed=memory.followed + 1)


def _repeat(memory: Memory, operation: Operation) -> Memory:
    loss = _amount(_said(operation).get("weight"), 1.0)
    more = replaced(memory, beta=memory.beta + loss, repeated=memory.repeated + 1)
    return more if memory.locked and operation.by != USER else _with_evidence(more, operation)


def _show(memory: Memory, operation: Operation) -> Memory:
    last = max(memory.shown_last, operation.at)
    return replaced(memory, shown=memory.shown + 1, shown_last=last)


def _edge(memory: Memory, operation: Operation) -> Memory:
    payload = _said(operation)
    kind, target = _text(payload.get("kind")), _text(payload.get("target"))
    if not kind or not target:
        return memory
    others = tuple(edge for edge in memory.edges if (edge.kind, edge.target) != (kind, target))
    if payload.get("remove") is True:
        return replaced(memory, edges=others)
    return replaced(memory, edges=(*others, Edge(kind, target, operation.at, _text(operation.by)))[-_MOST:])


def _same(memory: Memory, operation: Operation) -> Memory:  # noqa: ARG001 - what it undoes is left out
    return memory


def _move(memory: Memory, operation: Operation) -> Memory:
    """Let a memory follow its project to another key."""
    scope = _text(_said(operation).get("scope"))
    both_projects = memory.scope.startswith(PROJECT) and scope.startswith(PROJECT) and scope != PROJECT
    return replaced(memory, scope=scope) if both_projects else memory


def _revise(memory: Memory, operation: Operation) -> Memory:
    return replaced(memory, **_content(_said(operation)), updated=operation.at)


STEPS: dict[str, Callable[[Memory, Operation], Memory]] = {
    "lock": _lock, "unlock": _unlock, "confirm": _confirm, "reject": _reject, "supersede": _supersede,
    "quarantine": _quarantine, "release": _release, "forget": _forget, "show": _show, "follow": _follow,
    "repeat": _repeat, "edge": _edge, "share": _revise, "expire": _revise, "revise": _revise, "move": _move,
    UNDO: _same, ARCHIVE: _archive, RESTORE: _same,
}  # fmt: skip


# -- a payload may have come from anywhere ------------------------------------------------------------


def _said(operation: Operation) -> dict[str, Any]:
    return operation.payload or {}


def _content(payload: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a memory that a payload gives."""
    given: dict[str, Any] = {}
    if _text(payload.get("text")):
        given["text"] = _text(payload["text"])
    if payload.get("kind") in KINDS:
        given["kind"] = payload["kind"]
    if isinstance(payload.get("label"), str):
        given["label"] = _text(payload["label"])
    scope = _text(payload.get("scope"))
    if scope == GLOBAL or (scope.startswith((PROJECT, SHARED)) and not scope.endswith(":")):
        given["scope"] = scope
    if "importance" in payload:
        given["importance"] = _amount(payload["importance"], 0.0)
    if "expires" in payload:
        given["expires"] = _moment(payload["expires"])
    if isinstance(payload.get("triggers"), list):
        given["triggers"] = _triggers(payload["triggers"])
    if isinstance(payload.get("entities"), list):
        names = (_text(name).strip() for name in payload["entities"][:_MOST])
        given["entities"] = tuple(dict.fromkeys(name for name in names if name))
    return given


def _triggers(given: list[Any]) -> tuple[Trigger, ...]:
    """Read triggers: [[kind, value], …] or [{"kind": …, "value": …}, …]."""
    found: dict[Trigger, None] = {}
    for one in given[:_MOST]:
        pair = (one.get("kind"), one.get("value")) if isinstance(one, dict) else one
        if isinstance(pair, (list, tuple)) and len(pair) == 2 and _text(pair[0]) and _text(pair[1]):
            found[Trigger(_text(pair[0]), _text(pair[1]))] = None
    return tuple(found)


def _evidence(given: Any) -> tuple[Evidence, ...]:
    places = given if isinstance(given, list) else [given]
    found: dict[Evidence, None] = {}
    for one in places[:_MOST]:
        if isinstance(one, dict):
            turn = one.get("turn")
            number = turn if isinstance(turn, int) and abs(turn) < _LATEST else 0
            texts = [_text(one.get(name)) for name in ("agent", "session", "quote")]
            at, words = _moment(one.get("at")), _moment(one.get("words"))
            mark = _text(one.get("mark"))
            found[Evidence(texts[0], texts[1], int(number), texts[2], at, mark, words)] = None
    return tuple(found)


def _with_evidence(memory: Memory, operation: Operation) -> Memory:
    more = tuple(dict.fromkeys((*memory.evidence, *_evidence(_said(operation).get("evidence")))))
    return replaced(memory, evidence=more[:_MOST]) if more != memory.evidence else memory


def _text(value: Any) -> str:
    """Return a text that can be stored: half a character would stop the database."""
    if not isinstance(value, str):
        return ""
    return value if value.isascii() else value.encode("utf-8", "replace").decode()


def _moment(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < _LATEST else 0


def _amount(value: Any, otherwise: float) -> float:
    """Return a number between 0 and 10."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return otherwise
    return float(min(max(value, 0), 10))
