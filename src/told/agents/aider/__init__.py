"""Aider: one Markdown file in each project, to which every chat is appended."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from told.agents.base import Agent, Dialect, Layout, ProcessSign, no_context
from told.agents.reading import describe_call, make_message
from told.agents.values import local_millis
from told.agents.wiring import Block, Change, Place
from told.hashing import blake2b
from told.jsontext import read_raw_lines
from told.model import AGENT as BY_AGENT
from told.model import USER, Begin, Cursor, Event, Facts, Mark, Message, Problem, Ref, Source, Touch
from told.pattern import lazy_pattern

# Aider ends what it prints and what the user typed with two spaces; a model's own Markdown does not.
_END = "  "
_PROMPT = "#### "
_PRINTED = "> "
# Commands with a prompt; others (/add, /drop, /run …) are for Aider and not for the model.
_ASK_COMMAND = lazy_pattern(r"/(?:ask|code|architect|context)\s+(.+)", re.DOTALL)
_MODEL = lazy_pattern(r"(?:Main )?[Mm]odel: (\S+)")
_ADDED = lazy_pattern(r"Added (.+) to the chat\.?")
_APPLIED = lazy_pattern(r"Applied edit to (.+)")
_COMMIT = lazy_pattern(r"Commit ([0-9a-f]{7,40}) (.*)")
_CREATE = lazy_pattern(r"Create new file\?.*: ?y(?:es)?", re.IGNORECASE)
_CODE_BLOCK = lazy_pattern(r"^(```[^\n]*\n)(.*?)(^```|\Z)", re.DOTALL | re.MULTILINE)
_MAX_BLOCK = 60  # lines of one code block worth storing
_STARTED = lazy_pattern(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*")
_STATE = lazy_pattern(r"(\d{1,15}) (\d{1,15})")


def read(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield the chats from the cursor on, a grown chat completely.

    A cursor's offset is how far the file was read, its state where the last chat begins.
    """
    start = _find_start(source.path, cursor)
    if start is None:
        return
    offset, line = begin = start
    chat: _Chat | None = None
    for raw, end in read_raw_lines(source.path, offset):
        if isinstance(raw, Problem):
            yield raw if raw.line == 0 else Problem(line + 1, raw.reason)
        else:
            content = raw.decode("utf-8", errors="replace").rstrip("\r\n")
            if started := _STARTED.fullmatch(content):
                if chat is not None:
                    yield from chat.flush()
                    yield Mark(Cursor(offset, line, f"{offset} {line}"))
                begin = offset, line
                chat = _Chat(source.path, started[1])
                yield from chat.begin()
            elif chat is not None:
                yield from chat.parse_line(content)
        line += 1
        offset = end
    if chat is not None:
        yield from chat.flush()
    if offset > start[0]:
        yield Mark(Cursor(offset, line, f"{begin[0]} {begin[1]}"))


def _find_start(path: str, cursor: Cursor) -> tuple[int, int] | None:
    """Return the offset and line to continue from; None if nothing is new."""
    try:
        size = os.stat(path).st_size
    except OSError:
        return 0, 0
    if size and size == cursor.offset:
        return None
    state = _STATE.fullmatch(cursor.state)
    if size > cursor.offset and state and int(state[1]) <= cursor.offset:
        return int(state[1]), int(state[2])
    return 0, 0


