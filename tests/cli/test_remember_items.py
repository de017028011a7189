"""Several statements at once, from agents: what the user typed is the user's word, the rest waits."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.asking import Asking
from tests.cli.machine import remember
from told.memories.session_notes import NotesFile, note_running

if TYPE_CHECKING:
    from tests.cli.machine import Machine

TYPED = "We deploy with Helm now, not by hand. Never push to main. Could you list the files?"
DEPLOY = {
    "text": "Deploys go through Helm, not by hand.",
    "quote": "we deploy with Helm now",
    "kind": "decision",
}
PUSH = {"text": "Never push to main.", "quote": "never push to main", "kind": "rule"}
MADE_UP = {"text": "Skip the tests.", "quote": "you may always skip the tests"}


@pytest.fixture
def desk(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Claude Code in a repository, in a session with one prompt; told learns nothing by itself."""
    machine.environ["TOLD_LEARN"] = "off"
    folder = machine.repo("work/shop", "git@github.com:acme/shop.git")
    monkeypatch.chdir(folder)
    machine.claude((TYPED, "Here they are."), session="s-1", cwd=folder)
    machine.told("list")
    note_running(str(machine.told_home), 1_794_744_000_000, "claude-code", "s-1", folder)
    return machine


def _say(desk: Machine, *items: dict[str, Any]) -> list[str]:
    folder = str(desk.home / "work/shop")
    return Asking(desk, "claude-code", folder).say("remember", items=list(items)).splitlines()


def _texts(desk: Machine, status: str = "active") -> list[str]:
    return sorted(row["text"] for row in desk.told("memories", "--json", "--status", status).json["memories"])


def test_every_item_has_its_line(desk: Machine) -> None:
    lines = _say(desk, DEPLOY, PUSH, MADE_UP)

    assert [line.split(" as ")[1] for line in lines] == [
        "the user's word.", "the user's word.",
        "a candidate: the user did not type the quote in this session.",
    ]  # fmt: skip
    assert _texts(desk) == [DEPLOY["text"], PUSH["text"]]
    assert desk.told("why", "--json", lines[0].split()[1]).json["evidence"][0]["quote"] == DEPLOY["quote"]


def test_an_item_that_is_known_is_not_doubled(desk: Machine) -> None:
    _say(desk, PUSH)

    assert _say(desk, PUSH)[0].startswith("Already known")
    assert len(_texts(desk)) == 1


def test_a_proven_item_replaces_what_it_names(desk: Machine) -> None:
    old = remember(desk, "Deploys are done by hand on Fridays")
    other = remember(desk, "The deploy page is green")

    lines = _say(desk, DEPLOY | {"replaces": [old]})

    assert any(old in line and "supersedes" in line for line in lines)
    assert _texts(desk) == [DEPLOY["text"], "The deploy page is green"]
    assert desk.told("why", "--json", other).json["status"] == "active"


def test_an_item_names_what_it_replaces_by_its_text(desk: Machine) -> None:
    remember(desk, "Deploys are done by hand on Fridays")

    _say(desk, DEPLOY | {"replaces": "Deploys are done by hand on Fridays"})

    assert _texts(desk) == [DEPLOY["text"]]


def test_an_unproven_item_replaces_nothing(desk: Machine) -> None:
    old = remember(desk, "Run the tests before each push")

    _say(desk, MADE_UP | {"replaces": [old]})

    assert _texts(desk) == ["Run the tests before each push"]


def test_a_locked_memory_is_never_replaced(desk: Machine) -> None:
    old = remember(desk, "--lock", "Deploys are done by hand on Fridays")

    lines = _say(desk, DEPLOY | {"replaces": [old]})

    assert any("Saved as proposal" in line for line in lines)
    assert "Deploys are done by hand on Fridays" in _texts(desk)


def test_one_bad_item_does_not_stop_the_others(desk: Machine) -> None:
    lines = _say(desk, {"text": "?!", "quote": "x"}, PUSH, PUSH | {"kind": "wish"})

    assert lines[0].startswith("Remembered")
    assert [line.split(" was ")[0] for line in lines[1:]] == ["Item 1", "Item 3"]
    assert _texts(desk) == [PUSH["text"]]


def test_the_prompt_of_this_moment_counts_before_its_transcript_is_read(desk: Machine) -> None:
    file = NotesFile(str(desk.told_home), "claude-code", "s-1")
    file.write(file.read().add_prompt(1_794_744_000_000, "From now on invoices are rounded to cents."))

    lines = _say(desk, {"text": "Invoices are rounded to cents.", "quote": "invoices are rounded to cents"})

    assert "as the user's word" in lines[0]


def test_a_subagent_proves_nothing_with_what_its_agent_asked(machine: Machine) -> None:
    folder = machine.repo("work/shop", "git@github.com:acme/shop.git")
    machine.claude(("Say hello", "Hello"), session="s-1", cwd=folder, helper=(TYPED, "Done."))
    machine.told("list")
    note_running(str(machine.told_home), 1_794_744_000_000, "claude-code", "s-1", folder)

    assert "as a candidate" in Asking(machine, "claude-code", folder).say("remember", items=[PUSH])


def test_an_agent_without_mcp_gives_them_on_standard_input(
    desk: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.environ["CLAUDECODE"] = "1"
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps([DEPLOY, MADE_UP])))

    done = desk.told("remember", "--items", "-")

    assert (done.code, done.err) == (0, "")
    assert "as the user's word" in done.out
    assert "as a candidate" in done.out
    row = desk.told("remember", "--json", "--items", json.dumps([PUSH])).json["items"][0]
    assert (row["trust"], row["unproven"]) == ("user", None)


def test_at_a_terminal_the_users_items_need_no_proof(desk: Machine) -> None:
    done = desk.told("remember", "--items", json.dumps([{"text": "Use tabs."}, "Use spaces in YAML."]))

    assert done.code == 0
    assert "candidate" not in done.out
    assert _texts(desk) == ["Use spaces in YAML.", "Use tabs."]


@pytest.mark.parametrize(
    "given", ["", "{}", "[]", "nonsense", "[1]", '[{"text": 1}]', '[{"text": "x", "trust": "user"}]']
)
def test_bad_items_are_refused_in_one_sentence(desk: Machine, given: str) -> None:
    done = desk.told("remember", "--items", given)

    assert done.code == 2
    assert len(done.err.splitlines()) == 1
    assert _texts(desk) == []


def test_a_proven_correction_replaces_the_users_memory(desk: Machine) -> None:
    old = remember(desk, "Deploys are done by hand on Fridays")
    folder = str(desk.home / "work/shop")

    said = Asking(desk, "claude-code", folder).say(
        "correct", id=old, **{k: DEPLOY[k] for k in ("text", "quote")}
    )

    assert said.startswith(f"Replaced {old}")
    assert _texts(desk) == [DEPLOY["text"]]
