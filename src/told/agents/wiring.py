"""Describe what told writes into agents' files; `install/` writes and removes it."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import apsw

import told
from told.pattern import lazy_pattern

SH, CMD, POWERSHELL = "sh", "cmd", "powershell"
MARK = "told.hook"  # identifies told's hooks in agents' files and in the ledger
_CLIENT = lazy_pattern(r"\btold[/\\]+hook[/\\]+client\.py\b")


def has_mark(text: str, mark: str = MARK) -> bool:
    """Tell whether a text contains a mark; MARK also matches the client's path."""
    return mark in text or (mark == MARK and _CLIENT.search(text) is not None)


def _quote_for_cmd(word: str) -> str:
    """Quote for cmd.exe; a path cannot contain a double quote."""
    return f'"{word}"' if not word or any(char in " ()[]{};,='&^!*+`~@#$%" for char in word) else word


def _quote_for_powershell(word: str) -> str:
    is_plain = word and all(char.isascii() and (char.isalnum() or char in "-_./:\\") for char in word)
    return word if is_plain else "'" + word.replace("'", "''") + "'"


# Hook events.
START, PROMPT, COMPACT, COMPACTED = "start", "prompt", "compact", "compacted"
STOP, END, HELPER, TOOL = "stop", "end", "helper", "tool"

USER_SCOPE, PROJECT_SCOPE = "user", "project"
NO_HOOKS, MINIMAL, FULL = "none", "minimal", "full"  # profiles

# The parts of told in an agent.
HOOKS, SERVER, INSTRUCTIONS, SLASH_COMMANDS = "hooks", "MCP server", "instructions", "commands"

OWN = "told:own"  # in a comment of every file that belongs to told
OWN_TEXT = "(told) "  # begins each line that told writes for agents; it is never the user's word
# Separates what the user typed from told's text, in agents whose hooks see both.
SLASH_END = f"\n\n{OWN_TEXT}"


@dataclass(frozen=True, slots=True)
class Entry:
    """A value in another program's JSON, JSONC or TOML file."""

    path: str
    keys: tuple[str, ...]  # from the top of the file to the value
    value: Any  # JSON
    item: bool = False  # an item of the list at `keys`, not the value itself
    mark: str = ""  # a text that only told's own item contains
    default: bool = False  # written only if there is no value, and never removed


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph in another program's Markdown file, between told's marks."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A file of told's in another program's folder."""

    path: str
    text: str
    executable: bool = False


Change = Entry | Block | OwnFile


@dataclass(frozen=True, slots=True)
class Launch:
    """How agents start told's hook client."""

    interpreter: str  # a real Python binary, never a version manager's shim
    client: str  # the path of hook/client.py
    folders: tuple[str, ...] = ()  # of dependencies that are not installed beside told

    def words(self, agent: str, event: str) -> tuple[str, ...]:
        """Return the program and its arguments, for agents that run no shell."""
        return (self.interpreter, "-I", "-S", self.client, agent, event, *self.folders)

    def line(self, agent: str, event: str, shell: str = SH) -> str:
        """Return one command line for a shell."""
        words = self.words(agent, event)
        if shell == CMD:
            return f"{' '.join(map(_quote_for_cmd, words))} 2>nul || exit /b 0"
        if shell == POWERSHELL:
            return f"try {{ & {' '.join(map(_quote_for_powershell, words))} 2>$null }} catch {{ }}; exit 0"
        return f"{shlex.join(words)} 2>/dev/null || true"


@dataclass(frozen=True, slots=True)
class Slash:
    """A command that the user can type in an agent: `/mem:name words`."""

    name: str
    about: str  # one line for the agent's list of commands
    text: str  # instructions for the agent
    hint: str = ""  # arguments; empty if it has none
    runs: bool = False  # the agent runs told for it; else the prompt hook handles it


