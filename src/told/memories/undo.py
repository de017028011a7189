"""Undo the user's changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from told.journal.files import IMPORT, SET, UNDO, Operation, journal_folder
from told.journal.fold import KNOWN_KINDS, find_undone
from told.journal.read import read_operations
from told.memories.journal_writer import ACT, DECIDE, PROPOSE, JournalWriter
from told.memories.scopes import SCOPE, SUBSCRIPTION
from told.store.memories.records import AGENT, CAPTURE, USER

_REFINES = ("revise", "confirm")
_UNDOABLE = KNOWN_KINDS - {UNDO, "forget", "refuse", "show", "follow"} | {DECIDE, PROPOSE}


def undo(writer: JournalWriter, memory: str = "") -> tuple[Operation, ...]:
    """Undo the user's last command, or the last change of a memory.

    Changes that told made by itself, and texts that an agent refined, are only undone if the memory is named.

    Returns:
        The operations that were undone; empty if there are none.
    """
    operations = [one for one in read_operations(journal_folder(writer.home)) if isinstance(one, Operation)]
    cancelled = find_cancelled(operations)
    erased = {one.memory for one in operations if one.kind == "forget"}
    undoing = {_group(one) for one in operations if one.kind == UNDO}
    undoable = [
        one
        for one in operations
        if (_changes_scopes(one, undoing) or _changes_memory(one, memory) or _is_import(one, memory))
        and (one.machine, one.number) not in cancelled
        and one.memory not in erased
    ]
    last = next(
        (one for one in reversed(undoable) if one.kind != PROPOSE and memory in ("", one.memory)), None
    )
    if last is None:
        return ()
    group = _group(last)
    together = [one for one in undoable if group and _group(one) == group] or [last]
    if last.kind == IMPORT:
        done = _undo_import(writer, operations, cancelled, together)
        writer.write(at_home=True)
        return done
    for one in reversed(together):
        writer.add(UNDO, one.memory, machine=one.machine, number=one.number, undone=one.identity)
        if one.kind == SET:
            writer.add(SET, "", **{SET: _reverse_notes((one.payload or {})[SET])})
    writer.write()
    return tuple(together)


def _is_import(one: Operation, memory: str) -> bool:
    return one.kind == IMPORT and one.by == USER and not memory


def _undo_import(
    writer: JournalWriter, operations: Sequence[Operation], cancelled: set[tuple[str, int]],
    imports: Sequence[Operation],
) -> tuple[Operation, ...]:  # fmt: skip
    """Undo the operations that an import copied, and remove its checkpoints; return what was undone."""
    payloads = [one.payload or {} for one in imports]
    series = {name for payload in payloads for name in payload.get("series") or ()}
    revived = {one.identity for one in operations if one.kind == UNDO and _group(one) == _group(imports[0])}
    copied = [
        one
        for one in operations
        if one.machine in series and one.kind != UNDO and (one.machine, one.number) not in cancelled
    ]
    copied += [one for one in operations if one.identity in revived]
    erased = {one.memory for one in operations if one.kind == "forget"}
    changed = [one for one in copied if one.touched and one.memory not in erased]
    for one in (*reversed(changed), *imports):
        listed = {} if one.memory or not one.touched else {"memories": list(one.touched)}
        writer.add(UNDO, one.memory, undone=one.identity, imported=True, **listed)
    _restore_notes(writer, operations, copied)
    from told.ingest.checkpoint_files import remove_unchanged  # noqa: PLC0415 - only for an import

    for payload in payloads:
        for name, content in payload.get("checkpoints") or ():
            remove_unchanged(writer.home, name, content)
    return (*imports, *changed)


def _restore_notes(
    writer: JournalWriter, operations: Sequence[Operation], copied: Sequence[Operation]
) -> None:
    """Set the scopes and subscriptions of an import back to what they were without it."""
    names = {(one.machine, one.number) for one in copied}
    before = list_notes(one for one in operations if (one.machine, one.number) not in names)
    for (topic, name), value in list_notes(copied).items():
        if before.get((topic, name), "") != value:
            writer.add(SET, "", **{SET: {topic: {name: before.get((topic, name), "")}}})


def list_notes(operations: Iterable[Operation]) -> dict[tuple[str, str], str]:
    """Return the scopes and subscriptions that operations set, the latest by name."""
    found: dict[tuple[str, str], str] = {}
    for one in operations:
        topics = (one.payload or {}).get(SET) if one.kind == SET and one.by in (USER, CAPTURE) else None
        for topic, notes in topics.items() if isinstance(topics, dict) else ():
            if topic in (SCOPE, SUBSCRIPTION) and isinstance(notes, dict):
                found |= {(topic, name): str(value) for name, value in notes.items()}
    return found


def find_undoing(operations: Iterable[Operation]) -> dict[str, str]:
    """Return for each operation whose import was undone the undo, by their identities."""
    known = list(operations)
    cancelled = find_cancelled(known)
    return {
        str((one.payload or {}).get("undone")): one.identity
        for one in known
        if one.kind == UNDO
        and (one.payload or {}).get("imported") is True
        and (one.machine, one.number) not in cancelled
    }


def _changes_memory(one: Operation, memory: str) -> bool:
    """Tell whether an operation changes a memory or a proposal, for the user or for the named memory."""
    authors = (USER, CAPTURE) if memory else (USER,)
    is_refined = bool(memory) and one.by == AGENT and one.kind in _REFINES
    return bool(one.memory) and one.kind in _UNDOABLE and (one.by in authors or is_refined)


def _changes_scopes(one: Operation, undoing: set[object]) -> bool:
    """Tell whether the user created a scope or changed a subscription, not by an undo."""
    notes = (one.payload or {}).get(SET) if one.kind == SET and one.by == USER else None
    return isinstance(notes, dict) and notes.keys() <= {SCOPE, SUBSCRIPTION} and _group(one) not in undoing


def _reverse_notes(notes: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    return {
        topic: {name: "" if value else "1" for name, value in named.items()} for topic, named in notes.items()
    }


def _group(one: Operation) -> object:
    return (one.payload or {}).get(ACT)


def find_cancelled(operations: Iterable[Operation]) -> set[tuple[str, int]]:
    """Return (machine, number) of the operations that the user undid."""
    cancelled: set[tuple[str, int]] = set()
    newest_first = sorted(operations, key=lambda one: (one.order, one.machine, one.number), reverse=True)
    known = {one.identity: (one.machine, one.number) for one in newest_first if one.identity}
    for one in newest_first:
        if one.kind == UNDO and one.by == USER and (one.machine, one.number) not in cancelled:
            target = find_undone(one, known)
            cancelled |= {target} if target else set()
    return cancelled
