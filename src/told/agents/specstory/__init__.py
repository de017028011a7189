"""SpecStory: Markdown copies of other agents' sessions, in their project's folder."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from told.agents.base import Agent, Layout
from told.agents.reading import describe_call
from told.agents.values import as_millis
from told.files import NotReadableError, read_document
from told.model import AGENT as BY_AGENT
from told.model import USER, Begin, Cursor, Event, Facts, Mark, Message, Problem, Source, Touch
from told.pattern import lazy_pattern

_ROLE = lazy_pattern(
    r"_\*\*(User|Agent|Assistant)(?P<side> - sidechain)?(?: \((?P<about>[^)]*)\))?( - sidechain)?\*\*_\s*"
)
_TIME = lazy_pattern(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d\S*")
_MODEL = lazy_pattern(r"(?:model )?([\w./:-]*[A-Za-z][\w./:-]*)")
_FENCE = lazy_pattern(r"\s{0,3}(`{3,}|~{3,})(.*)")
_TOOL = lazy_pattern(
    r'<tool-use\b[^>]{0,200}\bdata-tool-type="([^">]{0,80})"[^>]{0,200}\bdata-tool-name="([^">]{0,200})"'
)
_SUMMARY = lazy_pattern(r"<summary>(.*?)</summary>")
_TAG = lazy_pattern(r"</?(?:think|details|tool-use)\b[^>]*>|<summary>.*?</summary>")
_CODE = lazy_pattern(r"\s*`([^`]+)`\s*")
_NAMED = lazy_pattern(r"(?:Read|Edit|Create|Write|Delete) file: (.+)")

# Text that agents put into a user's message.
_INJECTED = lazy_pattern(
    r"<(system-reminder|local-command-\w+|command-\w+|environment_context|user_instructions|hook_context)\b[^>]{0,400}>"
    r".*?(?:</\1>|\Z)",
    re.DOTALL,
)
_INTERRUPTED = "[Request interrupted by user"

_CREATE_TOOLS = ("write", "write_file", "create_file", "create", "write_to_file")
_HEADER_LINES = 12
_HEADER_WIDTH = 500
_SESSION = lazy_pattern(r"<!--.*?\bSession ([0-9A-Za-z][0-9A-Za-z_-]{7,63})(?: \(([^)]{10,40})\))?.*-->")
_HEADING = lazy_pattern(r"# (.+?)(?: \((\d{4}-\d\d-\d\d[^)]*)\))?\s*")
_DATE = lazy_pattern(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d")
_FILE_NAME = lazy_pattern(r"(\d{4}-\d\d-\d\d)_(\d\d)-(\d\d)(?:-(\d\d))?(Z|[+-]\d{4})?.*")


class _Parser:
    """Parse a session's lines, with the turn, block and text so far."""

    def __init__(self, facts: Facts) -> None:
        self._session, self._cwd = facts.session, facts.cwd
        self._who = ""
        self._at = facts.started
        self._model = ""
        self._is_side = False
        self._block = "text"  # or "think" or "tool"
        self._fence = ""
        self._lines: list[str] = []

    def parse_line(self, line: str) -> Iterator[Event]:
        """Yield the events that a line completes."""
        # Tool output may contain such headings; in a message they count even after an unclosed fence.
        role = None if self._fence else _ROLE.fullmatch(line)
        if role:
            yield from self.flush()
            yield from self._start_turn(role)
        elif not self._who:
            return
        elif self._block == "text" and line.startswith(("<think>", "<tool-use")):
            yield from self.flush()
            self._block = "think" if line.startswith("<think>") else "tool"
            yield from self._parse_inside(line)
        elif self._block != "text":
            yield from self._parse_inside(line)
        else:
            self._lines.append(line)

    def flush(self) -> Iterator[Event]:
        """Yield the events of the current block."""
        lines, block = self._lines, self._block
        self._lines, self._block, self._fence = [], "text", ""
        if block == "tool":
            yield from self._parse_tool(lines)
            return
        said = _TAG.sub("", "\n".join(lines)) if block == "think" else "\n".join(_strip_rules(lines))
        if self._who == USER:
            said = _INJECTED.sub("", said)
        said = said.strip()
        if not said or said.startswith(_INTERRUPTED):
            return
        is_step = block == "think" or self._is_side
        who = BY_AGENT if is_step else self._who
        yield Message(self._session, who, said, self._at, form="step" if is_step else "text")

    def _start_turn(self, role: re.Match[str]) -> Iterator[Event]:
        self._who = USER if role[1] == "User" else BY_AGENT
        self._is_side = bool(role["side"] or role[4])
        about = role["about"] or ""
        time = _TIME.search(about)
        self._at = max(self._at, as_millis(time[0].rstrip(",")) if time else 0)
        named = _MODEL.match(about[: time.start()].strip() if time else about)
        if self._who == BY_AGENT and named and named[1] != self._model and not self._is_side:
            self._model = named[1]
            yield Facts(self._session, model=self._model)

    def _parse_inside(self, line: str) -> Iterator[Event]:
        self._follow_fence(line)
        self._lines.append(line)
        # A closing tag inside tool output ends the block early, which loses less than reading on.
        if ("</think>" if self._block == "think" else "</tool-use>") in line:
            yield from self.flush()

    def _follow_fence(self, line: str) -> None:
        fence = _FENCE.match(line)
        if fence is None:
            return
        if not self._fence:
            self._fence = fence[1]
        elif fence[1].startswith(self._fence) and not fence[2].strip():
            self._fence = ""

    def _parse_tool(self, lines: list[str]) -> Iterator[Event]:
        content = "\n".join(lines[:40])
        tool = _TOOL.search(content)
        if tool is None:
            return
        kind, name = tool[1], tool[2]
        argument = _find_argument(content)
        yield Message(
            self._session, BY_AGENT, describe_call(name, {"command": argument}), self._at, form="step"
        )
        if kind in ("read", "write") and argument:
            how = "read" if kind == "read" else "create" if name.lower() in _CREATE_TOOLS else "edit"
            path = os.path.normpath(os.path.join(self._cwd, argument))
            yield Touch(self._session, path, how, self._at)


