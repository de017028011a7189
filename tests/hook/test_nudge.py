"""Ask an agent to remember: seldom, in one line, and never where nobody could."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from tests.hook.desk import AGENTS, begun, typed
from told.hook.nudge import NUDGE, STANDING
from told.memories.session_notes import PROMPTS, NotesFile
from told.text import count_tokens

if TYPE_CHECKING:
    from tests.hook.desk import Desk

LONG = (
    "the totals on the invoice page were wrong again this morning and anna told me that the billing team "
    "reads them from the export of the night before, so number {} has to match what the export says"
)
_SECRET = "ghp_" + "R4nd0mT0kenR4nd0mT0kenR4nd0mT0ken99"


def _nudges(desk: Desk, count: int, agent: str = "claude-code", **environ: str) -> list[bool]:
    return [NUDGE in desk.prompt(LONG.format(number), agent, **environ) for number in range(count)]


def test_at_most_every_third_prompt_gets_one_line(desk: Desk) -> None:
    assert _nudges(desk, 7) == [True, False, False, True, False, False, True]


def test_a_nudge_costs_at_most_forty_tokens(desk: Desk) -> None:
    said = desk.prompt(LONG)

    assert NUDGE in said
    assert count_tokens(said) <= 40


def test_prompts_that_teach_nothing_get_none(desk: Desk) -> None:
    for text in ("yes", "run the tests", "thanks!", "go on", "show me the file"):
        assert desk.prompt(text) == ""
    assert NUDGE in desk.prompt(LONG)


def test_each_session_is_nudged_for_itself(desk: Desk) -> None:
    assert NUDGE in desk.prompt(LONG, session="s-1")
    assert NUDGE in desk.prompt(LONG, session="s-2")


def test_subagents_get_none(desk: Desk) -> None:
    payload = typed(desk, LONG) | {"agent_id": "a106be584b7bcfbc0"}

    assert desk.ask("claude-code", "prompt", payload) == {}
    assert not (desk.told_home / PROMPTS).exists()


@pytest.mark.parametrize("setting", ["nudge = false", "learn = false"])
def test_a_setting_turns_it_off(desk: Desk, setting: str) -> None:
    desk.config(f"{setting}\n")

    assert not any(_nudges(desk, 4))


def test_agents_that_told_is_not_installed_into_get_none(desk: Desk) -> None:
    payload = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": "s-1",
        "cwd": desk.project,
        "prompt": LONG,
    }

    assert NUDGE not in str(desk.ask("someone-new", "prompt", payload))


@pytest.mark.parametrize("agent", [agent for agent in AGENTS if agent != "copilot-cli"])  # takes no context
def test_it_reaches_every_agent_in_its_own_form(desk: Desk, agent: str) -> None:
    assert _nudges(desk, 1, agent) == [True]


def test_a_session_start_with_a_brief_carries_the_standing_request(desk: Desk) -> None:
    assert STANDING not in str(desk.ask("claude-code", "start", begun(desk)))
    desk.prompt("Remember: never use npm here, use pnpm.")

    assert STANDING in str(desk.ask("claude-code", "start", begun(desk, session="s-2")))
    desk.config("nudge = false\n")
    assert STANDING not in str(desk.ask("claude-code", "start", begun(desk, session="s-3")))


def test_prompts_are_noted_redacted_private_and_only_the_last_few(desk: Desk) -> None:
    for number in range(12):
        desk.prompt(f"{LONG.format(number)} with {_SECRET}")
    notes = NotesFile(str(desk.told_home), "claude-code", "s-1").read()

    assert 3 <= len(notes.prompts) <= 8
    assert "number 11" in notes.prompts[-1].text
    assert _SECRET.encode() not in desk.every_byte()
    for path in (desk.told_home / PROMPTS).iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_forgotten_memory_leaves_no_prompt_behind(desk: Desk) -> None:
    desk.prompt("No, we use zanzibar here, never npm.")
    memory = desk.memories()[0]["id"]
    assert b"zanzibar" in desk.every_byte()

    assert desk.told("forget", "--force", memory).code == 0

    assert b"zanzibar" not in desk.every_byte()


def test_damaged_notes_are_no_reason_to_fail(desk: Desk) -> None:
    assert NUDGE in desk.prompt(LONG)
    for path in (desk.told_home / PROMPTS).iterdir():
        path.write_bytes(b"\x00{[" * 100)

    assert NUDGE in desk.prompt(LONG)
