"""What every session pays for having told, before it asks anything."""

from __future__ import annotations

from tests.mcp.caller import greeting, request, result
from told.jsontext import dump_json
from told.text import count_tokens


def test_all_tools_together_cost_no_more_than_a_thousand_tokens() -> None:
    sent = dump_json(result(request("tools/list")))
    assert len(sent) / 4 <= 1000
    assert count_tokens(sent) <= 1000


def test_the_instructions_teach_the_way_in_three_steps_and_are_short() -> None:
    said = result(greeting())["instructions"]
    assert count_tokens(said) <= 120
    steps = [said.index(word) for word in ("search", "timeline", "get", "remember", "checkpoint")]
    assert steps == sorted(steps)
