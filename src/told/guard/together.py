"""Redacts many texts at once: most of what a short one costs is paid for each call."""

from __future__ import annotations

from told.guard.text import OPENERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# Stands between texts that are redacted together. It is ASCII: any other letter makes cleaning slower.
BETWEEN = "\n~ told ~ next ~\n"
_MUCH = 32_000  # characters


def together(redact: Callable[[str], str], texts: Sequence[str]) -> list[str]:
    """Return the texts, each redacted."""
    found: list[str] = []
    begin = size = 0
    for end, text in enumerate(texts, 1):
        size += len(text)
        if size >= _MUCH or end == len(texts):
            found += _some(redact, texts[begin:end])
            begin, size = end, 0
    return found


def _some(redact: Callable[[str], str], texts: Sequence[str]) -> list[str]:
    if len(texts) == 1:
        return [redact(texts[0])]
    whole = BETWEEN.join(texts)
    # A lone carriage return goes together with the line end behind it, which would be the mark's; and what a
    # terminal's command opens in one text may hide what stands in another.
    is_apart = f"\r{BETWEEN}" not in whole and not any(one in whole for one in OPENERS)
    if is_apart and whole.count(BETWEEN) == len(texts) - 1:
        redacted = redact(whole).split(BETWEEN)
        if len(redacted) == len(texts):
            return redacted
    half = len(texts) // 2  # one of them holds the mark itself, or left something open
    return _some(redact, texts[:half]) + _some(redact, texts[half:])
