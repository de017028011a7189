"""Random sequences of events: the gate never blocks a session for good."""

from __future__ import annotations

import random
import shutil
from typing import TYPE_CHECKING

import apsw
import pytest

from tests.hook.tool_calls import EDITS, OWN_TOOLS, SHELLS, TOOL_AGENTS, reason, run, tool_call
from tests.soak import sampled
from told.checkpoints.counter import reset_count
from told.errors import ToldError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.hook.desk import Desk

_SEQUENCES = 1_000
_BLOCKS = 10  # so that a failure names a few, and they run side by side
_MOST = 3
_STEPS = (10, 35)


class _Session:
    """What a session was answered since its last checkpoint."""

    def __init__(self, agent: str, name: str) -> None:
        self.agent, self.name = agent, name
        self.calls = self.denials = self.in_a_row = 0
        self.known = True  # whether nobody has touched its count

    def begin_anew(self) -> None:
        self.calls = self.denials = 0
        self.known = True


class _World:
    """A machine on which everything can happen, and what may be expected of it."""

    def __init__(self, desk: Desk, store: bytes, seed: int) -> None:
        self.desk = desk
        self.chance = random.Random(seed)
        shutil.rmtree(desk.told_home, ignore_errors=True)
        desk.told_home.unlink(missing_ok=True)
        desk.told_home.mkdir()
        (desk.told_home / "sessions.db").write_bytes(store)
        self.after, self.asks = 3, True
        self.broken = self.away = self.locked_out = False
        self.denied = 0
        agents = self.chance.sample(TOOL_AGENTS, 2)
        names = self.chance.choice((("s-1", "s-2"), ("s-1", "s-1")))  # two agents may have the same id
        self.sessions = [_Session(*one) for one in zip(agents, names, strict=True)]
        self.settings(self.after, asks=True)

    @property
    def counts(self) -> Path:
        return self.desk.told_home / "counts"

    def settings(self, after: int, *, asks: bool, broken: bool = False) -> None:
        """Let the user change the settings."""
        if self.away:
            return
        self.after, self.asks, self.broken = after, asks, broken
        text = f'guard = "off"\n[checkpoint]\nremind_after = {after}\ngate = "{"ask" if asks else "off"}"\n'
        self.desk.config(text + ("nonsense = 1\n" if broken else ""))

    def work(self) -> None:
        """Let a session call a tool, and look at the answer."""
        session = self.chance.choice(self.sessions)
        if self.chance.random() < 0.5:
            tool, given = EDITS[session.agent]
        else:
            tool, given = SHELLS.get(session.agent, "Bash"), {"command": 'echo "told checkpoint"'}
        denied = self.is_denied(session, tool, given)
        session.calls += 1
        may = self.asks and self.after > 0 and not self.broken and session.calls > self.after
        may = may and (self.desk.told_home / "sessions.db").is_file()
        if denied:
            assert may
            assert session.denials < _MOST or not session.known
        elif session.known and not self.locked_out:
            assert not may or session.denials >= _MOST
        session.denials += denied
        session.in_a_row = session.in_a_row + 1 if denied else 0
        assert session.in_a_row <= _MOST
        self.denied += denied
        if not self.after or self.broken or self.away:  # this one was not counted
            session.known = False

    def is_denied(self, session: _Session, tool: str, given: dict[str, str]) -> bool:
        payload = tool_call(self.desk, tool, given, session.agent, session.name)
        try:
            return bool(reason(self.desk.ask(session.agent, "tool", payload)))
        except (ToldError, OSError, apsw.Error):  # the hook says nothing then
            return False

    def told_itself(self) -> None:
        """Let a session use told; that is never denied."""
        session = self.chance.choice(self.sessions)
        if self.chance.random() < 0.5:
            assert not self.is_denied(
                session, self.chance.choice(OWN_TOOLS), {"goal": "x", "command": "make"}
            )
        else:
            given = {"command": "cd app && told checkpoint --goal x"}
            assert not self.is_denied(session, SHELLS.get(session.agent, "Bash"), given)

    def checkpoint(self) -> None:
        """Let a session write a checkpoint."""
        session = self.chance.choice(self.sessions)
        reset_count(str(self.desk.told_home), session.agent, session.name)
        if not self.away:
            session.begin_anew()
        if self.locked_out or (self.counts.is_dir() and any(one.is_dir() for one in self.counts.iterdir())):
            session.known = False  # something stands there that no checkpoint can move away

    def change_settings(self) -> None:
        """Let the user change the settings, perhaps to something that makes no sense."""
        asks, broken = self.chance.random() < 0.8, self.chance.random() < 0.1
        self.settings(self.chance.choice((0, 1, 2, 3, 5)), asks=asks, broken=broken)

    def damage(self) -> None:
        """Let a crash, or somebody else, leave the counts in any state."""
        for session in self.sessions:
            session.known, session.in_a_row = False, 0
        if not self.counts.is_dir():
            return
        for path in self.counts.iterdir():
            if path.is_dir() and not path.is_symlink():
                path.rmdir()
                continue
            content = path.read_bytes() if path.is_file() else b""
            path.unlink()
            match self.chance.randrange(7):
                case 0:
                    path.write_bytes(self.chance.randbytes(self.chance.randrange(60)))
                case 1:
                    path.write_bytes(content[: self.chance.randrange(len(content) + 1)])
                case 2:
                    path.write_bytes(bytes(len(content)))
                case 3:
                    path.mkdir()
                case 4:
                    path.symlink_to(self.desk.home / "nowhere")
                case 5:
                    path.write_bytes(b"." * 70_000)

    def lose_counts(self) -> None:
        """Let the folder of counts be gone, or something else stand in its place."""
        for session in self.sessions:
            session.known = False
        if self.counts.is_dir():
            shutil.rmtree(self.counts)
        self.locked_out = self.chance.random() < 0.5
        if self.locked_out and not self.away:
            self.counts.write_text("")
        elif not self.away:
            self.counts.unlink(missing_ok=True)

    def lose_store(self) -> None:
        """Let the store be gone, or come back."""
        path = self.desk.told_home / "sessions.db"
        if path.exists():
            path.unlink()
        elif not self.away:
            path.write_bytes(b"")

    def lose_home(self) -> None:
        """Let told's folder be gone, or come back as it was."""
        aside = self.desk.told_home.with_name("aside")
        if self.away:
            shutil.rmtree(self.desk.told_home, ignore_errors=True)
            aside.rename(self.desk.told_home)
        else:
            self.desk.told_home.rename(aside)
        self.away = not self.away
        for session in self.sessions:
            session.known = False

    def end(self) -> None:
        """Put everything back where it belongs."""
        if self.away:
            self.lose_home()

    def live(self) -> None:
        """Let things happen."""
        usual: list[Callable[[], None]] = [self.work] * 14 + [self.told_itself, self.checkpoint]
        odd = [
            self.change_settings, self.damage, self.lose_counts, self.lose_store, self.lose_home,
            self.checkpoint,
        ]  # fmt: skip
        oddness = self.chance.choice((0.0, 0.05, 0.2))
        for _ in range(self.chance.randint(*_STEPS)):
            self.chance.choice(odd if self.chance.random() < oddness else usual)()


@pytest.mark.parametrize("block", sampled(range(_BLOCKS), (0,)))
def test_no_sequence_ends_where_the_agent_cannot_go_on(desk: Desk, block: int) -> None:
    assert desk.told("index").code == 0
    store = (desk.told_home / "sessions.db").read_bytes()
    denied = 0
    for seed in range(block, _SEQUENCES, _BLOCKS):
        world = _World(desk, store, seed)
        try:
            world.live()
            answers = [
                world.is_denied(one, "Bash", {"command": "make"}) for one in world.sessions * (_MOST + 1)
            ]
            assert not all(answers[::2]), "four in a row"
            assert not all(answers[1::2]), "four in a row"
        except AssertionError as error:
            raise AssertionError(f"sequence {seed}: {error}") from error
        finally:
            world.end()
        denied += world.denied
    assert denied > _SEQUENCES // _BLOCKS  # the gate was there


def test_a_session_that_only_repeats_itself_goes_on(desk: Desk) -> None:
    desk.config('guard = "off"\n[checkpoint]\nremind_after = 1\ngate = "ask"\n')
    assert desk.told("index").code == 0
    denied = [bool(reason(run(desk))) for _ in range(200)]
    assert denied == [False] + [True] * _MOST + [False] * (199 - _MOST)
