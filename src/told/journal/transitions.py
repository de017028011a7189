"""Create and change memories by operations; payloads are not trusted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from told.journal.files import ARCHIVE, FORGET, RESTORE, STRANGER, UNDO, Operation, hash_bytes
from told.jsontext import dump_json
from told.store.memories.records import (
    ACTIVE,
    AGENT,
    ARCHIVED,
    CANDIDATE,
    CAPTURE,
    CORRECTION,
    DISMISSED,
    FORGOTTEN,
    GLOBAL,
    KIND_NAMES,
    MARKS,
    OBSERVATION,
    PROJECT,
    QUARANTINED,
    READER,
    SHARED,
    SUPERSEDED,
    TEAM,
    TOOL,
    UNCONFIRMED,
    USER,
    Edge,
    Evidence,
    IdleMemory,
    Memory,
    Trigger,
    is_private,
    project_key,
    split_kind,
)

# Operations that bring an archived memory back, because somebody needed it.
_UNARCHIVES = frozenset(
    (RESTORE, "lock", "confirm", "repeat", "follow", "show", "share", "revise", "release")
)
# Operations allowed on a locked memory: they only count, or follow its project.
_ALLOWED_WHEN_LOCKED = frozenset(("show", "follow", "repeat", "move"))
CONTENT = "content"  # payload field of a confirmation: the hash of what was confirmed
_MAX_TIME = 1 << 53
_MAX_ITEMS = 32  # of each list of a memory
_MAX_CONTEXT = 400  # characters


def create_memory(memory: str, operation: Operation, key: tuple[int, str, int]) -> Memory:
    """Create a memory from an operation; a forgotten one if the payload is erased."""
    payload = operation.payload
    fields: dict[str, Any] = {
        "id": memory, "machine": operation.machine, "number": operation.number,
        "created": operation.at, "updated": operation.at, "last": key,
    }  # fmt: skip
    if payload is None:
        return Memory(**fields, status=FORGOTTEN)
    kind, marks = split_kind(CORRECTION if operation.kind == "correct" else OBSERVATION)
    status = payload.get("status")
    fields |= {
        "kind": kind,
        "marks": marks,
        "trust": _text(payload.get("trust")) or _text(operation.by) or TOOL,
        "created": _time(payload.get("created")) or operation.at,
        "alpha": _amount(payload.get("alpha"), 1.0) or 1.0,
        "beta": _amount(payload.get("beta"), 1.0) or 1.0,
        "locked": payload.get("locked") is True and operation.by == USER,
        "status": status if status in (QUARANTINED, CANDIDATE) else ACTIVE,
        "evidence": _evidence(payload.get("evidence")),
        "worded_by": _text(operation.by),
    }
    return Memory(**(fields | _content(payload)))


def change_memory(memory: Memory, operation: Operation, key: tuple[int, str, int]) -> Memory:
    """Return a memory after an operation; only the user changes locked ones."""
    is_frozen = memory.status == FORGOTTEN and operation.kind not in (FORGET, "move")
    if operation.by.startswith(TEAM) and memory.trust != operation.by:
        is_frozen = True  # a colleague's operation changes only that colleague's memories
    is_locked = memory.locked and operation.by != USER and operation.kind not in _ALLOWED_WHEN_LOCKED
    if is_frozen or is_locked:
        return memory._replace(last=key)
    if memory.status == ARCHIVED:
        return _change_archived(memory, operation)._replace(last=key)
    return TRANSITIONS[operation.kind](memory, operation)._replace(last=key)


def _change_archived(memory: Memory, operation: Operation) -> Memory:
    """Apply an operation to the memory's former state; archive it again if needed."""
    if operation.kind == ARCHIVE:
        return memory
    changed = TRANSITIONS[operation.kind](memory._replace(status=memory.was, was=""), operation)
    if operation.kind in _UNARCHIVES or changed.status in (FORGOTTEN, DISMISSED):
        return changed
    return changed._replace(status=ARCHIVED, was=changed.status)


