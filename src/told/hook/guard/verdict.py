"""Decide whether a locked rule forbids a tool call, and say what the guard does with a rule."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache

from told.hook.guard import load_table, load_words
from told.hook.guard.pattern import Call, list_calls
from told.hook.guard.rules import Prohibition, forbids_something, read_rule
from told.hook.guard.script import Command, parse_script
from told.hook.guard.targets import BRANCH, ENVIRONMENT, in_environment, on_branch

DENY, ASK = "deny", "ask"
_SHOWN = 3  # commands of a prohibition that are named
_TASK = "@task"


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the guard does with a rule."""

    matches: tuple[str, ...]  # commands and paths; empty if it cannot act
    more: int = 0  # further commands
    where: str = ""  # "on main", "in production"


def judge_command(text: str, script: str, cwd: str = "", root: str = "") -> str:
    """Return "deny", "ask" where a condition cannot be checked, or ""."""
    commands = _commands(script)
    found = {
        verdict
        for prohibition in read_rule(text)
        for command in commands
        if (verdict := _judge(prohibition, command, cwd, root))
    }
    return DENY if DENY in found else ASK if found else ""


def judge_file(text: str, file: str, *, reads: bool = False) -> str:
    """Return the verdict of a rule on a tool call that changes or reads a file."""
    uses = ("any",) if reads else ("any", "change")
    found = [one for one in read_rule(text) if one.use in uses and any(_is_at(file, path) for path in one.paths)]
    return "" if not found else DENY if any(not one.is_conditional for one in found) else ASK


def describe_rule(text: str) -> Coverage | None:
    """Return what the guard matches; None if the rule forbids no command or path."""
    found = read_rule(text)
    if not found:
        return Coverage(()) if forbids_something(text) else None
    names = [_format(one.text) for prohibition in found for one in prohibition.patterns]
    paths = [path for prohibition in found for path in prohibition.paths if prohibition.use]
    names += [f"SQL `{name}`" for prohibition in found if (name := _sql_name(prohibition.sql))]
    every = list(dict.fromkeys([*(f"`{path}`" for path in paths), *names]))
    where = next((place for prohibition in found if (place := _place(prohibition))), "")
    return Coverage(tuple(every[:_SHOWN]), max(len(every) - _SHOWN, 0), where)


def _judge(prohibition: Prohibition, command: Command, cwd: str, root: str) -> str:
    if prohibition.use:
        verdict = _uses_path(prohibition, command, root)
    else:
        calls = list_calls(command)[: 1 if prohibition.is_direct else None]
        verdict = max((_runs(prohibition, call, command, cwd, root) for call in calls), key=_rank, default="")
    return ASK if verdict and prohibition.is_conditional else verdict


def _rank(verdict: str) -> int:
    return ("", ASK, DENY).index(verdict)


def _runs(prohibition: Prohibition, call: Call, command: Command, cwd: str, root: str) -> str:
    """Judge a command by the commands that are forbidden, and by their targets."""
    is_named = any(pattern.matches(call, command) for pattern in prohibition.patterns)
    if not is_named and not _skips(prohibition, call, command) and not _has_sql(prohibition, call, command):
        return ""
    met: bool | None = True
    if prohibition.branches:
        met = on_branch(call, command, cwd, prohibition.branches)
    elif prohibition.environments:
        met = in_environment(call, command, prohibition.environments)
    if prohibition.paths and met:
        operands = [_relative(one, command, root) for one in call.operands]
        met = any(_is_at(one, path) or _is_at(path, one) for one in operands for path in prohibition.paths)
    return ASK if met is None else DENY if met else ""


def _skips(prohibition: Prohibition, call: Call, command: Command) -> bool:
    return call.program == "git" and any(
        fnmatchcase(given, wanted) for given in command.variables for wanted in prohibition.variables
    )


def _has_sql(prohibition: Prohibition, call: Call, command: Command) -> bool:
    clients = load_words("programs", "sql_clients")
    if not prohibition.sql or (call.program not in clients and clients.isdisjoint(command.feeds)):
        return False
    text = " ".join([*command.words[1:], command.text])
    return bool(re.search(prohibition.sql, text, re.IGNORECASE))


