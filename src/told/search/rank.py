"""Rank turns and sessions, and plan the index query that finds them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from math import log
from operator import mul
from types import MappingProxyType
from typing import NamedTuple

from told.store.fts import match_all, match_any, match_in, quote_phrase, unquote_phrase
from told.words import WORD, stem

# bm25 weights of the columns project, asked, answered, steps, near, extra.
COLUMN_WEIGHTS = (0.0, 1.0, 0.8, 0.4, 0.35, 1.0)
# The same for a turn with a long answer: one word of many says little about the turn.
LONG_ANSWER_WEIGHTS = (0.0, 1.0, 0.2, 0.2, 0.35, 1.0)
LONG_ANSWER = 1000  # bytes

# A turn's score is a weighted sum of signals between 0 and 1. `training.fusion` learns the weights.
SIGNALS = (
    "words", "session", "meaning", "about", "time", "full", "speaker", "reply", "question", "covered",
    "session_covered",
)  # fmt: skip
# Without and with vectors; _FULL is added for a turn of full length.
WORDS_ONLY = (1.0, 0.87, 0.0, 0.0, 0.77, -0.17, 0.24, 1.51, -0.48, 0.47, 0.88)
WORDS_ONLY_FULL = (0.58, -0.2, 0.0, 0.0, 1.13, -0.06, 0.53, -0.36, 0.44, 0.78, -0.11)
WITH_MEANING = (1.0, 0.86, 0.77, 1.81, 1.57, 0.98, 0.2, 2.08, -0.58, 0.55, 1.42)
WITH_MEANING_FULL = (0.25, -1.01, 0.88, -0.46, 1.09, -0.11, 0.59, -0.51, 0.51, 0.74, -0.3)
_FULL_SIGNAL = SIGNALS.index("full")

MIN_QUESTION_WORDS = 3  # a shorter question wants these words, not similar ones
_SESSION_TURNS = (1.0, 0.5, 0.25)  # weights of a session's best turns
# A session's score: its best turn, its best turns together, similarity to the best turn of all.
_BEST, _TOGETHER, _SIMILAR = 1.0, 0.77, 0.42
_FULL_LENGTH = 300  # bytes
_MAX_FADE = 30 * 86_400_000  # ms outside a named time until the time signal is 0

RANK_BUDGET = 2000  # rows that may be ranked
MAX_COMMON_TERMS = 12  # common terms that take part in ranking

Hit = tuple[int, int, int, int, float]  # turn id, session id, n, at, bm25 (lower is better)
Shape = tuple[int, str, bool]  # bytes, asked, whether it is an unanswered question


class Coverage(NamedTuple):
    """The question's words that each turn contains."""

    weights: Mapping[str, float]  # of each stem; they add up to 1
    words: Mapping[int, frozenset[str]]  # stems by turn

    def share(self, turns: Iterable[int]) -> float:
        """Return the share of the question that turns cover together."""
        found = frozenset[str]().union(*(self.words.get(turn, ()) for turn in turns))
        return sum(self.weights[word] for word in found)


def measure_coverage(texts: Mapping[int, str], frequencies: Mapping[str, int], total: int) -> Coverage:
    """Find the question's words in texts."""
    weights: dict[str, float] = {}
    for term, count in frequencies.items():
        word = unquote_phrase(term)
        if " " not in word:
            rarity = log(1 + (max(total, count) - count + 0.5) / (count + 0.5))
            weights[stem(word)] = max(rarity, weights.get(stem(word), 0.0))
    total_weight = sum(weights.values()) or 1.0
    words = {
        turn: frozenset(map(stem, WORD.findall(text.lower()))) & weights.keys()
        for turn, text in texts.items()
    }
    return Coverage({word: weight / total_weight for word, weight in weights.items()}, words)


