"""What a user gets from opencode's database and from its older tree of files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from told.agents.base import find_roots, find_sources
from told.agents.opencode import AGENT as OPENCODE
from told.model import AGENT, USER, Begin, Checkpoint, Cursor, Facts, Mark, Message, Problem, Source, Touch
from told.store import foreign

if TYPE_CHECKING:
    import pytest

DATA = Path(__file__).parent.parent / "data" / "agents" / "opencode"
MAIN, HELPER = "ses_e1f39255bffeaZMCBuNVcYUw1x", "ses_e1f376e6cfferCm4TGwYG8gKd9"


def sources(home: Path) -> list[Source]:
    found = find_sources(OPENCODE, find_roots(OPENCODE, {"HOME": str(home)}))
    return [one[0] for one in found if isinstance(one, tuple) and isinstance(one[0], Source)]


def read(home: Path, cursor: Cursor = Cursor()) -> list[Any]:  # noqa: B008
    return [event for source in sources(home) for event in OPENCODE.read(source, cursor)]


def said(events: list[Any], who: str, form: str = "text") -> list[str]:
    return [
        event.text
        for event in events
        if isinstance(event, Message) and (event.who, event.form) == (who, form)
    ]


def writable(variant: str, tmp_path: Path) -> Path:
    shutil.copytree(DATA / variant, tmp_path / "home", copy_function=shutil.copyfile)
    return tmp_path / "home"


def test_reads_prompts_without_quotes_and_context() -> None:
    assert said(read(DATA / "database"), USER) == [
        "Create a file hello.py with a greet function, then run it",
        "No, wrong name. Rename greet to salute please",
        "Run the tests",
        "No, never commit .env files! Always keep secrets out of git. 絶対に",
        "Plan the work",
        "Delegate the exploration to a sub-agent",
        "Run the dangerous thing",
        "Use the memory tool please",
    ]


def test_reads_the_older_tree_of_files() -> None:
    events = read(DATA / "tree")
    assert said(events, USER)[0] == "Create a file hello.py with a greet function, then run it"
    assert said(events, USER)[-1] == "No, never commit .env files! 絶対に"
    (facts,) = [event for event in events if isinstance(event, Facts)]
    assert facts.cwd == "/home/dev/worktable/repos/old-opencode-1.1.65"
    assert (facts.title, facts.started, facts.model) == (
        "Create greeting script",
        1794774485565,
        "mock-model",
    )


def test_reads_facts_of_a_session() -> None:
    facts = {event.session: event for event in read(DATA / "database") if isinstance(event, Facts)}
    assert facts[MAIN].cwd == facts[HELPER].cwd == "/home/dev/worktable/repos/opencode"
    assert facts[MAIN].title == "Create greeting script"
    assert (facts[MAIN].kind, facts[MAIN].parent) == ("", "")
    assert (facts[HELPER].kind, facts[HELPER].parent) == ("subagent", MAIN)


def test_attributes_helper_prompts_to_the_agent() -> None:
    helper = [
        event for event in read(DATA / "database") if isinstance(event, Message) and event.session == HELPER
    ]
    assert helper[0].text == "Explore: list the files of this repository and report."
    assert {event.who for event in helper} == {AGENT}


def test_reads_files_touched_by_tools_and_commands() -> None:
    touches = [(event.path, event.how) for event in read(DATA / "database") if isinstance(event, Touch)]
    folder = "/home/dev/worktable/repos/opencode"
    assert touches == [
        (f"{folder}/hello.py", "create"),
        (f"{folder}/hello.py", "read"),
        (f"{folder}/hello.py", "edit"),
        (f"{folder}/hello.py", "edit"),
        (f"{folder}/.gitignore", "edit"),
    ]


def test_reads_files_of_patches_and_ignores_failed_edits() -> None:
    touches = {(event.path, event.how) for event in read(DATA / "compaction") if isinstance(event, Touch)}
    assert touches == {("greet.py", "read"), ("greet.py", "edit"), ("new.py", "create"), ("old.py", "delete")}


def test_compaction_is_a_checkpoint_and_no_message() -> None:
    events = read(DATA / "compaction")
    (checkpoint,) = [event for event in events if isinstance(event, Checkpoint)]
    assert checkpoint.overview.startswith("## Goal\nGreet with hi.")
    assert said(events, USER) == ['Say "hi" in greet.py and drop old.py']
    assert said(events, AGENT) == ["Done.", "Nothing is left to do."]
    assert "The greeting lives in greet.py." in said(events, AGENT, "step")


def test_ignores_generated_titles() -> None:
    assert [event.title for event in read(DATA / "compaction") if isinstance(event, Facts)] == [""]


def test_reads_only_changed_sessions_again(tmp_path: Path) -> None:
    home = writable("database", tmp_path)
    last = [event.cursor for event in read(home) if isinstance(event, Mark)][-1]
    assert read(home, last) == []
    database = apsw.Connection(str(home / ".local/share/opencode/opencode.db"))
    database.execute(
        "INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)",
        ("msg_zz", HELPER, last.offset + 5, json.dumps({"role": "user"})),
    )
    part = json.dumps({"type": "text", "text": "One thing more"})
    database.execute(
        "INSERT INTO part VALUES ('prt_zz', 'msg_zz', ?1, ?2, ?2, ?3)", (HELPER, last.offset + 5, part)
    )
    database.close()
    events = read(home, last)
    assert events[0] == Begin(HELPER)
    assert said(events, AGENT)[-1] == "One thing more"
    assert {event.session for event in events if isinstance(event, Message)} == {HELPER}
    assert events[-1] == Mark(Cursor(last.offset + 5))


def test_reports_a_bad_message_and_reads_the_others(tmp_path: Path) -> None:
    home = writable("tree", tmp_path)
    broken = sorted(home.glob(".local/share/opencode/storage/message/*/*.json"))[1]
    broken.write_text("{")
    events = read(home)
    assert Problem(0, f"message {broken.stem}: not JSON") in events
    assert len(said(events, USER)) == 4


def test_reports_a_damaged_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign, "BACKOFF", ())
    home = writable("database", tmp_path)
    (home / ".local/share/opencode/opencode.db").write_bytes(b"not a database at all" * 20)
    assert read(home) == [Problem(0, "not a database")]


def test_finds_the_data_folder_by_xdg(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
    assert find_roots(OPENCODE, environ) == [str(tmp_path / "data" / "opencode")]
