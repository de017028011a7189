"""Takes out of `sessions.db` what was stored before a rule knew it.

Each session is changed in one transaction: what was interrupted is found again as it was.
"""

from __future__ import annotations

import json
import os

from told.guard.second_look import excerpt, taken_out, without_end
from told.guard.text import one_line
from told.ingest.fold import SUMMARY, Draft
from told.model import Ref, Touch
from told.record import record, replaced
from told.search.index_text import extra_words, near_words
from told.store.database import Transaction, set_mapping
from told.store.erasing import Erasing
from told.store.reading import Reading
from told.store.redacting import Redacting
from told.store.writing import TurnText, Writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import apsw

    from told.guard.second_look import SecondLook
    from told.model import Checkpoint
    from told.store.writing import SessionState

_EVERY = 500  # rows between two looks at the progress
_NOTE = ("title", "overview", "work_done", "technical_details", "important_files", "next_steps", "history")


@record
class Found:
    """A text that today's rules would change."""

    kind: str
    id: str
    shown: str  # the redacted text around the place
    session: int = 0
    file: str = ""  # of the agent, which still holds it


class SessionRedacting:
    """One run over all sessions."""

    def __init__(self, connection: apsw.Connection, look: SecondLook) -> None:
        """Take the open store, and what finds secrets."""
        self._connection = connection
        self._look = look
        self._store = Redacting(connection)
        self._erasing = Erasing(connection)
        self._reading = Reading(connection)
        self._writer = Writer(connection, extra_words, near_words)

    def found(self, report: Callable[[int, int], None] | None = None) -> Iterator[Found]:
        """Yield everything that would change; `report` is told how many rows of how many were looked at."""
        set_mapping(self._connection, 0)  # otherwise all of the file would count as memory
        total = self._store.size() if report else 0
        for done, stored in enumerate(self._store.texts()):
            if report and not done % _EVERY:
                report(done, total)
            new = self._look.texts(stored.texts)
            for old, other in zip(stored.texts, new, strict=True):
                if old != other:
                    yield Found(stored.kind, stored.name, excerpt(old, other), stored.session_id)
                    break
        for _, path, state in self._store.states():
            new_state = self._state(state)
            if new_state != state:
                yield Found("state", self._look.name(path), "", 0, path)
        for _, _, reason, _, path in self._store.problems():
            new_reason = self._look.text(reason)
            if new_reason != reason:
                yield Found("problem", self._look.name(path), excerpt(reason, new_reason), 0, path)
        if report:
            report(total, total)
        yield from self._names()

    def _names(self) -> Iterator[Found]:
        for given, named in ((self._store.ids(), self._look.id), (self._store.places(), self._look.name)):
            for name in given:
                if named(name) != name:
                    yield Found("name", "", "")

    def files_of(self, session_id: int) -> list[str]:
        """Return the agents' own files that tell of a session and are still there."""
        return [path for path in self._erasing.files(session_id) if os.path.exists(path)]

    def redact(self, sessions: Sequence[int]) -> None:
        """Take it out of sessions, and of what is noted about sources; bytes of it may still lie around."""
        for session_id in sessions:
            with self._writer.transaction():
                session = self._writer.session(*self._store.names(session_id))
                if session is not None:
                    self._redact(session)
        with Transaction(self._connection):
            for source_id, _, state in list(self._store.states()):
                new_state = self._state(state)
                if new_state != state:
                    self._store.put_state(source_id, new_state)
            for source_id, line, reason, at, _ in list(self._store.problems()):
                new_reason = self._look.text(reason)
                if new_reason != reason:
                    self._store.put_problem(source_id, line, reason, new_reason, at)

    def _redact(self, session: SessionState) -> None:
        store, writer, look = self._store, self._writer, self._look
        before = tuple(
            TurnText(n, at, "" if key is None else key, *texts)
            for n, at, key, *texts in self._reading.kept_turns(session.id)
        )
        after = tuple(self._turn(turn) for turn in before)
        secrets = secrets_in(before, after)
        for source_id, *facts in store.facts(session.id):
            new_facts = [without_end(look.text(one), secrets) for one in facts]
            if new_facts != facts:
                store.put_facts(session.id, source_id, new_facts)
        writer.facts.settle(session.id)
        session = writer.session(session.agent, session.native) or session
        if after != before:
            writer.put_turns(session, after, replace=True)
            self._erasing.drop_said(session.id)
            writer.fresh.add(session.id)  # what still stands there is counted again
        for source_id, note in self._erasing.notes(session.id):
            writer.put_checkpoint(session, source_id, self._note(note, secrets))
        self._redact_names(session.id)
        writer.put_title(session)
        writer.close_session(session.id, session.next_n, self._summary(session, before, after))

    def _redact_names(self, session_id: int) -> None:
        for path, how, at in self._reading.files_of(session_id):
            new = self._look.text(path)
            if new != path:
                self._erasing.drop_touch(session_id, path)
                self._writer.put_touches(session_id, [Touch("", new, how, at)])
        for kind, value, source_id, at in self._store.refs(session_id):
            new = self._look.text(value)
            if new != value:
                self._erasing.drop_ref(session_id, value)
                self._writer.put_refs(session_id, source_id, [Ref("", kind, new, at)])

    def _turn(self, turn: TurnText) -> TurnText:
        asked, answered, steps = self._look.texts((turn.asked, turn.answered, turn.steps))
        return replaced(turn, asked=asked, answered=answered, steps=steps)

    def _note(self, note: Checkpoint, secrets: dict[str, str]) -> Checkpoint:
        texts = self._look.texts([getattr(note, name) for name in _NOTE])
        texts = [without_end(text, secrets) for text in texts]
        return replaced(note, **dict(zip(_NOTE, texts, strict=True)))

    def _summary(self, session: SessionState, before: Sequence[TurnText], after: tuple[TurnText, ...]) -> str:
        summary = summary_of(session.summary, before, after, self._look)
        if summary == session.summary or len(after) != session.next_n:
            return summary
        draft = Draft(session.native, begin=True)
        draft.turns = after
        return draft.summary or summary  # a session that lost its texts to the cap has none to make it from

    def _state(self, state: str) -> str:
        """Return what a reader keeps, redacted value by value; names in it are texts as well."""
        if self._look.text(state) == state:
            return state
        try:
            value = json.loads(state)
        except (ValueError, RecursionError):
            return self._look.text(state)
        new = self._look.value(value)
        return state if new == value else json.dumps(new)


def secrets_in(before: Sequence[TurnText], after: Sequence[TurnText]) -> dict[str, str]:
    """Return what was taken out of turns, with what stands for it."""
    return {
        secret: marker
        for old, new in zip(before, after, strict=True)
        for one, other in ((old.asked, new.asked), (old.answered, new.answered), (old.steps, new.steps))
        if one != other
        for secret, marker in taken_out(one, other).items()
    }


def summary_of(summary: str, before: Sequence[TurnText], after: Sequence[TurnText], look: SecondLook) -> str:
    """Return a session's summary without what is found; it may be a turn that was cut in the middle of it."""
    for old, new in zip(before, after, strict=True):
        if old.asked != new.asked and summary and one_line(old.asked, SUMMARY) == summary:
            return one_line(new.asked, SUMMARY)
    return look.text(summary)
