"""Split texts into words."""

# ruff: noqa: RUF001 - signs of many languages are the subject

from __future__ import annotations

_MAX_WORDS = 400
_TO_SPACE = {ord(char): " " for char in ',;:!?"()[]{}<>|*`~=@&^$“”„«»¿¡…\n\r\t\u3000。，、；：！？「」（）'}
_TO_SPACE |= {0x2019: "'", 0x2018: "'"}
_WORD_EDGES = "./'\\-_#%+"


def split_words(text: str) -> list[str]:
    """Return the lower-case words of a text without punctuation."""
    words = [word.strip(_WORD_EDGES) for word in text.lower().translate(_TO_SPACE).split()[:_MAX_WORDS]]
    return [word for word in words if word]
