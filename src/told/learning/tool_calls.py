"""Parse the stored lines about an agent's tool calls."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache

from told.agents import installed_agents
from told.agents.reading import FAILED, REFUSED
from told.learning import load_words
from told.learning.shell import Command, parse_commands, plain_words
from told.pattern import lazy_pattern

SHELL, EDIT, CREATE, OTHER = "shell", "edit", "create", "other"
_EDIT_TOOLS, _CREATE_TOOLS = load_words("edit_tools"), load_words("create_tools")
_MAX_NAME = 80
_READ_COMMANDS = frozenset(("cat", "head", "tail", "less", "ls", "grep", "rg", "wc", "bat"))
_HEREDOC = lazy_pattern(r"""\$\(\s*cat\s+<<-?\s*['"\\]?(\w+)['"]?\s*""")
_NO_COMMIT_FLAGS = frozenset(("--dry-run", "--help", "-h", "-F", "--file", "-C", "-c", "--no-edit"))
_BODY = " ... "  # stands for the body of a stored commit message
_WORTHLESS_SUBJECT = lazy_pattern(
    r"(?:wip|tmp|temp|test|update|updates|changes|fixup!.*|squash!.*|merge .*|x+|\W*)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call."""

    kind: str
    about: str  # the command or path
    line: str
    ended: str = ""  # FAILED or REFUSED; empty if it passed as far as known


@dataclass(frozen=True, slots=True)
class Action:
    """One command that was run, or one file that was used."""

    kind: str  # shell, edit, create, or other for a file that was only read
    failed: bool
    command: Command | None = None
    path: str = ""
    subject: str = ""  # of the commit that the command makes


def parse_calls(lines: Iterable[str]) -> list[Call]:
    """Return the tool calls among a turn's lines, in their order."""
    found: list[Call] = []
    for line in lines:
        if line.startswith("["):
            name, bracket, about = line[1:].partition("]")
            if bracket and name and len(name) <= _MAX_NAME and " " not in name:
                found.append(Call(_kind(name), about.strip(), line))
        elif line.startswith((FAILED, REFUSED)):
            _mark_ended(found, line)
    return found


def _kind(name: str) -> str:
    shell_tools, prefixes = _agent_tools()
    bare = "".join(filter(str.isalpha, name.lower()))
    for prefix in prefixes:
        bare = bare.removeprefix(prefix)
    if bare in _CREATE_TOOLS:
        return CREATE
    return SHELL if bare in shell_tools else EDIT if bare in _EDIT_TOOLS else OTHER


@cache
def _agent_tools() -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the names of all agents' shell tools, and the prefixes of their tools."""
    agents = installed_agents().values()
    shell_tools = load_words("shell_tools").union(*(agent.shell_tools for agent in agents))
    return shell_tools, tuple(agent.tool_prefix for agent in agents if agent.tool_prefix)


def _mark_ended(found: list[Call], line: str) -> None:
    """Note that the last call, or one `N back`, failed or was refused."""
    ended = FAILED if line.startswith(FAILED) else REFUSED
    back = re.fullmatch(r"(?:(\d{1,2}) back)?", line[len(ended) :].strip(), re.ASCII)
    if back is None:
        return
    index = int(back[1] or 0)
    if index < len(found):
        found[-1 - index] = replace(found[-1 - index], ended=ended)


def find_commit(line: str) -> tuple[str, bool] | None:
    """Return the subject of the commit that a shell line makes, and whether it amends."""
    for command in parse_commands(line):
        for words in command.layers:
            plain = plain_words(words)
            if plain[:1] == ["git"] and "commit" in plain[1:2]:
                subject = _find_subject(command, words[words.index("commit") + 1 :])
                return (subject, "--amend" in words) if subject else None
    return None


def _find_subject(command: Command, words: tuple[str, ...]) -> str:
    if not _NO_COMMIT_FLAGS.isdisjoint(words):
        return ""
    for at, word in enumerate(words):
        if word.startswith("--message="):
            return _clean_subject(word.partition("=")[2], command)
        if word == "--message" or re.fullmatch(r"-[a-z]*m", word):
            return _clean_subject(words[at + 1], command) if at + 1 < len(words) else ""
        if re.match(r"-m\S", word):
            return _clean_subject(word[2:], command)
    return ""


def _clean_subject(message: str, command: Command) -> str:
    is_cut = not command.is_complete
    if opened := _HEREDOC.match(message):
        message = message[opened.end() :]
        closed = re.search(rf"\s{opened[1]}(?!\w)", message)
        is_cut = is_cut and closed is None and _BODY not in message
        message = message[: closed.start()] if closed else message
    elif message.startswith("$") and "\\n" not in message and not re.match(r"\$\w+\s", message):
        return ""  # from a variable or another program
    message = message.removeprefix("$") if "\\n" in message else message
    subject = message.partition(_BODY)[0].split("\\n")[0].split("\n")[0].strip()
    if _WORTHLESS_SUBJECT.fullmatch(subject) or len(subject) < 5:
        return ""
    return f"{subject}…" if is_cut and _BODY not in message else subject


def parse_actions(steps: Sequence[str]) -> list[Action]:
    """Return what was done, without what the user refused."""
    found: list[Action] = []
    for call in parse_calls(line for step in steps for line in step.splitlines()):
        if call.ended == REFUSED:
            continue
        failed = call.ended == FAILED
        if call.kind == SHELL:
            commit = find_commit(call.about)
            for command in parse_commands(call.about):
                makes = commit is not None and "commit" in command.words and "git" in command.words
                subject = commit[0] if makes and commit and not failed else ""
                found.append(Action(SHELL, failed, command, subject=subject))
                if command.words[0] in _READ_COMMANDS:
                    paths = (word for word in command.words[1:] if "/" in word)
                    found += [Action(OTHER, failed, path=path) for path in paths]
        elif call.about:
            found.append(Action(call.kind, failed, path=call.about))
    return found


def is_change(action: Action) -> bool:
    """Return whether the agent changed a file with one of its tools."""
    return action.kind in (EDIT, CREATE) and not action.failed


def is_under(path: str, place: str) -> bool:
    """Return whether a path is at or below a place, which may be a pattern."""
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    wanted = [part for part in place.replace("\\", "/").split("/") if part not in ("", ".", "~", "**")]
    if not wanted:
        return False
    if len(wanted) == 1 and "." in wanted[0] and not place.endswith("/"):
        return bool(parts) and fnmatchcase(parts[-1], wanted[0])
    windows = (parts[end - len(wanted) : end] for end in range(len(wanted), len(parts) + 1))
    return any(all(map(fnmatchcase, window, wanted)) for window in windows)
