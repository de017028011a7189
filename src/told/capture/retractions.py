"""Find what a user takes back without saying something new: forget what I said about staging."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from told.capture.explicit_cues import blank_quotations
from told.capture.pasted import mask_pasted
from told.capture.sentences import split_sentences
from told.pattern import lazy_pattern

_DATA: dict[str, Any] = tomllib.loads(
    Path(__file__).with_name("retractions.toml").read_text(encoding="utf-8")
)
_PARTS = ("drop", "said", "rule", "ends", "words", "clause")
_NEGATION = lazy_pattern(_DATA["negations"], re.IGNORECASE)
_PAST = lazy_pattern(_DATA["past"], re.IGNORECASE)
_ONCE = lazy_pattern(_DATA["once"], re.IGNORECASE)
_EXISTENCE = lazy_pattern(_DATA["existence"], re.IGNORECASE)
_MAX_SENTENCES = 40  # of a message
_MAX_LENGTH = 240  # characters of a sentence
FILLERS = frozenset(_DATA["fillers"])


class Retraction(NamedTuple):
    """One thing that a user takes back."""

    quote: str  # the sentence
    about: str  # the words that name what is taken back
    of_rule: bool = False  # it names a rule
    denies: bool = False  # it denies a statement, in words of its own
    is_first: bool = True  # on the message's first line; later ones may be pasted


def find_retractions(message: str) -> list[Retraction]:
    """Return what the user takes back in a message; pasted, quoted and asked text takes back nothing."""
    blank = blank_quotations(mask_pasted(message))
    found = []
    for sentence in split_sentences(message, clauses=False)[:_MAX_SENTENCES]:
        text = blank[sentence.start : sentence.end].strip()
        if len(text) <= _MAX_LENGTH and "?" not in text:
            is_first = "\n" not in message[: sentence.start].lstrip()
            read = _read(message[sentence.start : sentence.end].strip(), text.rstrip(" .!"))
            found += [one._replace(is_first=is_first) for one in read]
    return found


def _read(quote: str, text: str) -> list[Retraction]:
    for name in ("said_patterns", "rules", "denials"):
        match = _compile(name).fullmatch(text)
        if match is None:
            continue
        about = next(value for value in match.groups() if value)
        if _ONCE.search(about):
            return []
        negation = _NEGATION.search(about)
        if name != "denials" or (negation and negation.start()):  # "not the first file" denies no statement
            return [Retraction(quote, about.strip(), name == "rules", name == "denials")]
    return []


@cache
def _compile(name: str) -> re.Pattern[str]:
    joined = "|".join(_DATA[name]).replace("?P<about>", "")
    for part in _PARTS * 2:
        joined = joined.replace(f"{{{part}}}", _DATA[part])
    return lazy_pattern(f"{_DATA['opening']}(?:{joined}){_DATA['tail']}", re.IGNORECASE)


def is_past(text: str) -> bool:
    """Tell whether a denial is about what happened once."""
    return bool(_PAST.search(text))


def denies_existence(text: str) -> bool:
    """Tell whether a denial says that something does not exist."""
    return bool(_EXISTENCE.search(text))


def has_negation(text: str) -> bool:
    """Tell whether a statement denies something."""
    return bool(_NEGATION.search(text))
