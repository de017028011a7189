"""GitHub Copilot CLI: its event files and its store, together, each alone, and neither."""

from __future__ import annotations

import json
import shutil
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from told.agents.base import find_roots, find_sources
from told.agents.copilot_cli import AGENT
from told.agents.copilot_cli.events import parse_flat_yaml
from told.agents.reading import find_missing_columns
from told.model import USER, Begin, Checkpoint, Cursor, Facts, Mark, Message, Problem, Ref, Source, Touch
from told.store.foreign import ForeignDatabase

if TYPE_CHECKING:
    from collections.abc import Mapping

RUN = Path(__file__).parent.parent / "data" / "agents" / "copilot-cli" / "run"
SESSION = "9ce2de37-9ec8-4feb-ad73-7e58d5b39d49"
HELPER = f"{SESSION}/b87e4f01-863f-4e30-a533-382194f3fca4"
HELLO = "/home/dev/worktable/repos/copilot/hello.py"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    shutil.copytree(RUN, tmp_path / "home", copy_function=shutil.copyfile)
    return tmp_path / "home"


def sources(home: Path, environ: Mapping[str, str] | None = None) -> dict[str, Source]:
    found = find_sources(AGENT, find_roots(AGENT, environ or {"HOME": str(home)}))
    return {one[0].layout: one[0] for one in found if isinstance(one, tuple) and isinstance(one[0], Source)}


def events(home: Path, layout: str, cursor: Cursor | None = None) -> list[Any]:
    return list(AGENT.read(sources(home)[layout], cursor or Cursor()))


def typed(found: list[Any]) -> list[str]:
    return [event.text for event in found if isinstance(event, Message) and event.who == USER]


def known(found: list[Any], session: str) -> dict[str, Any]:
    """Merge the facts about a session as they are merged when they are stored."""
    merged: dict[str, Any] = {}
    for event in found:
        if isinstance(event, Facts) and event.session == session:
            named = ((one.name, getattr(event, one.name)) for one in fields(event))
            merged.update({field: value for field, value in named if value})
    return merged


def store(home: Path, *statements: str) -> None:
    connection = apsw.Connection(str(home / ".copilot" / "session-store.db"))
    for statement in statements:
        connection.execute(statement)
    connection.close()


def folder(home: Path) -> Path:
    return home / ".copilot" / "session-state" / SESSION


def add_event(home: Path, kind: str, data: dict[str, Any], **more: Any) -> None:
    line = {"type": kind, "data": data, "id": "x", "timestamp": "2026-11-16T00:00:00Z", **more}
    with (folder(home) / "events.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")


ADD_SESSION = (
    "INSERT INTO sessions(id, summary, created_at, updated_at)"
    " VALUES ('only-in-store', 'Fix the login', '2026-11-16 08:00:00', '2026-11-16 08:05:00')"
)
ADD_TURNS = (
    "INSERT INTO turns(session_id, turn_index, user_message, assistant_response, timestamp) VALUES"
    " ('only-in-store', 0, 'Fix the login', 'Fixed.', '2026-11-16 08:00:00'),"
    " ('only-in-store', 1, 'Thanks, now test it', 'Tested.', '2026-11-16T08:04:00.000Z')"
)
ADD_FILE = (
    "INSERT INTO session_files(session_id, file_path, tool_name, turn_index)"
    " VALUES ('only-in-store', '/repo/login.py', 'edit', 0)"
)
ADD_REFS = (
    "INSERT INTO session_refs(session_id, ref_type, ref_value, turn_index)"
    " VALUES ('only-in-store', 'pr', '17', 1), ('only-in-store', 'gist', 'x', 1)"
)
ADD_CHECKPOINT = (
    "INSERT INTO checkpoints(session_id, checkpoint_number, title, overview, history, work_done,"
    " technical_details, important_files, next_steps, created_at) VALUES ('only-in-store', 1, 'Login works',"
    " 'o', 'h', 'w', 't', 'i', 'n', '2026-11-16 08:05:00')"
)
ADD_REST = (ADD_FILE, ADD_REFS, ADD_CHECKPOINT)


