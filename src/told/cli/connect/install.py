"""`told install`: connect agents to told."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from told.agents import wired_agents
from told.agents.base import Agent, find_agent_sign
from told.agents.wiring import (
    FULL,
    HOOKS,
    INSTRUCTIONS,
    MINIMAL,
    NO_HOOKS,
    PROJECT_SCOPE,
    SERVER,
    SLASH_COMMANDS,
    USER_SCOPE,
    Change,
    Entry,
    Place,
)
from told.app import match_agent
from told.cli.arguments import Arguments, all_commands
from told.cli.context import Context, confirm_yes, count, may_ask, short_home
from told.cli.index import index_history
from told.cli.reader.reading import offer_reader, offer_reading
from told.cli.review import offer_review
from told.cli.terminal.blocks import Diff
from told.errors import MissingError, NotFoundError, UsageError
from told.files import is_utf8
from told.install.apply import (
    BROKEN,
    KEPT,
    WRITTEN,
    Step,
    Wiring,
    command_folder,
    has_hooks,
    inspect_wiring,
    owner_of,
    part_of,
    wire,
)
from told.install.edits import REMOVED
from told.install.ledger import Ledger
from told.install.legacy import remove_legacy_files
from told.install.place import make_place
from told.install.preview import Preview
from told.install.values import THERE
from told.install.versions import find_unmet, find_version
from told.settings.write import write_first_config
from told.store.sessions.source_states import SourceStates

_COUNTED = {HOOKS: "hook", SLASH_COMMANDS: "command"}
SCOPES, _PROFILES = (USER_SCOPE, PROJECT_SCOPE), (NO_HOOKS, MINIMAL, FULL)
_DONE = {
    WRITTEN: "written", THERE: "already there", REMOVED: "removed", KEPT: "left as you changed it",
    BROKEN: "not written",
}  # fmt: skip
_PLANNED = _DONE | {WRITTEN: "would be written", REMOVED: "would be removed", BROKEN: "cannot be written"}


def named_agents(arguments: Arguments) -> list[Agent]:
    """Return the agents that the arguments or --agent name, each once."""
    chosen: dict[str, Agent] = {}
    for given in (*arguments.operands, *(arguments["agent"] or [])):
        for name in filter(None, map(str.strip, str(given).split(","))):
            agent = match_agent(name, wired_agents())
            chosen[agent.name] = agent
    return list(chosen.values())


def choose_option(arguments: Arguments, option: str, choices: tuple[str, ...], default: str) -> str:
    """Return an option's value, which must be one of the choices."""
    value = arguments.text(option) or default
    if value not in (*choices, default):
        raise UsageError(f"--{option} is one of {', '.join(choices)}, not {value!r}.")
    return value


def place_for(context: Context, scope: str, **options: Any) -> Place:
    """Return the place for one scope."""
    commands = frozenset(command.name for command in all_commands() if not command.hidden)
    return make_place(context.environ, context.cwd, commands, scope=scope, **options)


@dataclass(frozen=True, slots=True)
class Target:
    """An agent to connect: where, what was or would be done, and its version."""

    agent: Agent
    place: Place
    version: str  # empty if unknown
    steps: tuple[Step, ...] = ()

    @property
    def parts(self) -> dict[str, int]:
        """Return how many changes of each part are there."""
        kept = [step for step in self.steps if step.state in (WRITTEN, THERE, KEPT)]
        return count_parts(step.change for step in kept)

    @property
    def is_changed(self) -> bool:
        """Whether a file was or would be written."""
        return any(step.state in (WRITTEN, REMOVED) for step in self.steps)


