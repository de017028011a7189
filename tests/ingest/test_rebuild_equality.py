"""Reading order and rebuilds do not change answers."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.ingest.box import differences
from tests.soak import SOAK, points

if TYPE_CHECKING:
    from tests.ingest.box import Box


@pytest.fixture
def everyone(box: Box) -> Box:
    """A machine on which every agent was at work; some of them keep their files in a project."""
    box.use_fixtures()
    box.git(box.folder("project"), "init", "-q")
    box.claude("in-the-project", cwd=str(box.home / "project")).turn("Where is aider?", "Here.").write()
    return box


def test_every_agent_is_covered(everyone: Box) -> None:
    everyone.index()
    agents = {row["agent"] for row in everyone.told("agents", "--json").json["agents"] if row["sessions"]}
    fixtures = {path.parent.name for path in Path(__file__).parents[1].glob("data/agents/*/*")}
    assert agents == fixtures, "also those whose files lie in the folders of projects"


def test_rebuild_gives_the_same_answers(everyone: Box) -> None:
    everyone.index()
    before = everyone.answers()
    assert len(before) > 60
    everyone.drop_store()
    assert everyone.told("rebuild").code == 0
    assert not SOAK or differences(before, everyone.answers()) == []
    assert everyone.told("rebuild").code == 0
    assert differences(before, everyone.answers()) == []


def test_reading_order_does_not_matter(everyone: Box) -> None:
    files = sorted(path for path in everyone.home.rglob("*") if path.is_file() and ".git" not in path.parts)
    mixed = random.Random(3).sample(files, len(files))
    before = None
    for order in (files, files[::-1], mixed)[: points(everyday=2, soak=3)]:
        if before:
            everyone.drop_store()
            shutil.rmtree(everyone.told_home / "archive")
        for number, path in enumerate(order):
            os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
        everyone.index()
        before = before or everyone.answers()
        if order is not files:
            assert differences(before, everyone.answers()) == []


def test_incremental_reading_equals_reading_at_once(everyone: Box) -> None:
    """Agents' files appear one after the other, those of whole lines in two pieces.

    What agents keep beside the files with the talk is there from the beginning; agents whose files are only
    understood together with each other are left out.
    """
    for folder in everyone.home.iterdir():
        if folder.name not in (".claude", ".codex", ".copilot", ".gemini", ".qwen", "project"):
            shutil.rmtree(folder)
    everyone.index()
    before = everyone.answers()
    talk = {Path(row[0]) for row in everyone.rows("SELECT path FROM source")}
    talk = {path.relative_to(everyone.home) for path in talk}
    everyone.drop_store()
    shutil.rmtree(everyone.told_home / "archive")
    away = everyone.home.parent / "away"
    everyone.home.rename(away)
    everyone.home.mkdir()
    os.chdir(everyone.home)
    for path in sorted(path for path in away.rglob("*") if path.is_file()):
        if path.relative_to(away) not in talk:
            target = everyone.home / path.relative_to(away)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    for path in sorted(path for path in away.rglob("*") if path.is_dir() and ".git" in path.parts):
        (everyone.home / path.relative_to(away)).mkdir(
            parents=True, exist_ok=True
        )  # git needs empty ones too
    files = sorted(away / path for path in talk)
    for number, path in enumerate(random.Random(5).sample(files, len(files))):
        target = everyone.home / path.relative_to(away)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".jsonl":
            lines = path.read_bytes().splitlines(keepends=True)
            target.write_bytes(b"".join(lines[: len(lines) // 2]))
            everyone.told("list")
        shutil.copyfile(path, target)
        if number % 3 == 0:
            everyone.told("list")
    everyone.index()
    assert differences(before, everyone.answers()) == []
