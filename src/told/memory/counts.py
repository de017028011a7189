"""Counts what is known, what it costs, and how often users still had to repeat themselves."""

from __future__ import annotations

from told.journal.files import journal_folder
from told.journal.read import operations_like
from told.record import record
from told.store.memory_records import ACTIVE, CORRECTION, PROJECT

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
    learned: int  # active ones that were said in sessions
    last_locked: str
    corrections: int
    surfaced: int


@record
class Given:
    """What was handed to agents."""

    since: int  # when the first brief was; 0 if there was none
    briefs: int
    tokens: int


@record
class Repeated:
    """How often something had to be said again, before briefs and since."""

    before: int
    after: int


def counted(memories: Memories, home: str, today: int) -> Counted:
    """Count memories.

    Args:
        memories: The open memories.
        home: The folder of everything told writes for itself.
        today: When this day began, in ms.
    """
    statuses: dict[str, int] = {}
    kinds: dict[str, int] = {}
    scopes: dict[str, int] = {}
    trusts: dict[str, int] = {}
    locked = 0
    for status, kind, scope, trust, many, of_them in memories.tally():
        statuses[status] = statuses.get(status, 0) + many
        if status == ACTIVE:
            locked += of_them
            name = PROJECT if scope.startswith(PROJECT) else scope
            for table, key in ((kinds, kind), (scopes, name), (trusts, trust)):
                table[key] = table.get(key, 0) + many
    made, surfaced = memories.since(CORRECTION, today)
    return Counted(
        sum(statuses.values()), statuses, kinds, scopes, trusts, locked, memories.from_sessions(),
        _last_locked(memories, home), made, surfaced,
    )  # fmt: skip


def given(home: str) -> Given:
    """Count the briefs that agents were handed, and their tokens."""
    since = briefs = tokens = 0
    for one in operations_like(journal_folder(home), ("show",)):
        since = min(since or one.at, one.at)
        briefs += 1
        cost = (one.payload or {}).get("tokens")
        tokens += cost if isinstance(cost, int) else 0
    return Given(since, briefs, tokens)


def repeated(memories: Memories, since: int) -> Repeated:
    """Count what users said again in a later session, by when they did so."""
    before = after = 0
    for memory in memories.load(memories.said_again()).values():
        places = sorted((place.at, bool(place.session)) for place in memory.evidence)[1:]
        again = [at for at, in_session in places if in_session]
        later = sum(1 for at in again if since and at >= since)
        after += later
        before += len(again) - later
    return Repeated(before, after)


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
