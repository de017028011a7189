"""`told mcp`: serve told's tools to an agent; the commands behind them."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from told.agents import agent_of_client
from told.app import CallSite, load_checked_settings
from told.cli.arguments import command_named, parse
from told.cli.main import run_command
from told.errors import NotFoundError, ToldError, UsageError
from told.fence import defuse_tags
from told.hook.context import open_sessions
from told.hook.dispatch import log_failure
from told.ingest.projects import find_git_root, find_project
from told.jsontext import dump_json
from told.mcp.loop import serve, take_standard_streams
from told.mcp.server import Server, folder_of_uri
from told.mcp.tools import Answer, Client
from told.memories.caller import Caller, detect_caller
from told.memories.session_notes import find_running_session
from told.redact.engine import Redactor
from told.settings import Settings
from told.store.database import load_key
from told.store.memories.records import AGENT
from told.store.sessions.checkpoints import Projects

_ALL_PROJECTS = "*"
_UNKNOWN_AGENT = "agent"
_COVERS_ALL_PROJECTS = ("search", "timeline", "list", "files")
_NO_PROJECT = "Say which project this is about. Give `project`: its folder, or its name."
_USE_GLOBAL = " For all projects, give `scope` global."
_NOTHING = "Nothing is known yet. `search` searches past sessions; `remember` saves a statement."
# What a command advises at a terminal, and what an agent can do instead.
_ADVICE = (
    ("Try --all-projects", 'Try `project` "*" for all of them'),
    ("Use --all-projects to list all", "`search` finds those of other projects"),
    ("`told memories` lists them", "`search` finds them"),
    ("`told repos` lists them", '`sessions` with `project` "*" shows them'),
    ("Ids come from `told list` and `told search`", "Ids come from `search`, `timeline` and `sessions`"),
    ("`told remember TEXT` adds one", "`remember` adds one"),
    ("`told wonder` takes", "`wonder` takes"),
    ("`told why` shows why", "`get` shows why"),
)
# Most characters of names, which an answer may repeat.
_LONGEST = {
    "project": 4_096,
    **dict.fromkeys(("id", "around", "agent", "since", "scope", "session", "kind"), 300),
}


def mcp(words: Sequence[str], environ: Mapping[str, str]) -> int:
    """Answer one agent until it closes the connection."""
    if words:
        raise UsageError("`told mcp` takes no arguments: agents start it.")
    gc.enable()  # this process lives as long as its agent
    try:
        if os.isatty(0):
            sys.stderr.write("told waits for an agent's messages, one a line. Ctrl+D ends it.\n")
        else:
            _ignore_interrupts()
        source, sink = take_standard_streams()
    except OSError:
        return 0  # without input or output there is no client
    serve(Server(Tools(environ), lambda error: log_failure(error, environ)), source, sink)
    return 0


def _ignore_interrupts() -> None:
    """Exit quietly on SIGTERM; ignore interrupts meant for the agent."""

    def leave(*_: object) -> None:
        os._exit(0)

    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, leave)


class Tools:
    """Run tools for an agent, never with the user's authority."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def call(self, name: str, arguments: dict[str, Any], client: Client) -> Answer:
        """Run a tool with checked arguments."""
        project = str(arguments.get("project") or "")
        if project[:7].lower() == "file://":
            project = folder_of_uri(project) or project
        for place, most in _LONGEST.items():
            if len(str(arguments.get(place) or "")) > most:
                return Answer(f"`{place}` is too long: give at most {most:,} characters.", is_error=True)
        try:
            settings = load_checked_settings(self._environ)
            given = _redact_arguments(arguments, settings)
        except ToldError as error:
            return Answer(str(error), is_error=True)
        if name != "get":
            return self._run(_TOOLS[name](given), project, client, settings)
        ids = [one for part in (*given.get("id", ()), *given.get("ids", ())) for one in _split_ids(part)]
        ids = list(dict.fromkeys(ids))
        if not ids or len(ids) > _MOST_IDS or max(map(len, ids)) > _LONGEST["id"]:
            return Answer(f"Give 1 to {_MOST_IDS} ids that `search` showed.", is_error=True)
        answers = [
            self._run(_get(one, len(ids), full=bool(given.get("full"))), project, client, settings)
            for one in ids
        ]
        text = "\n".join(one.text for one in answers)
        return Answer(text, is_error=all(one.is_error for one in answers))

    def read(self, uri: str, client: Client) -> Answer:
        """Return the text of a resource."""
        try:
            settings = load_checked_settings(self._environ)
            command = _command_for_resource(_redact_arguments({"uri": uri}, settings)["uri"])
        except ToldError as error:
            return Answer(str(error), is_error=True)
        if command is None:
            return Answer("There is no such resource: read told://brief or told://memories.", is_error=True)
        return self._run(command, "", client, settings)

    def knows_place(self) -> bool:
        """Tell whether the agent's project is clear without its folders."""
        if any(map(_is_folder, _folders_in(self._environ))):
            return True
        folder = _find_folder((), self._environ, "")
        return bool(folder and find_git_root(folder))

    def _run(self, command: _ToolCommand, project: str, client: Client, settings: Settings) -> Answer:
        folder = _find_folder(client.roots, self._environ, settings.home)
        words = command.words
        caller = self._caller(client, settings.home, folder)
        is_known = folder or project or (command.belongs_to == SESSION and caller.session)
        if command.belongs_to and (not is_known or project == _ALL_PROJECTS):
            hint = _USE_GLOBAL if command.belongs_to == PROJECT else ""
            return Answer(f"{_NO_PROJECT}{hint}", is_error=True)
        if project == _ALL_PROJECTS:
            project = ""
            if words[0] in _COVERS_ALL_PROJECTS:
                words = (words[0], "--all-projects", *words[1:])
        done = run_for_agent(
            words, self._environ, folder=folder, caller=caller, project=project, room=command.room
        )
        if not done.code:
            return Answer(f"{done.text}\nCut here. {command.more}".rstrip() if done.cut else done.text)
        text = done.text or _NOTHING
        for advice, instead in _ADVICE:
            text = text.replace(advice, instead)
        return Answer(text, is_error=not (command.may_be_empty and done.code == NotFoundError.exit_code))

    def _caller(self, client: Client, home: str, folder: str) -> Caller:
        """Return the calling agent, with its session if that is known."""
        found = detect_caller(self._environ)
        if found.is_user:
            found = Caller(AGENT, agent_of_client(client.name) or _UNKNOWN_AGENT)
        if found.session or found.agent == _UNKNOWN_AGENT:
            return found
        return found._replace(
            session=find_running_session(home, found.agent, folder, self._environ.get("HOME", ""))
        )


