"""What people read at 80 columns. TOLD_SNAPSHOTS=write stores the present output anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from told.cli.arguments import all_commands

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.machine import Machine

    Snapshot = Callable[[str, str], None]

NAMES = [command.name for command in all_commands() if not command.hidden]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("list", ("list",)),
        ("files", ("files",)),
        ("search", ("search", "cache", "ttl")),
        ("search-corrected", ("search", "kafak")),
        ("checkpoints", ("checkpoints",)),
        ("repos", ("repos",)),
        ("timeline", ("timeline",)),
        ("health", ("health",)),
        ("agents", ("agents",)),
        ("schema-check", ("schema-check",)),
    ],
)
def test_what_people_read(shop: Machine, snapshot: Snapshot, name: str, words: tuple[str, ...]) -> None:
    answer = shop.told(*words)
    assert (answer.code, answer.err) == (0, "")
    snapshot(name, answer.out.replace(str(shop.home), "~"))


@pytest.mark.parametrize("form", ["", "--turns", "--full"])
def test_what_people_read_of_one_session(shop: Machine, snapshot: Snapshot, form: str) -> None:
    copilot = shop.ids("--agent", "copilot")[0]
    claude = shop.ids("--project", "acme-api")[0]
    for name, session in (("show", claude), ("show-copilot", copilot)):
        answer = shop.told("show", session, *filter(None, [form]))
        assert (answer.code, answer.err) == (0, "")
        snapshot(f"{name}{form[1:]}", answer.out.replace(str(shop.home), "~"))


def test_what_people_read_of_one_turn_and_one_checkpoint(shop: Machine, snapshot: Snapshot) -> None:
    session = shop.ids("--project", "acme-api")[0]
    snapshot("show-turn", shop.told("show", f"{session}.0").out)
    note = shop.told("checkpoints", "--json").json["checkpoints"][0]["id"]
    snapshot("show-checkpoint", shop.told("show", note).out)


def test_what_people_read_for_help(machine: Machine, snapshot: Snapshot) -> None:
    snapshot("help", machine.told("help").out)
    for name in ("list", "search", "show"):
        snapshot(f"help-{name}", machine.told(name, "--help").out)


@pytest.mark.parametrize("name", ["", *NAMES])
def test_every_help_fits_80_columns(machine: Machine, name: str) -> None:
    answer = machine.told("help", *filter(None, [name]))
    assert answer.code == 0
    assert max(map(len, answer.out.splitlines())) <= 80