def _uses_path(prohibition: Prohibition, command: Command, root: str) -> str:
    """Judge a command by the paths that it changes, deletes, commits or names."""
    use, files = prohibition.use, list(command.writes) if prohibition.use != "delete" else []
    for call in list_calls(command):
        if use == "any":
            files += call.operands
        elif use == "commit":
            files += call.operands[1:] if call.program == "git" and call.operands[:1] in (("add",), ("commit",)) else ()
        else:
            files += _changed(call, use)
    names = [_relative(one, command, root) for one in files]
    is_removed = any(call.program in ("rm", "mv") for call in list_calls(command))
    return DENY if any(
        _is_at(one, path) or (is_removed and use in ("change", "delete") and _is_at(path.strip("/"), one))
        for one in names for path in prohibition.paths
    ) else ""  # fmt: skip


def _changed(call: Call, use: str) -> tuple[str, ...]:
    """Return the operands of a command that it changes."""
    for name, (program, words) in _writers().items():
        if call.program != program or (use == "delete" and name not in load_table("words")["writers"]["delete"].split()):
            continue
        if not words:
            is_last = name in load_table("words")["writers"]["last"].split()
            return call.operands[-1:] if is_last else call.operands
        if words.startswith("-"):
            flags = {flag for flag, _ in call.options}
            if words in flags or any(flag.startswith(words[:2]) for flag in flags if not words.startswith("--")):
                return call.operands
        elif call.operands[:1] == (words,):
            return call.operands[1:]
    return ()


@cache
def _writers() -> dict[str, tuple[str, str]]:
    """Return the commands that change files: program, and a subcommand or an option."""
    table = load_table("words")["writers"]
    names = f"{table['all']} {table['last']} {table['delete']}".split()
    return {name: (name.partition("+")[0], name.partition("+")[2]) for name in names}


def _relative(name: str, command: Command, root: str) -> str:
    """Return a path from the project's folder."""
    joined = os.path.normpath(os.path.join(command.folder, name)) if command.folder else name
    return joined.removeprefix(f"{root}/") if root else joined


def _is_at(file: str, path: str) -> bool:
    """Tell whether a file is at or below a path that a rule names."""
    place = path.removeprefix("./").rstrip("/").removesuffix("/**").removesuffix("/*") or path
    name = file.removeprefix("./").rstrip("/")
    if not place.strip("*") or " " in place:
        return False
    if "*" in place:
        return any(fnmatchcase(one, place) for one in (name, os.path.basename(name)))
    return f"/{place.strip('/')}/" in f"/{name}/"


def _commands(script: str) -> list[Command]:
    return parse_script(script)


def _format(text: str) -> str:
    text = text.replace(" ?*", "").replace(_TASK, "make")
    return f"`{text}`"


def _sql_name(sql: str) -> str:
    """Return the first statement of a pattern of SQL in readable form."""
    words = re.sub(r"\\s\+|\\b|\\w|\\S\+", " ", sql.partition("|")[0])
    return " ".join(re.sub(r"[^a-z ]", " ", words.lower()).split()).upper()


def _place(prohibition: Prohibition) -> str:
    if prohibition.target == BRANCH and prohibition.branches:
        return f"on {_first(prohibition.branches, 'branches')}"
    if prohibition.target == ENVIRONMENT and prohibition.environments:
        return f"in {_first(prohibition.environments, 'environments')}"
    if prohibition.paths and not prohibition.use:
        return f"of {prohibition.paths[0]}"
    return ""


def _first(names: frozenset[str], table: str) -> str:
    """Return the usual names of branches or environments."""
    lines = [line.split() for line in load_table("words")[table]]
    usual = [line[0] for line in lines if line[0] in names]
    known = {word for line in lines for word in line}
    return ", ".join([*usual, *sorted(one for one in names if one not in known and "*" not in one)])
