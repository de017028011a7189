"""`told` alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.machine import Machine


def test_a_new_user_without_history_is_told_what_to_do(machine: Machine) -> None:
    answer = machine.told()
    assert (answer.code, answer.err) == (0, "")
    assert "No agent has any history here yet." in answer.out
    assert "`told install`" in answer.out


def test_a_new_user_sees_agents_history_and_a_search_that_finds_something(shop: Machine) -> None:
    page = shop.told("--json").json
    assert page["connected"] is False
    assert {one["agent"] for one in page["agents"]} >= {"claude-code", "copilot-cli"}
    assert page["sessions_total"] == sum(one["sessions"] for one in page["agents"])
    assert page["next"][0] == "told install"
    search = next(one for one in page["next"] if one.startswith("told search"))
    found = shop.told("search", search.removeprefix("told search ").strip('"'), "--all-projects", "--json")
    assert found.json["results"]
    text = shop.told().out
    assert "Agents found: not connected yet: `told install`" in text
    assert text.splitlines()[-1].startswith("Next: `told install`, ")


def test_the_page_shows_open_work_what_was_learned_and_health(
    shop: Machine, snapshot: Callable[[str, str], None]
) -> None:
    shop.told("checkpoint", "Move the login to OAuth", "--pending", "the callback")
    shop.told("remember", "Never deploy on Fridays")
    page = shop.told("--json").json
    assert page["open_work"][0]["trust"] == "agent"
    assert "Move the login to OAuth" in page["open_work"][0]["title"]
    assert page["health"]
    answer = shop.at_terminal(NO_COLOR="1")
    assert "<agent" not in answer.out
    assert all(len(line) <= 80 for line in answer.out.splitlines())
    snapshot("home-terminal", re.sub(r"\bc[a-z2-7]{9}\b", "cxxxxxxxxx", answer.out))
