"""Cursor: the editor's state databases, and the transcripts of its agents."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from told.agents import wiring
from told.agents.base import (
    Agent,
    Answer,
    Call,
    Dialect,
    Layout,
    ProcessSign,
    ShellSign,
    Table,
    editor_folders,
    expand_path,
)
from told.agents.claude_code import AGENT as CLAUDE_CODE
from told.agents.cursor.databases import has_conversation, read_global, read_workspace
from told.agents.reading import file_size, make_message, parse_call, read_log
from told.agents.values import as_dict, as_list, get_dict, get_list, get_text, parse_object
from told.agents.wiring import COMPACT, END, OWN, PROMPT, START, STOP, TOOL, Change, Entry, OwnFile, Place
from told.files import NotReadableError, read_document
from told.jsontext import read_json_file
from told.model import AGENT as BY_AGENT
from told.model import USER, Begin, Cursor, Event, Facts, Mark, Message, Problem, Source
from told.pattern import lazy_pattern

_MAX_FOLDERS = 400  # searched for a project; enough for any real path
_QUERY = lazy_pattern(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)
_INJECTED = lazy_pattern(r"<([a-z][a-z_]+)(?: [^>]*)?>.*?</\1>", re.DOTALL)
_MARKER = lazy_pattern(r"(user|assistant|A):\s*|\[(Thinking|Tool call|Tool result)\] ?(.*)")


def read_transcript(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield a conversation, unless the editor's own database has it with more detail."""
    path = source.path
    session = os.path.splitext(os.path.basename(path))[0]
    if _is_in_database(source.root, session):
        yield Begin(session)
        yield Mark(Cursor(file_size(path)))
    elif path.endswith(".jsonl"):
        has_facts = cursor.offset > 0

        def parse(line: dict[str, Any]) -> Iterator[Event]:
            nonlocal has_facts
            events = list(_parse_message(line, session))
            if events and not has_facts:
                has_facts = True
                yield _make_facts(path, session)
            yield from events

        yield from read_log(path, cursor, parse)
    else:
        yield from _read_complete(path, session)


def _read_complete(path: str, session: str) -> Iterator[Event | Problem]:
    size, folder = file_size(path), os.path.dirname(path)
    newer = (f"{session}.jsonl", f"{session}/{session}.jsonl")
    events: list[Event] = []
    if not any(os.path.exists(os.path.join(folder, name)) for name in newer):
        if path.endswith(".txt"):
            try:
                events = list(_parse_text(read_document(path).decode("utf-8", "replace"), session))
            except NotReadableError as error:
                yield Problem(0, str(error))
                return
        else:
            document = read_json_file(path)
            if isinstance(document, Problem):
                yield document
                return
            lines = document if isinstance(document, list) else get_list(document, "messages")
            events = [event for line in lines for event in _parse_message(as_dict(line), session)]
    yield Begin(session)
    if events:
        yield _make_facts(path, session)
    yield from events
    yield Mark(Cursor(size))


def _make_facts(path: str, session: str) -> Facts:
    project, _, below = path.replace(os.sep, "/").rpartition("/agent-transcripts/")
    folders = below.split("/")[:-1]
    parent = folders[-2] if len(folders) > 1 and folders[-1] == "subagents" else ""
    return Facts(session, _find_project(project), parent=parent, kind="subagent" if parent else "")


def _parse_message(line: dict[str, Any], session: str) -> Iterator[Event]:
    message = get_dict(line, "message") or line
    role = line.get("role") or message.get("role")
    content = message.get("content") or message.get("text")
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else as_list(content)
    blocks = [as_dict(part) for part in parts]
    if role == "user":
        texts = [get_text(block, "text") for block in blocks if block.get("type") == "text"]
        yield from _say(session, USER, _strip_injected("\n".join(texts)))
    elif role == "assistant":
        for block in blocks:
            kind, words = block.get("type"), get_text(block, "text")
            if kind == "text":
                yield from _say(session, BY_AGENT, words)
            elif kind == "thinking":
                yield from _say(session, BY_AGENT, get_text(block, "thinking") or words, "step")
            elif kind == "tool_use":
                tool = get_text(block, "name") or "tool"
                yield from parse_call(session, tool, parse_object(block.get("input")), 0)


def _strip_injected(words: str) -> str:
    """Return what the user typed of a message that the editor added to."""
    queries = _QUERY.findall(words)
    return "\n".join(queries) if queries else _INJECTED.sub("", words).strip()


def _say(session: str, who: str, words: str, form: str = "text") -> Iterator[Message]:
    return make_message(session, who, words.replace("[REDACTED]", ""), form=form)


def _parse_text(content: str, session: str) -> Iterator[Event]:
    """Yield the marked sections of a plain-text transcript, without tool results."""
    role, section, head = "", "", ""
    lines: list[str] = []
    is_in_query = False
    for line in content.splitlines():
        is_in_query = (is_in_query or "<user_query>" in line) and "</user_query>" not in line
        marker = None if is_in_query else _MARKER.fullmatch(line)
        if not marker:
            lines.append(line)
            continue
        yield from _parse_section(session, role, section, head, lines)
        lines.clear()
        if marker[1]:
            role, section, head = "user" if marker[1] == "user" else "assistant", "", ""
        else:
            section, head = marker[2], marker[3].strip()
    yield from _parse_section(session, role, section, head, lines)


def _parse_section(session: str, role: str, section: str, head: str, lines: list[str]) -> Iterator[Event]:
    words = "\n".join(lines)
    if role == "user":
        yield from _say(session, USER, _strip_injected(words))
    elif section == "Tool call":
        pairs = (line.strip().partition(": ") for line in lines if line.startswith(" "))
        yield from parse_call(session, head or "tool", {name: value for name, _, value in pairs}, 0)
    elif section == "Thinking":
        yield from _say(session, BY_AGENT, head, "step")
        yield from _say(session, BY_AGENT, words)
    elif role == "assistant" and not section:
        yield from _say(session, BY_AGENT, words)


