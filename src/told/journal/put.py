"""Put what operations make of memories into a store, whichever it is."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from told.journal.files import FORGET, MAKES_MEMORY, SET, UNDO, Operation
from told.journal.fold import Folded, advance, family_of, fold_family, group_by_family
from told.search.index_text import make_index_fields
from told.store.memories.protocol import Memories
from told.store.memories.records import CAPTURE, FORGOTTEN, READER, USER


def put_operations(memories: Memories, new: Iterable[Operation], stale: Collection[str] = ()) -> set[str]:
    """Advance the memories that new operations touch; return the families that must be folded again.

    Families in `stale` are among those already.
    """
    behind = set(stale)
    for family, operations in group_by_family(new).items():
        if family in behind:
            continue
        if all(operation.kind not in MAKES_MEMORY for operation in operations):
            done = _advance_family(memories, family, operations)
        else:
            done = not memories.writer.is_orphan(family) and not memories.ids_with_prefix(family, 1)
            if done:
                _put_family(memories, family, operations, fresh=True)
        if not done:
            behind.add(family)
    return behind


def refold_families(memories: Memories, families: Collection[str], touching: Iterable[Operation]) -> None:
    """Replace families with what all operations that touch them make."""
    groups = group_by_family(touching)
    for family in sorted(families):
        _put_family(memories, family, groups.get(family, []))


def put_notes(memories: Memories, operation: Operation | None) -> None:
    """Store the notes of a `set` operation; agents may not set any."""
    if operation is None or operation.kind != SET or operation.by not in (USER, CAPTURE, READER):
        return
    topics = (operation.payload or {}).get(SET)
    for topic, notes in topics.items() if isinstance(topics, dict) else ():
        for name, value in notes.items() if isinstance(notes, dict) else ():
            if isinstance(value, (str, int)):
                key = (operation.order, operation.machine, operation.number)
                memories.writer.put_noted(topic, name, str(value), key)


def _advance_family(memories: Memories, family: str, operations: Sequence[Operation]) -> bool:
    """Apply later operations to a family; return False if it needs refolding."""
    touched: dict[str, list[Operation]] = {}
    for operation in operations:
        for name in operation.touched:
            if family_of(name) == family:
                touched.setdefault(name, []).append(operation)
    known = memories.get(touched)
    unknown = [operation for name in touched.keys() - known.keys() for operation in touched[name]]
    if any(operation.kind in (FORGET, UNDO) for operation in unknown):  # an undo may bring it back
        return False
    advanced = [advance(memory, touched[name]) for name, memory in known.items()]
    if None in advanced:
        return False
    for folded in advanced:
        if folded:
            _put(memories, folded)
    if len(known) < len(touched):
        memories.writer.set_orphan(family, orphan=True)
    return True


def _put_family(
    memories: Memories, family: str, operations: Sequence[Operation], *, fresh: bool = False
) -> None:
    """Replace a family with what its operations make; `fresh`: nothing is stored yet."""
    made = fold_family(family, operations)
    touched = {name for operation in operations for name in operation.touched if family_of(name) == family}
    for name in () if fresh else memories.ids_with_prefix(family, -1):
        memories.writer.clear_shown(name)
        if name not in made:
            memories.writer.drop(name)
    for folded in made.values():
        _put(memories, folded, fresh=fresh)
    orphan = bool(touched - made.keys())
    if orphan or not fresh:
        memories.writer.set_orphan(family, orphan=orphan)


def _put(memories: Memories, folded: Folded, *, fresh: bool = False) -> None:
    memories.writer.put(folded.memory, make_index_fields, fresh=fresh)
    if folded.shown:
        memories.writer.put_shown(folded.memory.id, folded.shown)
    elif folded.memory.status == FORGOTTEN:
        memories.writer.clear_shown(folded.memory.id)
