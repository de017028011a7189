"""Brings text into plain words with nothing but string methods, so that the gate loads next to nothing."""

# ruff: noqa: RUF001 - words and signs of many languages are the subject
from __future__ import annotations

_TO_SPACE = str.maketrans(
    dict.fromkeys('.,;:!?"()[]{}<>/\\|*_`~#=+@&%^$-–—…“”„«»¿¡\n\r\t\u3000。，、；：！？「」（）', " ")
    | {"’": "'", "ʼ": "'"}
)
_ELISIONS = tuple(
    (f" {letters}'", f" {letters}' ") for letters in ("l", "d", "n", "j", "c", "s", "m", "t", "qu")
)
_WITHOUT_ACCENTS = str.maketrans("áàâäãéèêëíìîïóòôöõúùûüçñ", "aaaaaeeeeiiiiooooouuuucn")
_LONG_ENOUGH = 5  # letters of a phrase that is still itself without accents
_STEM = 7  # letters of a word that count
_STEM_BESIDE = 6  # letters of a word that count beside another


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


def spellings(phrases: str, between: str = "|") -> list[str]:
    """Return the phrases in a text, and those with accents also as people type them in a hurry."""
    found = phrases.split(between)
    if not phrases.isascii():
        found += [
            phrase.translate(_WITHOUT_ACCENTS)
            for phrase in found
            if len(phrase) >= _LONG_ENOUGH and not phrase.isascii()
        ]
    return found


def wordings(bare: str) -> set[str]:
    """Return the beginnings of the words in a plain text, alone and in pairs.

    Words are not set apart in Chinese and Japanese: there it is every two signs that stand together.
    """
    words = bare.split()
    found = {word[:_STEM] for word in words}
    ends = [word[:_STEM_BESIDE] for word in words]
    found.update(map("_".join, zip(["^", *ends], [*ends, "$"], strict=True)))
    if not bare.isascii():
        found.update(
            word[at : at + 2]
            for word in words
            if is_unspaced(word)
            for at in range(len(word) - 1)
            if word[at] > "\u3000"
        )
    return found
