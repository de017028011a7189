"""Learns from sessions as they come in: what users said in them, written down once, in the order of time.

How far each session was listened to stands in the journal, next to what was learned from it, so that nothing
is learned twice: not after a crash, not when the session is read again, not after it was forgotten.
"""

from __future__ import annotations

import time

from told.journal.files import rename_place
from told.journal.model import SET
from told.memory._intake_often import Often
from told.memory.capture import capture
from told.memory.hearing import take
from told.memory.remember import Said
from told.memory.scopes import rename_project
from told.record import record
from told.store.fresh import TO_CAPTURE
from told.store.memory_records import FORGOTTEN, GLOBAL, PROJECT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from told.memory.pen import Pen
    from told.memory.review import Reviewed
    from told.store.fresh import Fresh, FreshSession
    from told.store.reading import Reading, TurnRow

CAPTURED = "captured"  # the topic of the notes that say how far a session was listened to
UNKNOWN = f"{PROJECT}unknown"  # the scope of what was said nobody knows where
_BEFORE = 600  # characters of the agent's text before a message
_SESSIONS = 200  # learned from in one go


@record
class Learned:
    """What came of it."""

    sessions: int = 0
    statements: int = 0  # new ones
    again: int = 0  # what was known
    observations: int = 0  # of what agents did
    followed: int = 0  # what agents were shown and did


class Intake:
    """One run over the sessions that nobody has listened to."""

    def __init__(
        self, pen: Pen, fresh: Fresh, reading: Reading, left_out: Callable[[str], bool] | None = None
    ) -> None:
        """Take the pen of told itself, the sessions, and which projects' are not learned from, by key."""
        self._pen = pen
        self._left_out = left_out or (lambda _: False)
        self._fresh = fresh
        self._reading = reading
        self._often = Often(fresh, reading)
        self._sessions = self._new = self._known = 0

    def run(self, seconds: float | None = None) -> Learned:
        """Learn from everything that is new, or for so long."""
        deadline = None if seconds is None else time.monotonic() + seconds
        self._rename()
        while deadline is None or time.monotonic() < deadline:
            sessions = self._fresh.waiting(TO_CAPTURE, limit=_SESSIONS)
            if not sessions:
                break
            self._some(sessions, deadline)
        seen = self._look_back(deadline)
        return Learned(self._sessions, self._new, self._known, seen.observations, seen.followed)

    def _look_back(self, deadline: float | None) -> Reviewed:
        from told.memory.review import Review

        return Review(self._pen, self._fresh, self._reading, self._left_out).run(deadline)

    def _rename(self) -> None:
        """Let memories follow a project that got another key."""
        renamed = self._fresh.renamed()
        for old, new in renamed:
            memories = self._pen.memories
            for one in memories.load(memories.of_scope(PROJECT + old)).values():
                self._pen.note("move", one.id, scope=PROJECT + new)
            rename_project(self._pen, PROJECT + old, PROJECT + new)
            rename_place(self._pen.home, PROJECT + old, PROJECT + new)
        self._pen.write()
        if renamed:
            self._fresh.told_of(renamed)

    def _some(self, sessions: Sequence[FreshSession], deadline: float | None) -> None:
        known = self._pen.memories.noted(CAPTURED)
        heard: list[Said] = []
        listened: list[FreshSession] = []
        for session in sessions:
            if listened and deadline is not None and time.monotonic() > deadline:
                break
            heard += self._listen(session, int(known.get(session.name, "0")))
            listened.append(session)
        for said in self._often.found(listened):
            heard += self._unknown(said.agent, said.session, [said])
        for said in sorted(heard, key=lambda one: (one.at, one.session, one.turn)):
            _, is_new = take(self._pen, said, sync=False)
            self._new += is_new
            self._known += not is_new
        marks = {one.name: one.next_n for one in listened if int(known.get(one.name, "0")) < one.next_n}
        if marks:
            self._pen.note(SET, "", **{SET: {CAPTURED: marks}})
            self._pen.write()  # with this, all that was learned is on disk
        self._fresh.done(TO_CAPTURE, listened, self._often.take())
        self._sessions += len(listened)

    def _listen(self, session: FreshSession, start: int) -> list[Said]:
        """Return what a user said in the turns that are new; a helper's task was written by an agent."""
        if session.kind or self._left_out(session.project):
            return []
        found = []
        before = ""
        for turn in self._reading.turns(session.id):
            if turn.n >= start:
                found += _statements(session, turn, before, self._pen.now)
            self._often.add(session, turn, is_new=turn.n >= start, taken=[one.quote for one in found])
            before = turn.answered[-_BEFORE:]
        return self._unknown(session.agent, session.native, found)

    def _unknown(self, agent: str, session: str, found: list[Said]) -> list[Said]:
        """Leave out what was written down from the same place before, or was forgotten there."""
        if not found:
            return found
        memories = self._pen.memories
        quotes: set[str] = set()
        closed: set[int] = set()
        for one in memories.load(memories.of_session(session)).values():
            for place in one.evidence:
                if (place.agent, place.session) == (agent, session):
                    quotes.add(place.quote)
                    if one.status == FORGOTTEN:
                        closed.add(place.turn)
        return [said for said in found if said.quote not in quotes and said.turn not in closed]


def _statements(session: FreshSession, turn: TurnRow, before: str, now: int) -> list[Said]:
    project = PROJECT + session.project if session.project else UNKNOWN
    at = turn.at if 0 < turn.at < now else now
    return [
        Said(
            " ".join(one.text.split()), GLOBAL if one.scope == GLOBAL else project, one.kind,
            quote=one.quote, agent=session.agent, session=session.native, turn=turn.n, at=at, about=one,
            seed=f"{session.name}.{turn.n}.{number}", certainty=one.certainty,
        )
        for number, one in enumerate(capture(turn.asked, before))
    ]  # fmt: skip