def install(context: Context, arguments: Arguments) -> None:
    """Connect the agents that are found or named."""
    scope = choose_option(arguments, "scope", SCOPES, USER_SCOPE)
    profile = choose_option(arguments, "profile", _PROFILES, "")
    if scope == PROJECT_SCOPE:
        _require_utf8(os.getcwd())
        context.check_path(context.cwd)
    agents = named_agents(arguments)
    agents = agents or [one for one in wired_agents().values() if find_agent_sign(one, context.environ)]
    if not agents:
        raise NotFoundError(
            "No agent was found on this machine. Name one, for example `told install --agent codex`;"
            f" told can connect: {', '.join(wired_agents())}."
        )
    place = place_for(context, scope)
    ledger = Ledger(context.home)
    preview = Preview(ledger)
    targets = []
    for agent in agents:
        own = _with_profile(agent, place, ledger, profile)
        steps = wire(agent, own, ledger, preview)
        targets.append(Target(agent, own, find_version(agent, context.environ), tuple(steps)))
    for step in (step for one in targets for step in one.steps):
        _require_utf8(step.change.path)
    if arguments.flag("dry-run"):
        _report(context, targets, preview)
        return
    if profile and not context.caller.is_user:
        _refuse_other_profile(context, agents, place, profile)
    if may_ask(arguments) and any(one.is_changed for one in targets):
        for one in targets:
            _print_target(context, one, is_dry=True, with_files=True)
        if not confirm_yes(context, "Write this?"):
            context.print("Nothing was written.")
            return
    targets = [replace(one, steps=tuple(wire(one.agent, one.place, ledger))) for one in targets]
    ledger.set_profiles({owner_of(one.agent, place): one.place.profile for one in targets})
    write_first_config(context.home)
    _report(context, targets)
    removed = remove_legacy_files(context.home)
    if not context.as_json:
        if removed:
            context.print(f"\nRemoved {count(len(removed), 'file')} of an earlier version from told's home.")
        offer_reader(context, arguments)
        if any(one.is_changed for one in targets):
            _offer_history(context, arguments)
        offer_reading(context, arguments)


def _require_utf8(path: str) -> None:
    if not is_utf8(path):
        raise MissingError(
            f"{path!r} is not valid UTF-8, so told cannot keep track of its changes there. Rename the folder."
        )


def _with_profile(agent: Agent, place: Place, ledger: Ledger, profile: str) -> Place:
    """Return the place with the given or present profile.

    An agent with hooks for all projects gets none for this one: they would run twice.
    """
    if not profile:
        wired = inspect_wiring(agent, place, ledger)
        present = _present_profile(agent, place, ledger, wired)
        profile = present if wired.is_wired and present in _PROFILES else MINIMAL
        if place.scope == PROJECT_SCOPE and not wired.is_wired:
            everywhere = inspect_wiring(agent, replace(place, scope=USER_SCOPE), ledger)
            profile = NO_HOOKS if everywhere.is_wired and has_hooks(everywhere) else MINIMAL
    return replace(place, profile=profile)


def _refuse_other_profile(context: Context, agents: list[Agent], place: Place, profile: str) -> None:
    """Keep an agent from adding or removing hooks of what the user has connected."""
    ledger = Ledger(context.home)
    for agent in agents:
        wired = inspect_wiring(agent, place, ledger)
        if wired.is_wired and profile != _present_profile(agent, place, ledger, wired):
            context.refuse_agent(f"change the hooks of {agent.title}")


def _present_profile(agent: Agent, place: Place, ledger: Ledger, wired: Wiring) -> str:
    return ledger.profiles.get(owner_of(agent, place)) or wired.profile


def _report(context: Context, targets: list[Target], preview: Preview | None = None) -> None:
    """Print what was done; with a preview, what would be done."""
    broken = [step.note for one in targets for step in one.steps if step.state == BROKEN]
    diff = "".join(text for _, text in preview.diffs()) if preview else ""
    diff = context.redact(diff)  # lines of the user's around told's may have keys
    if context.as_json:
        rows = [_target_json(one) for one in targets]
        context.print_json(
            {"dry_run": preview is not None, "agents": rows} | ({"diff": diff} if preview else {})
        )
    else:
        for one in targets:
            _print_target(context, one, is_dry=preview is not None)
        if diff:
            context.print()
            context.show(Diff(diff)) if context.is_at_terminal else context.print(diff)
            context.print("Nothing was written.")
        elif preview:
            context.print("\nThere is nothing to write.")
        elif any(one.is_changed for one in targets):
            if targets[0].place.scope == PROJECT_SCOPE:
                context.print("\nHooks name programs of this machine: do not commit the files they are in.")
            context.print("\nTakes effect in your next session. `told status` shows whether it works.")
    for sentence in dict.fromkeys(broken):
        sys.stderr.write(f"told: {sentence}\n")  # a warning: the rows are still printed
    context.exit_code = MissingError.exit_code if broken else 0


