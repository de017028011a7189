"""Read sessions; get trimmed texts from the archive or the agent's own file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import apsw

from told.store.sessions.facts import TrimmedSessions
from told.store.sessions.read import SessionReader, TurnRow, TurnText

Texts = dict[int, tuple[str, str, str]]  # asked, answered and steps by turn number
T = TypeVar("T", TurnRow, TurnText)


class CompleteSessions(SessionReader):
    """Read sessions; get trimmed texts from the archive or the agent's file."""

    def __init__(
        self, connection: apsw.Connection, home: str, reread: Callable[[str, str], Texts] | None = None
    ) -> None:
        """Take the database, told's home, and a function that reads an agent's file again."""
        super().__init__(connection)
        self._home = home
        self._reread = reread
        self._trimmed = TrimmedSessions(connection)
        self._last: tuple[int, Texts] = (0, {})

    def turns(self, session_id: int, limit: int = -1, *, newest: bool = False) -> list[TurnRow]:
        """Return a session's turns in order; with `newest` the last ones."""
        found = super().turns(session_id, limit, newest=newest)
        texts = self._missing_texts(session_id, ((one.asked, one.answered, one.steps) for one in found))
        return [_fill(one, texts) for one in found] if texts else found

    def turn(self, session_id: int, n: int) -> TurnRow | None:
        """Return one turn."""
        found = super().turn(session_id, n)
        if found is None:
            return None
        return _fill(found, self._missing_texts(session_id, [(found.asked, found.answered, found.steps)]))

    def archive_turns(self, session_id: int) -> tuple[TurnText, ...]:
        """Return a session's turns in order, as they are written."""
        found = super().archive_turns(session_id)
        texts = self._missing_texts(session_id, (one.texts for one in found))
        return tuple(_fill(one, texts) for one in found)

    def is_lost(self, session_id: int) -> bool:
        """Return whether a trimmed session's texts cannot be found anywhere."""
        return self._trimmed.has(session_id) and not self._texts(session_id)

    def _missing_texts(self, session_id: int, found: Iterable[tuple[str, str, str]]) -> Texts:
        if all(map(any, found)) or not self._trimmed.has(session_id):
            return {}
        return self._texts(session_id)

    def _texts(self, session_id: int) -> Texts:
        if self._last[0] != session_id:
            session = self.session(session_id)
            from told.ingest.archive import read_archived_texts  # noqa: PLC0415 - few sessions are trimmed

            texts = read_archived_texts(self._home, session.agent, session.native)
            if not texts and self._reread is not None:
                texts = self._reread(session.agent, session.native)
            self._last = (session_id, texts)
        return self._last[1]


def _fill(turn: T, texts: Texts) -> T:
    if turn.asked or turn.answered or turn.steps or turn.n not in texts:
        return turn
    asked, answered, steps = texts[turn.n]
    return turn._replace(asked=asked, answered=answered, steps=steps)
