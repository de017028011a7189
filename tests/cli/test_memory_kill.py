"""told is killed while it learns and while it writes: nothing acknowledged is lost, and nothing is torn."""

from __future__ import annotations

import json
import random
import shutil
import signal
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.cli.killing import kill_after, run, sound, start
from tests.cli.machine import Machine, ago
from tests.cli.test_learning import desk, say
from tests.cli.test_memory_observed import repaired
from tests.soak import SOAK, points, sampled
from told.journal.apply import open_memories

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["desk"]

KILLS_OF_INDEX = points(everyday=3, soak=250)
KILLS_OF_COMMANDS = points(everyday=1, soak=600)
KILLS_OF_A_ROW = points(everyday=1, soak=150)
COMMANDS = (
    "remember", "correct", "lock", "lock a text", "unlock", "confirm", "reject", "forget", "undo", "accept",
    "decline", "create", "subscribe", "share", "onboard", "note", "brief",
)  # fmt: skip

# -- while it learns --------------------------------------------------------------------------------


def history(machine: Machine) -> None:
    """Write some forty sessions in which much is said, said again, removed and done."""
    chance = random.Random(5)
    things = ("gateway", "cart", "login", "search", "invoice", "report", "mailer", "worker")
    for number in range(36):
        thing, other = chance.choice(things), chance.choice(things)
        say(
            machine, f"please look into the {thing}",
            f"Never change the {thing} without a test for number {number % 9}.",
            f"The {other} listens on port {8000 + number}.",
            "Use sequential thinking for this. Why is it slow?",
            chance.choice((
                "From now on always use pnpm to install packages in this repo, never npm.",
                "From now on always use npm to install packages in this repo, never pnpm.",
                "Never push straight to main, always open a pull request.",
                f"We decided to keep the {other} in Go.",
            )),
            at=ago(days=60 - number),
        )  # fmt: skip
    for number in range(6):
        repaired(machine, ago(days=20 - number), f"0f0f0f0f-0000-4000-8000-00000000010{number}")


def learned(home: Path) -> list[Any]:
    """Return all that is known, without ids and times of writing."""
    memories = open_memories(str(home))
    try:
        every = memories.get(memories.ids())
        return sorted(
            (
                one.text, one.kind, one.status, one.scope, one.trust, one.locked, one.created, one.repeated,
                one.alpha, one.beta, every[one.superseded_by].text if one.superseded_by in every else "",
                sorted((at.agent, at.session, at.turn, at.quote, at.at) for at in one.evidence),
                sorted((trigger.kind, trigger.value) for trigger in one.triggers), sorted(one.entities),
            )
            for one in every.values()
        )  # fmt: skip
    finally:
        memories.close()


@pytest.mark.soak
def test_killed_while_it_learns_it_knows_the_same_in_the_end(desk: Machine) -> None:
    history(desk)
    began = time.monotonic()
    assert run(desk, "index") == 0
    took = time.monotonic() - began
    expected = learned(desk.told_home)
    assert len(expected) > 40
    assert {row[2] for row in expected} == {"active", "superseded"}
    assert {row[4] for row in expected} == {"user", "agent"}
    chance = random.Random(3)
    killed = attempts = 0
    while killed < KILLS_OF_INDEX and attempts < 3 * KILLS_OF_INDEX:
        attempts += 1
        shutil.rmtree(desk.told_home)
        for _ in range(chance.randint(3, 8)):
            began = time.monotonic()
            code = kill_after(start(desk, "index"), took * (0.15 + 0.7 * chance.random()))
            killed += code == -signal.SIGKILL
            if code == 0:
                took = min(took, time.monotonic() - began)
                break
        assert run(desk, "index") == 0
        assert learned(desk.told_home) == expected
        sound(desk)
    print(f"\nlearning: {killed} kills, {attempts} rounds")


@pytest.mark.soak
@pytest.mark.parametrize("how", ["before", "after", "torn"])
def test_killed_in_the_middle_of_writing_it_learns_the_rest(desk: Machine, how: str) -> None:
    for number, said in enumerate((
        "Always use npm to install packages in this repo.", "Never push straight to main.",
        "From now on always use pnpm to install packages in this repo, never npm.",
        "Never push straight to main.",
    )):  # fmt: skip
        say(desk, "please fix the footer", said, at=ago(days=9 - number))
    repaired(desk, ago(days=2))
    assert run(desk, "index") == 0
    expected = learned(desk.told_home)
    at = 0
    while True:
        at += 1 if SOAK or how == "torn" else 7
        shutil.rmtree(desk.told_home)
        if run(desk, "index", DIE_AT=str(at), DIE_HOW=how) == 0:
            break
        assert run(desk, "index") == 0
        assert learned(desk.told_home) == expected, at
        sound(desk)
    assert at > 4


