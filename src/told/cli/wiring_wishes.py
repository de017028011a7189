"""What install, uninstall and status are asked for: agents, scopes, and the user's yes."""

from __future__ import annotations

import sys

from told.agents import wired_agents
from told.agents.wiring import FULL, MINIMAL, NO_HOOKS, PROJECT_SCOPE, USER_SCOPE
from told.cli.commands import COMMANDS
from told.errors import UsageError
from told.setup.place import make_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.agents.base import Agent
    from told.agents.wiring import Place
    from told.cli.arguments import Arguments
    from told.cli.context import Context

SCOPES, PROFILES = (USER_SCOPE, PROJECT_SCOPE), (NO_HOOKS, MINIMAL, FULL)
_ALSO_CALLED = {
    "qcoder": "qoder", "qodercli": "qoder", "vs-code": "vscode-copilot", "code": "vscode-copilot",
    "intellij": "jetbrains-copilot", "agy": "antigravity", "cascade": "windsurf",
}  # fmt: skip


def named_agents(arguments: Arguments) -> list[Agent]:
    """Return the agents that --agent names, each once; nothing if it was not given.

    Raises:
        UsageError: there is no agent of that name.
    """
    known = wired_agents()
    by_name = {label: agent for agent in known.values() for label in (agent.name, agent.label)}
    by_name |= {other: known[name] for other, name in _ALSO_CALLED.items()}
    chosen: dict[str, Agent] = {}
    for given in arguments["agent"] or []:
        for name in str(given).lower().split(","):
            agent = by_name.get(name.strip())
            if agent is None:
                raise UsageError(_no_agent(name.strip(), by_name))
            chosen[agent.name] = agent
    return list(chosen.values())


def _no_agent(name: str, by_name: dict[str, Agent]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, sorted(by_name, key=len), 1, 0.5)
    if close:
        return f"There is no agent {name!r}. Did you mean {by_name[close[0]].name}?"
    return f"There is no agent {name!r}. told can wire: {', '.join(wired_agents())}."


def one_of(arguments: Arguments, option: str, choices: tuple[str, ...], usual: str) -> str:
    """Return the value of an option that has a few choices.

    Raises:
        UsageError: it is none of them.
    """
    value = arguments.text(option) or usual
    if value not in (*choices, usual):
        raise UsageError(f"--{option} is one of {', '.join(choices)}, not {value!r}.")
    return value


def place_for(context: Context, scope: str, **wishes: Any) -> Place:
    """Return the place for one scope, on this machine and in the current folder."""
    commands = frozenset(command.name for command in COMMANDS if not command.hidden)
    return make_place(context.environ, context.cwd, commands, scope=scope, **wishes)


def short(context: Context, path: str) -> str:
    """Return a path with the home folder as `~`."""
    home = (context.environ.get("HOME") or context.environ.get("USERPROFILE") or "").rstrip("/\\")
    below = path.removeprefix(home)
    return f"~{below}" if home and below != path and below[:1] in ("/", "\\") else path


def may_ask(arguments: Arguments) -> bool:
    """Tell whether there is somebody to ask, who does not want to be spared it."""
    spared = arguments.flag("yes") or arguments.flag("json")
    return sys.stdin.isatty() and sys.stdout.isatty() and not spared


def ask(context: Context, question: str) -> bool:
    """Print what was held back, and ask; an empty line is a yes, the end of the input a no."""
    sys.stdout.write(f"{context.take()}{question} [Y/n] ")
    sys.stdout.flush()
    answer = sys.stdin.readline()
    return answer.strip().lower() in ("", "y", "yes") and answer != ""
