"""Killed, interrupted or out of budget, the reader goes on where it was: nothing is read twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.machine import ago

if TYPE_CHECKING:
    from tests.cli.machine import Machine
    from tests.reader.model_server import ModelServer

QUOTES = [f"project number {number} is built with bazel" for number in range(4)]


def keep_all(asked: dict[str, Any]) -> dict[str, Any]:
    """Keep every message in its own words."""
    return {
        "items": [
            {"text": f"{one['text'].capitalize()}.", "kind": "fact", "scope": "project", "quote": one["text"],
             "message": one.get("id", one.get("turn")), "replaces": [], "when": [], "always": False}
            for session in asked.get("sessions", [asked])
            for one in session["messages"]
        ],
        "candidates": [],
    }  # fmt: skip


@pytest.fixture
def projects(desk: Machine, endpoint: ModelServer) -> Machine:
    """Four projects with a session each, so four questions."""
    for number, quote in enumerate(QUOTES):
        root = desk.repo(f"work/p{number}", f"git@github.com:acme/p{number}.git")
        desk.claude((quote, "OK."), at=ago(days=number + 1), cwd=root)
    desk.told("index", TOLD_LEARN="off")
    return desk


def texts(desk: Machine) -> list[str]:
    found = desk.told("memories", "--all-projects", "--json", "-n", "50").json["memories"]
    return sorted(one["text"] for one in found)


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_stopped_run_continues_where_it_was(
    projects: Machine, endpoint: ModelServer, sign: signal.Signals, at: int
) -> None:
    running: list[subprocess.Popen[bytes]] = []

    def answer(asked: dict[str, Any]) -> dict[str, Any]:
        if len(endpoint.requests) == at and running:
            os.kill(running[0].pid, sign)
            running[0].wait()
        return keep_all(asked)

    endpoint.answer = answer
    command = [sys.executable, "-m", "told", "learn", "--yes"]
    process = subprocess.Popen(
        command, env=projects.environ, cwd=projects.home, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    running.append(process)
    process.wait(timeout=120)
    assert len(endpoint.requests) == at
    running.clear()
    assert projects.told("learn", "--yes").code == 0
    assert len(endpoint.requests) == 5  # the one that was not answered is asked again, no other
    assert texts(projects) == sorted(f"{quote.capitalize()}." for quote in QUOTES)
    projects.told("rebuild")
    assert len(texts(projects)) == len(QUOTES)


def test_the_budget_ends_in_the_middle_and_the_next_day_goes_on(
    projects: Machine, endpoint: ModelServer
) -> None:
    endpoint.answer = keep_all
    projects.told("config", "set", "reader.daily_tokens", "2900")
    done = projects.told("learn", "--yes")
    assert done.code == 3
    assert 1 <= len(endpoint.requests) < 4
    projects.told("config", "set", "reader.daily_tokens", "200000")
    assert projects.told("learn", "--yes").code == 0
    assert len(endpoint.requests) == 4
    assert len(texts(projects)) == 4
