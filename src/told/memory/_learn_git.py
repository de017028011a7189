"""Compares rules about commits and pushes with those that were made."""

from __future__ import annotations

import re

from told.memory._learn_match import has_flag, runs
from told.memory._observe_shell import Command, plain_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from told.memory._learn_deeds import Deed

_NO = (
    r"(?:never|don'?t|do not|must not|mustn'?t|should not|shouldn'?t|no|not|nie|niemals|nicht|kein\w*|jamais"
    r"|ne|nunca|não|nao)"
)
_TO = (
    r"\b(?:to|on|into|auf|nach|sur|vers|a|en|para|na|no)\s+(?:the\s+|den\s+|la\s+|o\s+)?`?(?:origin/)?"
    r"(main|master|develop|dev|trunk|production|release)\b"
)
_PUSH = re.compile(rf"\b{_NO}\b[^.;]*?\b(?:push\w*|pousse\w*)\b", re.IGNORECASE)
_BRANCH = re.compile(_TO, re.IGNORECASE)
_FORCE = re.compile(rf"\b{_NO}\b[^.;]*\b(?:force[- ]?push\w*|push\w* (?:with )?(?:--)?force)", re.IGNORECASE)
_SETS_LIMITS = re.compile(
    r"\b(?:without|unless|until|before|ask|except|if|when|ohne|sans|sin|sem|other than)\b", re.IGNORECASE
)
_CONVENTIONAL = re.compile(
    r"(?:feat|fix|docs|style|refactor|perf|test|build|ci|chore|revert)(?:\([^)]*\))?!?: \S"
)
_ABOUT_MESSAGES = re.compile(r"\bcommit\w*|nachricht|subject|mensaje|mensagem", re.IGNORECASE)
_TICKET = re.compile(r"\b([A-Z][A-Z0-9]{1,9})-(?:\d+|N+|X+|#+|<|\{|\.)")
_LENGTH = re.compile(r"\b(\d{2,3})\s*(?:characters|chars|zeichen|caractères|caracteres)", re.IGNORECASE)
_EMOJI = re.compile("[\u2600-\u27bf\u2b50\U0001f300-\U0001faff]|:[a-z_]{3,20}:")
_SIGN_OFF = re.compile(r"\bsign(?:ed)?[- ]off\b|--signoff", re.IGNORECASE)


def judged(sentence: str, done: Sequence[Deed]) -> bool | None:
    """Return whether commits and pushes comply with a sentence; None where that is not plain."""
    commands = [deed.command for deed in done if deed.command is not None and not deed.failed]
    pushes = [command for command in commands if runs(command, ("git", "push"))]
    if _FORCE.search(sentence):
        if any(has_flag(push, "--force") for push in pushes):
            return False
        return True if pushes else None
    if _PUSH.search(sentence):
        if branch := _BRANCH.search(sentence):
            return _not_to(branch[1].lower(), pushes)
        if _SETS_LIMITS.search(sentence) or re.search(
            r"\bpush\w* (?:to|auf|sur|a|para)\b", sentence, re.IGNORECASE
        ):
            return None
        committed = any(runs(command, ("git", "commit")) for command in commands)
        return False if pushes else True if committed else None
    if _ABOUT_MESSAGES.search(sentence):
        return _messages(sentence, done)
    return None


def _not_to(branch: str, pushes: list[Command]) -> bool | None:
    targets = [_target(push) for push in pushes]
    if branch in targets:
        return False
    return True if targets and all(targets) else None


def _target(push: Command) -> str:
    """Return the branch that a push names; nothing where only git knows it."""
    words = next(layer for layer in push.layers if layer[0] == "git")
    plain = plain_words(words)[2:]
    name = plain[1].rpartition(":")[2].removeprefix("+").removeprefix("refs/heads/") if len(plain) > 1 else ""
    return "" if name in ("HEAD", "") or name.startswith("$") else name.lower()


def _messages(sentence: str, done: Sequence[Deed]) -> bool | None:
    """Judge what commits are to look like."""
    subjects = [deed.subject for deed in done if deed.subject]
    if not subjects:
        return None
    found: list[bool] = []
    if re.search(r"conventional", sentence, re.IGNORECASE):
        found += [_CONVENTIONAL.match(subject) is not None for subject in subjects]
    if ticket := _TICKET.search(sentence):
        starts = re.compile(rf"[\[(]?{ticket[1]}-\d+")
        found += [starts.match(subject) is not None for subject in subjects]
    if (length := _LENGTH.search(sentence)) and not any(subject.endswith("…") for subject in subjects):
        found += [len(subject) <= int(length[1]) for subject in subjects]
    if re.search(rf"\b(?:without|{_NO}|ohne|sans|sin|sem)\s+(?:any\s+)?emojis?", sentence, re.IGNORECASE):
        found += [_EMOJI.search(subject) is None for subject in subjects]
    if _SIGN_OFF.search(sentence):
        made = [deed.command for deed in done if deed.subject and deed.command is not None]
        found += [has_flag(command, "--signoff") for command in made]
    return all(found) if found else None