def test_reads_only_typed_text_as_prompts() -> None:
    said = typed(events(RUN, "events"))
    assert len(said) == 16
    assert said[0] == "Create a file hello.py with a greet function, then run it"
    assert "Explore: list the files of this repository and report." not in said
    assert not any("system_reminder" in text or "MEMO" in text for text in said)


def test_keeps_id_and_time_of_user_messages() -> None:
    first = next(event for event in events(RUN, "events") if isinstance(event, Message))
    assert (first.key, first.at) == ("87d0d28e-7a08-4bad-9fb2-4711ffcfbac0", 1794772776831)


def test_separates_answers_steps_and_touches() -> None:
    found = events(RUN, "events")
    steps = [event.text for event in found if isinstance(event, Message) and event.form == "step"]
    assert steps[:2] == [f"[create] {HELLO}", "[bash] ls -la && python3 hello.py"]
    touches = [(event.path, event.how) for event in found if isinstance(event, Touch)]
    assert touches == [(HELLO, "create"), (HELLO, "read"), (HELLO, "edit"), (HELLO, "edit")]


def test_helper_has_its_own_session() -> None:
    found = events(RUN, "events")
    facts = known(found, HELPER)
    assert (facts["parent"], facts["kind"], facts["title"]) == (SESSION, "subagent", "Explore repo")
    assert [event.text for event in found if isinstance(event, Message) and event.session == HELPER] == [
        "Okay — noted. (mock réponse ✓)"
    ]


def test_reads_facts_from_events_and_workspace_file() -> None:
    facts = known(events(RUN, "events"), SESSION)
    assert facts["cwd"] == "/home/dev/worktable/repos/copilot"
    assert (facts["branch"], facts["repository"]) == ("feature/greeting", "acme/demo")
    assert facts["title"] == "Create a file hello.py with a greet function, then run it"
    assert facts["title_by"] == "agent"


def test_attributes_user_titles_to_the_user(home: Path) -> None:
    (folder(home) / "workspace.yaml").write_text('name: "Grüße: the \\"best\\" one"\nuser_named: true\n')
    facts = known(events(home, "events"), SESSION)
    assert (facts["title"], facts["title_by"]) == ('Grüße: the "best" one', "user")


def test_parses_yaml_quotes_blocks_and_comments() -> None:
    content = (
        "a: one # note\nb: 'it''s'\nc: null\nd: |-\n  first\n  second\ne:\n  nested: x\nf: http://x/#y\n"
    )
    assert parse_flat_yaml(content) == {
        "a": "one", "b": "it's", "c": "", "d": "first\nsecond", "e": "", "f": "http://x/#y",
    }  # fmt: skip


def test_reads_plan_and_checkpoint_files(home: Path) -> None:
    (folder(home) / "plan.md").write_text("# Plan\n1. rename\n")
    below = folder(home) / "checkpoints"
    (below / "index.md").write_text((below / "index.md").read_text() + "| 2 | Renamed | 002-renamed.md |\n")
    (below / "002-renamed.md").write_text(
        "<overview>Renamed greet.</overview>\n<work_done>\nhello.py\n</work_done>\n"
        "<next_steps>test</next_steps>"
    )
    (below / "003-free.md").write_text("## Free text\nno sections")
    (below / "004-outside.md").symlink_to("/etc/hostname")
    notes = [event for event in events(home, "events") if isinstance(event, Checkpoint)]
    assert [(note.number, note.title, note.overview) for note in notes] == [
        (0, "Plan", "# Plan\n1. rename"),
        (2, "Renamed", "Renamed greet."),
        (3, "Free text", "## Free text\nno sections"),
    ]
    assert (notes[1].work_done, notes[1].next_steps) == ("hello.py", "test")


