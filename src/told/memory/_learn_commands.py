"""Compares the commands that a sentence asks for or forbids with those that were run."""

from __future__ import annotations

import re

from told.memory._learn_deeds import Deed, is_change, is_under
from told.memory._learn_match import has_flag, runs, same_work
from told.memory._learn_mentions import Mention, is_conditional, mentions
from told.memory._learn_programs import EVERYWHERE, does, family, may_replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from told.memory._observe_shell import Command

_BEFORE = re.compile(
    r"\b(?:before|vor|avant|antes)\b(?:\s+(?:you|we|each|every|any|a|an|the|making|doing|creating|git|jedem|dem|einem|de|du"
    r"|chaque|tout|le|un|faire|cada|el|hacer|um|o|fazer))*\s+(?P<what>commit|push|pousse)",
    re.IGNORECASE,
)
_AFTER = re.compile(r"\b(?:before|after|vor|nach|avant|après|antes|después|depois)\b", re.IGNORECASE)
_TASKS = {
    "test": r"tests?|test suite|testing|specs?|teste[ns]?|pruebas|testes",
    "lint": r"lint(?:ing|er)?",
    "format": r"format(?:ting|ter)?|formatieren|formater|formatear|formatar",
    "build": r"builds?|building|bauen|compiler|compilar",
    "check": r"type[- ]?checks?|type checking",
    "install": r"install(?:ing|s)?|dependenc(?:y|ies)|packages?|abhängigkeiten|dépendances|depend[eê]ncias",
}
_TASK = {task: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for task, words in _TASKS.items()}
_FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
_ANY_FLAG = re.compile(r"(?<![\w-])--?[a-z][\w-]*")
_FLAG_OF = {
    "--no-verify": ("git", "commit"), "--amend": ("git", "commit"), "--force": ("git", "push"),
    "--legacy-peer-deps": ("npm", "install"), "--no-edit": ("git", "commit"),
}  # fmt: skip
# A rule for another place than this project's folder, of which nothing is known here.
_ELSEWHERE = re.compile(
    r"\s*(?:(?:in|for|on)\s+(?:the\s+)?(?!this\b|all\b|every|general|tests?\b|future|addition|most|our\b"
    r"|python|js\b|javascript|typescript)[\w.-]+(?:\s+(?:repo|repository|project|package|service|app|folder|side))?\s*[,:]?\s+"
    r"(?:we|use|run|always|never|commit|do|please|you)\b|on (?:windows|mac|macos|linux)\b"
    r"|in (?:ci|prod|production)\b)",
    re.IGNORECASE,
)
_FOR = re.compile(r"\bfor\s+(?:the\s+|our\s+)?([\w-]+)", re.IGNORECASE)
_GENERAL_WORDS = """
all any anything building builds commits dependencies dev development everything format formatting
install installing installs javascript js lint linting local package packages project python repo running
scripts speed test testing tests this tooling typescript
"""
_GENERAL = frozenset(_GENERAL_WORDS.split())


def judged(sentence: str, done: Sequence[Deed], places: Sequence[str]) -> bool | None:
    """Return whether the commands that were run comply with a sentence; None where that is not plain."""
    named = mentions(sentence)
    named = [one for one in named if not _is_too_common(one, named)]
    spoken = _without(sentence, named)
    outside = [place for place in places if place in spoken]
    here = [deed for deed in done if deed.command is not None and _is_here(deed, outside)]
    asked = [one for one in named if one.sense > 0]
    forbidden = [one for one in named if one.sense < 0]
    if asked and not forbidden and (before := _BEFORE.search(sentence)):
        return _in_time(asked, before["what"].lower(), done)
    if is_conditional(spoken) or _is_elsewhere(sentence, outside) or _AFTER.search(sentence):
        return None
    if not named:
        return _flag(sentence, here)
    if forbidden:
        limits = [one for one in named if one.limits]
        ran = [deed for deed in here if not limits or _is_of(deed, limits)]
        return _against(asked, forbidden, ran)
    return _for(sentence, asked, here) if asked else None


def _is_too_common(one: Mention, named: list[Mention]) -> bool:
    """Whether a bare name such as `git` says nothing, for nothing else is set against it."""
    name = one.pattern[0]
    kin = family(name) - {name}
    return (
        len(one.pattern) == 1 and name in EVERYWHERE and not any(other.pattern[0] in kin for other in named)
    )


