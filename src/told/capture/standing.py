"""Recognise plain statements about how things are: "PRs get squash merged here"."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from told.capture.explicit_grammar import GUARDS, QUESTION_STARTS, TASK_STARTS
from told.capture.sentences import Sentence, count_words
from told.capture.standalone import clean_sentence
from told.pattern import lazy_pattern

# ruff: noqa: RUF001 - punctuation of many languages

_DATA: dict[str, Any] = tomllib.loads(Path(__file__).with_name("standing.toml").read_text(encoding="utf-8"))
_MIN_WORDS, _MAX_WORDS = 4, 28  # of a statement
_MAX_MESSAGE = 70  # words of a message; a longer one is a specification
_MAX_PASTED = 1.3  # characters of the message to those that were typed
_SPARE = 20  # characters
_FORBIDDING = ("one_off", "reports", "progress", "spec")
_WORD = lazy_pattern(r"[\w'’]+")
_LABEL = lazy_pattern(r"^[\w-]{2,20}: (?=\w+ \w+ \w+)")  # "tags: every resource needs an owner"


def _compile(pattern: str) -> re.Pattern[str]:
    return lazy_pattern(pattern, re.IGNORECASE)


_FIRST_WORDS = frozenset(_DATA["not_subjects"].split()) | TASK_STARTS | QUESTION_STARTS
_PLAIN = _compile(rf"{_DATA['noun']} (?:\w+ly |always |never |only )?{_DATA['verb']}\b (?P<rest>.+)")
_FORM = _compile("|".join(_DATA["forms"]))
_VALUE, _GENERAL, _NOT_PLAIN, _CONSEQUENCE = (
    _compile(_DATA[name]) for name in ("value", "general", "not_plain", "consequence")
)


def find_standing(message: str, sentences: Sequence[Sentence]) -> frozenset[int]:
    """Return the places of sentences that state how things are.

    A message that also asks for work or reports a problem needs a word such as "we", "every" or "here".
    """
    typed = sum(len(sentence.text) for sentence in sentences)
    words = sum(count_words(sentence.text) for sentence in sentences)
    if words > _MAX_MESSAGE or len(message) > _MAX_PASTED * typed + _SPARE:
        return frozenset()
    informs = not any(_asks_for_work(sentence.text) for sentence in sentences)
    return frozenset(
        place
        for place, sentence in enumerate(sentences)
        if not sentence.item and _is_standing(sentence.text, informs=informs)
    )


def _asks_for_work(text: str) -> bool:
    words = _WORD.findall(clean_sentence(text).lower())
    return text.rstrip().endswith(("?", "？")) or bool(words and words[0] in TASK_STARTS)


def _is_standing(text: str, *, informs: bool) -> bool:
    if text.rstrip().endswith(("?", "？", ":")):
        return False
    plain = _CONSEQUENCE.split(_LABEL.sub("", clean_sentence(text)), maxsplit=1)[0]
    words = _WORD.findall(plain.lower())
    if not _MIN_WORDS <= count_words(plain) <= _MAX_WORDS or _NOT_PLAIN.search(plain):
        return False
    if any(GUARDS[name].search(plain) for name in _FORBIDDING):
        return False
    if _FORM.match(plain):
        return True
    states = _PLAIN.match(plain) if words and words[0] not in _FIRST_WORDS else None
    return bool(states and _VALUE.search(states["rest"]) and (informs or _GENERAL.search(plain)))
