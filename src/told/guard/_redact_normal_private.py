"""Leaves out what the user marked as private, however the marks are written."""

from __future__ import annotations

from told.guard._redact_patterns import pattern
from told.snapshot import IGNORECASE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def _written(itself: str, name: str, decimal: str, hexadecimal: str) -> str:
    """Return a pattern for a character and for what stands for it in HTML, JSON, programs and addresses."""
    return (
        rf"(?:{itself}|&(?:amp;){{0,3}}+(?:{name}|#0{{0,5}}{decimal}|#x0{{0,5}}{hexadecimal});"
        rf"|\\{{1,8}}(?:u00|x|u\{{){hexadecimal}\}}?|%(?:25){{0,3}}{hexadecimal})"
    )


_LESS = _written("<", "lt", "60", "3c")
_MORE = _written(">", "gt", "62", "3e")
_SLASH = _written(r"\\{0,8}/", "sol", "47", "2f")
_BEFORE = pattern(rf"{_LESS}\s{{0,3}}({_SLASH})?\s{{0,3}}\Z", IGNORECASE)
_BEHIND = pattern(rf"(?:\s[^<>&%\\]{{0,80}})?{_MORE}", IGNORECASE)
_WORD = "private"
_LONGEST_BEGINNING = 48
_LAST_BEFORE = frozenset("<;cC/fF7}")


def without_private(text: str, plain: str) -> str:
    """Replace what is marked, to the end of the text if the mark is never closed.

    Args:
        text: The text.
        plain: The same in ordinary letters, as long as the text.
    """
    kept: list[str] = []
    at = depth = 0
    for start, end, closes in _marks(plain):
        if not closes:
            if depth == 0:
                kept += (text[at:start], "[private]")
            depth += 1
        elif depth:
            depth -= 1
            at = end
    if not kept:
        return text
    return "".join(kept) + ("" if depth else text[at:])


def _marks(plain: str) -> Iterator[tuple[int, int, bool]]:
    lower = plain.lower()
    if len(lower) != len(plain):  # a few letters become two
        lower = plain.encode("ascii", "replace").lower().decode()
    at = lower.find(_WORD)
    while at >= 0:
        head = plain[max(0, at - _LONGEST_BEGINNING) : at]
        if head.rstrip()[-1:] in _LAST_BEFORE:
            before = _BEFORE.search(head)
            behind = _BEHIND.match(plain, at + len(_WORD))
            if before and behind:
                yield at - len(head) + before.start(), behind.end(), bool(before[1])
        at = lower.find(_WORD, at + len(_WORD))
