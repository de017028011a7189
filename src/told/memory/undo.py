"""Takes back what a command of the user's did, all of its operations together."""

from __future__ import annotations

from told.journal.files import journal_folder
from told.journal.fold import KNOWN
from told.journal.read import read
from told.journal.steps import UNDO
from told.memory.pen import ACT
from told.record import record
from told.store.memory_records import CAPTURE, USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from told.journal.model import Operation
    from told.memory.pen import Pen

# What only counts, or cannot be taken back.
_NOT = frozenset((UNDO, "forget", "show", "follow"))


@record
class Undone:
    """What was taken back."""

    operations: tuple[Operation, ...]


def undo(pen: Pen, memory: str = "") -> Undone | None:
    """Take back the user's last command, or the last that touched a memory; None if there is none.

    What told learned by itself is only taken back where its memory is named.
    """
    by = (USER, CAPTURE) if memory else (USER,)
    operations = _operations(pen.home)
    cancelled = undone(operations)
    erased = {one.memory for one in operations if one.kind == "forget"}
    waiting = [
        one for one in operations
        if one.by in by and one.kind in KNOWN - _NOT and _name(one) not in cancelled
        and one.memory and one.memory not in erased
    ]  # fmt: skip
    last = next((one for one in reversed(waiting) if memory in ("", one.memory)), None)
    if last is None:
        return None
    act = (last.payload or {}).get(ACT)
    together = [one for one in waiting if act and (one.payload or {}).get(ACT) == act] or [last]
    for one in reversed(together):
        pen.note(UNDO, one.memory, machine=one.machine, number=one.number)
    pen.write()
    return Undone(tuple(together))


def undone(operations: Iterable[Operation]) -> set[tuple[str, int]]:
    """Return (machine, number) of the operations that the user took back."""
    cancelled: set[tuple[str, int]] = set()
    ordered = sorted(operations, key=lambda one: (one.at, one.machine, one.number), reverse=True)
    for one in ordered:
        if one.kind == UNDO and one.by == USER and _name(one) not in cancelled and one.payload:
            target = one.payload.get("machine"), one.payload.get("number")
            if isinstance(target[0], str) and isinstance(target[1], int):
                cancelled.add((target[0], target[1]))
    return cancelled


def _operations(home: str) -> list[Operation]:
    return [one for one in read(journal_folder(home)) if hasattr(one, "kind")]  # type: ignore[misc]


def _name(operation: Operation) -> tuple[str, int]:
    return operation.machine, operation.number
