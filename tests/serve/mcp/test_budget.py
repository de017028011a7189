"""What every session pays for having told, before it asks anything."""

from __future__ import annotations

from tests.serve.mcp.caller import greeting, request, result
from told.guard.text import tokens
from told.store.memory_json import encoded


def test_all_tools_together_cost_no_more_than_a_thousand_tokens() -> None:
    sent = encoded(result(request("tools/list")))
    assert len(sent) / 4 <= 1000
    assert tokens(sent) <= 1000


def test_the_instructions_teach_the_way_in_three_steps_and_are_short() -> None:
    said = result(greeting())["instructions"]
    assert tokens(said) <= 120
    steps = [said.index(word) for word in ("search", "timeline", "get", "remember", "checkpoint")]
    assert steps == sorted(steps)
