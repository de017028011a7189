"""Check what sentences, commands and labels say is a secret.

The arguments are those of the checks in told.redact.values.
"""

from __future__ import annotations

import re

from told.pattern import lazy_pattern
from told.redact.numbers import count_seed_words
from told.redact.rules import load_pattern, load_words
from told.redact.values import Check, is_filled, is_given, is_password_word, is_random

_TECHNICAL = load_pattern("technical", re.IGNORECASE)
_CODE_OR_PATH = load_pattern("code_or_path")
_CALL = lazy_pattern(r"[(\[{]|=>|&&|\|\||==|\\n|</|/>")
_LOGIN_LINE = load_pattern("login_line")
_SENTENCE_END = ".,;:?)]}*_"
_EVIDENCE = lazy_pattern(r"\d|[!#$%*@^](?=.)")
_DIGIT_OR_SIGN = lazy_pattern(r"[\d!#$%*@^]")
_LETTER = lazy_pattern(r"[A-Za-z]")
_DIGIT = lazy_pattern(r"\d")
_MAX_NEAR = 4  # words from the name to the value that leave no doubt
_PINS_OF_EXAMPLES = load_words("example_pins")
_NOT_A_KEY = load_pattern("not_a_key", re.IGNORECASE)
_STOP_WORDS = load_words("stop_words")
_WORD = lazy_pattern(r"[^\W\d_]+")
_LETTERS_OF_WORD = range(3, 10)


def is_stated(value: str, _head: str, lead: str, _after: str) -> bool:
    """Return whether a sentence about a password names one."""
    if len(lead.split()) in range(2, _MAX_NEAR + 1) or lead.rstrip()[-1:] in (":", "="):
        return _is_chosen(value)
    return is_strong(value)


def is_strong(value: str, *_around: str) -> bool:
    """Return whether a value looks like a password even if little says so."""
    plain = _strip(value)
    return _is_chosen(value) and (len(_DIGIT_OR_SIGN.findall(plain)) > 1 or is_random(plain))


def _strip(value: str) -> str:
    return value.rstrip(_SENTENCE_END).strip("*_")


def _is_chosen(value: str, *_around: str) -> bool:
    """Return whether a person may have chosen the value as a password."""
    plain = _strip(value)
    return (
        len(plain) > 4
        and plain.isascii()
        and bool(_LETTER.search(plain))
        and bool(_EVIDENCE.search(plain) or is_random(plain))
        and not _is_technical(plain)
        and is_filled(plain)
    )


def _is_technical(value: str) -> bool:
    return bool(_TECHNICAL.match(value) or _CODE_OR_PATH.match(value) or _CALL.search(value))


def _is_password_of_login(value: str, head: str, _lead: str, _after: str) -> bool:
    """Return whether the line joins a password to its name by a space alone."""
    return bool(_LOGIN_LINE.search(head)) and (_is_chosen(value) or is_random(_strip(value)))


def _is_wifi_key(value: str, *_around: str) -> bool:
    plain = _strip(value)
    if plain.isdigit():
        return is_filled(plain)
    return is_strong(value) or (is_random(plain) and not _is_technical(plain))


def _is_pin(value: str, *_around: str) -> bool:
    return value not in _PINS_OF_EXAMPLES and len(set(value)) > 1


def _is_grouped_code(value: str, *_around: str) -> bool:
    """Return whether groups of letters and digits are a code and no date or name."""
    first = value.split(maxsplit=1)[0].rstrip(",;")
    digits = sum(map(str.isdigit, first))
    return digits > 1 and is_given(value) and not re.match(r"\d{4}-\d\d-\d\d|[a-z]+-\w{1,4}\Z", first)


def _is_hex_key(value: str, _head: str, lead: str, _after: str) -> bool:
    return len(set(value)) > 7 and not _NOT_A_KEY.search(lead)


def _is_seed(value: str, *_around: str) -> bool:
    """Return whether words behind the name of a seed phrase are one."""
    words = _WORD.findall(value)
    if count_seed_words(words) >= len(words) - 1:
        return len(set(words)) > len(words) // 2
    return (
        len(set(words)) == len(words)
        and all(len(word) in _LETTERS_OF_WORD and word == word.lower() for word in words)
        and _STOP_WORDS.isdisjoint(words)
    )


def _is_printed(value: str, *_around: str) -> bool:
    plain = value.rstrip(_SENTENCE_END)
    return _is_chosen(plain) or (len(plain) > 7 and is_random(plain) and not _is_technical(plain))


def _is_typed(value: str, *_around: str) -> bool:
    return bool(_DIGIT.search(value)) and is_password_word(value) and not _is_technical(value)


def _is_answer(value: str, *_around: str) -> bool:
    return is_filled(value)


# By the names that rules use.
STATED_CHECKS: dict[str, Check] = {
    "stated": is_stated,
    "strong": is_strong,
    "chosen": _is_chosen,
    "login": _is_password_of_login,
    "wifi": _is_wifi_key,
    "pin": _is_pin,
    "groups": _is_grouped_code,
    "hex-key": _is_hex_key,
    "seed": _is_seed,
    "printed": _is_printed,
    "typed": _is_typed,
    "answer": _is_answer,
}
