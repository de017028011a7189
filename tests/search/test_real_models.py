"""Real weights, where somebody has them: `make models` fetches them and runs these tests."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from told.search.embedder import chosen
from told.search.meaning import similarity
from told.search.reranker import Reranker

if TYPE_CHECKING:
    from told.search.embedder import Embedder

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
    found = chosen(os.path.join(FOLDER, request.param))
    assert found is not None
    return found


@pytest.mark.parametrize(("question", "answer", "unrelated"), TRIPLES)
def test_an_answer_is_nearer_than_what_is_unrelated(
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


def test_what_stands_beside_a_text_changes_nothing(embedder: Embedder) -> None:
    texts = [text for triple in TRIPLES for text in triple]
    together = embedder.vectors(texts)
    assert together == [embedder.vectors([text])[0] for text in reversed(texts)][::-1]


@pytest.mark.parametrize(("question", "answer", "unrelated"), TRIPLES)
def test_a_second_look_knows_the_answer(question: str, answer: str, unrelated: str) -> None:
    good, bad = Reranker(os.path.join(FOLDER, "reranker")).scores(question, [answer, unrelated])
    assert good > bad
