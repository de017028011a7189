"""Find the turns and files of sessions about a topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from told.search.sessions import search_sessions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from told.store.sessions.protocols import SessionReading, TurnMatching
    from told.store.sessions.read import SessionRow

_MAX_SESSIONS, _MAX_TURNS = 8, 30
_MAX_FILES = 6
_CHANGE_FACTOR = 2.0  # of a change over a read
_NAME_FACTOR = 3.0  # of a path that names the topic
_MIN_COVER = 0.6  # share of the topic's words


class SearchScope(NamedTuple):
    """Which memories and sessions to search."""

    scopes: tuple[str, ...]
    project: str  # the index token of the project's sessions; empty for all
    now: int


class Touched(NamedTuple):
    """A file that sessions about the topic touched."""

    path: str
    folder: str  # of the session
    sessions: tuple[str, ...]


class SessionMatches(NamedTuple):
    """Turns and files about a topic."""

    turns: tuple[str, ...] = ()  # ids such as s7abc.3, best first
    files: tuple[Touched, ...] = ()

    @property
    def sessions(self) -> tuple[str, ...]:
        """Return the session ids, best first."""
        return tuple(dict.fromkeys(turn.rpartition(".")[0] for turn in self.turns))


def search_turns(
    reading: SessionReading, matching: TurnMatching, topic: str, where: SearchScope
) -> SessionMatches:
    """Find the turns that have a topic's words, in a project or in all, and the files of their sessions."""
    found = search_sessions(
        matching, topic, now=where.now, project=where.project or None, limit=_MAX_SESSIONS
    )
    if not found.sessions or (where.project and found.widened):
        return SessionMatches()
    rows = {group.session: reading.session(group.session) for group in found.sessions}
    words = found.query.words
    turns: list[str] = []
    touching: dict[int, SessionRow] = {}
    for hit in found.turns[:_MAX_TURNS]:
        row = rows.get(hit.session)
        text = reading.turn(hit.session, hit.n) if row and hit.n >= 0 else None
        if row and text and covers(f"{text.asked}\n{text.answered}", words):
            turns.append(f"{row.public}.{hit.n}")
            touching[row.id] = row
    return SessionMatches(tuple(turns), _find_files(reading, list(touching.values()), words))


def covers(text: str, words: Sequence[str]) -> bool:
    """Tell whether a text has most of some words, in any form."""
    lower = text.lower()
    return sum(word[: max(3, len(word) - 2)] in lower for word in words) >= _MIN_COVER * len(words)


def _find_files(
    reading: SessionReading, sessions: Sequence[SessionRow], words: Sequence[str]
) -> tuple[Touched, ...]:
    """Return the files of sessions: those that the topic names and those that were changed first."""
    worth: dict[str, float] = {}
    rows: dict[str, list[SessionRow]] = {}
    for row in sessions:
        for path, how, _ in reading.files_of(row.id):
            factor = _NAME_FACTOR if any(word in path.lower() for word in words) else 1.0
            worth[path] = worth.get(path, 0.0) + factor * (1.0 if how == "read" else _CHANGE_FACTOR)
            rows.setdefault(path, []).append(row)
    best = sorted(worth, key=lambda path: (-worth[path], path))[:_MAX_FILES]
    return tuple(
        Touched(path, rows[path][0].cwd, tuple(dict.fromkeys(row.public for row in rows[path])))
        for path in best
    )


def turn_id(reading: SessionReading, session: str, turn: int) -> str:
    """Return a turn's public id from the agent's session id."""
    for row in reading.sessions_like(session, 4) if session else ():
        if session in (row.native, row.public):
            return f"{row.public}.{turn}"
    return f"{session}.{turn}" if session else ""
