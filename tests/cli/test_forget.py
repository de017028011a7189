"""`told forget`: what was forgotten is in no file of told, and does not come back."""

from __future__ import annotations

import gc
import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.machine import ago, stamp
from tests.cli.test_memory_remember import remember
from tests.soak import points

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.machine import Machine

SAID = "Our launch is called Blue Zebrafish 778199235"
ECHO = "I will keep in mind that the launch is called blue zebrafish 778199235"
OTHER = "The cache lives in Redis"
NATIVE = "11111111-2222-4333-8444-555555555555"
WORDS = ("zebrafish", "778199235")
KILLS = points(everyday=5, soak=60)


def left(machine: Machine, *words: str) -> list[str]:
    """Return every file of told that has one of the words, packed or not, whatever their case."""
    gc.collect()
    found = []
    for path in sorted(machine.told_home.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            if path.suffix == ".gz":
                content += gzip.decompress(content)
            lower = content.lower()
            if any(word.encode() in lower for word in words):
                found.append(path.name)
    return found


@pytest.fixture
def told_all(machine: Machine) -> Machine:
    """A session of the day before yesterday that says it three times, and one that does not."""
    machine.claude(
        ("Good morning. How do I start the server here?", "With make serve."),
        (f"Thanks! {SAID}. Then explain where the cache lives, please.",
         f"Sure. {ECHO}. {OTHER}, on port 6379."),
        ("And now the tests", f"They pass.\n- Our launch is called Blue Zebrafish 778199235!\n- {OTHER}."),
        session=NATIVE, at=ago(days=2), title="Our launch is called Blue Zebrafish 778199235",
        compacted=f"We talked about the cache. {SAID}. Nothing else is open.",
    )  # fmt: skip
    machine.claude(("What about Kafka?", "It has three brokers."), at=ago(days=3))
    assert machine.told("index").code == 0
    return machine


@pytest.fixture
def memory(told_all: Machine) -> str:
    """The memory that an agent made of it, with the user's own words as evidence."""
    told_all.environ |= {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": NATIVE}
    answer = told_all.told("remember", SAID, "--quote", "launch is called Blue Zebrafish", "--json")
    assert answer.code == 0, answer.err
    for name in ("CLAUDECODE", "CLAUDE_CODE_SESSION_ID"):
        del told_all.environ[name]
    return str(answer.json["id"])


def texts(machine: Machine, native: str = NATIVE) -> str:
    """Return all that told shows of a session."""
    gc.collect()
    shown = machine.told("show", native, "--full", "--json")
    assert shown.code == 0, shown.err
    return shown.out


def drop_databases(machine: Machine) -> None:
    gc.collect()
    for path in machine.told_home.glob("*.db*"):
        path.unlink()


def test_it_is_in_no_file_and_the_rest_stays(told_all: Machine, memory: str) -> None:
    assert {"sessions.db", "memory.db", "000001.jsonl"} <= set(left(told_all, *WORDS))
    assert any(name.endswith(".gz") for name in left(told_all, *WORDS))
    answer = told_all.told("forget", memory, "--force")
    assert answer.code == 0, answer.err
    assert left(told_all, *WORDS) == []
    shown = texts(told_all)
    for kept in ("How do I start the server", "With make serve", "Thanks!", "explain where the cache lives",
                 OTHER, "port 6379", "They pass", "[forgotten]"):  # fmt: skip
        assert kept in shown
    note = told_all.told("checkpoints", "--all-projects", "--json").out
    assert "We talked about the cache. [forgotten]. Nothing else is open." in note
    assert told_all.told("search", "zebrafish", "--all-projects").code == 1
    assert told_all.told("search", "cache redis", "--all-projects", "--json").json["results"]


def test_it_does_not_come_back(told_all: Machine, memory: str) -> None:
    assert told_all.told("forget", memory, "--force").code == 0
    before = texts(told_all)
    assert told_all.told("rebuild").code == 0
    assert left(told_all, *WORDS) == []
    assert texts(told_all) == before
    drop_databases(told_all)
    assert told_all.told("index").code == 0
    assert left(told_all, *WORDS) == []
    assert texts(told_all) == before
    # Only the archive is left of the session.
    shutil.rmtree(told_all.home / ".claude")
    drop_databases(told_all)
    assert told_all.told("rebuild").code == 0
    assert left(told_all, *WORDS) == []
    assert texts(told_all) == before
    assert told_all.told("memories", "--all-projects").code == 1


def test_a_session_that_goes_on_stays_without_it(told_all: Machine, memory: str) -> None:
    assert told_all.told("forget", memory, "--force").code == 0
    path = next(told_all.home.rglob(f"{NATIVE}.jsonl"))
    last = json.loads(path.read_text().splitlines()[-1])
    line: dict[str, Any] = {
        **last, "type": "assistant", "uuid": "99999999-2222-4333-8444-555555555555",
        "isCompactSummary": False,
        "message": {"role": "assistant", "id": "m9", "type": "message", "model": "m",
                    "content": [{"type": "text", "text": f"By the way: {SAID}. The build is green."}]},
        "timestamp": stamp(ago(days=1, hours=20)),
    }  # fmt: skip
    with path.open("a") as file:
        file.write(json.dumps(line) + "\n")
    assert told_all.told("index").code == 0
    assert "The build is green" in texts(told_all)
    assert left(told_all, *WORDS) == []


def test_a_copy_of_the_turn_in_another_session_stays_without_it(told_all: Machine, memory: str) -> None:
    assert told_all.told("forget", memory, "--force").code == 0
    path = next(told_all.home.rglob(f"{NATIVE}.jsonl"))
    fork = path.with_name("77777777-2222-4333-8444-555555555555.jsonl")
    fork.write_text(path.read_text().replace(NATIVE, fork.stem))
    path.unlink()
    drop_databases(told_all)
    assert told_all.told("index").code == 0
    assert told_all.told("rebuild").code == 0
    assert left(told_all, *WORDS) == []


def test_the_very_words_are_found_in_other_sessions(told_all: Machine, memory: str) -> None:
    other = "33333333-2222-4333-8444-555555555555"
    told_all.claude(
        ("Write the announcement", f"Done: {SAID.lower()}! It is in docs/launch.md."),
        session=other,
        at=ago(days=4),
    )
    told_all.told("index")
    assert told_all.told("forget", memory, "--force").code == 0
    assert left(told_all, *WORDS) == []
    assert "Done: [forgotten]" in texts(told_all, other) or "[forgotten]! It is" in texts(told_all, other)
    assert "docs/launch.md" in texts(told_all, other)
    drop_databases(told_all)
    assert told_all.told("index").code == 0
    assert left(told_all, *WORDS) == []


def test_a_dry_run_says_what_would_go_and_changes_nothing(told_all: Machine, memory: str) -> None:
    def contents() -> dict[str, bytes]:
        gc.collect()
        return {
            str(path): path.read_bytes()
            for path in told_all.told_home.rglob("*")
            if path.is_file() and path.name != "calls" and not path.name.endswith(("-wal", "-shm", "lock"))
        }

    told_all.told("memories", "--all-projects")
    before = contents()
    answer = told_all.told("forget", memory)
    assert answer.code == 0
    assert answer.out.startswith("Would forget ")
    assert "would lose text in 2 turns" in answer.out
    assert f"{NATIVE}.jsonl" in answer.out
    plan = told_all.told("forget", memory, "--json").json
    assert plan["forgotten"] is False
    assert [(one["native_id"], one["turns"]) for one in plan["sessions"]] == [(NATIVE, 2)]
    assert contents() == before


def test_it_says_which_of_the_agents_files_still_hold_it(told_all: Machine, memory: str) -> None:
    answer = told_all.told("forget", memory, "--force")
    path = next(told_all.home.rglob(f"{NATIVE}.jsonl"))
    assert "still contain it" in answer.out
    assert str(path) in answer.out
    assert SAID in path.read_text()


def test_an_agent_only_asks(told_all: Machine, memory: str) -> None:
    told_all.environ |= {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": NATIVE}
    answer = told_all.told("forget", memory, "--force")
    assert "Only you" in answer.out
    told_all.told("forget", "--session", NATIVE, "--force")
    del told_all.environ["CLAUDECODE"], told_all.environ["CLAUDE_CODE_SESSION_ID"]
    assert "Zebrafish" in texts(told_all)
    asked = told_all.told("proposals", "--json").json["proposals"][0]["id"]
    assert told_all.told("proposals", "accept", asked).code == 0
    assert left(told_all, *WORDS) == []


def test_a_whole_session_is_forgotten(told_all: Machine, memory: str) -> None:
    answer = told_all.told("forget", "--session", NATIVE)
    assert "and 1 session for good; add --force" in answer.out
    assert "would lose all of its text" in answer.out
    assert "Zebrafish" in texts(told_all)
    assert told_all.told("forget", "--session", NATIVE[:13], "--force").code == 0
    gone = (*WORDS, "make serve", "port 6379")
    for _ in range(2):
        assert left(told_all, *gone) == []
        assert told_all.told("show", NATIVE).code == 1
        assert len(told_all.ids()) == 1
        assert told_all.told("search", "redis", "--all-projects").code == 1
        assert told_all.told("rebuild").code == 0
    drop_databases(told_all)
    assert told_all.told("index").code == 0
    assert left(told_all, *gone) == []
    assert len(told_all.ids()) == 1
    path = next(told_all.home.rglob(f"{NATIVE}.jsonl"))
    path.write_text(path.read_text() + path.read_text().replace("Zebrafish", "Zebrafish again"))
    assert told_all.told("index").code == 0
    assert left(told_all, *gone) == []


def test_what_was_said_since_then_and_what_an_agent_said(told_all: Machine, memory: str) -> None:
    assert told_all.told("forget", "--source", "codex", "--force").code == 1
    assert told_all.told("forget", "--since", "today", "--force").code == 0
    assert left(told_all, *WORDS) == []


def test_by_source(told_all: Machine, memory: str) -> None:
    remember(told_all, "Never use tabs")
    assert told_all.told("forget", "--source", "claude-code", "--force").code == 0
    assert left(told_all, *WORDS) == []
    assert left(told_all, "never use tabs") != []


def test_what_lies_around_goes_too(told_all: Machine, memory: str) -> None:
    home: Path = told_all.told_home
    (home / "sessions.db.damaged").write_bytes(SAID.encode())
    (home / "sessions.db.damaged-wal").write_bytes(SAID.encode())
    archive = next(home.rglob("*.jsonl.gz"))
    archive.with_name(f"{archive.name}.4711").write_bytes(SAID.encode())
    torn = next(home.rglob("000001.jsonl")).with_name("000001.torn")
    torn.write_bytes(SAID.encode())
    assert told_all.told("forget", memory, "--force").code == 0
    assert left(told_all, *WORDS) == []


def test_without_the_database_of_sessions(told_all: Machine, memory: str) -> None:
    gc.collect()
    shutil.rmtree(told_all.home / ".claude")
    for path in told_all.told_home.glob("sessions.db*"):
        path.unlink()
    assert told_all.told("forget", memory, "--force").code == 0
    assert left(told_all, *WORDS) == []
    assert told_all.told("rebuild").code == 0
    assert left(told_all, *WORDS) == []
    assert OTHER in texts(told_all)


@pytest.mark.soak
def test_what_was_interrupted_is_finished_by_doing_it_again(told_all: Machine, memory: str) -> None:
    """Killed at any moment, doing it again leaves nothing; nothing else is lost."""
    gc.collect()
    kept = told_all.told_home.with_name("kept")
    shutil.copytree(told_all.told_home, kept)
    environ = told_all.environ | {"COVERAGE_PROCESS_START": ""}
    command = [sys.executable, "-m", "told", "forget", memory, "--force"]
    began = time.monotonic()
    subprocess.run(command, env=environ, check=True, capture_output=True, cwd=told_all.home)
    took = time.monotonic() - began
    assert left(told_all, *WORDS) == []
    for number in range(KILLS):
        shutil.rmtree(told_all.told_home)
        shutil.copytree(kept, told_all.told_home)
        child = subprocess.Popen(command, env=environ, cwd=told_all.home, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, start_new_session=True)  # fmt: skip
        time.sleep(took * (0.3 + 0.66 * number / (KILLS - 1)))
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        assert told_all.told("forget", memory, "--force").code == 0
        assert left(told_all, *WORDS) == []
        assert OTHER in texts(told_all)
        gc.collect()
