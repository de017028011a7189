"""Hooks that start from a snapshot say the same as hooks that do not, and a broken one is no trouble."""

from __future__ import annotations

import json
import random
import sys
from typing import TYPE_CHECKING

import pytest

from tests.hook.desk import ASKED, TAUGHT, Desk, begun, installed, typed
from told.setup.snapshots import write_snapshot

if TYPE_CHECKING:
    from pathlib import Path

# Says how many modules came from a snapshot, when the hook leaves.
_COUNTING = (
    "import os,sys;leave=os._exit;"
    "count=lambda:sum(type(getattr(it,'__loader__',0)).__name__=='Snapshot' for it in sys.modules.values());"
    "os._exit=lambda code:(os.write(2,str(count()).encode()),leave(code));"
)
_EVENTS = ("start", "prompt", "compact", "stop", "end", "helper", "tool")


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A snapshot, as `told install` writes it."""
    home = tmp_path_factory.mktemp("snapshot")
    program, *_, code, _, _ = installed("", "")
    places = json.loads(code.partition("sys.path[:0]=")[2].partition(";")[0].replace("'", '"'))
    assert write_snapshot(str(home), program, tuple(places))
    return next(home.iterdir())


def _placed(desk: Desk, snapshot: Path, data: bytes = b"") -> None:
    desk.told_home.mkdir(exist_ok=True)
    path = desk.told_home / snapshot.name
    path.write_bytes(data or snapshot.read_bytes())
    path.chmod(0o600)


def _answers(desk: Desk) -> dict[str, str]:
    """Teach, lock, and ask at every moment; as if for the first time."""
    said = [desk.call("codex", "prompt", typed(desk, TAUGHT, "codex", "one"))]
    said.append(desk.call("claude-code", "prompt", typed(desk, "/mem:lock Never use `npm`.", session="one")))
    answers = {}
    for event in _EVENTS:
        payload = begun(desk, session=event) | {"prompt": ASKED, "tool_input": {"command": "npm install"}}
        said.append(desk.call("claude-code", event, payload))
        answers[event] = said[-1].out
    assert {(one.code, one.err) for one in said} == {(0, "")}
    assert not (desk.told_home / "hook.trouble").exists()
    return answers


def test_a_hook_that_starts_from_a_snapshot_does_the_same(desk: Desk, snapshot: Path) -> None:
    _placed(desk, snapshot)
    answers = _answers(desk)
    assert "pnpm" in answers["start"]
    assert "pnpm" in answers["prompt"] or "npm" in answers["prompt"]
    assert "permissionDecision" in answers["tool"]
    assert len(desk.texts()) == 2


def test_a_broken_snapshot_is_not_used(desk: Desk, snapshot: Path) -> None:
    """Whatever is wrong with it: the hook starts without it."""
    whole = snapshot.read_bytes()
    noise = random.Random(11)
    desk.prompt(TAUGHT, session="elsewhere")
    for number in range(12):
        data = bytearray(whole)
        if number < 3:
            del data[noise.randrange(len(data)) :]
        else:
            data[noise.randrange(300 if number < 7 else len(data))] ^= 0xFF
        _placed(desk, snapshot, bytes(data))
        said = desk.call("claude-code", "prompt", typed(desk, ASKED, session=f"s{number}"))
        assert "pnpm" in said.out, number


@pytest.mark.skipif(sys.platform == "win32", reason="files have no such permissions there")
def test_a_snapshot_that_others_may_write_is_not_used(desk: Desk, snapshot: Path) -> None:
    """It is code: somebody else's would be run as the user."""
    desk.prompt(TAUGHT, session="elsewhere")
    harmless = typed(desk, ASKED, session="new")
    for number, mode in enumerate((0o622, 0o606, 0o660)):
        _placed(desk, snapshot)
        (desk.told_home / snapshot.name).chmod(mode)
        *words, code, agent, event = installed("claude-code", "prompt")
        said = desk.start((*words, _COUNTING + code, agent, event), harmless | {"session_id": f"s{number}"})
        assert said.err == "0"
    _placed(desk, snapshot)
    said = desk.start((*words, _COUNTING + code, agent, event), harmless | {"session_id": "own"})
    assert int(said.err) > 10
