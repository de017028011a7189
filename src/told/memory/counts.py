"""Counts what is known. What nobody can count yet is not among it."""

from __future__ import annotations

from told.journal.files import journal_folder
from told.journal.read import operations_like
from told.record import record
from told.store.memory_records import ACTIVE, CORRECTION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.store.memories import Memories


@record
class Counted:
    """How many memories there are of each sort; kinds, scopes and trusts are of active ones."""

    total: int
    statuses: dict[str, int]
    kinds: dict[str, int]
    scopes: dict[str, int]  # all projects together are one
    trusts: dict[str, int]
    locked: int
    last_locked: str
    corrections: int
    surfaced: int
    repeated: int


def counted(memories: Memories, home: str, today: int) -> Counted:
    """Count memories.

    Args:
        memories: The open memories.
        home: The folder of everything told writes for itself.
        today: When this day began, in ms.
    """
    statuses: dict[str, int] = {}
    locked = 0
    for status, _, _, many, of_them in memories.counts():
        statuses[status] = statuses.get(status, 0) + many
        locked += of_them if status == ACTIVE else 0
    kinds: dict[str, int] = {}
    scopes: dict[str, int] = {}
    trusts: dict[str, int] = {}
    corrections = surfaced = repeated = 0
    for one in memories.load(memories.listed()).values():
        scope = "project:" if one.scope.startswith("project:") else one.scope
        for table, name in ((kinds, one.kind), (scopes, scope), (trusts, one.trust)):
            table[name] = table.get(name, 0) + 1
        corrections += one.kind == CORRECTION and one.created >= today
        surfaced += one.kind == CORRECTION and one.shown_last >= today
        repeated += one.repeated
    return Counted(
        sum(statuses.values()), statuses, kinds, scopes, trusts, locked, _last_locked(memories, home),
        corrections, surfaced, repeated,
    )  # fmt: skip


def _last_locked(memories: Memories, home: str) -> str:
    """Return the memory that was locked last and still is."""
    operations = operations_like(journal_folder(home), ("lock", "remember", "correct"))
    when = {
        one.memory: (one.at, one.number)
        for one in operations
        if one.kind == "lock" or (one.payload or {}).get("locked") is True
    }
    held = [one.id for one in memories.get(when).values() if one.locked and one.status == ACTIVE]
    return max(held, key=lambda name: when[name], default="")
