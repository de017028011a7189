"""Pipes, folders and links in place of told's files, databases of others, wrong clocks, large histories."""

from __future__ import annotations

import os
import re
import signal
import time
from contextlib import closing
from threading import Timer
from typing import TYPE_CHECKING

import apsw
import pytest

from tests.cli.machine import Machine, ago
from tests.soak import thinned
from told import app
from told.cli.terminal import progress
from told.hook.dispatch import log_call, log_failure
from told.store import database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.cli.template import Build

_RULE = "Never run `git push --force`."
_OWN = (
    "key", "machine", "config.toml", "calls", "places", "memory.db", "sessions.db", "learn.lock", "registry",
    "journal/lock", "journal/*/lock", "journal/*/*.jsonl",
)  # fmt: skip


def build_used(machine: Machine) -> None:
    assert machine.told("remember", "--lock", "--scope", "global", _RULE).code == 0
    machine.claude(("Move the cache to Redis", "Moved."), cwd=machine.folder("shop"), at=ago(days=2))
    assert machine.told("index").code == 0


@pytest.fixture
def used(prepared: Callable[[Build], Machine]) -> Machine:
    """A machine with a locked rule and a session."""
    return prepared(build_used)


@pytest.fixture
def impatient() -> Iterator[None]:
    """End a test that waits for a pipe."""
    old = signal.signal(signal.SIGALRM, lambda *_: pytest.fail("told waits"))
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, old)


def _put(machine: Machine, name: str, make: Callable[[Path], object]) -> Path:
    """Put something in place of a file of told's."""
    path = next(machine.told_home.glob(name), machine.told_home / name)
    path.unlink(missing_ok=True)
    make(path)
    return path


