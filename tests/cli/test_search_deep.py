"""`told search --deep`: a model of the user's looks at the first results again, where there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.machine import ago
from tests.search.toy_models import write_reranker

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.machine import Machine

WORDS = ("release", "branch")


@pytest.fixture
def history(machine: Machine) -> Machine:
    """A machine where what answers best has fewer of the words."""
    machine.claude(("release branch release branch", "blue colour"), at=ago(days=2), session="words")
    machine.claude(("The release branch failed", "git revert undo commit"), at=ago(days=3), session="answer")
    machine.claude(("Which disk has a release", "The one that is full " * 9), at=ago(days=4), session="other")
    assert machine.told("index").code == 0
    return machine


def found(machine: Machine, *words: str) -> list[str]:
    return [row["native_id"] for row in machine.told("search", *WORDS, "--json", *words).json["results"]]


def test_the_order_is_that_of_both_looks(history: Machine, tmp_path: Path) -> None:
    folder = write_reranker(tmp_path / "toy")
    assert history.told("config", "set", "reranker", folder).code == 0
    assert found(history) == ["words", "answer", "other"]
    assert found(history, "--deep") == ["answer", "words", "other"]
    deep = history.told("search", *WORDS, "--deep", "--json")
    assert history.told("search", *WORDS, "--deep", "--json").out == deep.out
    assert history.told("search", *WORDS, "--deep").code == 0


def test_without_a_model_it_says_what_to_do(history: Machine) -> None:
    answer = history.told("search", *WORDS, "--deep")
    assert (answer.code, answer.out) == (4, "")
    assert "`told config set reranker FOLDER`" in answer.err


def test_a_model_that_is_gone(history: Machine, tmp_path: Path) -> None:
    history.config(f'reranker = "{tmp_path}/gone"\n')
    answer = history.told("search", *WORDS, "--deep")
    assert (answer.code, answer.err.count("\n")) == (4, 1)
    assert f"There is no folder {tmp_path}/gone." in answer.err
    assert history.told("search", *WORDS).code == 0


def test_memories_are_not_looked_at_again(history: Machine, tmp_path: Path) -> None:
    history.config(f'reranker = "{write_reranker(tmp_path / "toy")}"\n')
    assert history.told("search", *WORDS, "--deep", "--in", "memories").code == 2
    assert history.told("search", "nothing", "has", "this", "--deep").code == 1
