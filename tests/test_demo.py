"""The demo shows what it says, leaves nothing behind, and says so when something fails."""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import pytest

import demo.__main__ as tour
import demo.told
from demo.history import TALKS
from demo.told import Scratch
from told.cli.main import main

if TYPE_CHECKING:
    from typing import Any

ROOT = Path(__file__).parents[1]


class InProcess(Scratch):
    """The same history, asked in this process: starting Python is slow."""

    def told(self, *words: str) -> subprocess.CompletedProcess[str]:
        said = io.StringIO()
        with (
            mock.patch.object(os, "nice", create=True),  # it would last beyond this test
            contextlib.chdir(self.cwd),
            contextlib.redirect_stdout(said),
            contextlib.redirect_stderr(said),
        ):
            code = main(words, self.environ)
        gc.enable()  # a command does without
        return subprocess.CompletedProcess(words, code, said.getvalue(), "")


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Scratch:
    made = InProcess(str(tmp_path_factory.mktemp("demo")))
    assert made.told("index").returncode == 0
    return made


def asked(scratch: Scratch, *words: str) -> dict[str, Any]:
    done = scratch.told(*words, "--json")
    assert done.returncode == 0, done.stdout
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_the_demo_runs_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tour, "Scratch", InProcess)
    code = tour.main()
    printed = capsys.readouterr()
    assert (code, printed.err) == (0, ""), printed
    for command in ("index", "agents", "list", "search", "show", "files", "rebuild", "health"):
        assert f"\n$ told {command}" in printed.out
    shown = printed.out.splitlines()
    said = [line for number, line in enumerate(shown) if "$ told " in "".join(shown[number + 1 : number + 2])]
    assert len(said) >= 10
    assert [line for line in said if len(line) > 80] == []


def test_demo_runs_each_step_once_at_a_terminal_and_leaves_nothing_behind(tmp_path: Path) -> None:
    home, temporary = tmp_path / "home", tmp_path / "tmp"
    home.mkdir()
    temporary.mkdir()
    environ = os.environ | {"HOME": str(home), "TMPDIR": str(temporary), "CLAUDE_CONFIG_DIR": str(home)}
    environ |= {"TERM": "xterm", "COLUMNS": "80"}
    environ.pop("TOLD_HOME", None)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "demo"], cwd=ROOT, env=environ, stdin=subprocess.DEVNULL, stdout=theirs,
        stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    parts = []
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        parts.append(part)
    os.close(ours)
    printed = b"".join(parts).decode("utf-8", "replace")
    assert process.wait(60) == 0, printed
    assert printed.count("$ told lock") == 1
    assert printed.count("Locked ") == 1
    assert "Done in" in printed
    assert list(home.iterdir()) == []
    assert list(temporary.iterdir()) == []


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


def test_a_session_is_found_after_its_file_was_deleted(tmp_path: Path) -> None:
    made = InProcess(str(tmp_path))
    assert made.told("index").returncode == 0
    os.remove(made.paths["Webhook signature check fails"])
    assert asked(made, "search", "webhook signature")["count"] == 1
    assert made.told("rebuild").returncode == 0
    assert asked(made, "search", "webhook signature")["count"] == 1
