"""Describe an agent, and find its files."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from told.agents.headless import Headless
from told.agents.wiring import Change, Place
from told.model import Cursor, Event, Problem, Source


@dataclass(frozen=True, slots=True)
class Call:
    """One hook call, parsed."""

    agent: str
    event: str
    name: str = ""  # the agent's own name of the event
    session: str = ""  # the agent's own id of the session
    cwd: str = ""
    prompt: str = ""  # typed by the user, without injected text
    transcript: str = ""  # path of the conversation's file
    source: str = ""  # why a session starts: startup, resume, clear, compact …
    tool: str = ""
    command: str = ""  # that the tool is about to run
    file: str = ""  # that the tool is about to touch
    helper: str = ""  # id of the subagent that calls; empty for the session itself


Answer = dict[str, Any]


def nest_context(call: Call, text: str) -> Answer:
    """Answer with context in the form that most agents share."""
    return {"hookSpecificOutput": {"hookEventName": call.name, "additionalContext": text}}


def nest_verdict(call: Call, decision: str, reason: str) -> Answer:
    """Answer a tool call in the form that most agents share."""
    verdict = {"permissionDecision": decision, "permissionDecisionReason": reason}
    return {"hookSpecificOutput": {"hookEventName": call.name} | verdict}


def flat_context(_call: Call, text: str) -> Answer:
    """Answer with context at the top level."""
    return {"additionalContext": text}


def flat_verdict(_call: Call, decision: str, reason: str) -> Answer:
    """Answer a tool call at the top level."""
    return {"permissionDecision": decision, "permissionDecisionReason": reason}


def no_context(_call: Call, _text: str) -> Answer:
    """Answer nothing: the agent takes no context from hooks."""
    return {}


def is_never_duplicate(_call: Call, _payload: Mapping[str, Any], _environ: Mapping[str, str]) -> bool:
    """Return False: the agent runs no other agent's hooks."""
    return False


def block_stop(_call: Call, text: str) -> Answer:
    """Let the agent go on with a text, in the form that most agents share."""
    return {"decision": "block", "reason": text}


@dataclass(frozen=True, slots=True)
class StopQuestion:
    """How an agent is asked something when it stops."""

    # Tells from a call, its payload and its environment that a user is there; False where nobody can tell.
    is_attended: Callable[[Call, Mapping[str, Any], Mapping[str, str]], bool]
    answer: Callable[[Call, str], Answer] = block_stop
    shows_as_error: bool = False  # on the agent's screen


@dataclass(frozen=True, slots=True)
class Dialect:
    """How an agent names hook events and reads the answers."""

    events: Mapping[str, str] = field(default_factory=dict)  # lower case, letters only -> told's name
    context: Callable[[Call, str], Answer] = nest_context
    verdict: Callable[[Call, str, str], Answer] = nest_verdict
    takes_context_after_compaction: bool = False  # most start the session again instead
    forgets_context_on_resume: bool = False  # a resumed session lacks what hooks added to it
    replaces_start_brief: bool = False  # a resumed session gets the start's answer instead of the earlier one
    hides_compaction: bool = False  # no hook tells of one
    stop_question: StopQuestion | None = None
    # Tells whether this agent runs another agent's hook and its own hook answers as well. Asked if the
    # payload has `NAME_version` or the environment `NAME_VERSION`.
    is_duplicate: Callable[[Call, Mapping[str, Any], Mapping[str, str]], bool] = is_never_duplicate


_MAX_DEPTH = 12  # folders below an agent's root


@dataclass(frozen=True, slots=True)
class Layout:
    """A pattern of files: `*` is any one name, `**` any folders."""

    pattern: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """The columns of a foreign database table that its reader needs."""

    layout: str
    table: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShellSign:
    """An environment variable that an agent sets for the commands it runs.

    Only variables that no user sets by hand and that an editor's own terminal does not have.
    """

    variable: str
    session_variable: str = ""  # has the session's id
    rank: int = 0  # with signs of several agents, the lowest rank wins: the innermost agent
    agent: str = ""  # the agent's name where it has no package of its own
    in_hooks: bool = True  # its hooks have it, too


