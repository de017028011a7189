"""Fixtures: a scratch machine with a frozen clock, and snapshots of what people read."""

from __future__ import annotations

import gc
import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.machine import NOW, Machine, ago
from tests.cli.template import Build, prepare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# A fence's mark is made with a key of the machine's own.
_MARK = re.compile(r"<(/?)(agent|user) [a-z2-7]{5}>")
_SNAPSHOTS = Path(__file__).parent / "snapshots"


@pytest.fixture
def machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Machine]:
    """An empty machine. The current folder is its home, the time is NOW, in UTC."""
    made = Machine(tmp_path, capsys)
    for name, value in made.environ.items():
        monkeypatch.setenv(name, value)
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    time.tzset()
    monkeypatch.setattr(time, "time_ns", lambda: int(NOW.timestamp()) * 10**9)
    monkeypatch.chdir(made.home)
    yield made
    gc.enable()  # a command does without
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def prepared(
    machine: Machine, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Build], Machine]:
    """Move the machine to where a function left one, which runs once in a process."""
    return lambda build: prepare(machine, build, tmp_path_factory, monkeypatch)


def build_shop(machine: Machine) -> None:
    """Do a few things, in two projects and with two agents."""
    api = machine.repo("code/acme-api", "git@github.com:acme/acme-api.git")
    machine.claude(
        ("How long should the cache TTL be?", "We decided on a cache TTL of 300 seconds in Redis."),
        ("Fine, and write it down", "I noted it in docs/cache.md."),
        cwd=api, branch="feature/cache", at=ago(hours=2),
        files={f"{api}/src/cache.py": "Edit", f"{api}/docs/cache.md": "Write"},
    )  # fmt: skip
    machine.claude(
        ("Why is the login test flaky?", "The root cause is a race in TokenStore.refresh: two workers."),
        cwd=api, at=ago(days=3), files={f"{api}/tests/test_login.py": "Read"},
    )  # fmt: skip
    machine.claude(
        ("Explain the tax rounding in the cart", "Prices are rounded once, at the end, to whole cents."),
        cwd=machine.folder("work/web-shop"), at=ago(days=20),
    )  # fmt: skip
    machine.copilot(
        ("Set up Kafka lag alerts for the orders topic", "Alerts fire when the lag exceeds 10000 for 5 min."),
        at=ago(days=1), cwd=api, repository="acme/acme-api", branch="main", summary="Kafka lag alerts",
        files={f"{api}/deploy/alerts.yaml": "create"}, refs={"acme/acme-api#17": "pr"},
        note={
            "title": "Alerts deployed",
            "overview": "Lag alerts for orders.",
            "next_steps": "Tune the threshold after a week of data.",
            "work_done": "Added alerts.yaml.",
        },
    )  # fmt: skip
    assert machine.told("index").code == 0


@pytest.fixture
def shop(prepared: Callable[[Build], Machine]) -> Machine:
    """A machine on which a few things were done, in two projects and with two agents."""
    return prepared(build_shop)


@pytest.fixture
def snapshot(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Compare a text with a stored one; with TOLD_SNAPSHOTS=write, store it instead."""

    def compare(name: str, text: str) -> None:
        path = _SNAPSHOTS / f"{name}.txt"
        text = _MARK.sub(r"<\1\2 mark5>", text)
        if os.environ.get("TOLD_SNAPSHOTS") == "write":
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        assert text == path.read_text()

    return compare
