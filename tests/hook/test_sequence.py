"""What a session is handed: each thing once, again when it was lost, and never its own words."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime

import pytest

from tests.hook.desk import AGENTS, ASKED, TAUGHT, Desk, begun, said_to_model, typed

_RULE = "We use pnpm here, never npm."


def test_memory_is_shown_once_per_session(desk: Desk) -> None:
    desk.prompt(TAUGHT, session="elsewhere")
    assert "pnpm" in desk.prompt(ASKED)
    assert desk.prompt(ASKED) == ""
    assert "pnpm" in desk.prompt(ASKED, session="s-2")


def test_memory_shown_at_start_is_not_repeated_at_a_prompt(desk: Desk) -> None:
    desk.prompt(TAUGHT, session="elsewhere")
    assert "pnpm" in said_to_model(desk.ask("claude-code", "start", begun(desk)))
    assert desk.prompt(ASKED) == ""


def test_shown_memories_stay_known_after_journaling(desk: Desk) -> None:
    """A stop moves the note of a session into the journal; another session's start moves all of them."""
    desk.prompt(TAUGHT, session="elsewhere")
    assert "pnpm" in desk.prompt(ASKED)
    desk.ask("claude-code", "stop", begun(desk))
    assert desk.prompt(ASKED) == ""
    assert "pnpm" in desk.prompt(ASKED, session="s-2")
    desk.ask("claude-code", "start", begun(desk, session="s-3"))
    assert desk.prompt(ASKED, session="s-2") == ""
    assert [one["times_shown"] for one in desk.memories()] == [2]  # to s-1 and s-2; s-3 goes on


@pytest.mark.parametrize("agent", ["claude-code", "codex", "qwen-code"])
def test_memory_is_shown_again_after_a_compaction(desk: Desk, agent: str) -> None:
    desk.prompt(TAUGHT, session="elsewhere")
    assert "pnpm" in desk.prompt(ASKED, agent)
    assert desk.prompt(ASKED, agent) == ""
    assert desk.ask(agent, "compact", begun(desk, agent)) == {}
    again = said_to_model(desk.ask(agent, "start", begun(desk, agent, source="compact")))
    assert "pnpm" in again
    assert desk.prompt(ASKED, agent) == ""  # the start after the compaction has just said it


@pytest.mark.parametrize("agent", AGENTS)
def test_compact_event_alone_resets_shown_memories(desk: Desk, agent: str) -> None:
    """Some agents do not begin a session anew after one; the next prompt gets what was lost."""
    desk.prompt(TAUGHT, session="elsewhere")
    assert "pnpm" in desk.prompt(ASKED, agent)
    desk.ask(agent, "stop", begun(desk, agent))
    assert desk.ask(agent, "compact", begun(desk, agent)) == {}
    assert "pnpm" in desk.prompt(ASKED, agent)
    assert desk.prompt(ASKED, agent) == ""


def test_compaction_affects_only_its_session(desk: Desk) -> None:
    desk.prompt(TAUGHT, session="elsewhere")
    for session in ("s-1", "s-2"):
        assert "pnpm" in desk.prompt(ASKED, session=session)
    desk.ask("claude-code", "compact", begun(desk))
    assert desk.prompt(ASKED, session="s-2") == ""
    assert "pnpm" in desk.prompt(ASKED)


def test_session_is_not_shown_its_own_statements(desk: Desk) -> None:
    assert "Rules:" not in desk.prompt(TAUGHT)
    assert desk.prompt(ASKED) == ""
    desk.ask("claude-code", "stop", begun(desk))
    assert desk.prompt(ASKED) == ""


def test_repeated_rule_is_not_shown_with_the_same_prompt(desk: Desk) -> None:
    desk.prompt(TAUGHT, session="elsewhere")
    assert "Rules:" not in desk.prompt(TAUGHT)
    assert desk.prompt(ASKED) == ""


def test_subagent_brief_does_not_count_as_shown(desk: Desk) -> None:
    desk.prompt(TAUGHT, session="elsewhere")
    helper = desk.payload("claude-code", "SubagentStart", session_id="s-1")
    assert "pnpm" in said_to_model(desk.ask("claude-code", "helper", helper))
    assert "pnpm" in desk.prompt(ASKED)


def test_correction_supersedes_the_old_rule(desk: Desk) -> None:
    desk.prompt("We deploy the API to staging with make ship.", session="one")
    desk.prompt("Always use tabs for indentation.", session="one")
    desk.prompt("Actually, always use spaces for indentation, not tabs.", session="two")
    handed = said_to_model(desk.ask("codex", "start", begun(desk, "codex", "three")))
    assert "spaces" in handed
    assert "use tabs" not in handed.lower().replace("(was: always use tabs for indentation.)", "")
    assert any("tabs" in one["text"] for one in desk.memories("--status", "superseded"))


def test_locked_rule_survives_later_prompts(desk: Desk) -> None:
    desk.prompt("/mem:lock Always use tabs for indentation.", session="one")
    desk.prompt("Actually, always use spaces for indentation, not tabs.", session="two")
    assert [one["text"] for one in desk.memories() if one["locked"]] == ["Always use tabs for indentation."]
    handed = said_to_model(desk.ask("codex", "start", begun(desk, "codex", "three")))
    assert "tabs" in handed
    assert "spaces" not in handed


