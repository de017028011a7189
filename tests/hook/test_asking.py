"""Ask an agent to save what its user teaches: when a session starts, and once when it stops."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.asking import Asking
from tests.hook.desk import ASKED, TAUGHT, begun, said_to_model, typed
from told.hook.asking import QUESTION, STANDING
from told.memories.session_notes import PROMPTS, NotesFile
from told.text import count_tokens

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.hook.desk import Desk

_SECRET = "ghp_" + "R4nd0mT0kenR4nd0mT0kenR4nd0mT0ken99"
AT_TERMINAL = {"CLAUDE_CODE_ENTRYPOINT": "cli", "CLAUDE_CODE_SESSION_ATTENDED": "1"}
HEADLESS = {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli", "CLAUDE_CODE_SESSION_ATTENDED": "0"}
_ON = 'ask_at_end = "on"\n'


def _work(
    desk: Desk, count: int = 5, agent: str = "claude-code", session: str = "s-1", **environ: str
) -> None:
    desk.ask(agent, "start", begun(desk, agent, session), **environ)
    for number in range(count):
        desk.prompt(f"fix the typo in file {number}", agent, session, **environ)


def _stop(desk: Desk, agent: str = "claude-code", **more: Any) -> dict[str, Any]:
    return desk.payload(agent, "Stop", session_id="s-1", transcript_path="") | more


def _is_asked(desk: Desk, environ: Mapping[str, str] = AT_TERMINAL, **more: Any) -> bool:
    return QUESTION in json.dumps(desk.ask("claude-code", "stop", _stop(desk, **more), **environ))


def test_a_start_with_a_brief_carries_the_standing_request(desk: Desk) -> None:
    assert STANDING not in str(desk.ask("claude-code", "start", begun(desk)))
    desk.prompt("Remember: never use npm here, use pnpm.")

    assert STANDING in str(desk.ask("claude-code", "start", begun(desk, session="s-2")))
    desk.config("nudge = false\n")
    assert STANDING not in str(desk.ask("claude-code", "start", begun(desk, session="s-3")))


def test_prompts_carry_no_request(desk: Desk) -> None:
    _work(desk, 8)

    assert "remember" not in desk.prompt("the totals on the invoice page were wrong again this morning")


def test_a_session_that_taught_nothing_is_asked_once(desk: Desk) -> None:
    _work(desk, 4)
    assert not _is_asked(desk)
    desk.prompt("go on", **AT_TERMINAL)

    answer = desk.ask("claude-code", "stop", _stop(desk), **AT_TERMINAL)

    # Claude Code goes on with added context; a blocked stop looks like an error there.
    assert said_to_model(answer) == QUESTION
    assert "decision" not in answer
    _work(desk)
    assert not _is_asked(desk)


def test_a_resumed_session_is_not_asked_again(desk: Desk) -> None:
    _work(desk)
    assert _is_asked(desk)

    desk.ask("claude-code", "start", begun(desk, source="resume"))
    for path in (desk.told_home / PROMPTS).iterdir():
        path.unlink()  # as told does after some days
    desk.ask("claude-code", "start", begun(desk, source="resume"))
    for number in range(6):
        desk.prompt(f"rename the field {number}")

    assert not _is_asked(desk)


@pytest.mark.parametrize("environ", [HEADLESS, {}, {"CLAUDE_CODE_ENTRYPOINT": "cli"}])
def test_without_a_user_nobody_is_asked(desk: Desk, environ: dict[str, str]) -> None:
    _work(desk)

    assert not _is_asked(desk, environ)


@pytest.mark.parametrize("more", [{"agent_id": "a1"}, {"stop_hook_active": True}])
def test_subagents_and_stops_after_a_question_are_not_asked(desk: Desk, more: dict[str, Any]) -> None:
    _work(desk)

    assert not _is_asked(desk, **more)


@pytest.mark.parametrize("taught", [TAUGHT, "/mem:remember We deploy on Fridays only."])
def test_a_session_that_taught_something_is_not_asked(desk: Desk, taught: str) -> None:
    desk.prompt(taught)
    _work(desk)

    assert not _is_asked(desk)


def test_an_agent_that_saved_something_is_not_asked(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(desk.repo("code/acme-api"))
    _work(desk)
    desk.prompt("the parcel labels come out on four by six inch paper in the warehouse")
    item = {
        "text": "Parcel labels are on four by six inch paper.",
        "quote": "labels come out on four by six inch",
    }
    assert "user's word" in Asking(desk, "claude-code", desk.project).say("remember", items=[item])

    assert not _is_asked(desk)


@pytest.mark.parametrize(
    "setting",
    [
        'ask_at_end = "off"\n',
        "learn = false\n",
        '[reader]\nmode = "agent"\n',
        "[agents.claude-code]\nenabled = false\n",
    ],
)
def test_a_setting_or_a_reader_turns_it_off(desk: Desk, setting: str) -> None:
    desk.config(setting)
    _work(desk)

    assert not _is_asked(desk)


@pytest.mark.parametrize(("source", "config", "asked"), [
    ("cli", _ON, True), ("cli", "", False), ("exec", _ON, False), ("vscode", _ON, False),
])  # fmt: skip
def test_codex_is_asked_in_its_terminal_if_the_user_wants_it(
    desk: Desk, source: str, config: str, asked: bool
) -> None:
    """Codex shows the question in red."""
    desk.config(config)
    _work(desk, agent="codex")
    rollout = desk.home / "rollout.jsonl"
    meta = {"id": "s-1", "originator": "codex-tui", "source": source, "cwd": desk.project}
    rollout.write_text(json.dumps({"type": "session_meta", "payload": meta}) + "\n")

    answer = desk.ask("codex", "stop", _stop(desk, "codex", transcript_path=str(rollout)))

    assert answer == ({"decision": "block", "reason": QUESTION} if asked else {})


def test_other_agents_are_never_asked(desk: Desk) -> None:
    desk.config(_ON)
    _work(desk, agent="qwen-code")

    assert desk.ask("qwen-code", "stop", _stop(desk, "qwen-code"), **AT_TERMINAL) == {}


def test_the_hook_is_told_whether_a_user_is_there(desk: Desk) -> None:
    _work(desk)

    said = desk.call("claude-code", "stop", _stop(desk), **AT_TERMINAL)

    assert said_to_model(said.json) == QUESTION


def test_the_agent_is_told_in_a_few_words_what_was_saved(desk: Desk) -> None:
    said = desk.prompt("Remember that the staging database of the warehouse in Lyon is called heron-7.")

    assert "told saved: " in said
    assert "no need to call `remember`" in said
    assert count_tokens(said) <= 28
    assert count_tokens(said.removeprefix("<told>\n").removesuffix("\n</told>")) <= 25
    assert "told saved" not in desk.prompt(ASKED)


def test_what_was_not_saved_is_not_said_to_be(desk: Desk) -> None:
    desk.config("learn = false\n")

    assert desk.prompt("Remember that the staging database is called heron-7.") == ""


def test_prompts_are_noted_redacted_private_and_only_the_last_few(desk: Desk) -> None:
    for number in range(12):
        desk.prompt(f"number {number} of the invoice has to match the export with {_SECRET}")
    desk.prompt("yes")
    notes = NotesFile(str(desk.told_home), "claude-code", "s-1").read()

    assert 3 <= len(notes.prompts) <= 8
    assert notes.typed == 13
    assert "number 11" in notes.prompts[-1].text
    assert _SECRET.encode() not in desk.every_byte()
    for path in (desk.told_home / PROMPTS).iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_prompts_of_subagents_are_not_noted(desk: Desk) -> None:
    payload = typed(desk, "fix the typo in the readme") | {"agent_id": "a106be584b7bcfbc0"}

    assert desk.ask("claude-code", "prompt", payload) == {}
    assert not (desk.told_home / PROMPTS).exists()


def test_a_forgotten_memory_leaves_no_prompt_behind(desk: Desk) -> None:
    desk.prompt("No, we use zanzibar here, never npm.")
    memory = desk.memories()[0]["id"]
    assert b"zanzibar" in desk.every_byte()

    assert desk.told("forget", "--force", memory).code == 0

    assert b"zanzibar" not in desk.every_byte()


def test_damaged_notes_are_no_reason_to_fail(desk: Desk) -> None:
    _work(desk)
    for path in (desk.told_home / PROMPTS).iterdir():
        path.write_bytes(b"\x00{[" * 100)

    assert desk.prompt("fix the typo") == ""
    assert not _is_asked(desk)  # nobody knows whether it was asked before
