"""How much disk told takes, for `told health` and `told retention`, and what has to go to fit the cap."""

from __future__ import annotations

from told.cli.memory_desk import memory_count
from told.cli.output import count, iso
from told.memory.disk import MB, cut, plan, use

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.cli.context import Context
    from told.cli.memory_desk import Desk
    from told.memory.disk import Cut, Use
    from told.store.trimming import Orphan

_SHOWN = 10
_SMALLEST = MB // 20  # of a part that is worth a word
_OVER = "What can be had again goes by itself; for the rest see `told retention prune`."


def disk_json(context: Context) -> dict[str, Any]:
    """Return how much disk told takes, as JSON says it."""
    found = _use(context)
    return {"disk": {
        "bytes": found.total, "cap": found.cap or None, "over": found.over, "parts": found.parts,
        "not_searched": context.reading.count_trimmed(_any()),
    }}  # fmt: skip


def disk_line(context: Context) -> str:
    """Say in a line how much disk told takes and what the cap is."""
    found = _use(context)
    parts = [f"{name} {_mb(size)}" for name, size in found.parts.items() if size > _SMALLEST]
    cap = f" of {_mb(found.cap)} MB" if found.cap else ""
    line = f"Disk: {_mb(found.total)} MB{cap} ({', '.join(parts)})."
    if found.total < MB:
        line = f"Disk: less than 1 MB{cap}."
    trimmed = context.reading.count_trimmed(_any())
    if trimmed:
        line += f" {count(trimmed, 'older session')} not searched."
    over = over_line(context)
    return f"{line}\n{over}" if over else line


def over_line(context: Context) -> str:
    """Say by how much told is over its cap, and what to do; empty if it is not."""
    found = _use(context)
    return f"told is {_mb(found.over)} MB over its cap of {_mb(found.cap)} MB. {_OVER}" if found.over else ""


def cut_to_fit(desk: Desk, *, force: bool) -> Cut:
    """Say what has to go to come below the cap; with `force` delete it."""
    context = desk.context
    settings = context.settings
    found = plan(
        context.connection, settings.home, desk.memories, settings.retention_cap_mb, learned=settings.learn
    )
    if force and (found.sessions or found.memories):
        cut(desk.pen, context.connection, found)
    return found


def cut_json(found: Cut, *, done: bool) -> dict[str, Any]:
    """Return what has to go, as JSON says it."""
    sessions = [{"id": one.public, "agent": one.agent, "ended": iso(one.ended)} for one in found.sessions]
    return {"over_cap": {
        "bytes": found.over, "deleted": done, "fits": found.fits, "sessions": sessions,
        "memories": [one.id for one in found.memories],
    }}  # fmt: skip


def print_cut(context: Context, found: Cut, *, done: bool) -> None:
    """Say what has to go, or has gone, because it does not fit below the cap."""
    if not found.over:
        return
    verb = "Deleted" if done else "Would delete"
    parts = [count(len(found.sessions), "session")] if found.sessions else []
    if found.memories:
        parts.append(f"{memory_count(len(found.memories))} (archived)")
    what = " and ".join(parts) or "nothing"
    then = "" if done else " for good; add --force to do it"
    context.print(f"{_mb(found.over)} MB over the cap of {context.settings.retention_cap_mb:,} MB.")
    context.print(f"{verb} {what}{then}. Nobody else has them.")
    for one in found.sessions[:_SHOWN]:
        context.print(f"  {_row(context, one)}")
    if len(found.sessions) > _SHOWN:
        context.print(f"  and {count(len(found.sessions) - _SHOWN, 'more session')}")
    if not found.fits:
        context.print("That is not enough. Raise the cap: `told config set retention.cap_mb N`.")


def _row(context: Context, session: Orphan) -> str:
    text = " ".join(session.summary.split())[:60]
    return f"{(iso(session.ended) or '')[:10]} {session.public} {context.fence.inline(text)}"


def _use(context: Context) -> Use:
    return use(context.settings.home, context.settings.retention_cap_mb)


def _mb(size: int) -> str:
    return f"{size / MB:,.1f}" if size % MB and size < 10 * MB else f"{size / MB:,.0f}"


def _any() -> Any:
    from told.store.reading import Filter

    return Filter()