def _split_ids(text: str) -> list[str]:
    """Return the ids in a text: some models write several with commas."""
    return text.replace(",", " ").split()


def _redact_arguments(arguments: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """Return an agent's arguments without secrets: an answer may repeat them."""
    redact = Redactor(load_key(settings.home), settings.redaction).redact

    def clean(value: Any) -> Any:
        if isinstance(value, list):
            return [clean(one) for one in value]
        if isinstance(value, dict):
            return {name: clean(one) for name, one in value.items()}
        return redact(value) if isinstance(value, str) else value

    return {name: clean(value) for name, value in arguments.items()}


# Agents set these for the programs they start; one may have several folders, with commas between them.
_FOLDER_VARIABLES = (
    "CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "QWEN_PROJECT_DIR", "CURSOR_PROJECT_DIR",
    "WORKSPACE_FOLDER_PATHS",
)  # fmt: skip


def _find_folder(roots: Sequence[str], environ: Mapping[str, str], home: str) -> str:
    """Return the folder that an agent works in; empty if unknown."""
    for named in (roots, _folders_in(environ)):
        folders = [os.path.realpath(one) for one in named if _is_folder(one)]
        if folders:
            return _first_project(folders, home)
    try:
        current = os.path.realpath(os.getcwd())
    except OSError:
        return ""
    # Agents without a folder start programs in one of these; nobody works there.
    nowhere = (os.path.dirname(current), os.path.realpath(environ.get("HOME", "") or os.sep))
    return "" if current in nowhere else current


def _folders_in(environ: Mapping[str, str]) -> list[str]:
    return [part.strip() for name in _FOLDER_VARIABLES for part in environ.get(name, "").split(",")]


def _is_folder(path: str) -> bool:
    return os.path.isabs(path) and "\0" not in path and os.path.isdir(path)


def _first_project(folders: list[str], home: str) -> str:
    if len(folders) == 1 or find_git_root(folders[0]):
        return folders[0]
    connection = open_sessions(home)
    try:
        known = [one for one in folders if connection and find_project(Projects(connection), one)]
    finally:
        if connection is not None:
            connection.close()
    return next((one for one in folders if one in known or find_git_root(one)), folders[0])


_ROOM, _FULL_ROOM = 14_000, 32_000  # bytes of an answer: 4,000 tokens, and 9,000 of full texts
PROJECT, SESSION = "project", "session"
_ROWS_AROUND, _SESSIONS, _LATEST = 5, 8, 10  # default limits
_MEMORIES = 50
_MOST_IDS = 20
_ITEM_FIELDS = ("text", "kind", "quote", "scope", "replaces")
_FEWER = "Ask for fewer with `limit`."


@dataclass(frozen=True, slots=True)
class _ToolCommand:
    """A command to run for an agent."""

    words: tuple[str, ...]
    may_be_empty: bool = False  # it searches: to find nothing is an answer
    belongs_to: str = ""  # what it writes needs a project, or at least a session
    room: int = _ROOM
    more: str = ""  # how to get what was cut


def _command_for_resource(uri: str) -> _ToolCommand | None:
    if uri == "told://brief":
        return _ToolCommand(("brief",), may_be_empty=True)
    if uri == "told://memories":
        return _ToolCommand(("memories", f"--limit={_MEMORIES}"), may_be_empty=True)
    name = uri.removeprefix("told://show/")
    return _get(name, 1, full=True) if name != uri and name else None


def _options(given: dict[str, Any], *names: str, **renamed: str) -> tuple[str, ...]:
    """Return arguments as options; `=` allows values that begin with a dash."""
    found = []
    for name, option in {**{name: name for name in names}, **renamed}.items():
        value = given.get(name)
        values = value if isinstance(value, list) else [] if value is None else [value]
        found += [f"--{option}={one}" for one in values]
    return tuple(found)


def _search(given: dict[str, Any]) -> _ToolCommand:
    options = _options(given, "in", "limit", "agent", "since")
    return _ToolCommand(("search", *options, "--", given["query"]), may_be_empty=True, more=_FEWER)


def _timeline(given: dict[str, Any]) -> _ToolCommand:
    limit = _ROWS_AROUND if given.get("around") else _LATEST
    options = _options({"limit": limit, **given}, "around", "limit")
    return _ToolCommand(("timeline", *options), may_be_empty=not given.get("around"), more=_FEWER)


def _get(name: str, many: int, *, full: bool) -> _ToolCommand:
    """Return the command that shows one of many ids, which share the room."""
    is_checkpoint = name.startswith("c") and name.isalnum()
    detail = "--full" if full or is_checkpoint else "--turns"
    more = "`get` with ID.3 gives turn 3 in full"
    more += "; `told show ID.3 --full` has no limit." if full else ", `full` gives more of everything."
    room = (_FULL_ROOM if full else _ROOM) // many
    return _ToolCommand(("show", detail, "--", name), room=room, more=more)


def _remember(given: dict[str, Any]) -> _ToolCommand:
    items = [*given.get("items", ())]
    if "text" in given:
        items.insert(0, {name: given[name] for name in _ITEM_FIELDS if name in given})
    for item in items:
        item.setdefault("scope", given.get("scope", PROJECT))
    is_global = all(item["scope"] != PROJECT for item in items)
    return _ToolCommand(("remember", f"--items={dump_json(items)}"), belongs_to="" if is_global else PROJECT)


def _checkpoint(given: dict[str, Any]) -> _ToolCommand:
    options = _options(
        given, "goal", "done", "pending", "status", "session", decisions="decision", files="file",
        plans="plan", references="reference", questions="question", notes="note",
    )  # fmt: skip
    return _ToolCommand(("checkpoint", *options), belongs_to="" if given.get("session") else SESSION)


def _list(command: str, limit: int) -> Callable[[dict[str, Any]], _ToolCommand]:
    def make(given: dict[str, Any]) -> _ToolCommand:
        options = _options({"limit": limit, **given}, "limit", "agent", "since")
        return _ToolCommand((command, *options), may_be_empty=True, more=_FEWER)

    return make


_TOOLS: dict[str, Callable[[dict[str, Any]], _ToolCommand]] = {
    "search": _search, "timeline": _timeline, "remember": _remember,
    "correct": lambda given: _ToolCommand(
        ("correct", *_options(given, "kind", "quote"), "--", given["id"], given["text"])
    ),
    "forget": lambda given: _ToolCommand(("forget", "--force", "--", given["id"])),
    "checkpoint": _checkpoint, "sessions": _list("list", _SESSIONS), "files": _list("files", _LATEST),
    "wonder": lambda given: _ToolCommand(("wonder", "--", given["topic"]), may_be_empty=True),
    "reason": lambda given: _ToolCommand(("reason", "--", given["question"]), may_be_empty=True),
    "feedback": lambda given: _ToolCommand(("confirm" if given["useful"] else "reject", "--", given["id"])),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The exit code and output of a command."""

    code: int
    text: str  # what it printed, or its error
    cut: bool = False  # there was no room for all of it


def run_for_agent(
    words: Sequence[str], environ: Mapping[str, str], *, folder: str | None = None,
    caller: Caller | None = None, project: str = "", room: int = 0,
) -> CommandResult:  # fmt: skip
    """Run a command and return its output; nothing stays open.

    Without `folder` it is about the current one; without `caller` the environment says who calls; `room` is
    the most bytes of text.
    """
    pieces: list[str] = []
    try:
        command = command_named(words[0])
        if command is None or command.standalone:
            raise UsageError(f"{words[0]!r} cannot be run from here.")
        site = CallSite(caller, folder, project)
        arguments = parse(command, words[1:])
        code = run_command(
            command, arguments, environ, lambda context: pieces.extend(context.take_lines()), site
        )
    except ToldError as error:
        return CommandResult(error.exit_code, defuse_tags(str(error)))
    return _fit(code, pieces, room)


def _fit(code: int, pieces: list[str], room: int) -> CommandResult:
    text = "\n".join(pieces)
    if not room or len(text.encode()) <= room:
        return CommandResult(code, text)
    shown: list[str] = []
    for piece in pieces:
        size = len(piece.encode()) + 1
        if size > room:
            shown.append(_shorten(piece, room))
            break
        shown.append(piece)
        room -= size
    return CommandResult(code, "\n".join(shown), cut=True)


def _shorten(piece: str, room: int) -> str:
    """Return the part of a text that fits; a fence stays complete."""
    opening, _, rest = piece.partition("\n")
    body, _, closing = rest.rpartition("\n")
    if not body or not opening.startswith("<") or closing != f"</{opening[1:]}":
        return "…"
    room = max(0, room - len(opening.encode()) - len(closing.encode()) - 8)
    start = body.encode()[:room].decode("utf-8", "ignore")
    line = start.rfind("\n")
    start = start[:line] if line > len(start) // 2 else start
    return f"{opening}\n{start.rstrip()}…\n{closing}"