def _is_here(deed: Deed, places: Sequence[str]) -> bool:
    if not places or deed.command is None:
        return True
    words = (deed.command.folder, *deed.command.words[1:])
    return any(word and is_under(word, place) for word in words for place in places)


def _is_elsewhere(sentence: str, places: Sequence[str]) -> bool:
    if places:
        return False
    return _ELSEWHERE.match(sentence) is not None or any(
        word.lower() not in _GENERAL for word in _FOR.findall(sentence)
    )


def _against(asked: list[Mention], forbidden: list[Mention], here: Sequence[Deed]) -> bool | None:
    """Judge "use X, not Y" and "never Y"."""
    complied = False
    for deed in here:
        command = deed.command
        if command is None:
            continue
        if any(runs(command, one.pattern) for one in asked):
            complied = True
            continue
        for one in forbidden:
            inside = any(one.pattern[0] in other.pattern[1:] for other in asked)
            if runs(command, one.pattern, bare=inside):
                return False
            if not asked and _is_kin(deed, one.pattern):
                complied = True
    return True if complied else None


def _is_of(deed: Deed, named: list[Mention]) -> bool:
    return deed.command is not None and any(runs(deed.command, one.pattern[:1]) for one in named)


def _is_kin(deed: Deed, pattern: tuple[str, ...]) -> bool:
    """Whether a command does the work of a forbidden one in another way."""
    command = deed.command
    if command is None:
        return False
    if len(pattern) > 1:
        return same_work(command, pattern) if pattern[0] != "rm" else False
    others = family(pattern[0]) - {pattern[0]}
    return any(runs(command, (other,), bare=True) for other in others)


def _for(sentence: str, asked: list[Mention], here: Sequence[Deed]) -> bool | None:
    """Judge "use X" and "run the tests with X"."""
    words = _without(sentence, asked)
    if _ANY_FLAG.search(words):  # one that belongs to it in a way that is not plain
        return None
    tasks = [task for task, spoken in _TASK.items() if spoken.search(words)]
    complied, violated = False, False
    for deed in here:
        command = deed.command
        if command is None:
            continue
        if any(runs(command, one.pattern) for one in asked):
            complied = True
        elif _does_instead(command, tasks, asked) if tasks else _is_rival(deed, asked):
            violated = True
    return False if violated else True if complied else None


def _does_instead(command: Command, tasks: list[str], asked: list[Mention]) -> bool:
    return any(does(command, task) for task in tasks) and all(
        may_replace(command, one.pattern[0]) and not runs(command, one.pattern[:1]) for one in asked
    )


def _is_rival(deed: Deed, asked: list[Mention]) -> bool:
    """Whether a command is of a program that a project does not use beside the one that was asked for."""
    others = {name for one in asked for name in family(one.pattern[0])} - {one.pattern[0] for one in asked}
    return deed.command is not None and any(runs(deed.command, (name,), bare=True) for name in others)


def _in_time(asked: list[Mention], what: str, done: Sequence[Deed]) -> bool | None:
    """Judge "run X before each commit": it was run, and nothing was changed between."""
    event = ("git", "commit") if what == "commit" else ("git", "push")
    ready = {one.pattern: False for one in asked}
    ever = dict(ready)
    verdict: bool | None = None
    for deed in done:
        if is_change(deed):
            ready = dict.fromkeys(ready, False)
        if deed.command is None:
            continue
        for pattern in ready:
            if runs(deed.command, pattern):
                ever[pattern] = True
                ready[pattern] = not deed.failed
        if runs(deed.command, event) and not deed.failed:
            if not all(ever.values()):
                return False
            if not all(ready.values()):
                return None
            verdict = True
    return verdict


def _flag(sentence: str, here: Sequence[Deed]) -> bool | None:
    """Judge "never use --no-verify", which names no command."""
    flags = _FLAG.findall(sentence)
    if not flags or not re.search(
        r"\b(?:never|not|no|don't|avoid|nie|nicht|jamais|nunca|não)\b", sentence, re.IGNORECASE
    ):
        return None
    ran = [deed.command for deed in here if deed.command is not None]
    if any(has_flag(command, flag) for command in ran for flag in flags):
        return False
    needed = [_FLAG_OF.get(flag) for flag in flags]
    return True if all(one and any(runs(command, one) for command in ran) for one in needed) else None


def _without(sentence: str, named: list[Mention]) -> str:
    for one in reversed(named):
        sentence = f"{sentence[: one.start]} {sentence[one.end :]}"
    return sentence
