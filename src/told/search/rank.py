"""Ranking: pure arithmetic over the candidates that the index returned. All weights are here."""

from __future__ import annotations

from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Hit = tuple[int, int, int, int, float]  # turn id, session id, n, at, bm25 (the lower the better)

# bm25 weights of the columns project, asked, answered, steps, near, extra.
COLUMN_WEIGHTS = (0.0, 1.0, 0.8, 0.4, 0.35, 1.0)

# Added to a turn's own score, which is 1 for the best turn.
SESSION = 0.25  # how well its session as a whole fits
NEIGHBOUR = 0.15  # the score of the better of the turns before and after
WINDOW = 0.25  # it lies in the time that the question names

# How much the best, second best … turn of a session say about the session.
_SESSION_TURNS = (1.0, 0.5, 0.25)
# A session's place: its best turn, and its best turns together.
_BEST, _TOGETHER = 1.0, 0.6


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


def ranked(hits: Iterable[Hit], window: tuple[int, int] | None = None) -> list[Ranked]:
    """Order turns by how well they and what surrounds them fit. Same input, same output."""
    hits = list(hits)
    own = _scaled({hit[0]: -hit[4] for hit in hits})
    whole = _session_scores((hit[1], own[hit[0]]) for hit in hits)
    scores = {hit[0]: own[hit[0]] + SESSION * whole[hit[1]] for hit in hits}
    placed = {(hit[1], hit[2]): scores[hit[0]] for hit in hits}
    result = []
    for turn, session, n, at, _ in hits:
        beside = max(placed.get((session, n - 1), 0.0), placed.get((session, n + 1), 0.0))
        score = scores[turn] + NEIGHBOUR * beside
        if window and window[0] <= at < window[1]:
            score += WINDOW
        result.append(Ranked(turn, session, n, at, score))
    return sorted(result, key=_order)


def grouped(turns: Iterable[Ranked], limit: int, most_turns: int = 3) -> list[Group]:
    """Return the sessions of ranked turns in order, each with its best turns."""
    by_session: dict[int, list[Ranked]] = {}
    for turn in turns:
        by_session.setdefault(turn.session, []).append(turn)
    together = _scaled(
        {
            session: sum(weight * turn.score for weight, turn in zip(_SESSION_TURNS, best, strict=False))
            for session, best in by_session.items()
        }
    )
    highest = _scaled({session: best[0].score for session, best in by_session.items()})
    groups = [
        Group(session, _BEST * highest[session] + _TOGETHER * together[session], tuple(best[:most_turns]))
        for session, best in by_session.items()
    ]
    return sorted(groups, key=lambda group: (-group.score, *_order(group.turns[0])))[:limit]


def _order(turn: Ranked) -> tuple[float, int, int, int]:
    """Order by score; of equal ones the newer comes first."""
    return (-turn.score, -turn.at, turn.session, turn.n)


def _scaled(scores: dict[int, float]) -> dict[int, float]:
    """Scale scores so that the best is 1 and no match at all is 0."""
    best = max(scores.values(), default=0.0)
    return {key: max(score, 0.0) / best if best > 0 else 0.0 for key, score in scores.items()}


def _session_scores(scores: Iterable[tuple[int, float]]) -> dict[int, float]:
    """Tell how well each session fits as a whole, from those of its turns that were found."""
    by_session: dict[int, list[float]] = {}
    for session, score in scores:
        by_session.setdefault(session, []).append(score)
    return _scaled(
        {
            session: sum(
                weight * score
                for weight, score in zip(_SESSION_TURNS, sorted(of, reverse=True), strict=False)
            )
            for session, of in by_session.items()
        }
    )
