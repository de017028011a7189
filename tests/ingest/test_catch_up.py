"""Queries read only a part of a backlog; a sweep reads the rest."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.ingest.box import differences
from tests.soak import points
from told.ingest import sweep
from told.ingest.scan import scan
from told.store.opening import open_database
from told.store.sessions.source_states import SourceStates

if TYPE_CHECKING:
    import pytest

    from tests.ingest.box import Box


class Clock:
    """A clock that goes on a little whenever a file has been read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, each: float) -> None:
        self.now = 1000.0
        self.reads = 0
        events = sweep._read_events

        def counted(*arguments: object) -> object:
            self.reads += 1
            yield from events(*arguments)  # type: ignore[arg-type]
            self.now += each

        monkeypatch.setattr(sweep, "_read_events", counted)
        monkeypatch.setattr(time, "monotonic", lambda: self.now)


def backlog(box: Box, count: int) -> None:
    for number in range(count):
        talk = box.claude(f"session-{number:04}", folder=f"-p{number % 20}")
        talk.turn(f"Question about topic {number}", "An answer.").write()


def test_query_stops_reading_at_its_deadline(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    backlog(box, 100)
    clock = Clock(monkeypatch, each=0.01)
    answer = box.told("list", "--json")
    read = clock.reads
    assert 1 <= read <= 15, "about a tenth of a second, at a hundredth for each file"
    assert answer.json["unread_files"] == 100 - read


def test_each_query_reads_more_until_nothing_is_left(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    backlog(box, 300)
    clock = Clock(monkeypatch, each=0.0015)
    left = []
    for _ in range(30):
        answer = box.told("list", "--json").json
        assert answer.get("unread_files", 0) == 300 - clock.reads, "also once many files are known"
        left.append(answer.get("unread_files", 0))
        if not left[-1]:
            break
        if left[-2:-1] == left[-1:]:
            box.told("index")
    assert left[-1] == 0
    assert len(left) > 3
    assert box.told("list", "--json").json["total"] == 300


def test_latest_sessions_are_read_first(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    backlog(box, 100)
    for number, path in enumerate(sorted((box.home / ".claude").rglob("*.jsonl"))):
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
    latest = max((box.home / ".claude").rglob("*.jsonl"), key=lambda path: path.stat().st_mtime_ns)
    Clock(monkeypatch, each=0.01)
    assert latest.stem in [
        row["native_id"] for row in box.told("list", "--json", "-n", "50").json["sessions"]
    ]


def test_long_file_is_read_in_parts(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    talk = box.claude("long")
    for number in range(400):
        talk.turn(f"Question {number}", "An answer of some length. " * 200)
    talk.write()
    ticks = iter(range(1_000_000))
    monkeypatch.setattr(time, "monotonic", lambda: next(ticks) * 0.09)
    seen = []
    for _ in range(40):
        answer = box.told("list", "--json").json
        seen.append(answer["sessions"][0]["turns"] if answer["sessions"] else 0)
        if not answer.get("unread_files"):
            break
    assert 0 < seen[0] < 400
    assert seen == sorted(seen)
    monkeypatch.undo()
    box.index()
    assert len(box.turns("long")) == 400


def test_unchanged_files_are_not_read(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    backlog(box, 50)
    box.index()
    clock = Clock(monkeypatch, each=0.01)
    assert "unread_files" not in box.told("list", "--json").json
    connection = open_database(str(box.store), create=False)
    assert scan(SourceStates(connection), box.environ, "()()").is_empty
    connection.close()
    assert clock.reads == 0


def test_busy_database_answers_with_known_data(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    backlog(box, 3)
    box.index()
    monkeypatch.setattr("told.store.database.WAIT_MS", 20)
    writer = open_database(str(box.store), create=False)
    writer.execute("BEGIN IMMEDIATE")
    backlog(box, 5)
    answer = box.told("list", "--json")
    assert (answer.code, answer.err) == (0, "")
    assert answer.json["total"] == 3
    writer.execute("ROLLBACK")
    writer.close()
    assert box.told("list", "--json").json["total"] == 5
    assert box.told("health", "--json").json["problems"] == []


# -- the sweep behind the answer --------------------------------------------------------------------


def sweeps_of(box: Box) -> list[int]:
    """Return the processes that sweep for this machine."""
    found = []
    for entry in Path("/proc").iterdir() if Path("/proc").is_dir() else ():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes()
                if b"sweep" in command and str(box.told_home).encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def wait_for(condition: object, seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline, "it takes too long"
        time.sleep(0.05)


def ask(box: Box, *words: str) -> subprocess.CompletedProcess[str]:
    process = box.start(*words, TOLD_BACKGROUND="on")
    out, err = process.communicate(timeout=300)
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def test_background_sweep_reads_the_rest_and_ends(box: Box) -> None:
    sessions = points(everyday=150, soak=900)  # far more than is read in a tenth of a second
    for number in range(sessions):
        talk = box.claude(f"session-{number:04}", folder=f"-p{number % 20}")
        for turn in range(4):
            talk.turn(f"Question {turn} about topic {number}", "An answer of some length. " * 20)
        talk.write()
    first = ask(box, "list", "--json")
    assert first.returncode == 0
    assert '"unread_files"' in first.stdout
    wait_for(lambda: box.rows("SELECT count(*) FROM session WHERE turns > 0") == [(sessions,)])
    wait_for(lambda: not sweeps_of(box))
    assert box.rows("SELECT at > 0 FROM sweep") == [(1,)]
    assert '"unread_files"' not in box.told("list", "--json").out
    known = box.rows("SELECT native, turns FROM session ORDER BY native")
    box.drop_store()
    box.index()
    assert known == box.rows("SELECT native, turns FROM session ORDER BY native")


def test_only_one_sweep_runs_at_a_time(box: Box) -> None:
    sessions = points(everyday=150, soak=400)
    backlog(box, sessions)
    asked = [box.start("list", TOLD_BACKGROUND="on") for _ in range(points(everyday=3, soak=4))]
    most = 0
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        time.sleep(0.01)
        # A sweep that finds another one at work leaves at once.
        most = max(most, sum(_has_lock(pid) for pid in sweeps_of(box)))
        if all(process.poll() is not None for process in asked) and not sweeps_of(box):
            break
    for process in asked:
        _, err = process.communicate(timeout=300)
        assert "locked" not in err
        assert "Traceback" not in err
    assert most <= 1
    wait_for(lambda: not sweeps_of(box))
    assert box.rows("SELECT count(*) FROM session WHERE turns > 0") == [(sessions,)]


def _has_lock(pid: int) -> bool:
    try:
        return f" {pid} " in Path("/proc/locks").read_text() and any(
            "sweep.lock" in os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir()
        )
    except OSError:
        return False


def test_sweep_is_not_started_when_all_is_read(box: Box) -> None:
    backlog(box, 3)
    box.index()
    assert ask(box, "list").returncode == 0
    assert sweeps_of(box) == []


def test_answer_does_not_depend_on_who_read(box: Box) -> None:
    backlog(box, points(everyday=20, soak=60))
    ask(box, "list")
    wait_for(lambda: not sweeps_of(box))
    before = box.answers(("topic", "question about topic 7"))
    box.drop_store()
    box.index()
    assert differences(before, box.answers(("topic", "question about topic 7"))) == []
