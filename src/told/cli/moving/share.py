"""`told share` and `told unshare`: what of your memories a team gets."""

from __future__ import annotations

from told.cli.arguments import Arguments
from told.cli.context import UNDO_HINT, Context, MemoryView, count
from told.errors import NotFoundError, UsageError
from told.memories.teams import find_shareable, is_shared, teams_of, unshare, why_not_shareable
from told.memories.teams import share as share_memory
from told.store.memories.records import UNCONFIRMED, Memory
from told.sync.spaces import Space, find_team

_LISTED = 20


def share(context: Context, arguments: Arguments) -> None:
    """Share memories with a team, or list what could be shared."""
    with MemoryView(context) as view:
        space = _team(view, arguments)
        if not arguments.operands:
            _list_shareable(view, space, arguments.number("limit", _LISTED))
            return
        found = [view.find_one(one, also=UNCONFIRMED) for one in dict.fromkeys(arguments.operands)]
        for one in found:
            why = why_not_shareable(one, space, context.redact)
            if why:
                raise UsageError(why)
        new = [one for one in found if not is_shared(one, space)]
        for one in new:
            share_memory(view.writer, one, space)
        _report(view, space, found, "Shared with")
        if not context.as_json:
            context.print(f"Colleagues get it with the next sync (`told sync`). {UNDO_HINT}")


def unshare_memories(context: Context, arguments: Arguments) -> None:
    """Take memories back from a team."""
    with MemoryView(context) as view:
        space = _team(view, arguments)
        found = [view.find_one(one, any_status=True) for one in dict.fromkeys(arguments.operands)]
        for one in found:
            if not is_shared(one, space):
                raise NotFoundError(f"{one.id} is not shared with {space.name}.")
        for one in found:
            unshare(view.writer, one, space)
        _report(view, space, found, "No longer shared with")
        if not context.as_json:
            context.print("The next sync erases its text there, and then on colleagues' machines.")


def _team(view: MemoryView, arguments: Arguments) -> Space:
    wanted = arguments.text("team")
    here = teams_of(view.home, view.project)
    return here[0] if not wanted and len(here) == 1 else find_team(view.home, wanted)


def _report(view: MemoryView, space: Space, found: list[Memory], said: str) -> None:
    if view.context.as_json:
        rows = view.json_rows(found)
        view.context.print_json({"count": len(rows), "team": space.name, "memories": rows})
        return
    for one in found:
        view.context.print(f"{said} {space.name}: {view.row(one)}")


def _list_shareable(view: MemoryView, space: Space, limit: int) -> None:
    context = view.context
    found = find_shareable(view.memories, space, view.project, context.redact)
    if context.as_json:
        rows = view.json_rows(found[:limit])
        context.print_json({"count": len(rows), "team": space.name, "memories": rows}, found=rows)
        return
    if not found:
        raise NotFoundError(f"No rules or decisions of this project are left to share with {space.name}.")
    context.print(f"Not shared with {space.name}: {describe_shareable(found)}. `told share ID…` shares some.")
    for one in found[:limit]:
        context.print(view.row(one))


def offer_sharing(view: MemoryView) -> str:
    """Return a line that offers to share what the team of the current project does not have."""
    if not view.caller.is_user:
        return ""
    parts = []
    for space in teams_of(view.home, view.project):
        found = find_shareable(view.memories, space, view.project, view.context.redact)
        if found:
            parts.append(f"Not shared with {space.name}: {describe_shareable(found)} (`told share`).")
    return " ".join(parts)


def describe_shareable(found: list[Memory]) -> str:
    """Return how many memories of which kind there are."""
    kinds = sorted({one.kind for one in found}, reverse=True)
    return " and ".join(count(sum(one.kind == kind for one in found), kind) for kind in kinds)
