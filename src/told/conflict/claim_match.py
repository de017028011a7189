"""Compare a statement with the words that are to prove it."""

from __future__ import annotations

import re
import unicodedata
from difflib import get_close_matches
from functools import lru_cache

from told.conflict.reading import DENY, EMPTY, WEAK_SLOTS, load_groups, read_claim
from told.pattern import lazy_pattern
from told.search.tokens import STOP_WORDS, STOP_WORDS_BY_LANGUAGE, canonical, canonical_stem, tokenize
from told.search.vectors.arithmetic import similarity
from told.search.vectors.table import make_vector
from told.tables import load_table
from told.words import WORD, is_unspaced

_CLAUSE_STEMS = 3
_MIN_PREFIX = 4  # letters that forms of one word share
_ALIKE = 0.8  # of the letters of two spellings of a name
_LOOK_ALIKES = {"CYRILLIC", "GREEK"}  # scripts with letters that look like Latin ones
_OTHER_SCRIPT = 0.3  # share of the letters by which two texts are of different scripts
_WORDS = load_table(__file__)
_DENY = DENY | frozenset(_WORDS["deny"].split())
_NEVER = frozenset(("never", "dont", "no", "cannot"))
_STRONG = _DENY - frozenset(_WORDS["limiting"].split())
_CLAUSE = lazy_pattern(
    r"[.;:!?。；：！？，、]+(?=\s|$|[^\x00-\x7f])|,\s+|\s[-–—(]+\s*|\s(?:and|und|et|y|e|и)\s"  # noqa: RUF001 - people write these
)
_DIGITS = lazy_pattern(r"\d+(?:[.:]\d+)*")
_CODE = lazy_pattern(r"`([^`\n]+)`")
_CAMEL = lazy_pattern(r"(?<![A-Za-z])[A-Za-z]*[a-z][A-Z][A-Za-z0-9]*")
DENIED_QUESTION = lazy_pattern(
    r"(?:is|are|do|does|did|was|were|should|would|could|can|must)n['’]?t\b",  # noqa: RUF001 - people write it
    re.IGNORECASE,
)
_OPTION = lazy_pattern(r"(?<!\S)--?[a-z][\w-]*")
_SIGNS_OF_NAMES = frozenset("/_.@\\")
_NUMBERS = load_groups("numbers")
QUESTION_ENDS = ("?", "？")  # noqa: RUF001 - people write these


def remove_invisible(text: str) -> str:
    """Return a text without invisible characters and compatibility forms."""
    text = unicodedata.normalize("NFKC", text)
    return text if text.isascii() else "".join(one for one in text if unicodedata.category(one) != "Cf")


def split_words(text: str) -> list[str]:
    """Return the words in lower case; each character of an unspaced script is one."""
    found: list[str] = []
    for word in WORD.findall(remove_invisible(text).casefold()):
        found += list(word) if any(map(is_unspaced, word)) else [word]
    return found


@lru_cache(maxsize=256)  # the messages of a session, for each item of an answer
def fold_text(text: str) -> str:
    """Return the letters and digits of a text in lower case."""
    return "".join(split_words(text))


def has_new_value(text: str, around: str, *, may_misspell: bool) -> bool:
    """Tell whether a statement has a number, path, command or identifier that nobody mentioned.

    The reader may correct a name; to an agent, a package with a similar name is another one.
    """
    known = fold_text(around)
    numbers = {*_DIGITS.findall(around), *(_NUMBERS.get(word, "") for word in split_words(around))}
    if any(number not in numbers and number not in known for number in _DIGITS.findall(text)):
        return True
    names = [name for code in _CODE.findall(text) for name in code.split()]
    names += [
        word for word in text.split() if _SIGNS_OF_NAMES.intersection(word.strip("`'\"()[]{}*<>.,:;!?"))
    ]
    names += [*_CAMEL.findall(text), *_OPTION.findall(text)]
    for name in names:
        words = split_words(name)
        new = [one for one in words if len(one) > 1 and one not in known and canonical(one) not in known]
        if "".join(words) in known or not new:
            continue
        is_misspelt = may_misspell and not "".join(new).isdecimal()
        if not is_misspelt or not get_close_matches("".join(new), split_words(around), 1, _ALIKE):
            return True
    unknown = (word for word in split_words(text) if not word.isascii() and word not in known)
    return any("LATIN" in (found := set(_find_scripts(word))) and found & _LOOK_ALIKES for word in unknown)


def _find_scripts(text: str) -> list[str]:
    """Return the script of each letter: LATIN, CYRILLIC."""
    return [unicodedata.name(char, "?").split()[0] for char in text if char.isalpha()]


def measure_shared(text: str, quote: str, message: str, before: str) -> float:
    """Measure what a statement shares with a quote, the message around it and the turn before.

    It is the sum of five shares of at most 1: of words both ways, of meaning, of message and of turn.
    """
    wanted, own = content_stems(text), content_stems(quote)
    if not wanted or not own:
        return 0.0
    near = own | content_stems(message)
    one, other = make_vector(text), make_vector(quote)
    return (
        find_share(wanted, own)
        + find_share(own, wanted)
        + find_share(wanted, near)
        + find_share(wanted, near | content_stems(before))
        + (similarity(one, other) if one and other else 0.0)
    )