def usage_snapshot(memory: Memory | IdleMemory) -> list[int]:
    """Return the counters that must be unchanged when a memory is archived."""
    return [memory.updated, memory.shown, memory.shown_last, memory.followed, memory.repeated]


def _archive(memory: Memory, operation: Operation) -> Memory:
    """Archive a memory unless it is protected or was used meanwhile."""
    is_protected = memory.locked or memory.confirmed or memory.trust.startswith(TEAM)
    is_protected = is_protected or memory.status in UNCONFIRMED
    was_used = _payload(operation).get("known") != usage_snapshot(memory)
    if is_protected or was_used or operation.by not in (USER, CAPTURE, READER):
        return memory
    return memory._replace(status=ARCHIVED, was=memory.status)


def _lock(memory: Memory, operation: Operation) -> Memory:
    if operation.by != USER or memory.machine.startswith(STRANGER):  # others can edit that one's text
        return memory
    return memory._replace(locked=True, updated=operation.at)


def _unlock(memory: Memory, operation: Operation) -> Memory:
    return memory._replace(locked=False, updated=operation.at) if operation.by == USER else memory


def _supersede(memory: Memory, operation: Operation) -> Memory:
    by = _text(_payload(operation).get("by"))
    if memory.is_rejected:  # a rejection outlives what replaces it
        return memory._replace(superseded_by=by)
    return memory._replace(status=SUPERSEDED, superseded_by=by, updated=operation.at)


def _quarantine(memory: Memory, operation: Operation) -> Memory:
    is_active = memory.status == ACTIVE
    return memory._replace(status=QUARANTINED, updated=operation.at) if is_active else memory


def _release(memory: Memory, operation: Operation) -> Memory:
    is_quarantined = memory.status == QUARANTINED
    return memory._replace(status=ACTIVE, updated=operation.at) if is_quarantined else memory


def _forget(memory: Memory, operation: Operation) -> Memory:
    """Keep only the id, the scope, and the evidence that must not be imported again."""
    payload = _payload(operation)
    places = [one._replace(quote="") for one in _evidence(payload.get("evidence"))]
    scope = _content(payload).get("scope", GLOBAL)
    if memory.status == FORGOTTEN:
        places = [*memory.evidence, *places]
        scope = memory.scope if scope == GLOBAL else scope
    return Memory(
        memory.id, memory.machine, memory.number, scope=scope, status=FORGOTTEN,
        created=operation.at, updated=operation.at, evidence=tuple(dict.fromkeys(places)),
    )  # fmt: skip


def _confirm(memory: Memory, operation: Operation) -> Memory:
    """Count a confirmation; it makes a candidate an active memory.

    A rejected one comes back by the user's word only: a command, or a request in a session.
    """
    if memory.is_rejected and operation.by not in (USER, CAPTURE, READER):
        return memory
    # A colleague can change the text: the user has confirmed what it said by then.
    if _payload(operation).get(CONTENT, hash_content(memory)) != hash_content(memory):
        return memory
    if memory.status in UNCONFIRMED:
        memory = memory._replace(status=ACTIVE, was="", superseded_by="")
    confirmed = memory._replace(alpha=memory.alpha + _weight(operation), updated=operation.at,
        confirmed=operation.at if operation.by == USER else memory.confirmed,
    )  # fmt: skip
    return _add_evidence(confirmed, operation)


def _reject(memory: Memory, operation: Operation) -> Memory:
    """Dismiss a memory for the user, or a candidate for told."""
    payload = _payload(operation)
    if memory.status not in UNCONFIRMED and "weight" in payload:  # older versions only lowered the confidence
        beta = memory.beta + _weight(operation)
        return memory._replace(beta=beta, updated=operation.at, confirmed=0)
    is_users_word = operation.by == USER or (
        operation.by in (CAPTURE, READER) and payload.get("retracted") is True
    )
    if is_users_word and not memory.locked:
        return memory._replace(status=DISMISSED, was=USER, updated=operation.at, confirmed=0)
    is_dropped = operation.by == READER and payload.get("dropped") is True
    if is_dropped and memory.status == ACTIVE and may_reword(memory):
        return memory._replace(status=DISMISSED, was="", updated=operation.at)
    if memory.status != CANDIDATE:
        return memory
    # One that expired may come back when it is said again.
    was = CANDIDATE if payload.get("expired") is True else ""
    return memory._replace(status=DISMISSED, was=was, updated=operation.at)


