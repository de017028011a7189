"""Observe what an agent did: commits, repairs and its closing answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from told.agents.reading import FAILED
from told.fence import strip_fenced
from told.learning import TABLE, alternation, load_alternation, load_words
from told.learning.shell import Command, parse_commands
from told.learning.tool_calls import CREATE, EDIT, SHELL, Call, find_commit, parse_calls
from told.pattern import lazy_pattern
from told.store.sessions.read import TurnRow
from told.text import clean, shorten
from told.words import find_sentences

MAX_OBSERVATIONS = 5  # of a session
_MAX_TEXT = 240  # characters
_MAX_QUOTE = 400
_MAX_PATHS = 8

BUGFIX, DISCOVERY, CHANGE = "bugfix", "discovery", "change"
_COMMIT_TYPE = lazy_pattern(r"(\w+)(?:\([^)]{0,60}\))?!?:\s")
_COMMIT_LABELS: dict[str, str] = {
    name: label for label, names in TABLE["commit_types"].items() for name in names.split()
}
_LABEL_WORDS: list[tuple[str, re.Pattern[str]]] = [
    (label, lazy_pattern(rf"\b{alternation(words)}\b", re.IGNORECASE))
    for label, words in TABLE["label_words"].items()
]
_CJK_LABELS = (
    (BUGFIX, ("修复", "修正")), ("refactor", ("重构", "重命名", "リファクタ", "改名")),
    (DISCOVERY, ("原因", "发现", "発見")), ("feature", ("添加", "新增", "追加", "实现", "実装")),
)  # fmt: skip

_CODE_FENCE = lazy_pattern(r"^\s*(?:```|~~~)")
_LINE_MARKS = lazy_pattern(r"^\s*(?:#{1,6}\s+|(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX>~-]\]\s*)?|>\s*)+")
_NARRATION = lazy_pattern(rf"{load_alternation('narration')}(?![a-z])", re.IGNORECASE)
_POLITENESS = lazy_pattern(rf"{load_alternation('politeness')}(?![a-z])", re.IGNORECASE)
_RESULT = lazy_pattern(
    rf"\b{load_alternation('result_words')}\b|已|修复|添加|更新|重命名|しました|修正|追加", re.IGNORECASE
)
_MAX_PARAGRAPH = 2_000
_MIN_BYTES = 12  # of a sentence; bytes, because CJK languages need few characters

_CHECK_COMMANDS = load_words("check_commands")
_TRIVIAL_COMMANDS = load_words("trivial_commands")
_INSTALL_WORDS = load_words("install_words")
_MAX_COMMAND = 100  # characters
_MAX_NAMED_FILES = 4
_MAX_OPEN_FAILURES = 50


@dataclass(frozen=True, slots=True)
class Observation:
    """One thing that an agent did and that is worth knowing later."""

    label: str  # bugfix, feature, refactor, discovery, change or decision
    text: str
    quote: str  # from the turn's steps or answer
    turn: int
    at: int
    paths: tuple[str, ...] = ()


def find_observations(
    turns: Sequence[TurnRow], root: str = "", limit: int = MAX_OBSERVATIONS
) -> list[Observation]:
    """Return the most useful observations of a session, in its order.

    Repairs first, then the latest commits, and one closing answer. None without edits and commits.
    """
    if limit < 1 or not any(_has_calls(turn) for turn in turns):
        return []
    session = _SessionObserver(root)
    for turn in turns:
        session.add(turn, is_last=turn is turns[-1])
    return session.choose(limit)


def _has_calls(turn: TurnRow) -> bool:
    return bool(turn.steps) and "[" in turn.steps


class _SessionObserver:
    """Collect what was done in a session, turn by turn."""

    def __init__(self, root: str) -> None:
        self._root = root.rstrip("/") + "/" if root else ""
        self._commits: list[Observation] = []
        self._repairs: list[Observation] = []
        self._tracker = RepairTracker()
        self._edited: dict[str, None] = {}  # since the last commit
        self._last_work: tuple[TurnRow, tuple[str, ...]] | None = None

    def add(self, turn: TurnRow, *, is_last: bool) -> None:
        calls = parse_calls(turn.steps.splitlines()) if _has_calls(turn) else []
        changed: dict[str, None] = {}
        for at, call in enumerate(calls):
            # How the very last call of a session ended is not known yet.
            is_over = at + 1 < len(calls) or bool(turn.answered) or not is_last
            if call.kind in (EDIT, CREATE) and not call.ended:
                path = self._shorten_path(call.about)
                self._edited[path] = changed[path] = None
                self._tracker.add_edit(path)
            elif call.kind == SHELL and is_over:
                self._add_command(turn, call)
        if changed or any(one.turn == turn.n for one in self._commits):
            self._last_work = turn, tuple(filter(None, changed))

    def _add_command(self, turn: TurnRow, call: Call) -> None:
        repairs = self._tracker.add_command(call.about, failed=call.ended == FAILED, passed=not call.ended)
        for repair in repairs:
            self._repairs = [one for one in self._repairs if not one.text.startswith(repair.opening)]
            text = shorten(clean(repair.text), _MAX_TEXT)
            self._repairs.append(_observe(repair.label, text, call.line, turn, repair.paths))
        commit = find_commit(call.about) if not call.ended else None
        if commit is None:
            return
        subject, amends = commit
        paths = tuple(filter(None, self._edited))
        if amends and self._commits:
            paths = tuple(dict.fromkeys((*self._commits.pop().paths, *paths)))
        text = shorten(clean(f"Committed: {subject}"), _MAX_TEXT)
        label = label_text(subject, is_commit=True)
        self._commits.append(_observe(label, text, call.line, turn, paths))
        self._edited = {}

    def _shorten_path(self, path: str) -> str:
        path = clean(path).removeprefix(self._root) if self._root else clean(path)
        return path if len(path) <= _MAX_TEXT and ("/" in path or "." in path) else ""

    def choose(self, limit: int) -> list[Observation]:
        closing = self._observe_closing()
        commits = list({one.text: one for one in self._commits}.values())[::-1]
        if not closing and not commits and not self._last_work:
            return []
        room = limit - len(closing)
        chosen = self._repairs[::-1][: max(room - 1, 0) if commits and room > 1 else room]
        chosen += commits[: room - len(chosen)]
        return sorted([*chosen, *closing], key=lambda one: (one.turn, one.at))

    def _observe_closing(self) -> list[Observation]:
        """Return the summary in the answer of the last turn that changed something."""
        if self._last_work is None:
            return []
        turn, paths = self._last_work
        quote = summarise_answer(strip_fenced(turn.answered), _MAX_TEXT)
        if not quote:
            return []
        text = shorten(clean(quote.replace("**", "").replace("__", "").strip()), _MAX_TEXT)
        return [_observe(label_text(text), text, quote, turn, paths)]


def _observe(label: str, text: str, quote: str, turn: TurnRow, paths: tuple[str, ...]) -> Observation:
    return Observation(label, text, quote[:_MAX_QUOTE], turn.n, turn.at, paths[-_MAX_PATHS:])


def summarise_answer(answer: str, width: int, *, of_work: bool = False) -> str:
    """Return the first sentences of an answer that report results, verbatim.

    `of_work`: the turn changed something, so any sentence counts as a report.
    """
    paragraphs = [words for _, words in split_lines(answer)]
    plans = (at for at, words in enumerate(paragraphs) if _is_narration(_normalise(words)))
    last_plan = max(plans, default=-1)
    for paragraph in paragraphs[last_plan + 1 :]:
        chosen, end = "", 0
        for at, stop in find_sentences(paragraph, 0, min(len(paragraph), _MAX_PARAGRAPH)):
            sentence = paragraph[at:stop]
            reports = _is_report(sentence, of_work=of_work)
            if chosen:
                more = paragraph[end:stop]
                if len(chosen) + len(more) > width or not reports:
                    return chosen
                chosen += more
            elif reports:
                chosen = sentence
            end = stop
        if chosen:
            return chosen
    return ""


def _is_narration(paragraph: str) -> bool:
    return _NARRATION.match(paragraph) is not None and not _POLITENESS.match(paragraph)


def _is_report(sentence: str, *, of_work: bool) -> bool:
    return (
        len(sentence.encode("utf-8", "replace")) > _MIN_BYTES
        and not sentence.endswith(("?", "\uff1f", ":"))
        and not _POLITENESS.match(_normalise(sentence))
        and (of_work or _RESULT.search(sentence) is not None)
    )


def _normalise(sentence: str) -> str:
    """Return a sentence without leading markup and with plain apostrophes."""
    return sentence.lstrip("*_` ").replace("\u2019", "'")


def split_lines(answer: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of prose, raw and without list marks and headings; no code and no tables."""
    in_code = False
    for line in answer.splitlines():
        if _CODE_FENCE.match(line):
            in_code = not in_code
        elif not in_code and (words := _LINE_MARKS.sub("", line).strip()) and not words.startswith("|"):
            yield line, words


