"""Reads sessions with their texts, also where the cap took these: from the archive or the agent's file."""

from __future__ import annotations

import os

from told.record import replaced
from told.store.reading import Reading
from told.store.trimming import Trimmed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import apsw

    from told.store.reading import TurnRow

    Texts = dict[int, tuple[str, str, str]]  # asked, answered, steps, by the number of the turn


class Whole(Reading):
    """Queries for people and agents who look back at all that was said."""

    def __init__(
        self, connection: apsw.Connection, home: str, again: Callable[[str, str], Texts] | None = None
    ) -> None:
        """Take the open store, told's folder, and what reads a session's file (agent, native) once more."""
        super().__init__(connection)
        self._home = home
        self._again = again
        self._trimmed = Trimmed(connection)
        self._last: tuple[int, Texts] = (0, {})

    def turns(self, session_id: int, limit: int = -1, *, newest: bool = False) -> list[TurnRow]:
        """Return a session's turns in order; with `newest` the last ones."""
        found = super().turns(session_id, limit, newest=newest)
        texts = self._lost(session_id, ((one.asked, one.answered, one.steps) for one in found))
        return [_filled(one, texts) for one in found] if texts else found

    def turn(self, session_id: int, n: int) -> TurnRow | None:
        """Return one turn."""
        found = super().turn(session_id, n)
        if found is None:
            return None
        texts = self._lost(session_id, [(found.asked, found.answered, found.steps)])
        return _filled(found, texts)

    def kept_turns(self, session_id: int) -> list[tuple[int, int, int | None, str, str, str]]:
        """Return the (n, at, key, asked, answered, steps) of a session's turns in order."""
        found = super().kept_turns(session_id)
        texts = self._lost(session_id, (row[3:] for row in found))
        return [row if any(row[3:]) else (*row[:3], *texts.get(row[0], row[3:])) for row in found]

    def is_lost(self, session_id: int) -> bool:
        """Tell whether a session lost its texts, and nobody has them any more."""
        return self._trimmed.has(session_id) and not self._texts(session_id)

    def _lost(self, session_id: int, found: Iterable[tuple[str, str, str]]) -> Texts:
        """Return the texts of a session, if some that were found are not there but were."""
        if all(map(any, found)) or not self._trimmed.has(session_id):
            return {}
        return self._texts(session_id)

    def _texts(self, session_id: int) -> Texts:
        if self._last[0] != session_id:
            session = self.session(session_id)
            texts = archived_texts(self._home, session.agent, session.native)
            if not texts and self._again is not None:
                texts = self._again(session.agent, session.native)
            self._last = (session_id, texts)
        return self._last[1]


def archived_texts(home: str, agent: str, native: str) -> Texts:
    """Return what the archive has of a session; nothing if it has not, or its file is damaged."""
    from told.ingest.archive_file import archive_path, draft_of

    path = archive_path(home, agent, native)
    draft = draft_of(path, lambda text: text) if os.path.exists(path) else None
    return {turn.n: (turn.asked, turn.answered, turn.steps) for turn in draft.turns} if draft else {}


def _filled(turn: TurnRow, texts: Texts) -> TurnRow:
    if turn.asked or turn.answered or turn.steps or turn.n not in texts:
        return turn
    asked, answered, steps = texts[turn.n]
    return replaced(turn, asked=asked, answered=answered, steps=steps)
