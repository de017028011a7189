"""Read a statement: what it is about, affirms, denies, counts and limits."""

from __future__ import annotations

import os
import tomllib
from functools import cache
from typing import Any, NamedTuple

from told.pattern import lazy_pattern
from told.search.tokens import PUNCTUATION, SLOTS, STOP_WORDS, VALUES, canonical_stem, is_identifier, tokenize
from told.words import is_unspaced, split_scripts


@cache
def load_tables() -> dict[str, Any]:
    """Load all tables of `words.toml`."""
    with open(os.path.join(os.path.dirname(__file__), "words.toml"), "rb") as file:
        return tomllib.load(file)


def load_words(name: str, table: str = "words") -> frozenset[str]:
    """Load a list of words."""
    return frozenset(load_tables()[table][name].split())


def load_groups(table: str) -> dict[str, str]:
    """Load a table as a map from word to group."""
    return {word: group for group, words in load_tables()[table].items() for word in words.split()}


# Phrases by name: in spaced languages with a blank around them, and in Chinese and Japanese.
PHRASES = {
    name: tuple(f" {phrase} " for phrase in phrases) for name, phrases in load_tables()["phrases"].items()
}
PHRASES["announce"] = tuple(f" {' '.join(tokenize(one))} " for one in load_tables()["leads"]["announcing"])
CJK_PHRASES: dict[str, list[str]] = load_tables()["cjk"]
DENY = load_words("deny")
EMPTY = STOP_WORDS | load_words("empty")
EXCEPTING = load_words("excepting")  # after "never" these reverse it: "never push without a review"
HALT = load_words("halt")
PLACE = load_words("place")
WEAK_SLOTS = load_words("weak_slots")  # their words occur in many sentences without being the point

MAX_TEXT = 2000  # characters of a statement that are read
_MAX_UNITS = 160
# A word in Katakana, or a character.
_UNSPACED_UNITS = lazy_pattern(r"[ァ-ヿ]+|\w")
_OPENING, _CLOSING = "([{<\"'`“„«", ".,;:!?)]}>([\"'`”“»…。、\uff01\uff1f"
_PLACEHOLDER = "[secret:"
_HEX_TO_LETTERS = str.maketrans("0123456789", "ghijklmnop")
_COMMON_WEIGHT = 0.35  # of a word that many unrelated statements share
_HOMONYMS: dict[str, str] = load_tables()["homonyms"]
_COMMON, _PREFERS = load_words("common"), load_words("prefers")
_ENDED, _AFTER_ENDED, _COPULAS = load_words("ended"), load_words("after_ended"), load_words("copulas")
_NUMBER_WORDS = load_groups("numbers")
_SECONDS = {word: float(seconds) for word, seconds in load_groups("seconds").items()}
_UNITS = load_groups("units")
TIME_UNITS = frozenset(_SECONDS)
ANNOUNCING = load_words("announcing")  # a change, and nothing else
_SINGLE, _EMPHASISED = load_words("single"), load_words("emphasised")
_POSITIVE_AFTER_DENIAL = load_words("positive_after_denial")
_FORGETTING, _LONGER, _COMPARING = load_words("forgetting"), load_words("longer"), load_words("comparing")
_ENDING, _AFTER_ENDING = load_words("ending"), load_words("after_ending")
_REPLACING, _DENYING_PAIRS = load_words("replacing"), load_words("denying_pairs")


class Count(NamedTuple):
    """A number with its unit and the words around it."""

    value: str
    unit: str
    about: str  # the keyword before it
    of: str = ""  # the keyword after it
    digits: str = ""  # as written


class Reading(NamedTuple):
    """The parts of a statement that are compared."""

    tokens: tuple[str, ...]  # in lower case, with punctuation
    text: str  # the same between blanks, for phrases
    raw: str  # lower-case text
    units: tuple[str, ...]  # every word in lower case; characters of scripts without spaces
    capitals: frozenset[str]  # units in capitals inside a sentence: plan A, GET
    words: dict[str, float]  # what it is about, with weights
    affirmed: frozenset[str]
    denied: frozenset[str]
    values: dict[str, frozenset[str]]  # slot to affirmed values
    rejected: dict[str, frozenset[str]]  # slot to denied values
    counts: tuple[Count, ...]
    proper_names: frozenset[str]  # words with a capital inside a sentence
    head: str  # the first keyword
    first: str


