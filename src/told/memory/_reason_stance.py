"""Whether a memory speaks for or against what is asked, and how much of the question it is about."""

from __future__ import annotations

from told.memory import _supersede_cues as cues
from told.memory._supersede_read import has, read
from told.record import record
from told.search.kinship import SLOTS, VALUES
from told.search.tokens import key_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from told.memory._graph_polarity import Claim
    from told.memory._reason_question import Question
    from told.memory._supersede_read import Reading

FOR, AGAINST = "for", "against"
# What is said of one environment or branch says nothing of another.
_PLACES = frozenset(("environment", "branch", "os", "browser", "side", "people"))
_ENOUGH_FOR, _ENOUGH_AGAINST = 0.6, 0.5  # share of the question's words
_OTHER_CHOICE = 0.8
_ELSEWHERE = 0.5  # how much less another choice says that is made for something else
_SUBJECT = 0.5  # of a choice: what its subject counts beside its two sides
_MENTIONED, _FEW_WORDS = 0.4, 2.5
_IN = cues.words("in inside under within for im unter für dans pour sous en para bajo em dentro")


@record
class Stance:
    """How a statement stands to a question."""

    side: str  # for, against, or empty
    fit: float  # 0 to 1
    why: str = ""
    limited: bool = False  # it holds under a condition, or in a place, that the question does not name


def share(question: Question, statement: Claim) -> float:
    """Return how much of a question's words a statement has."""
    total = sum(question.words.values())
    own = statement.reading.words
    return sum(weight for word, weight in question.words.items() if word in own) / total if total else 0.0


def on_claim(question: Question, statement: Claim) -> Stance:
    """Return how a statement stands to "do we …": what denies a part of it speaks against all of it."""
    numbers = _on_numbers(question.claim, statement)
    shared = [word for word in question.words if word in statement.reading.words]
    fit = share(question, statement)
    if numbers == AGAINST and fit >= _ENOUGH_AGAINST:
        return Stance(numbers, fit, "gives another number")
    clause = _clause(statement, shared)
    if fit >= _ENOUGH_AGAINST and any(_denied(question.claim, statement, word) for word in shared):
        return Stance(AGAINST, fit, "denies it", limited=_is_limited(question, statement, clause))
    if numbers and fit >= _ENOUGH_AGAINST:
        return Stance(numbers, fit, "gives that number")
    other, strength = _other_choice(question, statement)
    if other:
        limited = _is_limited(question, statement, _clause(statement, [other]))
        return Stance(AGAINST, strength, f"names {other}", limited=limited)
    if fit < _ENOUGH_FOR:
        return Stance("", fit)
    weight = fit * _thickness(clause) if len(question.words) == 1 else fit
    return Stance(FOR, weight, limited=_is_limited(question, statement, clause))


def on_side(question: Question, side: int, statement: Claim) -> Stance:
    """Return how a statement stands to one of two choices."""
    keys = question.sides[side][1]
    every = frozenset(key for _, other in question.sides for key in other)
    subject = [word for word in question.words if word not in every]
    own = statement.reading.words
    about = sum(word in own for word in subject) / len(subject) if subject else 1.0
    fit = _SUBJECT + (1.0 - _SUBJECT) * about
    clause = _clause(statement, list(keys))
    limited = _is_limited(question, statement, clause)
    if keys <= statement.affirmed:
        compares = not statement.denied.isdisjoint(every)
        return Stance(FOR, fit if subject or compares else fit * _thickness(clause), limited=limited)
    if not keys.isdisjoint(statement.denied):
        return Stance(AGAINST, fit, "denies it", limited=limited)
    others = every - keys
    if others and others <= statement.affirmed:
        return Stance("", fit)  # it counts for the other side
    chosen = _chosen_instead(keys, statement)
    return Stance(AGAINST, fit * _OTHER_CHOICE, f"names {chosen}") if chosen else Stance("", 0.0)


def _clause(statement: Claim, words: Sequence[str]) -> Reading:
    """Return the part of a statement that has most of some words: what stands beside it limits nothing."""
    parts = [statement.reading.raw]
    for mark in ("; ", ": ", ". "):
        parts = [piece for part in parts for piece in part.split(mark) if piece.strip()]
    if len(parts) <= 1:
        return statement.reading
    return max((read(part) for part in parts), key=lambda part: sum(word in part.words for word in words))


def _thickness(clause: Reading) -> float:
    """Return how much a clause is about a word in it: less, the more else it says."""
    return max(_MENTIONED, min(1.0, _FEW_WORDS / max(1, len(clause.words))))


def _denied(question: Claim, statement: Claim, word: str) -> bool:
    return (word in question.denied) != (word in statement.denied)


def _on_numbers(question: Claim, statement: Claim) -> str:
    """Return on which side a statement stands by the numbers it gives for the same thing."""
    for wanted in question.reading.counts:
        given = [
            one.value for one in statement.reading.counts
            if one.about == wanted.about or (one.unit and one.unit == wanted.unit)
        ]  # fmt: skip
        if given:
            return FOR if wanted.value in given else AGAINST
    return ""


def _other_choice(question: Question, statement: Claim) -> tuple[str, float]:
    """Return what a statement names instead of what is asked about, and how much that says."""
    asked = frozenset(word for word in question.words if word in VALUES.values())
    chosen = _chosen_instead(asked, statement) if asked - statement.reading.words.keys() else ""
    if not chosen:
        return "", 0.0
    rest = [word for word in question.words if word not in asked]
    known = [word for word in rest if word in statement.reading.words]
    named = {key_of(part) for slot in SLOTS.get(chosen, ()) for part in slot.split("-")}
    foreign = [
        word for word, weight in statement.reading.words.items()
        if weight >= 1 and word not in named and word != chosen and word not in question.words
    ]  # fmt: skip
    strength = _OTHER_CHOICE * ((1 + len(known)) / (1 + len(rest)))
    return chosen, strength * (_ELSEWHERE if foreign and not known else 1.0)


def _chosen_instead(keys: frozenset[str], statement: Claim) -> str:
    """Return the value that a statement names in the place of these."""
    slots = {slot for key in keys for slot in SLOTS.get(key, ()) if slot not in _PLACES}
    for slot in sorted(slots):
        held = statement.reading.values.get(slot, frozenset())
        if held and held.isdisjoint(keys):
            return min(held)
    return ""


def _is_limited(question: Question, statement: Claim, clause: Reading) -> bool:
    """Tell whether a clause is made under a condition that the question does not name as well."""
    if clause.words.keys() <= question.words.keys():
        return False
    if clause.first in _IN or has(clause, cues.EXCEPT, cues.EXCEPT_UNSPACED):
        return True
    return statement.unless and not clause.words.keys().isdisjoint(statement.denied)
