"""What sessions said and touched around a topic."""

from __future__ import annotations

from told.record import record
from told.search.sessions import search

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.store.matching import Matching
    from told.store.reading import Reading, SessionRow

_SESSIONS, _TURNS = 8, 30
_FILES = 6
_CHANGED = 2.0  # how much more a change says than a look
_NAMED = 3.0  # how much more a file says whose path names the topic


@record
class Turn:
    """One exchange about the topic."""

    place: str  # s7abc.3
    session: str
    at: int
    asked: str
    answered: str
    by_user: bool  # a helper's task is an agent's word
    row: int  # of the session
    n: int


@record
class Touched:
    """A file that sessions about the topic touched."""

    path: str
    folder: str  # of the session
    sessions: tuple[str, ...]


@record
class Spoken:
    """What sessions have of a topic."""

    turns: tuple[Turn, ...] = ()  # the best first
    files: tuple[Touched, ...] = ()
    words: tuple[str, ...] = ()  # of the topic

    @property
    def sessions(self) -> tuple[str, ...]:
        """Their ids, the best first."""
        return tuple(dict.fromkeys(one.session for one in self.turns))


def spoken_of(reading: Reading, matching: Matching, topic: str, project: str, now: int) -> Spoken:
    """Return the turns that speak of a topic, and the files of their sessions.

    Args:
        reading: The sessions.
        matching: Their words.
        topic: Whatever was typed.
        project: The index token of the project to look in; empty for all.
        now: The moment of asking, in ms since 1970.
    """
    found = search(matching, topic, now=now, project=project or None, limit=_SESSIONS)
    if not found.sessions or (project and found.widened):
        return Spoken(words=found.query.words)
    rows = {group.session: reading.session(group.session) for group in found.sessions}
    turns: list[Turn] = []
    for hit in found.turns:
        row = rows.get(hit.session)
        text = reading.turn(hit.session, hit.n) if row and hit.n >= 0 and len(turns) < _TURNS else None
        if row and text:
            said = (text.asked, text.answered, not row.kind)
            turns.append(Turn(f"{row.public}.{hit.n}", row.public, text.at, *said, hit.session, hit.n))
    return Spoken(tuple(turns), _files(reading, list(rows.values()), found.query.words), found.query.words)


def _files(reading: Reading, sessions: list[SessionRow], words: tuple[str, ...]) -> tuple[Touched, ...]:
    worth: dict[str, float] = {}
    by: dict[str, dict[str, None]] = {}
    folders: dict[str, str] = {}
    for row in sessions:
        for path, how, _ in reading.files_of(row.id):
            named = any(word in path.lower() for word in words)
            says = (1.0 if how == "read" else _CHANGED) * (_NAMED if named else 1.0)
            worth[path] = worth.get(path, 0.0) + says
            by.setdefault(path, {})[row.public] = None
            folders.setdefault(path, row.cwd)
    best = sorted(worth, key=lambda path: (-worth[path], path))[:_FILES]
    return tuple(Touched(path, folders[path], tuple(by[path])) for path in best)


def place_of(reading: Reading, session: str, turn: int) -> str:
    """Return the id by which `told show` finds a turn, given the agent's own id of its session."""
    for row in reading.sessions_like(session, 4) if session else ():
        if session in (row.native, row.public):
            return f"{row.public}.{turn}"
    return f"{session}.{turn}" if session else ""
