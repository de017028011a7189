"""Shared scopes: what is said once for some projects holds in those, and nowhere else."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.machine import Machine

RULE = "Never log card numbers"


@pytest.fixture
def shop(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine with two projects; the current folder is the first."""
    machine.repo("work/pay", "git@github.com:acme/pay.git")
    monkeypatch.chdir(machine.repo("work/shop", "git@github.com:acme/shop.git"))
    return machine


def texts(machine: Machine) -> list[str]:
    return [row["text"] for row in machine.told("memories", "--json").json["memories"]]


def test_what_is_shared_holds_in_the_projects_that_subscribed(
    shop: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = shop.told("remember", RULE, "--json").json["id"]
    assert shop.told("scopes", "create", "cards").code == 0
    assert shop.told("scopes", "share", made, "cards").code == 0
    assert texts(shop) == [RULE]
    monkeypatch.chdir(shop.home / "work/pay")
    assert texts(shop) == []
    assert shop.told("brief", "--prompt", "log the card numbers of a payment").code == 1
    assert shop.told("scopes", "subscribe", "cards").code == 0
    assert texts(shop) == [RULE]
    assert RULE in shop.told("brief", "--prompt", "log the card numbers of a payment").out
    assert shop.told("scopes", "--json").json["scopes"] == [
        {"name": "cards", "memories": 1, "holds_here": True,
         "projects": ["github.com/acme/pay", "github.com/acme/shop"]},
    ]  # fmt: skip
    assert (
        shop.told("scopes").out
        == "cards (here): 1 memory; applies to github.com/acme/pay, github.com/acme/shop\n"
    )
    assert shop.told("scopes", "unsubscribe", "cards").code == 0
    assert texts(shop) == []


def test_subscriptions_are_restored_from_the_journal(shop: Machine) -> None:
    shop.told("scopes", "create", "cards")
    shop.told("scopes", "subscribe", "cards")
    shop.told("remember", "--scope", "cards", RULE)
    before = shop.told("scopes").out
    assert shop.told("rebuild").code == 0
    assert shop.told("scopes").out == before
    assert texts(shop) == [RULE]


def test_subscriptions_follow_a_project_that_gets_a_remote(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = machine.repo("work/new")
    monkeypatch.chdir(place)
    machine.claude(("fix the footer", "Done."), cwd=place)
    machine.told("scopes", "create", "cards")
    machine.told("scopes", "subscribe", "cards")
    machine.told("remember", "--scope", "cards", RULE)
    subprocess.run(["git", "-C", place, "remote", "add", "origin", "git@github.com:acme/new.git"], check=True)
    machine.claude(("fix the header", "Done."), cwd=place)
    assert texts(machine) == [RULE]
    assert "github.com/acme/new" in machine.told("scopes").out


def test_an_agent_changes_nothing_of_what_projects_share(shop: Machine) -> None:
    shop.environ["CLAUDECODE"] = "1"
    answer = shop.told("scopes", "create", "cards")
    assert (answer.code, answer.out) == (2, "")
    assert "Only you can change what projects share" in answer.err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["scopes"], 1, "There are no shared scopes yet."),
        (["scopes", "make", "cards"], 2, "Use `told scopes`"),
        (["scopes", "share", "cards"], 2, "Use `told scopes`"),
        (["scopes", "create", "a b"], 2, "is no name for a scope"),
        (["scopes", "create", "global"], 2, "has a meaning of its own"),
        (["scopes", "subscribe", "cards"], 1, "There is no shared scope 'cards'."),
        (["remember", "--scope", "cards", RULE], 1, "There is no shared scope 'cards'."),
    ],
)
def test_what_cannot_be_is_one_sentence(shop: Machine, words: list[str], code: int, said: str) -> None:
    answer = shop.told(*words)
    assert (answer.code, answer.out) == (code, "")
    assert said in answer.err
    assert answer.err.count("\n") == 1


def test_the_home_folder_subscribes_to_nothing(machine: Machine) -> None:
    machine.told("scopes", "create", "cards")
    answer = machine.told("scopes", "subscribe", "cards")
    assert (answer.code, answer.out) == (2, "")
    assert "belongs to no project" in answer.err