def split_clauses(text: str) -> list[frozenset[str]]:
    """Return the stems of each clause that has enough of them."""
    return [stems for stems in map(content_stems, _CLAUSE.split(text)) if len(stems) >= _CLAUSE_STEMS]


@lru_cache(maxsize=64)
def content_stems(text: str) -> frozenset[str]:
    """Return the stems of the words that carry a text's meaning."""
    found = set()
    for line in text.splitlines():
        for start in range(0, len(line), 600):  # `tokenize` reads only the beginning of a long text
            for token in tokenize(line[start : start + 600].casefold()):
                word = token.strip("`'\"()[]{}*_<>.,:;!?")
                if any(map(str.isalnum, word)) and word not in STOP_WORDS and word not in EMPTY | _DENY:
                    found.add(canonical_stem(word))
    return frozenset(found)


def find_share(wanted: frozenset[str], known: frozenset[str]) -> float:
    """Return the share of stems that are known in some form."""
    return sum(_has(known, stem) for stem in wanted) / max(1, len(wanted))


def _has(known: frozenset[str], stem: str) -> bool:
    """Tell whether a stem, another form of it, or a name that contains it is known."""
    if stem in known or any(stem in WORD.findall(one) for one in known if not one.isalnum()):
        return True
    is_word = len(stem) >= _MIN_PREFIX and stem.isalpha()
    return is_word and any(
        one.startswith(stem) or (len(one) >= _MIN_PREFIX and stem.startswith(one)) for one in known
    )


def is_reversed(said: str, text: str, *, strict: bool) -> bool:
    """Tell whether the statement clearly affirms what was denied, or denies what was affirmed.

    A statement with other words may be a rewording: "must not exceed 80" against "keep below 80".

    Args:
        said: The quoted sentences.
        text: The statement.
        strict: Refuse another value, and some other words.
    """
    if said.rstrip().endswith(QUESTION_ENDS) and DENIED_QUESTION.match(said):
        return False
    before, now = read_claim(said), read_claim(text)
    turned = (before.denied - before.affirmed) & now.affirmed
    swapped = (now.denied - now.affirmed) & (before.affirmed - before.denied)
    known = before.affirmed | before.denied
    was_denied, is_denied = _denies(said), _denies(text)
    content = {stem for stem in now.affirmed | now.denied if stem not in _DENY}
    if strict:
        values = before.reading.values
        if any(  # of one kind: MySQL instead of Postgres
            slot in values and slot not in WEAK_SLOTS and own.isdisjoint(values[slot])
            for slot, own in now.reading.values.items()
        ):
            return True
        was_denied = not before.denied.isdisjoint(content) if before.denied else _denies(said, _STRONG)
        if now.denied:  # a denial of something new turns nothing round
            is_denied = any(_has(known, stem) for stem in now.denied)
            content -= set() if is_denied else now.denied
    if was_denied == is_denied or (strict and _find_denials(said) == _find_denials(text)):
        found = turned | swapped if turned and swapped else frozenset()
    else:
        found = turned if was_denied else swapped
    new = sum(not _has(known, stem) for stem in content)
    return bool(found) and (not new or (strict and new < len(found) and len(found) * 2 > len(content)))


def adds_denial(said: str, text: str) -> bool:
    """Tell whether a statement repeats the quoted sentences and denies something else."""
    now, known = read_claim(text), content_stems(said)
    return bool(now.denied) and all(
        _has(known, stem) == (stem not in now.denied) for stem in content_stems(text)
    )


def _denies(text: str, denying: frozenset[str] = _DENY) -> bool:
    return not denying.isdisjoint(_find_denials(text))


def _find_denials(text: str) -> frozenset[str]:
    """Return the words that deny; `don't` and `never` count as `not`."""
    words = (token.strip("`'\"()[]*_") for token in tokenize(text.casefold()))
    return frozenset(
        "not" if "n't" in word or word in _NEVER else word for word in words if "n't" in word or word in _DENY
    )


def differ_in_language(one: str, other: str) -> bool:
    """Tell whether two texts are surely in different languages."""
    first, second = _find_languages(one), _find_languages(other)
    return bool(first and second) and first.isdisjoint(second)


def _find_languages(text: str) -> frozenset[str]:
    """Return the languages a text may be in: its script, or those with most of its stop words."""
    scripts = _find_scripts(text)
    foreign = [script for script in scripts if script != "LATIN"]
    if len(foreign) > _OTHER_SCRIPT * len(scripts):
        return frozenset(foreign)
    words = split_words(text)
    hits = {name: sum(word in known for word in words) for name, known in STOP_WORDS_BY_LANGUAGE.items()}
    most = max(hits.values())
    return frozenset(name for name, count in hits.items() if count == most and most)
