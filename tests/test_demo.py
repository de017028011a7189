"""The demo shows what it says, leaves nothing behind, and says so when something fails."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import demo.__main__ as tour
import demo.told
from demo.history import TALKS
from demo.told import Scratch
from tests import forked_program
from tests.demo_history import Quick, imported
from tests.soak import sampled

if TYPE_CHECKING:
    from typing import Any

ROOT = Path(__file__).parents[1]


@pytest.fixture
def scratch() -> Scratch:
    return imported()


def asked(scratch: Scratch, *words: str) -> dict[str, Any]:
    done = scratch.told(*words, "--json")
    assert done.returncode == 0, done.stdout
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_the_demo_runs_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tour, "Scratch", Quick)
    code = tour.main()
    printed = capsys.readouterr()
    assert (code, printed.err) == (0, ""), printed
    for command in ("index", "agents", "list", "search", "show", "files", "rebuild", "health"):
        assert f"\n$ told {command}" in printed.out
    shown = printed.out.splitlines()
    said = [line for number, line in enumerate(shown) if "$ told " in "".join(shown[number + 1 : number + 2])]
    assert len(said) >= 10
    assert [line for line in said if len(line) > 80] == []


@pytest.mark.parametrize("is_process", sampled((False, True), (False,)))
def test_demo_runs_each_step_once_at_a_terminal_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_process: bool
) -> None:
    home, temporary = tmp_path / "home", tmp_path / "tmp"
    home.mkdir()
    temporary.mkdir()
    own = {"HOME": str(home), "TMPDIR": str(temporary), "CLAUDE_CONFIG_DIR": str(home)}
    own |= {"TERM": "xterm", "COLUMNS": "80"}
    for name, value in own.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("TOLD_HOME", raising=False)
    printed = as_a_process() if is_process else in_this_process(monkeypatch, temporary)
    assert printed.count("$ told lock") == 1
    assert printed.count("Locked ") == 1
    assert "Done in" in printed
    assert list(home.iterdir()) == []
    assert list(temporary.iterdir()) == []


def in_this_process(monkeypatch: pytest.MonkeyPatch, temporary: Path) -> str:
    """Run the demo here, with a terminal as its output and every command in a forked process."""
    forked_program.prepare()  # it has files of its own
    monkeypatch.setattr(tour, "Scratch", Quick)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    ours, theirs = pty.openpty()
    with ThreadPoolExecutor(1) as reader:
        printed = reader.submit(read_all, ours)
        with open(theirs, "w", encoding="utf-8") as terminal, contextlib.redirect_stdout(terminal):
            code = tour.main()
        said = printed.result()
    assert code == 0, said
    return said


def as_a_process() -> str:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "demo"], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    printed = read_all(ours)
    assert process.wait(60) == 0, printed
    return printed


def read_all(terminal: int) -> str:
    """Read until nobody has the other side of a terminal open."""
    parts = []
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            break
        if not part:
            break
        parts.append(part)
    os.close(terminal)
    return b"".join(parts).decode("utf-8", "replace")


def test_the_demo_fails_when_a_command_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo.told, "_program", lambda: [sys.executable, "-c", "raise SystemExit(3)"])
    assert tour.main() == 1
    assert "exited with 3" in capsys.readouterr().err


def test_the_demo_fails_when_a_command_shows_something_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = "import sys; print('{\"results\":[{\"id\":\"s\"}]}' if '--json' in sys.argv else 'nothing')"
    monkeypatch.setattr(demo.told, "_program", lambda: [sys.executable, "-c", program])
    assert tour.main() == 1
    assert "did not print" in capsys.readouterr().err


def test_every_session_of_the_history_is_read_whole(scratch: Scratch) -> None:
    rows = asked(scratch, "list", "--all-projects", "--limit", "100")["sessions"]
    read = {(row["agent"], row["native_id"]): row for row in rows}
    assert set(read) == {(talk.agent, talk.id) for talk in TALKS}
    for talk in TALKS:
        row = read[talk.agent, talk.id]
        assert row["turns"] == len(talk.turns), talk.title
        assert row["project"].endswith(talk.project.folder.rpartition("/")[2])


def test_every_agent_gives_its_files_and_no_problem(scratch: Scratch) -> None:
    health = asked(scratch, "health")
    assert health["problems"] == []
    assert {row["agent"] for row in health["agents"] if row["sessions"]} == {talk.agent for talk in TALKS}
    for talk in TALKS:
        shown = asked(scratch, "show", talk.id, "--full")
        changed = {call.target for turn in talk.turns for call in turn.calls if call.tool != "run"}
        files = [row["path"] for row in shown["files"]]
        assert len(files) == len(changed), talk.title
        assert all(any(name in path for path in files) for name in changed)
        assert bool(shown["checkpoints"]) == bool(talk.note)


def test_no_secret_of_the_history_is_stored(scratch: Scratch) -> None:
    secret = b"lantern-oak"
    assert any(secret.decode() in turn.asked for talk in TALKS for turn in talk.turns)
    home = Path(scratch.environ["TOLD_HOME"])
    assert [path.name for path in home.rglob("*") if path.is_file() and secret in path.read_bytes()] == []


def test_a_session_is_found_after_its_file_was_deleted() -> None:
    made = imported(changes=True)
    os.remove(made.paths["Webhook signature check fails"])
    assert asked(made, "search", "webhook signature")["count"] == 1
    assert made.told("rebuild").returncode == 0
    assert asked(made, "search", "webhook signature")["count"] == 1
