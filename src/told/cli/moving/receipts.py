"""The receipt of `told forget`: which places and machines have erased it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from told.cli.context import Context, count
from told.journal.copies import has_spaces

_GIT_HOST = "A git host may keep objects that nothing refers to for some weeks."


def make_receipts(
    context: Context, memories: Sequence[str], *, sync: bool, sessions: Sequence[str] = ()
) -> list[dict[str, Any]]:  # fmt: skip
    """Return what became of forgotten memories and sessions elsewhere; sync first so that others hear of it.

    Empty if nothing is synced.
    """
    if not (memories or sessions) or not has_spaces(context.home):
        return []
    from told.cli.moving.sync import sync_quietly  # noqa: PLC0415 - few users sync
    from told.sync.places import describe_place  # noqa: PLC0415
    from told.sync.receipts import read_receipts  # noqa: PLC0415

    if sync:
        sync_quietly(context)
    return [
        {
            "team": one.space.name or None, "places": [describe_place(place) for place in one.space.places],
            "sent": one.is_sent, "may_linger": one.may_linger,
            "machines": [
                {"machine": row.machine, "name": context.name(row.name), "confirmed": row.is_confirmed}
                for row in one.machines
            ],
        }
        for one in read_receipts(context.home, memories, sessions)
    ]  # fmt: skip


def print_receipts(context: Context, receipts: Sequence[dict[str, Any]]) -> None:
    """Print where else it was, and who has confirmed that it is gone."""
    for one in receipts:
        where = ", ".join(one["places"]) or "no place"
        state = "erased" if one["sent"] else "still there until the next `told sync`"
        context.print(f"{where}{' (team ' + one['team'] + ')' if one['team'] else ''}: {state}.")
        done = [row for row in one["machines"] if row["confirmed"]]
        waiting = [row for row in one["machines"] if not row["confirmed"]]
        if done:
            context.print(f"  Confirmed by {_names(done)}.")
        if waiting:
            what = count(len(waiting), "machine")
            context.print(f"  Waiting for {what}: {_names(waiting)}. It is erased there at the next sync.")
        if one["may_linger"]:
            context.print(f"  {_GIT_HOST}")


def _names(rows: Sequence[dict[str, Any]]) -> str:
    return ", ".join(f"{row['name']} ({row['machine']})" if row["name"] else row["machine"] for row in rows)
