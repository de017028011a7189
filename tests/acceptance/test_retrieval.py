"""Retrieval: a limit is what reaches the prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from told.text import count_tokens

if TYPE_CHECKING:
    from tests.acceptance.site import Site

BUDGETS = (120, 240, 400)
K = 3


@pytest.mark.atlas("retrieval.k_is_an_upper_bound")
def test_budget_and_limit_are_kept_where_far_more_fits(site: Site) -> None:
    names = ("Aspen", "Birch", "Cedar", "Dogwood", "Elm", "Fir", "Ginkgo", "Hazel", "Ironwood", "Juniper")
    for name in names:
        for part in ("reader", "writer", "parser"):
            site.remember(
                f"The {name} {part} retries with exponential backoff and gives up only after the deadline of"
                f" its caller has passed, which the operators of {name} asked for."
            )
    question = "how does the retry backoff work, and when does it give up?"
    assert len(site.texts_of("active")) == 30
    for budget in BUDGETS:
        answer = site.do("brief", "--prompt", question, "--budget", str(budget))
        assert count_tokens(answer.out) <= budget
    assert "exponential backoff" in answer.out
    prompt = site.say(question)
    lines = [line for line in prompt.splitlines() if line.startswith("- ")]
    assert 0 < len(lines) < 30
    found = site.tool("search", query=question, in_="memories", limit=K)
    assert found.count("exponential backoff") == K
    rows = site.do("search", "--in", "memories", "-n", str(K), "--json", question).json["memories"]
    assert len(rows) == K
