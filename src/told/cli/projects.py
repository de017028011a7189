"""`told init`, `told onboard` and `told audit`."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

from told.audit.audit import AuditResult, ProjectState
from told.audit.audit import audit as audit_memories
from told.audit.pairs import NAMED, Finding
from told.cli.arguments import Arguments
from told.cli.context import UNDO_HINT, Context, MemoryView, count, memory_count
from told.errors import NotFoundError, UsageError
from told.ingest.projects import find_git_root, find_project, identify
from told.install.project import (
    ADDED,
    BY_HAND,
    InitResult,
    has_copy_elsewhere,
    init_project,
    memory_operations,
)
from told.journal.erase import erase
from told.journal.files import STRANGER
from told.journal.registry import list_series_names, read_registry
from told.onboard.files import GROUPS
from told.onboard.instructions import Instruction, find_agents_notes
from told.onboard.onboard import Change, OnboardPlan, open_project, plan_onboarding, read_project, write_plan
from told.store.database import transaction
from told.store.memories.records import FORGOTTEN, GLOBAL, PROJECT, USER
from told.store.sessions.checkpoints import Projects
from told.store.sessions.read import Filter
from told.text import clean

_LINES_OF_GROUP = 12
_KEPT_OUT = "left out that you forgot, rejected or corrected"
_MOST_PROJECTS = 40
_MOST_TOUCHES = 5000


def _find_folder(context: Context, arguments: Arguments) -> str:
    """Return the folder that was given, or the current one."""
    given = "".join(arguments.operands[:1])
    folder = os.path.realpath(os.path.join(context.cwd or os.sep, given)) if given else context.cwd
    if not folder or not os.path.isdir(folder):
        name = arguments.command.name
        raise UsageError(f"{given or 'The current folder'} is no folder. Name a project: `told {name} PATH`.")
    return folder


def _check_root(context: Context, root: str) -> None:
    if root in (os.path.realpath(context.environ.get("HOME", "")), os.path.dirname(root)):
        raise UsageError("The home folder is no project. Give a project's folder as PATH.")


def init(context: Context, arguments: Arguments) -> None:
    """Give a project its own folder for memories."""
    folder = _find_folder(context, arguments)
    context.check_path(folder)
    found = identify(folder, ask_git=bool(find_git_root(folder)))
    root = found.root if os.path.isdir(found.root) else find_git_root(folder) or folder
    _check_root(context, root)
    projects = context.projects()
    known = find_project(projects, folder) if find_git_root(folder) else projects.at(root)
    key, name = (known or found).key, (known or found).name
    if known is None:
        key, name = context.hide_secrets(key), context.hide_secrets(name)
    made = init_project(context.home, root, PROJECT + key, context.environ)
    with suppress(FileNotFoundError):
        os.remove(os.path.join(context.home, "places"))  # the hooks' cache of folders and projects
    with transaction(context.connection):
        projects.place(root, projects.put(key, name, root).id)
    with MemoryView(context) as view:
        yours, others = _adopt_memories(view, made)
    if context.as_json:
        context.print_json({
            "project": context.name(name), "root": clean(made.place.root),
            "store": clean(made.place.folder), "new": made.is_new, "gitignore": made.ignored,
            "memories": {"yours": yours, "others": others},
        })  # fmt: skip
    else:
        _print_init(context, made, name, yours, others)


def _adopt_memories(view: MemoryView, made: InitResult) -> tuple[int, int]:
    """Move the folder's memories to this project; count the user's and others'."""
    operations = memory_operations(made.place)
    known = view.memories.get({one.memory for one in operations})
    copied = {
        one.memory for one in operations if has_copy_elsewhere(made.place, one.machine.removeprefix(STRANGER))
    }
    for memory in known.values():
        if memory.scope.startswith(PROJECT) and memory.scope != made.place.scope and memory.id not in copied:
            view.writer.add("move", memory.id, scope=made.place.scope)
    view.writer.write()
    # What was forgotten while the folder was away is still in it.
    forgotten = {memory.id for memory in known.values() if memory.status == FORGOTTEN}
    erase(view.home, {one.memory for one in operations if one.payload and one.memory in forgotten})
    active = [one for one in known.values() if one.text]
    others = sum(1 for one in active if one.machine.startswith(STRANGER))
    return len(active) - others, others


def _print_init(context: Context, made: InitResult, name: str, yours: int, others: int) -> None:
    verb = "now keeps" if made.is_new else "already keeps"
    context.print(f"{context.name(name)} {verb} its own memories in {clean(made.place.folder)}.")
    if made.ignored == ADDED:
        context.print("Added .told/ to its .gitignore.")
    elif made.ignored == BY_HAND:
        context.print("Its .gitignore cannot be changed: add .told/ to it, so that it is not committed.")
    if yours:
        context.print(f"Found {memory_count(yours)} of yours there.")
    if others:
        context.print(f"Found {memory_count(others)} by others: treated as a colleague's statements.")


