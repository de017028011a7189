"""`told retention`: what fades because nobody needs it, the archive it goes to, and the way back."""

from __future__ import annotations

from told.cli.disk import cut_json, cut_to_fit, disk_json, over_line, print_cut
from told.cli.memory_changes import only_user
from told.cli.memory_desk import Desk, memory_count, memory_json
from told.cli.output import count, cut, to_json
from told.errors import NotFoundError, UsageError
from told.memory.authority import Caller
from told.memory.finding import Wanted, listed
from told.memory.lived import DAY, lived, tick
from told.memory.pen import Pen
from told.memory.retention import Clock, Fading, archive, archived_oldest_first, fading, next_left
from told.memory.retention import restore as bring_back
from told.record import replaced
from told.store.memory_records import ACTIVE, ARCHIVED, CAPTURE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.cli.arguments import Arguments
    from told.cli.context import Context
    from told.memory.lived import Lived
    from told.store.memory_records import Memory

_USE = "Use `told retention`, `told retention prune`, `archived`, `restore ID…` or `restore --all`."
_OFF = "Retention is off (retention.days is 0): nothing fades by itself."
_SHOWN = 20


def retention(context: Context, arguments: Arguments) -> int:
    """Say what fades and what is archived, archive what has faded, or bring it back."""
    what, rest = "".join(arguments.operands[:1]), arguments.operands[1:]
    if what not in ("", "prune", "archived", "restore") or (rest and what != "restore"):
        raise UsageError(_USE)
    with Desk(context) as desk:
        if what == "prune":
            return _prune(desk, arguments)
        if what == "archived":
            return _archived(desk, arguments)
        if what == "restore":
            return _restore(desk, arguments, rest)
        return _status(desk, arguments)


