"""Tell whether two statements are about different subjects.

A different identifier, number in a name, path, environment or customer makes two statements independent,
whatever else is alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from told.conflict.align import differ_in_subject
from told.conflict.places import find_own_folder
from told.conflict.reading import (
    EMPTY,
    Reading,
    is_name,
    is_number,
    load_words,
    measure_unit,
)
from told.search.tokens import PUNCTUATION, canonical_stem

_IS, _CONNECTORS, _NUMBERED = load_words("is"), load_words("connectors"), load_words("numbered")
_CHOOSING = load_words("choosing")
_BEFORE_NUMBER = frozenset(("number", "no", "nr", "nummer", "numéro", "número", "#"))


class Frame(NamedTuple):
    """The content words of a statement in order, and where its value begins."""

    keys: tuple[str, ...]
    at: tuple[int, ...]  # the position of each among the tokens
    value: int  # the first key of the value; the number of keys if there is no connector
    topic: frozenset[str]  # keys before the value


@lru_cache(maxsize=1024)
def _build_frame(tokens: tuple[str, ...]) -> Frame:
    keys: list[str] = []
    at: list[int] = []
    connector = -1
    for place, token in enumerate(tokens):
        if token in PUNCTUATION and token != ":":  # noqa: S105 - a sign
            if keys and connector < 0:
                connector = place
            continue
        if connector < 0 and (token in _CHOOSING or (keys and (token in _IS or token in _CONNECTORS))):
            connector = place
        if (token not in EMPTY or is_number(token)) and token not in PUNCTUATION:
            keys.append(token if is_number(token) else canonical_stem(token))
            at.append(place)
    if connector < 0:
        connector = len(tokens)
    value = sum(one < connector for one in at)
    topic = [key for key, place in zip(keys[:value], at, strict=False) if not _is_measure(tokens, place)]
    return Frame(tuple(keys), tuple(at), value, frozenset(topic))


def _is_measure(tokens: Sequence[str], place: int) -> bool:
    """Tell whether a word is a number or its unit."""
    is_unit = place > 0 and is_number(tokens[place - 1]) and bool(measure_unit(f"1{tokens[place]}"))
    return is_unit or is_number(tokens[place])


def read_frame(reading: Reading) -> Frame:
    """Return the content words of a statement in order."""
    return _build_frame(reading.tokens)


def find_difference(old: Reading, new: Reading) -> str:
    """Return why two statements are about different subjects; empty if they may share one."""
    before, now = find_own_folder(old.raw), find_own_folder(new.raw)
    if before != now and now:
        return "for another folder"
    first, second = old.values.get("environment"), new.values.get("environment")
    if first and second and first.isdisjoint(second):
        return "for another environment"
    ours, theirs = _find_labelled(old), _find_labelled(new)
    for label in ours.keys() & theirs.keys():
        if ours[label].isdisjoint(theirs[label]):
            return f"about another {label}"
    one, two = read_frame(old), read_frame(new)
    names, others = _find_topic_names(old, one), _find_topic_names(new, two)
    if names and others and names.isdisjoint(others):
        return "about another name"
    return "about another subject" if differ_in_subject(old, new) else ""


def _find_topic_names(reading: Reading, frame: Frame) -> set[str]:
    """Return the identifiers, numbers and proper names before the value."""
    found: set[str] = set()
    if frame.value == len(frame.keys):
        return found  # without a connector nothing tells subject and value apart
    for place, key in zip(frame.at[: frame.value], frame.keys, strict=False):
        token = reading.tokens[place]
        after = reading.tokens[place + 1]
        is_numbered = token.isdigit() and place > 0 and not measure_unit(f"{token}{after}")
        if is_name(token) or is_numbered or (key in reading.proper_names and place):
            found.add(token)
    return found


def _find_labelled(reading: Reading) -> dict[str, set[str]]:
    """Return names and numbers by the noun before them: customer 1041, team Blue."""
    words = [token for token in reading.tokens if token not in _BEFORE_NUMBER]
    found: dict[str, set[str]] = {}
    for label, name in pairwise(words):
        is_plan = len(name) == 1 and name in reading.capitals and label not in EMPTY  # plan A
        is_named = is_name(name) or name[0].isdigit() or canonical_stem(name) in reading.proper_names
        if is_plan or (label in _NUMBERED and is_named):
            found.setdefault(label, set()).add(name)
    return found
