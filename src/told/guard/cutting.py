"""Cuts a text whose secrets are still in it: never through one, as half of one looks harmless."""

from __future__ import annotations

_BETWEEN = " \n\t\"'`,;&<>|"
_LONGEST = 120  # characters; of a longer secret, the first part is still known for what it is


def whole_words(text: str, room: int) -> str:
    """Return as much of a text as there is room for, without a part of a word at its end."""
    if len(text) <= room:
        return text
    start = max(0, room - _LONGEST)
    end = max(text.rfind(sign, start, room + 1) for sign in _BETWEEN)
    return text[: end if end > 0 else room]
