"""Cuts a text into the word pieces of a table: words, parts of identifiers, parts of rare words."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MOST_CHARACTERS = 8192  # of a text: what stands later hardly moves the mean
MOST_PIECES = 512
_MOST_SEEN = 20_000  # words
_LONGEST_WORD = 64  # a longer one is a key, a hash or noise
_LONGEST_PIECE = 24
_SPACED = {code: " " for code in range(128) if not chr(code).isalnum()}
# Signs that are words of their own: Chinese and Japanese.
_IDEOGRAPHS = ((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0xF900, 0xFAFF), (0x20000, 0x2FA1F), (0x3040, 0x30FF))


def pieces(text: str, row_of: Callable[[str], int], seen: dict[str, list[int]] | None = None) -> list[int]:
    """Return the rows of a text's word pieces, in order, the first 512.

    Args:
        text: Any text.
        row_of: Gives the row of a piece, or -1. The piece of a word's rest begins with `##`.
        seen: The rows of words that were looked up before; further ones are added.
    """
    found: list[int] = []
    if seen is None:
        seen = {}
    elif len(seen) >= _MOST_SEEN:
        seen.clear()
    for word in words_of(text[:MOST_CHARACTERS]):
        rows = seen.get(word)
        if rows is None:
            rows = seen[word] = _of_word(word, row_of)
        found += rows
        if len(found) >= MOST_PIECES:
            return found[:MOST_PIECES]
    return found


def words_of(text: str) -> list[str]:
    """Return the words of a text as they are written, without signs and accents."""
    return (text if text.isascii() else _plain(text)).translate(_SPACED).split()


def _plain(text: str) -> str:
    """Return a text without accents, with every sign that is no letter or digit as a space."""
    from unicodedata import category, normalize

    kept = []
    for char in normalize("NFD", text):
        if char.isascii():
            kept.append(char)
        elif any(low <= ord(char) <= high for low, high in _IDEOGRAPHS):
            kept.append(f" {char} ")
        elif char.isalnum():
            kept.append(char)
        elif category(char) not in ("Mn", "Cf"):
            kept.append(" ")
    return "".join(kept)


def _of_word(word: str, row_of: Callable[[str], int]) -> list[int]:
    """Return the rows of a word: of itself, of the parts of an identifier, or of its pieces."""
    if len(word) > _LONGEST_WORD:
        return []
    small = word.lower()
    row = row_of(small)
    if row >= 0:
        return [row]
    if not (word.islower() or word.isupper() or word[1:].islower()):
        parts = _parts(word)
        if len(parts) > 1:
            return [row for part in parts for row in _of_word(part.lower(), row_of)]
    return _cut(small, row_of)


def _parts(word: str) -> list[str]:
    """Cut `getUserToken` and `HTTPServer2` where the case changes."""
    cuts = [
        at
        for at, char in enumerate(word)
        if not at or (char.isupper() and (not word[at - 1].isupper() or word[at + 1 : at + 2].islower()))
    ]
    return [word[start:end] for start, end in zip(cuts, [*cuts[1:], len(word)], strict=True)]


def _cut(word: str, row_of: Callable[[str], int]) -> list[int]:
    """Cut a word into the longest pieces known from its start on, up to a part that is not known."""
    found: list[int] = []
    start = 0
    while start < len(word):
        end = min(len(word), start + _LONGEST_PIECE)
        mark = "##" if start else ""
        while end > start:
            row = row_of(mark + word[start:end])
            if row >= 0:
                break
            end -= 1
        else:
            return found
        found.append(row)
        start = end
    return found
