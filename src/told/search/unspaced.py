"""Scripts that put no spaces between words: they are indexed, and asked for, as pairs of characters."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# First and last code points of Thai, Lao, Burmese, Hangul, Khmer, Kana and Han.
RANGES = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1100, 0x11FF), (0x1780, 0x17FF), (0x3005, 0x3007),
    (0x3040, 0x30FF), (0x3130, 0x318F), (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF),
    (0xA960, 0xA97F), (0xAC00, 0xD7FF), (0xF900, 0xFAFF), (0xFF66, 0xFFDC), (0x20000, 0x3FFFD),
)  # fmt: skip


def is_unspaced(char: str) -> bool:
    """Tell whether a character belongs to a script without spaces between words."""
    code = ord(char)
    return code >= 0x0E00 and any(first <= code <= last for first, last in RANGES)


def segments(run: str) -> Iterator[tuple[bool, str]]:
    """Split a run of letters where the kind of script changes: (is it unspaced?, the part)."""
    start, kind = 0, is_unspaced(run[:1] or " ")
    for at in range(1, len(run)):
        if is_unspaced(run[at]) != kind:
            yield kind, run[start:at]
            start, kind = at, not kind
    if run:
        yield kind, run[start:]


def pairs(run: str) -> list[str]:
    """Return every two neighbouring characters of a run; a single character stays alone."""
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]
