"""Export everything, wipe told's folder, import: every command answers as before."""

from __future__ import annotations

import json
import re
import shutil
import time
from typing import TYPE_CHECKING

import pytest

from demo.told import Scratch
from tests.cli.machine import NOW, Answer
from tests.soak import points
from told.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_MARK = re.compile(r"<(/?)(agent|user|tool) [a-z2-7]{5}>")
_SCORE = re.compile(r"[A-Z]+ \d+\.\d of 10\..*")  # how fast told answered is a part of it
_ALL = ("memories", "--all-projects", "--all", "-n", "999", "--status")
_STATUSES = ("active", "candidate", "superseded", "quarantined", "archived", "dismissed")


class Home:
    """The demo's history on a machine of its own, and told run on it in this process."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.scratch = Scratch(str(folder), int(NOW.timestamp() * 1000))
        self.folder = folder / "told"
        self._capsys = capsys

    def told(self, *words: str, **variables: str) -> Answer:
        self._capsys.readouterr()
        code = main(words, self.scratch.environ | variables)
        return Answer(code, *self._capsys.readouterr())

    def do(self, *words: str, **variables: str) -> str:
        answer = self.told(*words, **variables)
        assert answer.code == 0, answer.err
        return answer.out

    def wipe(self) -> None:
        shutil.rmtree(self.folder)


@pytest.fixture
def home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Home]:
    """The demo's history, and a week of a user who changes a lot."""
    made = Home(tmp_path, capsys)
    for name, value in made.scratch.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    clock = int(NOW.timestamp()) * 10**9
    monkeypatch.setattr(time, "time_ns", lambda: clock)
    monkeypatch.chdir(made.scratch.cwd)
    made.do("index")
    _live(made)
    yield made
    monkeypatch.undo()
    time.tzset()


def _live(home: Home) -> None:
    """Remember, correct, lock, reject, forget, share, undo; let an agent propose."""
    said = ("Use pnpm here", "Name branches after tickets", "Log in JSON", "Keep handlers thin",
            "Money is in cents")  # fmt: skip
    ids = [json.loads(home.do("remember", text, "--json"))["id"] for text in said]
    home.do("remember", "Answer in English", "--scope", "global", "--lock")
    home.do("remember", "Release on Tuesdays", "--kind", "decision")
    home.do("remember", "Release on Thursdays now, not on Tuesdays", "--kind", "decision")
    home.do("remember", "The staging database is called larch")
    home.do("remember", "The wifi password is on the fridge")
    home.do("forget", "--force", json.loads(home.do("memories", "fridge", "--json"))["memories"][0]["id"])
    home.do("lock", ids[0])
    home.do("confirm", ids[1])
    home.do("reject", ids[2])
    home.do("correct", ids[3], "Profile only on the machine named larch-2")
    home.do("remember", "This is a mistake of mine")
    home.do("undo")
    home.do("scopes", "create", "payments")
    home.do("scopes", "share", ids[4], "payments")
    home.do("scopes", "subscribe", "payments")
    home.do("brief", "--prompt", "profile the search page, it is slow", "--session", "s-1")
    home.do("checkpoint", "--goal", "Ship the invoice page", "--pending", "Write tests", "--done", "Layout")
    home.do("checkpoint", "--goal", "Older work", "--done", "All of it", "--status", "closed")
    assert home.told("correct", ids[0], "Use yarn", CLAUDECODE="1").code == 0
    assert home.told("remember", "The cache lives in Redis", CLAUDECODE="1").code == 0
    sessions = json.loads(home.do("list", "--all-projects", "--json"))["sessions"]
    home.do("forget", "--force", "--session", sessions[-1]["id"])


def _answers(home: Home) -> dict[str, str]:
    """Return what every command that reads says, by the command."""
    ids = sorted(
        one["id"]
        for status in _STATUSES
        for one in json.loads(home.told(*_ALL, status, "--json").out or '{"memories": []}')["memories"]
    )
    some = ids[:: points(everyday=4, soak=1)]
    commands = [
        *([*_ALL, one] for one in _STATUSES), *([*_ALL, one, "--json"] for one in _STATUSES),
        *(["why", one] for one in some), *(["show", one] for one in some), ["memories"], ["stats"],
        ["evolution", "release"], ["evolution", "profile"], ["diff", "2026-10-01"], ["proposals"], ["scopes"],
        ["search", "profile the search page", "--all-projects"], ["search", "larch"],
        ["brief"], ["brief", "--start"], ["brief", "--prompt", "profile the search page, it is slow"],
        ["explain", "profile the search page"], ["checkpoints"], ["checkpoints", "--all-projects", "--json"],
        ["review"], ["audit"], ["wonder", "checkout"], ["reason", "do we profile on production?"],
        ["list", "--all-projects"], ["files"], ["timeline"], ["repos"], ["home"], ["retention"],
    ]  # fmt: skip
    assert len(ids) > 12
    found = {}
    for words in commands:
        answer = home.told(*words)
        out = _SCORE.sub("", answer.out)
        found[" ".join(words)] = f"{answer.code} {out} {answer.err}"
    return found


def _same(before: dict[str, str], after: dict[str, str]) -> None:
    for command, answer in before.items():
        assert after[command] == answer, command
    assert before.keys() == after.keys()


def test_everything_is_as_before_after_export_wipe_import(home: Home, tmp_path: Path) -> None:
    before = _answers(home)
    path = str(tmp_path / "all.json")
    home.do("export", path, "--include-private", "--sessions")
    home.wipe()
    home.do("import", path)
    _same(before, _answers(home))
    assert json.loads(home.do("import", path, "--json"))["counts"]["new"] == 0
    _same(before, _answers(home))
    home.wipe()
    home.do("import", path)
    home.do("rebuild")
    _same(before, _answers(home))
    again = str(tmp_path / "again.json")
    home.do("export", again, "--include-private", "--sessions")
    first, second = (json.loads((tmp_path / name).read_text()) for name in ("all.json", "again.json"))
    assert first == second


@pytest.mark.soak
def test_a_plain_export_brings_back_every_answer_about_memories(home: Home, tmp_path: Path) -> None:
    path = str(tmp_path / "plain.json")
    before = _answers(home)
    home.do("export", path)
    home.wipe()
    home.do("import", path)
    home.do("index")
    after = _answers(home)
    for command, answer in before.items():
        if not command.startswith(("list", "files", "timeline", "repos", "home")):
            assert _MARK.sub("", after[command]) == _MARK.sub("", answer), command
