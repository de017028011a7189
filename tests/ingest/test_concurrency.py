"""Concurrent processes lose nothing and report no locks."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import apsw
import pytest

from tests.ingest.box import differences
from tests.ingest.test_kill import SESSIONS, TABLES, begin_anew, history
from tests.soak import points

if TYPE_CHECKING:
    import subprocess

    from tests.ingest.box import Box


def finish(processes: list[subprocess.Popen[str]], *, codes: tuple[int, ...] = (0,)) -> None:
    """Wait for all; fail on any complaint."""
    outputs = [process.communicate(timeout=300) for process in processes]
    for process, (out, err) in zip(processes, outputs, strict=True):
        assert "locked" not in out + err
        assert "busy" not in out + err
        assert "Traceback" not in err, err
        assert process.returncode in codes, err


@pytest.mark.soak
def test_two_indexers_with_concurrent_queries(box: Box) -> None:
    history(box)
    box.index()
    expected = {name: box.rows(sql) for name, sql in TABLES.items()}
    for _ in range(points(everyday=1, soak=20)):
        begin_anew(box)
        indexing = [box.start("index"), box.start("index")]
        asking: list[subprocess.Popen[str]] = []
        while any(process.poll() is None for process in indexing):
            if sum(process.poll() is None for process in asking) < 4:
                asking += [box.start("list"), box.start("search", "gateway", "port")]
            time.sleep(0.5)
        finish(indexing)
        finish(asking, codes=(0, 1))  # 1: nothing is found yet
        box.index()
        box.check()
        found = {name: box.rows(sql) for name, sql in TABLES.items()}
        assert differences(expected, found) == []


@pytest.mark.parametrize("command", ["index", "sweep"])
def test_index_waits_for_another_index(box: Box, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    """On a busy machine the batch of the other may take longer than anybody wants to wait for an answer."""
    box.claude("first").turn("Which port?", "8443.").write()
    box.index()
    box.claude("second").turn("And which host?", "The old one.").write()
    monkeypatch.setattr("told.store.database.WAIT_MS", 20)
    writer = apsw.Connection(str(box.store))
    writer.execute("BEGIN IMMEDIATE; UPDATE sweep SET at = at")
    other = threading.Timer(0.6, lambda: writer.execute("COMMIT"))
    other.start()
    answer = box.told(command)
    other.join()
    writer.close()
    assert (answer.code, answer.err) == (0, "")
    assert box.rows("SELECT native FROM session ORDER BY 1") == [("first",), ("second",)]


def test_concurrent_first_runs_create_one_database(box: Box) -> None:
    for number in range(30):
        box.claude(f"session-{number}", folder=f"-p{number}").turn(f"Question {number}", "Answer.").write()
    for _ in range(points(everyday=1, soak=4)):
        begin_anew(box)
        finish([box.start("index") for _ in range(4)])
        assert box.rows("SELECT count(*), sum(turns) FROM session") == [(30, 30)]
        box.check()


@pytest.mark.soak
def test_sessions_growing_while_two_read(box: Box) -> None:
    talks = [box.claude(f"grows-{number}", folder=f"-p{number}") for number in range(12)]
    processes = []
    for step in range(12):
        for talk in talks:
            talk.prompt(f"Question {step}").answer(f"Answer {step}, first part.")
            talk.append()
        processes += [box.start("list"), box.start("index")]
        for talk in talks:
            talk.answer(f"Answer {step}, second part.").append()
        if len(processes) > 4:
            finish(processes[:2], codes=(0, 1))
            del processes[:2]
    finish(processes, codes=(0, 1))
    box.index()
    for talk in talks:
        assert box.turns(talk.session) == [
            (f"Question {step}", f"Answer {step}, first part.\n\nAnswer {step}, second part.")
            for step in range(12)
        ]
    box.check()


def test_rebuild_with_concurrent_queries(box: Box) -> None:
    history(box)
    box.index()
    expected = {name: box.rows(sql) for name, sql in TABLES.items()}
    rebuilding = box.start("rebuild")
    asking: list[subprocess.Popen[str]] = []
    while rebuilding.poll() is None:
        is_enough = len(asking) >= points(everyday=2, soak=100)
        if not is_enough and sum(process.poll() is None for process in asking) < 4:
            asking.append(box.start("list"))
        time.sleep(0.1)
    finish([rebuilding])
    finish(asking, codes=(0, 1))
    box.index()
    found = {name: box.rows(sql) for name, sql in TABLES.items()}
    assert differences(expected, found) == []
    assert box.rows("SELECT count(*) FROM session WHERE turns > 0") == [(SESSIONS,)]
