"""`told install` and `told uninstall`: connect agents to told, and undo that."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from told.agents import wired_agents
from told.agents.base import Agent
from told.agents.wiring import FULL, MINIMAL, NO_HOOKS, PROJECT_SCOPE, USER_SCOPE, Entry, Place
from told.cli.arguments import Arguments, all_commands
from told.cli.context import Context, confirm_yes, count, may_ask, short_home
from told.cli.index import index
from told.cli.review import offer_review
from told.errors import MissingError, NotFoundError, UsageError
from told.install.apply import (
    BROKEN,
    HOOKS,
    KEPT,
    SLASH_COMMANDS,
    WRITTEN,
    Step,
    command_folder,
    find_agent_sign,
    has_hooks,
    inspect_wiring,
    owner_of,
    part_of,
    remove_unrecorded,
    wire,
)
from told.install.edits import GONE, REMOVED, RESTORED
from told.install.foreign import FAILED, LEFT, Outcome, undo_changes
from told.install.ledger import Ledger
from told.install.legacy import remove_legacy_files
from told.install.place import delete_home, launch, make_place, project_root
from told.install.project import restore_gitignore
from told.install.values import THERE
from told.journal.registry import read_registry
from told.service.control import stop
from told.service.state import run_folder
from told.settings.write import write_first_config
from told.store.sessions.source_states import SourceStates

_SCOPES, _PROFILES = (USER_SCOPE, PROJECT_SCOPE), (NO_HOOKS, MINIMAL, FULL)
_DONE = {
    WRITTEN: "written", THERE: "already there", REMOVED: "removed", KEPT: "left as you changed it",
    BROKEN: "not written",
}  # fmt: skip
_PLANNED = _DONE | {WRITTEN: "would be written", REMOVED: "would be removed", BROKEN: "cannot be written"}


def named_agents(arguments: Arguments) -> list[Agent]:
    """Return the agents that --agent names, each once."""
    known = wired_agents()
    by_name = {name: agent for agent in known.values() for name in (agent.name, agent.label, *agent.aliases)}
    chosen: dict[str, Agent] = {}
    for given in arguments["agent"] or []:
        for name in map(str.strip, str(given).lower().split(",")):
            agent = by_name.get(name)
            if agent is None:
                close = get_close_matches(name, sorted(by_name, key=len), 1, 0.5)
                hint = f'Did you mean "{by_name[close[0]].name}"?' if close else _connectable()
                raise UsageError(f'Unknown agent "{name}". {hint}')
            chosen[agent.name] = agent
    return list(chosen.values())


def _connectable() -> str:
    return f"told can connect: {', '.join(wired_agents())}."


def _choice(arguments: Arguments, option: str, choices: tuple[str, ...], default: str) -> str:
    value = arguments.text(option) or default
    if value not in (*choices, default):
        raise UsageError(f"--{option} is one of {', '.join(choices)}, not {value!r}.")
    return value


def place_for(context: Context, scope: str, **options: Any) -> Place:
    """Return the place for one scope."""
    commands = frozenset(command.name for command in all_commands() if not command.hidden)
    return make_place(context.environ, context.cwd, commands, scope=scope, **options)


def install(context: Context, arguments: Arguments) -> None:
    """Connect the agents that are found or named."""
    scope = _choice(arguments, "scope", _SCOPES, USER_SCOPE)
    profile = _choice(arguments, "profile", _PROFILES, "")
    if scope == PROJECT_SCOPE:
        context.check_path(context.cwd)
    agents = named_agents(arguments)
    agents = agents or [one for one in wired_agents().values() if find_agent_sign(one, context.environ)]
    if not agents:
        raise NotFoundError(
            "No agent was found on this machine. Name one, for example `told install --agent codex`;"
            f" {_connectable()}"
        )
    place = place_for(context, scope)
    ledger = Ledger(context.home)
    places = {agent.name: _with_profile(agent, place, ledger, profile) for agent in agents}
    planned = {agent.name: wire(agent, places[agent.name], ledger, dry=True) for agent in agents}
    if arguments.flag("dry-run"):
        _report(context, agents, places, planned, dry=True)
        return
    if may_ask(arguments) and _has_changes(planned):
        for agent in agents:
            _print_agent(context, agent, planned[agent.name], _PLANNED)
        if not confirm_yes(context, "Write this?"):
            context.print("Nothing was written.")
            return
    done = {agent.name: wire(agent, places[agent.name], ledger) for agent in agents}
    ledger.set_profiles({owner_of(agent, place): places[agent.name].profile for agent in agents})
    write_first_config(context.home)
    _report(context, agents, places, done, dry=False)
    removed = remove_legacy_files(context.home)
    if not context.as_json:
        if removed:
            context.print(f"\nRemoved {count(len(removed), 'file')} of an earlier version from told's home.")
        if _has_changes(done):
            _offer_history(context, arguments)


def _with_profile(agent: Agent, place: Place, ledger: Ledger, profile: str) -> Place:
    """Return the place with the given or present profile.

    An agent with hooks for all projects gets none for this one: they would run twice.
    """
    if not profile:
        wired = inspect_wiring(agent, place, ledger)
        present = ledger.profiles.get(owner_of(agent, place)) or wired.profile
        profile = present if wired.is_wired and present in _PROFILES else MINIMAL
        if place.scope == PROJECT_SCOPE and not wired.is_wired:
            everywhere = inspect_wiring(agent, replace(place, scope=USER_SCOPE), ledger)
            profile = NO_HOOKS if everywhere.is_wired and has_hooks(everywhere) else MINIMAL
    return replace(place, profile=profile)


def _has_changes(steps: dict[str, list[Step]]) -> bool:
    return any(step.state in (WRITTEN, REMOVED) for several in steps.values() for step in several)


def _report(
    context: Context, agents: list[Agent], places: dict[str, Place],
    steps: dict[str, list[Step]], *, dry: bool,
) -> None:  # fmt: skip
    broken = [step.note for several in steps.values() for step in several if step.state == BROKEN]
    if context.as_json:
        rows = [_agent_json(agent, places[agent.name], steps[agent.name]) for agent in agents]
        context.print_json({"dry_run": dry, "agents": rows})
    else:
        for agent in agents:
            place, own = places[agent.name], steps[agent.name]
            _print_agent(context, agent, own, _PLANNED if dry else _DONE)
            if dry:
                for lines in (step.lines for step in own if step.lines):
                    context.print("    " + lines.rstrip("\n").replace("\n", "\n    "))
            elif (
                _has_changes({"": own})
                and agent.todo
                and not (agent.is_todo_done and agent.is_todo_done(place))
            ):
                context.print(f"  {agent.todo}")
        if not dry and _has_changes(steps):
            if places[agents[0].name].scope == PROJECT_SCOPE:
                context.print("\nHooks name programs of this machine: do not commit the files they are in.")
            context.print("\nTakes effect in your next session. `told status` shows whether it works.")
    for sentence in dict.fromkeys(broken):
        sys.stderr.write(f"told: {sentence}\n")  # a warning: the rows are still printed
    context.exit_code = MissingError.exit_code if broken else 0


def _print_agent(context: Context, agent: Agent, steps: list[Step], words: dict[str, str]) -> None:
    if not steps:
        context.print(f"{agent.title}: nothing to write here. {agent.limits}")
        return
    if all(step.state == THERE for step in steps):
        context.print(f"{agent.title}: already connected.")
        return
    context.print(agent.title)
    files: dict[str, list[Step]] = {}
    for step in steps:
        files.setdefault(command_folder(step.change) or step.change.path, []).append(step)
    for path, several in files.items():
        for state in dict.fromkeys(step.state for step in several):
            what = _describe([step for step in several if step.state == state])
            context.print(f"  {short_home(context, path)}: {what} {words[state]}")


def _describe(steps: list[Step]) -> str:
    """Return what some changes are for, in a few words."""
    parts: dict[str, int] = {}
    for step in steps:
        is_default = isinstance(step.change, Entry) and step.change.default
        what = "its version" if is_default else part_of(step.change)
        parts[what] = parts.get(what, 0) + 1
    if len(parts) > 1:
        parts.pop("its version", None)
    plural = {HOOKS: "hook", SLASH_COMMANDS: "command"}
    return ", ".join(count(many, plural[what]) if what in plural else what for what, many in parts.items())


def _agent_json(agent: Agent, place: Place, steps: list[Step]) -> dict[str, Any]:
    return {
        "agent": agent.name, "title": agent.title, "scope": place.scope, "profile": place.profile,
        "changed": _has_changes({"": steps}),
        "files": [
            {"path": step.change.path, "what": part_of(step.change), "state": step.state}
            | ({"problem": step.note} if step.note else {})
            for step in steps
        ],
        "todo": agent.todo or None,
    }  # fmt: skip


def _offer_history(context: Context, arguments: Arguments) -> None:
    """Import the agents' earlier history, if that has not been done."""
    last, _ = SourceStates(context.connection).last_sweep()
    if last:
        return
    if may_ask(arguments):
        if confirm_yes(context, "Import your existing history now?"):
            _import_now(context, arguments)
        else:
            context.print("`told index` imports it later.")
    elif context.settings.background:
        context.behind = True
        context.print("Importing your existing history in the background. See `told memories` in a minute.")
    else:
        context.print("`told index` imports your existing history.")