def label_text(text: str, *, is_commit: bool = False) -> str:
    """Return the label of a commit's subject or of a sentence."""
    typed = _COMMIT_TYPE.match(text) if is_commit else None
    if typed and typed[1].lower() in _COMMIT_LABELS:
        return _COMMIT_LABELS[typed[1].lower()]
    matches = [
        (found.start(), at, label)
        for at, (label, words) in enumerate(_LABEL_WORDS)
        if (found := words.search(text))
    ]
    if matches:
        # A commit says first what it does; an answer that names a fault is about the fault.
        return min(matches)[2] if is_commit else min(matches, key=lambda match: match[1])[2]
    return next((label for label, words in _CJK_LABELS if any(word in text for word in words)), CHANGE)


@dataclass(frozen=True, slots=True)
class Repair:
    """A command that failed, and what made it pass."""

    command: str
    paths: tuple[str, ...]
    by: str = ""  # a command, if no file was changed

    @property
    def opening(self) -> str:
        """Return the start of the text about this command."""
        return f"`{self.command}` failed"

    @property
    def label(self) -> str:
        """Return the observation's label."""
        return BUGFIX if self.paths else DISCOVERY

    @property
    def text(self) -> str:
        """Return what happened, in one sentence."""
        if not self.paths:
            return f"{self.opening}, and passed after `{self.by}`"
        names = list(dict.fromkeys(path.rsplit("/", 1)[-1] for path in self.paths))
        named = ", ".join(names[:_MAX_NAMED_FILES])
        more = f" and {len(names) - _MAX_NAMED_FILES} more" if len(names) > _MAX_NAMED_FILES else ""
        return f"{self.opening}, and passed after changes to {named}{more}"