def test_project_rule_is_not_shown_in_another_project(desk: Desk) -> None:
    desk.prompt(TAUGHT, session="elsewhere")
    other = typed(desk, ASKED) | {"cwd": desk.folder("code/other")}
    assert desk.ask("claude-code", "prompt", other) == {}


def test_subfolder_is_the_same_project(desk: Desk) -> None:
    root = desk.repo("code/acme-api")
    assert root == desk.project
    desk.prompt(TAUGHT, session="elsewhere")
    below = typed(desk, ASKED) | {"cwd": desk.folder("code/acme-api/web/src")}
    assert "pnpm" in said_to_model(desk.ask("claude-code", "prompt", below))


def test_prompt_in_the_transcript_is_not_learned_twice(desk: Desk) -> None:
    session = "0b5f2c1e-9d4a-4c57-8a30-1a2b3c4d5e6f"
    desk.prompt(TAUGHT, session=session)
    before = desk.memories()
    assert [one["text"] for one in before] == [_RULE]
    now = datetime.now(UTC)
    desk.claude((TAUGHT, "Understood: pnpm it is."), at=now, cwd=desk.project, session=session)
    path = next(desk.home.glob(f".claude/projects/*/{session}.jsonl"))
    stop = desk.payload("claude-code", "Stop", session_id=session, transcript_path=str(path))
    assert desk.call("claude-code", "stop", stop).is_silent
    assert desk.told("index").code == 0
    after = desk.memories()
    assert [one["text"] for one in after] == [_RULE]
    assert after[0]["repeated"] == 0
    assert after[0]["confidence"] == before[0]["confidence"]
    listed = desk.told("list", "--json", "--all-projects")
    assert len(listed.json["sessions"]) == 1


def test_missed_prompt_is_learned_at_the_stop(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 0.0)  # a machine that is quick enough
    session = "0b5f2c1e-9d4a-4c57-8a30-1a2b3c4d5e6f"
    desk.claude((TAUGHT, "Understood."), at=datetime.now(UTC), cwd=desk.project, session=session)
    path = next(desk.home.glob(f".claude/projects/*/{session}.jsonl"))
    stop = desk.payload("claude-code", "Stop", session_id=session, transcript_path=str(path))
    assert desk.ask("claude-code", "stop", stop) == {}
    assert "pnpm" in desk.prompt(ASKED, "codex", "other")


def test_start_shows_where_the_last_session_stopped(desk: Desk) -> None:
    desk.claude(
        ("Move the cache to Redis", "Moved the cache to Redis; the eviction policy is still open."),
        at=datetime.now(UTC), cwd=desk.project, session="0b5f2c1e-9d4a-4c57-8a30-1a2b3c4d5e6f",
    )  # fmt: skip
    assert desk.told("index").code == 0
    handed = said_to_model(desk.ask("codex", "start", begun(desk, "codex", "other")))
    assert "Move the cache to Redis" in handed
    assert json.dumps(handed).count("eviction policy") == 1


def test_opencode_gets_its_brief_again_after_a_compaction(desk: Desk) -> None:
    """Its plugin keeps what the start said, and asks for it anew when a session was compacted."""
    desk.prompt(TAUGHT, session="elsewhere")
    assert "pnpm" in said_to_model(desk.ask("opencode", "start", begun(desk, "opencode")))
    desk.ask("opencode", "compact", begun(desk, "opencode"))
    payload = begun(desk, "opencode") | {"hook_event_name": "session.compacted"}
    assert "pnpm" in said_to_model(desk.ask("opencode", "compacted", payload))
    assert desk.prompt(ASKED, "opencode") == ""


@pytest.mark.parametrize("repo", [False, True])
def test_linked_folder_is_the_same_project(desk: Desk, repo: bool) -> None:
    if repo:
        desk.repo("code/acme-api")
    link = desk.home / "link"
    link.symlink_to(desk.project)
    desk.ask("claude-code", "prompt", typed(desk, TAUGHT, session="elsewhere") | {"cwd": str(link)})
    ways = (str(link), desk.project, f"{desk.project}/", f"{link}/", f"{desk.project}/../acme-api")
    for number, cwd in enumerate(ways):
        start = begun(desk, session=f"start-{number}") | {"cwd": cwd}
        assert "pnpm" in said_to_model(desk.ask("claude-code", "start", start)), cwd
        prompt = typed(desk, ASKED, session=f"prompt-{number}") | {"cwd": cwd}
        assert "pnpm" in said_to_model(desk.ask("claude-code", "prompt", prompt)), cwd


def test_statement_in_the_home_folder_is_global(desk: Desk) -> None:
    """There is no project there."""
    desk.ask("claude-code", "prompt", typed(desk, TAUGHT, session="elsewhere") | {"cwd": str(desk.home)})
    assert "pnpm" in desk.prompt(ASKED)
