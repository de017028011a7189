"""Parse shell lines into the commands they run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from told.learning import load_words

_WORD_PARTS = r"""(?P<space>\s+)
    |(?P<redirect>\d?>>?&?\d?|&>>?|<)
    |(?P<split>&&|\|\|?&?|;|&|\(|\)|(?<!\S)[{}!](?!\S))
    |(?P<single>'[^']*'?)
    |(?P<double>"(?:\\.|[^"\\])*"?)
    """
_HEREDOC = r"""(?P<heredoc><<-?\s*(?P<mark>['"]?)(?P<word>\w+)(?P=mark))|"""
_TOKEN = re.compile(rf"{_HEREDOC}{_WORD_PARTS}|(?P<plain>(?:\\.|\$\(|[^\s'\"\\;&|()<>])+)", re.VERBOSE)
# In a script, a substitution is split off as a command of its own, and nothing in a heredoc is skipped:
# it may be the input of a shell.
_SCRIPT_TOKEN = re.compile(rf"{_WORD_PARTS}|(?P<plain>(?:\\.|[^\s'\"\\;&|()<>])+)", re.VERBOSE)
_MAX_LINE = 2000
_MAX_DEPTH = 4
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_SHELLS = ("bash", "sh", "zsh")
_ALL_SHELLS = frozenset((*_SHELLS, "dash", "ksh", "fish"))
_WRAPPERS = load_words("shell_wrappers")
_RUNNERS = load_words("shell_runners")
_FLAGS_WITH_VALUE = load_words("flags_with_value")
_OWN_FLAGS = load_words("programs_with_own_flags")
# Programs and keywords that run the command after them, with their options that take a value.
_PREFIXES = {
    "sudo": "-u -g -h -p -C -r -t -U", "doas": "-u -C", "env": "-u -C", "command": "", "exec": "-a",
    "time": "-f -o", "timeout": "-s -k", "nice": "-n", "ionice": "-c -n", "watch": "-n", "nohup": "",
    "xargs": "-I -n -P -L -d -E -s -a", "stdbuf": "-i -o -e", "setsid": "", "builtin": "", "then": "",
    "do": "", "else": "", "!": "",
}  # fmt: skip


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


def list_commands(script: str, depth: int = _MAX_DEPTH) -> list[list[str]]:
    """Return the words of all commands that a script may run, nested ones too.

    Assignments and programs that only run another one, such as `sudo`, are left out.
    """
    joined = script.replace("\\\n", " ").replace("\n", " ; ")
    found = []
    parts = list(_split(joined, _SCRIPT_TOKEN))
    if not parts[-1][1]:  # an open quote, perhaps in a comment: better too many commands than too few
        parts = list(_split(" ".join(map(_quote, joined.split())), _SCRIPT_TOKEN))
    for words, _, _ in parts:
        command = _without_prefixes(list(words))
        if not command:
            continue
        name = command[0].rpartition("/")[2]
        inner = _find_script_argument(command) if depth and name in _ALL_SHELLS else ""
        if inner:
            found += list_commands(inner, depth - 1)
        elif depth and name == "eval":
            found += list_commands(" ".join(command[1:]), depth - 1)
        else:
            found.append(command)
        for word in command if depth else ():
            if "$(" in word or "`" in word:
                nested = word.replace("$(", "\n").replace("`", "\n").replace(")", "\n")
                found += list_commands(nested.partition("\n")[2], depth - 1)
    return found


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
    for typed, is_complete, then in _split(line[:_MAX_LINE], _TOKEN):
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


def _split(line: str, pattern: re.Pattern[str]) -> Iterator[tuple[tuple[str, ...], bool, str]]:
    """Yield each command's words, whether it is complete, and the operator after it."""
    is_script = pattern is _SCRIPT_TOKEN
    words: list[str] = []
    at, is_glued, skip_next, is_complete = 0, False, False, True
    while at < len(line):
        token = pattern.match(line, at)
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
            if is_script:
                words.append(text)
            else:
                skip_next = not text[-1].isdigit()
        if kind in ("heredoc", "redirect", "space"):
            is_glued = False
            continue
        if kind in ("single", "double"):
            is_complete = len(text) > 1 and text[-1] == text[0]
        text = _unquote(text, kind, is_complete=is_complete, is_script=is_script)
        if skip_next:
            skip_next = False
        elif is_glued:
            words[-1] += text
        else:
            words.append(text)
        is_glued = bool(words)
    yield tuple(words), is_complete, ""


def _unquote(text: str, kind: str | None, *, is_complete: bool, is_script: bool) -> str:
    if kind in ("single", "double"):
        text = text[1:-1] if is_complete else text[1:]
    if kind == "double":
        return re.sub(r'\\(["\\$`])', r"\1", text)
    return re.sub(r"\\(.)", r"\1", text) if kind == "plain" and is_script else text


def _quote(word: str) -> str:
    """Quote a word unless it is an operator."""
    return word if set(word) <= set(";&|(){}") else shlex.quote(word)


def _without_assignments(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return a command without leading assignments and its program's folder."""
    while words and _ASSIGNMENT.match(words[0]):
        words = words[1:]
    return (words[0].rsplit("/", 1)[-1] or words[0], *words[1:]) if words else ()


def _without_prefixes(words: list[str]) -> list[str]:
    """Return a command without leading assignments and programs that only run it."""
    rest = list(words)
    while rest:
        name = rest[0].rpartition("/")[2]
        if _ASSIGNMENT.match(rest[0]):
            rest.pop(0)
        elif name in _PREFIXES:
            rest.pop(0)
            with_value = _PREFIXES[name].split()
            while rest and rest[0].startswith("-"):
                if rest.pop(0) in with_value and rest:
                    rest.pop(0)
            if name == "timeout" and rest:
                rest.pop(0)
        else:
            break
    return rest


def _find_script_argument(words: list[str]) -> str:
    """Return the script that a shell runs, as in `sh -lc 'this'`."""
    for word, after in pairwise(words):
        if word.startswith("-") and not word.startswith("--") and "c" in word:
            return after
    return ""


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
