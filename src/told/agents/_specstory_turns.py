"""The turns in SpecStory's Markdown: role headings, thoughts, tool calls and plain text."""

from __future__ import annotations

import os
import re

from told.agents.text import millis, step
from told.model import AGENT, USER, Event, Facts, Said, Touch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_ROLE = re.compile(
    r"_\*\*(User|Agent|Assistant)(?P<side> - sidechain)?(?: \((?P<about>[^)]*)\))?( - sidechain)?\*\*_\s*"
)
_TIME = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d\S*")
_MODEL = re.compile(r"(?:model )?([\w./:-]*[A-Za-z][\w./:-]*)")
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})(.*)")
_TOOL = re.compile(
    r'<tool-use\b[^>]{0,200}\bdata-tool-type="([^">]{0,80})"[^>]{0,200}\bdata-tool-name="([^">]{0,200})"'
)
_SUMMARY = re.compile(r"<summary>(.*?)</summary>")
_TAG = re.compile(r"</?(?:think|details|tool-use)\b[^>]*>|<summary>.*?</summary>")
_CODE = re.compile(r"\s*`([^`]+)`\s*")
_NAMED = re.compile(r"(?:Read|Edit|Create|Write|Delete) file: (.+)")

# What other agents put into a user's message themselves.
_INJECTED = re.compile(
    r"<(system-reminder|local-command-\w+|command-\w+|environment_context|user_instructions|hook_context)\b[^>]{0,400}>"
    r".*?(?:</\1>|\Z)",
    re.DOTALL,
)
_INTERRUPTED = "[Request interrupted by user"

_CREATING = ("write", "write_file", "create_file", "create", "write_to_file")


def turns(known: Facts, lines: list[str]) -> Iterator[Event]:
    """Yield what was said and touched."""
    reading = _Reading(known)
    for line in lines:
        yield from reading.take(line)
    yield from reading.flush()


class _Reading:
    """Where in the file the reading stands: whose turn, which block, and the text so far."""

    def __init__(self, known: Facts) -> None:
        self._session, self._cwd = known.session, known.cwd
        self._who = ""
        self._at = known.started
        self._model = ""
        self._is_side = False
        self._block = "text"  # or "think" or "tool"
        self._fence = ""
        self._lines: list[str] = []

    def take(self, line: str) -> Iterator[Event]:
        """Take one line; whatever it completes is yielded."""
        # Tool output may hold such headings; in a message they count even after a fence left open.
        role = None if self._fence else _ROLE.fullmatch(line)
        if role:
            yield from self.flush()
            yield from self._turn(role)
        elif not self._who:
            return
        elif self._block == "text" and line.startswith(("<think>", "<tool-use")):
            yield from self.flush()
            self._block = "think" if line.startswith("<think>") else "tool"
            yield from self._inside(line)
        elif self._block != "text":
            yield from self._inside(line)
        else:
            self._lines.append(line)

    def flush(self) -> Iterator[Event]:
        """Yield the block that was being read."""
        lines, block = self._lines, self._block
        self._lines, self._block, self._fence = [], "text", ""
        if block == "tool":
            yield from self._tool(lines)
            return
        said = _TAG.sub("", "\n".join(lines)) if block == "think" else "\n".join(_without_rules(lines))
        if self._who == USER:
            said = _INJECTED.sub("", said)
        said = said.strip()
        if not said or said.startswith(_INTERRUPTED):
            return
        is_step = block == "think" or self._is_side
        who = AGENT if is_step else self._who
        yield Said(self._session, who, said, self._at, form="step" if is_step else "text")

    def _turn(self, role: re.Match[str]) -> Iterator[Event]:
        self._who = USER if role[1] == "User" else AGENT
        self._is_side = bool(role["side"] or role[4])
        about = role["about"] or ""
        time = _TIME.search(about)
        self._at = max(self._at, millis(time[0].rstrip(",")) if time else 0)
        named = _MODEL.match(about[: time.start()].strip() if time else about)
        if self._who == AGENT and named and named[1] != self._model and not self._is_side:
            self._model = named[1]
            yield Facts(self._session, model=self._model)

    def _inside(self, line: str) -> Iterator[Event]:
        self._follow_fence(line)
        self._lines.append(line)
        # A closing tag inside tool output ends the block early, which loses less than reading on would.
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

    def _tool(self, lines: list[str]) -> Iterator[Event]:
        content = "\n".join(lines[:40])
        tool = _TOOL.search(content)
        if tool is None:
            return
        kind, name = tool[1], tool[2]
        argument = _argument(content)
        yield Said(self._session, AGENT, step(name, {"command": argument}), self._at, form="step")
        if kind in ("read", "write") and argument:
            how = "read" if kind == "read" else "create" if name.lower() in _CREATING else "edit"
            path = os.path.normpath(os.path.join(self._cwd, argument))
            yield Touch(self._session, path, how, self._at)


def _argument(content: str) -> str:
    """Return the command or the path that a tool call is about."""
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
            break  # from here on it is output
        in_command = fence is not None
    return ""


def _without_rules(lines: list[str]) -> list[str]:
    """Drop the rules that SpecStory draws around a message."""
    first, last = 0, len(lines)
    while first < last and lines[first].strip() in ("", "---"):
        first += 1
    while last > first and lines[last - 1].strip() in ("", "---"):
        last -= 1
    return lines[first:last]
