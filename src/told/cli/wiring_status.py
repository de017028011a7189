"""`told status`: what is wired into each agent, whether it works, and what to do."""

from __future__ import annotations

from told.agents import wired_agents
from told.agents.wiring import FULL, PROJECT_SCOPE, USER_SCOPE
from told.cli.output import count, to_json
from told.cli.services import as_asking, in_words, service_json
from told.cli.wiring_wishes import named_agents, place_for, short
from told.record import record
from told.serve.control import state
from told.setup.launch import fault, launch
from told.setup.ledger import Ledger
from told.setup.parts import COMMANDS, HOOKS, INSTRUCTIONS, SERVER, found, part
from told.setup.place import project_root
from told.setup.status import BROKEN, YOURS, examine, has_hooks, run_hook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.agents.base import Agent
    from told.agents.wiring import Place
    from told.cli.arguments import Arguments
    from told.cli.context import Context
    from told.setup.status import Ran, Wired


@record
class Row:
    """Everything there is to say of one agent."""

    agent: Agent
    found: str
    wired: tuple[Wired, ...]  # the scopes in which it is
    ran: Ran | None
    todo: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """How it stands, in a few words."""
        if not self.wired:
            return "found, not wired"
        if self.ran is not None and self.ran.fault:
            return "wired, but the hook fails"
        if any(one.needs_install or _broken(one) for one in self.wired):
            return "wired in part"
        if self.agent.todo in self.todo and self.agent.done:
            return "wired, and waits for you"
        if self.ran is None:
            return "wired, without hooks"
        return f"works, its hook took {self.ran.milliseconds:.0f} ms"


def status(context: Context, arguments: Arguments) -> int:
    """Print how each agent is wired that is found here, or that was named."""
    started = launch(strict=False)
    trouble = fault(started)
    in_project = bool(project_root(context.cwd, context.environ.get("HOME", "")))
    scopes = (USER_SCOPE, PROJECT_SCOPE) if in_project else (USER_SCOPE,)
    places = [place_for(context, scope, started=started) for scope in scopes]
    ledger = Ledger(context.settings.home)
    named = named_agents(arguments)
    agents = named or list(wired_agents().values())
    rows = [_row(context, one, as_asking(context, one, places), ledger, trouble) for one in agents]
    rows = [row for row in rows if row.found or row.wired or row.agent in named]
    context.rows = len(rows)
    guard = any(one.profile == FULL for row in rows for one in row.wired)
    if arguments.flag("json"):
        context.print(
            to_json(
                {
                    "agents": [_json(row) for row in rows],
                    "guard": context.settings.guard if guard else "off",
                    "service": service_json(state(context.settings.home), context.settings.home),
                }
            )
        )
        return 0
    if not rows:
        context.print("No agent was found on this machine. `told install --agent NAME` wires one.")
    for row in rows:
        _print(context, row)
    context.print(f"\nGuard: {_guard(guard, context.settings.guard)}")
    served = state(context.settings.home)
    off = "off; `told install --service` sets it up"
    context.print(f"Service: {in_words(served) if served.port else off}")
    return 0


def _guard(is_wired: bool, chosen: str) -> str:
    """Say what a tool call meets that a locked rule forbids."""
    if not is_wired:
        return "off; `told install --profile full` puts it in"
    if chosen == "off":
        return "off, as config.toml has it"
    met = "denied" if chosen == "deny" else "asked about first"
    return f"on; a tool call that a locked rule forbids is {met}"


def _row(context: Context, agent: Agent, places: list[Place], ledger: Ledger, trouble: str) -> Row:
    where = found(agent, context.environ)
    wired = tuple(one for place in places if (one := examine(agent, place, ledger)).is_wired)
    ran = None
    if any(has_hooks(one) for one in wired):
        ran = run_hook(agent, places[0], context.environ)
    todo = list(_todo(agent, places, wired, ran))
    if ran is not None and trouble:
        todo.insert(0, f"told's hook cannot be loaded ({trouble}): run `told install` again.")
    return Row(agent, where, wired, ran, tuple(dict.fromkeys(todo)))


def _todo(agent: Agent, places: list[Place], wired: tuple[Wired, ...], ran: Ran | None) -> list[str]:
    told = []
    if not wired:
        told.append(f"`told install --agent {agent.label}` wires it.")
    if ran is not None and ran.fault:
        told.append(f"The hook fails: {ran.fault}. Run `told install --agent {agent.label}`.")
    if sum(map(has_hooks, wired)) > 1:
        told.append(
            f"Its hooks run twice here: `told uninstall --agent {agent.label} --scope project` ends that."
        )
    for one in wired:
        told += [seen.note for seen in one.seen if seen.state == BROKEN]
        if one.needs_install:
            scope = f" --scope {one.scope}" if one.scope != USER_SCOPE else ""
            told.append(f"`told install --agent {agent.label}{scope}` writes what is missing or old.")
        place = next(place for place in places if place.scope == one.scope)
        needed = agent.todo and (has_hooks(one) or not agent.hooks)
        if needed and not (agent.done and agent.done(place)):
            told.append(agent.todo)
    return told


def _print(context: Context, row: Row) -> None:
    context.print(f"{row.agent.title}: {row.verdict}")
    for one in row.wired:
        where = "this project" if one.scope == PROJECT_SCOPE else "all projects"
        context.print(f"  {where}: {_parts(one)}")
        yours = {short(context, seen.change.path) for seen in one.seen if seen.state == YOURS}
        for path in sorted(yours):
            context.print(f"  {path}: as you made it")
    if row.wired and row.agent.limits:
        context.print(_wrapped(row.agent.limits, "  "))
    for sentence in row.todo:
        context.print(_wrapped(sentence, "  -> "))


def _wrapped(sentence: str, head: str) -> str:
    import textwrap

    indent = " " * len(head)
    return textwrap.fill(
        sentence, 80, initial_indent=head, subsequent_indent=indent, break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


def _parts(one: Wired) -> str:
    hooks, commands = one.count(HOOKS), one.count(COMMANDS)
    said = [
        count(hooks, "hook") if hooks else "",
        SERVER if one.count(SERVER) else "",
        INSTRUCTIONS if one.count(INSTRUCTIONS) else "",
        count(commands, "command") if commands else "",
    ]
    return ", ".join(filter(None, said)) or "nothing is left of it"


def _broken(one: Wired) -> bool:
    return any(seen.state == BROKEN for seen in one.seen)


def _json(row: Row) -> dict[str, Any]:
    works = bool(row.wired) and not (row.ran and row.ran.fault) and not any(map(_broken, row.wired))
    return {
        "agent": row.agent.name, "title": row.agent.title, "found": row.found or None,
        "wired": bool(row.wired), "works": works,
        "hook_ms": round(row.ran.milliseconds, 1) if row.ran else None,
        "hook_problem": (row.ran.fault or None) if row.ran else None,
        "scopes": [
            {
                "scope": one.scope, "profile": one.profile,
                "files": [
                    {"path": seen.change.path, "what": part(seen.change), "state": seen.state}
                    | ({"problem": seen.note} if seen.note else {})
                    for seen in one.seen
                ],
            }
            for one in row.wired
        ],
        "limits": row.agent.limits or None, "todo": list(row.todo),
    }  # fmt: skip
