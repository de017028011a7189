"""Judge how a statement answers a question; only explicit evidence has a side."""

from __future__ import annotations

from dataclasses import dataclass, replace

from told.conflict.reading import EMPTY, read_claim
from told.reasoning.clauses import Clause, read_clauses
from told.reasoning.question import Question, load_cues, load_words_of
from told.search.tokens import SLOTS, VALUES, canonical_stem

FOR, AGAINST = "for", "against"
# A statement about one environment or branch says nothing about another.
_PLACE_SLOTS = frozenset(("environment", "branch", "os", "browser", "side", "people"))
_USING = load_words_of("using")
_ADVICE, _DUTY, _FREEDOM = (load_words_of(name) for name in ("advice", "duty", "freedom"))
_OPPOSITES = tuple(frozenset(pair.split()) for pair in load_cues()["opposites"])
_LIMITING_PREPOSITIONS = load_words_of("limiting_prepositions")
_ORDERED_WORDS = 3  # from so many words on, they must be in the question's order
_RIVAL = 0.8  # weight of another choice
_INFLECTIONS, _SHORT_WORD = load_words_of("inflections"), 3


@dataclass(frozen=True, slots=True)
class Stance:
    """How a statement answers a question."""

    side: str  # for, against, or empty
    fit: float = 1.0  # 0 to 1
    why: str = ""
    limited: bool = False  # it shows no more than that it depends
    changes: bool = False  # it says that something is no longer what it was
    rival: bool = False  # it only names another choice


_NOTHING = Stance("", 0.0)


def judge_statement(question: Question, text: str) -> Stance:
    """Judge a statement on a yes-or-no question by the clause that answers it best."""
    stances = [_judge_clause(question, clause) for clause in read_clauses(text)]
    return min(stances, key=lambda one: (not one.side, one.limited, -one.fit), default=_NOTHING)


def _judge_clause(question: Question, clause: Clause) -> Stance:
    question = _align(question, clause)
    asked = frozenset(question.words)
    if not asked or clause.unsure or _is_opposite(question, clause):
        return _NOTHING
    if not asked <= clause.words:
        return _judge_rival(question, clause)
    denied = [word for word in asked if (word in clause.denied) != (word in question.claim.denied)]
    numbers = _judge_numbers(question, clause)
    if numbers == AGAINST and not denied:
        return Stance(AGAINST, why="gives another number", changes=clause.changes)
    if numbers:
        return _NOTHING
    if denied and not clause.is_after_but(asked):
        limited = _is_limited(question, clause) or clause.is_qualified(denied, asked)
        limited = limited or (not clause.changes and _is_about_other(clause, asked))
        return Stance(AGAINST, why="denies it", limited=limited, changes=clause.changes)
    is_ordered = len(asked) < _ORDERED_WORDS or _is_in_order(question, clause)
    if not is_ordered or not clause.is_together(asked) or not _is_use_claimed(question, clause, asked):
        return _NOTHING
    limited = _is_limited(question, clause) or clause.is_qualified(asked, asked | _USING)
    limited = limited or (_asks_for_use(question) and clause.has_own_user(asked))
    return Stance(FOR, limited=limited, changes=clause.changes)


def _align(question: Question, clause: Clause) -> Question:
    """Give the question's words the stems that other forms of them have in the clause."""
    words = {}
    for word, weight in question.words.items():
        typed = [one for one in question.claim.reading.tokens if canonical_stem(one) == word]
        forms = [
            stem
            for token, stem in zip(clause.tokens, clause.stems, strict=True)
            if stem and word not in clause.words and any(_is_form(token, one) for one in typed)
        ]
        words[forms[0] if forms else word] = weight
    return replace(question, words=words)


