"""Fold operations into memories; the order in which they arrive does not matter.

An operation's effect depends only on the operation and its memory. Each memory can therefore be folded alone,
and an up-to-date one can be advanced by later operations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from told.journal.files import FORGET, ID_LENGTH, MAKES_MEMORY, STRANGER, UNDO, Operation
from told.journal.transitions import TRANSITIONS, change_memory, create_memory
from told.store.database import public_id
from told.store.memories.records import FORGOTTEN, TEAM, USER, Memory

Key = tuple[int, str, int]  # time, machine, number

KNOWN_KINDS = MAKES_MEMORY | TRANSITIONS.keys()


@dataclass(frozen=True, slots=True)
class Folded:
    """A memory, and when it was last shown in which session."""

    memory: Memory
    shown: tuple[tuple[str, int], ...] = ()


def family_of(memory: str) -> str:
    """Return the prefix a memory id shares with ids that got more letters."""
    return memory[:ID_LENGTH]


def group_by_family(operations: Iterable[Operation]) -> dict[str, list[Operation]]:
    """Group operations by the families they touch; drop unknown kinds."""
    groups: dict[str, list[Operation]] = {}
    for operation in operations:
        if operation.kind in KNOWN_KINDS:
            for family in dict.fromkeys(map(family_of, operation.touched)):
                groups.setdefault(family, []).append(operation)
    return groups


def fold_family(family: str, operations: Iterable[Operation]) -> dict[str, Folded]:
    """Fold the memories of a family from all operations that touch it.

    If two operations create the same id, the later one gets a longer id. So does a colleague's, at any time,
    because it must not replace another memory.
    """
    every = list(operations)
    creations: dict[str, Operation] = {}
    making = sort_operations(one for one in every if one.kind in MAKES_MEMORY)
    for _, operation in sorted(making, key=lambda pair: pair[1].by.startswith(TEAM)):
        if family_of(operation.memory) == family:
            name = operation.memory
            if name in creations and creations[name].at == operation.at:
                continue  # a copy of the same series, from a backup
            if name in creations:
                seed = operation.identity or f"{operation.machine} {operation.number}"
                name += public_id("", seed, str(operation.at), length=5)
            creations[name] = operation
    changes = [operation for operation in every if operation.kind not in MAKES_MEMORY]
    made: dict[str, Folded] = {}
    for name, creation in creations.items():
        ordered = sort_operations([creation, *(one for one in changes if name in one.touched)])
        undone = _find_undone(ordered)
        if name_operation(creation) in undone:
            continue
        key = next(key for key, operation in ordered if operation is creation)
        left = [pair for pair in ordered if pair[1] is not creation and name_operation(pair[1]) not in undone]
        folded = _apply(Folded(create_memory(name, creation, key)), left)
        if folded.memory.last != ordered[-1][0]:  # the last one was undone
            folded = Folded(folded.memory._replace(last=ordered[-1][0]), folded.shown)
        made[name] = folded
    # The creation of what was forgotten here may be gone with a project's folder.
    forgotten = {
        one.memory
        for one in changes
        if one.kind == FORGET and family_of(one.memory) == family and not one.by.startswith(TEAM)
    }
    for name in sorted(forgotten - creations.keys()):
        ordered = sort_operations(one for one in changes if name in one.touched)
        first = next(one for _, one in ordered if one.kind == FORGET and one.memory == name)
        made[name] = _apply(Folded(Memory(name, first.machine, first.number)), ordered)
    return made


def advance(memory: Memory, operations: Iterable[Operation]) -> Folded | None:
    """Apply later operations to a memory; None if it must be folded again.

    The operations of each machine must come after those already applied.
    """
    ordered = sort_operations(operations, memory.last)
    if any(operation.kind == UNDO or operation.kind in MAKES_MEMORY for _, operation in ordered):
        return None
    _, machine, number = memory.last
    if any(key <= memory.last or (key[1] == machine and key[2] <= number) for key, _ in ordered):
        return None
    return _apply(Folded(memory), ordered)


def sort_operations(operations: Iterable[Operation], after: Key = (0, "", 0)) -> list[tuple[Key, Operation]]:
    """Sort known operations by (time, machine, number); drop duplicates.

    A machine's own order always holds, even when its clock was set back.
    """
    latest = {after[1]: after}
    ordered = []
    for operation in sorted(_drop_copies(operations), key=lambda one: (*_id(one), one.identity)):
        machine, number = _id(operation)
        at = operation.order
        before = latest.get(machine)
        if before and before[2] < number:
            at = max(at, before[0])
        latest[machine] = (at, machine, number)
        ordered.append((latest[machine], operation))
    ordered.sort(key=lambda pair: pair[0])
    return ordered


def _drop_copies(operations: Iterable[Operation]) -> list[Operation]:
    """Return known operations, each once; a colleague's copy of the user's own counts least."""
    known = [operation for operation in operations if operation.kind in KNOWN_KINDS]
    kept: dict[str, Operation] = {}
    for operation in sorted(known, key=lambda one: (one.by.startswith(TEAM), *_id(one))):
        kept.setdefault(name_operation(operation), operation)
    return list(kept.values())


def _apply(folded: Folded, ordered: list[tuple[Key, Operation]]) -> Folded:
    memory, shown = folded.memory, dict(folded.shown)
    for key, operation in ordered:
        memory = change_memory(memory, operation, key)
        if operation.kind == "show" and operation.payload:
            session = operation.payload.get("session")
            if isinstance(session, str) and session:
                shown[session] = max(operation.at, shown.get(session, 0))
    return Folded(memory, () if memory.status == FORGOTTEN else tuple(sorted(shown.items())))


def _find_undone(ordered: list[tuple[Key, Operation]]) -> set[str]:
    """Return the operations the user undid; an undo can be undone, a forget cannot."""
    undone: set[str] = set()
    if all(operation.kind != UNDO for _, operation in ordered):
        return undone
    final = {name_operation(operation) for _, operation in ordered if operation.kind == FORGET}
    if final:
        final |= {name_operation(operation) for _, operation in ordered if operation.kind in MAKES_MEMORY}
    names = {_id(one): name_operation(one) for _, one in ordered}
    for _, operation in reversed(ordered):
        may_undo = operation.by == USER or operation.machine.startswith(STRANGER)  # its own operations only
        if operation.kind == UNDO and may_undo and name_operation(operation) not in undone:
            undone.add(find_undone(operation, names))
    return undone - final


def find_undone(undo: Operation, names: Mapping[tuple[str, int], str]) -> str:
    """Return the name of the operation that an undo undoes; empty if it is unknown."""
    payload = undo.payload or {}
    name, machine, number = payload.get("undone"), payload.get("machine"), payload.get("number")
    if isinstance(name, str) and name:
        return name
    return names.get((machine, number), "") if isinstance(machine, str) and isinstance(number, int) else ""


def name_operation(operation: Operation) -> str:
    """Return the name that all copies of an operation have; of an erased one, its place."""
    return operation.identity or f"{operation.machine} {operation.number}"


def _id(operation: Operation) -> tuple[str, int]:
    return operation.machine, operation.number
