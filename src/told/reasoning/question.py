"""Parse questions and judge how statements answer them."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from told.conflict.reading import EMPTY, Claim, Reading, has_phrase, read_claim, read_statement
from told.search.tokens import PUNCTUATION, SLOTS, VALUES, are_alternatives, canonical_stem, tokenize


@cache
def load_cues() -> dict[str, Any]:
    """Load `words.toml`."""
    return tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))


def _load_words(name: str) -> frozenset[str]:
    return frozenset(load_cues()[name].split())


WHETHER, CHOICE, WHY, VALUE = FORMS = ("whether", "choice", "why", "value")
_MAX_TEXT = 2000
_WHY_WORDS = _load_words("why_words")
_WHY_PHRASES, _WHY_UNSPACED = load_cues()["why_phrases"], load_cues()["why_unspaced"]
_VALUE_WORDS = _load_words("value_words")
_WAS = "was"  # a past tense in English, "what" in German
_GERMAN_WORDS = _load_words("german_words")
_VALUE_UNSPACED = load_cues()["value_unspaced"]
_OR = frozenset(("or", "oder", "ou", "vs", "versus"))
_OR_SHORT = frozenset(("o", "u"))  # also articles: only between alternatives
_OR_UNSPACED = ("还是", "或者", "それとも")
_NOT = frozenset(("not", "nicht", "pas", "no", "não"))
_LEADING_WORDS = _load_words("leading_words")
_ASKING_WORDS = _WHY_WORDS | _VALUE_WORDS | _load_words("asking_words")
_HOW = frozenset(("how", "wie"))
_HOW_MUCH = _load_words("how_much_words")
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


def parse_question(text: str) -> Question:
    """Parse a question of any kind and language."""
    raw = " ".join(text[:_MAX_TEXT].lower().split())
    tokens = tokenize(raw)
    spaced = f" {' '.join(tokens)} "
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
    words = {word: weight for word, weight in read.reading.words.items() if word not in _ASKING_WORDS}
    return Question(text, form, read, words, sides, _find_wanted(opening, spaced) if form == VALUE else "")


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
        return tuple((" ".join(side), frozenset(map(canonical_stem, side))) for side in (before, after))
    return ()


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


FOR, AGAINST = "for", "against"
# A statement about one environment or branch says nothing about another.
_PLACE_SLOTS = frozenset(("environment", "branch", "os", "browser", "side", "people"))
_MIN_FOR, _MIN_AGAINST = 0.6, 0.5  # share of the question's words
_OTHER_CHOICE = 0.8
_ELSEWHERE = 0.5  # weight of another choice made for something else
_SUBJECT = 0.5  # weight of a choice's subject
_MIN_FOCUS, _FEW_WORDS = 0.4, 2.5
_LIMITING_PREPOSITIONS = _load_words("limiting_prepositions")


@dataclass(frozen=True, slots=True)
class Stance:
    """How a statement answers a question."""

    side: str  # for, against, or empty
    fit: float  # 0 to 1
    why: str = ""
    limited: bool = False  # it applies only under a condition that the question does not name


def shared_weight(question: Question, statement: Claim) -> float:
    """Return the weighted share of a question's words in a statement."""
    total = sum(question.words.values())
    own = statement.reading.words
    return sum(weight for word, weight in question.words.items() if word in own) / total if total else 0.0


def judge_claim(question: Question, statement: Claim) -> Stance:
    """Judge a statement on a yes-or-no question; denying a part counts against."""
    numbers = _judge_numbers(question.claim, statement)
    shared = [word for word in question.words if word in statement.reading.words]
    fit = shared_weight(question, statement)
    if numbers == AGAINST and fit >= _MIN_AGAINST:
        return Stance(numbers, fit, "gives another number")
    clause = _find_clause(statement, shared)
    if fit >= _MIN_AGAINST and any(_is_denied(question.claim, statement, word) for word in shared):
        return Stance(AGAINST, fit, "denies it", limited=_is_limited(question, statement, clause))
    if numbers and fit >= _MIN_AGAINST:
        return Stance(numbers, fit, "gives that number")
    other, strength = _other_choice(question, statement)
    if other:
        limited = _is_limited(question, statement, _find_clause(statement, [other]))
        return Stance(AGAINST, strength, f"names {other}", limited=limited)
    if fit < _MIN_FOR:
        return Stance("", fit)
    weight = fit * _focus(clause) if len(question.words) == 1 else fit
    return Stance(FOR, weight, limited=_is_limited(question, statement, clause))


