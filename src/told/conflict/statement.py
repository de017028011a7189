"""Read what a statement says to do: without its lead ("from now on"), its reasons and its questions."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from told.conflict.reading import MAX_TEXT, PHRASES, Reading, load_tables, load_words, read_statement
from told.pattern import lazy_pattern
from told.search.tokens import STOP_WORDS, tokenize
from told.words import split_sentences

# A word in quotes or code, or in capitals inside a sentence: a value, whatever it means elsewhere.
_QUOTED = lazy_pattern(r"(?<!\w)(['\"`])(\w{1,12})\1(?!\w)")
_CAPITALS = lazy_pattern(r"(?<=[a-z,] )[A-Z]{2,4}(?![\w-])")
_LAST = lazy_pattern(r"(\w+)(?=\W*$)")
_REASONS, _BEFORE_VALUE = load_words("reasons"), load_words("before_value")
_EMPHASISED, _NOW, _SUBJECTS = load_words("emphasised"), load_words("announcing"), load_words("exchangeable")
_MAX_SENTENCES = 12


@lru_cache(maxsize=1024)
def read_rules(text: str) -> tuple[Reading, ...]:
    """Read each sentence of a statement that says what to do; at least one."""
    sentences = split_sentences(text[:MAX_TEXT])[:_MAX_SENTENCES]
    kept = [one for one in sentences if not (one.endswith(("?", "\uff1f")) or _is_reason(one))]
    return tuple(map(_read, kept or sentences or [text]))


@lru_cache(maxsize=1024)
def read_whole(text: str) -> Reading:
    """Read a statement of one or more sentences as one."""
    return _read(text[:MAX_TEXT])


def _read(sentence: str) -> Reading:
    """Read a sentence without its lead; phrases are still looked for in all of it."""
    reading = read_statement(mark_values(strip_lead(sentence)))
    words = tokenize(sentence.lower())
    if words[:1] and words[0] in _NOW and words[1:2] and words[1] not in _SUBJECTS:
        words = words[1:]  # "Now write the changelog" is a task and announces nothing
    return reading._replace(text=f" {' '.join(words)} ")


def _is_reason(sentence: str) -> bool:
    """Tell whether a sentence only says why, such as "This keeps it short"."""
    words = tokenize(sentence.lower())
    if not words or words[0] not in _REASONS:
        return False
    text = f" {' '.join(words)} "
    return not any(phrase in text for phrase in (*PHRASES["change"], *PHRASES["announce"]))


def strip_lead(text: str) -> str:
    """Remove what only announces a statement: "From now on, I want you to"."""
    bare = _lead().sub("", text.replace("\u2019", "'"), count=1)
    bare = _tail().sub("", bare, count=1)
    return bare if any(map(str.isalnum, bare)) else text


@cache
def _lead() -> re.Pattern[str]:
    phrases = sorted(load_tables()["leads"]["phrases"], key=len, reverse=True)
    return re.compile(
        rf"^(?:[\s\"“]*(?:{'|'.join(map(re.escape, phrases))})(?![\w'])[\s,:;.!\u2013\u2014-]*)+",
        re.IGNORECASE,
    )


@cache
def _tail() -> re.Pattern[str]:
    phrases = sorted(load_tables()["leads"]["announcing"], key=len, reverse=True)
    return re.compile(rf"[\s,;\u2013\u2014-]+(?:{'|'.join(map(re.escape, phrases))})(?=\W*$)", re.IGNORECASE)


def mark_values(text: str) -> str:
    """Make values that look like stop words count: 'a', US, "deploy to eu"."""
    text = _QUOTED.sub(lambda found: _mark(found[2]), text)
    if not text.isupper():
        text = _CAPITALS.sub(lambda found: _mark(found[0]), text)
    last = _LAST.search(text)
    before = text[: last.start()].split()[-1:] if last else []
    if last and before and before[0].lower() in _BEFORE_VALUE:
        text = text[: last.start()] + _mark(last[0]) + text[last.end() :]
    return text


def _mark(word: str) -> str:
    is_value = len(word) == 1 or (word.lower() in STOP_WORDS and word.lower() not in _EMPHASISED)
    return f"{word}_" if is_value else word
