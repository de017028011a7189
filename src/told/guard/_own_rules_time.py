"""Decides from a pattern alone whether looking for it takes time in proportion to the text.

Python's `re` tries one way after another. That stays linear if, from each place where a match may begin,
there are few ways to go on, and if no part of the text is walked through again from many such places. So of
each way through the pattern (alternatives are taken apart) this wants, for each repeat without a limit: what
is repeated has one length and no alternatives; before it stands a character that it cannot repeat; and
between two of them stands a character that the first cannot repeat. The last repeat of a pattern needs no
such character before it if nothing behind it can fail, for then all that was walked through is found.
"""

from __future__ import annotations

import re
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]

from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

_MOST_WAYS = 200  # through alternatives, and for short repeats to share the same characters
_LONGEST_REPEAT = 1000
_MOST_COPIES = 16
_OTHERS = 128  # stands for all characters that are not ASCII
_ALL = frozenset(range(_OTHERS + 1))
_TOO_MANY = "has too many alternatives: write it simpler"
_NESTED = (
    "repeats something of changing length, which can take forever: repeat one character or one fixed length"
)
_BACK = "refers back to what it matched, which can take forever: leave that out"
_LOOKS_FAR = "looks around without a limit: bound what it looks for, as in {0,100}"
_RUNS_ON = "has a repeat without a limit that many places can run into: bound it, as in {1,200}"
_SHARED = "has repeats that share characters, which can take forever: put a fixed character between them"
_FAR = f"repeats more than {_LONGEST_REPEAT} times: leave the upper limit out, or make it smaller"
_EMPTY = "matches the empty text: make a part of it obligatory"


class _Refused(Exception):  # noqa: N818 - it never leaves this file
    """The pattern is refused."""


@record
class _Item:
    """One step of a way through a pattern."""

    characters: frozenset[int]  # what it can match; a look around or an anchor matches nothing
    least: int = 1
    most: int = 1
    stops: frozenset[int] = frozenset()  # what cannot stand right before, where this is an anchor

    @property
    def endless(self) -> bool:
        return self.most > _LONGEST_REPEAT

    @property
    def varies(self) -> bool:
        return self.most > self.least


def trouble_with(pattern: str) -> str:
    """Return why a pattern is refused, as the end of a sentence, or nothing."""
    try:
        parsed = _parser.parse(pattern)
        if parsed.getwidth()[0] == 0:
            return _EMPTY
        flags = parsed.state.flags
        for way in _ways(parsed, flags):
            _judge(way)
    except _Refused as refused:
        return str(refused)
    except RecursionError:
        return _TOO_MANY
    return ""


def _judge(way: list[_Item]) -> None:
    """Refuse a way through the pattern that can walk through the same text again and again.

    Raises:
        _Refused: it can.
    """
    shared = 1
    before: list[_Item] = []  # since the last repeat without a limit
    last: _Item | None = None
    for place, item in enumerate(way):
        if not item.endless:
            if item.varies and _meets(item, way[place + 1 :]):
                shared *= item.most - item.least + 1
            before.append(item)
            continue
        can_fail = any(one.least or not one.most for one in way[place + 1 :])
        if last is not None and not _separates(before, last):
            raise _Refused(_SHARED)
        if can_fail and not _separates(before, item):
            raise _Refused(_RUNS_ON if last is None else _SHARED)
        last, before = item, []
    if shared > _MOST_WAYS:
        raise _Refused(_SHARED)


def _meets(item: _Item, behind: list[_Item]) -> bool:
    """Tell whether what follows can match the same characters as a short repeat."""
    for one in behind:
        if one.most and not item.characters.isdisjoint(one.characters):
            return True
        if one.least and one.most:
            return False
    return False


def _separates(items: Iterable[_Item], repeat: _Item) -> bool:
    """Tell whether something among the items has to stand there that the repeat cannot match."""
    return any(
        (item.least and item.most and item.characters.isdisjoint(repeat.characters))
        or (item.stops and item.stops >= repeat.characters)
        for item in items
    )


def _ways(parsed: Any, flags: int) -> list[list[_Item]]:
    """Return every way through a pattern."""
    ways: list[list[_Item]] = [[]]
    for code, argument in parsed:
        next_ways = _steps(code, argument, flags)
        ways = [way + step for way in ways for step in next_ways]
        if len(ways) > _MOST_WAYS:
            raise _Refused(_TOO_MANY)
    return ways


def _steps(code: Any, argument: Any, flags: int) -> list[list[_Item]]:
    """Return the ways through one part of a pattern."""
    if code in (codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN, codes.CATEGORY):
        return [[_Item(_characters(code, argument, flags))]]
    if code is codes.AT:
        return [[_Item(frozenset(), 0, 0, _stopped_by(argument))]]
    if code is codes.SUBPATTERN:
        _, added, removed, inner = argument
        return _ways(inner, (flags | added) & ~removed)
    if code is codes.ATOMIC_GROUP:
        return _ways(argument, flags)
    if code is codes.BRANCH:
        return [way for branch in argument[1] for way in _ways(branch, flags)]
    if code in (codes.ASSERT, codes.ASSERT_NOT):
        direction, inner = argument
        return [[_around(code, direction, inner, flags)]]
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        least, most, inner = argument
        return _repeated(least, most, inner, flags)
    raise _Refused(_BACK)