def _is_in_database(root: str, session: str) -> bool:
    """Tell whether the editor's database has the conversation too."""
    home = os.path.dirname(root)
    here = os.environ if os.path.realpath(os.environ.get("HOME", "")) == os.path.realpath(home) else {}
    paths = (
        os.path.join(expand_path(folder, {**here, "HOME": home}), "User/globalStorage/state.vscdb")
        for folder in editor_folders("Cursor")
    )
    return any(os.path.exists(path) and has_conversation(path, session) for path in paths)


def _find_project(transcripts: str) -> str:
    """Return the project of a folder below `projects/`, or ""."""
    trusted = as_dict(read_json_file(os.path.join(transcripts, ".workspace-trusted")))
    return get_text(trusted, "workspacePath") or _resolve_slug(os.path.basename(transcripts))


def _resolve_slug(slug: str, root: str = "/") -> str:
    """Return the only existing folder that a slug can mean."""
    if os.name == "nt" and re.match(r"[A-Za-z]-", slug):
        root, slug = f"{slug[0]}:\\", slug[2:]
    found: list[str] = []
    waiting = [(root, slug)]
    for _ in range(_MAX_FOLDERS):
        if not waiting:
            return found[0] if len(found) == 1 else ""
        folder, rest = waiting.pop()
        for name in _list_folders(folder):
            part = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")
            path = os.path.join(folder, name)
            if part and part == rest:
                found.append(path)
            elif part and rest.startswith(f"{part}-"):
                waiting.append((path, rest[len(part) + 1 :]))
    return ""


def _list_folders(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries if entry.is_dir()]
    except OSError:
        return []


_EVENTS = (
    ("sessionStart", START), ("beforeSubmitPrompt", PROMPT), ("preCompact", COMPACT), ("stop", STOP),
    ("sessionEnd", END),
)  # fmt: skip
_MAX_HOOKS_FILE = 1_000_000  # bytes


def read(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield the conversations of one database or transcript."""
    readers = {"global": read_global, "workspace": read_workspace}
    yield from readers.get(source.layout, read_transcript)(source, cursor)


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Cursor's files."""
    folder = place.in_project(".cursor") if place.is_project else place.in_home(".cursor")
    path = place.join(folder, "hooks.json")

    def hook(event: str) -> dict[str, Any]:
        command = wiring.shell_line(place, AGENT.name, event)
        return {"command": command, "timeout": wiring.hook_timeout(event)}

    hooks = wiring.hook_entries(place, path, hook, _EVENTS, "preToolUse")
    head = f"---\n# {OWN}\ndescription: what told remembers\nalwaysApply: true\n---\n\n"
    rule = OwnFile(place.join(folder, "rules", "told.mdc"), f"{head}{place.instructions}\n")
    return (
        *((Entry(path, ("version",), 1, default=True),) if hooks else ()),
        *hooks,
        *wiring.mcp_entry(place, place.join(folder, "mcp.json")),
        *((rule,) if place.is_project else ()),
    )


def is_duplicate(call: Call, payload: Mapping[str, Any], environ: Mapping[str, str]) -> bool:
    """Tell whether Cursor runs this hook beside its own."""
    if call.agent != CLAUDE_CODE.name or not ("cursor_version" in payload or "CURSOR_VERSION" in environ):
        return False
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    roots = (home, environ.get("CURSOR_PROJECT_DIR"), call.cwd)
    return any(root and _has_own_hook(os.path.join(root, ".cursor", "hooks.json")) for root in roots)


def _has_own_hook(path: str) -> bool:
    try:
        return wiring.has_mark(read_document(path, _MAX_HOOKS_FILE).decode(errors="replace"))
    except NotReadableError:
        return False


def _context(call: Call, text: str) -> Answer:
    return {"additional_context": text} | ({"continue": True} if call.event == PROMPT else {})


def _verdict(_call: Call, decision: str, reason: str) -> Answer:
    return {"permission": decision, "user_message": reason, "agent_message": reason}


AGENT = Agent(
    name="cursor",
    title="Cursor",
    label="cursor",
    read=read,
    roots=(*editor_folders("Cursor"), "~/.cursor"),
    layouts=(
        Layout("User/globalStorage/state.vscdb", "global"),
        Layout("User/workspaceStorage/*/state.vscdb", "workspace"),
        *(
            Layout(f"projects/*/agent-transcripts/**/*.{extension}", "transcript")
            for extension in ("jsonl", "txt", "json")
        ),
    ),
    tables=(
        Table("global", "cursorDiskKV", ("key", "value")),
        Table("workspace", "ItemTable", ("key", "value")),
    ),
    verified=False,
    wire=wire,
    programs=("cursor", "cursor-agent"),
    install_signs=("~/.cursor",),
    has_hooks=True,
    since={wiring.HOOKS: "1.7"},
    limits="It runs the hooks of Claude Code as well, and told answers once. Its own were never seen run.",
    dialect=Dialect(
        {"beforesubmitprompt": PROMPT, "beforeshellexecution": TOOL},
        _context,
        _verdict,
        is_duplicate=is_duplicate,
    ),
    process=ProcessSign("cursor-agent"),
    shell_signs=(
        ShellSign("CURSOR_AGENT", rank=2),  # commands of the agent, not the editor's terminal
        ShellSign("CURSOR_TRANSCRIPT_PATH", rank=2),  # hooks
    ),
    instruction_files=(".cursorrules", ".cursor/rules/*.mdc", ".cursor/rules/*.md"),
)