def read_statement(text: str) -> Reading:
    """Read a text of any kind and language."""
    if _PLACEHOLDER in text:
        text = _replace_secrets(text)
    text = text[:MAX_TEXT]
    tokens = tokenize(text.lower())
    units = _split_units(text)
    capitals = _find_capitals(units)
    words: dict[str, float] = {}
    affirmed: set[str] = set()
    denied: set[str] = set()
    values: dict[str, set[str]] = {}
    rejected: dict[str, set[str]] = {}
    cased = frozenset(text.replace(",", " ").replace(".", " ").split()[1:])
    for token, is_denied in zip(tokens, find_denied(tokens), strict=True):
        if token in PUNCTUATION:
            continue
        if token not in _HOMONYMS or _HOMONYMS[token] in cased:
            for slot in SLOTS.get(token, ()):
                (rejected if is_denied else values).setdefault(slot, set()).add(VALUES[token])
        if token in EMPTY or is_number(token):
            continue
        key = canonical_stem(token)
        weight = _COMMON_WEIGHT if token in _COMMON or key in _COMMON else 1.0
        words[key] = max(words.get(key, 0.0), weight)
        (denied if is_denied else affirmed).add(key)
    return Reading(
        tokens=tuple(tokens),
        text=f" {' '.join(tokens)} ",
        raw=text.lower(),
        units=tuple(unit.lower() for unit in units),
        capitals=capitals,
        words=words,
        affirmed=frozenset(affirmed),
        denied=frozenset(denied - affirmed),
        values={slot: frozenset(found) for slot, found in values.items()},
        rejected={slot: frozenset(found - values.get(slot, set())) for slot, found in rejected.items()},
        counts=find_counts(tokens),
        proper_names=frozenset(map(canonical_stem, filter(str.isalpha, capitals))),
        head=next(iter(words), ""),
        first=next((token for token in tokens if token not in PUNCTUATION), ""),
    )


def _split_units(text: str) -> list[str]:
    """Return every word as written, without punctuation and words that only announce a change."""
    units: list[str] = []
    for phrase in CJK_PHRASES["change"] if not text.isascii() else ():
        text = text.replace(phrase, " ")
    for chunk in text.split()[:_MAX_UNITS]:
        word = chunk.lstrip(_OPENING).rstrip(_CLOSING)
        if word.isascii():
            units += [word] if word else []
            continue
        for unspaced, part in split_scripts(word):
            units += _UNSPACED_UNITS.findall(part) if unspaced else [part]
    return [unit for unit in units if unit.lower() not in ANNOUNCING]


def _find_capitals(units: list[str]) -> frozenset[str]:
    """Return the words with a capital that are names: plan A, GET, May; not NEVER, nor a beginning."""
    capitals = {unit.lower() for unit in units[1:] if unit[0].isupper()}
    for unit in units[:1]:
        if _HOMONYMS.get(unit.lower()) == unit or (unit.isupper() and unit not in ("A", "I")):
            capitals.add(unit.lower())
    return frozenset(capitals - _EMPHASISED)


def has_phrase(reading: Reading, name: str) -> bool:
    """Tell whether a reading contains any phrase of a named list."""
    return any(phrase in reading.text for phrase in PHRASES[name]) or any(
        phrase in reading.raw for phrase in CJK_PHRASES.get(name, ())
    )


def find_denied(tokens: list[str]) -> list[bool]:
    """Mark the tokens that a denial covers."""
    flags = [False] * len(tokens)
    start = 0
    for end in range(len(tokens) + 1):
        if end == len(tokens) or tokens[end] in PUNCTUATION:
            _mark_denied(tokens, flags, start, end)
            start = end + 1
    return flags


def _mark_denied(tokens: list[str], flags: list[bool], start: int, end: int) -> None:
    """Mark the denied tokens of one clause."""
    clause = tokens[start:end]
    if any(is_unspaced(token[0]) for token in clause):
        joined = "".join(clause)
        if any(negation in joined for negation in CJK_PHRASES["negations"]):
            flags[start:end] = [True] * (end - start)
        return
    active = False
    for at, token in enumerate(clause):
        following = clause[at + 1] if at + 1 < len(clause) else ""
        before = clause[at - 1] if at else ""
        if before in DENY and token in _FORGETTING:
            continue
        if token in _ENDED and (not following or before in _COPULAS or following in _AFTER_ENDED):
            flags[start : start + at] = [True] * at
            active = token in _ENDING and following not in ("", *_AFTER_ENDING)
        elif token in _LONGER and before in DENY and f"{token}_{following}" not in _COMPARING:
            if set(clause[at + 1 :]) <= EMPTY:  # "Redis is no longer used"
                flags[start : start + at] = [True] * at
            active = True
        elif token in DENY and following not in _POSITIVE_AFTER_DENIAL:
            if not following:
                flags[start : start + at] = [True] * at
            active = True
        elif token in _REPLACING or f"{token}_{following}" in _DENYING_PAIRS:
            active = True
        elif token in HALT and before not in DENY and before not in _LONGER:
            active = False
        elif active:
            flags[start + at] = True


