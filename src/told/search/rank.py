"""Ranking: pure arithmetic over the candidates that the index returned. The weights are in `weights`."""

from __future__ import annotations

from _operator import mul  # the other one would be an import more

from told.record import record
from told.search.weights import AROUND, BEST, FULL, SESSION_TURNS, TOGETHER, WITH_MEANING, WORDS_ONLY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    Hit = tuple[int, int, int, int, float]  # turn id, session id, n, at, bm25 (the lower the better)
    Shape = tuple[int, str, bool]  # bytes, how it begins, whether it is a question without an answer

_UNKNOWN = (FULL, "", False)


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


def ranked(
    hits: Iterable[Hit], window: tuple[int, int] | None = None, *,
    shapes: Mapping[int, Shape] | None = None, names: Collection[str] = (),
    meaning: Mapping[int, float] | None = None,
) -> list[Ranked]:  # fmt: skip
    """Order turns by how well they and what surrounds them fit. Same input, same output.

    Args:
        hits: The candidates, each once.
        window: The time that the question names, in ms.
        shapes: What the store knows of the candidates' texts, by turn id.
        names: The words of the question as they were written.
        meaning: How near candidates are to the question in meaning, by turn id, on any scale. A candidate
            without shares no meaning with it. One that shares no word has a bm25 of 0.
    """
    hits = list(hits)
    weights = WITH_MEANING if meaning else WORDS_ONLY
    result = [
        Ranked(*hit[:4], sum(map(mul, weights, of)))
        for hit, of in zip(hits, sides(hits, window, shapes or {}, names, meaning), strict=True)
    ]
    return sorted(result, key=_order)


def sides(
    hits: list[Hit], window: tuple[int, int] | None, shapes: Mapping[int, Shape],
    names: Collection[str], meaning: Mapping[int, float] | None = None,
) -> list[tuple[float, ...]]:  # fmt: skip
    """Return what speaks for each candidate, in the order of `weights.SIDES`."""
    own = _scaled({hit[0]: -hit[4] for hit in hits})
    near = _stretched({hit[0]: meaning[hit[0]] for hit in hits if hit[0] in meaning}) if meaning else {}
    whole = _session_scores((hit[1], own[hit[0]]) for hit in hits)
    about = _session_scores((hit[1], near[hit[0]]) for hit in hits if hit[0] in near)
    asked = {
        (hit[1], hit[2]): (own[hit[0]] + near.get(hit[0], 0.0)) / (2 if near else 1)
        for hit in hits
        if hit[0] in shapes and shapes[hit[0]][2]
    }  # what others answer
    result: list[tuple[float, ...]] = []
    for turn, session, n, at, _ in hits:
        size, beginning, open_question = shapes.get(turn, _UNKNOWN)
        named = names and ":" in beginning and _speaker(beginning) in names
        result.append((
            own[turn],
            whole[session],
            near.get(turn, 0.0),
            about.get(session, 0.0),
            _nearness(at, window) if window else 0.0,
            size / FULL if size < FULL and n >= 0 else 1.0,  # titles and notes are short by nature
            1.0 if named else 0.0,
            asked.get((session, n - 1), 0.0) if asked else 0.0,
            1.0 if open_question else 0.0,
        ))  # fmt: skip
    return result


def grouped(turns: Iterable[Ranked], limit: int, most_turns: int = 3) -> list[Group]:
    """Return the sessions of ranked turns in order, each with its best turns."""
    by_session: dict[int, list[Ranked]] = {}
    for turn in turns:
        by_session.setdefault(turn.session, []).append(turn)
    together = _scaled(
        {session: _together(turn.score for turn in best) for session, best in by_session.items()}
    )
    highest = _scaled({session: best[0].score for session, best in by_session.items()})
    groups = [
        Group(session, BEST * highest[session] + TOGETHER * together[session], tuple(best[:most_turns]))
        for session, best in by_session.items()
    ]
    return sorted(groups, key=lambda group: (-group.score, *_order(group.turns[0])))[:limit]


def _order(turn: Ranked) -> tuple[float, int, int, int]:
    """Order by score; of equal ones the newer comes first."""
    return (-turn.score, -turn.at, turn.session, turn.n)


def _scaled(scores: dict[int, float]) -> dict[int, float]:
    """Scale scores so that the best is 1 and no match at all is 0."""
    best = max(scores.values(), default=0.0)
    if best <= 0:
        return dict.fromkeys(scores, 0.0)
    return {key: score / best if score > 0 else 0.0 for key, score in scores.items()}


def _stretched(scores: dict[int, float]) -> dict[int, float]:
    """Scale scores so that the best is 1 and the worst is 0: every text is somewhat like every other."""
    worst = min(scores.values(), default=0.0)
    return _scaled({key: score - worst for key, score in scores.items()})


def _session_scores(scores: Iterable[tuple[int, float]]) -> dict[int, float]:
    """Tell how well each session fits as a whole, from those of its turns that were found."""
    by_session: dict[int, list[float]] = {}
    for session, score in scores:
        by_session.setdefault(session, []).append(score)
    return _scaled({session: _together(sorted(of, reverse=True)) for session, of in by_session.items()})


def _together(best: Iterable[float]) -> float:
    """Add up the scores of a session's best turns."""
    total: float = sum(map(mul, SESSION_TURNS, best))
    return total


def _nearness(at: int, window: tuple[int, int]) -> float:
    """Tell how near a moment is to a time: 1 inside; beside it, it fades over as long as that time is."""
    start, end = window
    return max(0.0, 1 - max(start - at, at + 1 - end, 0) / min(end - start, AROUND))


def _speaker(beginning: str) -> str:
    """Return who speaks in a pasted or recorded talk ("Ann: …"); empty when nobody is named."""
    name, colon, _ = beginning.partition(":")
    return name if colon and name.isalpha() else ""
