"""Make tests cheap: files in memory, no syncs of the machine, one check of the interpreter."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile

import pytest
from hypothesis import HealthCheck, settings

from tests.at_end import end_all
from told.install import place

pytest_plugins = ["tests.postgres", "tests.stores"]

_MEMORY_DISK = "/dev/shm"
_ROOM = 2 * 1024**3  # bytes


def _prefer_memory_disk() -> None:
    """Keep the tests' files in memory where the system offers it: a disk waits at every fsync."""
    if "PYTEST_DEBUG_TEMPROOT" in os.environ or "TMPDIR" in os.environ:
        return
    if not os.access(_MEMORY_DISK, os.W_OK | os.X_OK) or shutil.disk_usage(_MEMORY_DISK).free < _ROOM:
        return
    os.environ["PYTEST_DEBUG_TEMPROOT"] = os.environ["TMPDIR"] = _MEMORY_DISK
    tempfile.tempdir = None  # read TMPDIR again


_prefer_memory_disk()
if hasattr(os, "sync"):
    os.sync = lambda: None  # it would wait for all disks of the machine


# A busy machine may take its time.
settings.register_profile("told", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("told")

_run = place._run
_checked: dict[tuple[str, ...], tuple[int, str, str]] = {}


def _run_once(words: list[str]) -> tuple[int, str, str] | None:
    """Let this interpreter load told once in a run, not in every `told install` and `told status`."""
    key = tuple(words)
    if key in _checked:
        return _checked[key]
    found = _run(words)
    if found and found[0] == 0 and os.path.samefile(words[0], sys.executable):
        _checked[key] = found
    return found


place._run = _run_once


def pytest_sessionfinish() -> None:
    """End the processes that many tests share; execnet ends this one without atexit."""
    end_all()


def _freeze() -> None:
    """Never look again at what lives by now: many tests collect garbage, and the heap of a run is large."""
    gc.collect()
    gc.freeze()


def pytest_collection_finish() -> None:
    _freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Freeze what a module keeps, such as the parsed sources of all of told."""
    if nextitem is None or nextitem.path != item.path:
        _freeze()
