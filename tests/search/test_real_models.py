"""Tests with real models: `make models` downloads and runs them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from told.search.vectors.arithmetic import similarity
from told.search.vectors.embedder import load_embedder
from told.search.vectors.model_folder import Reranker

if TYPE_CHECKING:
    from told.search.vectors.embedder import Embedder

FOLDER = os.environ.get("TOLD_TEST_MODELS", "")
pytestmark = pytest.mark.skipif(not FOLDER, reason="needs 100 MB of weights: `make models`")
TRIPLES = [
    ("how do I undo a commit", "git revert takes the last change back", "the button should be blue"),
    ("which database do we use", "Postgres 17 stores the orders", "indent with two spaces"),
    ("why does the build fail", "the compiler stops with an error", "the meeting is on friday"),
    ("users cannot sign in", "login is broken since the update", "the chart needs a legend"),
]


@pytest.fixture(scope="module", params=["bge-small", "minilm"])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    found = load_embedder(os.path.join(FOLDER, request.param))
    assert found is not None
    return found


@pytest.mark.parametrize(("question", "answer", "unrelated"), TRIPLES)
def test_answer_is_nearer_than_unrelated_text(
    embedder: Embedder, question: str, answer: str, unrelated: str
) -> None:
    asked = embedder.vectors([question], asking=True)[0]
    near, far = embedder.vectors([answer, unrelated])
    assert asked is not None
    assert near is not None
    assert far is not None
    assert len(asked) == 384
    assert similarity(asked, near) > similarity(asked, far) + 0.05
    assert similarity(near, near) == pytest.approx(1, abs=0.01)


def test_batch_does_not_change_vector(embedder: Embedder) -> None:
    texts = [text for triple in TRIPLES for text in triple]
    together = embedder.vectors(texts)
    assert together == [embedder.vectors([text])[0] for text in reversed(texts)][::-1]


@pytest.mark.parametrize(("question", "answer", "unrelated"), TRIPLES)
def test_reranker_prefers_answer(question: str, answer: str, unrelated: str) -> None:
    good, bad = Reranker(os.path.join(FOLDER, "reranker")).scores(question, [answer, unrelated])
    assert good > bad