@dataclass(frozen=True, slots=True)
class ProcessSign:
    """How an agent that runs in a terminal looks among the processes.

    Editors have none: the user types in their terminals.
    """

    name: str  # of its program or script
    package: str = ""  # of npm, whose script may have any name
    hooks_in_shell: bool = True  # it runs hooks by a shell, not at once
    replaces_shell: bool = False  # a shell of its tool calls may become the one command that it runs


@dataclass(frozen=True, slots=True)
class DetectedAgent:
    """The agent that a process was started by."""

    name: str
    session: str
    sign: str  # the variable that shows it


def read_nothing(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:  # noqa: ARG001
    """Read an agent whose conversations cannot be read."""
    return iter(())


@dataclass(frozen=True, slots=True)
class Agent:
    """A coding agent: all that told knows about it."""

    name: str
    title: str
    label: str  # its name in lists: the first word of its name, at most nine letters
    aliases: tuple[str, ...] = ()  # other names that users type
    is_fallback: bool = False  # used for agents that told does not know

    # Its conversations.
    read: Callable[[Source, Cursor], Iterator[Event | Problem]] = read_nothing
    roots: tuple[str, ...] = ()  # folders to search; `~`, `$NAME` and `$NAME|default` are expanded
    root_variable: str = ""  # the agent's own variable that replaces the roots
    layouts: tuple[Layout, ...] = ()  # files below a root
    project_layouts: tuple[Layout, ...] = ()  # files below each project's folder
    tables: tuple[Table, ...] = ()
    verified: bool = True  # the reader was tested with files of a real run
    advice: str = ""  # what to do when its folder has no conversations

    # Installing told into it.
    wire: Callable[[Place], tuple[Change, ...]] | None = None  # what told writes into its files
    programs: tuple[str, ...] = ()  # its commands
    install_signs: tuple[str, ...] = ()  # folders that show that it is used; written like roots
    has_hooks: bool = False  # it calls told's hook, and gets a brief from it
    since: Mapping[str, str] = field(default_factory=dict)  # part of told -> its first version that has it
    limits: str = ""  # what told cannot do in it, as a sentence for `told status`
    todo: str = ""  # what the user has to do in the agent after installing
    is_todo_done: Callable[[Place], bool] | None = None
    describe_own_entries: Callable[[Place], str] | None = (
        None  # that the agent itself made about told's hooks
    )

    # Running it, and running under it.
    headless: Headless | None = None
    headless_sign: bytes = b""  # a pattern in the file of a conversation that a program started
    headless_variable: tuple[str, str] = ("", "")  # in its hooks: a variable, and how its value begins then
    dialect: Dialect = Dialect()
    hook_seconds: Mapping[str, float] = field(default_factory=dict)  # event -> how long it waits, if shorter
    shell_signs: tuple[ShellSign, ...] = ()
    process: ProcessSign | None = None
    shell_tools: tuple[str, ...] = ()  # unusual names of its tool that runs commands
    tool_prefix: str = ""  # of its tools' names
    client_words: tuple[str, ...] = ()  # words in its name as an MCP client, where its own name is missing
    instruction_files: tuple[str, ...] = ()  # in a project; `*` and a leading `**/` are patterns
    notes_folder: Callable[[Mapping[str, str], str], str] | None = None  # with its own memory of a project

    @property
    def names(self) -> tuple[str, ...]:
        """Return every name that users type for it."""
        return (self.name, self.label, *self.aliases)

    @property
    def is_readable(self) -> bool:
        """Tell whether its conversations can be read."""
        return self.read is not read_nothing


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that was searched, with its time of change."""

    agent: str
    path: str
    changed: int  # nanoseconds; 0 when it does not exist yet


def expand_path(root: str, environ: Mapping[str, str]) -> str:
    """Expand `~`, `$NAME` and `$NAME|default`; return "" for an unset variable.

    A colon ends the default: `$XDG_DATA_HOME|~/.local/share:folder`.
    """
    if root.startswith("$"):
        head, _, rest = root.partition(":" if "|" in root else "/")
        name, _, default = head[1:].partition("|")
        value = environ.get(name, "") or default
        if not value:
            return ""
        root = f"{value}/{rest}" if rest else value
    if root == "~" or root.startswith("~/"):
        home = environ.get("HOME") or environ.get("USERPROFILE") or ""
        if not home:
            return ""
        root = home + root[1:]
    return root


def find_roots(agent: Agent, environ: Mapping[str, str], override: str = "") -> list[str]:
    """Return an agent's folders: the user's choice, its variable's, or the usual."""
    named = override or (environ.get(agent.root_variable, "") if agent.root_variable else "")
    candidates: Iterable[str] = (named,) if named else agent.roots
    expanded = [os.path.abspath(path) for root in candidates if (path := expand_path(root, environ))]
    return list(dict.fromkeys(expanded))


def find_sources(
    agent: Agent, roots: Iterable[str], projects: Iterable[str] = ()
) -> Iterator[tuple[Source, os.stat_result] | Folder]:
    """Yield the agent's files with their stat, and every folder that was searched.

    A missing file or folder is yielded as a `Folder` with a change time of 0.
    """
    for root in roots:
        if not os.path.isdir(root):
            yield Folder(agent.name, root, 0)
            continue
        for layout in agent.layouts:
            yield from _below(agent, root, layout)
    for project in projects:
        for layout in agent.project_layouts:
            yield from _below(agent, project, layout)


def _below(agent: Agent, root: str, layout: Layout) -> Iterator[tuple[Source, os.stat_result] | Folder]:
    for path, found in _walk(root, layout.pattern.split("/"), os.path.realpath(root), 0):
        if isinstance(found, int):
            yield Folder(agent.name, path, found)
        else:
            yield Source(agent.name, path, layout.name, root), found


def _walk(
    folder: str, parts: list[str], real_root: str, depth: int
) -> Iterator[tuple[str, int | os.stat_result]]:
    """Yield matching files with their stat, and folders with their change time."""
    part, rest = parts[0], parts[1:]
    if "*" not in part:
        yield from _named(os.path.join(folder, part), rest, real_root, depth)
        return
    try:
        changed = os.stat(folder).st_mtime_ns
        with os.scandir(folder) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    yield folder, changed
    for entry in listed:
        try:
            is_link, is_folder = entry.is_symlink(), entry.is_dir()
            if is_link and not is_inside(os.path.realpath(entry.path), real_root):
                continue
            if is_folder:
                if part == "**" and not is_link and depth < _MAX_DEPTH:
                    yield from _walk(entry.path, parts, real_root, depth + 1)
                elif rest and part != "**" and fnmatchcase(entry.name, part):
                    yield from _walk(entry.path, rest, real_root, depth + 1)
            elif fnmatchcase(entry.name, rest[0] if part == "**" else part) and len(rest) == (part == "**"):
                yield entry.path, entry.stat()
        except OSError:
            continue


def _named(
    path: str, rest: list[str], real_root: str, depth: int
) -> Iterator[tuple[str, int | os.stat_result]]:
    try:
        found = os.stat(path)
        if os.path.islink(path) and not is_inside(os.path.realpath(path), real_root):
            return
    except (OSError, ValueError):
        yield path, 0
        return
    if rest and stat.S_ISDIR(found.st_mode):
        if "*" not in rest[0]:
            yield path, found.st_mtime_ns
        yield from _walk(path, rest, real_root, depth + 1)
    elif not rest and not stat.S_ISDIR(found.st_mode):
        yield path, found


def is_inside(path: str, root: str) -> bool:
    """Tell whether a resolved path is the root or below it."""
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def editor_folders(application: str) -> tuple[str, ...]:
    """Return the user data folders of an Electron application, for this system first."""
    linux = (f"$XDG_CONFIG_HOME|~/.config:{application}",)
    mac = (f"~/Library/Application Support/{application}",)
    windows = (f"$APPDATA/{application}", f"~/AppData/Roaming/{application}")
    order = {"darwin": (mac, linux, windows), "win32": (windows, linux, mac)}
    return sum(order.get(sys.platform, (linux, mac, windows)), ())


def find_agent_sign(agent: Agent, environ: Mapping[str, str]) -> str:
    """Return a program or folder that shows an agent is used."""
    for folder in agent.install_signs:
        path = expand_path(folder, environ)
        if path and os.path.isdir(path):
            return path
    for program in agent.programs:
        path = shutil.which(program, path=environ.get("PATH", os.defpath)) or ""
        if path:
            return path
    return ""
