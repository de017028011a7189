"""`told install`: writes told into the files of the agents on this machine."""

from __future__ import annotations

import sys

from told.agents import wired_agents
from told.agents.wiring import MINIMAL, NO_HOOKS, PROJECT_SCOPE, USER_SCOPE, Entry
from told.cli.output import count, to_json
from told.cli.services import after_install, proposed
from told.cli.wiring_wishes import PROFILES, SCOPES, ask, may_ask, named_agents, one_of, place_for, short
from told.errors import MissingError, NotFoundError
from told.record import replaced
from told.settings.first import write_first
from told.setup.install import BROKEN, KEPT, REMOVED, THERE, WRITTEN, plan, wire
from told.setup.launch import folders
from told.setup.ledger import Ledger
from told.setup.parts import COMMANDS, HOOKS, folder_of_commands, found, owner, part
from told.setup.snapshots import write_snapshot
from told.setup.status import examine, has_hooks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.agents.base import Agent
    from told.agents.wiring import Place
    from told.cli.arguments import Arguments
    from told.cli.context import Context
    from told.setup.install import Step

_SAID = {
    WRITTEN: "written", THERE: "there already", REMOVED: "taken back", KEPT: "left as you made it",
    BROKEN: "not written",
}  # fmt: skip
_WOULD = _SAID | {WRITTEN: "would be written", REMOVED: "would be taken back", BROKEN: "cannot be written"}


def install(context: Context, arguments: Arguments) -> int:
    """Wire the agents that are found, or that were named."""
    scope = one_of(arguments, "scope", SCOPES, USER_SCOPE)
    profile = one_of(arguments, "profile", PROFILES, "")
    if scope == PROJECT_SCOPE:
        context.check_path(context.cwd)
    agents = _chosen(context, arguments)
    terms = proposed(context) if arguments.flag("service") else None
    service = (terms.address, terms.token) if terms else ("", "")
    place = place_for(context, scope, service=service)
    ledger = Ledger(context.settings.home)
    places = {agent.name: _as_wished(agent, place, ledger, profile) for agent in agents}
    planned = {agent.name: plan(agent, places[agent.name], ledger) for agent in agents}
    if arguments.flag("dry-run"):
        return _report(context, arguments, agents, places, planned, dry=True)
    if may_ask(arguments) and _changes(planned):
        _print_plan(context, agents, planned)
        if not ask(context, "Write this?"):
            context.print("Nothing was written.")
            return 0
    done = {agent.name: wire(agent, places[agent.name], ledger) for agent in agents}
    ledger.wish({owner(agent, place): places[agent.name].profile for agent in agents})
    write_first(context.settings.home)
    write_snapshot(context.settings.home, place.launch.interpreter, tuple(folders()))
    code = _report(context, arguments, agents, places, done, dry=False)
    by_owner = {owner(agent, place): done[agent.name] for agent in agents}
    code = after_install(context, arguments, terms, by_owner) or code
    if not arguments.flag("json") and _changes(done):
        from told.cli.wiring_history import offer_history

        offer_history(context, arguments)
    return code


def _chosen(context: Context, arguments: Arguments) -> list[Agent]:
    named = named_agents(arguments)
    agents = named or [agent for agent in wired_agents().values() if found(agent, context.environ)]
    if not agents:
        raise NotFoundError(
            "No agent was found on this machine. Name one, for example `told install --agent codex`; told"
            f" can wire: {', '.join(wired_agents())}."
        )
    return agents


def _as_wished(agent: Agent, place: Place, ledger: Ledger, profile: str) -> Place:
    """Return the place with the profile that was asked for, or else the one that the agent has already.

    An agent that has hooks for all projects gets none for this one besides: they would run twice.
    """
    if not profile:
        wired = examine(agent, place, ledger)
        wished = ledger.profiles.get(owner(agent, place)) or wired.profile
        profile = wished if wired.is_wired and wished in PROFILES else MINIMAL
        if place.scope == PROJECT_SCOPE and not wired.is_wired:
            everywhere = examine(agent, replaced(place, scope=USER_SCOPE), ledger)
            profile = NO_HOOKS if everywhere.is_wired and has_hooks(everywhere) else MINIMAL
    return replaced(place, profile=profile)


