"""Find cue words in text and load the word lists of `cues.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

# ruff: noqa: RUF001 - punctuation of many languages

_PUNCTUATION = str.maketrans(
    dict.fromkeys('.,;:!?"()[]{}<>/\\|*_`~#=+@&%^$-–—…“”„«»¿¡\n\r\t\u3000。，、；：！？「」（）', " ")
    | {"’": "'", "ʼ": "'"}
)
_ELISIONS = tuple(
    (f" {letters}'", f" {letters}' ") for letters in ("l", "d", "n", "j", "c", "s", "m", "t", "qu")
)
_ACCENTS = str.maketrans("áàâäãéèêëíìîïóòôöõúùûüçñ", "aaaaaeeeeiiiiooooouuuucn")
_MIN_UNACCENTED = 5  # letters of a phrase that stays unambiguous without accents
_MAX_PHRASE_WORDS = 5


def normalise(text: str) -> str:
    """Return lower-case words between single spaces, without punctuation."""
    bare = f" {' '.join(text.lower().translate(_PUNCTUATION).split())} "
    if "'" in bare:
        for joined, apart in _ELISIONS:
            bare = bare.replace(joined, apart)
    return bare


def has_cjk(text: str) -> bool:
    """Tell whether a text has Chinese or Japanese characters."""
    return not text.isascii() and any("\u3040" <= char <= "\u9fff" for char in text)


@cache
def load_cue_data() -> dict[str, Any]:
    """Load all tables of `cues.toml`."""
    return tomllib.loads(Path(__file__).with_name("cues.toml").read_text(encoding="utf-8"))


def load_words(name: str, *, unaccented: bool = False) -> frozenset[str]:
    """Load a list of words, optionally with their unaccented spellings."""
    words = load_cue_data()["words"][name].split()
    return frozenset(add_unaccented(words) if unaccented else words)


def add_unaccented(phrases: Sequence[str]) -> list[str]:
    """Return phrases, and those with accents also without."""
    return [
        *phrases,
        *(
            phrase.translate(_ACCENTS)
            for phrase in phrases
            if len(phrase) >= _MIN_UNACCENTED and not phrase.isascii()
        ),
    ]


_PHRASES = {name: frozenset(add_unaccented(phrases)) for name, phrases in load_cue_data()["cues"].items()}
_STEMS = [
    (f" {phrase[:-1]}", name) for name, phrases in _PHRASES.items() for phrase in phrases if phrase[-1] == "*"
]


def find_cues(bare: str) -> set[str]:
    """Return the cues of spaced languages in a normalised text."""
    words = bare.split()
    spoken = set(words)
    for size in range(2, _MAX_PHRASE_WORDS + 1):
        spoken.update(map(" ".join, zip(*(words[start:] for start in range(size)), strict=False)))
    found = {name for name, phrases in _PHRASES.items() if not phrases.isdisjoint(spoken)}
    found.update(name for stem, name in _STEMS if stem in bare)
    return found


def find_cjk_cues(bare: str) -> set[str]:
    """Return the Chinese and Japanese cues in a normalised text."""
    return {
        name
        for name, phrases in load_cue_data()["cjk_cues"].items()
        if any(phrase in bare for phrase in phrases)
    }