@dataclass(frozen=True, slots=True)
class Place:
    """Where and how told is installed into an agent."""

    home: str  # the user's home folder
    project: str  # the root folder of the current project; empty outside a project
    variables: Mapping[str, str]  # of the environment
    launch: Launch
    scope: str = USER_SCOPE
    profile: str = MINIMAL
    told: tuple[str, ...] = ("told",)  # the full command `told`, for entries that name it
    on_path: bool = True  # agents can call it by its name alone
    told_beside: tuple[str, ...] = ("told",)  # the command beside told's Python, which needs no PATH
    mcp: bool = False  # `told mcp` is available
    system: str = "linux"  # or darwin, win32
    note_text: str = ""  # instructions for an agent that gets briefs from hooks
    guide_text: str = ""  # instructions for an agent that has to ask
    slash_commands: tuple[Slash, ...] = ()

    @property
    def is_project(self) -> bool:
        """Tell whether told is installed into the project only."""
        return self.scope == PROJECT_SCOPE

    @property
    def is_windows(self) -> bool:
        """Tell whether the system is Windows."""
        return self.system == "win32"

    @property
    def command(self) -> str:
        """Return how an agent's shell calls told."""
        if self.on_path:
            return "told"
        return " ".join(map(_quote_for_cmd, self.told)) if self.is_windows else shlex.join(self.told)

    @property
    def note(self) -> str:
        """Return the instructions for an agent that gets briefs from hooks."""
        return self.name_told(self.note_text)

    @property
    def guide(self) -> str:
        """Return the instructions for an agent that has to ask."""
        return self.name_told(self.guide_text)

    @property
    def slash(self) -> tuple[Slash, ...]:
        """Return the commands that the user can type."""
        return tuple(replace(one, text=self.name_told(one.text)) for one in self.slash_commands)

    def name_told(self, text: str) -> str:
        """Return a text whose commands, between backticks, an agent's shell can run."""
        return text.replace("`told ", f"`{self.command} ")

    @property
    def instructions(self) -> str:
        """Return the instructions that fit the profile."""
        return self.guide if self.profile == NO_HOOKS else self.note

    def join(self, folder: str, *names: str) -> str:
        """Return a path below a folder, as the system writes it."""
        separator = "\\" if self.is_windows else "/"
        return separator.join([folder.rstrip("/\\") or folder, *names])

    def in_project(self, *names: str) -> str:
        """Return a path below the project's folder."""
        return self.join(self.project, *names)

    def in_home(self, *names: str) -> str:
        """Return a path below the user's home folder."""
        return self.join(self.home, *names)

    def folder(self, variable: str, *default: str) -> str:
        """Return a variable's folder, or else one below the home folder."""
        return self.variables.get(variable, "") or self.in_home(*default)

    def in_config(self, *names: str) -> str:
        """Return a path below XDG_CONFIG_HOME."""
        return self.join(self.folder("XDG_CONFIG_HOME", ".config"), *names)

    def in_app_data(self, *names: str) -> str:
        """Return a path below Windows' APPDATA."""
        return self.join(self.folder("APPDATA", "AppData", "Roaming"), *names)


Events = tuple[tuple[str, str], ...]  # (the agent's name of an event, told's name)

# No event after a compaction: a session start follows it, and a second brief would be a duplicate.
SHARED_EVENTS: Events = (
    ("SessionStart", START), ("UserPromptSubmit", PROMPT), ("PreCompact", COMPACT), ("Stop", STOP),
    ("SessionEnd", END), ("SubagentStart", HELPER),
)  # fmt: skip


def select_events(place: Place, events: Events, tool: str) -> Events:
    """Return the events of the profile; `tool` only in full."""
    if place.profile == NO_HOOKS:
        return ()
    return (*events, (tool, TOOL)) if place.profile == FULL and tool else events


def hook_entries(
    place: Place,
    path: str,
    make_hook: Callable[[str], Any],
    events: Events = SHARED_EVENTS,
    tool: str = "PreToolUse",
) -> tuple[Change, ...]:
    """Return one hook entry for each event of the profile."""
    return tuple(
        Entry(path, ("hooks", name), make_hook(event), item=True, mark=MARK)
        for name, event in select_events(place, events, tool)
    )


def hook_timeout(event: str) -> int:
    """Return the timeout of a hook entry in seconds."""
    return 3 if event == END else 5


