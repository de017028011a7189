"""Looks back at sessions that came to rest: what the agent did, and whether it followed what it was told."""

from __future__ import annotations

import time

from told.journal.model import SET
from told.memory.describe import Described
from told.memory.observe import MOST, observations
from told.memory.remember import Said, write_down
from told.record import record
from told.store.fresh import REST, TO_OBSERVE
from told.store.memory_records import ACTIVE, AGENT, FORGOTTEN, OBSERVATION, PROJECT
from told.store.writing import TurnText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from told.memory.pen import Pen
    from told.store.fresh import Fresh, FreshSession
    from told.store.reading import Reading

OBSERVED = "observed"  # the topic of the notes that say how far a session was looked at
_WORTH = 90 * 86_400_000  # what agents did longer ago is in the sessions, for who asks
_SLACK = 60_000  # a prompt is dated by the agent, what was shown for it by told
_SESSIONS = 200


@record
class Reviewed:
    """What came of it."""

    observations: int = 0
    followed: int = 0


class Review:
    """One run over the sessions that nobody has looked back at."""

    def __init__(self, pen: Pen, fresh: Fresh, reading: Reading, left_out: Callable[[str], bool]) -> None:
        """Take the pen of told itself, the sessions, and which projects' are left out, by key."""
        self._pen = pen
        self._left_out = left_out
        self._fresh = fresh
        self._reading = reading
        self._observations = self._followed = 0

    def run(self, deadline: float | None = None) -> Reviewed:
        """Look at everything that is at rest, or until a moment of the monotonic clock."""
        while deadline is None or time.monotonic() < deadline:
            sessions = self._fresh.waiting(TO_OBSERVE, self._pen.now - REST, _SESSIONS)
            if not sessions:
                break
            self._some(sessions)
        return Reviewed(self._observations, self._followed)

    def _some(self, sessions: Sequence[FreshSession]) -> None:
        known = self._pen.memories.noted(OBSERVED)
        marks = {}
        for session in sessions:
            start = int(known.get(session.name, "0"))
            if start < session.next_n:
                marks[session.name] = session.next_n
                if not session.kind and not self._left_out(session.project):
                    self._look_back(session, start)
        if marks:
            self._pen.begin_act()
            self._pen.note(SET, "", **{SET: {OBSERVED: marks}})
        self._pen.write()
        self._fresh.done(TO_OBSERVE, sessions)

    def _look_back(self, session: FreshSession, start: int) -> None:
        turns = [
            TurnText(row.n, row.at, "", row.asked, row.answered, row.steps)
            for row in self._reading.turns(session.id)
        ]
        if not turns:
            return
        if session.project and turns[-1].at > self._pen.now - _WORTH:
            self._observe(session, turns)
        self._follow(session.native, [turn for turn in turns if turn.n >= start])

    def _observe(self, session: FreshSession, turns: Sequence[TurnText]) -> None:
        memories = self._pen.memories
        root = self._reading.session(session.id).cwd
        before = list(memories.load(memories.of_session(session.native)).values())
        quotes = {place.quote for one in before for place in one.evidence}
        closed = {place.turn for one in before if one.status == FORGOTTEN for place in one.evidence}
        room = MOST - sum(1 for one in before if one.kind == OBSERVATION and one.trust == AGENT)
        seen = [
            one for one in observations(turns, root) if one.quote not in quotes and one.turn not in closed
        ]
        for number, one in enumerate(seen[-room:] if room > 0 else ()):
            self._pen.begin_act()
            write_down(
                self._pen,
                Said(
                    one.text, PROJECT + session.project, OBSERVATION, trust=AGENT, quote=one.quote,
                    agent=session.agent, session=session.native, turn=one.turn, at=one.at,
                    about=Described(OBSERVATION, (), one.paths), label=one.label,
                    seed=f"{session.name}.{one.turn}.deed.{number}",
                ),
            )  # fmt: skip
            self._observations += 1

    def _follow(self, session: str, turns: Sequence[TurnText]) -> None:
        """Count for a memory that it was followed where it was shown and the tool calls plainly say so."""
        shown = self._pen.memories.shown_in(session)
        if not shown:
            return
        from told.memory.learn import followed

        for one in self._pen.memories.get(shown).values():
            steps = list(_steps(turns, shown[one.id] - _SLACK))
            if one.status == ACTIVE and followed(one, steps):
                self._pen.note("follow", one.id, session=session)
                self._followed += 1


def _steps(turns: Iterable[TurnText], since: int) -> Iterable[str]:
    for turn in turns:
        if turn.at >= since:
            yield from turn.steps.splitlines()
