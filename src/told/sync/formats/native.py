"""told's own export: one JSON document with memories, their operations, checkpoints and sessions.

`export.schema.json` beside this file is its schema; docs/export.md explains it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from told.errors import UsageError
from told.journal.files import SET
from told.journal.fold import KNOWN_KINDS
from told.journal.transfer import Copy, is_too_long, seal_copies
from told.jsontext import as_text, dump_json
from told.pattern import lazy_pattern
from told.store.memories.names import ACTIVE, AGENT, FORGOTTEN, GLOBAL, PROJECT
from told.store.memories.records import Memory
from told.sync.stores.item import Item, LeftOut

FORMAT, VERSION = "told-export", 1
_PROPOSALS = ("propose", "decide")
_KINDS = KNOWN_KINDS | {SET, *_PROPOSALS}
_ID = lazy_pattern(r"m[a-z2-7]{4,40}")
_NAME = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9._-]{0,200}")
_MAX_TIME = 1 << 53
_STATE = (
    "id", "text", "kind", "marks", "context", "label", "scope", "status", "was", "locked", "trust",
    "importance", "alpha", "beta", "created", "updated", "expires", "superseded_by", "shown", "shown_last",
    "followed", "repeated", "confirmed", "worded_by", "entities",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CheckpointFile:
    """The Markdown file of a checkpoint."""

    folder: str
    name: str
    text: str
    changed: int  # ms since 1970


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed export."""

    copies: tuple[Copy, ...]
    order: tuple[int, ...]  # of the series among rows of the same second
    memories: tuple[dict[str, Any], ...]
    checkpoints: tuple[CheckpointFile, ...] = ()
    sessions: tuple[tuple[str, list[Any]], ...] = ()  # agent, and lines as in the archive
    places: tuple[tuple[str, ...], ...] = ()  # folder, project key, name, root
    projects: tuple[tuple[str, str, tuple[str, ...]], ...] = ()  # root, scope, series of `told init`
    key: bytes = b""
    seal: str = ""
    problems: tuple[LeftOut, ...] = ()

    def is_sealed_by(self, key: bytes) -> bool:
        """Tell whether a home with this key made its operations."""
        return bool(key) and self.seal == seal_copies(self.copies, key)

    @property
    def digest(self) -> str:
        """A hash of its operations."""
        return seal_copies(self.copies)


def describe_memory(memory: Memory) -> dict[str, Any]:
    """Return a memory's present state for JSON."""
    found = {name: getattr(memory, name) for name in _STATE}
    return found | {
        "evidence": [one._asdict() for one in memory.evidence],
        "triggers": [one._asdict() for one in memory.triggers],
        "edges": [one._asdict() for one in memory.edges],
    }


def format_export(head: Mapping[str, Any], lists: Mapping[str, Sequence[Any]]) -> Iterator[str]:
    """Yield the document: one line for each entry of a list, so that versions of it can be compared."""
    yield "{\n"
    yield ",\n".join(f"{dump_json(name)}: {dump_json(value)}" for name, value in head.items())
    for name, entries in lists.items():
        yield f",\n{dump_json(name)}: ["
        yield ",".join(f"\n {dump_json(entry)}" for entry in entries)
        yield "\n]" if entries else "]"
    yield "\n}\n"


def format_copies(copies: Sequence[Copy]) -> list[dict[str, Any]]:
    """Return operations for JSON."""
    return [one._asdict() for one in copies]


def is_export(value: Any) -> bool:
    """Tell whether a JSON value is an export of told."""
    return isinstance(value, dict) and value.get("format") == FORMAT


def parse_export(value: dict[str, Any]) -> Document:
    """Check and return an export.

    Raises:
        UsageError: a newer told made it.
    """
    if value.get("version") != VERSION:
        raise UsageError(f"This export has version {value.get('version')!r}. Update told to import it.")
    problems: list[LeftOut] = []
    order = tuple(one for one in _list(value, "series") if isinstance(one, int) and not isinstance(one, bool))
    if sorted(order) != list(range(len(order))):
        order = ()
    copies = []
    for number, one in enumerate(_list(value, "operations"), 1):
        found = _parse_copy(one, len(order))
        if isinstance(found, Copy):
            copies.append(found)
        else:
            problems.append(LeftOut(f"operation {number}", found))
    memories = [one for one in _list(value, "memories") if isinstance(one, dict) and _is_id(one.get("id"))]
    key = value.get("key")
    return Document(
        tuple(copies), order, tuple(memories), tuple(_parse_checkpoints(value, problems)),
        tuple(_parse_sessions(value)), tuple(_parse_places(value)), tuple(_parse_projects(value)),
        _parse_key(key) if isinstance(key, str) else b"", str(value.get("seal", "")), tuple(problems),
    )  # fmt: skip


