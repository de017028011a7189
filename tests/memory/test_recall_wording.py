"""Whether a prompt needs anything is told by how it is worded, in several languages."""

from __future__ import annotations

import pytest

from told.memory._recall_structure import structure
from told.memory._recall_wording import plain, wording
from told.memory.explain import head
from told.memory.recall import Recall


@pytest.mark.parametrize(
    "prompt",
    [
        "explain list vs tuple to our intern",
        "optimistic vs pessimistic locking, explain briefly",
        "sort this array of objects by date, newest first",
        "rename i to idx in this loop",
        "3 psi in kPa",
        "gracias, perfecto",
        "asante, works",
        "trie ce hash par valeur décroissante",
        "was heißt idempotent auf deutsch",
        "nice one, go on",
    ],
)
def test_a_prompt_that_needs_nothing_is_recognised(prompt: str) -> None:
    found = structure(prompt)
    assert found.quiet or found.faint


@pytest.mark.parametrize(
    "prompt",
    [
        "ship it",
        "open the pr",
        "install zod",
        "run the browser tests",
        "the nightly import stops half-way since monday",
        "add a field for the discount to the order form",
        "mach einen commit daraus",
        "thanks, now deploy it",
        "bitte einchecken",
        "why does the total differ by one cent?",
        "Error: connect ECONNREFUSED 127.0.0.1:5432",
    ],
)
def test_a_prompt_that_may_need_something_is_not_taken_for_such(prompt: str) -> None:
    found = structure(prompt)
    assert not found.quiet
    assert not found.faint


def test_numbers_are_all_alike_and_places_of_words_count() -> None:
    assert list(wording(plain(["in", "line", "40"]), asks=True)) == [
        "=3?", "^in", "0$", "in", "line", "0", "in_line", "line_0", "^in_line",
    ]  # fmt: skip
    assert list(wording([], asks=False)) == ["=0"]


def test_explain_says_so() -> None:
    found = Recall(structure("explain list vs tuple to our intern"), (), ())
    assert head(found).endswith("worded like one that needs nothing")
