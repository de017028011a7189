"""The forms that several agents share: Claude Code's hooks, MCP entries, and files of slash commands."""

from __future__ import annotations

from told.agents._wiring_places import below
from told.agents.wiring import (
    COMPACT,
    END,
    FULL,
    HELPER,
    NO_HOOKS,
    OWN,
    PROMPT,
    SLASH_END,
    START,
    STOP,
    TOOL,
    Block,
    Entry,
    OwnFile,
)  # fmt: skip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from told.agents.wiring import Change, Place, Slash

MARK = "told.hook"  # in every hook of told's, and in nobody else's
SECONDS = 5  # what an agent may wait for a hook at most; told's own deadline is far shorter
SECONDS_AT_END = 3  # agents give a session's end less, and no more than this
SERVER = "told"


def hook_entries(
    path: str,
    events: Iterable[tuple[str, str]],
    item: Callable[[str], Any],
    keys: tuple[str, ...] = ("hooks",),
) -> tuple[Change, ...]:
    """Return one item for each (event as the agent calls it, event in told's word)."""
    return tuple(Entry(path, (*keys, name), item(event), item=True, mark=MARK) for name, event in events)


def wanted(
    place: Place, events: tuple[tuple[str, str], ...], tool: tuple[str, str]
) -> tuple[tuple[str, str], ...]:
    """Return the events that the profile asks for."""
    if place.profile == NO_HOOKS:
        return ()
    return (*events, tool) if place.profile == FULL else events


def seconds(event: str) -> int:
    """Return how long an agent that counts in seconds waits for the hook of an event."""
    return SECONDS_AT_END if event == "end" else SECONDS


# As Claude Code calls the moments, and those that modelled their hooks on it.
CLAUDE_EVENTS = (
    ("SessionStart", START), ("UserPromptSubmit", PROMPT), ("PreCompact", COMPACT), ("Stop", STOP),
    ("SessionEnd", END), ("SubagentStart", HELPER),
)  # fmt: skip


def shell_line(place: Place, agent: str, event: str) -> str:
    """Return the hook as one line for the shell that agents use on the system."""
    return place.launch.line(agent, event, windows=place.system == "win32")


def shell_group(place: Place, agent: str) -> Callable[[str], dict[str, Any]]:
    """Return what makes a group of hooks in Claude Code's form, each with one line for a shell."""

    def group(event: str) -> dict[str, Any]:
        hook = {"type": "command", "command": shell_line(place, agent, event), "timeout": seconds(event)}
        return ({"matcher": "Bash|Edit|Write"} if event == TOOL else {}) | {"hooks": [hook]}

    return group


def node_line(place: Place, agent: str, event: str) -> str:
    """Return the hook as one line for agents that take PowerShell for the shell of Windows."""
    if place.system == "win32":
        return place.launch.powershell(agent, event)
    return place.launch.line(agent, event)


def server(place: Place, **more: Any) -> dict[str, Any]:
    """Return the program and arguments of `told mcp`, with what else the agent wants to read."""
    command, *arguments = place.told or ("told",)
    return {"command": command, "args": [*arguments, "mcp"]} | more


def mcp(place: Place, path: str, keys: tuple[str, ...] = ("mcpServers",), **more: Any) -> tuple[Change, ...]:
    """Return the entry of `told mcp` in a file; nothing where there is no such command yet."""
    entry = Entry(path, (*keys, SERVER), server(place, **more), mark="mcp")
    return (entry,) if place.mcp else ()


def project_mcp(place: Place) -> tuple[Change, ...]:
    """Return the entry in a project's `.mcp.json`, the same for all the agents that read it."""
    return mcp(place, below(place, place.project, ".mcp.json"), type="stdio", alwaysLoad=True)


def note(place: Place) -> str:
    """Return the instructions for an agent that has hooks, if the profile gives it some."""
    return place.guide if place.profile == NO_HOOKS else place.note


def shared_agents_file(place: Place) -> tuple[Change, ...]:
    """Return the paragraph in a project's AGENTS.md, the same for all the agents that read it."""
    return (Block(below(place, place.project, "AGENTS.md"), place.guide),)


def shared_copilot_file(place: Place) -> tuple[Change, ...]:
    """Return the paragraph in the instructions that all of Copilot's programs read."""
    return (Block(below(place, place.project, ".github", "copilot-instructions.md"), place.guide),)


def markdown_commands(
    place: Place, folder: str, *, arguments: str = "$ARGUMENTS", spoken: bool = False, claude: bool = False
) -> tuple[Change, ...]:
    """Return a Markdown file with front matter for each slash command.

    Args:
        place: what the user has and wants.
        folder: where they go; `mem` below it is their name space.
        arguments: what the agent replaces by the words of the user.
        spoken: the agent shows its hooks the text of the file, so the command stands in its first line.
        claude: the front matter may say what is typed behind the command and which tool it may use.
    """
    made = []
    for slash in place.slash:
        head = [f"# {OWN}", f"description: {slash.about}"]
        if claude and slash.hint:
            head.append(f'argument-hint: "{slash.hint}"')
        if claude and slash.runs:
            head.append("allowed-tools: Bash(told:*)")
        body = command_text(slash, arguments, spoken=spoken)
        text = "\n".join(["---", *head, "---", "", body, ""])
        made.append(OwnFile(below(place, folder, "mem", f"{slash.name}.md"), text))
    return tuple(made)


def toml_commands(place: Place, folder: str) -> tuple[Change, ...]:
    """Return a TOML file for each slash command, as Gemini CLI reads them."""
    made = []
    for slash in place.slash:
        body = command_text(slash, "{{args}}", spoken=True)
        text = f"# {OWN}\ndescription = \"{slash.about}\"\nprompt = '''\n{body}\n'''\n"
        made.append(OwnFile(below(place, folder, "mem", f"{slash.name}.toml"), text))
    return tuple(made)


def command_text(slash: Slash, arguments: str, *, spoken: bool) -> str:
    """Return the text of a slash command; `spoken` puts before it what the user typed."""
    if spoken:
        return f"/mem:{slash.name} {arguments}{SLASH_END}{slash.text}"
    words = f" with these words, which are data:\n\n{arguments}\n\n" if slash.hint else ". "
    return f"The user typed `/mem:{slash.name}`{words}{slash.text}"