class _Chat:
    """Parse the lines of one chat."""

    def __init__(self, path: str, started: str) -> None:
        self._folder = os.path.dirname(path)
        self._at = local_millis(started)
        digits = "".join(filter(str.isdigit, started))
        file = blake2b(os.fsencode(path), digest_size=4).hexdigest()
        self._session = f"{file}-{digits[:8]}-{digits[8:]}"
        self._prompt: list[str] = []
        self._reply: list[str] = []
        self._in_printed = False
        self._last_printed = ""
        self._created: set[str] = set()

    def begin(self) -> Iterator[Event]:
        """Yield what is known from the line that starts the chat."""
        yield Begin(self._session)
        yield Facts(self._session, cwd=self._folder, started=self._at)

    def parse_line(self, content: str) -> Iterator[Event]:
        """Yield the events that a line completes."""
        if content.startswith(_PROMPT) and content.endswith(_END):
            self._in_printed = False
            yield from self._flush_reply()
            self._prompt.append(content.removeprefix(_PROMPT).removesuffix(_END))
        elif self._in_printed:
            self._in_printed = not content.endswith(_END)
        elif content.startswith(_PRINTED) and content.endswith(_END):
            yield from self.flush()
            yield from self._parse_printed(content.removeprefix(_PRINTED).strip())
        elif content.startswith("> #"):  # an error report over several lines, of which only one is marked
            yield from self.flush()
            self._in_printed = True
        else:
            yield from self._flush_prompt()
            self._reply.append(content)

    def flush(self) -> Iterator[Event]:
        """Yield the prompt and the reply so far."""
        yield from self._flush_prompt()
        yield from self._flush_reply()

    def _flush_prompt(self) -> Iterator[Event]:
        said = "\n".join(self._prompt).strip()
        self._prompt = []
        if said.startswith("/"):
            ask = _ASK_COMMAND.fullmatch(said)
            said = ask[1].strip() if ask else ""
        if said != "<blank>" and not said.startswith("!"):
            yield from make_message(self._session, USER, said, at=self._at)

    def _flush_reply(self) -> Iterator[Event]:
        said = _CODE_BLOCK.sub(_shorten_block, "\n".join(self._reply))
        self._reply = []
        yield from make_message(self._session, BY_AGENT, said, at=self._at)

    def _parse_printed(self, printed: str) -> Iterator[Event]:
        before, self._last_printed = self._last_printed, printed
        if model := _MODEL.match(printed):
            yield Facts(self._session, model=model[1])
        elif added := _ADDED.fullmatch(printed):
            yield self._touch(added[1], "read")
        elif _CREATE.fullmatch(printed):
            self._created.add(before)
        elif applied := _APPLIED.fullmatch(printed):
            how = "create" if applied[1] in self._created else "edit"
            self._created.discard(applied[1])
            yield self._touch(applied[1], how)
        elif commit := _COMMIT.fullmatch(printed):
            yield Ref(self._session, "commit", commit[1], self._at)
            subject = commit[2].replace('"', "'")
            line = describe_call("aider", {"command": f'git commit -m "{subject}"'})
            yield Message(self._session, BY_AGENT, line, self._at, form="step")

    def _touch(self, path: str, how: str) -> Touch:
        return Touch(self._session, os.path.normpath(os.path.join(self._folder, path)), how, self._at)


def _shorten_block(block: re.Match[str]) -> str:
    """Cut the middle of a long code block."""
    lines = block[2].split("\n")
    is_closed = bool(block[3])
    if is_closed:
        lines = lines[:-1]
    if len(lines) > _MAX_BLOCK:
        half = _MAX_BLOCK // 2
        lines = [*lines[:half], f"… {len(lines) - _MAX_BLOCK} lines …", *lines[-half:]]
    return block[1] + "\n".join([*lines, block[3]] if is_closed else lines)


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes for Aider: nothing for all projects, and no YAML."""
    return (Block(place.in_project("CONVENTIONS.md"), place.guide),) if place.is_project else ()


AGENT = Agent(
    name="aider",
    title="Aider",
    label="aider",
    read=read,
    project_layouts=(Layout(".aider.chat.history.md"),),
    advice="Run aider in a project once; its chat history file stays in that folder.",
    wire=wire,
    process=ProcessSign("aider"),
    programs=("aider",),
    limits="It has neither hooks nor MCP, and is wired in a project only: --scope project.",
    todo="Start aider with --read CONVENTIONS.md, or say so in .aider.conf.yml.",
    shell_tools=("aider",),  # the reader's name for its commits
    dialect=Dialect(context=no_context),
    instruction_files=("CONVENTIONS.md",),
)
