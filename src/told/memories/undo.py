"""Undo the user's changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from told.journal.files import ACT, SET, UNDO, Operation
from told.journal.fold import KNOWN_KINDS, find_undone, name_operation
from told.memories.journal_writer import DECIDE, IMPORT, PROPOSE, JournalWriter
from told.memories.scopes import SCOPE, SUBSCRIPTION
from told.store.memories.records import AGENT, CAPTURE, READER, USER

_REFINES = ("revise", "confirm")
_UNDOABLE = KNOWN_KINDS - {UNDO, "forget", "refuse", "show", "follow"} | {DECIDE, PROPOSE}


def undo(writer: JournalWriter, memory: str = "") -> tuple[Operation, ...]:
    """Undo the user's last command, or the last change of a memory.

    Changes that told made by itself, and texts that an agent refined, are only undone if the memory is named.

    Returns:
        The operations that were undone; empty if there are none.
    """
    operations = writer.journal.operations()
    cancelled = find_cancelled(operations)
    erased = {one.memory for one in operations if one.kind == "forget"}
    undoing = {_group(one) for one in operations if one.kind == UNDO}
    undoable = [
        one
        for one in operations
        if (_changes_scopes(one, undoing) or _changes_memory(one, memory))
        and name_operation(one) not in cancelled
        and one.memory not in erased
    ]
    last = next(
        (one for one in reversed(undoable) if one.kind != PROPOSE and memory in ("", one.memory)), None
    )
    if last is None:
        return ()
    if last.kind == IMPORT:
        from told.memories.undo_import import undo_import  # noqa: PLC0415 - rarely needed

        return undo_import(writer, operations, last)
    group = _group(last)
    together = [one for one in undoable if group and _group(one) == group] or [last]
    for one in reversed(together):
        writer.add(UNDO, one.memory, machine=one.machine, number=one.number, undone=one.identity)
        if one.kind == SET:
            writer.add(SET, "", **{SET: _reverse_notes((one.payload or {})[SET])})
    writer.write()
    return tuple(together)


def undo_supersede(writer: JournalWriter, old: str, new: str) -> None:
    """Let a memory apply again that another one replaced."""
    operations = [one for one in writer.journal.find_by_memory([old]) if one.kind in ("supersede", UNDO)]
    cancelled = find_cancelled(operations)
    for one in operations:
        is_it = one.kind == "supersede" and (one.payload or {}).get("by") == new
        if is_it and name_operation(one) not in cancelled:
            writer.add(UNDO, old, machine=one.machine, number=one.number, undone=one.identity)


def _changes_memory(one: Operation, memory: str) -> bool:
    """Tell whether an operation changes a memory or a proposal, for the user or for the named memory."""
    authors = (USER, CAPTURE, READER) if memory else (USER,)
    is_refined = bool(memory) and one.by == AGENT and one.kind in _REFINES
    return bool(one.memory) and one.kind in _UNDOABLE and (one.by in authors or is_refined)


def _changes_scopes(one: Operation, undoing: set[object]) -> bool:
    """Tell whether the user created a scope or changed a subscription, not by an undo; or imported."""
    if one.kind == IMPORT:
        return one.by == USER
    notes = (one.payload or {}).get(SET) if one.kind == SET and one.by == USER else None
    return isinstance(notes, dict) and notes.keys() <= {SCOPE, SUBSCRIPTION} and _group(one) not in undoing


def _reverse_notes(notes: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    return {
        topic: {name: "" if value else "1" for name, value in named.items()} for topic, named in notes.items()
    }


def _group(one: Operation) -> object:
    return (one.payload or {}).get(ACT)


def find_cancelled(operations: Iterable[Operation]) -> set[str]:
    """Return the names of the operations that the user undid."""
    cancelled: set[str] = set()
    newest_first = sorted(operations, key=lambda one: (one.order, one.machine, one.number), reverse=True)
    names = {(one.machine, one.number): name_operation(one) for one in newest_first}
    for one in newest_first:
        if one.kind == UNDO and one.by == USER and name_operation(one) not in cancelled:
            cancelled.add(find_undone(one, names))
    return cancelled
