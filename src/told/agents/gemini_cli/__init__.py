"""Gemini CLI: one file for each chat, in a folder for each project."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
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
)
from told.agents.headless import Headless, HeadlessReply, HeadlessTask
from told.agents.reading import FAILED, REFUSED, describe_call, file_size, remove_tags
from told.agents.values import (
    as_count,
    as_dict,
    as_list,
    as_millis,
    as_text,
    get_dict,
    get_dicts,
    get_list,
    get_text,
)
from told.agents.wiring import END, OWN, PROMPT, START, STOP, TOOL, Block, Change, OwnFile, Place
from told.files import NotReadableError, read_document
from told.jsontext import Line, read_json_file, read_json_lines
from told.model import AGENT as BY_AGENT
from told.model import USER, Begin, Checkpoint, Cursor, Event, Facts, Mark, Message, Problem, Source, Touch

_HOW = {
    "read_file": "read", "write_file": "create", "replace": "edit", "edit": "edit", "notebook_edit": "edit",
}  # fmt: skip
_PATHS = ("file_path", "absolute_path", "notebook_path", "path")
_ENDINGS = {"error": FAILED, "cancelled": REFUSED}
_EXIT_CODE = "\nExit Code: "
# Lines that Gemini CLI writes after a command's exit code.
_AFTER_EXIT_CODE = ("Signal:", "Error:", "Background PIDs:", "Process Group PGID:", "</untrusted_context>")
_INJECTED = ("hook_context", "session_context", "loaded_context", "system-reminder")
_MAX_PATH = 4096


def read(source: Source, _cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield a complete chat; nothing if it has no typed prompt."""
    size = file_size(source.path)
    chat = _Chat()
    yield from chat.load(source.path)
    folder = os.path.dirname(source.path)
    parent = os.path.basename(folder) if source.layout == "subagent" else ""
    session = get_text(chat.head, "sessionId") or os.path.splitext(os.path.basename(source.path))[0]
    events = list(_parse_messages(chat, session, bool(parent) or chat.head.get("kind") == "subagent"))
    if any(isinstance(event, Message) and (event.who == USER or parent) for event in events):
        models = (get_text(message, "model") for message in chat.messages.values())
        yield Begin(session)
        yield Facts(
            session,
            cwd=_find_folder(source, chat.head),
            title=get_text(chat.head, "summary"),
            started=as_millis(chat.head.get("startTime")),
            parent=parent,
            kind="subagent" if parent else "",
            model=next(filter(None, models), ""),
        )
        yield from events
    yield Mark(Cursor(size))


def find_touched(session: str, name: str, given: dict[str, Any], at: int) -> Iterator[Touch]:
    """Yield the file that a tool call reads or changes."""
    path = get_text(given, *_PATHS)
    if path and name in _HOW:
        yield Touch(session, path, _HOW[name], at)


class _Chat:
    """A chat's head, and its messages by id in order."""

    def __init__(self) -> None:
        self.head: dict[str, Any] = {}
        self.messages: dict[str, dict[str, Any]] = {}

    def load(self, path: str) -> Iterator[Problem]:
        """Read a file; yield its problems."""
        if path.endswith(".json"):
            document = read_json_file(path)
            if isinstance(document, dict):
                self._add(document)
            else:
                yield document if isinstance(document, Problem) else Problem(0, "not a JSON object")
            return
        for found in read_json_lines(path, Cursor()):
            if isinstance(found, Line):
                self._add(found.value)
            elif isinstance(found, Problem):
                yield found

    def _add(self, record: dict[str, Any]) -> None:
        if isinstance(record.get("$set"), dict):
            record = record["$set"]
        if isinstance(record.get("$rewindTo"), str):
            keys = list(self.messages)
            if record["$rewindTo"] in self.messages:
                for key in keys[keys.index(record["$rewindTo"]) :]:
                    del self.messages[key]
        elif isinstance(record.get("id"), str):
            self.messages[record["id"]] = record
        else:
            self.head |= {name: value for name, value in record.items() if name != "messages" and value}
            self._add_context(get_list(record, "messages"))

    def _add_context(self, messages: list[Any]) -> None:
        """Add the messages that the model sees from here on.

        A compression leaves out old messages, which were said nevertheless. It may copy others under new ids:
        one with a new id and a known text is a copy.
        """
        said = {(get_text(message, "type"), _text_of(message)) for message in self.messages.values()}
        for number, message in enumerate(map(as_dict, messages)):
            key = get_text(message, "id") or f"#{number}"
            if key in self.messages or (get_text(message, "type"), _text_of(message)) not in said:
                self.messages[key] = message


