"""Find payment cards and seed phrases, which a checksum tells from other numbers and words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from told.pattern import lazy_pattern
from told.redact.rules import load_pattern, load_words, seed_words

Span = tuple[int, int]

# Digits become "d", what may stand between groups "-", and all else ".".
_SHAPE = bytes(100 if byte in b"0123456789" else 45 if byte in b" -" else 46 for byte in range(256))
_GROUPS = (b"dddd-dddd-dddd-dddd", b"dddd-dddddd-ddddd", b"dddd-dddddd-dddd")
_FIRST_GROUPS = b"dddd-dddd"  # of each of these
_UNBROKEN = b"d" * 14
_MAX_DIGITS = 19
_START = lazy_pattern(rb"(?<![\w./#-])(?<!\d )")
_END = lazy_pattern(rb"(?![\w/-]|\.\d| \d{4}(?![\d/]))")
_ISSUER = load_pattern("card_issuer")
_TEST_CARDS = load_words("test_cards")
_CARD_WORDS = load_pattern("card_words", re.IGNORECASE)
_FEW_DIGITS = 5  # different ones; fewer are made up
_BEFORE, _BEHIND = 100, 60

# Letters and spaces become "a": a seed phrase is a long run of them.
_PLAIN = bytes(97 if byte in b"abcdefghijklmnopqrstuvwxyz " else 46 for byte in range(256))
_SHORTEST = b"a" * 47  # twelve words of three letters
_COUNTS = (24, 21, 18, 15, 12)
_FEWEST = 12
_FEW_WORDS = 6  # different ones; phrases of fewer are known examples


def find_cards(text: str, flat: bytes) -> Iterator[Span]:
    """Yield where numbers of payment cards are."""
    shape = flat.translate(_SHAPE)
    for group in _GROUPS if _FIRST_GROUPS in shape else ():
        at = shape.find(group)
        while at >= 0:
            end = at + len(group)
            if _stands_alone(flat, at, end) and is_card(text[at:end]):
                yield at, end
            at = shape.find(group, at + 1)
    at = shape.find(_UNBROKEN)
    while at >= 0:
        end = at + len(_UNBROKEN)
        while shape[end : end + 1] == b"d":
            end += 1
        if (
            end - at <= _MAX_DIGITS
            and _stands_alone(flat, at, end)
            and is_card(text[at:end])
            and _CARD_WORDS.search(f"{text[max(0, at - _BEFORE) : at]}\n{text[end : end + _BEHIND]}")
        ):
            yield at, end
        at = shape.find(_UNBROKEN, end)


def _stands_alone(flat: bytes, start: int, end: int) -> bool:
    """Return whether a number is no part of a word, a path or a row of numbers."""
    return bool(_START.match(flat, start) and _END.match(flat, end))


def is_card(number: str) -> bool:
    """Return whether a number is one of a card that may be real."""
    digits = number.replace(" ", "").replace("-", "")
    separators = {one for one in number if not one.isdigit()}
    return (
        len(separators) < 2
        and bool(_ISSUER.match(digits))
        and digits not in _TEST_CARDS
        and "00000" not in digits
        and len(set(digits)) >= _FEW_DIGITS
        and _has_check_digit(digits)
    )


def _has_check_digit(digits: str) -> bool:
    """Check the last digit by Luhn's formula."""
    doubled = (2 * int(one) for one in digits[-2::-2])
    return (sum(map(int, digits[::-2])) + sum(one // 10 + one % 10 for one in doubled)) % 10 == 0


def find_seed_phrases(flat: bytes) -> Iterator[Span]:
    """Yield phrases of 12 to 24 words with a right checksum, where a run of plain words starts or ends."""
    shape = flat.translate(_PLAIN)
    known = _word_numbers()
    at = shape.find(_SHORTEST)
    while at >= 0:
        end = shape.find(b".", at)
        end = end if end >= 0 else len(flat)
        words = flat[at:end].split()
        # The first or the last word of most prose is none of these, and then one of the next is not.
        if words and (
            (words[0] in known and known.keys() >= {*words[:_FEWEST]})
            or (words[-1] in known and known.keys() >= {*words[-_FEWEST:]})
        ):
            yield from _find_at_ends(flat[at:end], at, words)
        at = shape.find(_SHORTEST, end)


def _find_at_ends(run: bytes, at: int, words: Sequence[bytes]) -> Iterator[Span]:
    numbers = [_word_numbers().get(word, -1) for word in words]
    for count in _COUNTS:
        if b"  " in run.strip() and (is_phrase(numbers[:count]) or is_phrase(numbers[-count:])):
            yield at, at + len(run)
            return
        if is_phrase(numbers[:count]):
            start = at + run.find(words[0])
            yield start, start + len(b" ".join(words[:count]))
            return
        if is_phrase(numbers[-count:]):
            end = at + len(run.rstrip())
            yield end - len(b" ".join(words[-count:])), end
            return


def is_phrase(numbers: Sequence[int]) -> bool:
    """Return whether the words with these numbers are a seed phrase with a right checksum."""
    if len(numbers) not in _COUNTS or -1 in numbers or len(set(numbers)) < _FEW_WORDS:
        return False
    from hashlib import sha256  # noqa: PLC0415 - loads OpenSSL, which hardly any text needs

    bits = 0
    for number in numbers:
        bits = bits << 11 | number
    size = len(numbers) // 3
    entropy = (bits >> size).to_bytes(len(numbers) * 4 // 3, "big")
    return sha256(entropy).digest()[0] >> (8 - size) == bits & ((1 << size) - 1)


def count_seed_words(words: Sequence[str]) -> int:
    """Count the words that occur in English seed phrases."""
    known = _word_numbers()
    return sum(word.encode() in known for word in words)


@cache
def _word_numbers() -> dict[bytes, int]:
    return {word.encode(): number for number, word in enumerate(seed_words())}