# -- while a command writes -------------------------------------------------------------------------


class Told(NamedTuple):
    """A command, and what told knows if it was carried out."""

    words: tuple[str, ...]
    after: str
    took: float


def state(machine: Machine) -> str:
    """Return what told answers, with texts in the place of ids."""
    found: dict[str, Any] = {}
    names: dict[str, str] = {}
    for status in ("active", "superseded", "quarantined", "forgotten"):
        answer = machine.told(
            "memories", "--all-projects", "--all", "-n", "500", "--status", status, "--json"
        )
        assert answer.err == "" or "interrupted" in answer.err
        rows = answer.json["memories"]
        names |= {row["id"]: f"[{row['text'] or 'forgotten'}]" for row in rows}
        found[status] = sorted(rows, key=lambda row: (row["text"], row["created"]))
    for words in (("scopes",), ("proposals",), ("wonder", "gateway"), ("stats",)):
        answer = machine.told(*words, "--json")
        assert answer.err == "", words
        found[words[0]] = answer.json if answer.out else None
    text = json.dumps(found)
    for name, said in names.items():
        text = text.replace(name, json.dumps(said)[1:-1])
    return text


def prepared(desk: Machine) -> dict[str, tuple[str, ...]]:
    """Make a state in which every command has something to do; return the commands."""
    ids = {}
    for name, text in (
        ("npm", "Use npm to install packages"), ("port", "The gateway listens on port 8443"),
        ("friday", "Never deploy on a Friday"), ("bluebird", "The launch is called Bluebird"),
        ("cards", "Card numbers are masked in every log"),
    ):  # fmt: skip
        ids[name] = desk.told("remember", "--json", text).json["id"]
    ids["tabs"] = desk.told("lock", "--json", "Use tabs for indentation").json["id"]
    desk.told("scopes", "create", "money")
    desk.environ["CLAUDECODE"] = "1"
    desk.told("correct", ids["tabs"], "Use spaces for indentation")
    del desk.environ["CLAUDECODE"]
    (waiting,) = desk.told("proposals", "--json").json["proposals"]
    desk.write("work/shop/README.md", "# Shop\n\nThe shop sells books.\n\nRun the tests with `make test`.\n")
    desk.write("work/shop/AGENTS.md", "# Rules\n\n- Never edit generated files by hand.\n")
    desk.told("remember", "The office is in Hamburg")
    return {
        "remember": ("remember", "From now on use pnpm to install packages, not npm"),
        "correct": ("correct", ids["port"], "The gateway listens on port 9443"),
        "lock": ("lock", ids["friday"]),
        "lock a text": ("lock", "Never print the deploy token of the gateway"),
        "unlock": ("unlock", ids["tabs"]),
        "confirm": ("confirm", ids["port"]),
        "reject": ("reject", ids["port"]),
        "forget": ("forget", ids["bluebird"], "--force"),
        "undo": ("undo",),
        "accept": ("proposals", "accept", waiting["id"]),
        "decline": ("proposals", "decline", waiting["id"]),
        "create": ("scopes", "create", "design"),
        "subscribe": ("scopes", "subscribe", "money"),
        "share": ("scopes", "share", ids["cards"], "money"),
        "onboard": ("onboard",),
        "note": ("wonder", "gateway", "--note", "Perhaps the port comes from the environment"),
        "brief": ("brief", "--session", "0f0f0f0f-0000-4000-8000-0000000000ee"),
    }


