"""opencode: its SQLite database, and the tree of JSON files it wrote before 1.2."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from told.agents import wiring
from told.agents.base import (
    Agent,
    Dialect,
    Layout,
    ProcessSign,
    ShellSign,
    Table,
    flat_context,
    flat_verdict,
)
from told.agents.headless import Headless, HeadlessReply, HeadlessTask
from told.agents.reading import FAILED, describe_call, is_failure, patched_files, read_database, read_whole
from told.agents.values import as_count, as_dict, as_millis, as_text, get_dict, get_list, get_text
from told.agents.wiring import (
    COMPACT,
    COMPACTED,
    END,
    HELPER,
    PROMPT,
    START,
    STOP,
    TOOL,
    Block,
    Change,
    OwnFile,
    Place,
)
from told.jsontext import parse_json, read_json_file
from told.model import AGENT as BY_AGENT
from told.model import USER, Begin, Checkpoint, Cursor, Event, Facts, Mark, Message, Problem, Source, Touch
from told.pattern import lazy_pattern
from told.store.foreign import ForeignDatabase

_SESSION = (
    "id", "directory", "title", "parent_id", "model", "time_created", "time_updated", "time_archived",
)  # fmt: skip
_HOW = {"read": "read", "write": "edit", "edit": "edit", "multiedit": "edit", "patch": "edit"}
_UNNAMED = ("New session - ", "Child session - ")


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A stored message with the ids and contents of its parts."""

    info: dict[str, Any]
    parts: list[tuple[str, dict[str, Any]]]
    at: int