def _print_target(context: Context, target: Target, *, is_dry: bool, with_files: bool = False) -> None:
    """Print an agent in a line, and its files: all, or those that need attention."""
    agent, steps = target.agent, target.steps
    name = agent_title(agent, target.version)
    if not steps:
        context.print(f"{name}: nothing to write here. {agent.limits}")
        return
    parts = describe_parts(agent, target.parts, target.version) or "not connected"
    is_there = all(step.state == THERE for step in steps)
    if with_files and not is_there:
        context.print(name)
    else:
        context.print(f"{name}: {'already connected, with ' if is_there else ''}{parts}")
    files: dict[str, list[Step]] = {}
    for step in steps:
        if with_files or step.state not in (WRITTEN, THERE):
            files.setdefault(command_folder(step.change) or step.change.path, []).append(step)
    for path, several in files.items() if not is_there else ():
        for state in dict.fromkeys(step.state for step in several):
            what = _describe([step for step in several if step.state == state])
            context.print(f"  {short_home(context, path)}: {what} {(_PLANNED if is_dry else _DONE)[state]}")
    advice = _advice(target, is_dry=is_dry)
    if advice:
        context.print(f"  {advice}")


def _advice(target: Target, *, is_dry: bool) -> str:
    """Return what the user should do with the agent; empty if nothing."""
    agent = target.agent
    old = describe_old(agent, target.parts, target.version)
    if old or is_dry:
        return old
    is_open = not agent.is_todo_done(target.place) if agent.is_todo_done else target.is_changed
    return agent.todo if is_open else ""


def agent_title(agent: Agent, version: str) -> str:
    """Return an agent's name with its version, if known."""
    return f"{agent.title} {version}" if version else agent.title


def count_parts(changes: Iterable[Change]) -> dict[str, int]:
    """Return how many changes each part of told has."""
    found = [part_of(one) for one in changes if not (isinstance(one, Entry) and one.default)]
    return {
        part: found.count(part) for part in (HOOKS, SERVER, INSTRUCTIONS, SLASH_COMMANDS) if part in found
    }


def describe_parts(agent: Agent, parts: Mapping[str, int], version: str) -> str:
    """Return the parts that work in an agent's version, each with its first version if known."""
    unmet = find_unmet(agent, version)
    said = []
    for part, number in parts.items():
        if part not in unmet:
            what = count(number, _COUNTED[part]) if part in _COUNTED else part
            said.append(f"{what} (since {agent.since[part]})" if part in agent.since else what)
    return ", ".join(said)


def describe_old(agent: Agent, parts: Mapping[str, int], version: str) -> str:
    """Return what an agent's version is too old for, as a sentence; empty if nothing."""
    unmet = {part: first for part, first in find_unmet(agent, version).items() if part in parts}
    if not unmet:
        return ""
    others = ["MCP" if part == SERVER else part for part in parts if part not in unmet]
    rest = f", or told works through {' and '.join(others)} only" if others else ""
    return (
        f"{agent.title} {version} is too old for {' and '.join(unmet)};"
        f" {max(unmet.values(), key=len)} or later has them. Update it{rest}."
    )


def _describe(steps: list[Step]) -> str:
    """Return what some changes are for, in a few words."""
    parts = count_parts(step.change for step in steps)
    words = [count(many, _COUNTED[part]) if part in _COUNTED else part for part, many in parts.items()]
    return ", ".join(words) or "its version"


def _target_json(target: Target) -> dict[str, Any]:
    agent = target.agent
    return {
        "agent": agent.name, "title": agent.title, **version_json(agent, target.version),
        "scope": target.place.scope, "profile": target.place.profile, "changed": target.is_changed,
        "files": [
            {"path": step.change.path, "what": part_of(step.change), "state": step.state}
            | ({"problem": step.note} if step.note else {})
            for step in target.steps
        ],
        "todo": agent.todo or None,
    }  # fmt: skip


def version_json(agent: Agent, version: str) -> dict[str, Any]:
    """Return an agent's version, and the first version that each part of told needs."""
    unmet = find_unmet(agent, version)
    needs = [
        {"what": part, "version": first, "met": part not in unmet if version else None}
        for part, first in agent.since.items()
    ]
    return {"version": version or None, "needs": needs}


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
    context.settings = settings._replace(background=False)  # show at once what was learned
    try:
        index_history(context, read=False)  # `offer_reading` asks first
    finally:
        context.settings = settings
    if settings.learn and not offer_review(context, arguments):
        context.print("It contains nothing to remember yet.")