def test_compaction_is_a_checkpoint_unless_its_file_exists(home: Path) -> None:
    data = {"success": True, "checkpointNumber": 5, "summaryContent": "<overview>So far.</overview>"}
    add_event(home, "session.compaction_complete", data)
    notes = [event for event in events(home, "events") if isinstance(event, Checkpoint)]
    assert [(note.number, note.overview) for note in notes] == [(5, "So far.")]
    (folder(home) / "checkpoints" / "005-so-far.md").write_text("<overview>In the file.</overview>")
    notes = [event for event in events(home, "events") if isinstance(event, Checkpoint)]
    assert [(note.number, note.overview) for note in notes] == [(5, "In the file.")]


@pytest.mark.parametrize("source", ["agent-x", "system", "skill-pdf", "autopilot", "jit-instruction"])
def test_ignores_messages_that_nobody_typed(home: Path, source: str) -> None:
    add_event(home, "user.message", {"content": "injected", "source": source})
    add_event(home, "user.message", {"content": "typed", "source": "user"})
    assert typed(events(home, "events"))[-2:] == ["Say hello twice", "typed"]


def test_counts_only_successful_edits_of_older_versions(home: Path) -> None:
    for call, success in (("c1", True), ("c2", False)):
        arguments = {"path": f"/repo/{call}.py"}
        add_event(
            home, "tool.execution_start", {"toolCallId": call, "toolName": "edit", "arguments": arguments}
        )
        add_event(home, "tool.execution_complete", {"toolCallId": call, "success": success})
    assert [event.path for event in events(home, "events") if isinstance(event, Touch)][4:] == ["/repo/c1.py"]


def test_remembers_open_edits_between_reads(home: Path) -> None:
    start = {"toolCallId": "c1", "toolName": "edit", "arguments": {"path": "/repo/a.py"}}
    add_event(home, "tool.execution_start", start)
    mark = events(home, "events")[-1]
    assert isinstance(mark, Mark)
    add_event(home, "tool.execution_complete", {"toolCallId": "c1", "success": True})
    found = events(home, "events", mark.cursor)
    assert [event.path for event in found if isinstance(event, Touch)] == ["/repo/a.py"]


def test_reports_a_bad_line_and_reads_the_rest(home: Path) -> None:
    with (folder(home) / "events.jsonl").open("a") as file:
        file.write("{broken\n")
    add_event(home, "user.message", {"content": "after"})
    found = events(home, "events")
    assert [event.line for event in found if isinstance(event, Problem)] == [449]
    assert typed(found)[-1] == "after"


def test_store_adds_no_turns_to_sessions_with_events(home: Path) -> None:
    store(
        home,
        f"INSERT INTO checkpoints(session_id, checkpoint_number, next_steps) VALUES ('{SESSION}', 1, 'N')",
        f"INSERT INTO session_refs(session_id, ref_type, ref_value) VALUES ('{SESSION}', 'commit', 'abc123')",
    )
    found = events(home, "store")
    assert not [event for event in found if isinstance(event, (Begin, Message, Touch))]
    assert known(found, SESSION)["title"] == "Create a file hello.py with a greet function, then run it"
    assert [(event.kind, event.value) for event in found if isinstance(event, Ref)] == [("commit", "abc123")]
    assert [event.next_steps for event in found if isinstance(event, Checkpoint)] == ["N"]


def test_reads_sessions_that_only_the_store_has(home: Path) -> None:
    store(home, ADD_SESSION, ADD_TURNS, *ADD_REST)
    found = [event for event in events(home, "store") if getattr(event, "session", "") == "only-in-store"]
    assert found[0] == Begin("only-in-store")
    assert [(event.who, event.text, event.at) for event in found if isinstance(event, Message)] == [
        ("user", "Fix the login", 1794816000000),
        ("agent", "Fixed.", 1794816000000),
        ("user", "Thanks, now test it", 1794816240000),
        ("agent", "Tested.", 1794816240000),
    ]
    assert [(event.path, event.how) for event in found if isinstance(event, Touch)] == [
        ("/repo/login.py", "edit")
    ]
    assert [(event.kind, event.value) for event in found if isinstance(event, Ref)] == [("pr", "17")]
    assert [event for event in found if isinstance(event, Checkpoint)] == [
        Checkpoint("only-in-store", 1, "Login works", "o", 1794816300000, "w", "t", "i", "n", "h")
    ]


