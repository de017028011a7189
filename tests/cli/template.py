"""Build the history of a fixture once in a process; every test gets it back as it was."""

from __future__ import annotations

import contextlib
import gc
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.machine import Machine

Build = Callable[[Machine], object]
_KEPT: dict[Build, tuple[Path, int]] = {}


def prepare(
    machine: Machine, build: Build, factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Machine:
    """Move a machine to a folder that has what `build` makes there; the current folder is its home.

    The folder is the same in all tests of a process: told and the agents know files by their paths.
    """
    if build in _KEPT:
        copy, made = _KEPT[build]
        gc.collect()  # a command leaves its connection to the end of the process
        shutil.rmtree(copy.with_name("machine"))
        shutil.copytree(copy, copy.with_name("machine"), symlinks=True)
        machine.move(copy.with_name("machine"), made)
        _live_in(machine, monkeypatch)
        return machine
    place = Path(tempfile.mkdtemp(dir=factory.getbasetemp())) / "machine"
    (place / "home").mkdir(parents=True)
    machine.move(place)
    _live_in(machine, monkeypatch)
    with contextlib.chdir(machine.home):
        build(machine)
    gc.collect()
    shutil.copytree(place, place.with_name("kept"), symlinks=True)
    _KEPT[build] = (place.with_name("kept"), machine.made)
    return machine


def _live_in(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "TOLD_HOME"):
        monkeypatch.setenv(name, machine.environ[name])
    monkeypatch.chdir(machine.home)
