"""`told health`, `told agents`, `told schema-check`, `told index` and `told rebuild`: whether told works."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.cli.machine import ago
from told.hook.dispatch import log_failure
from told.ingest.leftovers import remove_traces

if TYPE_CHECKING:
    from tests.cli.machine import Machine


def dimension(machine: Machine, name: str) -> dict[str, object]:
    found = machine.told("health", "--json").json["dimensions"]
    return next(one for one in found if one["name"] == name)


def test_health_has_nine_dimensions_and_is_as_good_as_the_worst(shop: Machine) -> None:
    found = shop.told("health", "--json").json
    assert len(found["dimensions"]) == 9
    scored = [one["score"] for one in found["dimensions"] if one["score"] is not None]
    assert found["score"] == min(scored) == 10
    assert (found["zone"], found["do"]) == ("GREEN", None)


def test_a_machine_in_use_is_green_and_there_is_nothing_to_do(machine: Machine) -> None:
    for number in range(50):
        machine.claude((f"Question number {number} about parsers", "Yes."), at=ago(hours=number))
    machine.told("index")
    for _ in range(10):
        machine.told("list")
    out = machine.told("health").out
    assert out.startswith("GREEN ")
    assert " of 10. Nothing to do.\n" in out
    assert "fewer than ten" not in out


def test_a_new_home_has_nothing_yet_and_says_what_to_do(machine: Machine) -> None:
    machine.environ["PATH"] = str(machine.home)  # without the agents of this machine
    answer = machine.told("health")
    assert answer.code == 0
    assert answer.out.startswith("Nothing yet. No agent was found: `told agents` shows where told looks.\n")
    assert answer.out.endswith("\n0 agents found.\n")
    machine.claude(("One", "Yes."))
    answer = machine.told("health")
    assert answer.out.startswith("Nothing yet. Run `told install` to connect your agents and import their")
    found = machine.told("health", "--json").json
    assert (found["zone"], found["score"], len(found["dimensions"])) == ("NEW", None, 9)
    machine.told("install")
    assert machine.told("health").out.startswith(
        "Nothing yet. Your agents are connected. Run `told index`.\n"
    )
    machine.told("index")
    assert machine.told("health").out.startswith("GREEN 10.0 of 10. Nothing to do.\n")


def test_memories_alone_are_not_nothing(machine: Machine) -> None:
    machine.told("remember", "We deploy on Mondays.")
    assert machine.told("health", "--json").json["zone"] == "GREEN"


def test_an_idle_machine_is_healthy_and_history_that_waits_is_not(machine: Machine) -> None:
    machine.claude(("Long ago", "Yes."), at=ago(days=9))
    (transcript,) = machine.home.rglob("*.jsonl")
    then = ago(days=9).timestamp()
    os.utime(transcript, (then, then))
    machine.told("index")
    found = dimension(machine, "freshness")
    assert (found["zone"], found["says"]) == ("GREEN", "all imported, last activity 9 days ago")
    transcript.write_text(transcript.read_text() + '{"type": "mode"}\n')
    for hours, zone in ((1, "GREEN"), (47, "AMBER"), (900, "AMBER")):
        then = ago(hours=hours).timestamp()
        os.utime(transcript, (then, then))
        assert dimension(machine, "freshness")["zone"] == zone
    assert machine.told("health").out.startswith("AMBER 4.0 of 10. Run `told index`.\n")


def test_a_prompt_without_a_word_to_search_for_is_no_fault(machine: Machine) -> None:
    for prompt in ("what is this and that, then?", "is it so or is it not", "… !!! ??? … !!!"):
        machine.claude((prompt, "Yes."))
        machine.told("index")
        assert machine.told("health", "--json").json["zone"] == "GREEN"


def test_a_failed_hook_and_a_full_disk_are_not_hidden_behind_green(shop: Machine) -> None:
    log_failure(ValueError("no such table"), shop.environ)
    out = shop.told("health").out
    assert out.startswith("GREEN 10.0 of 10. See the notes below.\n")
    assert "no such table" in out
    remove_traces(str(shop.told_home))
    assert "Nothing to do." in shop.told("health").out
    shop.config("[retention]\ncap_mb = 1\n")
    archive = shop.told_home / "archive"
    archive.mkdir(exist_ok=True)
    (archive / "old.bin").write_bytes(b"x" * 3_000_000)
    out = shop.told("health").out
    assert out.startswith("GREEN 10.0 of 10. See the notes below.\n")
    assert "over its cap of 1 MB" in out


def test_an_agent_has_four_dimensions(machine: Machine) -> None:
    machine.environ["PATH"] = str(machine.home)  # without the agents of this machine
    machine.claude(("Fine", "Yes."), at=ago(hours=2))
    out = machine.told("health", "--agent", "claude").out
    assert out.splitlines() == [
        "Claude Code: Nothing yet. Run `told index`.",
        "    -   files    not imported yet from ~/.claude",
        "    -   import   no session yet",
        "    -   format   no session yet",
        "    -   wiring   not connected",
    ]
    machine.told("index")
    out = machine.told("health", "--provider", "claude-code").out
    assert out.startswith("Claude Code: GREEN 10.0 of 10. Run `told install --agent claude`.\n")
    machine.told("install", "claude")
    found = machine.told("health", "--agent", "claude", "--json").json
    assert (found["agent"], found["zone"], found["score"], found["do"]) == ("claude-code", "GREEN", 10, None)
    assert [(one["name"], one["score"]) for one in found["dimensions"]] == [
        ("files", 10), ("import", 10), ("format", 10), ("wiring", 10),
    ]  # fmt: skip
    (transcript,) = machine.home.rglob("*.jsonl")
    transcript.write_text(transcript.read_text() + '{"type": "user", broken\n{"type":"mode"}\n')
    (machine.home / ".claude" / "settings.json").write_text("{")
    machine.told("index")
    found = machine.told("health", "--agent", "claude", "--json").json
    assert {one["name"]: one["zone"] for one in found["dimensions"]} == {
        "files": "GREEN", "import": "GREEN", "format": "RED", "wiring": "RED",
    }  # fmt: skip
    assert found["zone"] == "RED"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("zed", "Zed: Nothing yet. Run `told install --agent zed`."),
        ("neovim", "Neovim chat plugins: Nothing yet. CopilotChat.nvim keeps a chat only when"),
    ],
)
def test_an_agent_that_is_only_wired_or_only_read(machine: Machine, given: str, said: str) -> None:
    assert machine.told("health", "--agent", given).out.startswith(said)


def test_a_mistyped_agent(machine: Machine) -> None:
    answer = machine.told("health", "--agent", "cluade")
    assert (answer.code, answer.err) == (2, 'told: Unknown agent "cluade". Did you mean "claude-code"?\n')


def test_what_could_not_be_read_is_named_with_its_line(machine: Machine) -> None:
    machine.claude(("Fine", "Yes."))
    (transcript,) = machine.home.rglob("*.jsonl")
    transcript.write_text(transcript.read_text() + '{"type": "user", broken\n' + '{"type":"mode"}\n')
    machine.told("index")
    out = machine.told("health").out
    assert "1 item could not be read; the latest:\n" in out
    assert f"{transcript}:4 " in out
    (problem,) = machine.told("health", "--json").json["problems"]
    assert (problem["line"], problem["trust"]) == (4, "agent")


def test_copilot_without_its_store_says_how_to_switch_it_on(machine: Machine) -> None:
    machine.folder(".copilot")
    machine.told("index")
    out = machine.told("agents").out
    assert "in copilot, type /experimental and switch SESSION_STORE on." in out
    machine.copilot(("Hello there", "Hello."))
    machine.told("index")
    assert "SESSION_STORE" not in machine.told("agents").out


def test_agents_says_where_each_agent_was_looked_for(machine: Machine) -> None:
    rows = {row["agent"]: row for row in machine.told("agents", "--json").json["agents"]}
    assert len(rows) >= 15
    assert rows["codex"]["looked_in"] == [str(machine.home / ".codex")]
    assert rows["codex"]["found"] is False


def test_schema_check_without_databases_says_so(machine: Machine) -> None:
    answer = machine.told("schema-check")
    assert (answer.code, answer.out) == (0, "There is no agent's database to check.\n")


def test_schema_check_names_a_missing_column_and_fails(machine: Machine) -> None:
    machine.copilot(("Hello there", "Hello."))
    database = machine.copilot_store()
    database.execute("ALTER TABLE turns RENAME COLUMN assistant_response TO reply")
    database.close()
    machine.told("index")
    answer = machine.told("schema-check")
    assert answer.code == 4
    assert "copilot-cli        missing turns.assistant_response\n" in answer.out
    assert answer.err == (
        "told: The database of copilot-cli has changed; told reads what it can. Update told.\n"
    )
    checked = machine.told("schema-check", "--json")
    assert checked.json["agents"]["copilot-cli"] == {"ok": False, "missing": ["turns.assistant_response"]}
    assert "missing: copilot-cli turns.assistant_response" in machine.told("health").out


def test_a_database_that_is_none_is_named_with_the_reason(machine: Machine) -> None:
    machine.write(".copilot/session-store.db", b"not a database at all" * 100)
    machine.told("index")
    answer = machine.told("schema-check")
    assert answer.code == 4
    assert "session-store.db: not a database" in answer.out
    assert "unreadable" in machine.told("schema-check", "--json").json["agents"]["copilot-cli"]
    assert "session-store.db:0 not a database" in machine.told("health").out


def test_index_says_how_much_it_read_and_then_that_nothing_is_new(machine: Machine) -> None:
    machine.claude(("One", "Yes."))
    machine.claude(("Two", "Yes."))
    assert machine.told("index").out == "Imported 2 changed files. 2 sessions in total.\n"
    assert machine.told("index").out == "Imported 0 changed files. 2 sessions in total.\n"
    facts = {"files_read": 0, "sessions": 2, "checkpoints": 0, "learned": 0, "candidates": 0}
    assert machine.told("index", "--json").json == facts


def test_rebuild_brings_everything_back_even_what_the_agent_deleted(machine: Machine) -> None:
    machine.claude(("Keep the alpine image", "Kept."), at=ago(days=5))
    machine.claude(("A recent one", "Yes."), at=ago(hours=1))
    machine.told("index")
    before = machine.ids()
    for file in machine.home.rglob("*.jsonl"):
        file.unlink()
    machine.told("list")
    answer = machine.told("rebuild")
    assert answer.code == 0
    assert "2 sessions in total." in answer.out
    assert machine.ids() == before
    assert "Keep the alpine image" in machine.told("list").out


def test_an_agent_that_is_switched_off_is_not_read(machine: Machine) -> None:
    machine.config("[agents.claude-code]\nenabled = false\n")
    machine.claude(("Hidden", "Yes."))
    machine.copilot(("Shown", "Yes."))
    machine.told("index")
    assert len(machine.ids()) == 1
    rows = {row["agent"]: row for row in machine.told("agents", "--json").json["agents"]}
    assert rows["claude-code"]["enabled"] is False
    assert "claude-code" in machine.told("agents").out
    assert "turned off" in machine.told("agents").out


def test_an_agents_folder_can_be_set_in_the_config(machine: Machine) -> None:
    machine.claude(("In another place", "Yes."))
    moved = machine.home / "elsewhere"
    (machine.home / ".claude").rename(moved)
    assert machine.told("list").code == 1
    machine.config(f'[agents.claude-code]\npath = "{moved}"\n')
    assert "In another place" in machine.told("list").out


@pytest.mark.parametrize("command", ["health", "agents", "schema-check", "index"])
def test_json_of_upkeep_commands_is_one_compact_line(shop: Machine, command: str) -> None:
    answer = shop.told(command, "--json")
    assert answer.out.count("\n") == 1
    assert ": " not in answer.out.replace(": user", "").replace(": agent", "")[:40]
    assert isinstance(answer.json, dict)
