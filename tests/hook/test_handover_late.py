"""Agents that write their last words only after their hooks: a sweep sets their checkpoints right."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from tests.hook.talk import AGENT, Talk, edit
from told.ingest.checkpoint_markdown import parse_checkpoint

if TYPE_CHECKING:
    from tests.hook.desk import Desk
    from told.model import Handover


@pytest.fixture(autouse=True)
def _in_no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the time limits inside hooks."""
    for name in ("session._INGEST_UNTIL", "session._LEARN_UNTIL", "auto_checkpoint._WRITE_UNTIL",
                 "auto_checkpoint._WRITE_PENDING_UNTIL", "auto_checkpoint._ASK_GIT_UNTIL"):  # fmt: skip
        monkeypatch.setattr(f"told.hook.{name}", 60)


def _notes(desk: Desk) -> list[Handover]:
    paths = sorted((desk.told_home / "checkpoints").rglob("*.md"))
    return [parse_checkpoint(path.read_text(), str(path)) for path in paths]


def _end_without_a_file(talk: Talk) -> None:
    """End a session as Copilot CLI does: it does not say where its file is."""
    desk = talk.desk
    given = desk.payload(AGENT, "SessionEnd-other", session_id=talk.session, cwd=talk.cwd)
    given.pop("transcript_path", None)
    desk.ask(AGENT, "end", given)


def _half_said(desk: Desk) -> Talk:
    """A session whose file has the question and the change, and not yet the answer."""
    return Talk(desk).turn("Add pagination to the orders API", "", edit(f"{desk.project}/src/orders.py"))


def test_an_answer_that_is_written_after_the_end_is_in_the_checkpoint_after_a_sweep(desk: Desk) -> None:
    talk = _half_said(desk)
    desk.told("index")
    _end_without_a_file(talk)
    talk.answer("I added `limit` to list_orders. The docs are not updated yet.")

    desk.told("sweep")
    said = Talk(desk, "s-2").start()

    (note,) = _notes(desk)
    assert note.pending == ("The docs are not updated yet.",)
    assert f"{note.id}): " in said


def test_one_that_is_made_later_is_as_old_as_its_session(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("told.hook.auto_checkpoint._WRITE_UNTIL", -1)
        _half_said(desk).end()
    assert _notes(desk) == []
    ended = time.time() * 1000
    time.sleep(0.05)

    Talk(desk, "s-2").start()

    (note,) = _notes(desk)
    assert note.at <= ended
