"""What a statement is about by its first telling words, in the form that its other words have, too."""

from __future__ import annotations

from told.search.stop_words import STOP_WORDS
from told.search.tokens import BREAKS, key_of, tokens_of

HEADS = 4  # words
_EMPTY_WORDS = """
use uses used using run runs ran running put puts keep keeps kept go goes come comes make makes new all always
never only must may not no every each prefer written write writes done does default see back still now per
switched switch back moved changed again since instead via through everywhere nie immer nur nicht kein keine
wird werden muss soll dürfen verwenden nutzen benutzen toujours jamais usar siempre nunca sempre
"""
_EMPTY = frozenset(_EMPTY_WORDS.split())


def telling(text: str) -> list[str]:
    """Return the words of a text that say what it is about."""
    found = []
    for token in tokens_of(text.lower()):
        bare = token.strip("`'\"()[]*_.")
        if token in BREAKS or not bare or bare in STOP_WORDS or bare in _EMPTY:
            continue
        found.append(key_of(bare))
    return found