def judge_side(question: Question, side: int, statement: Claim) -> Stance:
    """Judge a statement on one of two choices."""
    keys = question.sides[side][1]
    every = frozenset(key for _, other in question.sides for key in other)
    subject = [word for word in question.words if word not in every]
    own = statement.reading.words
    about = sum(word in own for word in subject) / len(subject) if subject else 1.0
    fit = _SUBJECT + (1.0 - _SUBJECT) * about
    clause = _find_clause(statement, list(keys))
    limited = _is_limited(question, statement, clause)
    if keys <= statement.affirmed:
        compares = not statement.denied.isdisjoint(every)
        return Stance(FOR, fit if subject or compares else fit * _focus(clause), limited=limited)
    if not keys.isdisjoint(statement.denied):
        return Stance(AGAINST, fit, "denies it", limited=limited)
    others = every - keys
    if others and others <= statement.affirmed:
        return Stance("", fit)  # it counts for the other side
    chosen = _find_rival(keys, statement)
    return Stance(AGAINST, fit * _OTHER_CHOICE, f"names {chosen}") if chosen else Stance("", 0.0)


def _find_clause(statement: Claim, words: Sequence[str]) -> Reading:
    """Return the clause of a statement that contains most of some words."""
    parts = [statement.reading.raw]
    for mark in ("; ", ": ", ". "):
        parts = [piece for part in parts for piece in part.split(mark) if piece.strip()]
    if len(parts) <= 1:
        return statement.reading
    return max(
        (read_statement(part) for part in parts), key=lambda part: sum(word in part.words for word in words)
    )


def _focus(clause: Reading) -> float:
    """Return how focused a clause is: less, the more words it has."""
    return max(_MIN_FOCUS, min(1.0, _FEW_WORDS / max(1, len(clause.words))))


def _is_denied(question: Claim, statement: Claim, word: str) -> bool:
    return (word in question.denied) != (word in statement.denied)


def _judge_numbers(question: Claim, statement: Claim) -> str:
    """Judge a statement by the numbers it gives for the same thing."""
    for wanted in question.reading.counts:
        given = [
            one.value for one in statement.reading.counts
            if one.about == wanted.about or (one.unit and one.unit == wanted.unit)
        ]  # fmt: skip
        if given:
            return FOR if wanted.value in given else AGAINST
    return ""


def _other_choice(question: Question, statement: Claim) -> tuple[str, float]:
    """Return what a statement names instead of the asked choice, and its weight."""
    asked = frozenset(word for word in question.words if word in VALUES.values())
    chosen = _find_rival(asked, statement) if asked - statement.reading.words.keys() else ""
    if not chosen:
        return "", 0.0
    rest = [word for word in question.words if word not in asked]
    known = [word for word in rest if word in statement.reading.words]
    named = {canonical_stem(part) for slot in SLOTS.get(chosen, ()) for part in slot.split("-")}
    foreign = [
        word for word, weight in statement.reading.words.items()
        if weight >= 1 and word not in named and word != chosen and word not in question.words
    ]  # fmt: skip
    strength = _OTHER_CHOICE * ((1 + len(known)) / (1 + len(rest)))
    return chosen, strength * (_ELSEWHERE if foreign and not known else 1.0)


def _find_rival(keys: frozenset[str], statement: Claim) -> str:
    """Return the value that a statement names for the same slot."""
    slots = {slot for key in keys for slot in SLOTS.get(key, ()) if slot not in _PLACE_SLOTS}
    for slot in sorted(slots):
        held = statement.reading.values.get(slot, frozenset())
        if held and held.isdisjoint(keys):
            return min(held)
    return ""


def _is_limited(question: Question, statement: Claim, clause: Reading) -> bool:
    """Return whether a clause has a condition that the question does not name."""
    if clause.words.keys() <= question.words.keys():
        return False
    if clause.first in _LIMITING_PREPOSITIONS or has_phrase(clause, "except"):
        return True
    return statement.unless and not clause.words.keys().isdisjoint(statement.denied)
