"""What speaks for each of the turns that the index returned: pure arithmetic, each side from 0 to 1."""

from __future__ import annotations

from told.record import record
from told.search.coverage import Coverage
from told.search.weights import AROUND, FULL, SESSION_TURNS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    Hit = tuple[int, int, int, int, float]  # turn id, session id, n, at, bm25 (the lower the better)
    Shape = tuple[int, str, bool]  # bytes, what was asked, whether it is a question without an answer

_UNKNOWN = (FULL, "", False)


@record
class Known:
    """What is known of a question and of the turns that may answer it, beside the words they share."""

    window: tuple[int, int] | None = None  # the time that the question names, in ms
    names: Collection[str] = ()  # the words of the question as they were written
    shapes: Mapping[int, Shape] = {}  # what the store knows of the turns' texts
    # How near turns are to the question in meaning, on any scale. A turn without shares no meaning with it.
    meaning: Mapping[int, float] = {}
    covered: Coverage = Coverage({}, {})


def sides(hits: list[Hit], known: Known) -> list[tuple[float, ...]]:
    """Return what speaks for each candidate, in the order of `weights.SIDES`."""
    shapes, meaning = known.shapes, known.meaning
    own = scaled({hit[0]: -hit[4] for hit in hits})
    near = _stretched({hit[0]: meaning[hit[0]] for hit in hits if hit[0] in meaning}) if meaning else {}
    whole = _session_scores((hit[1], own[hit[0]]) for hit in hits)
    about = _session_scores((hit[1], near[hit[0]]) for hit in hits if hit[0] in near)
    asked = {
        (hit[1], hit[2]): (own[hit[0]] + near.get(hit[0], 0.0)) / (2 if near else 1)
        for hit in hits
        if hit[0] in shapes and shapes[hit[0]][2]
    }  # what others answer
    together = _covered_by_session(hits, known.covered)
    result: list[tuple[float, ...]] = []
    for turn, session, n, at, _ in hits:
        size, text, open_question = shapes.get(turn, _UNKNOWN)
        named = known.names and ":" in text and _speaker(text) in known.names
        result.append((
            own[turn],
            whole[session],
            near.get(turn, 0.0),
            about.get(session, 0.0),
            _nearness(at, known.window) if known.window else 0.0,
            size / FULL if size < FULL and n >= 0 else 1.0,  # titles and notes are short by nature
            1.0 if named else 0.0,
            asked.get((session, n - 1), 0.0) if asked else 0.0,
            1.0 if open_question else 0.0,
            known.covered.of((turn,)),
            together.get(session, 0.0),
        ))  # fmt: skip
    return result


def scaled(scores: dict[int, float]) -> dict[int, float]:
    """Scale scores so that the best is 1 and no match at all is 0."""
    best = max(scores.values(), default=0.0)
    if best <= 0:
        return dict.fromkeys(scores, 0.0)
    return {key: score / best if score > 0 else 0.0 for key, score in scores.items()}


def together(best: Iterable[float]) -> float:
    """Add up the scores of a session's best turns, the best first."""
    return sum(weight * score for weight, score in zip(SESSION_TURNS, best, strict=False))


def _stretched(scores: dict[int, float]) -> dict[int, float]:
    """Scale scores so that the best is 1 and the worst is 0: every text is somewhat like every other."""
    worst = min(scores.values(), default=0.0)
    return scaled({key: score - worst for key, score in scores.items()})


def _session_scores(scores: Iterable[tuple[int, float]]) -> dict[int, float]:
    """Tell how well each session fits as a whole, from those of its turns that were found."""
    by_session: dict[int, list[float]] = {}
    for session, score in scores:
        by_session.setdefault(session, []).append(score)
    return scaled({session: together(sorted(of, reverse=True)) for session, of in by_session.items()})


def _covered_by_session(hits: Iterable[Hit], covered: Coverage) -> dict[int, float]:
    by_session: dict[int, list[int]] = {}
    for turn, session, *_ in hits:
        by_session.setdefault(session, []).append(turn)
    return {session: covered.of(turns) for session, turns in by_session.items()} if covered.words else {}


def _nearness(at: int, window: tuple[int, int]) -> float:
    """Tell how near a moment is to a time: 1 inside; beside it, it fades over as long as that time is."""
    start, end = window
    return max(0.0, 1 - max(start - at, at + 1 - end, 0) / min(end - start, AROUND))


def _speaker(text: str) -> str:
    """Return who speaks in a pasted or recorded talk ("Ann: …"); empty when nobody is named."""
    name, colon, _ = text.partition(":")
    return name if colon and name.isalpha() else ""
