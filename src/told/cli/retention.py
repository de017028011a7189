"""`told retention`: list, archive and restore unused memories; disk use."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from told.cli.arguments import Arguments
from told.cli.context import UNDO_HINT, Context, MemoryView, count, iso, memory_count
from told.errors import NotFoundError, UsageError
from told.memories.caller import Caller
from told.memories.journal_writer import JournalWriter
from told.memories.scopes import MemoryFilter, list_memories
from told.recall.shown_log import move_shown_to_journal
from told.retention.disk import MB, DeletionPlan, delete_planned, measure_disk_use, plan_deletion
from told.retention.retention import (
    DAY,
    ClockReading,
    RetentionClock,
    archive,
    find_unused,
    list_archived,
    ms_until_next_archive,
    read_clock,
    restore,
    tick,
)
from told.store.memories.records import ACTIVE, ARCHIVED, CAPTURE, Memory
from told.store.sessions.read import Filter

_SESSIONS_SHOWN = 10
_MEMORIES_SHOWN = 20
_SMALLEST_PART = MB // 20
_OVER = "What can be restored is deleted automatically; for the rest see `told retention prune`."
_USAGE = "Use `told retention`, `told retention prune`, `archived`, `restore ID…` or `restore --all`."
_OFF = "Retention is off (retention.days is 0): nothing is archived automatically."


def disk_json(context: Context) -> dict[str, Any]:
    """Return told's disk use for JSON."""
    found = measure_disk_use(context.home, context.settings.retention_cap_mb)
    return {"disk": {
        "bytes": found.total, "cap": found.cap or None, "over": found.over, "parts": found.parts,
        "not_searched": context.reading.count_trimmed(Filter()),
    }}  # fmt: skip


def disk_line(context: Context) -> str:
    """Return told's disk use and cap in a line."""
    found = measure_disk_use(context.home, context.settings.retention_cap_mb)
    parts = [f"{name} {_mb(size)}" for name, size in found.parts.items() if size > _SMALLEST_PART]
    cap = f" of {_mb(found.cap)} MB" if found.cap else ""
    line = f"Disk: {_mb(found.total)} MB{cap} ({', '.join(parts)})."
    if found.total < MB:
        line = f"Disk: less than 1 MB{cap}."
    trimmed = context.reading.count_trimmed(Filter())
    if trimmed:
        line += f" {count(trimmed, 'older session')} not searched."
    over = _over_line(context)
    return f"{line}\n{over}" if over else line


def _over_line(context: Context) -> str:
    """Return by how much told is over its cap, if it is."""
    found = measure_disk_use(context.home, context.settings.retention_cap_mb)
    return f"told is {_mb(found.over)} MB over its cap of {_mb(found.cap)} MB. {_OVER}" if found.over else ""


def _delete_over_cap(view: MemoryView, *, force: bool) -> DeletionPlan:
    """Plan deletions to get below the cap; with `force` delete."""
    context = view.context
    settings = context.settings
    found = plan_deletion(
        context.connection, settings.home, view.memories, settings.retention_cap_mb, learned=settings.learn
    )
    if force and (found.sessions or found.memories):
        delete_planned(view.writer, context.connection, found)
    return found


def _deletion_json(found: DeletionPlan, *, done: bool) -> dict[str, Any]:
    sessions = [{"id": one.public, "agent": one.agent, "ended": iso(one.ended)} for one in found.sessions]
    return {"over_cap": {
        "bytes": found.over, "deleted": done, "fits": found.fits, "sessions": sessions,
        "memories": [one.id for one in found.memories],
    }}  # fmt: skip


def _print_deletion(context: Context, found: DeletionPlan, *, done: bool) -> None:
    if not found.over:
        return
    verb = "Deleted" if done else "Would delete"
    parts = [count(len(found.sessions), "session")] if found.sessions else []
    if found.memories:
        parts.append(f"{memory_count(len(found.memories))} (archived)")
    what = " and ".join(parts) or "nothing"
    then = "" if done else " for good; add --force to do it"
    context.print(f"{_mb(found.over)} MB over the cap of {context.settings.retention_cap_mb:,} MB.")
    context.print(f"{verb} {what}{then}. There is no other copy.")
    for one in found.sessions[:_SESSIONS_SHOWN]:
        text = context.fence.inline(" ".join(one.summary.split())[:60])
        context.print(f"  {(iso(one.ended) or '')[:10]} {one.public} {text}")
    if len(found.sessions) > _SESSIONS_SHOWN:
        context.print(f"  and {count(len(found.sessions) - _SESSIONS_SHOWN, 'more session')}")
    if not found.fits:
        context.print("That is not enough. Raise the cap: `told config set retention.cap_mb N`.")


def _mb(size: int) -> str:
    return f"{size / MB:,.1f}" if size % MB and size < 10 * MB else f"{size / MB:,.0f}"


def retention(context: Context, arguments: Arguments) -> None:
    """Show the archive's state, archive unused memories, or restore them."""
    action, rest = "".join(arguments.operands[:1]), arguments.operands[1:]
    if action not in ("", "prune", "archived", "restore") or (rest and action != "restore"):
        raise UsageError(_USAGE)
    with MemoryView(context) as view:
        if action == "prune":
            return _prune(view, arguments)
        if action == "archived":
            return _list_archived(view, arguments)
        if action == "restore":
            return _restore(view, arguments, rest)
        return _status(view)


