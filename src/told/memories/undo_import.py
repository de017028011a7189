"""Undo a whole import: the operations it copied, its notes and its checkpoints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from told.ingest.checkpoint_files import remove_unchanged
from told.journal.files import ACT, FORGET, SET, UNDO, Operation
from told.memories.journal_writer import IMPORT, JournalWriter
from told.memories.scopes import SCOPE, SUBSCRIPTION
from told.store.memories.records import CAPTURE, USER

_IMPORTED = "imported"  # payload key of an undo that belongs to an import


def undo_import(
    writer: JournalWriter, operations: Sequence[Operation], last: Operation
) -> tuple[Operation, ...]:
    """Undo the import that an operation notes; return what was undone, the notes first."""
    group = (last.payload or {}).get(ACT)
    together = [one for one in operations if (one.payload or {}).get(ACT) == group]
    imports = [one for one in together if one.kind == IMPORT]
    payloads = [one.payload or {} for one in imports]
    series = {name for payload in payloads for name in payload.get("series") or ()}
    undone = find_undone_names(operations)
    copied = [
        one
        for one in operations
        if one.machine in series and one.kind != UNDO and one.identity and one.identity not in undone
    ]
    erased = {one.memory for one in operations if one.kind == FORGET}
    again = [one for one in together if one.kind == UNDO]  # they took an earlier undo back
    changed = [one for one in (*copied, *again) if one.touched and one.memory not in erased]
    for one in (*reversed(changed), *imports):
        listed = {} if one.memory or not one.touched else {"memories": list(one.touched)}
        writer.add(UNDO, one.memory, undone=one.identity, **{_IMPORTED: True}, **listed)
    _restore_notes(writer, operations, [*copied, *together])
    for payload in payloads:
        for name, content in payload.get("checkpoints") or ():
            remove_unchanged(writer.home, name, content)
    writer.write(at_home=True)
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


def find_undone_names(operations: Iterable[Operation]) -> set[str]:
    """Return the identities of the operations that the user undid."""
    undone: set[str] = set()
    for one in sorted(operations, key=lambda one: (one.order, one.machine, one.number), reverse=True):
        if one.kind == UNDO and one.by == USER and one.identity not in undone:
            undone.add(str((one.payload or {}).get("undone")))
    return undone


def find_undone_imports(operations: Iterable[Operation]) -> dict[str, str]:
    """Return for each operation whose import was undone the undo, by their identities."""
    known = list(operations)
    undone = find_undone_names(known)
    return {
        str((one.payload or {}).get("undone")): one.identity
        for one in known
        if one.kind == UNDO and (one.payload or {}).get(_IMPORTED) is True and one.identity not in undone
    }
