"""The same question, the same clock and the same past give the same answer, to the byte."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import told
from tests.cli.machine import NOW, ago
from tests.cli.test_learning import desk, say
from tests.soak import points, sampled

if TYPE_CHECKING:
    from tests.cli.machine import Machine

__all__ = ["desk"]

RUNS = points(everyday=3, soak=100)
SESSION = "0f0f0f0f-0000-4000-8000-0000000000bb"
PROMPT = "deploy the gateway and run the tests before you push to main"
HISTORY = [
    "Never push straight to main, always open a pull request.",
    "Always run the tests with pytest -q before you push.",
    "We deploy the gateway with `scripts/ship.sh`, never by hand.",
    "The gateway listens on port 8443.",
    "Prefer pnpm over npm.",
    "Never deploy on a Friday.",
    "Always deploy to staging first.",
    "Tests must not need the network.",
]
QUESTIONS = [
    ("brief", "--prompt", PROMPT),
    ("brief",),
    ("explain", PROMPT),
    ("wonder", "gateway"),
    ("reason", "do we deploy the gateway by hand?"),
    ("search", "deploy gateway tests"),
]
# Asks told several questions with the clock of the tests, and prints the answers as JSON.
FROZEN = f"""
import contextlib, io, json, os, sys, time
sys.path.insert(0, {str(Path(told.__file__).parents[1])!r})
time.time_ns = lambda: {int(NOW.timestamp())} * 10**9
from told.cli.main import main
answers = []
for words in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(words, dict(os.environ)) == 0
    answers.append(out.getvalue())
print(json.dumps(answers))
"""


def learn(machine: Machine) -> None:
    """Have the same things said in sessions and at the terminal, some in the same second."""
    for number, said in enumerate(HISTORY):
        session = f"00000000-0000-4000-8000-{number:012}"
        say(machine, "fix the gateway tests", said, at=ago(days=20 - number // 2), session=session)
    assert machine.told("index").code == 0
    for said in ("Deploy only from a clean tree", "Deploy notes go to docs/deploy.md"):
        assert machine.told("remember", said).code == 0
    machine.told("lock", "Never print the deploy token of the gateway")
    machine.told("brief", "--prompt", "deploy to staging", "--session", SESSION)


@pytest.fixture
def known(desk: Machine) -> Machine:
    """A project in which things were said, and one session that was shown some of them."""
    learn(desk)
    return desk


def test_many_runs_give_the_same_bytes(known: Machine) -> None:
    for words in QUESTIONS:
        first = known.told(*words)
        assert (first.code, first.err) == (0, ""), words
        assert first.out, words
        assert {known.told(*words) for _ in range(RUNS)} == {first}, words


def test_many_runs_from_the_same_shown_before_state_give_the_same_bytes(known: Machine) -> None:
    kept = known.told_home.with_name("kept")
    shutil.copytree(known.told_home, kept)
    answers = set()
    for _ in range(RUNS):
        shutil.rmtree(known.told_home)
        shutil.copytree(kept, known.told_home)
        answers.add(known.told("brief", "--prompt", PROMPT, "--session", SESSION))
    assert len(answers) == 1
    (answer,) = answers
    assert answer.out
    assert answer != known.told("brief", "--prompt", PROMPT, "--session", SESSION)


def test_processes_of_their_own_give_the_same_bytes(known: Machine) -> None:
    expected = [known.told(*words).out for words in QUESTIONS]
    for seed in ("1", "4242")[: points(everyday=1, soak=2)]:
        done = subprocess.run(
            [sys.executable, "-c", FROZEN, json.dumps(QUESTIONS)],
            env=known.environ | {"PYTHONHASHSEED": seed},
            cwd=known.home / "work/shop", capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert json.loads(done.stdout) == expected, seed


def test_the_same_history_is_learned_to_the_same_answers(desk: Machine) -> None:
    answers = set()
    for _ in range(points(everyday=2, soak=4)):
        shutil.rmtree(desk.told_home, ignore_errors=True)
        learn(desk)
        lines = desk.told("brief", "--prompt", PROMPT, "--json").json["lines"]
        holds = desk.told("brief", "--json").json["lines"]
        answers.add("\n".join(line["text"] for line in (*lines, *holds) if line["id"]))
    assert len(answers) == 1


CHANGES = [
    "Always use npm to install packages in this repo.",
    "From now on always use pnpm to install packages in this repo, never npm.",
    "From now on always use npm to install packages in this repo, never pnpm.",
    "From now on always use pnpm to install packages in this repo, never npm.",
]


@pytest.mark.parametrize("order", sampled([(3, 2, 1, 0), (1, 3, 2, 0), (3, 0, 1, 2)], [(3, 2, 1, 0)]))
def test_the_last_word_holds_in_whatever_order_sessions_are_read(
    desk: Machine, order: tuple[int, ...]
) -> None:
    for number in order:
        session = f"00000000-0000-4000-8000-{number:012}"
        say(desk, "add the date picker", CHANGES[number], at=ago(days=20 - number), session=session)
        assert desk.told("index").code == 0
    rows = desk.told("memories", "--json").json["memories"]
    assert [row["text"] for row in rows] == [CHANGES[-1]]