def _parse_copy(one: Any, series: int) -> Copy | str:
    """Return an operation, or why it is none."""
    if not isinstance(one, dict):
        return "not an operation"
    number, at, kind, memory, by, payload = (one.get(name) for name in Copy._fields)
    if not (_is_number(number) and _is_number(at)) or int(number or 0) >= series:
        return "not an operation"
    if not (isinstance(by, str) and isinstance(memory, str) and isinstance(payload, (dict, type(None)))):
        return "not an operation"
    if kind not in _KINDS:
        return f"told does not know {str(kind)[:40]!r}"
    if memory and not _is_id(memory):
        return f"{memory[:40]!r} is no id of a memory"
    if is_too_long(payload):
        return "it is too long"
    found = Copy(int(number or 0), int(at or 0), kind, memory, by, payload)
    return found if found.identity or payload is None else "it has no identity"


def _parse_checkpoints(value: dict[str, Any], problems: list[LeftOut]) -> Iterator[CheckpointFile]:
    for number, one in enumerate(_list(value, "checkpoints"), 1):
        given = one if isinstance(one, dict) else {}
        folder, name, text = (as_text(given.get(key)) for key in ("folder", "name", "text"))
        if text and _NAME.fullmatch(folder) and _NAME.fullmatch(name) and name.endswith(".md"):
            yield CheckpointFile(folder, name, text, _time(given.get("changed")))
        else:
            problems.append(LeftOut(f"checkpoint {number}", "not a checkpoint"))


def _parse_sessions(value: dict[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    for one in _list(value, "sessions"):
        agent, lines = (one.get("agent"), one.get("lines")) if isinstance(one, dict) else ("", None)
        if isinstance(agent, str) and _NAME.fullmatch(agent) and isinstance(lines, list):
            yield agent, [line for line in lines if isinstance(line, list) and line]


def _parse_places(value: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    for one in _list(value, "places"):
        if isinstance(one, list) and len(one) == 4 and all(isinstance(part, str) and part for part in one):
            yield tuple(one)


def _parse_projects(value: dict[str, Any]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for one in _list(value, "projects"):
        given = one if isinstance(one, dict) else {}
        root, scope, series = given.get("root"), given.get("scope"), given.get("series")
        if isinstance(root, str) and isinstance(scope, str) and isinstance(series, list):
            yield root, scope, tuple(name for name in series if isinstance(name, str))


def _parse_key(text: str) -> bytes:
    return bytes.fromhex(text) if re.fullmatch("[0-9a-f]{64}", text) else b""


def list_items(document: Document, *, mine: bool = False) -> Iterator[Item | LeftOut]:
    """Yield the memories of somebody else's export as items; only the user's own keep their trust."""
    yield from document.problems
    for one in document.memories:
        status, scope, text = one.get("status"), one.get("scope"), one.get("text")
        if status == FORGOTTEN or not isinstance(text, str) or not text:
            continue
        key = scope.removeprefix(PROJECT) if isinstance(scope, str) and scope.startswith(PROJECT) else ""
        if not key and scope != GLOBAL:
            yield LeftOut(one["id"], f"its scope {str(scope)[:60]!r} is not known here")
            continue
        importance = one.get("importance")
        yield Item(
            one["id"], text, as_text(one.get("kind")) or "fact", key,
            _time(one.get("created")), _time(one.get("updated")),
            trust=as_text(one.get("trust")) if mine else AGENT, status=as_text(status) or ACTIVE,
            importance=float(importance) if isinstance(importance, (int, float)) else 0.0,
            entities=tuple(name for name in _list(one, "entities") if isinstance(name, str)),
            links=tuple(_parse_links(one)), context=as_text(one.get("context")),
        )  # fmt: skip


def _parse_links(one: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for edge in _list(one, "edges"):
        kind, target = (edge.get("kind"), edge.get("target")) if isinstance(edge, dict) else ("", "")
        if isinstance(kind, str) and isinstance(target, str) and kind and target:
            yield kind, target


def _list(value: dict[str, Any], name: str) -> list[Any]:
    found = value.get(name)
    return found if isinstance(found, list) else []


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MAX_TIME


def _time(value: Any) -> int:
    return value if _is_number(value) else 0