def _import_now(context: Context, arguments: Arguments) -> None:
    settings = context.settings
    context.settings = replace(settings, background=False)  # show at once what was learned
    try:
        index(context, arguments)
    finally:
        context.settings = settings
    if settings.learn and not offer_review(context, arguments):
        context.print("It contains nothing to remember yet.")


_RESULTS = {
    RESTORED: "restored", REMOVED: "told's part removed", GONE: "told's part was already gone",
    LEFT: "left", FAILED: "could not be changed",
}  # fmt: skip
_WORST_FIRST = (FAILED, LEFT, REMOVED, RESTORED, GONE)


def uninstall(context: Context, arguments: Arguments) -> None:
    """Remove told from the files of all or named agents."""
    purge = arguments.flag("purge")
    if purge:
        _check_purge(context, arguments)
    named = named_agents(arguments)
    scope = _choice(arguments, "scope", _SCOPES, "")
    ledger = Ledger(context.home)
    if may_ask(arguments) and not purge and ledger.installed():
        names = ", ".join(agent.title for agent in named) or "every agent"
        if not confirm_yes(context, f"Remove told from the files of {names}?"):
            context.print("Nothing was changed.")
            return
    outcomes = _remove_wiring(context, ledger, [agent.name for agent in named], scope)
    if not named and not scope:
        roots = [one.root for one in read_registry(context.home)]
        restored = [root for root in roots if restore_gitignore(context.home, root)]
        outcomes += [Outcome(os.path.join(root, ".gitignore"), RESTORED) for root in restored]
    failed = [one for one in outcomes if one.state == FAILED]
    if not ledger.owners():
        stop(context.home)
        shutil.rmtree(run_folder(context.home), ignore_errors=True)
    _report_removal(context, outcomes, purged=purge and not failed)
    for sentence in dict.fromkeys(one.note for one in failed):
        sys.stderr.write(f"told: {sentence}\n")
    if purge and not failed:
        context.connection.close()
        left = delete_home(context.home)
        if left:
            home = short_home(context, context.home)
            context.print(f"Left in {home}, since it is not told's: {', '.join(left[:5])}")
    context.exit_code = MissingError.exit_code if failed else 0


