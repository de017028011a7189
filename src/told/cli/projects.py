"""`told init`: a project keeps its own memories."""

from __future__ import annotations

import os
from contextlib import suppress

from told.cli.memory_desk import Desk, memory_count
from told.cli.output import to_json
from told.errors import UsageError
from told.guard.text import clean
from told.ingest.identity import git_root, identify, project_at
from told.journal.erase import erase
from told.journal.model import STRANGER
from told.journal.places import series_in
from told.journal.registry import registered
from told.setup.init import ADDED, BY_HAND, held_elsewhere, makers_in
from told.setup.init import init as make
from told.store.database import Transaction
from told.store.memory_records import FORGOTTEN, PROJECT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.cli.arguments import Arguments
    from told.cli.context import Context
    from told.setup.init import Made
    from told.store.memory_records import Memory


def init(context: Context, arguments: Arguments) -> int:
    """Give a project a folder of its own for its memories, and say what was found there."""
    root, key, name = _project(context, arguments.operands[0] if arguments.operands else "")
    mine = context.caller.is_user
    made = make(context.settings.home, root, PROJECT + key, context.environ, let_in=mine)
    with suppress(FileNotFoundError):
        os.remove(os.path.join(context.settings.home, "places"))  # where hooks keep what a folder belongs to
    with Transaction(context.connection):
        projects = context.projects()
        projects.place(root, projects.put(key, name, root).id)
    with Desk(context) as desk:
        yours, others = _taken_in(desk, made)
    context.rows = yours + others
    if arguments.flag("json"):
        context.print(to_json(_json(context, made, name, yours, others)))
    else:
        _print(context, made, name, yours, others)
    return 0


def notes_on_places(home: str) -> list[tuple[str, str]]:
    """Return the folder of each project that has its own memories and needs attention, and why."""
    found = []
    for place in registered(home):
        if not place.is_there:
            found.append((place.root, "its folder .told is gone; what it said is known until `told rebuild`"))
        elif set(series_in(place)) - set(place.series):
            found.append((place.root, "another machine's memories are there; `told init` lets them in"))
    return found


def _project(context: Context, given: str) -> tuple[str, str, str]:
    """Return the folder, the key and the name of the project at a path, or of the current folder.

    Raises:
        UsageError: there is no folder, or it is the home folder.
    """
    folder = os.path.realpath(os.path.join(context.cwd or os.sep, given)) if given else context.cwd
    if not folder or not os.path.isdir(folder):
        raise UsageError(f"{given or 'The current folder'} is no folder. Name a project's: `told init PATH`.")
    context.check_path(folder)
    found = identify(folder, ask_git=bool(git_root(folder)))
    root = found.root if os.path.isdir(found.root) else git_root(folder) or folder
    if root in (os.path.realpath(context.environ.get("HOME", "")), os.path.dirname(root)):
        raise UsageError("The home folder is no project. Name a project's folder: `told init PATH`.")
    projects = context.projects()
    known = project_at(projects, folder) if git_root(folder) else projects.at(root)
    if known:
        return root, known.key, known.name
    return root, context.hide(found.key), context.hide(found.name)


def _taken_in(desk: Desk, made: Made) -> tuple[int, int]:
    """Let the memories that stand there be this project's; return how many are the user's, and others'."""
    makers = makers_in(made.place)
    known = desk.memories.get({one.memory for one in makers})
    copied = {one.memory for one in makers if held_elsewhere(made.place, one.machine.removeprefix(STRANGER))}
    for memory in known.values():
        if memory.scope.startswith(PROJECT) and memory.scope != made.place.scope and memory.id not in copied:
            desk.pen.note("move", memory.id, scope=made.place.scope)
    desk.pen.write()
    # What was forgotten while the folder was away still stands in it.
    erase(desk.home, {one.memory for one in makers if one.payload and _is_forgotten(known.get(one.memory))})
    active = [one for one in known.values() if one.text]
    others = sum(1 for one in active if one.machine.startswith(STRANGER))
    return len(active) - others, others


def _is_forgotten(memory: Memory | None) -> bool:
    return memory is not None and memory.status == FORGOTTEN


def _print(context: Context, made: Made, name: str, yours: int, others: int) -> None:
    folder = clean(made.place.folder)
    begins = "from now on" if made.is_new else "already"
    context.print(f"{context.name(name)} keeps its own memories in {folder} {begins}.")
    if made.ignored == ADDED:
        context.print("Added .told/ to its .gitignore.")
    elif made.ignored == BY_HAND:
        context.print("Its .gitignore cannot be changed: add .told/ to it, so that it is not committed.")
    if yours:
        context.print(f"Found {memory_count(yours)} of yours there.")
    if others:
        context.print(f"Found {memory_count(others)} that others wrote: known as a colleague's word.")
    if made.left_out:
        context.print(
            "Memories that others wrote stand there as well. Only you can let them in: run `told init` in a"
            " terminal of your own."
        )


def _json(context: Context, made: Made, name: str, yours: int, others: int) -> dict[str, Any]:
    return {
        "project": context.name(name), "root": clean(made.place.root),
        "store": clean(made.place.folder), "new": made.is_new, "gitignore": made.ignored,
        "memories": {"yours": yours, "others": others, "not_let_in": len(made.left_out)},
    }  # fmt: skip
