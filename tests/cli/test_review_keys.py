"""`told review` at a terminal: single keys, undo, and a terminal that is as before in the end."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from tests.cli.reviewing import CHANCE, FACT, HABIT, LOCKED, RULE, SPACES, VAGUE, fill_desk

if TYPE_CHECKING:
    from tests.cli.machine import Machine

pytest.importorskip("termios")

from tests.cli.terminal import Terminal
from tests.soak import points, sampled


@pytest.fixture
def desk(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return fill_desk(machine, monkeypatch)


def open_review(desk: Machine, *words: str, columns: int = 80, **variables: str) -> Terminal:
    environ = desk.environ | variables
    return Terminal(["review", *words], environ, desk.home / "work/shop", columns)


def status(desk: Machine, text: str) -> tuple[str, str, bool]:
    found = [
        one
        for name in ("active", "candidate", "dismissed", "superseded", "quarantined")
        for one in desk.told("memories", "-n", "99", "--status", name, "--json").json["memories"]
        if one["text"] == text
    ]
    return found[0]["status"], found[0]["scope"], found[0]["locked"]


def test_each_key_does_what_it_says(desk: Machine) -> None:
    desk.told("scopes", "create", "style")
    with open_review(desk) as terminal:
        screen = terminal.wait_for("1 of 6 · rule · acme/shop · conflict")
        assert f"New: {SPACES}" in screen
        assert f"“{SPACES} Then format it.”" in screen
        assert f"Old: {LOCKED}  (locked, acme/shop)" in screen
        assert terminal.type("?", "Use the new one; it replaces the old one.")
        screen = terminal.type("d", "2 of 6 · fact · acme/shop · proposal")
        assert screen.startswith(f"dismissed {SPACES}\n\n2 of 6")
        assert "claude asks to lock it." in screen
        screen = terminal.type("k", "3 of 6 · rule · acme/shop · learned")
        assert f"“Looks good. {RULE} Now" in screen
        assert terminal.type("l", "4 of 6 · rule · acme/shop · candidate")
        assert terminal.type("s", "p acme/shop  g global  v private  1 style  Esc cancel")
        assert terminal.type("1", "5 of 6 · fact · acme/shop · candidate")
        typed = "\x01\x0bReports go to the cellar bucket.\n"  # Ctrl-A, Ctrl-K
        assert terminal.type("e" + typed, "6 of 6 · fact · acme/shop · candidate")
        assert terminal.type(
            "x\x1b[Ak", "Kept 2, edited 1, locked 1, moved 1, dismissed 1. Nothing more waits."
        )
        terminal.finish()
        assert terminal.process.returncode == 0
    assert status(desk, SPACES)[0] == "dismissed"
    assert status(desk, FACT) == status(desk, RULE) == ("active", "project", True)
    assert status(desk, HABIT) == ("active", "style", False)
    assert status(desk, CHANCE)[0] == "superseded"
    assert status(desk, "Reports go to the cellar bucket.") == ("active", "project", False)
    assert status(desk, VAGUE)[0] == "active"


def test_undo_goes_back_one_by_one_and_quitting_keeps_what_was_decided(desk: Machine) -> None:
    with open_review(desk, "--limit", "4") as terminal:
        terminal.wait_for("1 of 4 ")
        terminal.type("u", "There is nothing to undo in this review.")
        terminal.type("k", "2 of 4 ")
        terminal.type("n", "3 of 4 ")
        terminal.type("d", "4 of 4 ")
        assert "3 of 4 · rule" in terminal.type("u", f"\n{RULE}\n")
        terminal.type("u", "2 of 4 ")
        screen = terminal.type("u", f"New: {SPACES}")
        assert screen.count("undone") == 3
        assert status(desk, LOCKED)[0] == "active"
        terminal.type("b", "2 of 4 ")
        assert terminal.type("q", "Kept 1; 5 more wait.")
        terminal.finish()
        assert terminal.process.returncode == 0
    assert status(desk, SPACES)[0] == status(desk, LOCKED)[0] == "active"
    assert status(desk, RULE) == ("active", "project", False)


def test_ctrl_c_and_a_signal_restore_the_terminal(desk: Machine) -> None:
    for stop in ("\x03", "", "\x04")[: points(everyday=2, soak=3)]:
        with open_review(desk, "--kind", "rule") as terminal:
            terminal.wait_for("1 of 3 ")
            terminal.type("n", "2 of 3 ")
            if stop:
                terminal.press(stop)
            else:
                os.kill(terminal.process.pid, signal.SIGTERM)
            assert terminal.finish().rstrip().endswith("Skipped 1; 2 more wait.")
            assert terminal.process.returncode == (0 if stop == "\x04" else 130)
    assert status(desk, RULE) == ("active", "project", False)


@pytest.mark.parametrize("columns", sampled((40, 120), (40,)))
def test_nothing_is_wider_than_the_terminal(desk: Machine, columns: int) -> None:
    with open_review(desk, columns=columns) as terminal:
        terminal.wait_for("? help")
        assert max(map(len, terminal.screen.splitlines())) <= columns
        for number in range(2, 7):
            terminal.type("n", f"{number} of 6 ")
            terminal.wait_for("? help")
            assert max(map(len, terminal.screen.splitlines())) <= columns
            assert terminal.screen.count("? help") == 1  # drawn over the last one
        terminal.type("n", "Skipped 6.")
        terminal.finish()


def test_a_dumb_terminal_gets_a_line_prompt(desk: Machine) -> None:
    with open_review(desk, "--kind", "fact", TERM="dumb") as terminal:
        terminal.wait_for("1 of 3 ")
        terminal.type("d\n", "2 of 3 ")
        terminal.type("keep\n", "3 of 3 ")
        assert "\x1b" not in terminal.printed
        terminal.type("q\n", "Kept 1, dismissed 1; ")
        terminal.finish()
