"""Reads sessions, turns, touches, refs and checkpoints for the commands that show them."""

from __future__ import annotations

from told.record import record
from told.store.database import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import apsw

_SESSION = """SELECT s.id, s.public, s.agent, s.native, coalesce(p.name, ''), s.part, s.branch, s.turns,
  s.summary, s.title, s.title_by, s.started, s.ended, s.kind, s.parent, s.cwd, s.archived, s.model
  FROM session s LEFT JOIN project p ON p.id = s.project_id """

# Row ids tell the second of a turn; what was said in the same one has them in the order of reading.
_SAME_SECOND = 64


@record
class SessionRow:
    """A session as lists show it."""

    id: int
    public: str
    agent: str
    native: str
    project: str
    part: str
    branch: str
    turns: int
    summary: str  # what the user first asked for
    title: str
    title_by: str
    started: int
    ended: int
    kind: str
    parent: str
    cwd: str
    archived: int
    model: str


@record
class TurnRow:
    """One exchange."""

    session_id: int
    n: int
    at: int
    asked: str
    answered: str
    steps: str


@record
class TouchRow:
    """A file that a session touched."""

    path: str
    how: str
    at: int
    session: str
    agent: str
    project: str
    root: str


@record
class CheckpointRow:
    """A hand-over note: one that an agent keeps in its own files, or one that told keeps as a file."""

    public: str
    number: int
    title: str
    overview: str
    at: int
    work_done: str
    technical_details: str
    important_files: str
    next_steps: str
    history: str
    session: str
    agent: str
    project: str
    status: str = ""  # open or closed; agents' own have none
    path: str = ""  # of the file, of one that told keeps


@record
class Filter:
    """Which sessions are meant. An empty field means all."""

    project: int = 0
    agent: str = ""
    since: int = 0
    until: int = 0
    helpers: bool = True  # with the sessions of subagents