def _replace_secrets(text: str) -> str:
    """Replace each placeholder of a secret by one word that identifies it."""
    first, *others = text.split(_PLACEHOLDER)
    parts = [first]
    for other in others:
        placeholder, closed, rest = other.partition("]")
        mark = placeholder.rpartition(":")[2].translate(_HEX_TO_LETTERS)
        parts.append(f"q{mark}{rest}" if closed else other)
    return "".join(parts)


def is_number(token: str) -> bool:
    """Tell whether a word is a number, in digits or spelt out."""
    return token[0].isdigit() or token in _NUMBER_WORDS or (token[0] in "v$€£" and token[1:2].isdigit())


def find_counts(tokens: list[str]) -> tuple[Count, ...]:
    """Return the numbers of a text, with unit and the words around."""
    found = []
    about = ""
    for at, token in enumerate(tokens):
        if token in PUNCTUATION:
            continue
        if not is_number(token):
            if len(token) > 1 and token in _SECONDS and at and tokens[at - 1] in _SINGLE:  # "every minute"
                found.append(Count(str(_SECONDS[token]), "time", about))
            elif token not in EMPTY:
                about = canonical_stem(token)
            continue
        digits, suffix = split_number(token)
        following = tokens[at + 1] if at + 1 < len(tokens) else ""
        seconds = _SECONDS.get(suffix) or (0 if suffix else _SECONDS.get(following, 0))
        if seconds:
            unit = "time"
        else:
            unit = "clock" if ":" in digits else _UNITS.get(suffix) or _UNITS.get(following, "")
        counted = following and not unit and following not in EMPTY and following not in PUNCTUATION
        of = canonical_stem(following) if counted else ""
        if token in _NUMBER_WORDS and not unit and not of:
            continue
        is_plain = digits.isascii() and digits.replace(".", "", 1).isdigit()
        value = str(float(digits) * seconds) if seconds and is_plain else digits
        found.append(Count(value, unit, about, of, digits))
    return tuple(found)


def measure_unit(token: str) -> str:
    """Return the kind of unit that is written with a number: `30s`, `5mb`."""
    if not is_number(token) or token[0] == "v":
        return ""
    suffix = split_number(token)[1]
    return "time" if suffix in _SECONDS else _UNITS.get(suffix, "")


def is_name(token: str) -> bool:
    """Tell whether a token is an identifier or a name with a number."""
    has_digit, has_letter = any(map(str.isdigit, token)), any(map(str.isalpha, token))
    return (has_digit and has_letter and not measure_unit(token)) or is_identifier(token)


def split_number(token: str) -> tuple[str, str]:
    """Split a number into its figures and its unit."""
    if token in _NUMBER_WORDS:
        return _NUMBER_WORDS[token], ""
    if token[0] in "$€£":
        return token[1:], token[0]
    token = token.lstrip("v")
    end = 0
    while end < len(token) and (token[end].isdigit() or token[end] in ".:,-x"):
        end += 1
    return token[:end].rstrip(".:,-x") or token, token[end:]


class Claim(NamedTuple):
    """A statement with its affirmed and denied words."""

    reading: Reading
    denied: frozenset[str]  # with double denials resolved
    affirmed: frozenset[str]


def read_claim(text: str) -> Claim:
    """Read the claim of a statement of any kind and language."""
    tokens = tokenize(text[:MAX_TEXT].lower())
    affirmed: set[str] = set()
    denied: set[str] = set()
    under = turned = prefers = beaten = False
    for token, is_denied in zip(tokens, find_denied(tokens), strict=True):
        if token in PUNCTUATION:
            under = turned = prefers = beaten = False
            continue
        turned = turned or (under and token in EXCEPTING)
        under = under or is_denied or token in DENY
        prefers = prefers or token in _PREFERS
        beaten = (beaten or (prefers and token == "over")) and token not in HALT  # noqa: S105 - a word
        if token not in EMPTY:
            (denied if (is_denied and not turned) or beaten else affirmed).add(canonical_stem(token))
    return Claim(read_statement(text), frozenset(denied - affirmed), frozenset(affirmed))
