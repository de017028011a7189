"""Parse questions into the words that an answer must cover."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

from told.search.tokens import PUNCTUATION, STOP_WORDS, are_alternatives, canonical_stem, tokenize
from told.tables import load_table, load_words

load_words_of = partial(load_words, __file__, "words")
WHETHER, OPEN = "whether", "open"
USING, NEGATIONS = load_words_of("using"), load_words_of("negations")
_OPEN_WORDS, _CHOICES, _ASKING = (
    load_words_of("open_words"),
    load_words_of("choices"),
    load_words_of("asking"),
)
_OPEN_UNSPACED = load_table(__file__, "words")["open_unspaced"]
_ADVICE = load_words_of("advice")
_MAX_TEXT = 2000
_OPENING_WORDS = 3  # must contain the question word


class Question(NamedTuple):
    """A parsed question."""

    text: str
    form: str
    tokens: tuple[str, ...]
    words: tuple[str, ...]  # stems that a statement must have to answer it, in order

    @property
    def keys(self) -> frozenset[str]:
        """Return the stems of the words with a meaning of their own."""
        return find_keys(self.tokens)

    @property
    def asks_for_use(self) -> bool:
        """Return whether it asks if something is used."""
        return not USING.isdisjoint(self.tokens)

    @property
    def asks_for_advice(self) -> bool:
        """Return whether it asks what to do."""
        return self.tokens[0] in _ADVICE

    def measure_share(self, text: str) -> float:
        """Return the share of its words with a meaning that a text has."""
        keys = self.keys
        return len(keys & find_keys(tokenize(text.lower()))) / len(keys) if keys else 0.0

    def touches(self, text: str) -> bool:
        """Return whether a text has one of its words, or an alternative: pnpm for yarn."""
        tokens = tokenize(text.lower())
        return self.measure_share(text) > 0 or any(
            are_alternatives(asked, said) for asked in self.tokens for said in tokens
        )


def parse_question(text: str) -> Question:
    """Parse a question of any kind and language."""
    raw = " ".join(text[:_MAX_TEXT].lower().split())
    tokens = tuple(token for token in tokenize(raw) if token not in PUNCTUATION)
    is_open = (
        not _OPEN_WORDS.isdisjoint(tokens[:_OPENING_WORDS])
        or not _CHOICES.isdisjoint(tokens)
        or any(part in raw for part in _OPEN_UNSPACED)
    )
    return Question(text, OPEN if is_open else WHETHER, tokens, tuple(find_words(tokens)))


def find_words(tokens: Iterable[str]) -> list[str]:
    """Return the stems of words, without those that any question or order has."""
    # Stemmed twice: "listens" loses one ending more than "listen".
    return [
        canonical_stem(canonical_stem(token))
        for token in tokens
        if token not in PUNCTUATION and token not in _ASKING and token not in USING and token not in NEGATIONS
    ]


def find_keys(tokens: Iterable[str]) -> frozenset[str]:
    """Return the stems of the words with a meaning of their own."""
    return frozenset(find_words(token for token in tokens if token not in STOP_WORDS))
