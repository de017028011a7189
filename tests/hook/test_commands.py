"""`/mem:lock …` and its like, typed as a prompt: the user's own word, whatever the agent is."""

from __future__ import annotations

import pytest

from tests.hook.desk import AGENTS, Desk, typed
from told.agents.wiring import SLASH_END

_TABS = "Always use tabs for indentation."
_SHIP = "Deploy the API with make ship."
# An agent sets this for what it runs; a hook has it as well, but it hands on what the user typed.
_IN_AGENT = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s-1"}


def _one(desk: Desk) -> dict[str, object]:
    found = desk.memories()
    assert len(found) == 1
    return found[0]


def _known(desk: Desk, text: str) -> str:
    desk.prompt(f"/mem:remember {text}")
    return str(next(one["id"] for one in desk.memories() if one["text"] == text))


@pytest.mark.parametrize("agent", AGENTS)
def test_lock_keeps_a_new_statement_that_only_the_user_can_change(desk: Desk, agent: str) -> None:
    said = desk.prompt(f"/mem:lock {_TABS}", agent, **_IN_AGENT)
    one = _one(desk)
    assert (one["text"], one["locked"], one["status"], one["trust"]) == (_TABS, True, "active", "user")
    assert str(one["id"]) in said
    assert "locked" in said
    assert said.startswith("<told>")
    assert desk.memories("--status", "quarantined") == []


def test_command_has_the_users_trust_inside_an_agent(desk: Desk) -> None:
    """As installed. The same command in the agent's shell would only ask for it."""
    payload = typed(desk, f"/mem:lock {_TABS}")
    said = desk.call("claude-code", "prompt", payload, **_IN_AGENT)
    assert (said.code, said.err) == (0, "")
    assert _one(desk)["locked"] is True
    why = desk.told("why", str(_one(desk)["id"]))
    assert why.code == 0
    assert "claude" in why.out.lower()  # where it was said


def test_a_statement_is_remembered_as_it_was_typed(desk: Desk) -> None:
    said = desk.prompt(f"/mem:remember {_SHIP}")
    assert _SHIP in said
    assert (_one(desk)["text"], _one(desk)["locked"]) == (_SHIP, False)
    assert "knew already" in desk.prompt(f"/mem:remember {_SHIP}", session="s-2")
    assert len(desk.texts()) == 1


@pytest.mark.parametrize("by", ["id", "beginning", "words"])
def test_a_memory_is_named_by_its_id_its_beginning_or_words(desk: Desk, by: str) -> None:
    name = _known(desk, _TABS)
    _known(desk, _SHIP)
    given = {"id": name, "beginning": name[:5], "words": "indentation tabs"}[by]
    assert name in desk.prompt(f"/mem:lock {given}")
    assert {one["text"]: one["locked"] for one in desk.memories()} == {_TABS: True, _SHIP: False}
    assert name in desk.prompt(f"/mem:unlock {given}")
    assert not any(one["locked"] for one in desk.memories())


def test_confirm_moves_the_confidence_and_reject_dismisses(desk: Desk) -> None:
    name = _known(desk, _TABS)
    before = desk.memories()[0]["confidence"]
    assert name in desk.prompt(f"/mem:confirm {name}")
    better = desk.memories()[0]["confidence"]
    assert better > before
    assert name in desk.prompt("/mem:reject tabs indentation")
    assert desk.memories() == []


@pytest.mark.parametrize(
    "given",
    [
        "{id} {new}", "tabs indentation -> {new}", "tabs → {new}", "tabs => {new}",
        '"tabs indentation" {new}',         "“tabs indentation” {new}", "'indentation' {new}",
        "`tabs` {new}", "«tabs» {new}", "{id} -> {new}",
        '"tabs indentation" -> {new}',
    ],
)  # fmt: skip
def test_correct_supersedes_the_old_statement(desk: Desk, given: str) -> None:
    name = _known(desk, _TABS)
    new = "Always use four spaces for indentation."
    said = desk.prompt("/mem:correct " + given.format(id=name, new=new), **_IN_AGENT)
    assert _one(desk)["text"] == new
    assert name in said
    assert str(_one(desk)["id"]) in said
    assert [one["id"] for one in desk.memories("--status", "superseded")] == [name]


def test_a_locked_statement_that_the_user_corrects_stays_locked(desk: Desk) -> None:
    desk.prompt(f"/mem:lock {_TABS}")
    desk.prompt("/mem:correct tabs -> Always use four spaces for indentation.", **_IN_AGENT)
    assert (_one(desk)["text"], _one(desk)["locked"]) == ("Always use four spaces for indentation.", True)