class Reading:
    """Queries for people and agents who look back."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def sessions(self, wanted: Filter, limit: int) -> list[SessionRow]:
        """Return sessions, the latest first."""
        where, values = _where(wanted)
        found = rows(
            self._db, f"{_SESSION} WHERE s.turns > 0{where} ORDER BY s.ended DESC, s.public LIMIT ?",
            (*values, limit),
        )  # fmt: skip
        return [SessionRow(*row) for row in found]

    def count(self, wanted: Filter) -> int:
        """Return how many sessions there are."""
        where, values = _where(wanted)
        return int(rows(self._db, f"SELECT count(*) FROM session s WHERE s.turns > 0{where}", values)[0][0])

    def count_trimmed(self, wanted: Filter) -> int:
        """Return how many sessions have lost their texts, and are not searched."""
        where, values = _where(wanted)
        sql = "SELECT count(*) FROM trimmed t JOIN session s ON s.id = t.session_id WHERE s.turns > 0"
        return int(rows(self._db, sql + where, values)[0][0])

    def session(self, session_id: int) -> SessionRow:
        """Return one session."""
        return SessionRow(*rows(self._db, f"{_SESSION} WHERE s.id = ?", (session_id,))[0])

    def sessions_like(self, text: str, limit: int) -> list[SessionRow]:
        """Return the sessions whose id (ours or the agent's own) begins with a text."""
        low, high = text, text + "\U0010ffff"
        found = rows(
            self._db,
            f"{_SESSION} WHERE (s.public >= ?1 AND s.public < ?2) OR (s.native >= ?1 AND s.native < ?2)"
            " ORDER BY s.ended DESC, s.public LIMIT ?3",
            (low, high, limit),
        )
        return [SessionRow(*row) for row in found]

    def to_keep(self, before: int) -> list[tuple[int, int]]:
        """Return the (id, revision) of the sessions that are quiet since a time and not kept."""
        return rows(
            self._db,
            "SELECT id, revision FROM session WHERE turns > 0 AND kept < revision AND ended < ?",
            (before,),
        )

    def revision(self, session_id: int) -> int:
        """Return how often a session has changed."""
        return int(rows(self._db, "SELECT revision FROM session WHERE id = ?", (session_id,))[0][0])

    def kept_facts(self, session_id: int) -> dict[str, Any]:
        """Return what the archive keeps of a session beside its turns, by name."""
        names = (
            "native", "cwd", "branch", "repository", "title", "title_by", "summary", "started", "ended",
            "parent", "kind", "archived", "model", "next_n",
        )  # fmt: skip
        found = rows(self._db, f"SELECT {', '.join(names)} FROM session WHERE id = ?", (session_id,))
        return dict(zip(names, found[0], strict=True))

    def kept_turns(self, session_id: int) -> list[tuple[int, int, int | None, str, str, str]]:
        """Return the (n, at, key, asked, answered, steps) of a session's turns in order."""
        return rows(
            self._db,
            "SELECT n, at, key, asked, answered, steps FROM turn WHERE session_id = ? AND n >= 0 ORDER BY n",
            (session_id,),
        )

    def turns(self, session_id: int, limit: int = -1, *, newest: bool = False) -> list[TurnRow]:
        """Return a session's turns in order; with `newest` the last ones."""
        order = "DESC" if newest else "ASC"
        found = rows(
            self._db,
            "SELECT session_id, n, at, asked, answered, steps FROM turn WHERE session_id = ? AND n >= 0"
            f" ORDER BY n {order} LIMIT ?",
            (session_id, limit),
        )
        return sorted((TurnRow(*row) for row in found), key=lambda turn: turn.n)

    def turn(self, session_id: int, n: int) -> TurnRow | None:
        """Return one turn."""
        found = rows(
            self._db,
            "SELECT session_id, n, at, asked, answered, steps FROM turn WHERE session_id = ? AND n = ?",
            (session_id, n),
        )
        return TurnRow(*found[0]) if found else None

    def timeline(self, wanted: Filter, limit: int) -> list[TurnRow]:
        """Return turns of all sessions, the latest first."""
        where, values = _where(wanted, "t.at")
        found = rows(
            self._db,
            "SELECT t.session_id, t.n, t.at, t.asked, t.answered, t.steps, s.public FROM turn t"
            f" JOIN session s ON s.id = t.session_id WHERE t.n >= 0 AND t.asked != ''{where}"
            " ORDER BY t.id DESC LIMIT ?",
            (*values, limit + _SAME_SECOND if limit > 0 else limit),
        )
        found.sort(key=lambda row: (-row[2], row[6], -row[1]))
        return [TurnRow(*row[:6]) for row in found[: limit if limit > 0 else None]]

    def touches(self, wanted: Filter, limit: int) -> list[TouchRow]:
        """Return touched files, each once, the latest first."""
        where, values = _where(wanted, "f.at")
        found = rows(
            self._db,
            """SELECT f.path, f.how, f.at, s.public, s.agent, coalesce(p.name, ''),
              CASE WHEN s.cwd = '' THEN coalesce(p.root, '')
                WHEN s.part != '' AND substr(s.cwd, -length(s.part) - 1) = '/' || s.part
                THEN substr(s.cwd, 1, length(s.cwd) - length(s.part) - 1) ELSE s.cwd END
              FROM touch f JOIN session s ON s.id = f.session_id LEFT JOIN project p ON p.id = s.project_id"""
            f" WHERE 1{where} ORDER BY f.at DESC, f.path, s.public LIMIT ?",
            (*values, limit * 8 if limit > 0 else limit),
        )
        once: dict[str, TouchRow] = {}
        for row in found:
            once.setdefault(row[0], TouchRow(*row))
        return list(once.values())[: limit if limit > 0 else None]

    def files_of(self, session_id: int) -> list[tuple[str, str, int]]:
        """Return the (path, how, at) of a session's touches, changes before looks."""
        return rows(
            self._db,
            "SELECT path, how, at FROM touch WHERE session_id = ? ORDER BY how = 'read', at DESC, path",
            (session_id,),
        )

    def refs_of(self, session_id: int) -> list[tuple[str, str, int]]:
        """Return the (kind, value, at) of what a session names."""
        return rows(
            self._db,
            "SELECT kind, value, min(at) FROM ref WHERE session_id = ? GROUP BY kind, value"
            " ORDER BY min(at), value, kind",
            (session_id,),
        )

    def checkpoints(
        self, wanted: Filter, limit: int, *, session_id: int = 0, status: str = ""
    ) -> list[CheckpointRow]:
        """Return hand-over notes, the latest first; all, or those of a session, or of a status."""
        where, values = _where(wanted, "c.at")
        if session_id:
            where, values = where + " AND c.session_id = ?", (*values, session_id)
        if status:
            where, values = where + " AND c.status = ?", (*values, status)
        found = rows(
            self._db, f"{_CHECKPOINT} WHERE 1{where} ORDER BY c.at DESC, c.public LIMIT ?", (*values, limit)
        )
        return [CheckpointRow(*row) for row in found]

    def count_checkpoints(self, wanted: Filter) -> int:
        """Return how many hand-over notes there are."""
        where, values = _where(wanted, "c.at")
        sql = "SELECT count(*) FROM checkpoint c JOIN session s ON s.id = c.session_id WHERE 1"
        return int(rows(self._db, sql + where, values)[0][0])

    def checkpoints_like(self, text: str, limit: int) -> list[CheckpointRow]:
        """Return the notes whose id begins with a text."""
        found = rows(
            self._db, f"{_CHECKPOINT} WHERE c.public >= ? AND c.public < ? ORDER BY c.public LIMIT ?",
            (text, text + "\U0010ffff", limit),
        )  # fmt: skip
        return [CheckpointRow(*row) for row in found]

    def projects(self, wanted: Filter, limit: int) -> list[tuple[str, str, int, int, int, str]]:
        """Return (name, key, sessions, turns, last active, agents) of each project, the latest first."""
        where, values = _where(wanted)
        return rows(
            self._db,
            "SELECT coalesce(p.name, ''), coalesce(p.key, ''), count(*), sum(s.turns), max(s.ended),"
            " group_concat(DISTINCT s.agent) FROM session s LEFT JOIN project p ON p.id = s.project_id"
            f" WHERE s.turns > 0{where} GROUP BY s.project_id ORDER BY max(s.ended) DESC, p.name LIMIT ?",
            (*values, limit),
        )


_CHECKPOINT = """SELECT c.public, c.number, c.title, c.overview, c.at, c.work_done, c.technical_details,
  c.important_files, c.next_steps, c.history, s.public, s.agent, coalesce(p.name, ''), c.status, c.path
  FROM checkpoint c JOIN session s ON s.id = c.session_id LEFT JOIN project p ON p.id = s.project_id"""


def _where(wanted: Filter, at: str = "s.ended") -> tuple[str, tuple[Any, ...]]:
    """Return the conditions of a filter as SQL, each beginning with AND, and their values."""
    parts: list[str] = []
    values: list[Any] = []
    for condition, value in (
        ("s.project_id = ?", wanted.project),
        ("s.agent = ?", wanted.agent),
        (f"{at} >= ?", wanted.since),
        (f"{at} < ?", wanted.until),
    ):
        if value:
            parts.append(f" AND {condition}")
            values.append(value)
    if not wanted.helpers:
        parts.append(" AND s.kind = ''")
    return "".join(parts), tuple(values)
