"""Parse shell lines into the commands they run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from told.learning import load_words
from told.pattern import lazy_pattern

_WORD_PARTS = r"""(?P<space>\s+)
    |(?P<redirect>\d?>>?&?\d?|&>>?|<)
    |(?P<split>&&|\|\|?&?|;|&|\(|\)|(?<!\S)[{}!](?!\S))
    |(?P<single>'[^']*'?)
    |(?P<double>"(?:\\.|[^"\\])*"?)
    """
_HEREDOC = r"""(?P<heredoc><<-?\s*(?P<mark>['"]?)(?P<word>\w+)(?P=mark))|"""
_TOKEN = lazy_pattern(rf"{_HEREDOC}{_WORD_PARTS}|(?P<plain>(?:\\.|\$\(|[^\s'\"\\;&|()<>])+)", re.VERBOSE)
_MAX_LINE = 2000
_ASSIGNMENT = lazy_pattern(r"[A-Za-z_]\w*=")
_SHELLS = ("bash", "sh", "zsh")
_WRAPPERS = load_words("shell_wrappers")
_RUNNERS = load_words("shell_runners")
_FLAGS_WITH_VALUE = load_words("flags_with_value")
_OWN_FLAGS = load_words("programs_with_own_flags")


@dataclass(frozen=True, slots=True)
class Command:
    """One command of a shell line."""

    words: tuple[str, ...]
    folder: str = ""  # where a `cd` before it went
    is_complete: bool = True  # false if the stored line was cut within it
    then: str = ""  # the operator after it: && || | ; &

    @property
    def layers(self) -> list[tuple[str, ...]]:
        """Return the command as typed, then without each program that only runs another."""
        found = [self.words]
        while (inner := _unwrap(found[-1])) and len(found) < 5:
            found.append(inner)
        return found


@lru_cache(maxsize=512)  # the same lines are checked for each memory that was shown
def parse_commands(line: str) -> tuple[Command, ...]:
    """Return the commands of a shell line in their order."""
    return tuple(_parse(line, "", 0))


def plain_words(words: tuple[str, ...]) -> list[str]:
    """Return a command's words without flags and their values."""
    found: list[str] = []
    skip = False
    for at, word in enumerate(words):
        if skip:
            skip = False
        elif at and word.startswith("-") and len(word) > 1:
            takes_value = word in ("-C", "--prefix") if words[0] in _OWN_FLAGS else word in _FLAGS_WITH_VALUE
            skip = takes_value and "=" not in word
        else:
            found.append(word)
    return found


def _parse(line: str, folder: str, depth: int) -> Iterator[Command]:
    for typed, is_complete, then in _split(line[:_MAX_LINE]):
        words = _without_assignments(typed)
        if not words:
            continue
        if words[0] in ("cd", "pushd") and len(words) > 1:
            folder = words[1]
        flags = ("-c", "-lc", "-ic", "-lic")
        script = next((after for word, after in pairwise(words[1:]) if word in flags), "")
        if script and words[0] in _SHELLS and depth < 3:
            yield from _parse(script, folder, depth + 1)
        else:
            yield Command(words, folder, is_complete, then)


def _split(line: str) -> Iterator[tuple[tuple[str, ...], bool, str]]:
    """Yield each command's words, whether it is complete, and the operator after it."""
    words: list[str] = []
    at, is_glued, skip_next, is_complete = 0, False, False, True
    while at < len(line):
        token = _TOKEN.match(line, at)
        if token is None:
            at += 1
            continue
        kind, text = token.lastgroup, token.group()
        at = token.end()
        if kind == "split":
            yield tuple(words), True, text
            words, is_glued, skip_next = [], False, False
            continue
        if kind == "heredoc":
            end = re.compile(rf"(?<!\S){token['word']}(?!\w)").search(line, at)
            is_complete = end is not None
            at = end.end() if end else len(line)
        if kind == "redirect":
            skip_next = not text[-1].isdigit()
        if kind in ("heredoc", "redirect", "space"):
            is_glued = False
            continue
        if kind in ("single", "double"):
            is_complete = len(text) > 1 and text[-1] == text[0]
        text = _unquote(text, kind, is_complete=is_complete)
        if skip_next:
            skip_next = False
        elif is_glued:
            words[-1] += text
        else:
            words.append(text)
        is_glued = bool(words)
    yield tuple(words), is_complete, ""


def _unquote(text: str, kind: str | None, *, is_complete: bool) -> str:
    if kind in ("single", "double"):
        text = text[1:-1] if is_complete else text[1:]
    return re.sub(r'\\(["\\$`])', r"\1", text) if kind == "double" else text


def _without_assignments(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return a command without leading assignments and its program's folder."""
    while words and _ASSIGNMENT.match(words[0]):
        words = words[1:]
    return (words[0].rsplit("/", 1)[-1] or words[0], *words[1:]) if words else ()


def _unwrap(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the command that a command only runs; empty if it does work of its own."""
    if not words:
        return ()
    rest: tuple[str, ...] = ()
    if words[0] == "timeout":
        rest = _after_flags(words[1:])[1:]
    elif words[0] in _WRAPPERS:
        rest = _after_flags(words[1:])
    elif words[0] in ("python", "python3", "py") and "-m" in words[1:3]:
        rest = words[words.index("-m") + 1 :]
    elif len(words) > 1 and f"{words[0]}/{words[1]}" in _RUNNERS:
        rest = _after_flags(words[2:])
    return _without_assignments(rest)


def _after_flags(words: tuple[str, ...]) -> tuple[str, ...]:
    while words and words[0].startswith("-") and len(words[0]) > 1:
        words = words[2:] if words[0] in _FLAGS_WITH_VALUE else words[1:]
    return words
