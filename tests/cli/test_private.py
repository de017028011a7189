"""Private memories: used on this machine like others, and never written where they could leave it."""

from __future__ import annotations

import itertools
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.machine import NOW, ago
from told.journal.files import Operation, journal_folder
from told.journal.private import find_private_memories, is_private_operation
from told.journal.read import read_operations

if TYPE_CHECKING:
    from tests.cli.machine import Machine

CANARY = "The canary box runs on host heron42"


@pytest.fixture
def shop(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine with two projects and a clock that goes on; the current folder is the first."""
    seconds = itertools.count(int(NOW.timestamp()))
    monkeypatch.setattr(time, "time_ns", lambda: next(seconds) * 10**9)
    machine.repo("work/pay", "git@github.com:acme/pay.git")
    monkeypatch.chdir(machine.repo("work/shop", "git@github.com:acme/shop.git"))
    return machine


def listed(machine: Machine, *options: str) -> dict[str, str]:
    rows = machine.told("memories", "--json", *options).json.get("memories", [])
    return {row["text"]: row["scope"] for row in rows}


def remember(machine: Machine, text: str, *options: str) -> str:
    return str(machine.told("remember", text, "--json", *options).json["id"])


def operations(machine: Machine) -> list[Operation]:
    found = read_operations(journal_folder(str(machine.told_home)))
    return [one for one in found if isinstance(one, Operation)]


def bytes_below(folder: Path) -> bytes:
    return b"\n".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def test_a_private_memory_applies_like_others(shop: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    remember(shop, CANARY, "--scope", "private")
    made = remember(shop, "Deploy the shop with the heron key", "--scope", "private:project")
    remember(shop, "Never log card numbers")
    assert listed(shop, "--scope", "private") == {
        CANARY: "private", "Deploy the shop with the heron key": "private:project",
    }  # fmt: skip
    assert len(listed(shop)) == 3
    assert CANARY in shop.told("brief", "--prompt", "which host does the canary box run on?").out
    assert CANARY in shop.told("search", "canary box").out
    row = shop.told("show", made, "--json").json
    assert (row["scope"], row["project"]) == ("private:project", "github.com/acme/shop")
    assert "private:project" in shop.told("memories").out
    monkeypatch.chdir(shop.home / "work/pay")
    assert listed(shop) == {CANARY: "private"}
    assert listed(shop, "--scope", "private", "--all-projects").keys() == {
        CANARY, "Deploy the shop with the heron key",
    }  # fmt: skip
    before = shop.told("memories", "--all-projects", "--json").out
    assert shop.told("rebuild").code == 0
    assert shop.told("memories", "--all-projects", "--json").out == before


def test_private_is_no_name_for_a_shared_scope(shop: Machine) -> None:
    answer = shop.told("scopes", "create", "private")
    assert answer.code == 2
    assert "'private' has a meaning of its own" in answer.err
    assert shop.told("remember", "--scope", "private:other", CANARY).code == 2


def test_a_project_never_gets_a_private_byte(shop: Machine) -> None:
    assert shop.told("init").code == 0
    project = Path.cwd() / ".told"
    public = remember(shop, "Never log card numbers")
    assert b"Never log card" in bytes_below(project)
    private = remember(shop, CANARY, "--scope", "private:project", "--replaces", public)
    everywhere = remember(shop, "The heron42 key is in the drawer", "--scope", "private")
    narrowed = remember(shop, "Write docs for the warehouse API")
    shop.told("scopes", "private", narrowed)
    before = bytes_below(project)
    for words in (
        ("lock", private),
        ("unlock", private),
        ("confirm", everywhere),
        ("correct", narrowed, "Write docs for the heron42 API"),
        ("correct", private, "The canary box runs on host heron42 since May"),
        ("reject", everywhere),
        ("undo",),
    ):
        assert shop.told(*words).code == 0, words
    assert bytes_below(project) == before
    found = bytes_below(project)
    for canary in (CANARY, "heron42", private, everywhere):
        assert canary.encode() not in found


def test_making_a_memory_private_says_what_it_does_not_undo(shop: Machine) -> None:
    shop.told("init")
    made = remember(shop, "Write docs for the warehouse API")
    answer = shop.told("scopes", "private", made)
    assert answer.code == 0
    assert "Copies that were shared, synced or exported before are not recalled." in answer.out
    assert f"Its text is still in {os.path.realpath('.told/journal')}." in answer.out
    assert listed(shop) == {"Write docs for the warehouse API": "private:project"}
    assert f"{made} is already private." in shop.told("scopes", "private", made).out
    assert shop.told("undo").code == 0
    assert listed(shop) == {"Write docs for the warehouse API": "project"}


def test_publishing_writes_a_new_memory_and_the_old_operations_stay_private(shop: Machine) -> None:
    shop.told("init")
    private = remember(shop, CANARY, "--scope", "private:project")
    answer = shop.told("scopes", "share", private, "project")
    assert answer.code == 0, answer.err
    assert f"It is a new memory: {private} and its history stay private." in answer.out
    rows = shop.told("memories", "--json").json["memories"]
    assert [(row["text"], row["scope"]) for row in rows] == [(CANARY, "project")]
    public = rows[0]["id"]
    assert public != private
    assert private in shop.told("why", public).out  # the link is known here
    everything = operations(shop)
    private_ids = find_private_memories(everything)
    assert private_ids == {private}
    leaving = [one for one in everything if one.memory and not is_private_operation(one, private_ids)]
    assert [(one.kind, one.memory) for one in leaving] == [("remember", public)]
    assert all(private not in json.dumps(one.payload) and "part" not in one.payload for one in leaving)  # type: ignore[operator]
    project = bytes_below(Path.cwd() / ".told")
    assert public.encode() in project
    assert private.encode() not in project
    assert shop.told("undo").code == 0
    assert listed(shop) == {CANARY: "private:project"}


def test_what_repeats_a_private_memory_stays_private(shop: Machine) -> None:
    made = remember(shop, CANARY, "--scope", "private:project")
    again = shop.told("remember", CANARY)
    assert f"told scopes share {made} project" in again.out
    shop.told("remember", CANARY, "--scope", "global")
    shop.claude(("Remember: the canary box runs on host heron42", "Noted."), cwd=os.getcwd(), at=ago(hours=1))
    assert shop.told("index").code == 0
    assert listed(shop, "--all-projects") == {CANARY: "private:project"}
    newer = shop.told(
        "remember", "The canary box no longer runs on host heron42 but on host egret7", "--json"
    )
    assert newer.json["scope"] == "private:project"


def test_an_agent_neither_widens_nor_narrows(shop: Machine) -> None:
    private = remember(shop, CANARY, "--scope", "private:project")
    public = remember(shop, "Never log card numbers")
    shop.environ["CLAUDECODE"] = "1"
    assert shop.told("scopes", "share", private, "project").code != 0
    assert shop.told("review", "scope", private, "global").code != 0
    proposed = shop.told("scopes", "private", public, "--json").json
    assert proposed["proposals"]
    assert proposed["scope"] == "project"
    shop.told("remember", CANARY, "--scope", "global")
    shop.told("correct", private, "The canary box runs on host egret7")
    del shop.environ["CLAUDECODE"]
    assert {row["scope"] for row in rows_about(shop, "canary")} == {"private:project"}
    assert listed(shop)["Never log card numbers"] == "project"
    assert shop.told("proposals", "accept", proposed["proposals"][0]).code == 0
    assert listed(shop)["Never log card numbers"] == "private:project"


def rows_about(machine: Machine, word: str) -> list[dict[str, Any]]:
    statuses = ("active", "quarantined", "candidate")
    return [
        row
        for status in statuses
        for row in machine.told("memories", word, "--status", status, "--all-projects", "--json").json.get(
            "memories", []
        )
    ]


def test_an_agents_own_private_memory_is_private(shop: Machine) -> None:
    shop.environ["CLAUDECODE"] = "1"
    items = json.dumps([{"text": CANARY, "scope": "private"}])
    assert shop.told("remember", "--items", items).code == 0
    del shop.environ["CLAUDECODE"]
    assert {row["scope"] for row in rows_about(shop, "canary")} == {"private"}


def test_a_private_memory_follows_its_project(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    place = machine.repo("work/new")
    monkeypatch.chdir(place)
    machine.claude(("fix the footer", "Done."), cwd=place)
    machine.told("index")
    remember(machine, CANARY, "--scope", "private:project")
    machine.repo("work/new", "git@github.com:acme/new.git")
    machine.claude(("fix the header", "Done."), cwd=place)
    machine.told("index")
    assert listed(machine, "--scope", "private") == {CANARY: "private:project"}
    row = machine.told("memories", "--json").json["memories"][0]
    assert row["project"] == "github.com/acme/new"


def test_review_moves_a_memory_to_private_and_back(shop: Machine) -> None:
    made = remember(shop, CANARY)
    assert shop.told("review", "scope", made, "private:project").code == 0
    assert listed(shop) == {CANARY: "private:project"}
    assert shop.told("review", "scope", made, "global").code == 0
    assert listed(shop) == {CANARY: "global"}
    assert listed(shop, "--status", "superseded") == {CANARY: "private:project"}


@pytest.mark.parametrize("private", [False, True])
def test_a_checkpoint_has_no_private_memory(shop: Machine, *, private: bool) -> None:
    shop.told("init")
    said = "From now on always deploy the canary box from host heron42"
    turns = ((said, "Noted."), ("From now on always use tabs in Makefiles", "Noted."), ("fix it", "Done."))
    shop.claude(*turns, at=ago(hours=2), cwd=os.getcwd())
    shop.told("index")
    (memory,) = [row for row in rows_about(shop, "canary") if row["status"] == "active"]
    if private:
        shop.told("scopes", "private", memory["id"])
    made = shop.told("checkpoint", "--json").json
    decisions = Path(made["path"]).read_text().partition("## Decisions")[2].partition("\n## ")[0]
    assert "Makefiles" in decisions
    assert ("heron42" in decisions) != private


def test_confirming_a_candidate_does_not_publish_a_private_memory(shop: Machine) -> None:
    shop.environ["CLAUDECODE"] = "1"
    shop.told("remember", CANARY, "--kind", "fact")
    del shop.environ["CLAUDECODE"]
    waiting = rows_about(shop, "canary")
    private = remember(shop, CANARY, "--scope", "private:project")
    for row in waiting:
        shop.told("confirm", row["id"])
    active = shop.told("memories", "--all-projects", "--json").json["memories"]
    assert {(row["id"], row["scope"]) for row in active if "canary" in row["text"]} == {
        (private, "private:project")
    }
