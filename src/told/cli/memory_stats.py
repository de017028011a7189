"""`told stats`: what is known, what it costs, and whether it helps."""

from __future__ import annotations

from told.cli.memory_desk import Desk, memory_json, moment_of
from told.cli.output import count, iso, to_json
from told.memory.counts import Counted, Given, Repeated, counted, given, repeated
from told.memory.finding import scope_name
from told.store.memory_records import ACTIVE
from told.store.reading import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.cli.arguments import Arguments
    from told.cli.context import Context
    from told.store.memory_records import Memory


def stats(context: Context, arguments: Arguments) -> int:
    """Print counts: what is locked and learned, by kind, and how often the user had to repeat himself."""
    with Desk(context) as desk:
        found = counted(desk.memories, desk.home, moment_of(context, "today"))
        handed = given(desk.home)
        again = repeated(desk.memories, handed.since)
        sessions = context.reading.count(Filter())
        since = context.reading.count(Filter(since=handed.since)) if handed.since else 0
        context.rows = found.total
        locked = desk.memories.get([found.last_locked]).get(found.last_locked) if found.last_locked else None
        if arguments.flag("json"):
            context.print(to_json({
                "count": found.total, "by_status": found.statuses, "by_kind": found.kinds,
                "by_scope": {scope_name(name): many for name, many in found.scopes.items()},
                "by_trust": found.trusts, "locked": found.locked, "learned": found.learned,
                "last_locked": memory_json(desk, locked) if locked else None,
                "corrections_today": found.corrections, "corrections_shown_today": found.surfaced,
                "briefs": handed.briefs, "tokens_injected": handed.tokens,
                "first_brief": iso(handed.since) if handed.since else None,
                "sessions": sessions, "sessions_since_first_brief": since,
                "repeated": again.before + again.after, "repeats_before": again.before,
                "repeats_after": again.after,
            }))  # fmt: skip
            return 0
        _print(desk, found, locked)
        context.print(_handed(handed))
        context.print(_repeats(again, sessions - since, since if handed.since else -1))
    return 0


def _print(desk: Desk, found: Counted, locked: Memory | None) -> None:
    context = desk.context
    active = found.statuses.get(ACTIVE, 0)
    context.print(
        f"{active:,} of {found.total:,} memories are active: {found.locked:,} locked,"
        f" {found.learned:,} learned from sessions."
    )
    scopes = {context.name(scope_name(name)): many for name, many in found.scopes.items()}
    tables = (("status", found.statuses), ("kind", found.kinds), ("said by", found.trusts), ("scope", scopes))
    for head, table in tables:
        context.print(f"{head}: {', '.join(f'{name} {many:,}' for name, many in table.items()) or '-'}")
    context.print(f"corrections today: {found.corrections:,}, shown to agents: {found.surfaced:,}")
    if locked:
        context.print(f"last locked: {desk.row(locked)}")


def _handed(handed: Given) -> str:
    if not handed.briefs:
        return "handed to agents: nothing yet"
    each = handed.tokens // handed.briefs
    return f"handed to agents: {count(handed.briefs, 'brief')}, {handed.tokens:,} tokens ({each:,} each)"


def _repeats(again: Repeated, before: int, since: int) -> str:
    """Say the number that matters."""
    first = f"you repeated yourself: {_times(again.before)} in {count(before, 'session')}"
    return first if since < 0 else f"{first} before that, {_times(again.after)} in {since:,} since"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times" if number else "never"
