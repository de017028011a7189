"""Folds operations into memories: the same set of operations gives the same memories, however it arrived.

What an operation does to a memory depends on nothing but the operation and that memory, so each memory can
be folded by itself, and a memory that is up to date can be carried on by the operations that come after.
"""

from __future__ import annotations

from told.journal.append import MAKES_MEMORY
from told.journal.model import FORGOTTEN, STRANGER, TEAM, USER, Memory, Operation
from told.journal.steps import STEPS, UNDO, born, step
from told.record import record, replaced
from told.store.ids import public_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Key = tuple[int, str, int]

KNOWN = MAKES_MEMORY | STEPS.keys()
FORGET = "forget"
_FAMILY = 8


@record
class Folded:
    """A memory and the sessions it was shown in, with the last time."""

    memory: Memory
    shown: tuple[tuple[str, int], ...] = ()


def family_of(memory: str) -> str:
    """Return what the id of a memory has in common with those that are told apart by further letters."""
    return memory[:_FAMILY]


def families(operations: Iterable[Operation]) -> dict[str, list[Operation]]:
    """Sort operations by the families of the memories they touch; what is not understood is left out."""
    groups: dict[str, list[Operation]] = {}
    for operation in operations:
        if operation.kind in KNOWN:
            for family in dict.fromkeys(map(family_of, operation.touched)):
                groups.setdefault(family, []).append(operation)
    return groups


def fold(operations: Iterable[Operation]) -> dict[str, Memory]:
    """Return every memory that operations make, by id."""
    made: dict[str, Memory] = {}
    for family, touching in sorted(families(operations).items()):
        made |= {name: folded.memory for name, folded in fold_family(family, touching).items()}
    return made


def fold_family(family: str, operations: Iterable[Operation]) -> dict[str, Folded]:
    """Return the memories of a family, from all operations that touch it.

    Two machines may by chance have made the same id: the later memory gets some more letters. So does one
    that others wrote into a project's folder, whenever that was: it cannot take the place of another.
    """
    every = list(operations)
    makers: dict[str, Operation] = {}
    making = in_order(one for one in every if one.kind in MAKES_MEMORY)
    for _, operation in sorted(making, key=lambda pair: pair[1].by.startswith(TEAM)):
        if family_of(operation.memory) == family:
            taken = operation.memory in makers
            makers[_other_id(operation) if taken else operation.memory] = operation
    changes = [operation for operation in every if operation.kind not in MAKES_MEMORY]
    made: dict[str, Folded] = {}
    for name, maker in makers.items():
        ordered = in_order([maker, *(one for one in changes if name in one.touched)])
        cancelled = _undone(ordered)
        if _name(maker) in cancelled:
            continue
        key = next(key for key, operation in ordered if operation is maker)
        kept = [pair for pair in ordered if pair[1] is not maker and _name(pair[1]) not in cancelled]
        folded = _carried(Folded(born(name, maker, key)), kept)
        if folded.memory.last != ordered[-1][0]:  # the last one was undone
            folded = Folded(replaced(folded.memory, last=ordered[-1][0]), folded.shown)
        made[name] = folded
    for name in sorted(_forgotten(family, changes) - makers.keys()):
        ordered = in_order(one for one in changes if name in one.touched)
        first = next(one for _, one in ordered if one.kind == FORGET and one.memory == name)
        made[name] = _carried(Folded(Memory(name, first.machine, first.number)), ordered)
    return made


def _forgotten(family: str, operations: Iterable[Operation]) -> set[str]:
    """Return the memories that were forgotten here: of those that are gone with their folder this is all."""
    return {
        one.memory
        for one in operations
        if one.kind == FORGET and family_of(one.memory) == family and not one.by.startswith(TEAM)
    }


def advance(memory: Memory, operations: Iterable[Operation]) -> Folded | None:
    """Carry a memory on by later operations; None if it has to be folded anew from all of them.

    No machine's operations may be given that come before others of it that are already in the memory.
    """
    ordered = in_order(operations, memory.last)
    if any(operation.kind == UNDO or operation.kind in MAKES_MEMORY for _, operation in ordered):
        return None
    _, machine, number = memory.last
    if any(key <= memory.last or (key[1] == machine and key[2] <= number) for key, _ in ordered):
        return None
    return _carried(Folded(memory), ordered)


def in_order(operations: Iterable[Operation], after: Key = (0, "", 0)) -> list[tuple[Key, Operation]]:
    """Sort the operations that are understood by (when, machine, number), each once.

    A machine's own order always stands, even when its clock was set back in between.
    """
    known = {_name(operation): operation for operation in operations if operation.kind in KNOWN}
    latest = {after[1]: after}
    ordered = []
    for name in sorted(known):
        machine, number = name
        at = known[name].at
        before = latest.get(machine)
        if before and before[2] < number:
            at = max(at, before[0])
        latest[machine] = (at, machine, number)
        ordered.append((latest[machine], known[name]))
    ordered.sort(key=lambda pair: pair[0])
    return ordered


def _carried(folded: Folded, ordered: list[tuple[Key, Operation]]) -> Folded:
    memory, shown = folded.memory, dict(folded.shown)
    for key, operation in ordered:
        memory = step(memory, operation, key)
        if operation.kind == "show" and operation.payload:
            session = operation.payload.get("session")
            if isinstance(session, str) and session:
                shown[session] = max(operation.at, shown.get(session, 0))
    return Folded(memory, () if memory.status == FORGOTTEN else tuple(sorted(shown.items())))


def _undone(ordered: list[tuple[Key, Operation]]) -> set[tuple[str, int]]:
    """Return the operations that the user took back; an undo can itself be undone, forgetting cannot."""
    cancelled: set[tuple[str, int]] = set()
    if all(operation.kind != UNDO for _, operation in ordered):
        return cancelled
    final = {_name(operation) for _, operation in ordered if operation.kind == FORGET}
    if final:
        final |= {_name(operation) for _, operation in ordered if operation.kind in MAKES_MEMORY}
    for _, operation in reversed(ordered):
        mine = operation.by == USER or operation.machine.startswith(STRANGER)  # which names its own alone
        if operation.kind == UNDO and mine and _name(operation) not in cancelled:
            payload = operation.payload or {}
            target = (payload.get("machine"), payload.get("number"))
            if isinstance(target[0], str) and isinstance(target[1], int):
                cancelled.add(target)  # type: ignore[arg-type]
    return cancelled - final


def _name(operation: Operation) -> tuple[str, int]:
    return operation.machine, operation.number


def _other_id(operation: Operation) -> str:
    parts = (operation.machine, str(operation.number), str(operation.at))
    return operation.memory + public_id("", *parts, length=5)
