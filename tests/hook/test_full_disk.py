"""A disk without space: everything that is there is read, nothing is half-written, and nothing is lost."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import apsw
import pytest

from tests.hook.desk import ASKED, Desk, begun, said_to_model, typed
from tests.hook.faults import full_disk
from told.store.opening import open_database

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LOCKED = "Never run `git push --force`."
_TEACHES = "From now on always run the tests with make check."
_SESSION = "0b5f2c1e-9d4a-4c57-8a30-1a2b3c4d5e6f"
_PUSH = "Run git push --force for the release"
_READS = (
    ("memories", "--all-projects"), ("search", "redis"), ("list", "--all-projects"), ("brief",), ("status",),
    ("explain", "push by force"), ("why", "force"), ("show", _SESSION), ("timeline", "--all-projects"),
    ("repos",), ("stats",), ("wonder", "redis"), ("scopes",), ("agents",), ("checkpoints",), ("proposals",),
)  # fmt: skip
_WRITES = (
    ("remember", "The build needs make nine."), ("lock", "staging"), ("undo",), ("index",), ("rebuild",),
    ("forget", "--source", "terminal", "--force"), ("checkpoint", "--goal", "finish it"), ("re-embed",),
    ("correct", "staging", "Deploys go through blue first."), ("reject", "staging"),
)  # fmt: skip


@pytest.fixture
def used(desk: Desk) -> Desk:
    """A machine on which told has been used for a while."""
    assert desk.told("remember", "--lock", "--scope", "global", _LOCKED).code == 0
    assert desk.told("remember", "--scope", "global", "Deploys go through staging first.").code == 0
    desk.claude(("Move the cache to Redis", "Moved."), cwd=desk.project, session=_SESSION)
    assert desk.told("index").code == 0
    return desk


def _contents(home: Path) -> dict[str, bytes]:
    """Return what told keeps, without logs, locks and what only speeds it up."""
    kept = (home / "journal", home / "checkpoints", home / "archive")
    files = [path for folder in kept for path in folder.rglob("*") if path.is_file() and path.name != "lock"]
    return {str(path): path.read_bytes() for path in [*files, home / "memory.db", home / "sessions.db"]}


@pytest.mark.parametrize("command", _READS, ids=" ".join)
def test_reading_answers_as_before(used: Desk, command: tuple[str, ...]) -> None:
    before = used.told(*command)
    with full_disk():
        now = used.told(*command)
    assert (now.code, now.out) == (before.code, before.out)
    assert now.err.count("\n") <= 1
    assert "bug" not in now.err


def test_health_says_what_is_wrong_and_a_search_that_it_may_be_old(used: Desk) -> None:
    with full_disk():
        checked, found = used.told("health"), used.told("search", "redis")
    assert checked.code == 0
    assert checked.out.startswith(f"RED 0.0 of 10. told cannot write to {used.told_home} (file too large).")
    assert found.err == (
        f"told: told cannot write to {used.told_home} (file too large). Raise the limit, then retry."
        " What is new may be missing here.\n"
    )


def test_hooks_hand_over_the_locked_rules(used: Desk) -> None:
    with full_disk():
        start = used.ask("claude-code", "start", begun(used, session="new"))
        prompt = used.prompt(_PUSH, session="other")
        tool = used.ask("claude-code", "tool", typed(used, "", session="new") | {
            "tool_name": "Bash", "tool_input": {"command": "git push --force"},
        })  # fmt: skip
        for event in ("compact", "stop", "end"):
            assert used.ask("claude-code", event, typed(used, ASKED, session="new")) == {}
    assert _LOCKED in said_to_model(start)
    assert _LOCKED in prompt
    assert tool["hookSpecificOutput"]["permissionDecision"] == "ask"


def test_unsaved_teaching_is_said_and_kept_from_the_transcript_later(used: Desk) -> None:
    with full_disk():
        answer = used.prompt(_TEACHES, session=_SESSION)
        command = used.prompt("/mem:lock Always use tabs here.", session=_SESSION)
    assert "NOT saved what the user just taught: told cannot write to" in answer
    assert "/mem:lock was not carried out: told cannot write to" in command
    assert not any("make check" in text for text in used.texts())
    used.claude(("Move the cache", "Moved."), (_TEACHES, "OK."), cwd=used.project, session=_SESSION)
    assert used.told("index").code == 0
    assert any("make check" in text for text in used.texts())


@pytest.mark.parametrize("command", _WRITES, ids=lambda one: one[0])
def test_writing_fails_as_a_whole_and_works_when_there_is_space(used: Desk, command: tuple[str, ...]) -> None:
    before = _contents(used.told_home)
    with full_disk():
        full = used.told(*command)
    assert (full.code, full.out) == (3, "")
    assert full.err.startswith("told: told cannot write to ")
    assert full.err.count("\n") == 1
    assert _contents(used.told_home) == before
    assert used.told(*command).code == 0
    assert not list(used.told_home.rglob("*.new"))


def test_journal_answers_where_its_database_is_missing_or_behind(used: Desk) -> None:
    database = used.told_home / "memory.db"
    old = database.read_bytes()
    assert used.told("remember", "--lock", "--scope", "global", "Never drop the zebra table.").code == 0
    for content in (old, None):
        database.unlink()
        if content:
            database.write_bytes(content)
        with full_disk():
            assert "zebra" in used.told("memories").out
            assert "zebra" in said_to_model(used.ask("claude-code", "start", begun(used, session="n")))
    assert "zebra" in used.told("memories").out


def test_log_without_its_index_is_read(used: Desk, tmp_path: Path) -> None:
    """As a copy of the files that a killed process left."""
    other = tmp_path / "copy"
    other.mkdir()
    source = open_database(str(used.told_home / "memory.db"), create=False)
    source.execute("PRAGMA wal_autocheckpoint=0; CREATE TABLE only_in_log(x)").fetchall()
    for name in ("memory.db", "memory.db-wal"):
        shutil.copy(used.told_home / name, other / name)
    source.close()
    with full_disk():
        copy = open_database(str(other / "memory.db"), create=False)
        assert copy.execute("SELECT count(*) FROM only_in_log").get == 0
        with pytest.raises(apsw.ReadOnlyError):
            copy.execute("DROP TABLE only_in_log")
        copy.close()
    assert (other / "memory.db-wal").stat().st_size > 0


def test_home_that_cannot_be_made_is_an_empty_one(desk: Desk) -> None:
    nowhere = "/proc/nowhere/told"
    assert desk.told("memories", TOLD_HOME=nowhere).code == 1
    found = desk.told("search", "redis", TOLD_HOME=nowhere)
    assert found.code == 1
    assert desk.told("health", TOLD_HOME=nowhere).out.startswith("RED 0.0 of 10. told cannot write to")
    assert desk.told("remember", "Use uv.", TOLD_HOME=nowhere).code == 4


@pytest.fixture
def small_disk(desk: Desk) -> Iterator[Desk]:
    """A machine whose told has a disk of its own, of 8 MB."""
    desk.told_home.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=8m", "told-test", str(desk.told_home)]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("nothing can be mounted here")
    yield desk
    subprocess.run(["umount", "-l", str(desk.told_home)], check=True)


@pytest.mark.soak
def test_really_full_disk(small_disk: Desk) -> None:
    """The last block of the journal may still have room: what it takes is saved, and not one line more."""
    desk = small_disk
    assert desk.told("remember", "--lock", "--scope", "global", _LOCKED).code == 0
    desk.claude(("Move the cache to Redis", "Moved."), cwd=desk.project, session=_SESSION)
    assert desk.told("index").code == 0
    filler = desk.told_home / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (65_536, 1):
            while True:
                try:
                    file.write(bytes(size))
                except OSError:
                    break
    saved = 0
    while (said := desk.told("remember", f"Saved at the end: number{saved} is zulu{saved}.")).code == 0:
        saved += 1
        assert saved < 50
    assert said.code == 3
    assert said.err.startswith("told: The disk is full: told cannot write to ")
    texts = desk.told("memories", "--all-projects", "-n", "100")
    assert texts.out.count("Saved at the end") == saved
    assert "The disk is full" in texts.err
    assert "Move the cache" in desk.told("search", "redis").out
    assert _LOCKED in said_to_model(desk.call("claude-code", "start", begun(desk, session="new")).json)
    answer = said_to_model(desk.call("claude-code", "prompt", typed(desk, _TEACHES, session="t")).json)
    assert "NOT saved what the user just taught: The disk is full" in answer
    os.remove(filler)
    desk.claude((_TEACHES, "OK."), cwd=desk.project, session=_SESSION.replace("0b5f", "0b60"))
    assert desk.told("index").code == 0
    assert any("make check" in text for text in desk.texts())
    assert desk.told("health", "--deep").code == 0