def _text_of(message: dict[str, Any]) -> str:
    """Return a message's text as it was shown."""
    shown = message.get("displayContent") or message.get("content")
    if isinstance(shown, str):
        return shown
    parts = [shown] if isinstance(shown, dict) else as_list(shown)
    texts = (as_text(block) or get_text(block, "text") for block in parts)
    return "\n\n".join(text for text in texts if text)


def _parse_messages(chat: _Chat, session: str, is_helper: bool) -> Iterator[Event]:
    prompts = checkpoints = 0
    for message in chat.messages.values():
        at = as_millis(message.get("timestamp"))
        key = get_text(message, "id")
        if message.get("type") == "gemini":
            yield from _parse_answer(message, session, at, key)
        elif message.get("type") == "user":
            words = remove_tags(_text_of(message), _INJECTED)
            is_command = words.startswith(("/", "?")) and len(words.split()) == 1
            if words.startswith("<") and "<state_snapshot>" in words:  # after thoughts, if any
                checkpoints += 1
                yield Checkpoint(session, checkpoints, "Compaction summary", words, at)
            # A helper has one prompt; later ones are Gemini CLI's own.
            elif words and not is_command and not (is_helper and prompts):
                prompts += 1
                yield Message(session, BY_AGENT if is_helper else USER, words, at, key)


def _parse_answer(message: dict[str, Any], session: str, at: int, key: str) -> Iterator[Event]:
    for number, thought in enumerate(get_dicts(message, "thoughts")):
        parts = (get_text(thought, "subject"), get_text(thought, "description"))
        if words := ": ".join(part for part in parts if part):
            yield Message(session, BY_AGENT, words, at, f"{key}#thought{number}", "step")
    if words := _text_of(message).strip():
        yield Message(session, BY_AGENT, words, at, key)
    for call in get_dicts(message, "toolCalls"):
        name, given = get_text(call, "name"), get_dict(call, "args")
        when = as_millis(call.get("timestamp")) or at
        yield Message(session, BY_AGENT, describe_call(name, given), when, get_text(call, "id"), "step")
        if how := _find_ending(call):
            yield Message(session, BY_AGENT, how, when, form="step")
        if get_text(call, "status") not in _ENDINGS:
            yield from find_touched(session, name, given, when)


def _find_ending(call: dict[str, Any]) -> str:
    """Return how a call ended, if it did not succeed."""
    how = _ENDINGS.get(get_text(call, "status"), "")
    if how or call.get("name") != "run_shell_command":
        return how
    for part in get_list(call, "result"):
        response = get_dict(as_dict(part).get("functionResponse"), "response")
        _, found, rest = get_text(response, "output").rpartition(_EXIT_CODE)
        code, *after = rest.partition("\n\n")[0].split("\n")
        is_last = all(not line or line.startswith(_AFTER_EXIT_CODE) for line in after)
        if found and is_last and code.strip().lstrip("-").isdecimal() and code.strip() != "0":
            return FAILED
    return ""


def _find_folder(source: Source, head: dict[str, Any]) -> str:
    """Return the project's folder from the chat or files beside it."""
    named = next((path for path in get_list(head, "directories") if isinstance(path, str) and path), "")
    return named or _find_listed(source, get_text(head, "projectHash")) or _find_noted(source)


def _project_name(source: Source) -> str:
    """Return the name of the project's folder below `tmp`."""
    return os.path.relpath(source.path, os.path.join(source.root, "tmp")).split(os.sep)[0]


def _find_listed(source: Source, digest: str) -> str:
    projects = get_dict(read_json_file(os.path.join(source.root, "projects.json")), "projects")
    by_name = (path for path, name in projects.items() if name == _project_name(source))
    by_hash = (path for path in projects if digest and _hash(path) == digest)
    return next(by_name, "") or next(by_hash, "")


def _find_noted(source: Source) -> str:
    path = os.path.join(source.root, "tmp", _project_name(source), ".project_root")
    try:
        return read_document(path, _MAX_PATH).decode(errors="replace").strip()
    except NotReadableError:
        return ""


def _hash(path: str) -> str:
    return hashlib.sha256(path.encode(errors="replace")).hexdigest()


