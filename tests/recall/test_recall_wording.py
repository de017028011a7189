"""The wording of a prompt tells whether it needs memories."""

from __future__ import annotations

import pytest

from told.recall.prompt import extract_wording, mask_numbers, read_prompt
from told.recall.recall import Recall, describe_prompt


@pytest.mark.parametrize(
    "prompt",
    [
        "explain list vs tuple to our intern",
        "optimistic vs pessimistic locking, explain briefly",
        "sort this array of objects by date, newest first",
        "rename i to idx in this loop",
        "3 psi in kPa",
        "gracias, perfecto",
        "trie ce hash par valeur décroissante",
        "was heißt idempotent auf deutsch",
        "nice one, go on",
    ],
)
def test_a_prompt_worded_like_a_general_question_needs_a_better_fit(prompt: str) -> None:
    found = read_prompt(prompt)
    assert found.quiet or found.doubt > 0


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
def test_prompt_that_needs_memories_is_not_doubted(prompt: str) -> None:
    found = read_prompt(prompt)
    assert not found.quiet
    assert found.doubt < 0.12


def test_wording_masks_numbers_and_marks_positions() -> None:
    assert list(extract_wording(mask_numbers(["in", "line", "40"]), asks=True)) == [
        "=3?", "^in", "0$", "in", "line", "0", "in_line", "line_0", "^in_line",
    ]  # fmt: skip
    assert list(extract_wording([], asks=False)) == ["=0"]


def test_a_long_prompt_needs_a_better_fit() -> None:
    short = "add a field for the discount to the order form"
    assert (
        read_prompt(short + " and then one more for the note of the customer" * 5).doubt
        > read_prompt(short).doubt
    )


def test_description_says_what_a_memory_must_score() -> None:
    found = Recall(read_prompt("explain list vs tuple to our intern"), (), ())
    assert "a memory must score 0." in describe_prompt(found)
    assert describe_prompt(Recall(read_prompt("thx"), (), ())) == "Nothing to look up: talk."
