"""`told forget` is killed, or something else runs beside it: the next command finishes it."""

from __future__ import annotations

import gc
import json
import os
import shutil
import signal
from typing import TYPE_CHECKING

import pytest

from tests.cli.killing import run
from tests.cli.test_forget import NATIVE, OTHER, SAID, WORDS, left, memory, texts, told_all
from tests.soak import SOAK
from told.ingest.leftovers import Forgetting, note_forgetting, read_forgetting
from told.store.database import SWEEP_LOCK, acquire_lock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.machine import Machine

__all__ = ["memory", "told_all"]  # fixtures
DAY_S = range(4, 40, 15)  # steps of every day; all with `make soak`
FINISHED = "told: Finished an interrupted `told forget`.\n"


@pytest.fixture
def copies(told_all: Machine, memory: str) -> Iterator[Path]:
    """A copy of told's folder with a checkpoint that says it, too."""
    told_all.environ |= {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": NATIVE}
    assert told_all.told("checkpoint", "--goal", f"Prepare. {SAID}.").code == 0
    del told_all.environ["CLAUDECODE"], told_all.environ["CLAUDE_CODE_SESSION_ID"]
    gc.collect()
    kept = told_all.told_home.with_name("kept")
    shutil.copytree(told_all.told_home, kept)
    yield kept
    shutil.rmtree(kept)


def put_back(machine: Machine, kept: Path) -> None:
    gc.collect()
    shutil.rmtree(machine.told_home)
    shutil.copytree(kept, machine.told_home)


def test_next_command_finishes_a_killed_forget(told_all: Machine, memory: str, copies: Path) -> None:
    finished = 0
    for step in range(1, 400) if SOAK else DAY_S:
        put_back(told_all, copies)
        code = run(told_all, "forget", memory, "--force", DIE_AT=str(step), DIE_HOW="before")
        answer = told_all.told("memories", "--all-projects", "--json")
        if memory in answer.out:  # it had not begun
            assert "Run `told forget" in answer.err or not answer.err
            assert SAID in texts(told_all)
        else:
            finished += answer.err == FINISHED
            assert left(told_all, *WORDS) == []
            assert OTHER in texts(told_all)
        assert not (told_all.told_home / "forgetting").exists()
        assert told_all.told("health", "--deep").code == 0
        if code != -signal.SIGKILL:
            break
    assert finished


def test_sweep_and_health_know_of_it(told_all: Machine, memory: str) -> None:
    home = str(told_all.told_home)
    with (
        pytest.raises(RuntimeError),
        note_forgetting(home, Forgetting((memory,), (("claude-code", NATIVE),))),
    ):
        raise RuntimeError("killed")
    assert "An interrupted `told forget` is not finished" in told_all.told("health").out
    assert told_all.told("health", "--json").json["forgetting"] == [memory]
    assert told_all.child("sweep").code == 0
    assert "interrupted" not in told_all.told("health").out
    assert told_all.told("memories", "--all-projects", "--json").json["memories"]  # it had not begun


def test_forget_beside_an_import_is_done_again_when_that_has_ended(told_all: Machine, memory: str) -> None:
    """What a sweep has read before may be written into the archive after the forgetting."""
    home = str(told_all.told_home)
    sweep = acquire_lock(home, SWEEP_LOCK)
    assert sweep
    archive = next(told_all.told_home.rglob("*.jsonl.gz"))
    old = {path: path.read_bytes() for path in told_all.told_home.rglob("*.jsonl.gz")}
    assert told_all.told("forget", memory, "--force").code == 0
    assert left(told_all, *WORDS) == []
    assert memory in read_forgetting(home).memories
    for path, content in old.items():  # the sweep goes on
        path.write_bytes(content)
    assert left(told_all, *WORDS) != []
    assert told_all.told("list").err == ""  # not before it has ended
    os.close(sweep)
    assert told_all.told("list").err == FINISHED
    assert left(told_all, *WORDS) == []
    assert archive.exists()


def test_unreadable_note_of_an_interrupted_forget(told_all: Machine, memory: str) -> None:
    note = told_all.told_home / "forgetting"
    for content in ("", "[1", json.dumps({"memories": 7}), '{"memories": ["m2"], "sessions": [["a", "b"]]}'):
        note.write_text(content)
        assert told_all.told("memories", "--all-projects").code == 0
        assert not note.exists()