def _remove_wiring(context: Context, ledger: Ledger, names: list[str], scope: str) -> list[Outcome]:
    prefixes = [f"{name} {scope}".strip() for name in names]
    if not names:
        prefixes = [one for one in ledger.owners() if not scope or one.split(" ")[1:2] == [scope]]
    outcomes = [outcome for prefix in prefixes for outcome in undo_changes(ledger, prefix)]
    started = launch(strict=False)
    in_project = bool(project_root(context.cwd, context.environ.get("HOME", "")))
    scopes = [USER_SCOPE, *([PROJECT_SCOPE] if in_project else [])]
    places = [place_for(context, one, started=started) for one in scopes if not scope or one == scope]
    agents = [agent for agent in wired_agents().values() if not names or agent.name in names]
    return [*outcomes, *remove_unrecorded(agents, places, ledger)]


def _report_removal(context: Context, outcomes: list[Outcome], *, purged: bool) -> None:
    if context.as_json:
        rows = [{"path": one.path, "state": one.state, "note": one.note or None} for one in outcomes]
        context.print_json({"files": rows, "purged": purged})
        return
    files: dict[str, list[Outcome]] = {}
    for one in outcomes:
        folder, name = os.path.split(one.path)
        is_command = os.path.basename(folder) == "mem" and os.path.splitext(name)[1] in (".md", ".toml")
        files.setdefault(folder if is_command and not os.path.exists(folder) else one.path, []).append(one)
    for path, several in files.items():
        state = next(state for state in _WORST_FIRST if any(one.state == state for one in several))
        note = next((one.note for one in several if one.state == state and one.note), "")
        is_gone = state in (RESTORED, REMOVED) and not os.path.lexists(path)
        said = "removed" if is_gone else note if state == LEFT and note else _RESULTS[state]
        context.print(f"{short_home(context, path)}: {said}")
    if not outcomes:
        context.print("told is not in any agent's files.")


def _check_purge(context: Context, arguments: Arguments) -> None:
    if not context.caller.is_user:
        raise UsageError("Only you can delete all of told's data: run it in your own terminal.")
    if arguments["agent"] or arguments["scope"]:
        raise UsageError("--purge deletes everything: leave out --agent and --scope.")
    if may_ask(arguments):
        home = short_home(context, context.home)
        if not confirm_yes(context, f"Delete {home} with every memory in it? This cannot be undone."):
            raise UsageError("Nothing was deleted.")
    elif not arguments.flag("yes"):
        raise UsageError("--purge deletes all of told's data for good. Add --yes to do it.")
