"""Two machines that sync, as the user sees them: conflicts and checkpoints."""

from __future__ import annotations

import itertools
import platform
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.machine import NOW, Answer, Machine
from tests.soak import thinned

Told = Callable[..., Answer]


@pytest.fixture
def pair(machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Told, Told]:
    """Two machines, "laptop" and "vm", that sync through a folder; each command takes a second."""
    seconds = itertools.count(int(NOW.timestamp()))
    current = [0]
    monkeypatch.setattr(time, "time_ns", lambda: current[0] * 10**9)
    (tmp_path / "drive").mkdir()

    def runner(name: str) -> Told:
        def run(*words: str, code: int = 0, **variables: str) -> Answer:
            current[0] = next(seconds)
            monkeypatch.setattr(platform, "node", lambda: name)
            answer = machine.told(*words, TOLD_HOME=str(tmp_path / name), **variables)
            assert answer.code == code, answer
            return answer

        return run

    laptop, vm = runner("laptop"), runner("vm")
    laptop("sync", "folder", str(tmp_path / "drive"))
    vm("sync", "join", laptop("sync", "code", "--json").json["code"], "folder", str(tmp_path / "drive"))
    return laptop, vm


def diverge(laptop: Told, vm: Told) -> tuple[str, str, str]:
    """Correct one memory on both machines; return the ids of the memory and its two corrections."""
    name = laptop("remember", "Use make to build.", "--json").json["id"]
    for one in (laptop, vm):
        one("sync")
    first = vm("correct", name, "Use npm to build.", "--json").json["id"]
    second = laptop("correct", name, "Use pnpm to build.", "--json").json["id"]
    for one in (laptop, vm, laptop):
        one("sync")
    return name, first, second


def test_why_and_review_show_both_sides(pair: tuple[Told, Told]) -> None:
    laptop, vm = pair
    name, first, second = diverge(laptop, vm)
    for one, kept, other in ((laptop, "On this machine", "On another machine (vm)"),
                             (vm, "On another machine (laptop)", "On this machine")):  # fmt: skip
        why = one("why", name).out
        assert f"{other}, " in why
        assert "Use npm to build." in why
        review = one("review", "--all-projects").out
        assert f"{second} conflict" in review
        assert f"{kept}, " in review
        assert f"{other}, " in review
        assert "Use npm to build." in review
        (item,) = one("review", "--all-projects", "--json").json["items"]
        assert (item["memory"]["id"], item["other"]["id"]) == (second, first)
        assert item["machines"]["changed"] == name
        (row,) = one("why", name, "--json").json["machines"]
        assert (row["field"], row["waiting"]) == ("text", True)
        assert "Use npm to build." in one("why", second, "--json").json["machines"][0]["value"]
        assert "Use pnpm to build." in one("why", first, "--json").json["machines"][0]["value"]


def test_a_choice_counts_on_both_machines(pair: tuple[Told, Told]) -> None:
    laptop, vm = pair
    _, first, second = diverge(laptop, vm)
    vm("review", "dismiss", second)
    for one in (vm, laptop):
        one("sync")
        one("review", "--all-projects", code=1)
    assert [row["id"] for row in laptop("memories", "--json").json["memories"]] == [first]


def test_agents_do_not_choose(pair: tuple[Told, Told]) -> None:
    laptop, vm = pair
    _, _, second = diverge(laptop, vm)
    refused = vm("review", "keep", second, code=2, CLAUDECODE="1")
    assert "decide" in refused.err
    assert len(vm("review", "--all-projects", "--json").json["items"]) == 1


def test_at_a_terminal(pair: tuple[Told, Told], machine: Machine, tmp_path: Path) -> None:
    laptop, vm = pair
    name, _, _ = diverge(laptop, vm)
    page = machine.at_terminal("why", name, TOLD_HOME=str(tmp_path / "laptop")).out
    assert "On another machine (vm)" in page


@pytest.mark.parametrize(("key", "kept"), thinned([("k", [1]), ("d", [0]), ("b", [0, 1])], 3))
def test_a_key_of_review_counts_on_both_machines(
    pair: tuple[Told, Told], machine: Machine, tmp_path: Path, key: str, kept: list[int]
) -> None:
    pytest.importorskip("termios")
    from tests.cli.terminal import Terminal

    laptop, vm = pair
    _, *corrections = diverge(laptop, vm)
    environ = machine.environ | {"TOLD_HOME": str(tmp_path / "laptop")}
    with Terminal(["review", "--all-projects"], environ, machine.home) as terminal:
        screen = terminal.wait_for("1 of 1")
        assert "On another machine (vm)" in screen
        assert "Use npm to build." in screen
        assert "Use the other one on all machines." in terminal.type("?", "Keep both.")
        terminal.type(key, "Nothing more waits.")
        terminal.finish()
        assert terminal.process.returncode == 0
    for one in (laptop, vm):
        one("sync")
        one("review", "--all-projects", code=1)
        rows = one("memories", "--all-projects", "--json").json["memories"]
        assert {row["id"] for row in rows} == {corrections[at] for at in kept}


def test_a_checkpoint_goes_along_and_is_forgotten_everywhere(
    pair: tuple[Told, Told], tmp_path: Path, machine: Machine
) -> None:
    laptop, vm = pair
    public = laptop("checkpoint", "Move the canary shop", "--json").json["id"]
    laptop("sync")
    vm("sync", "--checkpoints")
    vm("checkpoints", "--all-projects", code=1)
    laptop("sync", "--checkpoints")
    vm("sync")  # the option stays on
    rows = vm("checkpoints", "--all-projects", "--json").json["checkpoints"]
    assert [(row["id"], row["status"]) for row in rows] == [(public, "open")]
    receipt = laptop("forget", public, "--force").out
    assert "Waiting for 1 machine: vm" in receipt
    vm("sync")
    vm("checkpoints", "--all-projects", code=1)
    laptop("sync")
    assert "Confirmed by vm" in laptop("forget", public, "--receipt").out
    left = [path for path in tmp_path.rglob("*") if path.is_file() and b"canary" in path.read_bytes()]
    assert left == []


def test_agents_do_not_turn_checkpoints_on(pair: tuple[Told, Told], tmp_path: Path) -> None:
    laptop, _ = pair
    laptop("checkpoint", "Move the shop")
    laptop("sync", "--checkpoints", CLAUDECODE="1")
    assert not laptop("sync", "status", "--json").json["spaces"][0]["checkpoints"]
