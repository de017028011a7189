"""Finds cue words in text with nothing but string methods, so that the gate needs no regular expressions."""

# ruff: noqa: RUF001 - words and signs of many languages are the subject
from __future__ import annotations

from told.memory import _capture_unspaced as unspaced
from told.memory import _capture_words as words

_PHRASES = {name: frozenset(text.split("|")) for name, text in words.CUES.items()}
_STEMS = [
    (f" {phrase[:-1]}", name)
    for name, text in words.CUES.items()
    if "*" in text
    for phrase in text.split("|")
    if phrase[-1] == "*"
]
_LONGEST = 5  # words of a phrase
_UNSPACED = {name: tuple(text.split("|")) for name, text in unspaced.CUES.items()}

_TO_SPACE = str.maketrans(
    dict.fromkeys('.,;:!?"()[]{}<>/\\|*_`~#=+@&%^$-–—…“”„«»¿¡\n\r\t\u3000。，、；：！？「」（）', " ")
    | {"’": "'", "ʼ": "'"}
)
_ELISIONS = tuple(
    (f" {letters}'", f" {letters}' ") for letters in ("l", "d", "n", "j", "c", "s", "m", "t", "qu")
)


def plain(text: str) -> str:
    """Return the text in lower case, its words between single spaces, without punctuation."""
    bare = f" {' '.join(text.lower().translate(_TO_SPACE).split())} "
    if "'" in bare:
        for joined, apart in _ELISIONS:
            bare = bare.replace(joined, apart)
    return bare


def is_unspaced(text: str) -> bool:
    """Say whether the text has Chinese or Japanese signs."""
    return not text.isascii() and any("\u3040" <= sign <= "\u9fff" for sign in text)


def cues(bare: str, *, with_unspaced: bool) -> set[str]:
    """Return the names of the cues in a text that `plain` made."""
    spoken = bare.split()
    said = set(spoken)
    for count in range(2, _LONGEST + 1):
        said.update(map(" ".join, zip(*(spoken[first:] for first in range(count)), strict=False)))
    found = {name for name, phrases in _PHRASES.items() if not phrases.isdisjoint(said)}
    found.update(name for stem, name in _STEMS if stem in bare)
    if with_unspaced:
        found |= {name for name, phrases in _UNSPACED.items() if any(phrase in bare for phrase in phrases)}
    return found
