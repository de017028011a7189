"""Read sessions, turns, touches, refs and checkpoints."""

from __future__ import annotations

from typing import Any, NamedTuple

from told.store.database import Queries, join_conditions
from told.store.sessions.checkpoints import Project

_SESSION = """SELECT s.id, s.public, s.agent, s.native, coalesce(p.name, ''), s.part, s.branch, s.turns,
  s.summary, s.title, s.title_by, s.started, s.ended, s.kind, s.parent, s.cwd, s.archived, s.model
  FROM session s LEFT JOIN project p ON p.id = s.project_id """

_TURN = "SELECT session_id, n, at, asked, answered, steps FROM turn"

# Turns of the same second may have row ids out of order.
_SAME_SECOND = 64


class SessionRow(NamedTuple):
    """A session."""

    id: int
    public: str
    agent: str
    native: str
    project: str
    part: str
    branch: str
    turns: int
    summary: str  # the first question
    title: str
    title_by: str
    started: int
    ended: int
    kind: str
    parent: str
    cwd: str
    archived: int
    model: str


class TurnRow(NamedTuple):
    """One exchange."""

    session_id: int
    n: int
    at: int
    asked: str
    answered: str
    steps: str


class TurnText(NamedTuple):
    """One exchange as it is stored."""

    n: int
    at: int
    key: str | int  # native id, or its hash
    asked: str
    answered: str
    steps: str

    @property
    def texts(self) -> tuple[str, str, str]:
        """What was asked and answered, and the agent's steps."""
        return self.asked, self.answered, self.steps


class TouchRow(NamedTuple):
    """A file that a session touched."""

    path: str
    how: str
    at: int
    session: str
    agent: str
    project: str
    root: str


class ProjectRow(NamedTuple):
    """A project and the activity in it, without that of subagents."""

    name: str
    key: str
    sessions: int
    helpers: int  # sessions of subagents
    turns: int
    last: int
    agents: str  # joined by commas


class CheckpointRow(NamedTuple):
    """A checkpoint of an agent, or one that told saved as a file."""

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
    status: str = ""  # open or closed; empty for an agent's own
    path: str = ""  # of told's file


class Filter(NamedTuple):
    """Conditions on sessions; an empty field matches all."""

    project: int = 0
    agent: str = ""
    since: int = 0
    until: int = 0
    helpers: bool = True  # include the sessions of subagents


