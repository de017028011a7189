"""Decide whether a locked rule forbids a tool call."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

from told.hook.guard import load_words
from told.hook.guard.actions import Action
from told.hook.guard.pattern import Call, list_calls
from told.hook.guard.rules import Prohibition, read_rule
from told.hook.guard.script import Command, parse_script
from told.hook.guard.targets import in_environment, on_branch
from told.pattern import lazy_pattern

DENY, ASK = "deny", "ask"
_PATCHED = lazy_pattern(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a command runs."""

    cwd: str = ""
    root: str = ""  # of the project


def judge_command(text: str, script: str, place: Place = Place()) -> str:
    """Return "deny", "ask" where a condition cannot be checked, or ""."""
    commands = parse_script(script)
    found = {
        verdict
        for prohibition in read_rule(text)
        for command in commands
        if (verdict := _judge(prohibition, command, place))
    }
    return DENY if DENY in found else ASK if found else ""


def reader_file(text: str, file: str, *, reads: bool = False) -> str:
    """Return the verdict of a rule on a tool call that changes or reads a file."""
    uses = ("any",) if reads else ("any", "change")
    found = [
        one for one in read_rule(text) if one.use in uses and any(_is_at(file, path) for path in one.paths)
    ]
    return "" if not found else DENY if any(not one.is_conditional for one in found) else ASK


def list_patched(command: str) -> list[str]:
    """Return the files that a patch changes, where an agent sends it as the command."""
    return _PATCHED.findall(command) if command.lstrip().startswith("*** Begin Patch") else []


def _judge(prohibition: Prohibition, command: Command, place: Place) -> str:
    calls = list_calls(command)[: 1 if prohibition.is_direct else None]
    if prohibition.action:
        verdicts = [_runs(prohibition, prohibition.action, call, command, place) for call in calls]
    else:
        verdicts = [DENY if _uses_path(prohibition, command, calls, place.root) else ""]
    verdict = DENY if DENY in verdicts else ASK if ASK in verdicts else ""
    return ASK if verdict and prohibition.is_conditional else verdict


def _runs(prohibition: Prohibition, action: Action, call: Call, command: Command, place: Place) -> str:
    """Judge a command by a forbidden action and its target."""
    is_named = any(pattern.matches(call, command) for pattern in action.patterns)
    if not is_named and not _sets_variable(action, call, command) and not _has_sql(action, call, command):
        return ""
    met: bool | None = True
    if prohibition.branches:
        met = on_branch(call, command, place.cwd, prohibition.branches)
    elif prohibition.environments:
        met = in_environment(call, command, prohibition.environments)
    if prohibition.paths and met:
        operands = [_relative(one, command, place.root) for one in call.operands]
        met = any(_is_at(one, path) or _is_at(path, one) for one in operands for path in prohibition.paths)
    return ASK if met is None else DENY if met else ""


def _sets_variable(action: Action, call: Call, command: Command) -> bool:
    return call.program == "git" and any(
        fnmatchcase(given, wanted) for given in command.variables for wanted in action.variables
    )


def _has_sql(action: Action, call: Call, command: Command) -> bool:
    clients = load_words("programs", "sql_clients")
    if not action.sql or (call.program not in clients and clients.isdisjoint(command.feeds)):
        return False
    text = " ".join([*command.words[1:], command.text])
    return bool(re.search(action.sql, text, re.IGNORECASE))


def _uses_path(prohibition: Prohibition, command: Command, calls: tuple[Call, ...], root: str) -> bool:
    """Tell whether a command changes, deletes, commits or names a forbidden path."""
    use = prohibition.use
    files = list(command.writes) if use != "delete" else []
    for call in calls:
        if use == "any":
            files += call.operands
        elif use != "commit":
            files += _changed(call, use)
        elif call.program == "git" and call.operands[:1] in (("add",), ("commit",)):
            files += call.operands[1:]
    is_removed = use in ("change", "delete") and any(call.program in ("rm", "mv") for call in calls)
    names = [_relative(one, command, root) for one in files]
    return any(
        _is_at(name, path) or (is_removed and _is_at(path, name))
        for name in names
        for path in prohibition.paths
    )


def _changed(call: Call, use: str) -> tuple[str, ...]:
    """Return the operands of a command that it changes."""
    deleting, last = load_words("words", "writers", "delete"), load_words("words", "writers", "last")
    for name in load_words("words", "writers") if use == "change" else deleting:
        program, _, word = name.partition("+")
        if call.program != program:
            continue
        if not word:
            return call.operands[-1:] if name in last else call.operands
        if word.startswith("-") and any(flag.startswith(word) for flag, _ in call.options):
            return call.operands
        if call.operands[:1] == (word,):
            return call.operands[1:]
    return ()


def _relative(name: str, command: Command, root: str) -> str:
    """Return a path from the project's folder."""
    joined = os.path.normpath(os.path.join(command.folder, name)) if command.folder else name
    joined = re.sub(r"^(\$HOME|\$\{HOME\})", "~", joined)
    return joined.removeprefix(f"{root}/") if root else joined


def _is_at(file: str, path: str) -> bool:
    """Tell whether a file is at or below a path that a rule names."""
    place = path.removeprefix("./").rstrip("/").removesuffix("/**").removesuffix("/*") or path
    name = file.removeprefix("./").rstrip("/")
    if place[0] == "~":
        place, name = os.path.expanduser(place), os.path.expanduser(name)
    if not place.strip("*") or " " in place:
        return False
    if "*" in place:
        return any(fnmatchcase(one, place) for one in (name, os.path.basename(name)))
    return f"/{place.strip('/')}/" in f"/{name}/"