def test_reads_turns_from_the_store_without_event_files(home: Path) -> None:
    shutil.rmtree(home / ".copilot" / "session-state")
    assert list(sources(home)) == ["store"]
    found = events(home, "store")
    assert found[0] == Begin(SESSION)
    assert len(typed(found)) == 14
    assert [(event.path, event.how) for event in found if isinstance(event, Touch)] == [(HELLO, "create")]


def test_reads_event_files_without_a_store(home: Path) -> None:
    (home / ".copilot" / "session-store.db").unlink()
    assert list(sources(home)) == ["events"]
    assert len(typed(events(home, "events"))) == 16


def test_gives_advice_without_any_files(home: Path) -> None:
    shutil.rmtree(home / ".copilot" / "session-state")
    (home / ".copilot" / "session-store.db").unlink()
    assert sources(home) == {}
    assert "/experimental" in AGENT.advice
    assert "SESSION_STORE" in AGENT.advice


def test_takes_missing_folder_from_workspace_file(home: Path) -> None:
    store(home, ADD_SESSION, ADD_TURNS)
    beside = home / ".copilot" / "session-state" / "only-in-store"
    beside.mkdir()
    (beside / "workspace.yaml").write_text("cwd: /repo\nbranch: login\nrepository: acme/login\n")
    facts = known(events(home, "store"), "only-in-store")
    assert (facts["cwd"], facts["branch"], facts["repository"]) == ("/repo", "login", "acme/login")
    assert facts["title"] == "Fix the login"


def test_reads_only_changed_sessions_of_the_store_again(home: Path) -> None:
    mark = events(home, "store")[-1]
    assert isinstance(mark, Mark)
    assert events(home, "store", mark.cursor) == []
    store(home, ADD_SESSION, ADD_TURNS)
    found = events(home, "store", mark.cursor)
    assert {event.session for event in found[:-1]} == {"only-in-store"}
    later = found[-1].cursor
    store(home, "INSERT INTO turns(session_id, turn_index, user_message) VALUES ('only-in-store', 2, 'More')")
    assert typed(events(home, "store", later)) == ["Fix the login", "Thanks, now test it", "More"]


def test_accepts_new_columns(home: Path) -> None:
    store(
        home,
        "ALTER TABLE turns ADD COLUMN mood TEXT",
        "ALTER TABLE sessions ADD COLUMN colour TEXT",
        ADD_SESSION,
    )
    store(home, ADD_TURNS)
    found = events(home, "store")
    assert not [event for event in found if isinstance(event, Problem)]
    assert len(typed(found)) == 2
    with ForeignDatabase(sources(home)["store"].path) as database:
        assert find_missing_columns(database, AGENT.tables) == []


def test_reports_a_missing_column_once_and_reads_the_rest(home: Path) -> None:
    store(home, ADD_SESSION, ADD_TURNS, *ADD_REST, "ALTER TABLE turns RENAME COLUMN user_message TO prompt")
    found = events(home, "store")
    assert [event.reason for event in found if isinstance(event, Problem)] == [
        "missing in the database: turns.user_message"
    ]
    assert typed(found) == []
    assert [event.title for event in found if isinstance(event, Checkpoint)] == ["Login works"]
    with ForeignDatabase(sources(home)["store"].path) as database:
        assert find_missing_columns(database, AGENT.tables) == ["turns.user_message"]


def test_reports_a_store_that_is_no_database(home: Path) -> None:
    (home / ".copilot" / "session-store.db").write_text("not a database" * 20)
    assert events(home, "store") == [Problem(0, "not a database")]


def test_variable_replaces_the_folder(home: Path) -> None:
    (home / ".copilot").rename(home / "elsewhere")
    assert sources(home) == {}
    environ = {"HOME": str(home), "COPILOT_HOME": str(home / "elsewhere")}
    assert sorted(sources(home, environ)) == ["events", "store"]
