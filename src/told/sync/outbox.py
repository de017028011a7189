"""Collect what this machine shares with the user's other machines: everything but private memories.

Operations are copied into a series of their own with dense numbers, so that what is private leaves no gap.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from told.files import cannot_write, make_folder, read_text, write_private
from told.journal.append import append_copies, find_end
from told.journal.copies import SERIES
from told.journal.files import (
    FORGET,
    IDENTITY,
    MAKES_MEMORY,
    SET,
    STRANGER,
    UNDO,
    Operation,
    SeriesLock,
    get_machine_id,
    journal_folder,
    list_segments,
)
from told.journal.private import find_private_memories
from told.journal.read import Entry, Positions, find_in_series, has_new, read_new
from told.journal.registry import Series, list_local_series, list_shared_series
from told.jsontext import dump_json, load_json
from told.store.memories.names import is_private
from told.store.memories.protocol import Memories
from told.store.memories.records import SHARED_WITH, Position
from told.sync.spaces import Space

SEGMENT_BYTES = 256 * 1024  # a change uploads at most one segment again
_CHUNK = 4000  # operations
_POSITIONS = "collected.json"
FORGOTTEN_SESSION = "forgotten_session"
_TOPICS = ("scope", "subscription", FORGOTTEN_SESSION)  # of the notes that every machine of the user needs
_PRIVATE_SCOPE = b'"scope":"private'  # in the line of an operation
_MEMORY_FIELDS = {"supersede": "by", "edge": "target"}  # payload fields that name another memory

Select = Callable[[list[Operation]], list[Operation]]


def collect(home: str, space: Space, select: Select) -> int:
    """Append new local operations, as `select` returns them, to this machine's series; return how many."""
    folder, machine = journal_folder(home), get_machine_id(home)
    target = space.series_folder(home, machine)
    local = list_local_series(home)
    positions, known = _read_positions(home, space)
    if not has_new(folder, positions, local):
        return 0
    try:
        make_folder(target)
        with SeriesLock(target):
            end = find_end(target, machine)[0]
            # A killed run appended these, but did not note it.
            done = _identities([Series(target, machine)], known) if end > known else set()
            done |= _copied_elsewhere(home, space, local, machine)
            count = 0
            for chunk in _chunks(read_new(folder, positions, local)):
                wanted = [one for one in map(_new_operation, chunk) if one and one.identity not in done]
                count += append_copies(target, machine, select(wanted), SEGMENT_BYTES)
                for entry in chunk:
                    positions[entry.series, entry.segment] = entry.position
                _write_positions(home, space, positions, find_end(target, machine)[0])
    except OSError as error:
        raise cannot_write(target, error) from None
    return count


