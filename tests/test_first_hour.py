"""A new user's first hour: the screens in docs/screens are what told shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from demo import first_hour
from demo.first_hour import COLUMNS, SCREENS, STEPS, screens
from demo.told import Scratch, remove_escapes
from tests.demo_history import Quick
from tests.documents import normal
from tests.soak import sampled


@pytest.mark.parametrize("kind", sampled((Quick, Scratch), (Quick,)))
def test_the_kept_screens_are_what_told_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[Scratch]
) -> None:
    monkeypatch.setattr(first_hour, "Scratch", kind)
    for step, shown in screens(str(tmp_path)):
        text = remove_escapes(shown)
        assert [line for line in text.split("\n") if len(line) > COLUMNS] == []
        kept = (SCREENS / f"{step.name}.txt").read_text()
        assert _masked(f"$ {step.command}\n{text}") == _masked(kept), step.name


def _masked(text: str) -> str:
    """Return a screen without what differs between runs: times, scores and new ids."""
    text = re.sub(r"\b[mc][a-z2-7]{7,9}\b", "ID", normal(text))
    text = text.replace("1 today, ", "")  # the latest session is an hour old, maybe of yesterday
    return re.sub(r"\d+(?:\.\d+)?", "N", text)


def test_each_screen_is_kept_as_text_and_picture() -> None:
    names = {f"{step.name}{ending}" for step in STEPS for ending in (".txt", ".svg")}
    assert {path.name for path in SCREENS.iterdir()} == names
    assert all("url(http" not in path.read_text() for path in SCREENS.iterdir())