def project_notes(home: str) -> list[tuple[str, str]]:
    """Return the projects with their own memories that need attention, and why."""
    notes = []
    for place in read_registry(home):
        if not place.exists:
            notes.append((place.root, "its folder .told is gone; its memories last until `told rebuild`"))
        elif set(list_series_names(place)) - set(place.series):
            notes.append((place.root, "it has another machine's memories; `told init` accepts them"))
    return notes


def onboard(context: Context, arguments: Arguments) -> None:
    """Learn a project's stack, commands, CI and decisions from its files."""
    root, scope, name = _find_project_root(context, _find_folder(context, arguments))
    dry = arguments.flag("dry-run")
    facts = read_project(open_project(root, context.environ), context.redact)
    with MemoryView(context) as view:
        plan = plan_onboarding(view.memories, facts, scope, context.key, context.now)
        if not plan.found and not plan.gone:
            raise NotFoundError(f"There is nothing to learn from in {context.name(root)}.")
        made = [] if dry else write_plan(view.writer, plan, scope)
        if context.as_json:
            context.print_json(_onboard_json(view, plan, made, root, name))
        else:
            _print_onboard(context, plan, context.name(name), dry=dry)


def _find_project_root(context: Context, folder: str) -> tuple[str, str, str]:
    known = find_project(context.projects(), folder)
    below = bool(known and known.root and f"{folder}{os.sep}".startswith(known.root.rstrip(os.sep) + os.sep))
    root = find_git_root(folder) or (known.root if known and below and os.path.isdir(known.root) else folder)
    _check_root(context, root)
    found = known or identify(folder, ask_git=bool(find_git_root(folder)))
    return root, PROJECT + context.hide_secrets(found.key), context.hide_secrets(found.name)


def _print_onboard(context: Context, plan: OnboardPlan, name: str, *, dry: bool) -> None:
    if not plan.new and not plan.gone:
        kept_out = f", {plan.kept_out:,} {_KEPT_OUT}" if plan.kept_out else ""
        context.print(f"Nothing new about {name}: {count(len(plan.known), 'fact')} known{kept_out}.")
        return
    new = [one for one in plan.new if not one.instead]
    replaced = len(plan.new) - len(new)
    parts = [
        f"{replaced:,} replaced" if replaced else "",
        f"{len(plan.gone):,} no longer in any file" if plan.gone else "",
        f"{len(plan.known):,} known" if plan.known else "",
        f"{plan.kept_out:,} {_KEPT_OUT}" if plan.kept_out else "",
        f"{plan.left:,} left out because there are too many" if plan.left else "",
    ]
    more = ", ".join(filter(None, parts))
    verb = "Would learn" if dry else "Learned"
    context.print(f"{verb} {count(len(new), 'fact')} about {name}{f'; {more}' if more else ''}.")
    for group in GROUPS:
        lines = [_fact_line(one) for one in plan.new if one.learned.group == group]
        if lines:
            rest = f" ({len(lines) - _LINES_OF_GROUP} more: --json)" if len(lines) > _LINES_OF_GROUP else ""
            context.print(f"{group}:{rest}")
            context.print(context.fence.block("\n".join(lines[:_LINES_OF_GROUP]), "tool"))
    if not dry and plan.new:
        context.print("These are the files' statements: they can be searched, but no brief contains them.")
    if not dry and context.caller.is_user:
        context.print(UNDO_HINT)


def _fact_line(change: Change) -> str:
    fact = change.learned
    text = " ".join(fact.text.split())
    if fact.line and fact.path not in text:
        text += f" ({fact.path}:{fact.line})"
    return f"- {text}"


def _onboard_json(
    view: MemoryView, plan: OnboardPlan, made: list[str], root: str, name: str
) -> dict[str, Any]:
    context, fence = view.context, view.context.fence
    ids = iter(made)
    rows = [
        {
            "id": next(ids, None), "group": one.learned.group, "kind": one.learned.kind,
            "text": fence.inline(one.learned.text, "tool"), "quote": fence.inline(one.learned.quote, "tool"),
            "file": context.name(one.learned.path), "line": one.learned.line or None,
            "supersedes": one.instead.id if one.instead else None,
        }
        for one in plan.new
    ]  # fmt: skip
    return {
        "count": len(rows), "project": context.name(name), "root": context.name(root),
        "written": bool(made), "learned": rows, "ended": view.json_rows(plan.gone),
        "known": len(plan.known), "left_out": plan.kept_out + plan.left,
    }  # fmt: skip