# Not PreCompress: it comes before every model turn, not only before a compaction.
_EVENTS = (("SessionStart", START), ("BeforeAgent", PROMPT), ("AfterAgent", STOP), ("SessionEnd", END))


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Gemini CLI's files."""
    if place.is_project:
        folder = place.in_project(".gemini")
        instructions = place.in_project("GEMINI.md")
    else:
        folder = place.join(place.folder("GEMINI_CLI_HOME"), ".gemini")
        instructions = place.join(folder, "GEMINI.md")
    settings = place.join(folder, "settings.json")

    def group(event: str) -> dict[str, Any]:
        hook = {
            "name": "told",
            "type": "command",
            "command": wiring.node_line(place, AGENT.name, event),
            "timeout": 1000 * wiring.hook_timeout(event),
        }
        return wiring.hook_group(event, hook, "run_shell_command|write_file|replace")

    return (
        *wiring.hook_entries(place, settings, group, _EVENTS, "BeforeTool"),
        *wiring.mcp_entry(place, settings),
        Block(instructions, place.guide),  # Antigravity reads the same file, and has no hooks
        *_make_commands(place, place.join(folder, "commands")),
    )


def _make_commands(place: Place, folder: str) -> tuple[Change, ...]:
    """Return a TOML file for each slash command."""
    made = []
    for slash in place.slash:
        prompt = wiring.typed_command(slash, "{{args}}")
        text = f"# {OWN}\ndescription = \"{slash.about}\"\nprompt = '''\n{prompt}\n'''\n"
        made.append(OwnFile(place.join(folder, "mem", f"{slash.name}.toml"), text))
    return tuple(made)


def _verdict(_call: Call, decision: str, reason: str) -> Answer:
    """Answer a tool call; it can only be denied."""
    return {"decision": "deny", "reason": reason} if decision == "deny" else {"systemMessage": reason}


# For a run without a user: no tools, hooks, servers or instruction files.
_HEADLESS_SETTINGS = {
    "tools": {"core": []},
    "hooksConfig": {"enabled": False},
    "mcp": {"allowed": []},
    "context": {"fileName": ["no-instructions"]},
}


def _ask(task: HeadlessTask) -> Sequence[str]:
    """Return the arguments for one question."""
    model = ("--model", task.model) if task.model else ()
    limits = ("--skip-trust", "--allowed-mcp-server-names", "none", "--extensions", "none")
    return (*model, *limits, "--output-format", "json", "-p", "Answer with the JSON object only.")


def _read_answer(output: str) -> HeadlessReply:
    """Return the response of a run with JSON output."""
    found = json.loads(output[output.index("{") :])
    if found.get("error") or not get_text(found, "response"):
        raise ValueError("no response")
    models = get_dict(found.get("stats"), "models").values()
    tokens = [get_dict(one, "tokens") for one in models]
    return HeadlessReply(
        found["response"],
        sum(as_count(one.get("prompt")) for one in tokens),
        sum(as_count(one.get("candidates")) + as_count(one.get("thoughts")) for one in tokens),
    )


AGENT = Agent(
    name="gemini-cli",
    title="Gemini CLI",
    label="gemini",
    read=read,
    roots=("$GEMINI_CLI_HOME/.gemini", "~/.gemini"),
    layouts=(
        Layout("tmp/*/chats/*.jsonl", "session"),
        Layout("tmp/*/chats/*.json", "session"),
        Layout("tmp/*/chats/*/*.jsonl", "subagent"),
    ),
    advice="Run gemini once in a project; it keeps chats below ~/.gemini/tmp.",
    wire=wire,
    programs=("gemini",),
    install_signs=("$GEMINI_CLI_HOME/.gemini/tmp", "~/.gemini/tmp"),
    has_hooks=True,
    since={wiring.HOOKS: "0.26.0"},  # the first that has them turned on
    headless=Headless(
        _ask, _read_answer, "flash-lite", files={".gemini/settings.json": json.dumps(_HEADLESS_SETTINGS)}
    ),
    limits="Nothing tells told of a compaction in it.",
    dialect=Dialect(
        {"beforeagent": PROMPT, "afteragent": STOP, "beforetool": TOOL},
        verdict=_verdict,
        forgets_context_on_resume=True,
        hides_compaction=True,
    ),
    # Rank 1: a fork sets them too.
    process=ProcessSign("gemini", "@google/gemini-cli"),
    shell_signs=(
        ShellSign("GEMINI_CLI", "GEMINI_SESSION_ID", rank=1, in_hooks=False),  # every command
        ShellSign("GEMINI_SESSION_ID", "GEMINI_SESSION_ID", rank=1),  # hooks
    ),
    client_words=("gemini",),
    instruction_files=("GEMINI.md", "**/GEMINI.md"),
)
