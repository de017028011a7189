"""`told onboard`: learns a project from its own files, and says what it learned."""

from __future__ import annotations

import os

from told.cli.memory_desk import Desk, memory_json
from told.cli.output import count, to_json
from told.errors import NotFoundError, UsageError
from told.ingest.identity import git_root, identify, project_at
from told.memory._onboard_learned import GROUPS
from told.memory.onboard import learn, plan, tree_of, write
from told.store.memory_records import PROJECT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.cli.arguments import Arguments
    from told.cli.context import Context
    from told.memory.onboard import Change, Plan

_SHOWN = 12  # lines of a group


def onboard(context: Context, arguments: Arguments) -> int:
    """Learn what a project's README, instruction files, history and layout say."""
    root, scope, name = project_of(context, arguments.operands[0] if arguments.operands else "")
    dry = arguments.flag("dry-run")
    found = learn(tree_of(root, context.environ), context.redactor().redact)
    with Desk(context) as desk:
        planned = plan(desk.memories, found, scope, context.key)
        if not planned.found and not planned.gone:
            raise NotFoundError(f"There is nothing to learn from in {context.name(root)}.")
        made = [] if dry else write(desk.pen, planned, scope)
        context.rows = len(planned.new)
        if arguments.flag("json"):
            context.print(to_json(_json(desk, planned, made, root, name)))
        else:
            _print(context, planned, context.name(name), dry=dry)
    return 0


def project_of(context: Context, given: str) -> tuple[str, str, str]:
    """Return the folder, the scope and the name of the project at a path, or of the current folder.

    Raises:
        UsageError: there is no folder, or it is the home folder.
    """
    folder = os.path.realpath(os.path.join(context.cwd or os.sep, given)) if given else context.cwd
    if not folder or not os.path.isdir(folder):
        raise UsageError(
            f"{given or 'The current folder'} is no folder. Name a project's: `told onboard PATH`."
        )
    known = project_at(context.projects(), folder)
    above = bool(known and known.root and f"{folder}{os.sep}".startswith(known.root.rstrip(os.sep) + os.sep))
    root = git_root(folder) or (known.root if known and above and os.path.isdir(known.root) else folder)
    if root in (os.path.realpath(context.environ.get("HOME", "")), os.path.dirname(root)):
        raise UsageError("The home folder is no project. Name a project's folder: `told onboard PATH`.")
    found = known or identify(folder, ask_git=bool(git_root(folder)))
    return root, PROJECT + context.hide(found.key), context.hide(found.name)


def _print(context: Context, planned: Plan, name: str, *, dry: bool) -> None:
    new = [one for one in planned.new if not one.instead]
    changed = [one for one in planned.new if one.instead]
    if not planned.new and not planned.gone:
        context.print(f"Nothing new about {name}: {count(len(planned.known), 'fact')} known.")
        return
    verb = "Would learn" if dry else "Learned"
    parts = [
        f"{len(changed):,} in place of what files said before" if changed else "",
        f"{len(planned.gone):,} ended that no file says any more" if planned.gone else "",
        f"{len(planned.known):,} known" if planned.known else "",
        f"{planned.kept_out:,} left out that you forgot or corrected" if planned.kept_out else "",
        f"{planned.left:,} left out because there are too many" if planned.left else "",
    ]
    more = ", ".join(filter(None, parts))
    context.print(f"{verb} {count(len(new), 'fact')} about {name}{f'; {more}' if more else ''}.")
    for group in GROUPS:
        lines = [_line(one) for one in planned.new if one.learned.group == group]
        if lines:
            rest = f" ({len(lines) - _SHOWN} more: --json)" if len(lines) > _SHOWN else ""
            context.print(f"{group}:{rest}")
            context.print(context.fence.block("\n".join(lines[:_SHOWN]), "tool"))
    if not dry and planned.new:
        context.print("These are the files' words: searched, never put before an agent unasked.")


def _line(change: Change) -> str:
    learned = change.learned
    text = " ".join(learned.text.split())
    if learned.line and learned.path not in text:
        text += f" ({learned.path}:{learned.line})"
    return f"- {text}"


def _json(desk: Desk, planned: Plan, made: list[str], root: str, name: str) -> dict[str, Any]:
    fence = desk.context.fence
    ids = iter(made)
    rows = [
        {
            "id": next(ids, None), "group": one.learned.group, "kind": one.learned.kind,
            "text": fence.inline(one.learned.text, "tool"), "quote": fence.inline(one.learned.quote, "tool"),
            "file": desk.context.name(one.learned.path), "line": one.learned.line or None,
            "supersedes": one.instead.id if one.instead else None,
        }
        for one in planned.new
    ]  # fmt: skip
    return {
        "count": len(rows), "project": desk.context.name(name),
        "root": desk.context.name(root), "written": bool(made), "learned": rows,
        "ended": [memory_json(desk, one) for one in planned.gone], "known": len(planned.known),
        "left_out": planned.kept_out + planned.left,
    }  # fmt: skip
