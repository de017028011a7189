"""Judge whether a statement says plainly yes or no to a question."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from told.conflict.reading import read_claim
from told.reasoning.question import NEGATIONS, USING, Question, find_keys, find_words, load_words_of
from told.search.tokens import PUNCTUATION, STOP_WORDS, canonical_stem, tokenize
from told.words import split_sentences

FOR, AGAINST = "for", "against"
_CONDITIONS, _UNSURE = load_words_of("conditions"), load_words_of("unsure")
_DUTY, _FREEDOM = load_words_of("duty"), load_words_of("freedom")
_PLACES, _ANYWHERE = load_words_of("places"), load_words_of("anywhere")
_ENDS = STOP_WORDS | load_words_of("prepositions")
_MAX_TEXT = 2000


class _Clause(NamedTuple):
    tokens: tuple[str, ...]
    words: tuple[str, ...]
    denied: frozenset[str]

    @property
    def keys(self) -> frozenset[str]:
        return find_keys(self.tokens)

    @property
    def negations(self) -> int:
        return sum(token in NEGATIONS for token in self.tokens)


def judge_statement(question: Question, text: str) -> tuple[str, str]:
    """Return the side that a statement plainly takes, or nothing, and why.

    It must have all the question's words, no condition that the question does not name, and be about the same
    subject. What is not plain has no side.
    """
    found = [
        stance for clause in _read_clauses(question, text) if (stance := _judge_clause(question, clause))[0]
    ]
    return found[0] if len({side for side, _ in found}) == 1 else ("", "")


def _read_clauses(question: Question, text: str) -> Iterator[_Clause]:
    """Yield each unconditional sentence, and its part before the first comma."""
    for sentence in split_sentences(text[:_MAX_TEXT], semicolons=True):
        tokens = tokenize(sentence.lower())
        limits = (_CONDITIONS | _UNSURE).difference(question.tokens).intersection(tokens)
        if not limits and not sentence.endswith(("?", "？")):  # noqa: RUF001
            yield from map(_read_clause, dict.fromkeys((sentence, sentence.partition(", ")[0])))


def _read_clause(text: str) -> _Clause:
    tokens = tuple(tokenize(text.lower()))
    return _Clause(tokens, tuple(find_words(tokens)), frozenset(map(canonical_stem, read_claim(text).denied)))


def _judge_clause(question: Question, clause: _Clause) -> tuple[str, str]:
    asked, said = question.keys, clause.keys
    is_negated = not NEGATIONS.isdisjoint(question.tokens)
    is_other_duty = not _DUTY.isdisjoint(question.tokens) and not _FREEDOM.isdisjoint(clause.tokens)
    if not asked or is_negated or is_other_duty:
        return "", ""
    if not set(question.words) <= set(clause.words):
        return _judge_number(asked, said, clause)
    if not clause.negations and asked.isdisjoint(clause.denied):
        return (FOR, "") if _affirms(question, clause) else ("", "")
    rest = said - asked - _ANYWHERE
    is_denied = clause.denied & asked and clause.denied <= asked | _ANYWHERE and clause.negations < 2
    parts = [find_keys(part) for _, part in groupby(clause.tokens, PUNCTUATION.__contains__)]
    denying = {word for keys in parts if keys & clause.denied for word in keys}  # "…, not in MongoDB"
    is_plain = _has_no_subject(clause) if question.asks_for_use else denying <= asked | _ANYWHERE
    is_opposite = clause.negations == 1 and said == asked
    return (AGAINST, "denies it") if is_opposite or (is_denied and (not rest or is_plain)) else ("", "")


def _affirms(question: Question, clause: _Clause) -> bool:
    """Tell whether a clause without a denial says what is asked."""
    rest = clause.keys - question.keys - clause.denied - _ANYWHERE
    if question.asks_for_use:
        is_whole = not rest or not question.asks_for_advice
        return is_whole and _has_no_subject(clause) and _is_used(question, clause)
    words = iter(clause.words)  # in the question's order, but for a verb that begins it
    return not rest and all(word in words for word in question.words[1:])


def _has_no_subject(clause: _Clause) -> bool:
    """Tell whether the verb is the first word with a meaning: an order, or "we use"."""
    first = next((token for token in clause.tokens if token in USING or find_words([token])), "")
    return first in USING


def _is_used(question: Question, clause: _Clause) -> bool:
    """Tell whether the question's words are all that follows the verb, up to a preposition of no place."""
    at = next(place for place, token in enumerate(clause.tokens) if token in USING)
    rest = [token for token in clause.tokens[at + 1 :] if token in PUNCTUATION or find_words([token])]
    wanted = len(question.words)
    if set(find_words(rest[:wanted])) != set(question.words):
        return False
    first, *others = (*rest[wanted : wanted + 2], "")
    is_limit = first in _ENDS and (first not in _PLACES or not _ANYWHERE.isdisjoint(find_words(others)))
    return not first or first in PUNCTUATION or is_limit or not clause.denied.isdisjoint(find_words([first]))


def _judge_number(asked: frozenset[str], said: frozenset[str], clause: _Clause) -> tuple[str, str]:
    """Judge a clause that is the question with another number."""
    numbers = [{word for word in words if word[0].isdigit()} for words in (asked, said)]
    is_same = asked - numbers[0] == said - numbers[1] and len(asked) > 1 and not clause.negations
    return (AGAINST, "gives another number") if is_same and all(numbers) else ("", "")


def is_doubtful(question: Question, text: str, side: str) -> bool:
    """Tell whether a statement that takes no side has the question's words, and the other side's sign."""
    clause = _read_clause(text[:_MAX_TEXT])
    denies = bool(clause.negations or clause.denied & question.keys)
    return question.keys <= clause.keys and denies == (side == FOR)


def is_swapped(question: Question, old: str, new: str) -> bool:
    """Tell whether a correction swapped a word of the question in an answer, or denies it."""
    before, now = (_read_clause(text) for text in (old, new))
    if any(question.keys & clause.denied for clause in _read_clauses(question, new)):
        return True
    lost = question.keys & (before.keys - now.keys)
    return bool(lost) and before.keys - lost <= now.keys and bool(now.keys - before.keys)