def test_unknown_memory_is_reported(desk: Desk) -> None:
    _known(desk, _TABS)
    before = desk.memories()
    for command in (
        "unlock kubernetes",
        "confirm m2345abc",
        "reject the database",
        "correct kafka -> Use NATS.",
    ):
        said = desk.prompt(f"/mem:{command}")
        assert "was not carried out" in said, command
        assert "no memory fits" in said.lower(), command
    assert desk.memories() == before


def test_several_found_are_listed_with_their_ids(desk: Desk) -> None:
    names = [_known(desk, f"Deploy the {what} service with make ship.") for what in ("billing", "search")]
    said = desk.prompt("/mem:reject make ship")
    assert "was not carried out" in said
    assert all(name in said for name in names)
    assert len({one["confidence"] for one in desk.memories()}) == 1


@pytest.mark.parametrize("name", ["remember", "lock", "unlock", "confirm", "reject", "correct"])
def test_a_command_without_its_words_says_what_is_missing(desk: Desk, name: str) -> None:
    for given in (f"/mem:{name}", f"/mem:{name}   "):
        said = desk.prompt(given)
        assert f"/mem:{name} was not carried out" in said
    assert desk.texts() == []


def test_correct_without_the_new_statement_says_what_is_missing(desk: Desk) -> None:
    name = _known(desk, _TABS)
    for given in (name, '"tabs"', "tabs ->", "-> Use spaces."):
        assert "was not carried out" in desk.prompt(f"/mem:correct {given}"), given
    assert _one(desk)["text"] == _TABS


@pytest.mark.parametrize(
    "name", ["search pnpm", "wonder", "why tabs", "stats", "onboard", "checkpoint", "nonsense"]
)
def test_other_commands_are_left_to_the_agent(desk: Desk, name: str) -> None:
    _known(desk, "Always search with ripgrep, never grep; tabs are fine.")
    assert desk.prompt(f"/mem:{name}") == ""
    assert len(desk.texts()) == 1


def test_command_inside_a_sentence_is_not_run(desk: Desk) -> None:
    desk.prompt(f"What does /mem:lock {_TABS[:-1]} do?")
    assert not any(one["locked"] for one in desk.memories())


def test_text_of_a_command_file_is_not_part_of_the_command(desk: Desk) -> None:
    """Agents that expand a command show hooks the whole text: what was typed, and told's words about it."""
    about = f"{SLASH_END}told has seen it and has done it; one sentence to the user about it is enough."
    desk.prompt(f"/mem:lock {_TABS}{about}", "codex")
    assert (_one(desk)["text"], _one(desk)["locked"]) == (_TABS, True)
    for name in ("lock", "remember"):
        assert "was not carried out" in desk.prompt(f"/mem:{name} {about}", "gemini-cli")
    assert len(desk.texts()) == 1
    assert desk.prompt(f"/mem:search tabs{about}", "qwen-code") == ""


def test_several_lines_are_one_statement(desk: Desk) -> None:
    desk.prompt("/mem:remember Deploys need:\n- a green build\n- a review by the owner")
    assert "a review by the owner" in str(_one(desk)["text"])


def test_command_may_have_capitals_and_spaces(desk: Desk) -> None:
    desk.prompt(f"/mem:LOCK    {_TABS}")
    assert (_one(desk)["text"], _one(desk)["locked"]) == (_TABS, True)


def test_newline_may_follow_the_command(desk: Desk) -> None:
    desk.prompt(f"/mem:lock\n{_TABS}")
    assert (_one(desk)["text"], _one(desk)["locked"]) == (_TABS, True)


def test_agent_text_in_a_command_answer_is_fenced(desk: Desk) -> None:
    answer = desk.told
    desk.environ |= _IN_AGENT
    assert answer("remember", "The billing worker reads the outbox table.").code == 0
    for name in _IN_AGENT:
        desk.environ.pop(name)
    assert desk.memories() == []
    said = desk.prompt("/mem:confirm outbox")
    assert "told confirmed" in said
    assert "<agent " in said
    assert _one(desk)["trust"] == "agent"


def test_candidate_is_rejected_by_its_words(desk: Desk) -> None:
    desk.environ |= _IN_AGENT
    assert desk.told("remember", "The billing worker reads the outbox table.").code == 0
    for name in _IN_AGENT:
        desk.environ.pop(name)
    assert "was not carried out" in desk.prompt("/mem:unlock outbox")
    assert "told dismissed" in desk.prompt("/mem:reject outbox")
    assert desk.memories("--status", "candidate") == []