def _status(desk: Desk, arguments: Arguments) -> int:
    context, days = desk.context, desk.context.settings.retention_days
    statuses: dict[str, int] = {}
    for status, _, _, many, _ in desk.memories.counts():
        statuses[status] = statuses.get(status, 0) + many
    active, away = statuses.get(ACTIVE, 0), statuses.get(ARCHIVED, 0)
    clock = Clock(context.now, lived(desk.home, desk.memories))
    by_user = replaced(clock, from_said=True)
    ripe = len(fading(desk.home, desk.memories, by_user, days))
    soonest = next_left(desk.memories, clock, days)
    then = None if soonest is None else -(-soonest // DAY)
    context.rows = away
    over = over_line(context)
    if arguments.flag("json"):
        context.print(to_json({
            "days": days, "active": active, "archived": away, "fading": ripe, "next_in_days": then,
            "counted_days": clock.lived.now // DAY, **(disk_json(context) if over else {}),
        }))  # fmt: skip
        return 0
    context.print(f"{memory_count(active)} active, {away:,} archived (`told retention archived`).")
    if over:
        context.print(over)
    if not days:
        context.print(_OFF)
        return 0
    context.print(f"The window is {count(days, 'day')}. {_counted(clock)}")
    if ripe:
        context.print(f"{memory_count(ripe)} would go to the archive: `told retention prune`.")
    elif then:
        context.print(f"Nothing fades now; the next may in {count(then, 'day')} at the earliest.")
    else:
        context.print("Nothing fades.")
    return 0


def _counted(clock: Clock) -> str:
    return f"{count(clock.lived.now // DAY, 'day')} of use were counted so far."


def _prune(desk: Desk, arguments: Arguments) -> int:
    context = desk.context
    days = arguments.number("days", context.settings.retention_days)
    force = arguments.flag("force")
    if force:
        only_user(desk, "put memories away")
    # Before anything is archived: what only fades now is never deleted in the same breath.
    over = cut_to_fit(desk, force=force)
    if not days and not over.over:
        raise UsageError(f"{_OFF} Give a window: `told retention prune --days 90`.")
    counted = _up_to_date(desk) if force else lived(desk.home, desk.memories)
    clock = Clock(context.now, counted, from_said=True)
    found = fading(desk.home, desk.memories, clock, days)
    context.rows = len(found)
    known = desk.memories.get(one.memory.id for one in found[: arguments.number("limit", _SHOWN)])
    if force:
        archive(desk.pen, found)
    if arguments.flag("json"):
        rows = [_row_json(desk, one, known[one.memory.id]) for one in found if one.memory.id in known]
        context.print(to_json({
            "count": len(found), "archived": force, "days": days, "counted_days": clock.lived.now // DAY,
            "memories": rows, **(cut_json(over, done=force) if over.over else {}),
        }))  # fmt: skip
        return 0 if found or over.over else 1
    print_cut(context, over, done=force)
    if not found and over.over:
        return 0
    if not found:
        raise NotFoundError(f"Nothing fades with a window of {count(days, 'day')}. {_counted(clock)}")
    if force:
        context.print(f"Archived {memory_count(len(found))}. `told undo` takes it back.")
    else:
        many = memory_count(len(found))
        context.print(f"Would archive {many}; add --force to do it. It can be brought back.")
    for one in found:
        if one.memory.id in known:
            context.print(f"{desk.row(known[one.memory.id])}\n  {one.why}")
    if len(found) > len(known):
        context.print(f"And {len(found) - len(known):,} more (-n).")
    return 0


def _up_to_date(desk: Desk) -> Lived:
    """Note what sessions were shown just now, and count the day."""
    from told.hook.shown import write_down

    pen = Pen(desk.home, desk.memories, desk.context.now, Caller(CAPTURE))
    write_down(pen, desk.context.now)
    return tick(pen)


def _row_json(desk: Desk, one: Fading, memory: Memory) -> dict[str, Any]:
    return memory_json(desk, memory) | {"why": one.why, "idle_days": one.days}


def _archived(desk: Desk, arguments: Arguments) -> int:
    context = desk.context
    every = archived_oldest_first(desk.memories)[::-1]
    found = every[: arguments.number("limit", _SHOWN)]
    context.rows = len(found)
    if arguments.flag("json"):
        rows = [memory_json(desk, one) for one in found]
        context.print(to_json({"count": len(every), "memories": rows}))
        return 0 if every else 1
    if not every:
        raise NotFoundError("Nothing is archived.")
    context.print(f"{memory_count(len(every))} archived; `told retention restore ID` brings one back.")
    for one in found:
        context.print(desk.row(one))
    if len(every) > len(found):
        context.print(f"And {len(every) - len(found):,} more (-n).")
    return 0


def _restore(desk: Desk, arguments: Arguments, given: list[str]) -> int:
    context = desk.context
    if bool(given) == arguments.flag("all"):
        raise UsageError("Say what to bring back: `told retention restore ID…` or `restore --all`.")
    only_user(desk, "bring memories back")
    found = archived_oldest_first(desk.memories) if not given else [_meant(desk, one) for one in given]
    if not found:
        raise NotFoundError("Nothing is archived.")
    bring_back(desk.pen, dict.fromkeys(found))
    back = desk.memories.get(one.id for one in found)
    context.rows = len(back)
    if arguments.flag("json"):
        rows = [memory_json(desk, one) for one in list(back.values())[: arguments.number("limit", _SHOWN)]]
        context.print(to_json({"count": len(back), "memories": rows}))
        return 0
    context.print(f"Brought back {memory_count(len(back))}.")
    for one in list(back.values())[: arguments.number("limit", _SHOWN)]:
        context.print(desk.row(one))
    return 0


def _meant(desk: Desk, given: str) -> Memory:
    """Return the one archived memory that an id or words stand for."""
    found = list(desk.memories.get(desk.memories.like(given, 9)).values()) if len(given) >= 3 else []
    found = [one for one in found if one.id == given] or found
    if len(found) == 1 and found[0].status != ARCHIVED:
        raise UsageError(f"{found[0].id} is not archived, it is {found[0].status}.")
    found = [one for one in found if one.status == ARCHIVED]
    found = found or listed(desk.memories, Wanted(status=ARCHIVED, words=given), desk.context.now, 9)
    if not found:
        raise NotFoundError(f"Nothing archived fits {cut(given, 60)!r}. `told retention archived` lists it.")
    if len(found) > 1:
        rows = "\n".join(desk.row(one) for one in found)
        raise UsageError(f"{cut(given, 60)!r} fits {memory_count(len(found))}. Give an id:\n{rows}")
    return found[0]