def _status(view: MemoryView) -> None:
    context, days = view.context, view.context.settings.retention_days
    statuses: dict[str, int] = {}
    for status, _, _, many, _ in view.memories.counts():
        statuses[status] = statuses.get(status, 0) + many
    active, away = statuses.get(ACTIVE, 0), statuses.get(ARCHIVED, 0)
    clock = ClockReading(context.now, read_clock(view.writer.journal, view.memories))
    by_user = replace(clock, from_said=True)
    ripe = len(find_unused(view.writer.journal, view.memories, by_user, days))
    soonest = ms_until_next_archive(view.memories, clock, days)
    then = None if soonest is None else -(-soonest // DAY)
    over = _over_line(context)
    if context.as_json:
        context.print_json({
            "days": days, "active": active, "archived": away, "fading": ripe, "next_in_days": then,
            "counted_days": clock.elapsed.now // DAY, **(disk_json(context) if over else {}),
        })  # fmt: skip
        return
    context.print(f"{memory_count(active)} active, {away:,} archived (`told retention archived`).")
    if over:
        context.print(over)
    if not days:
        context.print(_OFF)
        return
    context.print(f"The window is {count(days, 'day')}. {_counted(clock)}")
    if ripe:
        context.print(f"{memory_count(ripe)} would be archived: `told retention prune`.")
    elif then:
        context.print(f"Nothing to archive now; the next may be due in {count(then, 'day')}.")
    else:
        context.print("Nothing to archive.")


def _counted(clock: ClockReading) -> str:
    return f"{count(clock.elapsed.now // DAY, 'day')} of use counted so far."


def _prune(view: MemoryView, arguments: Arguments) -> None:
    context = view.context
    days = arguments.number("days", context.settings.retention_days)
    force = arguments.flag("force")
    if force:
        view.require_user("archive memories")
    # First, so that what is archived now is not deleted at once.
    over = _delete_over_cap(view, force=force)
    if not days and not over.over:
        raise UsageError(f"{_OFF} Give a window: `told retention prune --days 90`.")
    counted = _update_clock(view) if force else read_clock(view.writer.journal, view.memories)
    clock = ClockReading(context.now, counted, from_said=True)
    found = find_unused(view.writer.journal, view.memories, clock, days)
    known = view.memories.get(one.memory.id for one in found[: arguments.number("limit", _MEMORIES_SHOWN)])
    if force:
        archive(view.writer, found)
    if context.as_json:
        rows = [
            view.json(known[one.memory.id]) | {"why": one.why, "idle_days": one.days}
            for one in found
            if one.memory.id in known
        ]
        context.print_json({
            "count": len(found), "archived": force, "days": days, "counted_days": clock.elapsed.now // DAY,
            "memories": rows, **(_deletion_json(over, done=force) if over.over else {}),
        }, found=found or over.over)  # fmt: skip
        return
    _print_deletion(context, over, done=force)
    if not found and over.over:
        return
    if not found:
        raise NotFoundError(f"Nothing to archive with a window of {count(days, 'day')}. {_counted(clock)}")
    if force:
        context.print(f"Archived {memory_count(len(found))}. {UNDO_HINT}")
    else:
        many = memory_count(len(found))
        context.print(f"Would archive {many}; add --force to do it. It can be restored.")
    for one in found:
        if one.memory.id in known:
            context.print(f"{view.row(known[one.memory.id])}\n  {one.why}")
    if len(found) > len(known):
        context.print(f"And {len(found) - len(known):,} more (-n).")


def _update_clock(view: MemoryView) -> RetentionClock:
    """Record what sessions were shown just now, and count the day."""
    writer = JournalWriter(view.writer.journal, view.memories, view.context.now, Caller(CAPTURE))
    move_shown_to_journal(writer, view.context.now)
    return tick(writer)


def _list_archived(view: MemoryView, arguments: Arguments) -> None:
    context = view.context
    every = list_archived(view.memories)[::-1]
    found = every[: arguments.number("limit", _MEMORIES_SHOWN)]
    if context.as_json:
        rows = view.json_rows(found)
        context.print_json({"count": len(every), "memories": rows}, found=every)
        return
    if not every:
        raise NotFoundError("Nothing is archived.")
    context.print(f"{memory_count(len(every))} archived; `told retention restore ID` restores one.")
    for one in found:
        context.print(view.row(one))
    if len(every) > len(found):
        context.print(f"And {len(every) - len(found):,} more (-n).")


def _restore(view: MemoryView, arguments: Arguments, given: list[str]) -> None:
    context = view.context
    if bool(given) == arguments.flag("all"):
        raise UsageError("Say what to restore: `told retention restore ID…` or `restore --all`.")
    view.require_user("restore memories")
    found = list_archived(view.memories) if not given else [_find_archived(view, one) for one in given]
    if not found:
        raise NotFoundError("Nothing is archived.")
    restore(view.writer, dict.fromkeys(found))
    back = view.memories.get(one.id for one in found)
    shown = list(back.values())[: arguments.number("limit", _MEMORIES_SHOWN)]
    context.report(
        "\n".join([f"Restored {memory_count(len(back))}. {UNDO_HINT}", *map(view.row, shown)]),
        {"count": len(back), "memories": view.json_rows(shown)},
    )


def _find_archived(view: MemoryView, given: str) -> Memory:
    found = view.find_by_prefix(given)
    if len(found) == 1 and found[0].status != ARCHIVED:
        raise UsageError(f"{found[0].id} is not archived, it is {found[0].status}.")
    found = [one for one in found if one.status == ARCHIVED]
    if not found:
        words = MemoryFilter(status=ARCHIVED, words=given)
        found = list_memories(view.memories, words, view.context.now, 9)
    return view.only_one(given, found, "told retention archived")