class SessionReader(Queries):
    """Queries of sessions and their contents."""

    def sessions(self, wanted: Filter, limit: int) -> list[SessionRow]:
        """Return sessions, the latest first."""
        where, values = _where(wanted)
        sql = f"{_SESSION} WHERE s.turns > 0{where} ORDER BY s.ended DESC, s.public LIMIT ?"
        return self._fetch_all(SessionRow, sql, (*values, limit))

    def count(self, wanted: Filter) -> int:
        """Return how many sessions there are."""
        where, values = _where(wanted)
        return int(self._fetch_value(f"SELECT count(*) FROM session s WHERE s.turns > 0{where}", values))

    def count_trimmed(self, wanted: Filter) -> int:
        """Return how many sessions were trimmed and are not searched."""
        where, values = _where(wanted)
        # Few sessions are trimmed: CROSS JOIN makes SQLite begin with them.
        sql = "SELECT count(*) FROM trimmed t CROSS JOIN session s ON s.id = t.session_id WHERE s.turns > 0"
        return int(self._fetch_value(sql + where, values))

    def session(self, session_id: int) -> SessionRow:
        """Return one session."""
        return SessionRow(*self._fetch(f"{_SESSION} WHERE s.id = ?", (session_id,))[0])

    def sessions_like(self, text: str, limit: int) -> list[SessionRow]:
        """Return the sessions whose id, told's or native, starts with a text."""
        sql = (
            f"{_SESSION} WHERE (s.public >= ?1 AND s.public < ?2) OR (s.native >= ?1 AND s.native < ?2)"
            " ORDER BY s.ended DESC, s.public LIMIT ?3"
        )
        return self._fetch_all(SessionRow, sql, (text, text + "\U0010ffff", limit))

    def to_archive(self, before: int) -> list[tuple[int, int]]:
        """Return the (id, revision) of quiet sessions that are not archived."""
        return self._fetch(
            "SELECT id, revision FROM session WHERE turns > 0 AND kept < revision AND ended < ?", (before,)
        )

    def project_names(self) -> dict[str, tuple[str, str, str]]:
        """Return key and name of the project of each session, and its folder there, by agent/native id."""
        sql = (
            "SELECT s.agent || '/' || s.native, p.key, p.name, s.part FROM session s"
            " JOIN project p ON p.id = s.project_id"
        )
        return {name: (key, project, part) for name, key, project, part in self._fetch(sql)}

    def revision(self, session_id: int) -> int:
        """Return the revision of a session."""
        return int(self._fetch_value("SELECT revision FROM session WHERE id = ?", (session_id,)))

    def archive_facts(self, session_id: int) -> dict[str, Any]:
        """Return the columns of a session that the archive stores."""
        names = (
            "native", "cwd", "branch", "repository", "title", "title_by", "summary", "started", "ended",
            "parent", "kind", "archived", "model", "next_n",
        )  # fmt: skip
        found = self._fetch(f"SELECT {', '.join(names)} FROM session WHERE id = ?", (session_id,))
        return dict(zip(names, found[0], strict=True))

    def archive_turns(self, session_id: int) -> tuple[TurnText, ...]:
        """Return a session's turns in order, as they are written."""
        columns = "n, at, coalesce(key, ''), asked, answered, steps"
        sql = f"SELECT {columns} FROM turn WHERE session_id = ? AND n >= 0 ORDER BY n"
        return tuple(self._fetch_all(TurnText, sql, (session_id,)))

    def turns(self, session_id: int, limit: int = -1, *, newest: bool = False) -> list[TurnRow]:
        """Return a session's turns in order; with `newest` the last ones."""
        order = "DESC" if newest else "ASC"
        sql = f"{_TURN} WHERE session_id = ? AND n >= 0 ORDER BY n {order} LIMIT ?"
        return sorted(self._fetch_all(TurnRow, sql, (session_id, limit)), key=lambda turn: turn.n)

    def turn(self, session_id: int, n: int) -> TurnRow | None:
        """Return one turn."""
        return self._fetch_first(TurnRow, f"{_TURN} WHERE session_id = ? AND n = ?", (session_id, n))

    def timeline(self, wanted: Filter, limit: int) -> list[TurnRow]:
        """Return turns of all sessions, the latest first."""
        where, values = _where(wanted, "t.at")
        found = self._fetch(
            "SELECT t.session_id, t.n, t.at, t.asked, t.answered, t.steps, s.public FROM turn t"
            f" JOIN session s ON s.id = t.session_id WHERE t.n >= 0 AND t.asked != ''{where}"
            " ORDER BY t.id DESC LIMIT ?",
            (*values, limit + _SAME_SECOND if limit > 0 else limit),
        )
        found.sort(key=lambda row: (-row[2], row[6], -row[1]))
        return [TurnRow(*row[:6]) for row in found[: limit if limit > 0 else None]]

    def count_prompts(self, wanted: Filter) -> int:
        """Return how many turns `timeline` has without a limit."""
        where, values = _where(wanted, "t.at")
        # Reads a text's size, not the text.
        sql = "SELECT count(*) FROM turn t JOIN session s ON s.id = t.session_id WHERE t.n >= 0"
        return int(self._fetch_value(f"{sql} AND octet_length(t.asked) > 0{where}", values))

    def touches(self, wanted: Filter, limit: int) -> list[TouchRow]:
        """Return touched files, each once, the latest first."""
        where, values = _where(wanted, "f.at")
        found = self._fetch(
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

    def count_touched(self, wanted: Filter) -> int:
        """Return how many files were touched."""
        where, values = _where(wanted, "f.at")
        sql = "SELECT count(DISTINCT f.path) FROM touch f JOIN session s ON s.id = f.session_id WHERE 1"
        return int(self._fetch_value(sql + where, values))

    def openings(self, length: int) -> list[str]:
        """Return the beginning of the first prompt of each session that is not an agent's."""
        sql = (
            "SELECT coalesce((SELECT substr(t.asked, 1, ?) FROM turn t WHERE t.session_id = s.id AND t.n >= 0"
            " ORDER BY t.n LIMIT 1), '') FROM session s WHERE s.turns > 0 AND s.kind = ''"
        )
        return self._fetch_column(sql, (length,))

    def source_path(self, session_id: int) -> str:
        """Return the agent's file that a session was read from; empty if it is unknown."""
        sql = "SELECT f.path FROM session s JOIN source f ON f.id = s.source_id WHERE s.id = ?"
        return next(iter(self._fetch_column(sql, (session_id,))), "")

    def files_of(self, session_id: int) -> list[tuple[str, str, int]]:
        """Return the (path, how, at) of touches, changes before reads."""
        return self._fetch(
            "SELECT path, how, at FROM touch WHERE session_id = ? ORDER BY how = 'read', at DESC, path",
            (session_id,),
        )

    def refs_of(self, session_id: int) -> list[tuple[str, str, int]]:
        """Return the (kind, value, at) of a session's refs."""
        return self._fetch(
            "SELECT kind, value, min(at) FROM ref WHERE session_id = ? GROUP BY kind, value"
            " ORDER BY min(at), value, kind",
            (session_id,),
        )

    def checkpoints(
        self, wanted: Filter, limit: int, *, session_id: int = 0, status: str = ""
    ) -> list[CheckpointRow]:
        """Return checkpoints, the latest first."""
        where, values = _where(wanted, "c.at")
        if session_id:
            where, values = where + " AND c.session_id = ?", (*values, session_id)
        if status:
            where, values = where + " AND c.status = ?", (*values, status)
        sql = f"{_CHECKPOINT} WHERE 1{where} ORDER BY c.at DESC, c.public LIMIT ?"
        return self._fetch_all(CheckpointRow, sql, (*values, limit))

    def count_checkpoints(self, wanted: Filter) -> int:
        """Return how many checkpoints there are."""
        where, values = _where(wanted, "c.at")
        sql = "SELECT count(*) FROM checkpoint c JOIN session s ON s.id = c.session_id WHERE 1"
        return int(self._fetch_value(sql + where, values))

    def checkpoints_like(self, text: str, limit: int) -> list[CheckpointRow]:
        """Return the checkpoints whose id starts with a text."""
        sql = f"{_CHECKPOINT} WHERE c.public >= ? AND c.public < ? ORDER BY c.public LIMIT ?"
        return self._fetch_all(CheckpointRow, sql, (text, text + "\U0010ffff", limit))

    def projects(self, wanted: Filter) -> list[ProjectRow]:
        """Return the projects with sessions of the user, the latest first."""
        where, values = _where(wanted)
        return self._fetch_all(
            ProjectRow,
            "SELECT coalesce(p.name, ''), coalesce(p.key, ''), sum(s.kind = ''), sum(s.kind != ''),"
            " sum(s.turns) FILTER (WHERE s.kind = ''), max(s.ended) FILTER (WHERE s.kind = '') AS last,"
            " group_concat(DISTINCT s.agent) FILTER (WHERE s.kind = '')"
            " FROM session s LEFT JOIN project p ON p.id = s.project_id"
            f" WHERE s.turns > 0{where} GROUP BY s.project_id HAVING last IS NOT NULL"
            " ORDER BY last DESC, p.name",
            values,
        )


_CHECKPOINT = """SELECT c.public, c.number, c.title, c.overview, c.at, c.work_done, c.technical_details,
  c.important_files, c.next_steps, c.history, s.public, s.agent, coalesce(p.name, ''), c.status, c.path
  FROM checkpoint c JOIN session s ON s.id = c.session_id LEFT JOIN project p ON p.id = s.project_id"""


def _where(wanted: Filter, at: str = "s.ended") -> tuple[str, tuple[Any, ...]]:
    """Return the SQL conditions of a filter, each after AND, and their values."""
    where, values = join_conditions(
        ("s.project_id = ?", wanted.project),
        ("s.agent = ?", wanted.agent),
        (f"{at} >= ?", wanted.since),
        (f"{at} < ?", wanted.until),
    )
    return where if wanted.helpers else f"{where} AND s.kind = ''", tuple(values)


# A turn's row id counts eighths of seconds since 2015; see `told.store.sessions.write`.
_EPOCH = 1_420_070_400
# Turns of a full second get row ids of later seconds.
_SLACK = 1 << 16


class TimelinePosition(NamedTuple):
    """A position among all turns, ordered by time, session and number."""

    at: int
    session: str = ""  # told's id
    n: int = 0


class TimelineReader(Queries):
    """Reads the turns around a position, without helpers' turns."""

    def project_of(self, session_id: int) -> Project | None:
        """Return the project of a session."""
        columns = "p.id, p.key, p.name, p.root"
        sql = f"SELECT {columns} FROM session s JOIN project p ON p.id = s.project_id WHERE s.id = ?"
        return self._fetch_first(Project, sql, (session_id,))

    def before(self, position: TimelinePosition, wanted: Filter, limit: int) -> list[TurnRow]:
        """Return the last turns before a position, in order."""
        most = (_second(position.at) << 3) + _SLACK
        found = self._turns(
            f"t.id <= {most} AND t.at <= ?1", f"t.id DESC LIMIT {limit + _SAME_SECOND}", position, wanted
        )
        return [turn for place, turn in found if place < position][-limit:]

    def after(self, position: TimelinePosition, wanted: Filter, limit: int) -> list[TurnRow]:
        """Return the first turns after a position, in order."""
        least = _second(position.at) << 3
        found = self._turns(
            f"t.id >= {least} AND t.at >= ?1", f"t.id ASC LIMIT {limit + _SAME_SECOND}", position, wanted
        )
        return [turn for place, turn in found if place > position][:limit]

    def _turns(
        self, where: str, order: str, position: TimelinePosition, wanted: Filter
    ) -> list[tuple[tuple[int, str, int], TurnRow]]:
        found = self._fetch(
            "SELECT t.session_id, t.n, t.at, t.asked, t.answered, t.steps, s.public FROM turn t"
            f" JOIN session s ON s.id = t.session_id WHERE {where} AND t.n >= 0 AND t.asked != ''"
            " AND s.kind = '' AND (?2 = 0 OR s.project_id = ?2) AND (?3 = '' OR s.agent = ?3)"
            f" ORDER BY {order}",
            (position.at, wanted.project, wanted.agent),
        )
        turns = [((int(row[2]), str(row[6]), int(row[1])), TurnRow(*row[:6])) for row in found]
        return sorted(turns, key=lambda pair: pair[0])


def _second(at: int) -> int:
    return max(1, at // 1000 - _EPOCH)