def _find_argument(content: str) -> str:
    """Return the command or path of a tool call."""
    summary = _SUMMARY.search(content)
    if summary and (named := _NAMED.search(summary[1])):
        return named[1].split(" • ")[0].strip().strip("`")
    in_command = False
    for line in content[summary.end() if summary else 0 :].split("\n"):
        if in_command:
            return line.strip()
        if code := _CODE.fullmatch(line):
            return code[1].strip()
        fence = _FENCE.match(line)
        if fence and fence[2].strip() not in ("bash", "sh", "shell"):
            break  # the output follows
        in_command = fence is not None
    return ""


def _strip_rules(lines: list[str]) -> list[str]:
    """Remove the rules that SpecStory draws around a message."""
    first, last = 0, len(lines)
    while first < last and lines[first].strip() in ("", "---"):
        first += 1
    while last > first and lines[last - 1].strip() in ("", "---"):
        last -= 1
    return lines[first:last]


def read(source: Source, _cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield the complete session of a file."""
    try:
        content = read_document(source.path)
    except NotReadableError as error:
        yield Problem(0, str(error))
        return
    markdown = content.decode("utf-8", errors="replace").removeprefix("\ufeff")
    lines = markdown.replace("\r\n", "\n").split("\n")
    facts = _parse_header(source.path, [line[:_HEADER_WIDTH] for line in lines[:_HEADER_LINES]])
    yield Begin(facts.session)
    yield facts
    parser = _Parser(facts)
    for line in lines:
        yield from parser.parse_line(line)
    yield from parser.flush()
    yield Mark(Cursor(len(content)))


def _parse_header(path: str, header: list[str]) -> Facts:
    name = os.path.basename(path).removesuffix(".md")
    session, started, title = name, 0, ""
    for line in header:
        if line.startswith("_**"):
            break
        if found := _SESSION.search(line):
            session, started = found[1], as_millis(found[2]) or started
        elif (heading := _HEADING.fullmatch(line)) and not title:
            started = started or as_millis(heading[2] or heading[1])
            title = "" if _DATE.match(heading[1]) else heading[1].strip()
    folder = os.path.dirname(os.path.dirname(os.path.dirname(path)))
    return Facts(session, cwd=folder, title=title, started=started or _time_in_name(name))


def _time_in_name(name: str) -> int:
    found = _FILE_NAME.fullmatch(name)
    return as_millis(f"{found[1]}T{found[2]}:{found[3]}:{found[4] or '00'}{found[5] or 'Z'}") if found else 0


AGENT = Agent(
    name="specstory",
    title="SpecStory",
    label="specstory",
    read=read,
    project_layouts=(Layout(".specstory/history/*.md"),),
    verified=False,
    advice="Run specstory sync in a project once; it writes the sessions into .specstory/history.",
)
