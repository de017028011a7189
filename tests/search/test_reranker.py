"""A second look at the first results: half of the order is the model's, and the others stay behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.search.toy_models import write_embedder, write_reranker
from told.errors import MissingError
from told.search.rank import Ranked, grouped
from told.search.reranker import FIRST, Reranker, reranked

if TYPE_CHECKING:
    from pathlib import Path


def turns(*scores: float) -> list[Ranked]:
    return [Ranked(at, at, 0, 1000 - at, score) for at, score in enumerate(scores)]


def text_of(turn: Ranked) -> str:
    return str(turn.turn)


@pytest.mark.parametrize("classes", [1, 2])
def test_a_model_tells_which_text_answers(tmp_path: Path, classes: int) -> None:
    model = Reranker(write_reranker(tmp_path / "toy", classes=classes))
    blue, git, both = model.scores("undo", ["blue button", "git commit revert", "git button"])
    assert git > both > blue
    assert model.scores("undo", []) == []
    assert model.scores("undo " * 5000, ["\ud800", "git " * 5000])


def test_half_of_the_order_is_the_models() -> None:
    found = reranked(turns(0.9, 0.5, 0.1), text_of, lambda texts: [0.0, 10.0, 5.0])
    assert [turn.turn for turn in found] == [1, 0, 2]
    assert [turn.score for turn in found] == pytest.approx([0.75, 0.5, 0.25])


def test_what_ties_keeps_its_order() -> None:
    assert [turn.turn for turn in reranked(turns(0.5, 0.5, 0.5), text_of, lambda texts: [1.0] * 3)] == [
        0,
        1,
        2,
    ]
    assert reranked([], text_of, lambda texts: []) == []


def test_only_the_first_are_looked_at_and_the_others_stay_behind() -> None:
    asked: list[str] = []

    def scores(texts: list[str]) -> list[float]:
        asked.extend(texts)
        return [float(text) for text in texts]

    before = turns(*(1 - at / 100 for at in range(FIRST + 5)))
    found = reranked(before, text_of, scores)
    assert asked == [str(at) for at in range(FIRST)]
    assert [turn.turn for turn in found[FIRST:]] == list(range(FIRST, FIRST + 5))
    assert [turn.score for turn in found] == sorted((turn.score for turn in found), reverse=True)
    assert [group.session for group in grouped(found, 50)][FIRST:] == list(range(FIRST, FIRST + 5))


def test_a_model_that_is_not_made_for_it(tmp_path: Path) -> None:
    path = write_embedder(tmp_path / "toy", pooled="vector")
    with pytest.raises(MissingError, match="Take one that is made for re-ranking"):
        Reranker(path).scores("undo", ["git"])
    with pytest.raises(MissingError, match="There is no folder"):
        Reranker(str(tmp_path / "nowhere"))
