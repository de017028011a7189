"""`told audit`: memories that are outdated, contradict or repeat each other, and what to do about each."""

from __future__ import annotations

import os
from contextlib import suppress

from told.cli.memory_desk import Desk, memory_count, memory_json
from told.cli.onboard import project_of
from told.cli.output import count, to_json
from told.errors import NotFoundError, UsageError
from told.ingest.identity import git_root
from told.memory.audit import NAMED, Ground
from told.memory.audit import audit as look
from told.memory.onboard import tree_of
from told.store.memory_records import GLOBAL, PROJECT, USER
from told.store.projects import Projects
from told.store.reading import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.cli.arguments import Arguments
    from told.cli.context import Context
    from told.memory.audit import Audit, Finding

_MOST_PROJECTS = 40
_MOST_TOUCHES = 5000


def audit(context: Context, arguments: Arguments) -> int:
    """Say which memories of this project and of all have become wrong or needless."""
    everywhere = arguments.flag("all-projects")
    limit = arguments.number("limit", 50)
    with Desk(context) as desk:
        scopes = () if everywhere else desk.scopes
        found = look(
            desk.memories, scopes, _grounds(desk, everywhere=everywhere), context.now,
            redact=context.redactor().redact, key=context.key,
        )  # fmt: skip
        context.rows = len(found.findings)
        if arguments.flag("json"):
            rows = [_json(desk, one) for one in found.findings[:limit]]
            context.print(to_json({
                "count": len(found.findings), "memories_looked_at": found.looked,
                "not_looked_at": found.left, "without_a_folder": found.elsewhere, "findings": rows,
            }))  # fmt: skip
            return 0 if rows else 1
        if not found.findings:
            hint = "" if everywhere else " Try --all-projects." if not found.looked else ""
            raise NotFoundError(f"Looked at {memory_count(found.looked)}: nothing is wrong.{hint}")
        _print(desk, found, limit)
    return 0


def _grounds(desk: Desk, *, everywhere: bool) -> dict[str, Ground]:
    """Return the projects whose folders can be looked into, by their scope."""
    context = desk.context
    projects = Projects(context.connection)
    roots: dict[str, str] = {}
    if desk.project != GLOBAL:
        with suppress(UsageError):  # it may be a folder of the home folder's own repository
            roots[desk.project] = project_of(context, "")[0]
    if everywhere:
        for path, key, _, root in projects.places():
            for folder in (root, path):
                if folder and os.path.isdir(folder):
                    roots.setdefault(PROJECT + key, git_root(folder) or folder)
    remembered = {scope for _, _, scope, _, _ in desk.memories.counts()}
    home = os.path.realpath(context.environ.get("HOME", ""))
    chosen = [one for one in roots.items() if one[0] in remembered or one[0] == desk.project]
    return {
        scope: Ground(
            tree_of(root, context.environ), _touched(context, scope), context.environ.get("PATH", "")
        )
        for scope, root in chosen[:_MOST_PROJECTS]
        if root != home
    }


def _touched(context: Context, scope: str) -> list[str]:
    project = Projects(context.connection).by_key(scope.removeprefix(PROJECT))
    if project is None:
        return []
    return [one.path for one in context.reading.touches(Filter(project.id), _MOST_TOUCHES)]


def _print(desk: Desk, found: Audit, limit: int) -> None:
    context = desk.context
    more = f", the first {limit} of them" if len(found.findings) > limit else ""
    context.print(
        f"{memory_count(found.looked)} looked at, {count(len(found.findings), 'finding')}{more}. Nothing is"
        " changed."
    )
    if found.elsewhere:
        context.print(
            f"{memory_count(found.elsewhere)} of projects without a folder here: names not checked."
        )
    for one in found.findings[:limit]:
        context.print(f"{one.what}{'' if one.sure else '?'}: {desk.row(one.memory)}")
        context.print(f"  {_why(context, one)}")
        if one.other:
            context.print(f"  {desk.row(one.other)}")
        for command in one.do:
            context.print(f"  -> {command}")


def _why(context: Context, finding: Finding) -> str:
    return finding.why.replace("{}", _name(context, finding)) if finding.name else finding.why


def _name(context: Context, finding: Finding) -> str:
    """Return a name as it is if the user's own memory says it."""
    own = finding.what in NAMED and finding.memory.trust == USER
    return finding.name if own else context.name(finding.name)


def _json(desk: Desk, finding: Finding) -> dict[str, Any]:
    return {
        "what": finding.what, "why": _why(desk.context, finding), "sure": finding.sure,
        "name": _name(desk.context, finding) if finding.name else None,
        "memory": memory_json(desk, finding.memory),
        "other": memory_json(desk, finding.other) if finding.other else None, "do": list(finding.do),
    }  # fmt: skip
