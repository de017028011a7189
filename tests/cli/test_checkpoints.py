"""`told checkpoints`: the notes with which an agent handed over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cli.machine import ago

if TYPE_CHECKING:
    import pytest

    from tests.cli.machine import Machine

NOTE = {
    "title": "Alerts deployed",
    "overview": "Lag alerts for orders.",
    "next_steps": "Tune the threshold after a week of data.",
    "work_done": "Added alerts.yaml.",
}


def test_a_note_says_what_is_next(shop: Machine) -> None:
    out = shop.told("checkpoints").out
    assert out.startswith("1 checkpoint, all projects\n<agent ")
    assert "Alerts deployed\n  next: Tune the threshold after a week of data.\n" in out


def test_a_note_without_next_steps_shows_its_overview(machine: Machine) -> None:
    machine.claude(("Go", "Done."), compacted="Primary request: move to Postgres 17.")
    machine.told("index")
    out = machine.told("checkpoints").out
    assert "Compaction summary\n  Primary request: move to Postgres 17.\n" in out
    assert "next:" not in out


def test_all_parts_of_a_note_are_shown_by_its_id_or_the_beginning_of_it(shop: Machine) -> None:
    note = shop.told("checkpoints", "--json").json["checkpoints"][0]["id"]
    whole = shop.told("show", note)
    assert whole.code == 0
    for part in (
        "overview: Lag alerts for orders.",
        "work done: Added alerts.yaml.",
        "next steps: Tune the threshold after a week of data.",
    ):
        assert f"\n{part}\n" in whole.out
    assert shop.told("show", note[:5]).out == whole.out


def test_json_names_the_parts_and_marks_them_as_the_agents(shop: Machine) -> None:
    (note,) = shop.told("checkpoints", "--json").json["checkpoints"]
    assert (note["number"], note["agent"], note["trust"]) == (1, "copilot-cli", "agent")
    assert note["at"] == "2026-11-14T12:00:00Z"
    for part, text in NOTE.items():
        assert note[part].startswith("<agent ")
        assert text in note[part]


def test_the_latest_note_comes_first_and_the_limit_is_kept(machine: Machine) -> None:
    for days in (1, 2, 3):
        note = {"title": f"Day {days}", "next_steps": "Go on."}
        machine.copilot(("Work", "Worked."), at=ago(days=days), note=note)
    machine.told("index")
    out = machine.told("checkpoints", "-n", "2").out
    assert out.index("Day 1") < out.index("Day 2")
    assert "Day 3" not in out
    assert out.startswith("2 of 3 checkpoints, all projects (use --limit to see more)\n")
    assert machine.told("checkpoints").out.startswith("3 checkpoints, all projects\n")
    assert machine.told("checkpoints", "-n", "2", "--json").json["total"] == 3


def test_where_only_the_limits_leave_nothing_it_says_so(machine: Machine) -> None:
    machine.told("checkpoint", "OAuth")
    assert machine.told("checkpoints", "--agent", "codex").err == "told: No checkpoints with these limits.\n"
    nothing = machine.told("search", "zebra").err
    assert nothing == "told: Nothing found for 'zebra'. Try fewer or other words.\n"


def test_next_is_what_is_pending_and_no_plan(machine: Machine) -> None:
    words = ("--plan", "PLAN.md", "--question", "Which port?")
    machine.told("checkpoint", "Both", "--pending", "Tests", "--pending", "Docs", *words)
    machine.told("checkpoint", "Questions", *words)
    machine.told("checkpoint", "Plans", "--plan", "PLAN.md")
    out = machine.told("checkpoints").out
    assert "Both\n  next: Tests; Docs; Open questions: Which port?\n" in out
    assert "Questions\n  open: Which port?\n" in out
    assert "PLAN.md" not in out


def test_what_the_search_shows_of_one_reads_as_a_sentence(machine: Machine) -> None:
    words = ("--done", "Routes", "--done", "Form", "--decision", "No passwords", "--pending", "Tests")
    machine.told("checkpoint", "Move the login to OAuth", *words)
    said = "Move the login to *OAuth*. done: Routes; Form. Decisions: No passwords. next: Tests. "
    assert said in machine.told("search", "oauth").out


def test_without_notes_one_sentence_says_so(machine: Machine) -> None:
    machine.claude(("Go", "Done."))
    answer = machine.told("checkpoints")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == "told: No checkpoints in any project.\n"


def test_at_a_terminal_a_note_is_a_row_with_its_next_step(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.told("checkpoint", "Move the login to OAuth", "--pending", "Write all the tests")
    head, columns, note, below = machine.at_terminal("checkpoints", NO_COLOR="1").out.splitlines()
    assert head.startswith("1 checkpoint, ")
    assert columns.split() == ["WHEN", "ID", "AGENT", "STATUS", "CHECKPOINT"]
    assert note.endswith("Move the login to OAuth")
    assert below.strip() == "next: Write all the tests"
