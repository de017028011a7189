"""Parse questions."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from told.conflict.reading import DENY, EMPTY, Claim, read_claim
from told.search.tokens import PUNCTUATION, are_alternatives, canonical_stem, tokenize


@cache
def load_cues() -> dict[str, Any]:
    """Load `words.toml`."""
    return tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))


def load_words_of(name: str) -> frozenset[str]:
    """Load a list of words of `words.toml`."""
    return frozenset(load_cues()[name].split())


WHETHER, CHOICE, WHY, VALUE = FORMS = ("whether", "choice", "why", "value")
_MAX_TEXT = 2000
_WHY_WORDS = load_words_of("why_words")
_WHY_PHRASES, _WHY_UNSPACED = load_cues()["why_phrases"], load_cues()["why_unspaced"]
_VALUE_WORDS = load_words_of("value_words")
_WAS = "was"  # a past tense in English, "what" in German
_GERMAN_WORDS = load_words_of("german_words")
_VALUE_UNSPACED = load_cues()["value_unspaced"]
_OR = frozenset(("or", "oder", "ou", "vs", "versus"))
_OR_SHORT = frozenset(("o", "u"))  # also articles: only between alternatives
_OR_UNSPACED = ("还是", "或者", "それとも")
_NOT = frozenset(("not", "nicht", "pas", "no", "não"))
_LEADING_WORDS = load_words_of("leading_words")
_ASKING_WORDS = _WHY_WORDS | _VALUE_WORDS | load_words_of("asking_words")
_NO_CONTENT = _ASKING_WORDS | frozenset(map(canonical_stem, DENY))
_HOW = frozenset(("how", "wie"))
_HOW_MUCH = load_words_of("how_much_words")
_MAX_CHOICE_WORDS = 3
_OPENING_WORDS = 3  # must contain the question word


@dataclass(frozen=True, slots=True)
class Question:
    """A parsed question."""

    text: str
    form: str
    claim: Claim  # without the words that only ask
    words: dict[str, float]
    sides: tuple[tuple[str, frozenset[str]], ...] = ()  # of a choice: as typed, and stemmed
    wants: str = ""  # of a value: "number", "time", "place" or empty
    tokens: tuple[str, ...] = ()  # as typed


def parse_question(text: str) -> Question:
    """Parse a question of any kind and language."""
    raw = " ".join(text[:_MAX_TEXT].lower().split())
    tokens = tokenize(raw)
    spaced = f" {' '.join(tokens)} "
    typed = tuple(tokens)
    opening = [token for token in tokens if token not in PUNCTUATION][:_OPENING_WORDS]
    is_value = _is_value(raw, tokens, opening)
    sides: tuple[tuple[str, frozenset[str]], ...] = ()
    if _is_why(raw, spaced, opening):
        form = WHY
    else:
        sides = _find_choices(raw, tokens, is_value=is_value)
        form = CHOICE if sides else VALUE if is_value else WHETHER
    while form == WHETHER and tokens and tokens[0] in _LEADING_WORDS:
        tokens = tokens[1:]
    read = read_claim(" ".join(_without_asking(tokens)))
    words = {word: weight for word, weight in read.reading.words.items() if word not in _NO_CONTENT}
    wants = _find_wanted(opening, spaced) if form == VALUE else ""
    return Question(text, form, read, words, sides, wants, typed)


def _without_asking(tokens: list[str]) -> list[str]:
    """Drop words that only ask, such as "why" and "how long"."""
    pairs = zip(["", *tokens], tokens, strict=False)
    return [
        token for before, token in pairs
        if token not in _ASKING_WORDS and not (before in _HOW and token in _HOW_MUCH)
    ]  # fmt: skip


def _is_why(raw: str, spaced: str, opening: list[str]) -> bool:
    return (
        not _WHY_WORDS.isdisjoint(opening)
        or any(phrase in spaced for phrase in _WHY_PHRASES)
        or any(part in raw for part in _WHY_UNSPACED)
    )


def _is_value(raw: str, tokens: list[str], opening: list[str]) -> bool:
    if not _VALUE_WORDS.isdisjoint(opening) or any(part in raw for part in _VALUE_UNSPACED):
        return True
    return bool(opening) and opening[0] == _WAS and not _GERMAN_WORDS.isdisjoint(tokens)


def _find_choices(raw: str, tokens: list[str], *, is_value: bool) -> tuple[tuple[str, frozenset[str]], ...]:
    """Return the two choices of a question; empty if it has none."""
    for mark in _OR_UNSPACED:
        if mark in raw:
            left, _, right = raw.partition(mark)
            parts = [frozenset(read_claim(part).affirmed) for part in (left, right)]
            own = [parts[0] - parts[1], parts[1] - parts[0]]
            return tuple((" ".join(sorted(one)), one) for one in own) if all(own) else ()
    for at, token in enumerate(tokens):
        if token not in _OR and token not in _OR_SHORT:
            continue
        after = _take_phrase(tokens[at + 1 :])
        before = _take_phrase(tokens[:at][::-1])[: max(1, len(after))][::-1]
        if not before or not after or after[0] in _NOT:
            continue
        one_of_a_kind = are_alternatives(before[-1], after[0])
        if (token in _OR_SHORT or (is_value and not _has_break(tokens[:at]))) and not one_of_a_kind:
            continue
        return tuple((_as_typed(side, raw), frozenset(map(canonical_stem, side))) for side in (before, after))
    return ()


def _as_typed(words: list[str], raw: str) -> str:
    """Return a choice as it was typed; some names are one token for two words."""
    return " ".join(word if word in raw else word.replace("-", " ") for word in words)


def _take_phrase(tokens: list[str]) -> list[str]:
    run: list[str] = []
    for token in tokens:
        if token in PUNCTUATION or token in EMPTY or token in _ASKING_WORDS:
            if run or token in PUNCTUATION:
                break
            continue
        run.append(token)
        if len(run) == _MAX_CHOICE_WORDS:
            break
    return run


def _has_break(tokens: list[str]) -> bool:
    """Return whether punctuation precedes the choices: "which one, npm or yarn?"."""
    return any(token in PUNCTUATION for token in tokens[-_MAX_CHOICE_WORDS - 1 :])


def _find_wanted(opening: list[str], spaced: str) -> str:
    wanted = [
        name for name, said in load_cues()["wanted"].items() if any(phrase in spaced for phrase in said)
    ]
    return wanted[0] if wanted and not _VALUE_WORDS.isdisjoint(opening) else ""


def shared_weight(question: Question, statement: Claim) -> float:
    """Return the weighted share of a question's words in a statement."""
    total = sum(question.words.values())
    own = statement.reading.words
    return sum(weight for word, weight in question.words.items() if word in own) / total if total else 0.0
