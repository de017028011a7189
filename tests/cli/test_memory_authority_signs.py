"""Whichever agent's shell it is: what is the user's stays as it is. A script is the user's own hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.machine import ago
from tests.cli.test_learning import desk, memories, say, texts
from tests.soak import thinned
from told.agents import installed_agents
from told.memories.caller import detect_caller

if TYPE_CHECKING:
    from tests.cli.machine import Machine

__all__ = ["desk"]


SIGNS = [sign.variable for agent in installed_agents().values() for sign in agent.shell_signs]


@pytest.mark.parametrize("sign", thinned(SIGNS, 6))
def test_no_agents_shell_changes_what_is_the_users(desk: Machine, sign: str) -> None:
    rule = desk.told("remember", "--json", "Never deploy on a Friday").json["id"]
    held = desk.told("lock", "--json", "Use tabs for indentation").json["id"]
    desk.told("scopes", "create", "money")
    before = memories(desk, "-n", "100"), desk.told("scopes", "--json").out
    asked = [
        ("lock", rule), ("unlock", held), ("correct", rule, "Deploy on any day"),
        ("correct", held, "Use spaces for indentation"), ("forget", rule, "--force"),
        ("forget", held, "--force"), ("forget", "--since", "2026-01-01", "--force"), ("reject", rule),
        ("confirm", rule), ("remember", "--lock", "From now on deploy on a Friday"), ("undo",),
        ("scopes", "subscribe", "money"), ("scopes", "share", rule, "money"), ("scopes", "create", "design"),
    ]  # fmt: skip
    desk.environ[sign] = "1"
    codes = [desk.told(*words).code for words in asked]
    waiting = desk.told("proposals", "--json").json["proposals"]
    assert {desk.told("proposals", "accept", one["id"]).code for one in waiting} == {2}
    del desk.environ[sign]
    assert set(codes) <= {0, 2}
    mine = [row for row in memories(desk, "-n", "100") if row["trust"] == "user"]
    assert (mine, desk.told("scopes", "--json").out) == before
    assert {one["action"] for one in waiting} >= {"lock", "unlock", "correct", "forget"}
    assert {one["agent"] for one in waiting} == {detect_caller({sign: "1"}).agent}


def test_a_script_is_the_users_own_hand(desk: Machine) -> None:
    folder = desk.home / "work/shop"
    made = desk.child("lock", "Never deploy on a Friday", cwd=folder)
    assert (made.code, made.err) == (0, "")
    (row,) = memories(desk)
    assert (row["locked"], row["trust"]) == (True, "user")
    assert desk.told("unlock", row["id"]).code == 0
    assert desk.child("correct", row["id"], "Deploy on any day", cwd=folder).code == 0
    assert texts(desk) == ["Deploy on any day"]
    assert desk.told("proposals").code == 1


@pytest.mark.parametrize("locked", [False, True])
def test_what_was_typed_into_a_session_ends_an_older_memory_unless_it_is_locked(
    desk: Machine, monkeypatch: pytest.MonkeyPatch, locked: bool
) -> None:
    old = "Always use npm to install packages in this repo."
    new = "From now on always use pnpm to install packages in this repo, never npm."
    monkeypatch.setattr("time.time_ns", lambda: int(ago(days=9).timestamp()) * 10**9)
    made = desk.told("lock" if locked else "remember", "--json", old).json["id"]
    monkeypatch.setattr("time.time_ns", lambda: int(ago().timestamp()) * 10**9)
    say(desk, "add the date picker", new, at=ago(days=1))
    assert desk.told("index").code == 0
    assert texts(desk) == [old if locked else new]
    why = desk.told("why", made, "--json").json
    assert why["status"] == ("active" if locked else "superseded")
    waiting = desk.told("proposals", "--json")
    assert bool(waiting.json["proposals"] if waiting.out else []) is locked
