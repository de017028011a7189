"""Ranking: pure arithmetic over the candidates that the index returned. The weights are in `weights`."""

from __future__ import annotations

from _operator import mul  # the other one would be an import more

from told.record import record
from told.search.sides import Known, scaled, sides, together
from told.search.weights import (
    BEST,
    KIN,
    SIDES,
    TOGETHER,
    WITH_MEANING,
    WITH_MEANING_FULL,
    WORDS_ONLY,
    WORDS_ONLY_FULL,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from told.search.sides import Hit

_NOTHING_ELSE = Known()
_FULL = SIDES.index("full")


@record
class Ranked:
    """A turn with its score."""

    turn: int
    session: int
    n: int
    at: int
    score: float


@record
class Group:
    """A session with its best turns."""

    session: int
    score: float
    turns: tuple[Ranked, ...]


def ranked(hits: Iterable[Hit], known: Known = _NOTHING_ELSE) -> list[Ranked]:
    """Order turns by how well they and what surrounds them fit. Same input, same output.

    Args:
        hits: The candidates, each once. One that shares no word with the question has a bm25 of 0.
        known: What else speaks for them.
    """
    hits = list(hits)
    weights = (WITH_MEANING, WITH_MEANING_FULL) if known.meaning else (WORDS_ONLY, WORDS_ONLY_FULL)
    result = [
        Ranked(*hit[:4], _score(of, *weights)) for hit, of in zip(hits, sides(hits, known), strict=True)
    ]
    return sorted(result, key=_order)


def grouped(
    turns: Iterable[Ranked], limit: int, most_turns: int = 3, kin: Mapping[int, float] | None = None
) -> list[Group]:
    """Return the sessions of ranked turns in order, each with its best turns.

    Args:
        turns: The best first.
        limit: How many sessions to return.
        most_turns: How many turns of each.
        kin: How near turns are to the best of all in meaning: who looks for one looks for its like.
    """
    by_session: dict[int, list[Ranked]] = {}
    for turn in turns:
        by_session.setdefault(turn.session, []).append(turn)
    several = scaled({session: together(turn.score for turn in best) for session, best in by_session.items()})
    highest = scaled({session: best[0].score for session, best in by_session.items()})
    alike = {
        session: max((kin.get(turn.turn, 0.0) for turn in best), default=0.0) if kin else 0.0
        for session, best in by_session.items()
    }
    groups = [
        Group(
            session,
            BEST * highest[session] + TOGETHER * several[session] + KIN * alike[session],
            tuple(best[:most_turns]),
        )
        for session, best in by_session.items()
    ]
    return sorted(groups, key=lambda group: (-group.score, *_order(group.turns[0])))[:limit]


def _score(of: tuple[float, ...], weights: tuple[float, ...], when_full: tuple[float, ...]) -> float:
    """Weigh the sides of a turn: a short one says little by itself, and what surrounds it says more."""
    score: float = sum(map(mul, weights, of)) + of[_FULL] * sum(map(mul, when_full, of))
    return score


def _order(turn: Ranked) -> tuple[float, int, int, int]:
    """Order by score; of equal ones the newer comes first."""
    return (-turn.score, -turn.at, turn.session, turn.n)
