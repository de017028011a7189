"""Check whether commands that were run comply with a sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence

from told.learning import load_words
from told.learning.mentions import (
    COMMON_PROGRAMS,
    Mention,
    does_task,
    exclusive_programs,
    find_mentions,
    is_conditional,
    is_same_ecosystem,
)
from told.learning.shell import Command, plain_words
from told.learning.tool_calls import Action, is_change, is_under
from told.pattern import lazy_pattern

_FLAG_ALIASES = {
    ("git", "push"): {"-f": "--force"},
    ("git", "commit"): {"-n": "--no-verify", "-s": "--signoff", "-a": "--all"},
}
# These only run another program, and change nothing about it.
_NEUTRAL = frozenset(
    ("sudo", "env", "time", "nohup", "exec", "command", "nice", "timeout", "stdbuf", "do", "then")
)
_BEFORE_EVENT = lazy_pattern(
    r"\b(?:before|vor|avant|antes)\b(?:\s+(?:you|we|each|every|any|a|an|the|making|doing|creating|git"
    r"|jedem|dem|einem|de|du|chaque|tout|le|un|faire|cada|el|hacer|um|o|fazer))*"
    r"\s+(?P<event>commit|push|pousse)",
    re.IGNORECASE,
)
_ORDER = lazy_pattern(r"\b(?:before|after|vor|nach|avant|après|antes|después|depois)\b", re.IGNORECASE)
_TASKS = {
    "test": r"tests?|test suite|testing|specs?|teste[ns]?|pruebas|testes",
    "lint": r"lint(?:ing|er)?",
    "format": r"format(?:ting|ter)?|formatieren|formater|formatear|formatar",
    "build": r"builds?|building|bauen|compiler|compilar",
    "check": r"type[- ]?checks?|type checking",
    "install": r"install(?:ing|s)?|dependenc(?:y|ies)|packages?|abhängigkeiten|dépendances|depend[eê]ncias",
}
_TASK_WORDS = {task: lazy_pattern(rf"\b(?:{words})\b", re.IGNORECASE) for task, words in _TASKS.items()}
_LONG_FLAG = lazy_pattern(r"(?<![\w-])--[a-z][a-z-]+")
_ANY_FLAG = lazy_pattern(r"(?<![\w-])--?[a-z][\w-]*")
_NEGATION = lazy_pattern(r"\b(?:never|not|no|don't|avoid|nie|nicht|jamais|nunca|não)\b", re.IGNORECASE)
_FLAG_COMMANDS = {
    "--no-verify": ("git", "commit"), "--amend": ("git", "commit"), "--force": ("git", "push"),
    "--legacy-peer-deps": ("npm", "install"), "--no-edit": ("git", "commit"),
}  # fmt: skip
# A rule for another place than this project's folder, where nothing is known.
_ELSEWHERE = lazy_pattern(
    r"\s*(?:(?:in|for|on)\s+(?:the\s+)?(?!this\b|all\b|every|general|tests?\b|future|addition|most|our\b"
    r"|python|js\b|javascript|typescript)[\w.-]+"
    r"(?:\s+(?:repo|repository|project|package|service|app|folder|side))?\s*[,:]?\s+"
    r"(?:we|use|run|always|never|commit|do|please|you)\b|on (?:windows|mac|macos|linux)\b"
    r"|in (?:ci|prod|production)\b)",
    re.IGNORECASE,
)
_FOR = lazy_pattern(r"\bfor\s+(?:the\s+|our\s+)?([\w-]+)", re.IGNORECASE)
_GENERAL_TOPICS = load_words("general_topics")


def runs_pattern(command: Command, pattern: tuple[str, ...], *, bare: bool = False) -> bool:
    """Return whether a command runs what a pattern names.

    `bare` accepts only wrappers like `sudo`: `uv run pytest` is no bare `pytest`.
    """
    layers = command.layers
    if bare:
        first = next((at for at, layer in enumerate(layers) if layer[0] not in _NEUTRAL), 0)
        layers = layers[first : first + 1]
    return any(_matches(layer, pattern) for layer in layers)


def has_flag(command: Command, flag: str) -> bool:
    """Return whether a command was given a flag."""
    words = command.layers[-1]
    return flag in _find_flags(words, tuple(plain_words(words)[:2]))


def _matches(words: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    plain, wanted = plain_words(words), plain_words(pattern)
    if plain[: len(wanted)] != wanted:
        return False
    head = tuple(plain[:2])
    given, needed = _find_flags(words, head), _find_flags(pattern, head)
    if plain[0] == "rm":  # -rf, -fr and -r -f are the same
        return _flag_letters(needed) <= _flag_letters(given)
    return needed <= given


def _find_flags(words: tuple[str, ...], head: tuple[str, ...]) -> set[str]:
    aliases = _FLAG_ALIASES.get((head[0], head[1]), {}) if len(head) > 1 else {}
    flags = {word.partition("=")[0] for word in words[1:] if word.startswith("-") and len(word) > 1}
    if head == ("git", "commit"):  # -am is -a and -m
        flags |= {f"-{letter}" for flag in flags if not flag.startswith("--") for letter in flag[1:]}
    return {aliases.get(flag, flag) for flag in flags}


def _flag_letters(flags: set[str]) -> set[str]:
    names = {"--recursive": "r", "--force": "f"}
    return {letter for flag in flags for letter in names.get(flag, flag.lstrip("-"))}


def check_commands(sentence: str, actions: Sequence[Action], places: Sequence[str]) -> bool | None:
    """Return whether the commands comply with a sentence; None if unclear."""
    named = find_mentions(sentence)
    named = [one for one in named if not _is_too_common(one, named)]
    rest = _without_mentions(sentence, named)
    places = [place for place in places if place in rest]
    here = [action for action in actions if action.command is not None and _is_at(action.command, places)]
    commands = [action.command for action in here if action.command is not None]
    asked = [one for one in named if one.sense > 0]
    forbidden = [one for one in named if one.sense < 0]
    if asked and not forbidden and (before := _BEFORE_EVENT.search(sentence)):
        return _check_run_before(asked, before["event"].lower(), actions)
    if is_conditional(rest) or _is_elsewhere(sentence, places) or _ORDER.search(sentence):
        return None
    if not named:
        return _check_forbidden_flag(sentence, commands)
    if forbidden:
        limits = [one.pattern[:1] for one in named if one.limits]
        if limits:
            commands = [one for one in commands if any(runs_pattern(one, limit) for limit in limits)]
        return _check_forbidden(asked, forbidden, commands)
    return _check_asked(sentence, asked, commands) if asked else None


def _is_too_common(one: Mention, named: list[Mention]) -> bool:
    """Return whether a bare name such as `git` is set against no alternative."""
    name = one.pattern[0]
    others = exclusive_programs(name) - {name}
    return (
        len(one.pattern) == 1
        and name in COMMON_PROGRAMS
        and not any(other.pattern[0] in others for other in named)
    )


def _is_at(command: Command, places: Sequence[str]) -> bool:
    words = (command.folder, *command.words[1:])
    return not places or any(word and is_under(word, place) for word in words for place in places)


def _is_elsewhere(sentence: str, places: Sequence[str]) -> bool:
    if places:
        return False
    return _ELSEWHERE.match(sentence) is not None or any(
        word.lower() not in _GENERAL_TOPICS for word in _FOR.findall(sentence)
    )


def _check_forbidden(
    asked: list[Mention], forbidden: list[Mention], commands: Sequence[Command]
) -> bool | None:
    """Check "use X, not Y" and "never Y"."""
    complied = False
    for command in commands:
        if any(runs_pattern(command, one.pattern) for one in asked):
            complied = True
            continue
        for one in forbidden:
            is_part = any(one.pattern[0] in other.pattern[1:] for other in asked)
            if runs_pattern(command, one.pattern, bare=is_part):
                return False
            if not asked and _is_alternative(command, one.pattern):
                complied = True
    return True if complied else None


def _is_alternative(command: Command, pattern: tuple[str, ...]) -> bool:
    """Return whether a command does the work of a forbidden one in another way."""
    if len(pattern) == 1:
        others = exclusive_programs(pattern[0]) - {pattern[0]}
        return any(runs_pattern(command, (other,), bare=True) for other in others)
    wanted = plain_words(pattern)
    layers = (plain_words(layer) for layer in command.layers)
    return pattern[0] != "rm" and any(
        plain[:2] == wanted[:2] and len(plain) >= len(wanted) for plain in layers
    )


def _check_asked(sentence: str, asked: list[Mention], commands: Sequence[Command]) -> bool | None:
    """Check "use X" and "run the tests with X"."""
    rest = _without_mentions(sentence, asked)
    if _ANY_FLAG.search(rest):  # it is unclear to which command the flag belongs
        return None
    tasks = [task for task, words in _TASK_WORDS.items() if words.search(rest)]
    complied, violated = False, False
    for command in commands:
        if any(runs_pattern(command, one.pattern) for one in asked):
            complied = True
        elif _does_instead(command, tasks, asked) if tasks else _is_rival(command, asked):
            violated = True
    return False if violated else True if complied else None


def _does_instead(command: Command, tasks: list[str], asked: list[Mention]) -> bool:
    return any(does_task(command, task) for task in tasks) and all(
        is_same_ecosystem(command, one.pattern[0]) and not runs_pattern(command, one.pattern[:1])
        for one in asked
    )


def _is_rival(command: Command, asked: list[Mention]) -> bool:
    """Return whether a project that uses the asked programs would not use this one."""
    programs = {one.pattern[0] for one in asked}
    rivals = {name for program in programs for name in exclusive_programs(program)} - programs
    return any(runs_pattern(command, (name,), bare=True) for name in rivals)


def _check_run_before(asked: list[Mention], event: str, actions: Sequence[Action]) -> bool | None:
    """Check "run X before each commit": it ran, and nothing changed since."""
    git_event = ("git", "commit") if event == "commit" else ("git", "push")
    ready = {one.pattern: False for one in asked}
    ever = dict(ready)
    verdict: bool | None = None
    for action in actions:
        if is_change(action):
            ready = dict.fromkeys(ready, False)
        if action.command is None:
            continue
        for pattern in ready:
            if runs_pattern(action.command, pattern):
                ever[pattern] = True
                ready[pattern] = not action.failed
        if runs_pattern(action.command, git_event) and not action.failed:
            if not all(ever.values()):
                return False
            if not all(ready.values()):
                return None
            verdict = True
    return verdict


def _check_forbidden_flag(sentence: str, commands: Sequence[Command]) -> bool | None:
    """Check "never use --no-verify", which names no command."""
    flags = _LONG_FLAG.findall(sentence)
    if not flags or not _NEGATION.search(sentence):
        return None
    if any(has_flag(command, flag) for command in commands for flag in flags):
        return False
    patterns = [_FLAG_COMMANDS.get(flag) for flag in flags]
    was_due = all(one and any(runs_pattern(command, one) for command in commands) for one in patterns)
    return True if was_due else None


def _without_mentions(sentence: str, named: list[Mention]) -> str:
    for one in reversed(named):
        sentence = f"{sentence[: one.start]} {sentence[one.end :]}"
    return sentence
