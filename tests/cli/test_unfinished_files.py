"""What a killed process was still writing is found and removed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.killing import run
from tests.cli.test_forget import left
from tests.cli.test_memory_remember import remember
from tests.soak import SOAK

if TYPE_CHECKING:
    from tests.cli.machine import Machine

SAID = "Our launch is called Blue Zebrafish 778199235"
WORDS = ("zebrafish", "778199235")
# Half a file of each kind that told replaces: those of killed processes of this version and of older ones.
PLACES = (
    "hook.current", "config.toml", "checkpoints/shop-abc/2026-11-15-1200-launch-cabcdefghi.md", "prompts/s1",
    "run/missed/s1", "archive/claude-code/ab/s1.jsonl.gz", "counts/s1", "journal/abcdefgh/000001.jsonl",
)  # fmt: skip


def dead_process() -> int:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def leave(folder: Path, *suffixes: str) -> list[Path]:
    """Write a file for each place and suffix as a killed process would leave it."""
    made = []
    for place in PLACES:
        for suffix in suffixes:
            path = folder / f"{place}.{suffix}.new"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(SAID)
            made.append(path)
    return made


def existing(paths: list[Path]) -> list[Path]:
    return [path for path in paths if path.exists()]


@pytest.fixture
def project(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a folder of its own for told."""
    root = Path(machine.folder("work/shop"))
    monkeypatch.chdir(root)
    assert machine.told("init").code == 0
    assert (root / ".told").is_dir()
    return root / ".told"


def test_forget_removes_them_at_once(machine: Machine, project: Path) -> None:
    memory = remember(machine, SAID)["id"]
    gone = dead_process()
    made = [*leave(machine.told_home, f"{gone}-{gone}", f"{gone}{gone}"), *leave(project, f"{gone}-{gone}")]
    answer = machine.told("forget", memory, "--force")
    assert (answer.code, answer.err) == (0, "")
    assert existing(made) == []
    assert left(machine, *WORDS) == []


def test_forgetting_a_checkpoint_removes_them_at_once(machine: Machine, project: Path) -> None:
    saved = machine.told("checkpoint", "--goal", SAID, "--json").json
    made = leave(machine.told_home, f"{dead_process()}-1")
    assert machine.told("forget", saved["id"], "--force").code == 0
    assert existing(made) == []
    assert left(machine, *WORDS) == []


@pytest.mark.parametrize("command", ["index", "rebuild", pytest.param("sweep", marks=pytest.mark.soak)])
def test_other_commands_remove_those_of_dead_processes(machine: Machine, project: Path, command: str) -> None:
    remember(machine, "The cache lives in Redis")
    gone = dead_process()
    dead = [*leave(machine.told_home, f"{gone}-{gone}"), *leave(project, f"{gone}-{gone}")]
    alive = leave(machine.told_home, f"{os.getpid()}-1", "12345678")  # an older told may still be writing
    run_command = machine.child if command == "sweep" else machine.told  # a sweep keeps its lock
    assert run_command(command).code == 0
    assert existing(dead) == []
    assert existing(alive) == alive
    for path in alive:
        os.utime(path, (1_700_000_000, 1_700_000_000))  # by then another process has the id
    assert run_command(command).code == 0
    assert existing(alive) == []


def test_health_says_that_they_are_there_and_how_to_remove_them(machine: Machine, project: Path) -> None:
    remember(machine, "The cache lives in Redis")
    assert "unfinished" not in machine.told("health").out
    gone = dead_process()
    made = leave(project, f"{gone}-{gone}")
    leave(machine.told_home, f"{os.getpid()}-1")
    assert "(and 7 more): `told index` removes it." in machine.told("health").out
    assert len(machine.told("health", "--json").json["unfinished"]) == len(made)
    assert machine.told("index").code == 0
    assert "unfinished" not in machine.told("health").out


def test_killed_checkpoint_leaves_nothing(machine: Machine, project: Path) -> None:
    """What a killed process was writing does not outlive the next import; `make soak` kills at every step."""
    remember(machine, "The cache lives in Redis")
    seen = 0
    for step in range(1, 40):
        code = run(machine, "checkpoint", "--goal", SAID, DIE_AT=str(step), DIE_HOW="before")
        seen += any(project.rglob("*.new"))
        assert machine.told("index").code == 0
        assert not [*project.rglob("*.new"), *machine.told_home.rglob("*.new")]
        if code != -signal.SIGKILL or (seen and not SOAK):
            break
    assert seen


def test_files_that_look_alike_stay(machine: Machine, project: Path) -> None:
    memory = remember(machine, SAID)["id"]
    others = [project / "letter.new", project / "notes.7.md", machine.told_home / "config.toml.old-1.new"]
    for path in others:
        path.write_text("Dear Sir")
    assert machine.told("forget", memory, "--force").code == 0
    assert machine.told("rebuild").code == 0
    assert existing(others) == others