def may_reword(memory: Memory) -> bool:
    """Tell whether the reader may reword or drop a memory: not what the user decided or worded."""
    return not memory.locked and not memory.confirmed and memory.worded_by in (CAPTURE, READER, AGENT)


def _refuse(memory: Memory, operation: Operation) -> Memory:  # noqa: ARG001 - same signature as the others
    """Count that a rejected memory was said again and not brought back."""
    return memory._replace(repeated=memory.repeated + 1) if memory.is_rejected else memory


def _follow(memory: Memory, operation: Operation) -> Memory:
    return memory._replace(alpha=memory.alpha + _weight(operation), followed=memory.followed + 1)


def _repeat(memory: Memory, operation: Operation) -> Memory:
    repeated = memory._replace(beta=memory.beta + _weight(operation), repeated=memory.repeated + 1)
    return repeated if memory.locked and operation.by != USER else _add_evidence(repeated, operation)


def _show(memory: Memory, operation: Operation) -> Memory:
    return memory._replace(shown=memory.shown + 1, shown_last=max(memory.shown_last, operation.at))


def _edge(memory: Memory, operation: Operation) -> Memory:
    payload = _payload(operation)
    kind, target = _text(payload.get("kind")), _text(payload.get("target"))
    if not kind or not target:
        return memory
    others = tuple(edge for edge in memory.edges if (edge.kind, edge.target) != (kind, target))
    if payload.get("remove") is True:
        return memory._replace(edges=others)
    edge = Edge(kind, target, operation.at, _text(operation.by))
    return memory._replace(edges=(*others, edge)[-_MAX_ITEMS:])


def _keep(memory: Memory, operation: Operation) -> Memory:  # noqa: ARG001 - same signature as the others
    return memory


def _move(memory: Memory, operation: Operation) -> Memory:
    """Follow a project to its new key; a private memory stays private."""
    scope = _text(_payload(operation).get("scope"))
    both_projects = project_key(memory.scope) and project_key(scope)
    is_as_private = is_private(memory.scope) == is_private(scope)
    return memory._replace(scope=scope) if both_projects and is_as_private else memory


def _revise(memory: Memory, operation: Operation) -> Memory:
    """Change what a memory says, and add the evidence for it.

    A private memory stays private: a public one is made of a new operation. Only the user makes one private.
    """
    given = _content(_payload(operation))
    widens = is_private(memory) and not is_private(given.get("scope", memory.scope))
    narrows = not is_private(memory) and is_private(given.get("scope", memory.scope))
    if widens or (narrows and operation.by != USER):
        del given["scope"]
    if "text" in given:
        given["worded_by"] = _text(operation.by)
    if "importance" in given:  # of two machines' edits, the higher one counts
        given["importance"] = max(given["importance"], memory.importance)
    revised = memory._replace(**given, updated=operation.at)
    if operation.by.startswith(TEAM) and hash_content(revised) != hash_content(memory):
        revised = revised._replace(confirmed=0)
    return _add_evidence(revised, operation)


def confirmed_content(memory: Memory) -> dict[str, str]:
    """Return the payload field that ties a confirmation to what a colleague's memory says now."""
    return {CONTENT: hash_content(memory)} if memory.trust.startswith(TEAM) else {}


def hash_content(memory: Memory) -> str:
    """Return a hash of what a memory says, which a confirmation is for."""
    said = [memory.text, memory.context, memory.kind, memory.marks, memory.triggers]
    return hash_bytes(dump_json(said).encode("utf-8", "replace"))


TRANSITIONS: dict[str, Callable[[Memory, Operation], Memory]] = {
    "lock": _lock, "unlock": _unlock, "confirm": _confirm, "reject": _reject, "refuse": _refuse,
    "supersede": _supersede, "quarantine": _quarantine, "release": _release, FORGET: _forget,
    "show": _show, "follow": _follow, "repeat": _repeat, "edge": _edge, "share": _revise, "expire": _revise,
    "revise": _revise, "move": _move, UNDO: _keep, ARCHIVE: _archive, RESTORE: _keep,
}  # fmt: skip


