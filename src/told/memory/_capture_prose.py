"""Finds what a person wrote in a message: no code, logs, quotations, tool output or told's own text."""

# ruff: noqa: RUF001 - words and signs of many languages are the subject
from __future__ import annotations

from told.snapshot import MULTILINE, VERBOSE, pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

Span = tuple[int, int]

_HEAD = 12_000  # characters
_TAIL = 4_000
_PARAGRAPH = 2_000
_FENCE = pattern(r"^[ \t]*(```+|~~~+)", MULTILINE)
_OPENING = pattern(r"<([A-Za-z][\w:.-]*)((?: [^<>\n]{0,200})?)>")
_LINE = pattern(r"[^\n]+")
_NOT_PROSE = pattern(
    r"""\s*(?:
      >                                                    # quoted
    | [/!]\w[\w:-]*(?:\s|$)                                # a slash or shell command
    | [\$%❯➜»]\s | \(?[\w.-]+\)?\ [❯➜]                     # a shell prompt
    | \[[\d/:.\-TZ ,]+[^\]]*\]                             # [12:30:01 …]
    | \d{4}-\d\d-\d\d[T ]\d\d:\d\d | \d\d:\d\d:\d\d        # a time stamp
    | at\ \S+.*[:(]\d+ | File\ "[^"]+",\ line\ \d+         # a stack trace
    | Traceback\ \( | \w*(?:Error|Exception|Warning):\s | Caused\ by:
    | (?:ERROR|WARN|INFO|DEBUG|FATAL|FAIL|PASS|npm\ ERR!|error\[E\d+\])\b[:\s\[]
    | (?:[+-]{3}|@@)\s | diff\ --git | index\ [0-9a-f]{7}  # a diff
    | \|.*\| | [-=*_#]{3,}\s*$                             # a table, a rule
    | <[^>]+>\s*$ | <\w+[^>]*>.*</\w+>\s*$ | \{\s*$ | [\])}][,;)]*\s*$
    | (?:import|from|export|const|let|var|def|class|func|fn|public|private|return|package
      |\#include)\b.*[;{:(=]\s*$
    | (?:GET|POST|PUT|DELETE|PATCH|HEAD)\s+\S+
    | \S+:\d+:\d+ | https?://\S+\s*$ | "[\w$-]+":\s
    | (?:npm|npx|yarn|pnpm|pip|git|cd|docker|cargo|go|python3?|node|sudo|curl|brew|apt|make|uv)
      (?:\ [\w@./:=~-]+){1,8}\s*$
    | (?:git|fatal|hint|bash|zsh|sh|make(?:\[\d+\])?):\s  # a program speaks
    | On\ branch\ | Your\ branch\ | \(use\ "git
    )""",
    VERBOSE,
)
_KINDS = frozenset(("rule", "correction", "preference", "decision", "fact", "warning", "observation"))
_NOT_TYPED = (  # what programs put in front of an agent in the user's name
    "This session is being continued from a previous conversation",
    "Caveat: The messages below were generated",
    "Base directory for this skill:",
    "Stop hook feedback",
    "[Request interrupted",
)
_SYMBOLS = pattern(r"[{}()\[\];=<>|\\/_:@#$%^&*+~]")
_CODE_END = pattern(r"(?:[;{]|=>|\);?|\},?)\s*$")


def prose(message: str) -> list[Span]:
    """Return the spans of the lines that a person wrote, in order.

    Of a very long message, which is a paste with perhaps a word before and after it, only the two ends.
    """
    if message.lstrip().startswith(_NOT_TYPED):
        return []
    lines = [
        line.span()
        for start, end in _outside(message)
        for line in _LINE.finditer(message, start, end)
        if line.start() < _HEAD or line.end() > len(message) - _TAIL
    ]
    return [
        (start, end) for start, end in lines if end - start <= _PARAGRAPH and _is_prose(message[start:end])
    ]


def _outside(message: str) -> Iterator[Span]:
    """Yield what is outside code fences and outside anything between a tag and its closing tag."""
    place = 0
    never_closed: set[str] = set()
    fence = _FENCE.search(message)
    while opening := _OPENING.search(message, place):
        while fence and fence.start() < place:
            fence = _FENCE.search(message, place)
        if fence and fence.start() < opening.start():
            after = _after_fence(message, fence)
            yield place, fence.start()
            place = after
            continue
        after = _after_tag(message, opening, never_closed)
        if after:
            yield place, opening.start()
        else:
            yield place, opening.end()
        place = after or opening.end()
    while fence := _FENCE.search(message, place):
        yield place, fence.start()
        place = _after_fence(message, fence)
    yield place, len(message)


def _after_fence(message: str, fence: re.Match[str]) -> int:
    closing = message.find(f"\n{fence.group(1)}", fence.end())
    return len(message) if closing < 0 else closing + 1 + len(fence.group(1))


def _after_tag(message: str, opening: re.Match[str], never_closed: set[str]) -> int:
    """Return where the closing tag ends, 0 without one; told's own closing tag repeats the mark."""
    for closing in (f"</{opening.group(1)}{opening.group(2)}>", f"</{opening.group(1)}>"):
        if closing in never_closed:
            continue
        found = message.find(closing, opening.end())
        if found >= 0:
            return found + len(closing)
        never_closed.add(closing)
    return 0


def _is_prose(line: str) -> bool:
    text = line.strip()
    if len(text) < 2 or _NOT_PROSE.match(line) or _is_brief(text):
        return False
    if sum(map(str.isalpha, text)) * 2 < len(text):
        return False
    if _CODE_END.search(text) and len(_SYMBOLS.findall(text)) * 8 > len(text):
        return False
    return len(_SYMBOLS.findall(text)) * 5 < len(text)


def _is_brief(text: str) -> bool:
    """Say whether a line is of a brief: `- Use tabs. (rule, 2026-11-03, you)`."""
    if not text.endswith(")"):
        return False
    marks = text[text.rfind("(") + 1 : -1].split(", ")
    return len(marks) > 2 and marks[0] in _KINDS and (marks[-2][:4].isdigit() or marks[-2] == "undated")
