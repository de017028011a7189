"""A second, slower look at the first results: a model of the user's reads the question with each of them."""

from __future__ import annotations

from told.errors import MissingError
from told.record import replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from told.search._model_folder import Loaded
    from told.search.rank import Ranked

FIRST = 20  # results that are looked at again: about half a second
SHARE = 0.5  # of the second look in the score
_LONGEST_QUESTION = 500
_STEP = 1e-9  # keeps the order of the others, and adds nothing to their sessions


class Reranker:
    """A model that tells how well a text answers a question. It is loaded when it is first asked."""

    def __init__(self, path: str) -> None:
        """Look at the folder.

        Raises:
            MissingError: it is not a folder with a model.
        """
        from told.search._model_folder import about

        self._folder = about(path)
        self._loaded: Loaded | None = None

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return how well each text answers a question, on the model's own scale.

        Raises:
            MissingError: the model cannot be used.
        """
        from told.search._model_folder import Loaded

        model = self._loaded = self._loaded or Loaded(self._folder)
        return [self._score(model, question[:_LONGEST_QUESTION], text) for text in texts]

    def _score(self, model: Loaded, question: str, text: str) -> float:
        found = model.run(model.encode(question, text))[0].reshape(-1).tolist()
        if not 1 <= len(found) <= 2:
            raise MissingError(
                f"The model in {self._folder.path} gives {len(found)} numbers for a question and a text,"
                " not one. Take one that is made for re-ranking."
            )
        return float(found[-1] - found[0] if len(found) == 2 else found[0])  # yes against no


def reranked(
    turns: Sequence[Ranked], text_of: Callable[[Ranked], str], scores: Callable[[list[str]], Sequence[float]]
) -> list[Ranked]:
    """Return turns in the order of both looks; those behind the first ones stay behind.

    Args:
        turns: The best first.
        text_of: Returns what a turn says.
        scores: Tells how well texts answer the question.
    """
    first, rest = turns[:FIRST], turns[FIRST:]
    if not first:
        return []
    before = _stretched([turn.score for turn in first])
    after = _stretched(scores([text_of(turn) for turn in first]))
    mixed = [
        replaced(turn, score=(1 - SHARE) * one + SHARE * other)
        for turn, one, other in zip(first, before, after, strict=True)
    ]
    behind = [replaced(turn, score=-_STEP * at) for at, turn in enumerate(rest, 1)]
    return [*sorted(mixed, key=lambda turn: -turn.score), *behind]


def _stretched(scores: Sequence[float]) -> list[float]:
    """Scale scores so that the best is 1 and the worst is 0."""
    worst, best = min(scores), max(scores)
    return [(score - worst) / (best - worst) if best > worst else 0.0 for score in scores]
