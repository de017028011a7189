"""Check whether a session followed a memory that it was shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from told.learning import compile_any_case as _compile
from told.learning import load_alternation
from told.learning.commands import check_commands, has_flag, runs_pattern
from told.learning.shell import Command, plain_words
from told.learning.tool_calls import CREATE, OTHER, SHELL, Action, is_change, is_under, parse_actions
from told.pattern import lazy_pattern
from told.store.memories.records import OBSERVATION, Memory
from told.words import split_sentences

_MAX_TEXT = 600  # characters

_REASON = _compile(
    r"\s*[,(]?\s*\b(?:because|since|so that|as it|weil|damit|parce que|car|porque|ya que|pois|já que)\b.*"
)
_PATH = lazy_pattern(
    r"(?<![\w/.:@-])(?:[\w.*@+~-]+/)+[\w.*+-]*"
    r"|(?<![\w/.:@-])[\w*-]*\.(?:lock|env|md|py|pyi|ts|tsx|js|jsx|json|toml|ya?ml|sql|go|rs|rb|java|kt|css"
    r"|html|proto|cfg|ini)\b"
)
_URL = lazy_pattern(r"\S*://\S*")

_NOT = (
    r"(?:never|don'?t|do not|must not|mustn'?t|should not|shouldn'?t|no|not|nie|niemals|nicht|kein\w*|jamais"
    r"|ne|nunca|não|nao)"
)
_NO_PUSH = _compile(rf"\b{_NOT}\b[^.;]*?\b(?:push\w*|pousse\w*)\b")
_NO_FORCE_PUSH = _compile(rf"\b{_NOT}\b[^.;]*\b(?:force[- ]?push\w*|push\w* (?:with )?(?:--)?force)")
_TO_BRANCH = _compile(
    r"\b(?:to|on|into|auf|nach|sur|vers|a|en|para|na|no)\s+(?:the\s+|den\s+|la\s+|o\s+)?`?(?:origin/)?"
    r"(main|master|develop|dev|trunk|production|release)\b"
)
_PUSH_CONDITION = _compile(
    r"\b(?:without|unless|until|before|ask|except|if|when|ohne|sans|sin|sem|other than)\b"
    r"|\bpush\w* (?:to|auf|sur|a|para)\b"
)
_CONVENTIONAL = lazy_pattern(
    r"(?:feat|fix|docs|style|refactor|perf|test|build|ci|chore|revert)(?:\([^)]*\))?!?: \S"
)
_COMMIT_MESSAGE = _compile(r"\bcommit\w*|nachricht|subject|mensaje|mensagem")
_TICKET = lazy_pattern(r"\b([A-Z][A-Z0-9]{1,9})-(?:\d+|N+|X+|#+|<|\{|\.)")
_LENGTH = _compile(r"\b(\d{2,3})\s*(?:characters|chars|zeichen|caractères|caracteres)")
_EMOJI = lazy_pattern("[\u2600-\u27bf\u2b50\U0001f300-\U0001faff]|:[a-z_]{3,20}:")
_NO_EMOJI = _compile(rf"\b(?:without|{_NOT}|ohne|sans|sin|sem)\s+(?:any\s+)?emojis?")
_SIGN_OFF = _compile(r"\bsign(?:ed)?[- ]off\b|--signoff")

_PATH_NOT, _CHANGE = load_alternation("path_negations"), load_alternation("path_changes")
_FILLER = _compile(rf"\W*(?:{load_alternation('path_fillers')}\W+)*")
_THINGS = r"(?P<things>[\w -]{3,40}?)"
_IN = rf"{load_alternation('path_prepositions')}\s+(?:{load_alternation('articles')}\s+)?`?$"
_DONT_CHANGE = _compile(rf"(?:\b{_PATH_NOT}\b|\bn')[^.;]*?\b{_CHANGE}\b|\b{_CHANGE}\b[^.;]*\b(?:nicht|nie)\b")
_EXCEPTION = _compile(r"\b(?:without|unless|until|except|ohne|sans|sin|sem|if|when|außer|sauf|salvo)\b")
_DONT_COMMIT = _compile(rf"\b{_PATH_NOT}\b[^.;]*?\b(?:commit\w*|check in|git add|stage)\b")
_ARE_IN = _compile(rf"{_THINGS}\s+{load_alternation('path_locations')}\s+{_IN}")
_PUT_IN = _compile(
    rf"\b{load_alternation('path_verbs')}\s+(?:{load_alternation('quantifiers')}\s+)*{_THINGS}\s+{_IN}"
)
_NEGATION = _compile(rf"\b{_PATH_NOT}\b")
_NAME_PART = lazy_pattern(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_WRITING_COMMANDS = ("sed", "rm", "mv", "cp", "tee", "git", "perl")


def is_followed(memory: Memory, steps: Sequence[str]) -> bool | None:
    """Return whether a session followed a memory that it was shown.

    True if the tool calls plainly comply, False if they plainly do not, else None.
    """
    if memory.kind == OBSERVATION or not steps:
        return None
    actions = parse_actions(steps)
    if not actions:
        return None
    verdicts = {_check_sentence(one, actions) for one in _find_statements(memory.text)}
    return False if False in verdicts else True if True in verdicts else None


def _find_statements(text: str) -> Iterator[str]:
    for sentence in split_sentences(text[:_MAX_TEXT].replace("\u2019", "'"), semicolons=True):
        if statement := _REASON.sub("", sentence).strip():
            yield statement


def _check_sentence(sentence: str, actions: Sequence[Action]) -> bool | None:
    places = [found.rstrip(".,") for found in _PATH.findall(_URL.sub(" ", sentence))]
    places = [place for place in places if "origin/" not in place]
    verdict = check_git(sentence, actions)
    if verdict is None:
        verdict = check_commands(sentence, actions, places)
    return check_paths(sentence, actions, places) if verdict is None else verdict


def check_git(sentence: str, actions: Sequence[Action]) -> bool | None:
    """Return whether commits and pushes comply with a sentence; None if unclear."""
    commands = [action.command for action in actions if action.command is not None and not action.failed]
    pushes = [command for command in commands if runs_pattern(command, ("git", "push"))]
    if _NO_FORCE_PUSH.search(sentence):
        if any(has_flag(push, "--force") for push in pushes):
            return False
        return True if pushes else None
    if _NO_PUSH.search(sentence):
        if branch := _TO_BRANCH.search(sentence):
            return _check_not_pushed_to(branch[1].lower(), pushes)
        if _PUSH_CONDITION.search(sentence):
            return None
        committed = any(runs_pattern(command, ("git", "commit")) for command in commands)
        return False if pushes else True if committed else None
    return _check_commit_messages(sentence, actions) if _COMMIT_MESSAGE.search(sentence) else None


def _check_not_pushed_to(branch: str, pushes: list[Command]) -> bool | None:
    targets = [_push_target(push) for push in pushes]
    if branch in targets:
        return False
    return True if targets and all(targets) else None


def _push_target(push: Command) -> str:
    """Return the branch that a push names; empty if only git knows it."""
    words = next(layer for layer in push.layers if layer[0] == "git")
    plain = plain_words(words)[2:]
    name = plain[1].rpartition(":")[2].removeprefix("+").removeprefix("refs/heads/") if len(plain) > 1 else ""
    return "" if name in ("HEAD", "") or name.startswith("$") else name.lower()


def _check_commit_messages(sentence: str, actions: Sequence[Action]) -> bool | None:
    commits = [action for action in actions if action.subject]
    subjects = [action.subject for action in commits]
    if not subjects:
        return None
    found: list[bool] = []
    if "conventional" in sentence.lower():
        found += [_CONVENTIONAL.match(subject) is not None for subject in subjects]
    if ticket := _TICKET.search(sentence):
        found += [re.match(rf"[\[(]?{ticket[1]}-\d+", subject) is not None for subject in subjects]
    if (length := _LENGTH.search(sentence)) and not any(subject.endswith("…") for subject in subjects):
        found += [len(subject) <= int(length[1]) for subject in subjects]
    if _NO_EMOJI.search(sentence):
        found += [_EMOJI.search(subject) is None for subject in subjects]
    if _SIGN_OFF.search(sentence):
        found += [has_flag(action.command, "--signoff") for action in commits if action.command is not None]
    return all(found) if found else None


def check_paths(sentence: str, actions: Sequence[Action], places: Sequence[str]) -> bool | None:
    """Return whether the files that were used comply with a sentence; None if unclear."""
    if not places:
        return None
    used = [one for one in actions if one.path and any(is_under(one.path, place) for place in places)]
    if (found := _DONT_CHANGE.search(sentence)) and _is_about_place(sentence[found.end() :], places):
        if any(is_change(one) for one in used):
            return None if _EXCEPTION.search(sentence) else False
        only_read = used and all(one.kind == OTHER for one in used)
        return True if only_read and not _may_write(actions, places) else None
    if _DONT_COMMIT.search(sentence):
        added = [
            one.command.words[2:]
            for one in actions
            if one.command and one.command.words[:2] == ("git", "add")
        ]
        is_added = any(is_under(word, place) for words in added for word in words for place in places)
        return False if is_added else None
    if _NEGATION.search(sentence):
        return None
    for place in places:
        head = sentence[: sentence.find(place)]
        if found := _PUT_IN.search(head):
            return _check_location(found["things"], places, actions)
        if found := _ARE_IN.search(head):
            verdict = _check_location(found["things"], places, actions)
            return verdict if verdict is not None else True if used else None
    return None


def _is_about_place(rest: str, places: Sequence[str]) -> bool:
    """Return whether the place itself must not change, rather than something in it."""
    at = min((start for place in places if (start := rest.find(place)) >= 0), default=0)
    return _FILLER.fullmatch(rest[:at]) is not None


def _may_write(actions: Sequence[Action], places: Sequence[str]) -> bool:
    """Return whether a shell command that can write names one of the places."""
    words = (
        word
        for one in actions
        if one.kind == SHELL and one.command and one.command.words[0] in _WRITING_COMMANDS
        for word in one.command.words[1:]
    )
    return any(is_under(word, place) for word in words for place in places)


def _check_location(things: str, places: Sequence[str], actions: Sequence[Action]) -> bool | None:
    """Check "put Xs under a/" for new files whose name contains X."""
    name = things.rsplit(maxsplit=1)[-1].lower()
    name = name[:-1] if name.endswith("s") and not name.endswith("ss") else name
    verdict: bool | None = None
    for one in actions:
        if not is_change(one) or name not in _name_parts(one.path.rsplit("/", 1)[-1]):
            continue
        if any(is_under(one.path, place) for place in places):
            verdict = True
        elif one.kind == CREATE:
            return False
    return verdict


def _name_parts(name: str) -> set[str]:
    return {part.lower().removesuffix("s") for part in _NAME_PART.findall(name)}