class RankContext(NamedTuple):
    """What ranking knows beside the matched words."""

    window: tuple[int, int] | None = None  # the time that the question names, in ms
    names: Collection[str] = ()  # the question's words as written
    shapes: Mapping[int, Shape] = MappingProxyType({})
    similarity: Mapping[int, float] = MappingProxyType({})  # to the question, on any scale
    covered: Coverage = Coverage({}, {})


class RankedTurn(NamedTuple):
    """A turn with its score."""

    turn: int
    session: int
    n: int
    at: int
    score: float


class SessionGroup(NamedTuple):
    """A session with its best turns."""

    session: int
    score: float
    turns: tuple[RankedTurn, ...]


def rank_turns(hits: Iterable[Hit], context: RankContext | None = None) -> list[RankedTurn]:
    """Order turns by score; equal input gives equal output.

    Each candidate comes once; one without a common word has a bm25 of 0.
    """
    hits = list(hits)
    context = context or RankContext()
    weights = (WITH_MEANING, WITH_MEANING_FULL) if context.similarity else (WORDS_ONLY, WORDS_ONLY_FULL)
    result = [
        RankedTurn(*hit[:4], _weigh(signals, *weights))
        for hit, signals in zip(hits, compute_signals(hits, context), strict=True)
    ]
    return sorted(result, key=_sort_key)


def group_by_session(
    turns: Iterable[RankedTurn], limit: int, most_turns: int = 3, similar: Mapping[int, float] | None = None
) -> list[SessionGroup]:
    """Return the best sessions with their best turns."""
    by_session: dict[int, list[RankedTurn]] = {}
    for turn in turns:
        by_session.setdefault(turn.session, []).append(turn)
    sums = scale_scores({key: _sum_best(turn.score for turn in best) for key, best in by_session.items()})
    highest = scale_scores({key: best[0].score for key, best in by_session.items()})
    groups = []
    for session, best in by_session.items():
        alike = max((similar.get(turn.turn, 0.0) for turn in best), default=0.0) if similar else 0.0
        score = _BEST * highest[session] + _TOGETHER * sums[session] + _SIMILAR * alike
        groups.append(SessionGroup(session, score, tuple(best[:most_turns])))
    return sorted(groups, key=lambda group: (-group.score, *_sort_key(group.turns[0])))[:limit]


def compute_signals(hits: list[Hit], context: RankContext) -> list[tuple[float, ...]]:
    """Return the signals of each candidate in the order of SIGNALS."""
    shapes, similarity = context.shapes, context.similarity
    own = scale_scores({hit[0]: -hit[4] for hit in hits})
    near = stretch_scores({hit[0]: similarity[hit[0]] for hit in hits if hit[0] in similarity})
    by_words = _score_sessions((hit[1], own[hit[0]]) for hit in hits)
    by_meaning = _score_sessions((hit[1], near[hit[0]]) for hit in hits if hit[0] in near)
    unanswered = {
        (hit[1], hit[2]): (own[hit[0]] + near.get(hit[0], 0.0)) / (2 if near else 1)
        for hit in hits
        if hit[0] in shapes and shapes[hit[0]][2]
    }
    covered = _cover_sessions(hits, context.covered)
    result: list[tuple[float, ...]] = []
    for turn, session, n, at, _ in hits:
        size, text, is_question = shapes.get(turn, (_FULL_LENGTH, "", False))
        named = context.names and ":" in text and _find_speaker(text) in context.names
        result.append((
            own[turn],
            by_words[session],
            near.get(turn, 0.0),
            by_meaning.get(session, 0.0),
            _score_time(at, context.window) if context.window else 0.0,
            size / _FULL_LENGTH if size < _FULL_LENGTH and n >= 0 else 1.0,  # titles and notes are short
            1.0 if named else 0.0,
            unanswered.get((session, n - 1), 0.0),
            1.0 if is_question else 0.0,
            context.covered.share((turn,)),
            covered.get(session, 0.0),
        ))  # fmt: skip
    return result


