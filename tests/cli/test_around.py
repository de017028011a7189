"""`told timeline --around ID` shows what was before and after something, and marks the thing itself."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from tests.cli.machine import ago, remember

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.machine import Machine


@pytest.fixture
def days(machine: Machine) -> Machine:
    """A machine with a session on each of six days in one project, and one in between in another."""
    shop, other = machine.folder("work/shop"), machine.folder("work/other")
    for day in range(6, 0, -1):
        asked = [(f"Day {day}, question {n}?", f"Answer {n}.") for n in (1, 2)]
        machine.claude(*asked, cwd=shop, at=ago(days=day))
    machine.claude(("Elsewhere?", "Yes."), cwd=other, at=ago(days=3, hours=5), helper=("Look at it", "Done."))
    assert machine.told("index").code == 0
    return machine


def session_of(machine: Machine, text: str) -> str:
    """Return told's id of the session in which something was asked."""
    found = machine.told("timeline", "--all-projects", "--json", "--limit", "99").json["turns"]
    return next(str(row["id"]) for row in found if text in row["asked"]).partition(".")[0]


def test_around_a_turn(days: Machine) -> None:
    session = session_of(days, "Day 3, question 1")
    shown = days.told("timeline", "--around", f"{session}.1", "--limit", "2")
    assert (shown.code, shown.err) == (0, "")
    lines = [line for line in shown.out.splitlines() if not line.startswith(("<", "</"))]
    assert lines[0] == f"2 turns before and 2 after {session}.1, shop"
    assert [line.partition("Day ")[2][:13] for line in lines[1:]] == [
        "4, question 2", "3, question 1", "3, question 2", "2, question 1", "2, question 2"
    ]  # fmt: skip
    assert [number for number, line in enumerate(lines) if line.startswith("> ")] == [3]


def test_around_a_session_are_the_sessions_before_and_after_it(days: Machine) -> None:
    session = session_of(days, "Day 3, question 1")
    shown = days.told("timeline", "--around", session, "--limit", "1", "--json").json
    assert [row["asked"] for row in shown["before"]] == ["Day 4, question 2?"]
    assert shown["around"] | {"at": ""} == {
        "id": session, "kind": "session", "at": "", "text": "Day 3, question 1?", "trust": "user"
    }  # fmt: skip
    assert [row["asked"] for row in shown["after"]] == ["Day 2, question 1?"]
    assert (shown["project"], shown["count"]) == ("shop", 3)


def test_all_projects_and_one_agent(days: Machine) -> None:
    session = session_of(days, "Day 3, question 1")
    shown = days.told("timeline", "--around", session, "-n", "1", "--all-projects", "--json").json
    assert [row["asked"] for row in shown["before"]] == ["Elsewhere?"]
    assert "Elsewhere?" in days.told("timeline", "--around", session, "-n", "1", "--all-projects").out
    none = days.told("timeline", "--around", session, "--agent", "codex", "--json").json
    assert (none["before"], none["after"]) == ([], [])
    other = days.told("timeline", "--around", session, "--project", "other", "--json").json
    assert [row["asked"] for row in other["before"]] == ["Elsewhere?"]


def test_what_a_helper_was_asked_is_not_what_the_user_asked(days: Machine) -> None:
    shown = days.told("timeline", "--around", session_of(days, "Elsewhere"), "--all-projects").out
    assert "Look at it" not in shown


def test_around_a_memory(days: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(days.home / "work/shop")
    name = remember(days, "Never use tabs")
    shown = days.told("timeline", "--around", name, "--limit", "1").out.splitlines()
    assert shown[0] == f"1 turn before and 0 after {name}, shop"
    assert shown[-1] == f"> 11-15 12:00 {name} rule project Never use tabs"
    days.environ["CLAUDECODE"] = "1"
    agents = remember(days, "The tests need Docker")
    assert "<agent " in days.told("timeline", "--around", agents).out.splitlines()[-1]
    everywhere = remember(days, "--scope", "global", "The build needs Docker")
    assert "all projects" in days.told("timeline", "--around", everywhere).out


def test_around_a_checkpoint(shop: Machine) -> None:
    note = shop.told("checkpoints", "--json", "--all-projects").json["checkpoints"][0]["id"]
    shown = shop.told("timeline", "--around", note, "--json").json
    assert (shown["around"]["kind"], shown["around"]["trust"]) == ("checkpoint", "agent")
    assert "Alerts deployed" in shown["around"]["text"]
    assert [row["asked"] for row in shown["after"]] == [
        "How long should the cache TTL be?", "Fine, and write it down"
    ]  # fmt: skip


def test_the_first_and_the_last(days: Machine) -> None:
    first = days.told("timeline", "--around", f"{session_of(days, 'Day 6, question 1')}.0").out
    assert first.startswith("0 turns before and 5 after")
    last = days.told("timeline", "--around", f"{session_of(days, 'Day 1, question 1')}.1").out
    assert last.startswith("5 turns before and 0 after")


def test_turns_of_the_same_moment_and_of_long_ago(machine: Machine) -> None:
    for at in (datetime(1999, 12, 31, 23, 59, tzinfo=UTC), datetime(2031, 1, 1, tzinfo=UTC)):
        for number in range(12):
            machine.claude((f"Same {at.year} {number}?", "Yes."), at=at)
    machine.told("index")
    for year in (1999, 2031):
        session = session_of(machine, f"Same {year} 5?")
        shown = machine.told("timeline", "--around", f"{session}.0", "-n", "20", "--json").json
        rows = [row["asked"] for row in (*shown["before"], *shown["after"])]
        assert len({row for row in rows if str(year) in row}) == 11
        assert len(rows) == len(set(rows))


@pytest.mark.parametrize(
    "given", ["", "x", "zzzzzzz", "s.3", "mzzzzzzz", "czzzzzzz", "'; DROP TABLE turn; --"]
)
def test_what_nothing_is_called_is_said(days: Machine, given: str) -> None:
    shown = days.told("timeline", f"--around={given}")
    assert shown.code == (0 if not given else shown.code)
    assert shown.code in (0, 1, 2)
    assert "Traceback" not in shown.err


def test_a_time_and_an_id_at_once_are_refused(days: Machine) -> None:
    for more in (("--days", "3"), ("--since", "yesterday")):
        shown = days.told("timeline", "--around", session_of(days, "Day 3, question 1"), *more)
        assert (shown.code, "--around" in shown.err) == (2, True)


def test_what_people_read(days: Machine, snapshot: Callable[[str, str], None]) -> None:
    shown = days.told("timeline", "--around", f"{session_of(days, 'Day 3, question 1')}.0", "--limit", "2")
    snapshot("timeline-around", shown.out)


def test_show_knows_memories_by_their_id(days: Machine) -> None:
    name = remember(days, "Never use tabs")
    for given in (name, name[:5]):
        assert days.told("show", given).out == days.told("why", name).out
    assert days.told("show", name, "--json").json["text"] == "Never use tabs"
    assert days.told("show", "mzzzzzzz").code == 1