def _chunks(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    chunk: list[Entry] = []
    for entry in entries:
        chunk.append(entry)
        if len(chunk) >= _CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _new_operation(entry: Entry) -> Operation | None:
    """Return the operation of a line that was not there before, unless it is a colleague's or erased."""
    found = entry.operation
    if found is None or entry.was_applied or found.payload is None or found.machine.startswith(STRANGER):
        return None
    project = {SERIES: found.machine} if "@" in entry.series else {}
    return found._replace(payload={**found.payload, IDENTITY: found.identity, **project})


def _copied_elsewhere(home: str, space: Space, local: list[Series], machine: str) -> set[str]:
    """Return the operations of a restored home that its former machine has shared already."""
    former = {one.machine for one in local if not one.project} - {machine}
    prefix = f"{space.id}/"
    return _identities([
        one
        for one in list_shared_series(home)
        if former and one.copy and one.copy.folder.startswith(prefix) and one.machine != machine
    ])  # fmt: skip


def _identities(every: Iterable[Series], after: int = 0) -> set[str]:
    return {
        found.identity
        for series in every
        for found in find_in_series(series, [], lambda one: one.number > after)
    }


class OwnSelection:
    """Choose what the user's other machines get: all but what is private."""

    def __init__(self, home: str, space: Space, memories: Memories) -> None:
        self._home = home
        self._prefix = f"{space.id}/"
        self._memories = memories
        self._undone: dict[tuple[str, int], str] | None = None
        self._private: frozenset[str] | None = None

    def select(self, operations: list[Operation]) -> list[Operation]:
        """Return copies of the operations without anything private."""
        if self._private is None:
            self._private = find_private_memories(
                one
                for series in list_local_series(self._home)
                for one in find_in_series(series, [_PRIVATE_SCOPE], lambda _: True)
            )
        touched = {name for one in operations for name in _named_memories(one)}
        known = self._memories.get(touched)
        private = {name for name, memory in known.items() if is_private(memory)} | self._private
        made = {one.memory for one in operations if one.kind in MAKES_MEMORY}
        unknown = {name for name in touched - known.keys() - made if not self._is_shared(name)}
        found = (self._copy(one, private | unknown) for one in operations)
        return [one for one in found if one]

    def _copy(self, operation: Operation, hidden: set[str]) -> Operation | None:
        payload = dict(operation.payload or {})
        if operation.kind == FORGET and operation.memory in hidden:  # it was public once
            kept = {name: value for name, value in payload.items() if name != "scope"}
            return operation._replace(payload=kept) if self._is_shared(operation.memory) else None
        if operation.memory in hidden or is_private(str(payload.get("scope", ""))):
            return None
        if operation.kind == SET:
            notes = payload.get(SET)
            kept = {name: notes[name] for name in _TOPICS if name in notes} if isinstance(notes, dict) else {}
            return operation._replace(payload=payload | {SET: kept}) if kept else None
        if not operation.memory and operation.touched:
            listed = [name for name in operation.touched if name not in hidden]
            return operation._replace(payload=payload | {"memories": listed}) if listed else None
        field = _MEMORY_FIELDS.get(operation.kind, "")
        if payload.get(field) in hidden:
            if operation.kind == "edge":
                return None
            payload[field] = ""
        if operation.kind == UNDO:
            payload["undone"] = payload.get("undone") or self._find_undone(payload)
            payload = {name: value for name, value in payload.items() if name not in ("machine", "number")}
        return operation._replace(payload=payload)

    def _is_shared(self, memory: str) -> bool:
        """Tell whether operations on a memory that is gone were shared: what was undone, for example."""
        needle = dump_json(memory).encode()
        return any(
            series.copy is not None
            and series.copy.folder.startswith(self._prefix)
            and next(find_in_series(series, [needle], lambda one: memory in one.touched), None) is not None
            for series in list_shared_series(self._home)
        )

    def _find_undone(self, payload: dict[str, Any]) -> str:
        """Return the name of the operation that an older undo names by its number."""
        if self._undone is None:
            self._undone = {
                (one.machine, one.number): one.identity
                for series in list_local_series(self._home)
                for one in find_in_series(series, [], lambda _: True)
            }
        return self._undone.get((payload.get("machine", ""), payload.get("number", 0)), "")


def _named_memories(operation: Operation) -> Iterator[str]:
    yield from operation.touched
    payload = operation.payload or {}
    other = payload.get(_MEMORY_FIELDS.get(operation.kind, ""))
    if operation.kind == "edge" and payload.get("kind") == SHARED_WITH:
        return  # the target is a team
    if isinstance(other, str) and other:
        yield other


def _positions_path(home: str, space: Space) -> str:
    return os.path.join(space.folder(home), _POSITIONS)


def _read_positions(home: str, space: Space) -> tuple[Positions, int]:
    """Return how far each series was collected, and the number of the last operation by then."""
    machine = get_machine_id(home)
    try:
        found = load_json(read_text(_positions_path(home, space)))
        if found["machine"] != machine or not list_segments(space.series_folder(home, machine)):
            return {}, 0
        rows = found["positions"]
        return {(name, part): Position(*rest) for name, part, *rest in rows}, int(found["number"])
    except (OSError, ValueError, TypeError, KeyError):
        return {}, 0


def _write_positions(home: str, space: Space, positions: Positions, number: int) -> None:
    rows = [[*key, *position] for key, position in sorted(positions.items())]
    value = {"machine": get_machine_id(home), "number": number, "positions": rows}
    write_private(_positions_path(home, space), dump_json(value).encode())