def scale_scores(scores: dict[int, float]) -> dict[int, float]:
    """Scale scores so that the best is 1 and no match is 0."""
    best = max(scores.values(), default=0.0)
    if best <= 0:
        return dict.fromkeys(scores, 0.0)
    return {key: score / best if score > 0 else 0.0 for key, score in scores.items()}


def stretch_scores(scores: dict[int, float]) -> dict[int, float]:
    """Scale scores so that the best is 1 and the worst is 0."""
    worst = min(scores.values(), default=0.0)
    return scale_scores({key: score - worst for key, score in scores.items()})


def _sum_best(best: Iterable[float]) -> float:
    return sum(weight * score for weight, score in zip(_SESSION_TURNS, best, strict=False))


def _score_sessions(scores: Iterable[tuple[int, float]]) -> dict[int, float]:
    """Score sessions by their best turns."""
    by_session: dict[int, list[float]] = {}
    for session, score in scores:
        by_session.setdefault(session, []).append(score)
    return scale_scores({session: _sum_best(sorted(of, reverse=True)) for session, of in by_session.items()})


def _cover_sessions(hits: Iterable[Hit], covered: Coverage) -> dict[int, float]:
    by_session: dict[int, list[int]] = {}
    for turn, session, *_ in hits:
        by_session.setdefault(session, []).append(turn)
    return {session: covered.share(turns) for session, turns in by_session.items()} if covered.words else {}


def _score_time(at: int, window: tuple[int, int]) -> float:
    """Return 1 inside a window; outside it fades over the window's length."""
    start, end = window
    return max(0.0, 1 - max(start - at, at + 1 - end, 0) / min(end - start, _MAX_FADE))


def _find_speaker(text: str) -> str:
    """Return the speaker of a recorded talk ("Ann: …"); empty if none."""
    name, colon, _ = text.partition(":")
    return name if colon and name.isalpha() else ""


def _weigh(signals: tuple[float, ...], weights: tuple[float, ...], when_full: tuple[float, ...]) -> float:
    """Return the weighted sum of a turn's signals."""
    score: float = sum(map(mul, weights, signals)) + signals[_FULL_SIGNAL] * sum(map(mul, when_full, signals))
    return score


def _sort_key(turn: RankedTurn) -> tuple[float, int, int, int]:
    """Order by score; of equals the newer first."""
    return (-turn.score, -turn.at, turn.session, turn.n)


def plan_query(
    frequencies: dict[str, int],
    total: int,
    budget: int = RANK_BUDGET,
    common: int = MAX_COMMON_TERMS,
    must: tuple[str, ...] = (),
) -> str:
    """Build the FTS5 expression: rare terms select, common ones only score.

    `frequencies` counts the turns with each quoted phrase, up to some cap. Empty if no term can match.
    """
    terms = [term for term in frequencies if frequencies[term] > 0 and term not in must]
    if must:
        return match_all((*must, match_any([*must, *terms[: 2 * common]])) if terms else must)
    if min(total, sum(frequencies[term] for term in terms)) <= budget:
        return match_any(terms)
    by_rarity = sorted(terms, key=lambda term: (frequencies[term], -len(term)))
    rare: list[str] = []
    for term in by_rarity:
        if rare and sum(frequencies[one] for one in rare) + frequencies[term] > budget:
            break
        rare.append(term)
    others = by_rarity[len(rare) : len(rare) + common]
    # Terms on the left count twice in the ranking, which suits rare ones.
    any_rare = match_any(rare)
    return match_all((any_rare, match_any([*rare, *others]))) if others else any_rare


def is_too_common(frequencies: dict[str, int], cap: int) -> bool:
    """Tell whether even the rarest term reaches the cap."""
    known = [count for count in frequencies.values() if count > 0]
    return bool(known) and min(known) >= cap


def restrict_to_project(expression: str, project_token: str = "") -> str:
    """Restrict an expression to one project, if one is given."""
    # Nobody writes the token, so the expression needs no column filter, which would slow down every match.
    if not project_token:
        return expression
    return match_all((match_in("project", quote_phrase(project_token)), expression))
