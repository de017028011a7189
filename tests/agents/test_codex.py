"""Codex: rollouts of every generation, and what its databases add."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from told.agents.base import find_roots, find_sources
from told.agents.codex import AGENT
from told.agents.reading import find_missing_columns
from told.model import AGENT as BY_AGENT
from told.model import USER, Begin, Checkpoint, Cursor, Facts, Mark, Message, Problem, Source, Touch
from told.store.foreign import ForeignDatabase

if TYPE_CHECKING:
    from collections.abc import Iterable

DATA = Path(__file__).parent.parent / "data" / "agents" / "codex"
THREAD = "01a1e0e3-22de-7221-9c35-bc9f75bf2f6b"
PARENT = "01a1e0b1-3ba9-7be3-aec0-4effecdd796f"
HELPER = "01a1e0b1-959c-7312-bef7-b7ab161df997"
GONE = "01a1e0ad-63dc-7283-93a5-2a6abfe6d49d"
HELLO = "/home/dev/worktable/repos/codex/hello.py"
META = {"id": THREAD, "cwd": "/repo", "timestamp": "2026-11-15T20:25:44.415Z"}


def sources(home: Path, layout: str = "") -> list[Source]:
    found = find_sources(AGENT, find_roots(AGENT, {"HOME": str(home)}))
    every = [one[0] for one in found if isinstance(one, tuple) and isinstance(one[0], Source)]
    return [source for source in every if not layout or source.layout == layout]


def events(home: Path, layout: str = "", session: str = "") -> list[Any]:
    read = [event for source in sources(home, layout) for event in AGENT.read(source, Cursor())]
    return [event for event in read if not session or getattr(event, "session", "") == session]


def said(found: Iterable[Any], who: str) -> list[str]:
    return [
        event.text
        for event in found
        if isinstance(event, Message) and event.who == who and event.form == "text"
    ]


def steps(found: Iterable[Any]) -> list[str]:
    return [event.text for event in found if isinstance(event, Message) and event.form == "step"]


def touches(found: Iterable[Any]) -> list[tuple[str, str]]:
    return [(event.path, event.how) for event in found if isinstance(event, Touch)]


def response(role: str, *texts: str) -> tuple[str, dict[str, Any]]:
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text} for text in texts]
    return "response_item", {"type": "message", "role": role, "content": content}


def event(name: str, **fields: Any) -> tuple[str, dict[str, Any]]:
    return "event_msg", {"type": name, **fields}


def item(kind: str, **fields: Any) -> tuple[str, dict[str, Any]]:
    return event("item_completed", item={"type": kind, **fields})


def rollout(home: Path, *lines: tuple[str, dict[str, Any]], folder: str = "sessions/2026/11/15") -> Path:
    path = home / ".codex" / folder / f"rollout-2026-11-15T20-25-44-{THREAD}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    stamped = [{"timestamp": "2026-11-15T20:25:45Z", "type": kind, "payload": body} for kind, body in lines]
    path.write_text("".join(json.dumps(line) + "\n" for line in stamped))
    return path


def resumed(path: Path) -> list[Any]:
    """Read a file as it grows, line by line, going on from each mark."""
    lines = path.read_bytes().splitlines(keepends=True)
    cursor, found = Cursor(), []
    for count in range(1, len(lines) + 1):
        path.write_bytes(b"".join(lines[:count]))
        for one in AGENT.read(Source("codex", str(path), "rollout"), cursor):
            if isinstance(one, Mark):
                cursor = one.cursor
            else:
                found.append(one)
    return found


def copied(variant: str, tmp_path: Path) -> Path:
    shutil.copytree(DATA / variant, tmp_path / "home", copy_function=shutil.copyfile)
    return tmp_path / "home"


def execute(home: Path, name: str, *statements: str) -> None:
    connection = apsw.Connection(str(home / ".codex" / name))
    for statement in statements:
        connection.execute(statement)
    connection.close()


def test_reads_an_old_conversation_once() -> None:
    found = events(DATA / "old-0.44")
    assert said(found, USER) == ["Create a file hello.py with a greet function, then run it"]
    assert said(found, BY_AGENT)[0] == "I'll create the file first."
    assert len(said(found, BY_AGENT)) == 2
    facts = next(one for one in found if isinstance(one, Facts))
    assert (facts.session, facts.branch, facts.repository) == (
        THREAD, "feature/greeting", "https://github.com/acme/demo.git",
    )  # fmt: skip
    assert facts.cwd == "/home/dev/worktable/repos/old-codex-0.44"


def test_reads_a_new_conversation_once() -> None:
    found = events(DATA / "exec-classic-tools")
    assert said(found, USER) == [
        "Create a file hello.py with a greet function, then run it",
        "No, wrong name. Rename greet to salute please",
        "Run the tests",
        "No, never commit .env files! 絶対に",
        "Search the tools",
    ]
    assert len(said(found, BY_AGENT)) == 7
    assert steps(found)[:2] == [f"[apply_patch] {HELLO}", "[shell] ls -la && python3 hello.py"]
    assert touches(found) == [(HELLO, "create")]


def test_nested_calls_of_code_mode_are_steps_and_touches() -> None:
    found = events(DATA / "exec-codemode", "rollout", PARENT)
    assert touches(found) == [(HELLO, "create"), (HELLO, "read"), (HELLO, "edit"), (HELLO, "edit")]
    assert "[shell] cat hello.py" in steps(found)
    assert len(said(found, USER)) == 6


def test_reads_only_the_helpers_own_part() -> None:
    found = events(DATA / "exec-codemode", "rollout", HELPER)
    facts = next(one for one in found if isinstance(one, Facts))
    assert (facts.parent, facts.kind, facts.title) == (PARENT, "subagent", "Ramanujan")
    assert said(found, USER) == []
    assert said(found, BY_AGENT) == ["The sub-agent reported the files."]
    assert steps(found) == []


def test_compaction_is_a_checkpoint_without_preface() -> None:
    (note,) = (one for one in events(DATA / "tui", "rollout") if isinstance(one, Checkpoint))
    assert note.number == 1
    assert note.overview.startswith("1. Primary Request: create hello.py")
    assert note.overview.endswith("4. Pending: none.")
    assert said(events(DATA / "tui", "rollout"), BY_AGENT) == ["Create greeting script"]


def test_reads_old_files_from_response_items(tmp_path: Path) -> None:
    changes = ("*** Update File: a.py", "@@", "*** Add File: b.py", "+x", "*** Delete File: c.py")
    patch = "\n".join(("*** Begin Patch", *changes, "*** End Patch"))
    shell = {"command": ["bash", "-lc", "ls"], "workdir": "/repo/sub"}
    applied = {"command": ["apply_patch", patch], "workdir": "/repo/sub"}
    rollout(
        tmp_path,
        ("session_meta", META),
        response("developer", "be good"),
        response(
            "user", "# AGENTS.md instructions for /repo\nx", "<environment_context>\n</environment_context>"
        ),
        response("user", "<user_instructions>\nx\n</user_instructions>"),
        response("user", "Fix it"),
        response("assistant", "On it."),
        (
            "response_item",
            {"type": "function_call", "name": "shell", "arguments": json.dumps(shell), "call_id": "1"},
        ),
        ("response_item", {"type": "function_call", "name": "shell", "arguments": json.dumps(applied)}),
        ("response_item", {"type": "custom_tool_call", "name": "apply_patch", "input": patch}),
        ("response_item", {"type": "function_call_output", "output": "tool output"}),
        response("user", "Thanks"),
        response("assistant", "Done."),
    )
    found = events(tmp_path)
    assert said(found, USER) == ["Fix it", "Thanks"]
    assert said(found, BY_AGENT) == ["On it.", "Done."]
    assert steps(found) == ["[shell] ls", "[apply_patch] /repo/sub/a.py", "[apply_patch] /repo/a.py"]
    assert touches(found) == [
        ("/repo/sub/a.py", "edit"), ("/repo/sub/b.py", "create"), ("/repo/sub/c.py", "delete"),
        ("/repo/a.py", "edit"), ("/repo/b.py", "create"), ("/repo/c.py", "delete"),
    ]  # fmt: skip


def test_reads_first_generation_files(tmp_path: Path) -> None:
    path = rollout(tmp_path)
    lines = [META, {"record_type": "state"}, response("user", "Hi")[1], response("assistant", "Hello")[1]]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = events(tmp_path)
    assert (said(found, USER), said(found, BY_AGENT)) == (["Hi"], ["Hello"])
    assert found[0] == Facts(THREAD, cwd="/repo", started=1794774344415)


OLD_TURN = (
    response("user", "One"),
    event("user_message", message="One", kind="plain"),
    event("agent_reasoning", text="Thinking"),
    event("agent_message", message="First"),
    response("assistant", "First"),
)


def test_reads_files_continued_by_a_newer_version(tmp_path: Path) -> None:
    new_turn = (
        response("user", "Two"),
        item("UserMessage", id="u2", content=[{"type": "text", "text": "Two"}]),
        item("AgentMessage", id="a2", content=[{"type": "Text", "text": "Second"}]),
        response("assistant", "Second"),
    )
    path = rollout(tmp_path, ("session_meta", META), *OLD_TURN, *new_turn)
    found = events(tmp_path)
    assert (said(found, USER), said(found, BY_AGENT)) == (["One", "Two"], ["First", "Second"])
    assert resumed(path) == [one for one in found if not isinstance(one, Mark)]


def test_reads_repeated_items_once(tmp_path: Path) -> None:
    doubled = (
        event("user_message", message="One"),
        item("UserMessage", id="u1", content=[{"type": "text", "text": "One"}]),
        event("agent_message", message="First"),
        item("AgentMessage", id="a1", content=[{"type": "Text", "text": "First"}]),
        item("Plan", id="p1", text="The plan"),
        event("user_message", message="Two"),
    )
    rollout(tmp_path, ("session_meta", META), *doubled)
    found = events(tmp_path)
    assert (said(found, USER), said(found, BY_AGENT)) == (["One", "Two"], ["First"])


@pytest.mark.parametrize("variant", ["old-0.44", "tui", "exec-classic-tools", "exec-codemode"])
def test_incremental_read_equals_full_read(variant: str, tmp_path: Path) -> None:
    home = copied(variant, tmp_path)
    for source in sources(home, "rollout"):
        whole = [one for one in AGENT.read(source, Cursor()) if not isinstance(one, Mark)]
        assert resumed(Path(source.path)) == whole


def test_incremental_read_without_events_equals_full_read(tmp_path: Path) -> None:
    lines = (
        response("user", "One"),
        response("user", "Two"),
        response("assistant", "Yes"),
        response("user", "Three"),
    )
    path = rollout(tmp_path, ("session_meta", META), *lines)
    assert said(resumed(path), USER) == ["One", "Two", "Three"]


def test_removes_editor_context_from_prompts(tmp_path: Path) -> None:
    message = "# Context from my IDE setup:\n\n## Active file: a.py\n\n## My request for Codex:\nRename it\n"
    rollout(tmp_path, ("session_meta", META), event("user_message", message=message))
    assert said(events(tmp_path), USER) == ["Rename it"]


def test_failed_change_touches_nothing_and_move_touches_both(tmp_path: Path) -> None:
    rollout(
        tmp_path,
        ("session_meta", {**META, "history_mode": "paginated"}),
        item("FileChange", id="1", changes={"/repo/a.py": {"type": "update"}}, status="failed"),
        item("FileChange", id="2", changes={"/repo/a.py": {"type": "update", "move_path": "/repo/b.py"}}),
        item("FileChange", id="3", changes={"/repo/c.py": {"type": "delete"}}, status="completed"),
    )
    assert touches(events(tmp_path)) == [
        ("/repo/a.py", "delete"),
        ("/repo/b.py", "create"),
        ("/repo/c.py", "delete"),
    ]


def test_marks_archived_threads(tmp_path: Path) -> None:
    rollout(tmp_path, ("session_meta", META), *OLD_TURN, folder="archived_sessions")
    assert next(one for one in events(tmp_path) if isinstance(one, Facts)).archived
    assert said(events(tmp_path), USER) == ["One"]


def test_state_database_adds_titles() -> None:
    found = events(DATA / "tui", "state")
    assert [type(one) for one in found] == [Facts, Mark]
    assert (found[0].title, found[0].branch) == ("Create greeting script", "feature/greeting")
    helper = next(one for one in events(DATA / "exec-codemode", "state", HELPER))
    assert (helper.parent, helper.kind, helper.title) == (PARENT, "subagent", "Ramanujan")


def test_index_adds_titles() -> None:
    assert events(DATA / "tui", "index")[0] == Facts(
        "01a1e0ae-f960-74f3-92f1-e668f2d31497", title="Create greeting script"
    )


def test_reads_only_changed_threads_again(tmp_path: Path) -> None:
    home = copied("exec-codemode", tmp_path)
    (source,) = sources(home, "state")
    mark = list(AGENT.read(source, Cursor()))[-1]
    assert isinstance(mark, Mark)
    assert list(AGENT.read(source, mark.cursor)) == []
    execute(
        home, source.path, f"UPDATE threads SET archived = 1, archived_at = 1894773811 WHERE id = '{PARENT}'"
    )  # fmt: skip
    changed = list(AGENT.read(source, mark.cursor))
    assert [(one.session, one.archived) for one in changed if isinstance(one, Facts)] == [(PARENT, True)]


def test_reads_the_newest_state_database(tmp_path: Path) -> None:
    home = copied("tui", tmp_path)
    shutil.copy(home / ".codex" / "state_5.sqlite", home / ".codex" / "state_12.sqlite")
    execute(home, "state_12.sqlite", "UPDATE threads SET name = 'Newest'")
    assert [one.title for one in events(home, "state") if isinstance(one, Facts)] == ["Newest"]


def test_reads_history_only_without_a_rollout() -> None:
    found = events(DATA / "exec-codemode", "history")
    assert found[0] == Begin("01a1e0ac-dcd3-7c43-a6ba-a361720d229d")
    begun = {one.session for one in found if isinstance(one, Begin)}
    assert GONE in begun
    assert not begun & {PARENT, HELPER}
    gone = [one for one in found if getattr(one, "session", "") == GONE]
    assert said(gone, USER) == ["Create a file hello.py with a greet function, then run it"]
    assert said(gone, BY_AGENT)[0] == "I'll create the file first."
    assert steps(gone) == [f"[apply_patch] {HELLO}", "[shell] ls -la && python3 hello.py"]
    assert touches(gone) == [(HELLO, "create")]


def test_helper_history_has_no_user_messages(tmp_path: Path) -> None:
    home = copied("exec-codemode", tmp_path)
    for source in sources(home, "rollout"):
        Path(source.path).unlink()
    task = json.dumps({"type": "userMessage", "id": "t", "content": [{"type": "text", "text": "do it"}]})
    execute(
        home,
        "thread_history_1.sqlite",
        "INSERT INTO thread_items(thread_id, turn_id, item_id, rollout_ordinal, created_at_ms, item_json)"
        f" VALUES ('{HELPER}', 't', 't', 1, 1, '{task}')",
    )
    found = events(home, "history")
    assert said([one for one in found if getattr(one, "session", "") == HELPER], USER) == []
    assert len(said([one for one in found if getattr(one, "session", "") == PARENT], USER)) == 6


def test_reports_missing_columns_and_accepts_new_ones(tmp_path: Path) -> None:
    home = copied("exec-codemode", tmp_path)
    (state,), (history,) = sources(home, "state"), sources(home, "history")
    execute(
        home, state.path, "ALTER TABLE threads ADD COLUMN mood TEXT", "ALTER TABLE threads DROP COLUMN name"
    )
    assert not [one for one in events(home, "state") if isinstance(one, Problem)]
    assert len(events(home, "state", PARENT)) == 1
    execute(home, history.path, "ALTER TABLE thread_items RENAME COLUMN item_json TO body")
    assert events(home, "history") == [Problem(0, "missing in the database: thread_items.item_json")]
    needed = [table for table in AGENT.tables if table.layout == "history"]
    with ForeignDatabase(history.path) as database:
        assert find_missing_columns(database, needed) == ["thread_items.item_json"]


def test_reports_a_bad_line_and_reads_the_rest(tmp_path: Path) -> None:
    path = rollout(tmp_path, ("session_meta", META), *OLD_TURN)
    path.write_text("[1]\n{broken\n" + path.read_text())
    found = events(tmp_path)
    assert [one.line for one in found if isinstance(one, Problem)] == [1, 2]
    assert said(found, USER) == ["One"]


def test_variable_replaces_the_folder(tmp_path: Path) -> None:
    rollout(tmp_path, ("session_meta", META), *OLD_TURN)
    (tmp_path / ".codex").rename(tmp_path / "elsewhere")
    environ = {"HOME": str(tmp_path), "CODEX_HOME": str(tmp_path / "elsewhere")}
    assert [
        one
        for one in find_sources(AGENT, find_roots(AGENT, environ))
        if isinstance(one, tuple) and isinstance(one[0], Source)
    ]
    assert sources(tmp_path) == []
