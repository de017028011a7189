"""Check users' rules: they must find their example in linear time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

from told.errors import UsageError
from told.settings import CustomRule

_IN_NAMES = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
_MAX_NAME = 40
_MAX_PATTERN = 500


def check_rule(rule: CustomRule) -> None:
    """Check the name, pattern and example of a rule."""
    compile_rule(rule)


def compile_rule(rule: CustomRule) -> re.Pattern[str]:
    """Check a rule and compile its pattern."""
    if not 0 < len(rule.name) <= _MAX_NAME or not _IN_NAMES.issuperset(rule.name):
        raise UsageError(
            f"The name of an own rule must be 1 to {_MAX_NAME} of a-z, 0-9 and -, not {rule.name!r}."
        )
    if len(rule.pattern) > _MAX_PATTERN:
        raise UsageError(f"The pattern of rule {rule.name} is longer than {_MAX_PATTERN} characters.")
    try:
        pattern = re.compile(rule.pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageError(f"The pattern of rule {rule.name} is no regular expression: {error}.") from None
    problem = find_problem(rule.pattern)
    if problem:
        raise UsageError(f"The pattern of rule {rule.name} {problem}.")
    found = pattern.search(rule.example)
    if found is None or not found["secret" if "secret" in pattern.groupindex else 0]:
        raise UsageError(f"Rule {rule.name} does not find its own example: mend the pattern or the example.")
    return pattern


# The alternatives of a pattern are expanded to paths: lists of steps that match one after the other.
_MAX_PATHS = 200  # also for the paths in which short repeats share characters
_MAX_REPEAT = 1000
_MAX_COPIES = 16
_NON_ASCII = 128  # stands for all other characters
_ALL = frozenset(range(_NON_ASCII + 1))
_TOO_MANY = "has too many alternatives: write it simpler"
_NESTED = (
    "repeats something of changing length, which can take forever: repeat one character or one fixed length"
)
_BACK = "refers back to what it matched, which can take forever: leave that out"
_LOOKS_FAR = "looks around without a limit: bound what it looks for, as in {0,100}"
_RUNS_ON = "has a repeat without a limit that many places can run into: bound it, as in {1,200}"
_SHARED = "has repeats that share characters, which can take forever: put a fixed character between them"
_FAR = f"repeats more than {_MAX_REPEAT} times: leave the upper limit out, or make it smaller"
_EMPTY = "matches the empty text: make a part of it obligatory"


class _RefusedError(Exception):
    """The pattern is refused; the message says why."""


@dataclass(frozen=True, slots=True)
class _Step:
    """One step of a path through a pattern."""

    characters: frozenset[int]  # that it can match; none for anchors and look-arounds
    least: int = 1
    most: int = 1
    stops: frozenset[int] = frozenset()  # characters that an anchor does not allow before it

    @property
    def is_endless(self) -> bool:
        return self.most > _MAX_REPEAT

    @property
    def has_range(self) -> bool:
        return self.most > self.least


def find_problem(pattern: str) -> str:
    """Return why a pattern is refused, or ""."""
    try:
        parsed = _parser.parse(pattern)
        if parsed.getwidth()[0] == 0:
            return _EMPTY
        flags = parsed.state.flags
        for path in _paths(parsed, flags):
            _check_path(path)
    except _RefusedError as refused:
        return str(refused)
    except RecursionError:
        return _TOO_MANY
    return ""


def _check_path(path: list[_Step]) -> None:
    """Refuse a path that can match the same text in too many paths."""
    shared = 1
    before: list[_Step] = []  # since the last repeat without a limit
    last: _Step | None = None
    for place, step in enumerate(path):
        if not step.is_endless:
            if step.has_range and _overlaps(step, path[place + 1 :]):
                shared *= step.most - step.least + 1
            before.append(step)
            continue
        can_fail = any(one.least or not one.most for one in path[place + 1 :])
        if last is not None and not _separates(before, last):
            raise _RefusedError(_SHARED)
        if can_fail and not _separates(before, step):
            raise _RefusedError(_RUNS_ON if last is None else _SHARED)
        last, before = step, []
    if shared > _MAX_PATHS:
        raise _RefusedError(_SHARED)


def _overlaps(step: _Step, behind: list[_Step]) -> bool:
    """Return whether the next steps can match the characters of a repeat."""
    for one in behind:
        if one.most and not step.characters.isdisjoint(one.characters):
            return True
        if one.least and one.most:
            return False
    return False


def _separates(steps: Iterable[_Step], repeat: _Step) -> bool:
    """Return whether one of the steps excludes the characters of the repeat."""
    return any(
        (step.least and step.most and step.characters.isdisjoint(repeat.characters))
        or (step.stops and step.stops >= repeat.characters)
        for step in steps
    )


def _paths(parsed: Any, flags: int) -> list[list[_Step]]:
    """Return every path through a pattern."""
    paths: list[list[_Step]] = [[]]
    for code, argument in parsed:
        next_paths = _part_paths(code, argument, flags)
        paths = [path + step for path in paths for step in next_paths]
        if len(paths) > _MAX_PATHS:
            raise _RefusedError(_TOO_MANY)
    return paths


def _part_paths(code: Any, argument: Any, flags: int) -> list[list[_Step]]:
    """Return the paths through one part of a pattern."""
    if code in (codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN, codes.CATEGORY):
        return [[_Step(_characters(code, argument, flags))]]
    if code is codes.AT:
        return [[_Step(frozenset(), 0, 0, _anchor_stops(argument))]]
    if code is codes.SUBPATTERN:
        _, added, removed, inner = argument
        return _paths(inner, (flags | added) & ~removed)
    if code is codes.ATOMIC_GROUP:
        return _paths(argument, flags)
    if code is codes.BRANCH:
        return [path for branch in argument[1] for path in _paths(branch, flags)]
    if code in (codes.ASSERT, codes.ASSERT_NOT):
        direction, inner = argument
        return [[_look_around(code, direction, inner, flags)]]
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        least, most, inner = argument
        return _repeated(least, most, inner, flags)
    raise _RefusedError(_BACK)


def _repeated(least: int, most: int, inner: Any, flags: int) -> list[list[_Step]]:
    if (least if most is codes.MAXREPEAT else most) > _MAX_REPEAT:
        raise _RefusedError(_FAR)
    paths = _paths(inner, flags)
    if most == 1:  # an optional part
        return ([] if least else [[]]) + paths
    if len(paths) == 1 and paths[0] and not any(step.has_range or not step.most for step in paths[0]):
        union = frozenset().union(*(step.characters for step in paths[0]))
        width = sum(step.most for step in paths[0])
        most_width = _MAX_REPEAT + 1 if most is codes.MAXREPEAT else most * width
        return [[_Step(union, least * width, most_width)]]
    if least == most and most <= _MAX_COPIES:
        copies: list[list[_Step]] = [[]]
        for _ in range(most):
            copies = [one + path for one in copies for path in paths]
            if len(copies) > _MAX_PATHS:
                raise _RefusedError(_TOO_MANY)
        return copies
    raise _RefusedError(_NESTED)


def _look_around(code: Any, direction: int, inner: Any, flags: int) -> _Step:
    """Return a look-around as a step: it may keep a repeat from starting."""
    paths = _paths(inner, flags)
    if any(step.is_endless for path in paths for step in path):
        raise _RefusedError(_LOOKS_FAR)
    for path in paths:
        _check_path(path)
    stops: frozenset[int] = frozenset()
    if code is codes.ASSERT_NOT and direction < 0:
        stops = frozenset().union(
            *(path[0].characters for path in paths if len(path) == 1 and path[0].most == 1)
        )
    if code is codes.ASSERT and direction < 0 and all(len(path) == 1 and path[0].most == 1 for path in paths):
        stops = _ALL - frozenset().union(*(path[0].characters for path in paths))
    return _Step(frozenset(), 0, 0, stops)


def _anchor_stops(anchor: Any) -> frozenset[int]:
    """Return the characters that an anchor does not allow before it."""
    if anchor in (codes.AT_BEGINNING, codes.AT_BEGINNING_STRING):
        return _ALL - {10}  # with the flag m, a line feed may come before it
    if anchor is codes.AT_BOUNDARY:
        return _characters_of_class(codes.CATEGORY_WORD)  # there is none between two of these
    return frozenset()


def _characters(code: Any, argument: Any, flags: int) -> frozenset[int]:
    if code is codes.LITERAL:
        return _characters_of_letter(argument, flags)
    if code is codes.NOT_LITERAL:
        return _ALL - {argument}
    if code is codes.ANY:
        return _ALL if flags & re.DOTALL else _ALL - {10}
    if code is codes.CATEGORY:
        return _characters_of_class(argument)
    found = frozenset[int]().union(*_characters_of_set(argument, flags))
    if argument and argument[0][0] is codes.NEGATE:
        found = _ALL - (found - {_NON_ASCII})
    return found


def _characters_of_set(members: Any, flags: int) -> Iterator[frozenset[int]]:
    for code, argument in members:
        if code is codes.LITERAL:
            yield _characters_of_letter(argument, flags)
        elif code is codes.RANGE:
            low, high = argument
            for letter in range(low, min(high, _NON_ASCII - 1) + 1):
                yield _characters_of_letter(letter, flags)
            if high >= _NON_ASCII:
                yield frozenset((_NON_ASCII,))
        elif code is codes.CATEGORY:
            yield _characters_of_class(argument)


def _characters_of_letter(letter: int, flags: int) -> frozenset[int]:
    if not flags & re.IGNORECASE:
        return frozenset((min(letter, _NON_ASCII),))
    text = chr(letter)
    # Ignoring case, a few non-ASCII letters equal k and s.
    forms = {min(ord(form), _NON_ASCII) for form in (text, *text.lower(), *text.upper())}
    return frozenset(forms | {_NON_ASCII}) if text.isalpha() else frozenset(forms)


def _characters_of_class(category: Any) -> frozenset[int]:
    named = {
        codes.CATEGORY_DIGIT: r"\d",
        codes.CATEGORY_NOT_DIGIT: r"\D",
        codes.CATEGORY_SPACE: r"\s",
        codes.CATEGORY_NOT_SPACE: r"\S",
        codes.CATEGORY_WORD: r"\w",
        codes.CATEGORY_NOT_WORD: r"\W",
    }[category]
    found = re.compile(named)
    return frozenset(one for one in range(_NON_ASCII) if found.match(chr(one))) | {_NON_ASCII}
