"""Takes disguises off text, so that rules see a secret as it is, and finds the way back to the original."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    # where it begins and ends in the text, and what it says; each character of that is as wide as the others
    Edit = tuple[int, int, str]

# Rules see this much around a disguise, and the rest of the word: names before values, values behind names.
_BEFORE, _BEHIND, _REST_OF_A_WORD = 160, 400, 8_000
_QUOTES = 3  # fewer than two strings have


class View:
    """Those parts of a text that hold disguises, without them."""

    def __init__(self, text: str, edits: Iterable[Edit]) -> None:
        """Take the text and what to change in it: in order, and without overlap."""
        self._original = text
        self._parts: list[str] = []
        self._length = 0
        # Of each part: where it begins here, where in the original, and how wide its characters are there.
        self._here: list[int] = []
        self._there: list[int] = []
        self._width: list[float] = []
        at = -1
        for start, end, new in edits:
            if at < 0:
                at = self._beginning_before(start, 0)
            elif start - at > _BEFORE + _BEHIND:
                behind = self._end_behind(at)
                before = self._beginning_before(start, at)
                if behind < before:
                    self._copy(at, behind)
                    self._add("\n\n", behind, 0)
                    at = before
            if at < start:
                self._copy(at, start)
            if new:
                self._add(new, start, (end - start) / len(new))
            at = end
        self._copy(at, self._end_behind(at))
        self.text = "".join(self._parts)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where in the original a part of this text is."""
        from _bisect import bisect_right  # few texts need it, and it is a file of its own

        first = bisect_right(self._here, start) - 1
        last = bisect_right(self._here, end - 1) - 1
        return (
            self._there[first] + int((start - self._here[first]) * self._width[first]),
            self._there[last] - int(-(end - self._here[last]) * self._width[last] // 1),
        )

    def _copy(self, start: int, end: int) -> None:
        if start < end:
            self._add(self._original[start:end], start, 1)

    def _add(self, new: str, there: int, width: float) -> None:
        self._here.append(self._length)
        self._there.append(there)
        self._width.append(width)
        self._parts.append(new)
        self._length += len(new)

    def _beginning_before(self, start: int, least: int) -> int:
        at = max(least, start - _BEFORE)
        space = max(self._original.rfind(" ", least, at), self._original.rfind("\n", least, at))
        return max(least, at - _REST_OF_A_WORD, space)

    def _end_behind(self, end: int) -> int:
        at = end + _BEHIND
        ends = [self._original.find(space, at, at + _REST_OF_A_WORD) for space in " \n"]
        return min((one for one in ends if one >= 0), default=at + _REST_OF_A_WORD)


def edits(text: str, flat: bytes, foreign: bytes) -> list[Edit]:
    """Return the disguises of a text, in order and without overlap.

    Args:
        text: The text.
        flat: The same with a byte for each character.
        foreign: What of it is not ASCII.
    """
    found: list[Edit] = []
    if b"\n" in flat or b"''" in flat or flat.count(b'"') + flat.count(b"'") + flat.count(b"`") > _QUOTES:
        from told.guard._redact_normal_joints import joints

        found += ((start, end, "") for start, end in joints(flat))
    if b"\\" in flat or b"%" in flat or b"&" in flat or b"=3D" in flat or foreign:
        from told.guard._redact_normal_escapes import escapes

        found += escapes(text, flat, foreign)
    if not found:
        return found
    found.sort()
    kept = [found[0]]
    for one in found:
        if one[0] >= kept[-1][1]:
            kept.append(one)
    return kept