def read_sessions(database: ForeignDatabase, cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield the sessions of the database that changed since the cursor."""
    changed = _find_changed(database, cursor.offset)
    order = sorted(changed, key=lambda session: (changed[session], session))
    for session, following in zip(order, [*order, ""][1:], strict=True):
        for row in database.rows("session", _SESSION, "id = ?", (session,)):
            messages, problems = _read_messages(database, session)
            yield from _parse_session(session, _as_document(row), messages, problems)
        # Sessions of the same millisecond share a cursor, so only the last of them may set it.
        if changed.get(following) != changed[session]:
            yield Mark(Cursor(changed[session]))


def read_tree(source: Source) -> Iterator[Event | Problem]:
    """Yield a session whose messages and parts are JSON files."""
    return read_whole(source.path, lambda document: _parse_tree(source.path, document), is_object=True)


def _parse_tree(path: str, document: dict[str, Any]) -> Iterator[Event | Problem]:
    session = os.path.basename(path).removesuffix(".json")
    storage = os.path.dirname(os.path.dirname(os.path.dirname(path)))
    messages: list[StoredMessage] = []
    problems: list[Problem] = []
    for key, message in _read_folder(os.path.join(storage, "message", session), "message", problems):
        parts = list(_read_folder(os.path.join(storage, "part", key), "part", problems))
        messages.append(StoredMessage(message, parts, as_millis(get_dict(message, "time").get("created"))))
    messages.sort(key=lambda message: message.at)
    yield from _parse_session(session, document, messages, problems)


def _find_changed(database: ForeignDatabase, since: int) -> dict[str, int]:
    """Return the sessions with news, each with the time of its last change.

    A message may be completed, and so changed, after its session.
    """
    newest: dict[str, int] = {}
    for table, name in (("session", "id"), ("message", "session_id")):
        for row in database.rows(table, (name, "time_updated"), "time_updated > ?", (since,)):
            session, updated = as_text(row[name]), row["time_updated"]
            if session and isinstance(updated, int):
                newest[session] = max(newest.get(session, 0), updated)
    return newest


def _read_messages(database: ForeignDatabase, session: str) -> tuple[list[StoredMessage], list[Problem]]:
    parts: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    problems: list[Problem] = []
    for row in database.rows("part", ("id", "message_id", "data"), "session_id = ?", (session,), "id"):
        part, key = _parse_stored(row["data"]), as_text(row["id"])
        if part is None:
            problems.append(Problem(0, f"part {key}: not JSON"))
        else:
            parts.setdefault(as_text(row["message_id"]), []).append((key, part))
    messages = []
    columns = ("id", "time_created", "data")
    for row in database.rows("message", columns, "session_id = ?", (session,), "time_created, id"):
        message, key = _parse_stored(row["data"]), as_text(row["id"])
        if message is None:
            problems.append(Problem(0, f"message {key}: not JSON"))
        else:
            messages.append(StoredMessage(message, parts.get(key, []), as_millis(row["time_created"])))
    return messages, problems


def _parse_stored(data: Any) -> dict[str, Any] | None:
    value = parse_json(data) if isinstance(data, (str, bytes)) else None
    return value if isinstance(value, dict) else None


def _as_document(row: dict[str, Any]) -> dict[str, Any]:
    """Convert a row of the session table to a document."""
    return {
        "directory": row["directory"],
        "title": row["title"],
        "parentID": row["parent_id"],
        "model": _parse_stored(row["model"]),
        "time": {"created": row["time_created"], "archived": row["time_archived"]},
    }


def _read_folder(folder: str, kind: str, problems: list[Problem]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the JSON objects of a folder by name; collect problems."""
    try:
        names = sorted(name.removesuffix(".json") for name in os.listdir(folder) if name.endswith(".json"))
    except (OSError, ValueError):
        return
    for name in names:
        document = read_json_file(os.path.join(folder, f"{name}.json"))
        if isinstance(document, dict):
            yield name, document
        else:
            reason = document.reason if isinstance(document, Problem) else "not a JSON object"
            problems.append(Problem(0, f"{kind} {name}: {reason}"))


def _parse_session(
    session: str, stored: dict[str, Any], messages: list[StoredMessage], problems: list[Problem]
) -> Iterator[Event | Problem]:
    title, parent = get_text(stored, "title"), get_text(stored, "parentID")
    times = get_dict(stored, "time")
    models = (get_text(message.info, "modelID") for message in messages)
    yield Begin(session)
    yield Facts(
        session,
        cwd=get_text(stored, "directory"),
        title="" if title.startswith(_UNNAMED) else title,
        started=as_millis(times.get("created")),
        parent=parent,
        kind="subagent" if parent else "",
        archived=bool(times.get("archived")),
        model=get_text(stored.get("model"), "id") or next(filter(None, models), ""),
    )
    yield from problems
    summaries = 0
    for message in messages:
        role = message.info.get("role")
        if role == "user":
            # A helper's prompt was written by the agent that called it.
            yield from _parse_prompt(session, BY_AGENT if parent else USER, message)
        elif role == "assistant" and message.info.get("summary") is True:
            texts = (get_text(part, "text").strip() for _, part in message.parts if _is_visible(part))
            if overview := "\n\n".join(texts).strip():
                summaries += 1
                yield Checkpoint(session, summaries, "Compaction summary", overview, message.at)
        elif role == "assistant":
            yield from _parse_answer(session, message)


def _parse_prompt(session: str, who: str, message: StoredMessage) -> Iterator[Event]:
    for key, part in message.parts:
        if part.get("type") == "file":
            if path := get_text(part.get("source"), "path"):
                yield Touch(session, path, "read", message.at)
        elif _is_visible(part) and (said := _strip_quotes(get_text(part, "text").strip())):
            yield Message(session, who, said, message.at, key)


def _parse_answer(session: str, message: StoredMessage) -> Iterator[Event]:
    touched: set[str] = set()
    for key, part in message.parts:
        kind = part.get("type")
        if kind in ("text", "reasoning"):
            said = get_text(part, "text").strip()
            if said and part.get("synthetic") is not True:
                yield Message(session, BY_AGENT, said, message.at, key, "text" if kind == "text" else "step")
        elif kind == "tool":
            tool, state = get_text(part, "tool"), get_dict(part, "state")
            yield Message(session, BY_AGENT, describe_call(tool, state.get("input")), message.at, key, "step")
            has_failed = state.get("status") == "error"
            if has_failed or is_failure(get_dict(state, "metadata").get("exit")):
                yield Message(session, BY_AGENT, FAILED, message.at, form="step")
            for path, how in [] if has_failed else _find_touched(tool, state):
                touched.add(path)
                yield Touch(session, path, how, message.at)
        elif kind == "patch":  # what changed on disk, also through a shell command
            for path in get_list(part, "files"):
                if as_text(path) and path not in touched:
                    yield Touch(session, path, "edit", message.at)


def _find_touched(tool: str, state: dict[str, Any]) -> list[tuple[str, str]]:
    given = get_dict(state, "input")
    touched = patched_files(get_text(given, "patchText")) if tool in ("apply_patch", "patch") else []
    how, path = _HOW.get(tool), get_text(given, "filePath")
    if how and path:
        is_new = tool == "write" and get_dict(state, "metadata").get("exists") is False
        touched.append((path, "create" if is_new else how))
    return touched


def _is_visible(part: dict[str, Any]) -> bool:
    return (
        part.get("type") == "text" and part.get("synthetic") is not True and part.get("ignored") is not True
    )


def _strip_quotes(said: str) -> str:
    """Undo the quotes that `opencode run` puts around an argument with spaces."""
    inner = said[1:-1]
    if len(said) < 3 or said[0] != '"' or said[-1] != '"' or re.search(r'(?<!\\)"', inner):
        return said
    return inner.replace('\\"', '"').strip()


_FULL_PROFILE = lazy_pattern(r"// begin: full profile\n(.*?)// end: full profile\n", re.DOTALL)


def read(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield a session's files, or the changed sessions of the database."""
    if source.layout == "tree":
        yield from read_tree(source)
    else:
        yield from read_database(source.path, lambda database: read_sessions(database, cursor))


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes into opencode's files."""
    if place.is_project:
        folder = place.in_project(".opencode")
        files = [place.in_project(name) for name in ("opencode.json", "opencode.jsonc")]
        instructions = wiring.agents_file(place)
    else:
        folder = place.variables.get("OPENCODE_CONFIG_DIR", "") or place.in_config("opencode")
        usual = [place.join(folder, name) for name in ("opencode.json", "opencode.jsonc", "config.json")]
        files = list(filter(None, [place.variables.get("OPENCODE_CONFIG", ""), *usual]))
        instructions = (Block(place.join(folder, "AGENTS.md"), place.instructions),)
    file = next(filter(os.path.exists, files), files[0])
    server = {"type": "local", "command": wiring.server_command(place), "enabled": True}
    plugin = OwnFile(place.join(folder, "plugins", "told.js"), make_plugin(place))
    return (
        *(() if place.profile == wiring.NO_HOOKS else (plugin,)),
        *((wiring.Entry(file, ("mcp", "told"), server, mark="mcp"),) if place.mcp else ()),
        *instructions,
        *wiring.markdown_commands(place, place.join(folder, "commands"), typed=True),
    )


def make_plugin(place: Place) -> str:
    """Return the plugin that connects opencode to told's hook."""
    text = (Path(__file__).parent / "plugin.js").read_text(encoding="utf-8")
    launch = place.launch
    values = {
        "PROGRAM": launch.interpreter,
        "ARGUMENTS": ["-I", "-S", launch.client],
        "FOLDERS": launch.folders,
    }
    for name, value in values.items():
        text = text.replace(f'"__{name}__"', json.dumps(value), 1)
    return _FULL_PROFILE.sub(lambda found: found[1] if place.profile == wiring.FULL else "", text)


# For a run without a user: no tools, and told's own server off.
_HEADLESS_CONFIG = {"tools": {"*": False}, "mcp": {"told": {"enabled": False}}, "instructions": []}


def _ask(task: HeadlessTask) -> Sequence[str]:
    """Return the arguments for one question: without plugins, so without told's hooks."""
    return ("run", "--pure", "--format", "json", *(("--model", task.model) if task.model else ()))


def _read_answer(output: str) -> HeadlessReply:
    """Return the texts of a run that printed its events."""
    texts, tokens_in, tokens_out = [], 0, 0
    for line in output.splitlines():
        event = as_dict(json.loads(line)) if line.startswith("{") else {}
        part = get_dict(event, "part")
        if event.get("type") == "text":
            texts.append(get_text(part, "text"))
        tokens = get_dict(part, "tokens")
        tokens_in += as_count(tokens.get("input"))
        tokens_out += as_count(tokens.get("output"))
    if not any(texts):
        raise ValueError("no text")
    return HeadlessReply("".join(texts), tokens_in, tokens_out)


AGENT = Agent(
    name="opencode",
    title="opencode",
    label="opencode",
    read=read,
    roots=("$XDG_DATA_HOME|~/.local/share:opencode",),
    layouts=(
        Layout("opencode.db", "database"),
        # opencode rewrites a session's own file after each turn, so its message files need no layout.
        Layout("storage/session/*/*.json", "tree"),
    ),
    tables=(
        Table("database", "session", ("id", "directory", "time_created", "time_updated")),
        Table("database", "message", ("id", "session_id", "time_created", "time_updated", "data")),
        Table("database", "part", ("id", "message_id", "session_id", "data")),
    ),
    advice="Start opencode in a project once; told reads its sessions from then on.",
    wire=wire,
    programs=("opencode",),
    install_signs=(
        "$OPENCODE_CONFIG_DIR",
        "$XDG_CONFIG_HOME|~/.config:opencode",
        "$XDG_DATA_HOME|~/.local/share:opencode",
    ),
    has_hooks=True,
    since={wiring.HOOKS: "1.1.11", wiring.SLASH_COMMANDS: "1.1.11"},  # 1.0 has other folders
    headless=Headless(
        _ask, _read_answer, variables={"OPENCODE_CONFIG_CONTENT": json.dumps(_HEADLESS_CONFIG)}
    ),
    dialect=Dialect(
        {
            "systemtransform": START,
            "chatmessage": PROMPT,
            "sessioncompacting": COMPACT,
            "sessionidle": STOP,
            "dispose": END,
        },
        flat_context,
        flat_verdict,
        takes_context_after_compaction=True,
        replaces_start_brief=True,
    ),
    # The plugin kills the hook after 1 s, which includes the start of the interpreter.
    hook_seconds=dict.fromkeys((START, PROMPT, COMPACT, COMPACTED, HELPER, TOOL), 0.8),
    process=ProcessSign("opencode", "opencode-ai", hooks_in_shell=False, replaces_shell=True),
    shell_signs=(
        ShellSign("OPENCODE", "OPENCODE_SESSION_ID"),  # the process itself
        ShellSign("OPENCODE_CLIENT", "OPENCODE_SESSION_ID"),  # newer versions
    ),
)
