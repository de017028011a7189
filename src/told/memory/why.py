"""Why a memory is as it is: every operation in order with its effect, and what stood before and after it."""

from __future__ import annotations

from told.journal.append import MAKES_MEMORY
from told.journal.files import journal_folder
from told.journal.fold import in_order
from told.journal.read import operations_of
from told.journal.steps import born, step
from told.memory.undo import undone
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.journal.model import Operation
    from told.store.memories import Memories
    from told.store.memory_records import Memory


@record
class Step:
    """One operation on a memory."""

    operation: Operation
    confidence: float  # after it
    undone: bool = False


def steps_of(home: str, memory: str) -> list[Step]:
    """Return everything that ever happened to a memory, in order."""
    found = [
        one for one in operations_of(journal_folder(home), [memory]) if memory in one.touched
    ]  # fmt: skip
    ordered = in_order(found)
    cancelled = undone(found)
    now: Memory | None = None
    steps = []
    for key, operation in ordered:
        is_undone = (operation.machine, operation.number) in cancelled
        if operation.kind in MAKES_MEMORY:
            now = born(memory, operation, key)
        elif now is not None and not is_undone:
            now = step(now, operation, key)
        steps.append(Step(operation, now.confidence if now else 0.5, is_undone))
    return steps


def before(memories: Memories, memory: str) -> list[Memory]:
    """Return what a memory took the place of, and what these did, the nearest first."""
    found: dict[str, Memory] = {}
    waiting = [memory]
    while waiting:
        ended = memories.superseded(waiting)
        waiting = [one for ids in ended.values() for one in ids if one not in found and one != memory]
        found |= memories.get(waiting)
    return list(found.values())


def after(memories: Memories, memory: Memory) -> list[Memory]:
    """Return what took the place of a memory, and of that, up to the present one."""
    found: dict[str, Memory] = {}
    while memory.superseded_by and memory.superseded_by not in found:
        later = memories.get([memory.superseded_by]).get(memory.superseded_by)
        if later is None:
            break
        found[later.id] = memory = later
    return list(found.values())