class Bench:
    """A machine that begins each time from the same state."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._kept = machine.told_home.with_name("kept")
        commands = prepared(machine)
        assert machine.told("index").code == 0
        self.before = state(machine)
        shutil.copytree(machine.told_home, self._kept)
        self.commands = commands
        self._done: dict[str, Told] = {}

    def told(self, name: str) -> Told:
        """Return a command with what told knows when it was carried out undisturbed."""
        if name not in self._done:
            self._done[name] = self._carried_out(self.commands[name])
        return self._done[name]

    def _carried_out(self, words: tuple[str, ...]) -> Told:
        self.anew()
        began = time.monotonic()
        assert run(self.machine, *words) == 0
        took = time.monotonic() - began
        after = state(self.machine)
        assert after != self.before, words
        return Told(words, after, took)

    def anew(self) -> None:
        shutil.rmtree(self.machine.told_home)
        shutil.copytree(self._kept, self.machine.told_home)

    def check(self, name: str, code: int) -> None:
        """After a death or an end: all of it happened or nothing, and all of it if that was said."""
        command = self.told(name)
        found = state(self.machine)
        if code == 0:
            assert found == command.after, name
        else:
            assert found in (self.before, command.after), name
        sound(self.machine)
        if found == self.before:
            assert run(self.machine, *command.words) == 0
            assert state(self.machine) == command.after, name
        if name == "forget":
            # What was begun is finished by now.
            assert [path for path in self.files() if b"Bluebird" in path.read_bytes()] == []

    def files(self) -> Iterator[Path]:
        return (path for path in self.machine.told_home.rglob("*") if path.is_file())


@pytest.fixture
def bench(desk: Machine) -> Bench:
    return Bench(desk)


def test_a_command_that_is_killed_was_carried_out_or_was_not(bench: Bench) -> None:
    chance = random.Random(17)
    killed = attempts = 0
    while killed < KILLS_OF_COMMANDS and attempts < 4 * KILLS_OF_COMMANDS:
        name = COMMANDS[attempts % len(COMMANDS)]
        attempts += 1
        command = bench.told(name)
        bench.anew()
        delay = command.took * (0.4 + 0.7 * chance.random())
        code = kill_after(start(bench.machine, *command.words), delay)
        assert code in (0, -signal.SIGKILL)
        killed += code == -signal.SIGKILL
        bench.check(name, code)
    print(f"\ncommands: {killed} kills in {attempts}")


def die_everywhere(bench: Bench, name: str, how: str) -> None:
    """Let a command die at each of its steps, or at every third."""
    command = bench.told(name)
    for at in range(1, 60, 1 if SOAK or how == "torn" else 5):
        bench.anew()
        code = run(bench.machine, *command.words, DIE_AT=str(at), DIE_HOW=how)
        bench.check(name, code)
        if code == 0:
            assert at > 1
            return
    raise AssertionError(name)


@pytest.mark.parametrize("how", sampled(("before", "after"), ("before",)))
@pytest.mark.parametrize("name", COMMANDS if SOAK else ["forget"])
def test_a_command_that_dies_between_two_steps_was_carried_out_or_was_not(
    bench: Bench, name: str, how: str
) -> None:
    die_everywhere(bench, name, how)


@pytest.mark.soak
def test_sharing_that_dies_between_two_steps_was_carried_out_or_was_not(bench: Bench) -> None:
    die_everywhere(bench, "share", "after")


@pytest.mark.soak
@pytest.mark.parametrize("name", ["lock", "confirm", "create", "brief"] if SOAK else ["lock"])
def test_a_line_that_was_cut_off_is_as_if_it_was_never_begun(bench: Bench, name: str) -> None:
    die_everywhere(bench, name, "torn")


@pytest.mark.parametrize("name", ["remember", "accept", "onboard"] if SOAK else ["remember"])
def test_what_belongs_together_is_there_as_a_whole_or_not_at_all(bench: Bench, name: str) -> None:
    die_everywhere(bench, name, "torn")


def test_what_was_acknowledged_stays_through_a_row_of_deaths(desk: Machine) -> None:
    chance = random.Random(23)
    began = time.monotonic()
    assert run(desk, "remember", "Fact number 0 is about the zeppelin") == 0
    took = time.monotonic() - began
    said, killed = ["Fact number 0 is about the zeppelin"], 0
    begun = list(said)
    for number in range(1, 4 * KILLS_OF_A_ROW):
        text = f"Fact number {number} is about the {chance.choice(('whale', 'comet', 'violin', 'canyon'))}"
        begun.append(text)
        code = kill_after(start(desk, "remember", text), took * (0.4 + 0.8 * chance.random()))
        killed += code == -signal.SIGKILL
        said += [text] if code == 0 else []
        if killed >= KILLS_OF_A_ROW:
            break
    rows = [row[0] for row in learned(desk.told_home)]
    assert set(said) <= set(rows) <= set(begun)
    assert len(rows) == len(set(rows))
    sound(desk)
    print(f"\na row: {killed} kills, {len(said)} acknowledged")
