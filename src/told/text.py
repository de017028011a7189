"""Clean, shorten and measure text."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from datetime import date

# Characters that start a terminal control sequence.
ESCAPE_OPENERS = frozenset("\x1b\x90\x98\x9b\x9d\x9e\x9f")
# UTF-8 read as Latin-1 has 8-bit control characters behind accented letters; those start nothing.
_EIGHT_BIT = "(?<![\x80-\xff])"
_COMMAND = rf"(?:\x1b\[|{_EIGHT_BIT}\x9b)[0-?]*+[ -/]*+[@-~]?"
_STRING = (
    rf"(?:\x1b[PX\]^_]|{_EIGHT_BIT}[\x90\x98\x9d-\x9f])"
    r"[^\x07\x18\x1a\x1b\x9c]*+(?:[\x07\x18\x1a\x9c]|\x1b\\|(?=\x1b)|\Z)"
)
_OTHER = r"\x1b[ -/]*+[0-~]?"

# Invisible characters, which can hide or reorder text.
_INVISIBLE = (
    *range(0x20),
    *range(0x7F, 0xA0),
    0xAD,
    0x61C,
    0x180E,
    *range(0x200B, 0x2010),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2070),
    0xFEFF,
    *range(0xFFF9, 0xFFFC),
    *range(0xE0000, 0xE0200),
)
_REPLACEMENTS = dict.fromkeys(map(chr, _INVISIBLE), "")
_REPLACEMENTS |= dict.fromkeys("\r\u2028\u2029", "\n")
del _REPLACEMENTS["\n"], _REPLACEMENTS["\t"]
# Including the signs of Chinese and Japanese.
_SENTENCE_ENDS = (".", "!", "?", ":", "…", "\u3002", "\uff01", "\uff1f")
_PLAIN_ASCII = bytes((9, 10, *range(0x20, 0x7F)))


def clean(text: str) -> str:
    """Remove control sequences and invisible characters.

    Of the control characters only line feeds and tabs remain. The result can be encoded as UTF-8.
    """
    if text.isascii():
        if not text.encode("ascii").translate(None, _PLAIN_ASCII):
            return text
    elif text.replace("\n", "").replace("\t", "").isprintable():
        return text
    else:
        text = fix_surrogates(text)
    present = set(text)
    if not ESCAPE_OPENERS.isdisjoint(present):
        text = _remove_sequences(text)
    text = text.replace("\r\n", "\n")
    for character in _REPLACEMENTS.keys() & present:
        text = text.replace(character, _REPLACEMENTS[character])
    return text


def strip_message(text: str) -> str:
    """Strip a message; keep the indentation of a first line that others follow.

    It shows that the message begins with pasted code.
    """
    text = text.rstrip()
    words = text.lstrip()
    indentation = text[: len(text) - len(words)].rpartition("\n")[2]
    return indentation + words if "\n" in words else words


def shorten(text: str, width: int) -> str:
    """Put text on one line of at most `width` characters."""
    if width < 1:
        return ""
    line = " ".join(text.split(None, width))
    if len(line) <= width:
        return line.rstrip()
    cut = line[:width]
    space = cut.rfind(" ")
    # Cut between words, unless the last word fills half of the line.
    return (cut[:space] if space > width // 2 else cut[: width - 1]).rstrip() + "…"


def add_full_stop(text: str) -> str:
    """Add a full stop unless the text ends a sentence or was cut."""
    return text if text.endswith(_SENTENCE_ENDS) else f"{text}."


def remove_placeholders(text: str) -> str:
    """Remove the placeholders of secrets and private parts."""
    return re.sub(r"\[secret:[^\]]*(?:\]|\Z)|\[private\]", "", text)


def count_tokens(text: str) -> int:
    """Estimate the number of tokens: UTF-8 bytes by 3.5, rounded up."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return -(-size * 2 // 7)


def fix_surrogates(text: str) -> str:
    """Join surrogate pairs and replace lone surrogates, so that text can be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _remove_sequences(text: str) -> str:
    """Remove control sequences; of an unclosed one, only its first character."""
    last_close = max(0, *map(text.rfind, "\x07\x18\x1a\x1b\x9c"))
    head = re.sub(f"{_COMMAND}|{_STRING}|{_OTHER}", "", text[:last_close])
    return head + re.sub(f"{_COMMAND}|{_OTHER}", "", text[last_close:])


_WORD_ENDS = " \n\t\"'`,;&<>|"
_MAX_WORD = 120  # the first part of a longer secret is still redacted


def cut_at_word(text: str, room: int) -> str:
    """Cut text to at most `room` characters, not within a word."""
    if len(text) <= room:
        return text
    start = max(0, room - _MAX_WORD)
    end = max(text.rfind(sign, start, room + 1) for sign in _WORD_ENDS)
    return text[: end if end > 0 else room]


_MINUTE, _HOUR, _DAY = 60_000, 3_600_000, 86_400_000
_RELATIVE_DAYS = 14  # older times are dates


def relative_time(at: int, now: int) -> str:
    """Return how long ago a time was, or its local date; 0 ms is unknown."""
    if at <= 0:
        return "undated"
    try:
        then, today = time.localtime(at // 1000), time.localtime(now // 1000)
    except (OverflowError, OSError, ValueError):
        return "undated"
    gone = now - at
    days = date(*today[:3]).toordinal() - date(*then[:3]).toordinal()
    if -_MINUTE < gone < _MINUTE:
        return "just now"
    if 0 < gone < _HOUR:
        return _ago(gone // _MINUTE, "minute")
    if gone > 0 and (not days or gone < 6 * _HOUR):
        return _ago(gone // _HOUR, "hour")
    if gone > 0 and days < _RELATIVE_DAYS:
        return "yesterday" if days == 1 else _ago(days, "day")
    form = "%b %d" if then.tm_year == today.tm_year else "%b %d %Y"
    return time.strftime(form, then).replace(" 0", " ")


def _ago(number: int, unit: str) -> str:
    return f"{number} {unit}{'' if number == 1 else 's'} ago"


def fit_lines(lines_for: Callable[[int], list[str]], rooms: Sequence[int], most: int) -> list[str]:
    """Return lines with the widest texts that fit `most` bytes."""
    lines: list[str] = []
    for room in rooms:
        lines = lines_for(room)
        if sum(len(line.encode()) + 1 for line in lines) <= most:
            break
    return lines