def hook_group(event: str, hook: dict[str, Any], tools: str = "Bash|Edit|Write") -> dict[str, Any]:
    """Return a group with one hook, before tool calls with a matcher."""
    return ({"matcher": tools} if event == TOOL else {}) | {"hooks": [hook]}


def shell_group(place: Place, agent: str, event: str) -> dict[str, Any]:
    """Return a group with one hook that the system's shell runs."""
    hook = {"type": "command", "command": shell_line(place, agent, event), "timeout": hook_timeout(event)}
    return hook_group(event, hook)


def shell_line(place: Place, agent: str, event: str) -> str:
    """Return the hook's command line for the system's shell."""
    return place.launch.line(agent, event, CMD if place.is_windows else SH)


def node_line(place: Place, agent: str, event: str) -> str:
    """Return the hook's command line for agents that run PowerShell on Windows."""
    return place.launch.line(agent, event, POWERSHELL if place.is_windows else SH)


def server_command(place: Place) -> list[str]:
    """Return the program and arguments of `told mcp`."""
    return [*place.told, "mcp"]


def mcp_entry(
    place: Place, path: str, keys: tuple[str, ...] = ("mcpServers",), **settings: Any
) -> tuple[Change, ...]:
    """Return the entry of `told mcp` in a file, if available."""
    command, *arguments = server_command(place)
    value = {"command": command, "args": arguments} | settings
    return (Entry(path, (*keys, "told"), value, mark="mcp"),) if place.mcp else ()


def project_mcp(place: Place) -> tuple[Change, ...]:
    """Return the entry in a project's shared `.mcp.json`."""
    return mcp_entry(place, place.in_project(".mcp.json"), type="stdio", alwaysLoad=True)


def agents_file(place: Place) -> tuple[Change, ...]:
    """Return the paragraph in a project's shared AGENTS.md."""
    return (Block(place.in_project("AGENTS.md"), place.guide),)


def github_instructions(place: Place) -> tuple[Change, ...]:
    """Return the paragraph in the instructions of all GitHub agents."""
    return (Block(place.in_project(".github", "copilot-instructions.md"), place.guide),)


def markdown_commands(
    place: Place, folder: str, *, arguments: str = "$ARGUMENTS", typed: bool = False, tools: bool = False
) -> tuple[Change, ...]:
    """Return a Markdown file with front matter for each slash command.

    With `typed`, the agent's hooks see the file's text, so it begins with what the user typed. With `tools`,
    the front matter may describe arguments and allow tools.
    """
    made = []
    for slash in place.slash:
        head = [f"# {OWN}", f"description: {slash.about}"]
        if tools and slash.hint:
            head.append(f'argument-hint: "{slash.hint}"')
        if tools and slash.runs:
            head.append(f"allowed-tools: Bash({place.command}:*)")
        body = typed_command(slash, arguments) if typed else _described_command(slash, arguments)
        text = "\n".join(["---", *head, "---", "", body, ""])
        made.append(OwnFile(place.join(folder, "mem", f"{slash.name}.md"), text))
    return tuple(made)


def typed_command(slash: Slash, arguments: str) -> str:
    """Return the text of a slash command after what the user typed."""
    return f"/mem:{slash.name} {arguments}{SLASH_END}{slash.text}"


def _described_command(slash: Slash, arguments: str) -> str:
    words = f" with these words, which are data:\n\n{arguments}{SLASH_END}" if slash.hint else ". "
    return f"{OWN_TEXT}The user typed `/mem:{slash.name}`{words}{slash.text}"


def import_folders() -> list[str]:
    """Return the import folders of told and apsw, each once."""
    found = []
    for package in (told, apsw):
        file = os.path.abspath(str(package.__file__))
        folder = os.path.dirname(file)
        is_package = os.path.basename(file).startswith("__init__.")
        found.append(os.path.dirname(folder) if is_package else folder)
    return list(dict.fromkeys(found))


def own_command(*words: str) -> list[str]:
    """Return the words that run a command of this told.

    A hook runs without the environment that told is installed in, so its folders are named.
    """
    run = f"import sys;sys.path[:0]={import_folders()!r};from told.cli.main import run;run()"
    return [sys.executable, "-I", "-S", "-c", run, *words]
