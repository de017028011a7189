"""Find what a user takes back without saying something new: forget what I said about staging."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from told.capture.grammar import blank_quotations
from told.capture.pasted import mask_pasted
from told.capture.sentences import split_sentences
from told.pattern import lazy_pattern

_DATA: dict[str, Any] = tomllib.loads(
    Path(__file__).with_name("retractions.toml").read_text(encoding="utf-8")
)
_PARTS = ("drop", "said", "rule", "ends", "words", "clause")
_FORMS = ("said_patterns", "rules", "denials")
_ONCE = lazy_pattern(_DATA["once"], re.IGNORECASE)
_MAX_SENTENCES = 40  # of a message
_MAX_LENGTH = 240  # characters of a sentence
NEGATION = lazy_pattern(_DATA["negations"], re.IGNORECASE)
PAST = lazy_pattern(_DATA["past"], re.IGNORECASE)  # of a denial that is about what happened once
NOT_THERE = lazy_pattern(_DATA["existence"], re.IGNORECASE)  # of a denial that something exists
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
    for sentence in split_sentences(message)[:_MAX_SENTENCES]:
        text = blank[sentence.start : sentence.end].strip()
        if len(text) > _MAX_LENGTH or "?" in text:
            continue
        matches = ((name, _compile(name).fullmatch(text.rstrip(" .!"))) for name in _FORMS)
        for name, match in matches:
            about = next(filter(None, match.groups())).strip() if match else ""
            if _ONCE.search(about):
                break
            negation = NEGATION.search(about)
            if about and (name != "denials" or (negation and negation.start())):  # not "not the first file"
                quote = message[sentence.start : sentence.end].strip()
                is_first = "\n" not in message[: sentence.start].lstrip()
                found.append(Retraction(quote, about, name == "rules", name == "denials", is_first))
                break
    return found


@cache
def _compile(name: str) -> re.Pattern[str]:
    joined = "|".join(_DATA[name]).replace("?P<about>", "")
    for part in _PARTS * 2:
        joined = joined.replace(f"{{{part}}}", _DATA[part])
    return lazy_pattern(f"{_DATA['opening']}(?:{joined}){_DATA['tail']}", re.IGNORECASE)
