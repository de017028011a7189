"""`told retention`: what would fade, the archive, and the way back."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.machine import NOW, note_as_agent
from tests.cli.test_memory_remember import desk, remember, texts
from told.journal.apply import open_memories
from told.journal.file_journal import FileJournal
from told.memories.caller import Caller
from told.memories.journal_writer import JournalWriter
from told.retention import retention as lived
from told.store.memories.records import CAPTURE

if TYPE_CHECKING:
    from tests.cli.machine import Answer, Machine

__all__ = ["desk"]
AGENT = {"CLAUDECODE": "1"}
HINT = "told retention restore"


class Calendar:
    """Lets days pass on a machine: by its clock, and in truth."""

    def __init__(self, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
        self.machine = machine
        self.days = 0
        monkeypatch.setattr(time, "time_ns", lambda: self.now * 10**6)
        monkeypatch.setattr(lived, "read_uptime", lambda: (100 + self.days) * lived.DAY)

    @property
    def now(self) -> int:
        """What the clock says, in ms."""
        return int((NOW + timedelta(days=self.days)).timestamp() * 1000)

    def live(self, days: int) -> None:
        """Let days pass; told is in use every week."""
        memories = open_memories(str(self.machine.told_home))
        for step in range(0, days, 7):
            self.days += min(7, days - step)
            lived.tick(
                JournalWriter(FileJournal(str(self.machine.told_home)), memories, self.now, Caller(CAPTURE))
            )
        memories.close()


@pytest.fixture
def calendar(desk: Machine, monkeypatch: pytest.MonkeyPatch) -> Calendar:
    return Calendar(desk, monkeypatch)


def learned(machine: Machine, text: str) -> Any:
    """Let an agent note something that nobody confirmed: what fades first."""
    made = note_as_agent(machine, text, "github.com/acme/shop")
    return machine.told("why", made, "--json").json


def faded(machine: Machine, calendar: Calendar, text: str = "The cache lives in src/cache.py") -> Any:
    made = learned(machine, text)
    calendar.live(98)
    assert machine.told("retention", "prune", "--force").code == 0
    return made


def sweep(machine: Machine) -> Answer:
    """Run what other commands start behind them; its lock would be let go at the end of its process."""
    (machine.told_home / "sweep.lock").unlink(missing_ok=True)
    return machine.told("sweep")


def test_at_first_nothing_fades(desk: Machine) -> None:
    remember(desk, "Never commit `.env` files")
    answer = desk.told("retention")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == (
        "1 memory active, 0 archived (`told retention archived`).\n"
        "The window is 90 days. 0 days of use counted so far.\n"
        "Nothing to archive now; the next may be due in 360 days.\n"
    )
    assert desk.told("retention", "--json").json == {
        "days": 90, "active": 1, "archived": 0, "fading": 0, "next_in_days": 360, "counted_days": 0,
    }  # fmt: skip
    answer = desk.told("retention", "prune", "--force")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith("told: Nothing to archive with a window of 90 days.")


def test_prune_is_a_dry_run_unless_it_is_forced(desk: Machine, calendar: Calendar) -> None:
    kept = remember(desk, "Never commit `.env` files")
    made = learned(desk, "The cache lives in src/cache.py")
    calendar.live(98)
    assert "1 memory would be archived" in desk.told("retention").out
    dry = desk.told("retention", "prune")
    assert dry.code == 0
    assert dry.out.startswith("Would archive 1 memory; add --force to do it. It can be restored.\n")
    assert made["id"] in dry.out
    assert "an agent's word, not needed for 9" in dry.out
    assert kept["id"] not in dry.out
    assert len(texts(desk)) == 2
    rows = desk.told("retention", "prune", "--json").json
    assert (rows["count"], rows["archived"], rows["days"]) == (1, False, 90)
    assert rows["memories"][0]["idle_days"] >= 90
    done = desk.told("retention", "prune", "--force")
    assert (done.code, done.out.splitlines()[0]) == (0, "Archived 1 memory. `told undo` reverts it.")
    assert texts(desk) == ["Never commit `.env` files"]
    assert desk.told("retention", "prune").code == 1


def test_another_window_is_given_by_days(desk: Machine, calendar: Calendar) -> None:
    learned(desk, "The cache lives in src/cache.py")
    calendar.live(35)
    assert desk.told("retention", "prune").code == 1
    assert desk.told("retention", "prune", "--days", "20").code == 0
    assert desk.told("retention", "prune", "--days", "0").code == 2


def test_what_is_archived_is_out_of_the_way_and_can_still_be_asked_for(
    desk: Machine, calendar: Calendar
) -> None:
    made = faded(desk, calendar)
    assert texts(desk) == []
    assert desk.told("memories", "cache", "--json").json["count"] == 0
    assert desk.told("search", "cache", "--in", "memories").code == 1
    assert desk.told("search", "cache", "--in", "memories", "--all-projects").code == 1
    assert made["id"] not in desk.told("explain", "Where does the cache live in src/cache.py?").out
    assert made["id"] not in desk.told("brief", "--start").out
    assert made["id"] not in desk.told("wonder", "cache").out
    assert texts(desk, "--status", "archived", "cache") != []
    assert texts(desk, "--status", "archived", "cache", "--all-projects") != []
    listed = desk.told("retention", "archived", "--json").json
    assert (listed["count"], [row["id"] for row in listed["memories"]]) == (1, [made["id"]])
    assert made["id"] in desk.told("retention", "archived").out
    why = desk.told("why", made["id"])
    assert f"{HINT} {made['id']}` restores it." in why.out
    assert "archive by user" in why.out
    assert "not needed for 9" in why.out
    assert desk.told("stats", "--json").json["by_status"] == {"archived": 1}
    assert desk.told("audit").code in (0, 1)
    refused = desk.told("confirm", made["id"])
    assert (refused.code, HINT in refused.err) == (2, True)
    assert "archived:" in desk.told("diff", "yesterday").out


def test_archive_and_back_is_lossless(desk: Machine, calendar: Calendar) -> None:
    made = learned(desk, "The cache lives in src/cache.py")
    before = desk.told("memories", "--json").out, desk.told("memories").out
    story = desk.told("why", made["id"], "--json").json
    calendar.live(98)
    assert desk.told("retention", "prune", "--force").code == 0
    back = desk.told("retention", "restore", made["id"])
    assert (back.code, back.out.splitlines()[0]) == (0, "Restored 1 memory. `told undo` reverts it.")
    assert desk.told("memories", "--json").out == before[0]
    after = desk.told("why", made["id"], "--json").json
    assert [step["what"] for step in after.pop("history")] == ["remember", "archive", "restore"]
    assert after == {name: value for name, value in story.items() if name != "history"}
    assert desk.told("rebuild").code == 0
    assert desk.told("memories", "--json").out == before[0]
    assert desk.told("health", "--deep").code == 0
    assert desk.told("retention", "prune").code == 1  # to bring it back was to need it


def test_all_of_it_comes_back_at_once_or_by_words(desk: Machine, calendar: Calendar) -> None:
    learned(desk, "The cache lives in src/cache.py")
    faded(desk, calendar, "The login test is flaky on Mondays")
    assert desk.told("retention", "restore", "nobody said this").code == 1
    assert desk.told("retention", "restore", "flaky").code == 0
    assert len(texts(desk)) == 1
    assert desk.told("undo").out.startswith("Undone: restored m")
    assert texts(desk) == []
    assert desk.told("retention", "restore", "flaky").code == 0
    assert desk.told("retention", "restore", "--all", "--json").json["count"] == 1
    assert len(texts(desk)) == 2
    assert desk.told("retention", "restore", "--all").code == 1
    assert desk.told("retention", "archived").code == 1
    assert desk.told("retention", "archived", "--json").code == 1


def test_undo_takes_a_prune_back(desk: Machine, calendar: Calendar) -> None:
    faded(desk, calendar)
    assert desk.told("undo").code == 0
    assert len(texts(desk)) == 1


def test_forgetting_reaches_the_archive(desk: Machine, calendar: Calendar) -> None:
    made = faded(desk, calendar, "The secret plan is called Zirkonia")
    assert "Would forget 1 memory" in desk.told("forget", "--since", "2020-01-01").out
    assert desk.told("forget", made["id"], "--force").code == 0
    assert desk.told("retention", "archived").code == 1
    every = b"".join(path.read_bytes() for path in desk.told_home.rglob("*") if path.is_file())
    assert b"Zirkonia" not in every


def test_to_say_it_again_brings_it_back(desk: Machine, calendar: Calendar) -> None:
    made = faded(desk, calendar, "Deploy only from the release branch")
    again = remember(desk, "Deploy only from the release branch")
    assert (again["id"], again["again"], again["status"]) == (made["id"], True, "active")
    assert desk.told("memories", "--status", "archived").code == 1


def test_an_agent_only_looks(desk: Machine, calendar: Calendar) -> None:
    made = faded(desk, calendar)
    learned(desk, "The login test is flaky on Mondays")
    calendar.live(98)
    desk.environ |= AGENT
    assert desk.told("retention").code == 0
    assert desk.told("retention", "prune").code == 0
    for words in (("prune", "--force"), ("restore", made["id"]), ("restore", "--all")):
        answer = desk.told("retention", *words)
        assert (answer.code, answer.out) == (2, "")
        assert answer.err.startswith("told: Only you can ")


def test_what_is_not_understood_is_said(desk: Machine) -> None:
    made = remember(desk, "Never commit `.env` files")
    for words in (("delete",), ("prune", "now"), ("restore",), ("restore", made["id"], "--all")):
        assert desk.told("retention", *words).code == 2, words
    answer = desk.told("retention", "restore", made["id"])
    assert answer.err == f"told: {made['id']} is not archived, it is active.\n"


def test_the_sweep_in_the_background_archives_once_a_day(desk: Machine, calendar: Calendar) -> None:
    learned(desk, "The cache lives in src/cache.py")
    calendar.live(98)
    assert sweep(desk).code == 0
    assert texts(desk) == []
    learned(desk, "The login test is flaky on Mondays")
    calendar.live(98)
    stamp = desk.told_home / "hook.faded"
    stamp.write_bytes(b"%d" % (calendar.now // lived.DAY))
    assert sweep(desk).code == 0
    assert len(texts(desk)) == 1
    calendar.live(1)
    assert sweep(desk).code == 0
    assert texts(desk) == []


def test_0_days_turns_it_off(desk: Machine, calendar: Calendar) -> None:
    desk.config("[retention]\ndays = 0\n")
    learned(desk, "The cache lives in src/cache.py")
    calendar.live(98)
    assert sweep(desk).code == 0
    assert len(texts(desk)) == 1
    assert "Retention is off" in desk.told("retention").out
    assert desk.told("retention", "prune").code == 2
    assert desk.told("retention", "prune", "--days", "90").code == 0


def test_a_jump_of_the_clock_lets_nothing_fade(desk: Machine, calendar: Calendar) -> None:
    learned(desk, "The cache lives in src/cache.py")
    calendar.live(28)
    running = lived.read_uptime()
    for jump in (3650, -3650):
        calendar.days += jump
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lived, "read_uptime", lambda: running + 60_000)
            assert sweep(desk).code == 0
            assert desk.told("retention", "prune", "--force").code == 1
        assert len(texts(desk)) == 1


def old_history(machine: Machine) -> None:
    """A history that is much older than told: it was never needed since."""
    taught = ("From now on always use pnpm in this repo, never npm.", "Noted.")
    machine.claude(taught, at=NOW - timedelta(days=500))
    machine.claude(("Never force push to the release branch.", "I won't."), at=NOW - timedelta(days=5))
    assert machine.told("index").code == 0


def test_the_user_may_put_away_what_was_already_old_when_told_learned_it(
    desk: Machine, calendar: Calendar
) -> None:
    old_history(desk)
    before = texts(desk)
    assert len(before) == 2
    calendar.live(0)
    dry = desk.told("retention", "prune")
    assert dry.err == ""
    assert (dry.code, dry.out.splitlines()[0]) == (
        0, "Would archive 1 memory; add --force to do it. It can be restored.",
    )  # fmt: skip
    assert "pnpm" in dry.out
    assert "not needed for 500 days" in dry.out
    assert texts(desk) == before
    assert desk.told("retention", "prune", "--force").code == 0
    assert [one for one in texts(desk) if "pnpm" in one] == []
    assert desk.told("retention", "restore", "--all").code == 0
    assert sorted(texts(desk)) == sorted(before)


def test_nobody_but_the_user_puts_away_what_told_has_just_learned(desk: Machine, calendar: Calendar) -> None:
    old_history(desk)
    calendar.live(98)
    assert sweep(desk).code == 0
    assert len(texts(desk)) == 2


@pytest.mark.parametrize("years", [10, -10])
def test_an_old_history_makes_no_jump_of_the_clock_archive_anything(
    desk: Machine, calendar: Calendar, years: int
) -> None:
    old_history(desk)
    calendar.days += 365 * years
    assert desk.told("retention", "prune", "--force").code == 1
    assert desk.told("retention", "prune", "--force").code == 1
    calendar.days -= 365 * years
    assert len(texts(desk)) == 2
