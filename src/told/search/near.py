"""How near turns are to a question in meaning, also those that share no word with it."""

from __future__ import annotations

from told.errors import ToldError
from told.search.meaning import similarities
from told.search.passages import unpacked
from told.search.signs import nearest, signs_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from told.search.embedder import Embedder
    from told.store.protocol import TurnNearness

    Place = tuple[int, int, int, int]  # turn id, session id, n, at

_CANDIDATES = 100
_LONGEST = 1500  # characters of a question
# What an agent answered is less to the point than what the user asked.
_ANSWERED = 0.8


class Meaning:
    """What the meaning of a question finds; the store has the vectors of turns."""

    def __init__(self, store: TurnNearness, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder
        self._questions: dict[str, bytes | None] = {}
        self.trouble = ""  # why questions have no vector
        self.floor = embedder.floor  # how near a turn must be to be an answer without a word in common

    def candidates(self, question: str, project: str, *, since: int, until: int, agent: str) -> list[Place]:
        """Return the turns that look nearest to a question."""
        vector = self._vector(question)
        if vector is None:
            return []
        sketches = self._store.sketches(project, since=since, until=until, agent=agent)
        turns = b"".join([one for one, _ in sketches])
        places = nearest(signs_of(vector), b"".join([signs for _, signs in sketches]), _CANDIDATES)
        rows = memoryview(turns).cast("q")
        found = dict.fromkeys([rows[place] for place in places])
        return self._store.places(list(found), since=since, until=until) if found else []

    def scores(self, question: str, turns: Iterable[int]) -> dict[int, float]:
        """Return how near turns are to a question: those that have vectors."""
        vector = self._vector(question)
        if vector is None:
            return {}
        known = {row: unpacked(blob) for row, blob in self._store.of(turns).items() if blob}
        every = [one for asked, answered in known.values() for one in (*asked, *answered)]
        figures = iter(similarities(vector, every))
        found = {}
        for row, (asked, answered) in known.items():
            own = [next(figures) for _ in asked]
            others = [_ANSWERED * next(figures) for _ in answered]
            found[row] = (_first(own, others) + max(own + others)) / 2
        return found

    def kin(self, turn: int, turns: Iterable[int]) -> dict[int, float]:
        """Return how near turns are to one of them in what was asked: those that have vectors."""
        found = {row: unpacked(blob)[0] for row, blob in self._store.of(turns).items()}
        asked = {row: own[0] for row, own in found.items() if own}
        if turn not in asked:
            return {}
        return dict(zip(asked, similarities(asked[turn], list(asked.values())), strict=True))

    def _vector(self, question: str) -> bytes | None:
        if question not in self._questions:
            self._questions[question] = None
            try:
                self._questions[question] = self._embedder.vectors([question[:_LONGEST]], asking=True)[0]
            except ToldError as error:
                self.trouble = str(error)
        return self._questions[question]


def _first(own: Sequence[float], others: Sequence[float]) -> float:
    """Return how near the nearer side is as a whole."""
    return max([*own[:1], *others[:1]])
