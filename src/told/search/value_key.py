"""Reduce a statement to a key that look-alikes of the same text share.

Rejected and forgotten statements are recognised by it. Case, spaces, accents, invisible characters, quotes,
emphasis, final punctuation and letters of other scripts make no difference; numbers, signs of code and
words do. A paraphrase has another key.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from pathlib import Path

from told.pattern import lazy_pattern

# Combining accents of Latin, Greek and Cyrillic; vowel signs of other scripts are letters.
_ACCENTS = lazy_pattern("[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")
_BLANKS = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")  # letters and signs that show nothing
_KEPT_SIGNS = frozenset("+#%<>=/\\@&$^|.,:-")
_ENCLOSED = range(0x1F130, 0x1F150), range(0x1F150, 0x1F16A), range(0x1F170, 0x1F18A), range(0x1F1E6, 0x1F200)
_LEADING = lazy_pattern(r"^(?:[#>+-]+\s+)+")  # of a heading, a quotation, a list
_LETTER = r"[^\W\d]"
_LOOSE = lazy_pattern(
    r"[.,:]+(?!\w)"  # the end of a sentence or a clause
    r"|(?<!\d)[,:]|[,:](?!\d)"
    rf"|(?<={_LETTER})-+(?={_LETTER})|-+(?!\w)"  # a hyphen, a dash
)
_SPACE = lazy_pattern(r"(?<!\d)\s+|\s+(?!\d)")


def _load_look_alikes() -> dict[str, str]:
    lines = Path(__file__).with_name("look_alikes.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split() for line in lines if line and not line.startswith("# "))
    return {other: letter for letter, others in pairs for other in others}


class _Folding(dict[int, str]):
    """What each character counts as; filled on demand for `str.translate`."""

    def __init__(self) -> None:
        super().__init__()
        self._look_alikes = _load_look_alikes()

    def __missing__(self, code: int) -> str:
        self[code] = found = self._fold(chr(code))
        return found

    def _fold(self, char: str) -> str:
        for letters in _ENCLOSED:
            if ord(char) in letters:
                return chr(ord("a") + ord(char) - letters.start)
        bare = unicodedata.normalize("NFKD", self._look_alikes.get(char, char))
        plain = _ACCENTS.sub("", bare)
        if plain == bare:  # others, such as Hangul and kana, stay composed
            plain = unicodedata.normalize("NFKC", bare)
        return "".join(filter(self._is_kept, (self._look_alikes.get(one, one) for one in plain)))

    @staticmethod
    def _is_kept(char: str) -> bool:
        if char in _BLANKS:
            return False
        return char.isspace() or char in _KEPT_SIGNS or unicodedata.category(char)[0] in "LNM"


_FOLDING = _Folding()


@lru_cache(maxsize=8192)
def make_value_key(text: str) -> str:
    """Return the key of a statement; empty if it has no letter or digit."""
    folded = text.translate(_FOLDING).casefold().translate(_FOLDING)
    folded = _LOOSE.sub("", _LEADING.sub("", folded.strip()))
    key = _SPACE.sub("", folded.strip())
    return key if any(map(str.isalnum, key)) else ""