def _to_zeros(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("make", thinned([os.mkfifo, os.mkdir, _to_zeros], 2))
@pytest.mark.parametrize("name", thinned(_OWN, 2))
def test_no_file_is_waited_for(used: Machine, name: str, make: Callable[[Path], object]) -> None:
    _put(used, name, make)
    for words in (("memories",), ("search", "redis"), ("remember", "One more."), ("health",)):
        said = used.told(*words)
        assert said.code in (0, 1, 2, 4)
        assert "bug in told" not in said.err


@pytest.mark.parametrize(
    "name", ["calls", "hook.log", "hook.trouble", "learn.lock", "sweep.lock", "journal/lock",
             "journal/*/*.jsonl", "places", "memory.db", "sessions.db"],
)  # fmt: skip
def test_nothing_is_written_through_a_link(used: Machine, tmp_path: Path, name: str) -> None:
    other = tmp_path / "other"
    other.write_text("precious")
    other.chmod(0o644)
    _put(used, name, lambda path: path.symlink_to(other))
    for words in (("memories",), ("search", "redis"), ("remember", "One more."), ("index",)):
        used.told(*words)
    log_failure(ValueError("no"), used.environ)
    try:
        log_call("codex", "prompt", {}, "", 1.0, environ=used.environ)
    except OSError:
        assert name == "hook.log"
    assert other.read_text() == "precious"
    assert other.stat().st_mode & 0o777 == 0o644


def test_home_may_be_a_link(used: Machine, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(used.told_home)
    assert used.told("remember", "Use uv for everything.", TOLD_HOME=str(link)).code == 0
    assert "Use uv" in used.told("memories", "--all-projects").out


_ODD = {
    "version 0": "PRAGMA user_version=0",
    "negative version": "PRAGMA user_version=-3",
    "older without tables": "DROP TABLE IF EXISTS session; PRAGMA user_version=2",
    "older": "PRAGMA user_version=5",
    "without tables": "DROP TABLE IF EXISTS turn; DROP TABLE IF EXISTS memory",
}


@pytest.mark.parametrize("sql", _ODD.values(), ids=_ODD)
@pytest.mark.parametrize("name", ["memory.db", "sessions.db"])
def test_database_of_an_odd_version_is_rebuilt(used: Machine, name: str, sql: str) -> None:
    connection = apsw.Connection(str(used.told_home / name))
    connection.execute(sql).fetchall()
    connection.close()
    found = used.told("search", "redis", "--all-projects")
    assert found.code == 0, found
    assert "Move the cache" in found.out
    assert _RULE in used.told("memories").out
    assert used.told("health", "--deep").code == 0


@pytest.mark.parametrize("version", [0, 2, 6, 7, 999])
@pytest.mark.parametrize("name", ["memory.db", "sessions.db"])
def test_database_of_others_is_kept(used: Machine, name: str, version: int) -> None:
    path = used.told_home / name
    path.unlink()
    connection = apsw.Connection(str(path))
    connection.execute(f"CREATE TABLE accounts(x); INSERT INTO accounts VALUES('mine');"
                       f"PRAGMA user_version={version}")  # fmt: skip
    connection.close()
    before = path.read_bytes()
    said = [used.told(*words) for words in (("memories",), ("search", "redis"), ("remember", "More."))]
    kept = path if path.read_bytes() == before else path.with_name(f"{name}.not-told")
    assert kept.read_bytes() == before
    assert not any("bug in told" in one.err for one in said)
    assert kept == path or _RULE in said[0].out


@pytest.mark.parametrize("year", [1901, 1960, 1970, 2038, 9999])
def test_wrong_clock_leaves_nothing_behind(used: Machine, monkeypatch: pytest.MonkeyPatch, year: int) -> None:
    now = time.time_ns()
    with monkeypatch.context() as clock:
        clock.setattr(time, "time_ns", lambda: (year - 1970) * 31_556_952 * 10**9)
        for words in (("remember", "--scope", "global", "The clock is odd."), ("memories",), ("index",)):
            said = used.told(*words)
            assert said.code == 0, said
    monkeypatch.setattr(time, "time_ns", lambda: now)
    assert "The clock is odd." in used.told("memories").out
    assert used.told("health", "--deep").code == 0
    assert used.told("rebuild").code == 0
    assert "The clock is odd." in used.told("memories").out


def test_history_is_learned_in_portions_without_a_background(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = machine.folder("shop")
    for number in range(5):
        machine.claude((f"From now on always use tool{number} for job{number}.", "OK."), cwd=folder)
    monkeypatch.setattr(app, "_LEARN_ALONE_SECONDS", 0.0)
    early = machine.told("search", "nowhere")
    assert "`told index` finishes it." in early.err
    assert machine.told("index").code == 0
    assert len(machine.told("memories", "--all-projects", "--json").json["memories"]) == 5


@pytest.mark.parametrize("name", [database.LEARN_LOCK, database.EMBED_LOCK])
def test_index_waits_for_a_search_that_learns(machine: Machine, name: str) -> None:
    machine.claude(("From now on always use ruff.", "OK."), cwd=machine.folder("shop"))
    machine.told_home.mkdir(mode=0o700, exist_ok=True)
    lock = database.acquire_lock(str(machine.told_home), name)
    assert lock
    Timer(0.2, os.close, [lock]).start()
    assert "Learned 1 statement" in machine.told("index").out
    with closing(apsw.Connection(str(machine.told_home / "sessions.db"))) as sessions:
        assert sessions.execute("SELECT count(*) FROM turn_meaning").get == 1


def test_index_says_what_another_told_is_learning(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.claude(("From now on always use ruff.", "OK."), cwd=machine.folder("shop"))
    machine.told_home.mkdir(mode=0o700, exist_ok=True)
    lock = database.acquire_lock(str(machine.told_home), database.LEARN_LOCK)
    assert lock
    monkeypatch.setattr(database, "WAIT_MS", 0)
    said = machine.told("index").out
    os.close(lock)
    assert "Your history is still being learned (1 session to go)." in said
    assert "still" not in machine.told("index").out


def test_progress_in_a_pipe_is_lines(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        machine.claude((f"From now on use tool{number} for job{number}.", "OK."), cwd=machine.folder("shop"))
    monkeypatch.setattr(progress, "_LINE_SECONDS", 0.0)
    lines = machine.told("index").err.splitlines()
    done = r"\d of 4 files, .* MB|learned from \d of 4 sessions|embedded \d of 4 turns"
    assert all(re.match(rf"told: \d+%, (?:{done})", line) for line in lines), lines
    for last in ("4 of 4 files", "learned from 4 of 4 sessions", "embedded 4 of 4 turns"):
        assert any(line.startswith(f"told: 100%, {last}") for line in lines), lines


def test_folder_that_is_no_text_gets_one_sentence_or_an_answer(used: Machine) -> None:
    odd = os.fsdecode(bytes(used.home) + b"/\xff\xfe")
    os.makedirs(f"{odd}/.claude/projects")
    assert used.told("memories", HOME=odd).code == 0
    os.chdir(odd)
    assert used.told("remember", "Use uv for everything.", HOME=odd).code == 0
    assert used.told("index", HOME=odd).code == 0
    refused = used.told("memories", TOLD_HOME=odd)
    assert (refused.code, refused.err) == (
        4, "told: The path of told's folder is not valid UTF-8. Set TOLD_HOME to another folder.\n"
    )  # fmt: skip
    connected = used.told("install", "--agent", "claude-code", "--yes", HOME=odd)
    assert (connected.code, connected.err.count("\n")) == (4, 1)
    assert "is not valid UTF-8" in connected.err
    in_project = used.told("install", "--agent", "claude-code", "--yes", "--scope", "project")
    assert (in_project.code, os.listdir(odd)) == (4, [".claude"])
    note = "Sessions of Claude Code are not imported: the folder's path is not valid UTF-8."
    assert note in used.told("health", HOME=odd).out
    assert note in used.told("health", "--json", HOME=odd).json["config"]
    assert note not in used.told("health").out