def audit(context: Context, arguments: Arguments) -> None:
    """Print memories that are outdated, contradictory or duplicate."""
    everywhere = arguments.flag("all-projects")
    limit = arguments.number("limit", 50)
    with MemoryView(context) as view:
        found = audit_memories(
            view.memories, () if everywhere else view.scopes, _project_states(view, everywhere=everywhere),
            context.now, redact=context.redact, key=context.key,
        )  # fmt: skip
        if context.as_json:
            rows = [_finding_json(view, one) for one in found.findings[:limit]]
            context.print_json({
                "count": len(found.findings), "memories_looked_at": found.looked,
                "not_looked_at": found.left, "without_a_folder": found.elsewhere, "findings": rows,
            }, found=rows)  # fmt: skip
            return
        if not found.findings:
            hint = "" if everywhere or found.looked else " Try --all-projects."
            raise NotFoundError(f"Checked {memory_count(found.looked)}: nothing is wrong.{hint}")
        _print_audit(view, found, limit)


def _project_states(view: MemoryView, *, everywhere: bool) -> dict[str, ProjectState]:
    """Return the projects whose folders exist, by scope."""
    context = view.context
    roots: dict[str, str] = {}
    if view.project != GLOBAL:
        with suppress(UsageError):  # it may be a folder of the home folder's own repository
            roots[view.project] = _find_project_root(context, context.cwd)[0]
    if everywhere:
        for path, key, _, root in Projects(context.connection).places():
            for folder in (root, path):
                if folder and os.path.isdir(folder):
                    roots.setdefault(PROJECT + key, find_git_root(folder) or folder)
    remembered = {scope for _, _, scope, _, _ in view.memories.counts()}
    home = os.path.realpath(context.environ.get("HOME", ""))
    chosen = [one for one in roots.items() if one[0] in remembered or one[0] == view.project]
    return {
        scope: ProjectState(
            open_project(root, context.environ),
            _touched(context, scope),
            context.environ.get("PATH", ""),
            find_agents_notes(root, context.environ),
        )
        for scope, root in chosen[:_MOST_PROJECTS]
        if root != home
    }


def _touched(context: Context, scope: str) -> list[str]:
    project = Projects(context.connection).by_key(scope.removeprefix(PROJECT))
    found = context.reading.touches(Filter(project.id), _MOST_TOUCHES) if project else []
    return [one.path for one in found]


def _print_audit(view: MemoryView, found: AuditResult, limit: int) -> None:
    context = view.context
    shown = f" ({limit} shown)" if len(found.findings) > limit else ""
    many = count(len(found.findings), "finding")
    context.print(f"Checked {memory_count(found.looked)}: {many}{shown}. Nothing was changed.")
    if found.elsewhere:
        many = memory_count(found.elsewhere)
        context.print(f"{many} of projects without a folder here: names not checked.")
    for one in found.findings[:limit]:
        context.print(f"{one.what}{'' if one.sure else '?'}: {view.row(one.memory)}")
        if one.other:
            context.print(f"  {view.row(one.other)}")
        context.print(f"  {_reason(context, one)}")
        if one.instruction:
            newer = f" The {one.newer} is newer." if one.newer else ""
            context.print(f"  {_file_says(context, one.instruction)}{newer}")
        for command in one.do:
            context.print(f"  -> {command}")


def _file_says(context: Context, instruction: Instruction) -> str:
    """Return a file's statement, redacted and fenced: it is data."""
    return context.fence.inline(context.redact(instruction.text), "tool")


def _reason(context: Context, finding: Finding) -> str:
    return finding.why.replace("{}", _finding_name(context, finding)) if finding.name else finding.why


def _finding_name(context: Context, finding: Finding) -> str:
    """Return the name in a finding, fenced unless it is the user's."""
    own = finding.what in NAMED and finding.memory.trust == USER
    return finding.name if own else context.name(finding.name)


def _finding_json(view: MemoryView, finding: Finding) -> dict[str, Any]:
    context, said = view.context, finding.instruction
    return {
        "what": finding.what, "why": _reason(context, finding), "sure": finding.sure,
        "name": _finding_name(context, finding) if finding.name else None,
        "memory": view.json(finding.memory),
        "other": view.json(finding.other) if finding.other else None, "do": list(finding.do),
        "file": context.name(said.document.path) if said else None, "line": said.line if said else None,
        "sentence": _file_says(context, said) if said else None, "newer": finding.newer or None,
    }  # fmt: skip
