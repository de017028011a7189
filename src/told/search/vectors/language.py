"""Remove from a prompt's vector what only says in which language it is."""

from __future__ import annotations

from functools import cache

from told.search.tokens import STOP_WORDS_BY_LANGUAGE
from told.search.vectors.arithmetic import remove_direction
from told.search.vectors.table import make_vector

_ENGLISH = "english"


def make_prompt_vector(text: str) -> bytes | None:
    """Return the vector of a prompt; of texts in its language, those about its subject stay near.

    The words that any text of a language has, such as articles, point into the direction of that language.
    """
    found = make_vector(text, asking=True)
    for language in _find_languages(text) if found else ():
        direction = _find_direction(language)
        found = remove_direction(found, direction) if found and direction else found
    return found


def _find_languages(text: str) -> list[str]:
    """Return the languages other than English that a text may be in, by its most common words."""
    words = {word.strip(".,;:!?¿¡()\"'") for word in text.lower().replace("'", "' ").split()}
    words -= STOP_WORDS_BY_LANGUAGE[_ENGLISH]
    return [name for name, own in STOP_WORDS_BY_LANGUAGE.items() if name != _ENGLISH and words & own]


@cache
def _find_direction(language: str) -> bytes | None:
    return make_vector(" ".join(sorted(STOP_WORDS_BY_LANGUAGE[language])))