def _payload(operation: Operation) -> dict[str, Any]:
    return operation.payload or {}


def _content(payload: dict[str, Any]) -> dict[str, Any]:
    """Return the valid memory fields of a payload."""
    given: dict[str, Any] = {}
    if _text(payload.get("text")):
        given["text"] = _text(payload["text"])
    if payload.get("kind") in KIND_NAMES:
        given["kind"], marks = split_kind(payload["kind"])
        listed = payload.get("marks")
        more = [one for one in MARKS if one in listed] if isinstance(listed, list) else []
        given["marks"] = tuple(dict.fromkeys((*marks, *more)))
    if isinstance(payload.get("context"), str):
        given["context"] = " ".join(_text(payload["context"]).split())[:_MAX_CONTEXT]
    if isinstance(payload.get("label"), str):
        given["label"] = _text(payload["label"])
    scope = _text(payload.get("scope"))
    is_named = scope.startswith((PROJECT, SHARED)) or is_private(scope)
    if scope == GLOBAL or (is_named and not scope.endswith(":")):
        given["scope"] = scope
    if "importance" in payload:
        given["importance"] = _amount(payload["importance"], 0.0)
    if "expires" in payload:
        given["expires"] = _time(payload["expires"])
    if isinstance(payload.get("triggers"), list):
        given["triggers"] = _triggers(payload["triggers"])
    if isinstance(payload.get("entities"), list):
        names = (_text(name).strip() for name in payload["entities"][:_MAX_ITEMS])
        given["entities"] = tuple(dict.fromkeys(name for name in names if name))
    return given


def _triggers(given: list[Any]) -> tuple[Trigger, ...]:
    """Read triggers: [[kind, value], …] or [{"kind": …, "value": …}, …]."""
    found: dict[Trigger, None] = {}
    for one in given[:_MAX_ITEMS]:
        pair = (one.get("kind"), one.get("value")) if isinstance(one, dict) else one
        if isinstance(pair, (list, tuple)) and len(pair) == 2 and _text(pair[0]) and _text(pair[1]):
            found[Trigger(_text(pair[0]), _text(pair[1]))] = None
    return tuple(found)


def _evidence(given: Any) -> tuple[Evidence, ...]:
    places = given if isinstance(given, list) else [given]
    found: dict[Evidence, None] = {}
    for one in places[:_MAX_ITEMS]:
        if isinstance(one, dict):
            turn = one.get("turn")
            number = turn if isinstance(turn, int) and abs(turn) < _MAX_TIME else 0
            agent, session, quote = (_text(one.get(name)) for name in ("agent", "session", "quote"))
            at, words = _time(one.get("at")), _time(one.get("words"))
            mark = _text(one.get("mark"))
            found[Evidence(agent, session, int(number), quote, at, mark, words)] = None
    return tuple(found)


def _add_evidence(memory: Memory, operation: Operation) -> Memory:
    new = _evidence(_payload(operation).get("evidence"))
    # A prompt hook does not know its turn: the transcript says it later.
    placed = {(one.agent, one.session, one.quote) for one in new if one.session and one.turn}
    old = [one for one in memory.evidence if one.turn or (one.agent, one.session, one.quote) not in placed]
    more = tuple(dict.fromkeys((*old, *new)))
    return memory._replace(evidence=more[:_MAX_ITEMS]) if more != memory.evidence else memory


def _weight(operation: Operation) -> float:
    return _amount(_payload(operation).get("weight"), 1.0)


def _text(value: Any) -> str:
    """Return a text without lone surrogates, which SQLite cannot store."""
    if not isinstance(value, str):
        return ""
    return value if value.isascii() else value.encode("utf-8", "replace").decode()


def _time(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < _MAX_TIME else 0


def _amount(value: Any, default: float) -> float:
    """Return a number limited to 0 … 10."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return default
    return float(min(max(value, 0), 10))