@dataclass(slots=True)
class _Failure:
    """A command that failed and has not passed since."""

    paths: dict[str, None] = field(default_factory=dict)
    by: str = ""


class RepairTracker:
    """Find commands that failed and passed later."""

    def __init__(self) -> None:
        self._open: dict[str, _Failure] = {}

    def add_edit(self, path: str) -> None:
        """Add a changed file."""
        if path:
            for one in self._open.values():
                one.paths[path] = None

    def add_command(self, line: str, *, failed: bool, passed: bool) -> Iterator[Repair]:
        """Add a command line; yield what it shows to be repaired."""
        if not failed and not self._open:
            return
        commands = [one for one in parse_commands(line) if one.words[0] not in _TRIVIAL_COMMANDS]
        if failed:
            key = _key(commands)
            if key and len(self._open) < _MAX_OPEN_FAILURES:
                self._open.setdefault(key, _Failure())
        elif passed:
            keys = {_key(commands), *(_key([one]) for one in commands)} - {""}
            for key in sorted(keys & self._open.keys()):
                if not _shows_result(line, commands):
                    continue
                one = self._open.pop(key)
                if one.paths or one.by:
                    yield Repair(key, tuple(one.paths), one.by)
            by = _key([one for one in commands if not _INSTALL_WORDS.isdisjoint(one.words)])
            for one in self._open.values():
                one.by = by or one.by


def _key(commands: list[Command]) -> str:
    """Return the checks of a line, or its only command, to recognise it later."""
    if not commands or not all(one.is_complete for one in commands):
        return ""
    checks = [one for one in commands if _is_check(one)]
    if not checks and len(commands) > 1:
        return ""
    key = " && ".join(" ".join(one.words) for one in checks or commands)
    return key if len(key) <= _MAX_COMMAND and "`" not in key and key.isprintable() else ""


def _is_check(command: Command) -> bool:
    """Return whether a command tests, builds or checks the project."""
    words = (word for layer in command.layers for word in layer[:3])
    return any(part in _CHECK_COMMANDS for word in words for part in (word, *word.split(":")))


def _shows_result(line: str, commands: list[Command]) -> bool:
    """Return whether the line's exit code is that of its commands: not after `|` or `;`."""
    last = commands[-1].words
    then = ""
    for command in parse_commands(line):
        then = command.then if command.words == last else then
        if command.then in ("|", "|&", "||", "&"):
            return False
    return then in ("", "&&", ")")
