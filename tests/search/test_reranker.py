"""Re-ranking by a local model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.search.toy_models import write_embedder, write_reranker
from told.errors import MissingError
from told.search.rank import RankedTurn, group_by_session
from told.search.vectors.model_folder import RERANKED, Reranker, rerank

if TYPE_CHECKING:
    from pathlib import Path


def turns(*scores: float) -> list[RankedTurn]:
    return [RankedTurn(at, at, 0, 1000 - at, score) for at, score in enumerate(scores)]


def text_of(turn: RankedTurn) -> str:
    return str(turn.turn)


@pytest.mark.parametrize("classes", [1, 2])
def test_reranker_scores_texts(tmp_path: Path, classes: int) -> None:
    model = Reranker(write_reranker(tmp_path / "toy", classes=classes))
    blue, git, both = model.scores("undo", ["blue button", "git commit revert", "git button"])
    assert git > both > blue
    assert model.scores("undo", []) == []
    assert model.scores("undo " * 5000, ["\ud800", "git " * 5000])


def test_rerank_mixes_scores() -> None:
    found = rerank(turns(0.9, 0.5, 0.1), text_of, lambda texts: [0.0, 10.0, 5.0])
    assert [turn.turn for turn in found] == [1, 0, 2]
    assert [turn.score for turn in found] == pytest.approx([0.75, 0.5, 0.25])


def test_rerank_keeps_order_of_ties() -> None:
    assert [turn.turn for turn in rerank(turns(0.5, 0.5, 0.5), text_of, lambda texts: [1.0] * 3)] == [
        0,
        1,
        2,
    ]
    assert rerank([], text_of, lambda texts: []) == []


def test_rerank_keeps_later_turns_behind() -> None:
    asked: list[str] = []

    def scores(texts: list[str]) -> list[float]:
        asked.extend(texts)
        return [float(text) for text in texts]

    before = turns(*(1 - at / 100 for at in range(RERANKED + 5)))
    found = rerank(before, text_of, scores)
    assert asked == [str(at) for at in range(RERANKED)]
    assert [turn.turn for turn in found[RERANKED:]] == list(range(RERANKED, RERANKED + 5))
    assert [turn.score for turn in found] == sorted((turn.score for turn in found), reverse=True)
    assert [group.session for group in group_by_session(found, 50)][RERANKED:] == list(
        range(RERANKED, RERANKED + 5)
    )


def test_other_model_is_refused_for_reranking(tmp_path: Path) -> None:
    path = write_embedder(tmp_path / "toy", pooled="vector")
    with pytest.raises(MissingError, match="Take one that is made for re-ranking"):
        Reranker(path).scores("undo", ["git"])
    with pytest.raises(MissingError, match="There is no folder"):
        Reranker(str(tmp_path / "nowhere"))