def _repeated(least: int, most: int, inner: Any, flags: int) -> list[list[_Item]]:
    if (least if most is codes.MAXREPEAT else most) > _LONGEST_REPEAT:
        raise _Refused(_FAR)
    ways = _ways(inner, flags)
    if most == 1:  # something that may be left out
        return ([] if least else [[]]) + ways
    single = len(ways) == 1 and not any(item.varies or not item.most for item in ways[0])
    if single:
        union = frozenset().union(*(item.characters for item in ways[0]))
        width = sum(item.most for item in ways[0])
        if width:
            return [
                [
                    _Item(
                        union,
                        least * width,
                        most * width if most is not codes.MAXREPEAT else _LONGEST_REPEAT + 1,
                    )
                ]
            ]
    if least == most and most <= _MOST_COPIES:
        copies: list[list[_Item]] = [[]]
        for _ in range(most):
            copies = [one + way for one in copies for way in ways]
            if len(copies) > _MOST_WAYS:
                raise _Refused(_TOO_MANY)
        return copies
    raise _Refused(_NESTED)


def _around(code: Any, direction: int, inner: Any, flags: int) -> _Item:
    """Return a look ahead or behind as a step: it matches nothing, but may keep a repeat from beginning."""
    ways = _ways(inner, flags)
    if any(item.endless for way in ways for item in way):
        raise _Refused(_LOOKS_FAR)
    for way in ways:
        _judge(way)
    stops: frozenset[int] = frozenset()
    if code is codes.ASSERT_NOT and direction < 0:
        # Not behind any of these single characters.
        stops = frozenset().union(*(way[0].characters for way in ways if len(way) == 1 and way[0].most == 1))
    if code is codes.ASSERT and direction < 0 and all(len(way) == 1 and way[0].most == 1 for way in ways):
        stops = _ALL - frozenset().union(*(way[0].characters for way in ways))
    return _Item(frozenset(), 0, 0, stops)


def _stopped_by(anchor: Any) -> frozenset[int]:
    """Return what cannot go on from before an anchor to behind it."""
    if anchor in (codes.AT_BEGINNING, codes.AT_BEGINNING_STRING):
        return _ALL - {10}  # with the flag m, it may stand behind any line feed
    if anchor is codes.AT_BOUNDARY:
        return _of_class(codes.CATEGORY_WORD)  # between two of these is none
    return frozenset()


def _characters(code: Any, argument: Any, flags: int) -> frozenset[int]:
    if code is codes.LITERAL:
        return _of_letter(argument, flags)
    if code is codes.NOT_LITERAL:
        return _ALL - {argument}
    if code is codes.ANY:
        return _ALL if flags & re.DOTALL else _ALL - {10}
    if code is codes.CATEGORY:
        return _of_class(argument)
    found = frozenset[int]().union(*_members(argument, flags))
    if argument and argument[0][0] is codes.NEGATE:
        found = _ALL - (found - {_OTHERS})
    return found


def _members(members: Any, flags: int) -> Iterator[frozenset[int]]:
    for code, argument in members:
        if code is codes.LITERAL:
            yield _of_letter(argument, flags)
        elif code is codes.RANGE:
            low, high = argument
            for letter in range(low, min(high, _OTHERS - 1) + 1):
                yield _of_letter(letter, flags)
            if high >= _OTHERS:
                yield frozenset((_OTHERS,))
        elif code is codes.CATEGORY:
            yield _of_class(argument)


def _of_letter(letter: int, flags: int) -> frozenset[int]:
    if not flags & re.IGNORECASE:
        return frozenset((min(letter, _OTHERS),))
    text = chr(letter)
    # Some letters beyond ASCII are the same as k and s where case does not matter.
    forms = {min(ord(form), _OTHERS) for form in (text, *text.lower(), *text.upper())}
    return frozenset(forms | {_OTHERS}) if text.isalpha() else frozenset(forms)


def _of_class(category: Any) -> frozenset[int]:
    named = {
        codes.CATEGORY_DIGIT: r"\d",
        codes.CATEGORY_NOT_DIGIT: r"\D",
        codes.CATEGORY_SPACE: r"\s",
        codes.CATEGORY_NOT_SPACE: r"\S",
        codes.CATEGORY_WORD: r"\w",
        codes.CATEGORY_NOT_WORD: r"\W",
    }[category]
    found = re.compile(named)
    return frozenset(one for one in range(_OTHERS) if found.match(chr(one))) | {_OTHERS}
