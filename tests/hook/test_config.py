"""Settings apply in hooks; an invalid config file blocks no prompt and stores nothing."""

from __future__ import annotations

import pytest

from tests.hook.desk import ASKED, TAUGHT, Desk, begun, typed

_BAD = (
    "learn = \n",
    "nonsense = 1\n",
    "[retention]\ndays = -1\n",
    "\x00",
    "[[redaction.rules]]\nname = 'a'\n",
)
_EVENTS = ("start", "prompt", "compact", "compacted", "stop", "end", "helper", "tool")


@pytest.fixture
def used(desk: Desk) -> Desk:
    """A machine that was told something."""
    assert "told saved" in desk.prompt(TAUGHT)
    assert any("pnpm" in text for text in desk.texts())
    return desk


@pytest.mark.parametrize("content", _BAD)
def test_invalid_config_blocks_no_prompt_and_learns_nothing(used: Desk, content: str) -> None:
    used.config(content)
    for number in range(2):  # read, and from what was kept of it
        assert "pnpm" in used.prompt(ASKED, session=f"s{number}")
        used.prompt("No, we always deploy with helm, never with kubectl.", session=f"t{number}")
    assert "pnpm" in used.call("claude-code", "start", begun(used, session="new")).out
    assert b"helm" not in used.every_byte()
    assert used.told("health").out.startswith("RED 0.0 of 10. ")
    used.config("")
    used.prompt("No, we always deploy with helm, never with kubectl.", session="later")
    assert any("helm" in text for text in used.texts())


@pytest.mark.parametrize("content", _BAD[:2])
def test_invalid_config_ingests_no_conversation(desk: Desk, content: str) -> None:
    desk.claude(("Please rename the zephyrine module", "Done."), cwd=desk.project)
    desk.config(content)
    for event in _EVENTS:
        payload = typed(desk, "Please rename the zephyrine module")
        assert desk.call("claude-code", event, payload, TOLD_DEBUG="1").code == 0
    assert b"zephyrine" not in desk.every_byte()


def test_invalid_config_makes_commands_say_why_nothing_was_saved(desk: Desk) -> None:
    desk.config("nonsense = 1\n")
    said = desk.prompt("/mem:remember The zephyrine server is in rack 4.")
    assert "/mem:remember was not carried out: " in said
    assert "nonsense" in said
    desk.config("")
    assert desk.texts() == []


def test_disabled_agent_gets_no_brief_and_teaches_nothing(used: Desk) -> None:
    used.config("[agents.codex]\nenabled = false\n")
    for event in _EVENTS:
        taught = typed(used, "No, we always deploy with helm, never with kubectl.", "codex")
        assert used.ask("codex", event, taught | {"transcript_path": None}) == {}
    assert used.prompt(ASKED, "codex", "other") == ""
    assert "pnpm" in used.prompt(ASKED, "claude-code", "mine")
    assert not any("helm" in text for text in used.texts())


def test_token_budgets_apply_in_hooks(used: Desk) -> None:
    used.told("remember", "Always run the linter before a commit", "--scope", "global")
    used.config("[brief]\ntokens = 0\n")
    assert used.prompt(ASKED, session="a") == ""
    assert "pnpm" in str(used.ask("claude-code", "start", begun(used, session="b")))
    used.config("[brief]\nstart_tokens = 0\n")
    assert "pnpm" in used.prompt(ASKED, session="c")
    assert used.ask("claude-code", "start", begun(used, session="d")) == {}


def test_project_config_can_only_turn_learning_off(used: Desk) -> None:
    used.write("code/acme-api/.told/config.toml", "learn = false\nguard = 'off'\n[brief]\ntokens = 0\n")
    assert "pnpm" in used.prompt(ASKED, session="a")
    used.prompt("No, we always deploy with helm, never with kubectl.", session="b")
    assert not any("helm" in text for text in used.texts())


def test_invalid_project_config_blocks_no_prompt(used: Desk) -> None:
    for number, content in enumerate((b"\xff", b"learn = 3", b"a = " + b"[" * 9000, b"#" * 70_000)):
        used.write("code/acme-api/.told/config.toml", content)
        assert "pnpm" in used.prompt(ASKED, session=f"s{number}")


def test_email_addresses_are_stored_if_the_user_allows_them(desk: Desk) -> None:
    taught = "No, always send the weekly figures to petra.vogel@brightwater-freight.com, never to the list."
    desk.prompt(taught, session="a")
    desk.config("[redaction]\nemails = false\n")
    assert "petra.vogel@brightwater-freight.com" not in " ".join(desk.texts())
    desk.prompt(taught.replace("weekly", "daily"), session="b")
    assert "petra.vogel@brightwater-freight.com" in " ".join(desk.texts())


def test_custom_redaction_rules_apply_in_hooks(desk: Desk) -> None:
    desk.told("config", "add-rule", "badge", "BADGE-[0-9]{6}", "BADGE-104233")
    desk.prompt("No, always open the door with BADGE-991823, never with the key.", TOLD_DEBUG="1")
    desk.prompt("/mem:remember The back door takes BADGE-771823.")
    assert len(desk.texts()) == 2
    desk.call("claude-code", "prompt", typed(desk, "Where is BADGE-661823?"), TOLD_DEBUG="1")
    found = desk.every_byte()
    assert not any(number in found for number in (b"BADGE-991823", b"BADGE-771823", b"BADGE-661823"))
