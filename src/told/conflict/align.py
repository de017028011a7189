"""Align two statements word by word and tell whether they differ in their subject.

Two statements of one frame differ in their subject, their value or both. The value comes last, or right
after a choosing word ("use X for …"); a word that differs anywhere else names another subject, whatever
it is: "plan A" and "plan B", "the first replica" and "the second", HTTP 401 and 403.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import dropwhile
from typing import NamedTuple

from told.conflict.places import ARTICLES
from told.conflict.reading import (
    ANNOUNCING,
    DENY,
    EMPTY,
    PLACE,
    WEAK_SLOTS,
    Count,
    Reading,
    is_name,
    is_number,
    load_words,
    measure_unit,
    split_number,
)
from told.search.tokens import PUNCTUATION, SLOTS, canonical_stem

_CHOOSING, _CONNECTORS = load_words("choosing"), load_words("connectors")
_SELECTING = load_words("selecting")
_REVERSING = (DENY | load_words("only") | load_words("back")) - _SELECTING
_PLAIN = (EMPTY | DENY | ANNOUNCING | _CHOOSING | load_words("prefers") | load_words("is")) - _SELECTING
_BETWEEN = (ARTICLES | PLACE | _CONNECTORS | load_words("single")) - _CHOOSING
_IS, _ADDING = load_words("is"), load_words("adding")
_INSISTING = load_words("insisting", "claims") | load_words("exchangeable")
_BEFORE_MEASURE = _CONNECTORS | load_words("is") | load_words("measured")
_TOPIC_MARKS = frozenset("は是用为為")  # before a value, in Japanese and Chinese
_CLAUSE_MARKS = frozenset((",", ";"))
_NUMBER, _NAME = "#", "@"
_MIN_SHARED = 2  # words of a frame with longer parts
_MAX_VALUE = 3  # words
_MAX_TAIL = 1  # words after a number that is a value: "2 decimals", "512 MiB of memory"


class Span(NamedTuple):
    """Where two statements differ: first and last word of each, exclusive."""

    old: tuple[int, int]
    new: tuple[int, int]


def differ_in_subject(old: Reading, new: Reading) -> bool:
    """Tell whether two statements share a frame and name different subjects in it."""
    return bool(_find_named(old, new)) and not _find_value_span(old, new)


@lru_cache(maxsize=2048)
def _compare(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[Span, ...]:
    """Return where two texts differ; a number is only compared with a number, a name with a name."""
    masked, others = ([_mask(unit) for unit in units] for units in (old, new))
    found = []
    for kind, a, b, c, d in SequenceMatcher(None, masked, others, autojunk=False).get_opcodes():
        if kind != "equal":
            found.append(Span((a, b), (c, d)))
            continue
        pairs = enumerate(zip(old[a:b], new[c:d], strict=True))
        found += [Span((a + at, a + at + 1), (c + at, c + at + 1)) for at, (x, y) in pairs if _differ(x, y)]
    return tuple(found)


def _differ(one: str, other: str) -> bool:
    return one != other and not (is_number(one) and split_number(one) == split_number(other))


def _mask(unit: str) -> str:
    return _NUMBER if is_number(unit) else _NAME if is_name(unit) else unit


def _find_named(old: Reading, new: Reading) -> list[Span]:
    """Return where two statements of one frame name other things; nothing if the frame is another."""
    if {*old.units} & _REVERSING != {*new.units} & _REVERSING or _count_clauses(old) != _count_clauses(new):
        return []
    if sorted(old.units) == sorted(new.units):
        return []  # in another order the same words say the opposite: "X, never Y"
    known, said = set(map(canonical_stem, old.units)), set(map(canonical_stem, new.units))
    spans, found = _compare(old.units, new.units), []
    for span in spans:
        ours, theirs = _names_other(old, span.old, said), _names_other(new, span.new, known)
        is_last = span.old[1] == len(old.units) and span.new[1] == len(new.units)
        is_replaced = span.old[0] < span.old[1] and span.new[0] < span.new[1]
        if ours != theirs and not (is_last and is_replaced):
            return []  # one says more: another frame
        if ours or theirs:
            found.append(span)
    shared = len(old.units) - sum(b - a for (a, b), _ in spans)
    is_short = all(b - a == d - c == 1 for (a, b), (c, d) in found)
    return found if shared >= _MIN_SHARED or (shared and is_short) else []


def _count_clauses(reading: Reading) -> int:
    """Count the clauses, without a beginning like "from now on, …"."""
    rest = dropwhile(lambda token: token in EMPTY or token in PUNCTUATION, reading.tokens)
    return sum(token in _CLAUSE_MARKS for token in rest)


def _names_other(reading: Reading, span: Sequence[int], others: set[str]) -> bool:
    """Tell whether some words name something that the other statement has nowhere."""
    return any(
        unit in reading.capitals
        or is_number(unit)
        or (unit not in _PLAIN and canonical_stem(unit) not in others)
        for unit in reading.units[span[0] : span[1]]
    )


def _find_value_span(old: Reading, new: Reading) -> Span | None:
    """Return the only place where two statements of one frame differ, if it may be the value."""
    spans = _find_named(old, new)
    return spans[0] if len(spans) == 1 and _may_be_value(old, new, spans[0]) else None


def _may_be_value(old: Reading, new: Reading, span: Span) -> bool:
    """Tell whether the only difference may be the value."""
    first, second = old.units[slice(*span.old)], new.units[slice(*span.new)]
    before = old.units[: span.old[0]]
    tails = [_find_tail(one.units[at:]) for one, at in ((old, span.old[1]), (new, span.new[1]))]
    if is_number(first[0]) and is_number(second[0]):
        return all(len(tail) <= _MAX_TAIL for tail in tails)
    if not any(tails):
        return not _follows_choice(before)
    if not _TOPIC_MARKS.isdisjoint(before) or _is_chosen(before) or _is_chosen(new.units[: span.new[0]]):
        return True
    return not set(before) <= _BETWEEN and are_alternatives(first, second)


def give_other_value(old: Reading, new: Reading) -> bool:
    """Tell whether the only difference is another value of the same type.

    "in English" and "in short sentences" may both be true, "in English" and "in German" are not.
    """
    ours, theirs = find_values(old, new)
    if len(ours) != 1 or len(theirs) != 1:
        return False
    are_names = all(
        is_name(unit) or (unit in reading.capitals and not is_number(unit))
        for unit, reading in ((ours[0], old), (theirs[0], new))
    )
    return are_names or are_alternatives(ours, theirs)


def find_values(old: Reading, new: Reading) -> tuple[list[str], list[str]]:
    """Return the words of the one value in which two statements differ; nothing if they differ in more."""
    nothing: tuple[list[str], list[str]] = ([], [])
    if not DENY.isdisjoint((*old.units, *new.units)) or not _ADDING.isdisjoint((old.first, new.first)):
        return nothing
    span = _find_value_span(old, new)
    if span is None:
        return nothing
    (first, end), (other, last) = span
    is_last = end == len(old.units) and last == len(new.units)
    shared = {unit for unit in old.units if unit not in _BETWEEN} & {*new.units} - _INSISTING
    least = 1 if first and old.units[first - 1] in _CONNECTORS else _MIN_SHARED  # "deploy to eu"
    if len(shared) < least or not (is_last or _is_chosen(old.units[:first])):
        return nothing
    ours = [one for one in old.units[first:end] if one not in ARTICLES]
    theirs = [one for one in new.units[other:last] if one not in ARTICLES]
    longest = _MAX_VALUE if is_last else 1
    is_short = 0 < len(ours) <= longest and 0 < len(theirs) <= longest
    return (ours, theirs) if is_short and (_BETWEEN | _IS).isdisjoint((*ours, *theirs)) else nothing


def give_other_measure(old: Reading, new: Reading) -> bool:
    """Tell whether two statements differ only in a number that is their value."""
    span = _find_value_span(old, new)
    if span is None:
        return False
    (first, end), (other, last) = span
    one, two = old.units[first], new.units[other]
    if not first or not is_number(one) or not is_number(two) or measure_unit(one) != measure_unit(two):
        return False
    before = next((unit for unit in reversed(old.units[:first]) if unit not in ARTICLES), "")
    if old.units[first + 1 : end] != new.units[other + 1 : last]:
        return False
    counts = end < len(old.units) and old.units[end] not in _BETWEEN  # "3 partitions"
    return before in _BEFORE_MEASURE or bool(measure_unit(one)) or counts


def give_other_number(old: Reading, new: Reading) -> bool:
    """Tell whether both give a number for the same thing, and another one."""
    known, said = ({count.value for count in one.counts} for one in (old, new))
    return any(
        one.value not in said and other.value not in known and _measure_same(one, other)
        for one in old.counts
        for other in new.counts
    )


def _measure_same(one: Count, other: Count) -> bool:
    around = (other.about, other.of)
    is_near = (one.about and one.about in around) or (one.of and one.of in around)
    return one.unit == other.unit and bool(one.unit or is_near)


def _find_tail(units: Sequence[str]) -> list[str]:
    """Return the words after a value that may make it something else."""
    rest = [unit for unit in units if unit not in _BETWEEN and not "\u3040" <= unit < "\u30a0"]
    return rest[1:] if rest and measure_unit(f"1{rest[0]}") else rest


def _is_chosen(before: Sequence[str]) -> bool:
    """Tell whether a choosing word comes right before."""
    rest = [unit for unit in before if unit not in ARTICLES]
    return bool(rest) and rest[-1] in _CHOOSING


def _follows_choice(before: Sequence[str]) -> bool:
    """Tell whether the value was named before: "use X for"."""
    rest = [unit for unit in before if unit not in EMPTY or unit in _CHOOSING]
    chosen = rest[1:] if rest and rest[0] in _CHOOSING else []
    return bool(chosen) and not _BETWEEN.isdisjoint(before[before.index(chosen[0]) :])


def are_alternatives(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Tell whether two of some words are choices for the same thing: npm and pnpm."""
    slots = {slot for unit in ours for slot in SLOTS.get(unit, ())} - WEAK_SLOTS
    return any(not slots.isdisjoint(SLOTS.get(unit, ())) for unit in theirs)
