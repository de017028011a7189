"""`told redact-scan --apply` is killed, wherever it is: a second run finishes it."""

from __future__ import annotations

import gc
import shutil
import signal
import time
from typing import TYPE_CHECKING

import pytest

from tests.cli.killing import kill_after, run, start
from tests.cli.older_data import desk, finished
from tests.soak import SOAK, points

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.machine import Machine

__all__ = ["desk"]

STEP = 1 if SOAK else 9
KILLS = points(everyday=2, soak=50)


@pytest.fixture
def again(desk: Machine) -> Callable[[], None]:
    """Begin from the same state once more."""
    gc.collect()
    kept: Path = desk.told_home.with_name("kept")
    project = desk.home / "work/shop/.told"
    shutil.copytree(desk.told_home, kept / "told")
    shutil.copytree(project, kept / "project")

    def begin() -> None:
        gc.collect()
        for folder, name in ((desk.told_home, "told"), (project, "project")):
            shutil.rmtree(folder)
            shutil.copytree(kept / name, folder)

    return begin


@pytest.mark.soak
@pytest.mark.parametrize("how", ["before", "after"])
def test_killed_at_any_step_a_second_run_finishes_it(
    desk: Machine, again: Callable[[], None], how: str
) -> None:
    for at in range(1 if how == "before" else 2, 200, STEP):
        again()
        code = run(desk, "redact-scan", "--apply", DIE_AT=str(at), DIE_HOW=how)
        if code == 0:
            assert at > 15
            return
        finished(desk)
    raise AssertionError("it never ended")


def test_killed_at_any_moment_a_second_run_finishes_it(desk: Machine, again: Callable[[], None]) -> None:
    began = time.monotonic()
    assert run(desk, "redact-scan", "--apply") == 0
    took = time.monotonic() - began
    killed = 0
    for number in range(KILLS):
        again()
        code = kill_after(start(desk, "redact-scan", "--apply"), took * (0.5 + 0.4 * number / (KILLS - 1)))
        killed += code == -signal.SIGKILL
        finished(desk)
    assert killed