def _changes(steps: dict[str, list[Step]]) -> bool:
    return any(step.state in (WRITTEN, REMOVED) for several in steps.values() for step in several)


def _print_plan(context: Context, agents: list[Agent], planned: dict[str, list[Step]]) -> None:
    for agent in agents:
        _print_agent(context, agent, planned[agent.name], _WOULD)


def _report(
    context: Context, arguments: Arguments, agents: list[Agent], places: dict[str, Place],
    steps: dict[str, list[Step]], *, dry: bool,
) -> int:  # fmt: skip
    said = _WOULD if dry else _SAID
    broken = [step.note for several in steps.values() for step in several if step.state == BROKEN]
    context.rows = sum(map(len, steps.values()))
    if arguments.flag("json"):
        rows = [_agent_json(agent, places[agent.name], steps[agent.name]) for agent in agents]
        context.print(to_json({"dry_run": dry, "agents": rows}))
    else:
        for agent in agents:
            place = places[agent.name]
            _print_agent(context, agent, steps[agent.name], said)
            if dry:
                _print_lines(context, steps[agent.name], place.token)
            elif _changes({"": steps[agent.name]}) and agent.todo and not _is_done(agent, place):
                context.print(f"  {agent.todo}")
        if not dry:
            _print_end(context, places[agents[0].name], steps)
    for sentence in dict.fromkeys(broken):
        # The rows above it are an answer as well, so this does not end the command as an error would.
        sys.stderr.write(f"told: {sentence}\n")
    return MissingError.exit_code if broken else 0


def _is_done(agent: Agent, place: Place) -> bool:
    return agent.done is not None and agent.done(place)


def _print_agent(context: Context, agent: Agent, steps: list[Step], said: dict[str, str]) -> None:
    if not steps:
        context.print(f"{agent.title}: nothing to write here. {agent.limits}")
        return
    if all(step.state == THERE for step in steps):
        context.print(f"{agent.title}: already wired.")
        return
    context.print(agent.title)
    for where, several in _by_file(steps).items():
        for state in dict.fromkeys(step.state for step in several):
            what = _what([step for step in several if step.state == state])
            context.print(f"  {short(context, where)}: {what} {said[state]}")


def _by_file(steps: list[Step]) -> dict[str, list[Step]]:
    files: dict[str, list[Step]] = {}
    for step in steps:
        files.setdefault(folder_of_commands(step.change) or step.change.path, []).append(step)
    return files


def _what(steps: list[Step]) -> str:
    """Say in a few words what some changes are for."""
    parts: dict[str, int] = {}
    for step in steps:
        what = "its version" if isinstance(step.change, Entry) and step.change.default else part(step.change)
        parts[what] = parts.get(what, 0) + 1
    if len(parts) > 1:
        parts.pop("its version", None)
    plural = {HOOKS: "hook", COMMANDS: "command"}
    said = [count(number, plural[what]) if what in plural else what for what, number in parts.items()]
    return ", ".join(said)


def _print_lines(context: Context, steps: list[Step], secret: str) -> None:
    for step in steps:
        if step.lines:
            lines = step.lines.replace(secret, "…") if secret else step.lines
            context.print("    " + lines.rstrip("\n").replace("\n", "\n    "))


def _print_end(context: Context, place: Place, steps: dict[str, list[Step]]) -> None:
    if not _changes(steps):
        return
    if place.scope == PROJECT_SCOPE:
        context.print("\nHooks name programs of this machine: do not commit the files they are in.")
    context.print("\nIt holds from the next session on. `told status` shows whether it works.")


def _agent_json(agent: Agent, place: Place, steps: list[Step]) -> dict[str, Any]:
    return {
        "agent": agent.name, "title": agent.title, "scope": place.scope, "profile": place.profile,
        "changed": _changes({"": steps}),
        "files": [
            {"path": step.change.path, "what": part(step.change), "state": step.state}
            | ({"problem": step.note} if step.note else {})
            for step in steps
        ],
        "todo": agent.todo or None,
    }  # fmt: skip