def _is_form(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return len(short) > _SHORT_WORD and long.startswith(short) and long[len(short) :] in _INFLECTIONS


def _is_use_claimed(question: Question, clause: Clause, asked: frozenset[str]) -> bool:
    """Tell whether a clause says that something is used, where the question asks for that."""
    return not _asks_for_use(question) or clause.uses(asked) or not (clause.words - asked)


def _asks_for_use(question: Question) -> bool:
    return len(question.words) == 1 or not _USING.isdisjoint(question.tokens)


def _is_limited(question: Question, clause: Clause) -> bool:
    """Tell whether a clause has a condition that the question does not name."""
    asked = frozenset(question.words)
    if clause.words <= asked:
        return False
    if clause.conditional or clause.claim.reading.first in _LIMITING_PREPOSITIONS:
        return True
    if not _ADVICE.isdisjoint(question.tokens):
        return _is_about_other(clause, asked)
    return not _asks_for_use(question) and clause.limits(asked)


def _is_about_other(clause: Clause, asked: frozenset[str]) -> bool:
    """Tell whether a denial is only about a subject or place that the question does not name."""
    subject = clause.subject(asked)
    return (bool(subject) and subject not in asked) or clause.limits(asked)


def _is_opposite(question: Question, clause: Clause) -> bool:
    """Tell whether question and clause have opposite words: before and after, must and may."""
    asked, said = set(question.tokens), set(clause.tokens)
    if not _DUTY.isdisjoint(asked) and not _FREEDOM.isdisjoint(said):
        return True
    return any(
        not pair.isdisjoint(asked) and not pair.isdisjoint(said) and pair & asked != pair & said
        for pair in _OPPOSITES
    )


def _is_in_order(question: Question, clause: Clause) -> bool:
    """Tell whether a clause has the question's words in their order."""
    rest = iter(clause.stems)
    return all(word in rest for word in question.words)


def _judge_numbers(question: Question, clause: Clause) -> str:
    """Compare the numbers of question and clause; empty if they are the same or none is asked for."""
    for wanted in question.claim.reading.counts:
        given = [
            one.value for one in clause.counts
            if one.about == wanted.about or (one.unit and one.unit == wanted.unit)
        ]  # fmt: skip
        if wanted.value not in given:
            return AGAINST if given else "unknown"
    return ""


def _judge_rival(question: Question, clause: Clause) -> Stance:
    """Judge a clause that names another choice for the thing that the question asks about."""
    asked = frozenset(word for word in question.words if word in VALUES.values())
    rival = _find_rival(asked - clause.words, clause)
    rest = frozenset(question.words) - asked
    if not rival or not rest <= clause.affirmed or question.claim.denied:
        return _NOTHING
    choices = dict.fromkeys((word for word in clause.words if word in SLOTS or word in VALUES.values()), 1.0)
    named = replace(question, words=question.words | choices)
    limited = not rest or _is_limited(named, clause) or clause.is_qualified(rest, question.words)
    return Stance(AGAINST, _RIVAL, f"names {rival}", limited, clause.changes, rival=True)


def _find_rival(keys: frozenset[str], clause: Clause) -> str:
    """Return the value that a clause affirms for the same slot."""
    slots = {slot for key in keys for slot in SLOTS.get(key, ()) if slot not in _PLACE_SLOTS}
    for slot in sorted(slots):
        held = clause.claim.reading.values.get(slot, frozenset()) - clause.denied
        if held and held.isdisjoint(keys):
            return min(held)
    return ""


def find_replaced_words(question: Question, old: str, new: str) -> frozenset[str]:
    """Return the names in an answer that its correction replaced by others; else nothing."""
    before, now = (read_claim(text).reading for text in (old, new))
    asked = frozenset(question.words) & before.words.keys()
    lost = asked - now.words.keys()
    names = before.proper_names | frozenset(VALUES.values())
    rest = asked - lost or before.words.keys() - lost <= now.words.keys()
    is_replaced = lost and lost <= names and rest and now.words.keys() - before.words.keys()
    return lost if is_replaced else frozenset()


def judge_side(question: Question, side: int, text: str) -> Stance:
    """Judge a statement on one of two choices."""
    clauses = read_clauses(text)
    every = frozenset(key for _, keys in question.sides for key in keys)
    subject = frozenset(question.words) - every
    known = frozenset(word for one in clauses for word in one.words)
    compares = any(one.affirmed & every and one.denied & every for one in clauses)
    stances = [_judge_side_clause(question, side, clause) for clause in clauses if not clause.unsure]
    best = min(stances, key=lambda one: (not one.side, one.limited), default=_NOTHING)
    if not best.side or subject <= known:
        return best
    # What was chosen for something else says nothing; a plain choice may be meant for everything.
    is_plain = compares and not any(one.limits(subject) or _is_about_other(one, every) for one in clauses)
    return best if is_plain else _NOTHING


def _judge_side_clause(question: Question, side: int, clause: Clause) -> Stance:
    keys = question.sides[side][1]
    every = frozenset(key for _, other in question.sides for key in other)
    limited = clause.conditional or clause.claim.reading.first in _LIMITING_PREPOSITIONS
    has_subject = bool((frozenset(question.words) - every) & clause.words)
    if keys <= clause.affirmed:
        is_claimed = has_subject or clause.uses(keys) or bool(clause.denied & every)
        return Stance(FOR, limited=limited, changes=clause.changes) if is_claimed else _NOTHING
    if not keys.isdisjoint(clause.denied):
        return Stance(AGAINST, why="denies it", limited=limited, changes=clause.changes)
    rival = _find_rival(keys, clause)
    if rival and rival not in every and rival not in EMPTY:
        return Stance(AGAINST, _RIVAL, f"names {rival}", limited=True, rival=True)
    return _NOTHING
