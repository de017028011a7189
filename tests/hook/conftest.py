"""Fixtures: a machine whose agents call the hook."""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING

import pytest

from tests.hook.desk import Desk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_OF_AGENTS = (
    "CLAUDE",
    "CODEX",
    "COPILOT",
    "CURSOR",
    "GEMINI",
    "QWEN",
    "OPENCODE",
    "XDG_",
    "AI_AGENT",
    "TOLD_",
)


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Desk]:
    """An empty machine; its user's home is the current folder."""
    made = Desk(tmp_path, capsys)
    for name in list(os.environ):
        if name.startswith(_OF_AGENTS):
            monkeypatch.delenv(name)
    for name, value in made.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(made.home)
    yield made
    gc.enable()  # a command does without
