"""What a run of the real agents says about the checkpoints of their sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from lab import handover
from lab.bench import Exchange
from lab.machine import Said
from lab.model import Request
from lab.wires.base import SUMMARY, TURN

if TYPE_CHECKING:
    from lab.bench import Bench

_SAID = Said(0, "", "")


class _Machine:
    def __init__(self, *known: dict[str, Any]) -> None:
        self._known = known

    def told_json(self, *words: str) -> dict[str, Any]:
        return {"checkpoints": list(self._known)} if words[0] == "checkpoints" else {}


class _Agent:
    name = "codex"


class _Bench:
    agent = _Agent()

    def __init__(self, *known: dict[str, Any]) -> None:
        self.machine = _Machine(*known)


def _bench(*known: dict[str, Any]) -> Bench:
    return cast("Bench", _Bench(*known))


def _kept(**more: Any) -> dict[str, Any]:
    return {"id": "cabc", "agent": "codex", "path": "x.md"} | more


def _exchange(*requests: tuple[str, int]) -> Exchange:
    """A run, by what each request was for and when the newest checkpoint was then written."""
    made = [Request(kind, {}, "", newest=newest) for kind, newest in requests]
    return Exchange(_SAID, tuple(made))


@pytest.mark.parametrize(
    ("at_summary", "after", "works"), [(5, 5, False), (6, 6, True), (5, 6, True), (5, 0, False)]
)
def test_a_checkpoint_counts_from_the_prompt_to_the_request_after_the_compaction(
    at_summary: int, after: int, works: bool
) -> None:
    found = handover.written(_exchange((TURN, 5), (SUMMARY, at_summary), (TURN, after), (TURN, 9)))
    assert found.works is works


def test_a_compaction_that_nothing_follows_has_to_be_later_than_the_checkpoint() -> None:
    assert handover.written(_exchange((TURN, 0), (SUMMARY, 6))).works
    assert handover.written(_exchange((TURN, 6), (SUMMARY, 6))).note == "none was written"


def test_without_a_compaction_there_is_nothing_before_it() -> None:
    assert handover.written(_exchange((TURN, 0), (TURN, 6))).note == "it did not compact"


def test_a_note_of_the_agent_itself_or_of_another_agent_is_none_of_told() -> None:
    known = (_kept(path=None), _kept(agent="cline"), _kept(id="cown"))
    assert [one["id"] for one in handover.own(_bench(*known))] == ["cown"]


def test_a_checkpoint_is_offered_where_the_first_brief_names_it() -> None:
    brief = Request(TURN, {"text": "<told>\nOpen checkpoint cabc: Move the export\n</told>"}, "")
    plain = Request(TURN, {"text": "cabc stands in no brief"}, "")
    known = [_kept()]
    assert handover.offered(known, Exchange(_SAID, (brief, plain))).works
    assert handover.offered(known, Exchange(_SAID, (plain, brief))).works is False
    assert handover.offered([], Exchange(_SAID, (brief,))).works is False


def test_what_follows_a_compaction_are_the_turns_after_the_last_summary() -> None:
    requests = _exchange(*((kind, 0) for kind in (TURN, SUMMARY, TURN, SUMMARY, "title", TURN))).requests
    assert Exchange(_SAID, requests).after_summary == requests[-1:]
    assert Exchange(_SAID, requests[:1]).after_summary == ()
