"""Read a team's sessions, turns, touches, refs and checkpoints."""

from __future__ import annotations

from typing import Any, NamedTuple

from told.store.postgres.sessions.queries import TeamQueries
from told.store.sessions.read import (
    CheckpointRow,
    Filter,
    ProjectRow,
    SessionRow,
    TouchRow,
    TurnRow,
)

_SESSION = """SELECT s.session, s.public, s.agent, s.native, s.project_name, s.part, s.branch, s.turns,
  s.summary, s.title, s.title_by, s.started, s.ended, s.kind, s.parent, s.cwd, s.archived, s.model
  FROM session s WHERE s.team = %(team)s"""
_TURN = "t.session, t.n, t.at, t.asked, t.answered, t.steps"
_OF_SESSION = "WHERE team = %(team)s AND session = %(session)s"
_CHECKPOINT = """SELECT c.public, c.number, c.title, c.overview, c.at, c.work_done, c.technical_details,
  c.important_files, c.next_steps, c.history, s.public, s.agent, s.project_name, c.status, c.path
  FROM checkpoint c JOIN session s ON s.team = c.team AND s.session = c.session WHERE c.team = %(team)s"""
_LAST = "\U0010ffff"
_CONDITIONS = {
    "project": "s.project = %(project)s",
    "agent": "s.agent = %(agent)s",
    "since": "{at} >= %(since)s",
    "until": "{at} < %(until)s",
}


class Ownership(NamedTuple):
    """Whose a session is."""

    owner: str
    shared: bool


class TeamSessionReader(TeamQueries):
    """Queries of sessions and their contents."""

    def sessions(self, wanted: Filter, limit: int) -> list[SessionRow]:
        """Return sessions, the latest first."""
        sql = f"{_SESSION} AND s.turns > 0{_where(wanted)} ORDER BY s.ended DESC, s.public LIMIT %(limit)s"
        return self._fetch_all(SessionRow, sql, **wanted._asdict(), limit=_limit(limit))

    def count(self, wanted: Filter) -> int:
        """Return how many sessions there are."""
        sql = f"SELECT count(*) FROM session s WHERE s.team = %(team)s AND s.turns > 0{_where(wanted)}"
        return int(self._fetch_value(sql, **wanted._asdict()))

    def session(self, session_id: int) -> SessionRow:
        """Return one session."""
        return self._fetch_all(SessionRow, f"{_SESSION} AND s.session = %(session)s", session=session_id)[0]

    def sessions_like(self, text: str, limit: int) -> list[SessionRow]:
        """Return the sessions whose id, told's or native, starts with a text."""
        sql = (
            f"{_SESSION} AND ((s.public >= %(first)s AND s.public < %(last)s)"
            " OR (s.native >= %(first)s AND s.native < %(last)s))"
            " ORDER BY s.ended DESC, s.public LIMIT %(limit)s"
        )
        return self._fetch_all(SessionRow, sql, first=text, last=text + _LAST, limit=_limit(limit))

    def session_named(self, public: str) -> SessionRow | None:
        """Return the session with an id of told's."""
        return next(
            iter(self._fetch_all(SessionRow, f"{_SESSION} AND s.public = %(public)s", public=public)), None
        )

    def ownership(self, session_id: int) -> Ownership:
        """Return whose a session is, and whether the team sees it."""
        return self._fetch_all(
            Ownership, f"SELECT owner, shared FROM session {_OF_SESSION}", session=session_id
        )[0]

    def turns(self, session_id: int, limit: int = -1, *, newest: bool = False) -> list[TurnRow]:
        """Return a session's turns in order; with `newest` the last ones."""
        order = "DESC" if newest else "ASC"
        sql = f"SELECT {_TURN} FROM turn t {_OF_SESSION} AND n >= 0 ORDER BY n {order} LIMIT %(limit)s"
        found = self._fetch_all(TurnRow, sql, session=session_id, limit=_limit(limit))
        return sorted(found, key=lambda turn: turn.n)

    def turn(self, session_id: int, n: int) -> TurnRow | None:
        """Return one turn."""
        sql = f"SELECT {_TURN} FROM turn t {_OF_SESSION} AND n = %(n)s"
        return next(iter(self._fetch_all(TurnRow, sql, session=session_id, n=n)), None)

    def timeline(self, wanted: Filter, limit: int) -> list[TurnRow]:
        """Return turns of all sessions, the latest first."""
        sql = (
            f"SELECT {_TURN} FROM turn t JOIN session s ON s.team = t.team AND s.session = t.session"
            f" WHERE t.team = %(team)s AND t.n >= 0 AND t.asked != ''{_where(wanted, 't.at')}"
            " ORDER BY t.at DESC, s.public, t.n DESC LIMIT %(limit)s"
        )
        return self._fetch_all(TurnRow, sql, **wanted._asdict(), limit=_limit(limit))

    def count_prompts(self, wanted: Filter) -> int:
        """Return how many turns `timeline` has without a limit."""
        sql = (
            "SELECT count(*) FROM turn t JOIN session s ON s.team = t.team AND s.session = t.session"
            f" WHERE t.team = %(team)s AND t.n >= 0 AND t.asked != ''{_where(wanted, 't.at')}"
        )
        return int(self._fetch_value(sql, **wanted._asdict()))

    def touches(self, wanted: Filter, limit: int) -> list[TouchRow]:
        """Return touched files, each once, the latest first."""
        sql = f"""SELECT path, how, at, public, agent, project_name, root FROM (
            SELECT DISTINCT ON (f.path) f.path, f.how, f.at, s.public, s.agent, s.project_name,
              CASE WHEN s.part != '' AND right(s.cwd, length(s.part) + 1) = '/' || s.part
                THEN left(s.cwd, -length(s.part) - 1) ELSE s.cwd END AS root
            FROM touch f JOIN session s ON s.team = f.team AND s.session = f.session
            WHERE f.team = %(team)s{_where(wanted, "f.at")} ORDER BY f.path, f.at DESC, s.public) AS latest
          ORDER BY at DESC, path, public LIMIT %(limit)s"""
        return self._fetch_all(TouchRow, sql, **wanted._asdict(), limit=_limit(limit))

    def count_touched(self, wanted: Filter) -> int:
        """Return how many files were touched."""
        sql = (
            "SELECT count(DISTINCT f.path) FROM touch f JOIN session s ON s.team = f.team"
            f" AND s.session = f.session WHERE f.team = %(team)s{_where(wanted, 'f.at')}"
        )
        return int(self._fetch_value(sql, **wanted._asdict()))

    def source_path(self, session_id: int) -> str:  # noqa: ARG002
        """Return nothing: a team's server has no files of agents."""
        return ""

    def files_of(self, session_id: int) -> list[tuple[str, str, int]]:
        """Return the (path, how, at) of touches, changes before reads."""
        return self._fetch(
            f"SELECT path, how, at FROM touch {_OF_SESSION} ORDER BY how = 'read', at DESC, path",
            session=session_id,
        )

    def refs_of(self, session_id: int) -> list[tuple[str, str, int]]:
        """Return the (kind, value, at) of a session's refs."""
        sql = f"SELECT kind, value, at FROM ref {_OF_SESSION} ORDER BY at, value, kind"
        return self._fetch(sql, session=session_id)

    def checkpoints(
        self, wanted: Filter, limit: int, *, session_id: int = 0, status: str = ""
    ) -> list[CheckpointRow]:
        """Return checkpoints, the latest first."""
        where = _where(wanted, "c.at")
        where += " AND c.session = %(session)s" if session_id else ""
        where += " AND c.status = %(status)s" if status else ""
        return self._fetch_all(
            CheckpointRow, f"{_CHECKPOINT}{where} ORDER BY c.at DESC, c.public LIMIT %(limit)s",
            **wanted._asdict(), session=session_id, status=status, limit=_limit(limit),
        )  # fmt: skip

    def count_checkpoints(self, wanted: Filter) -> int:
        """Return how many checkpoints there are."""
        sql = (
            "SELECT count(*) FROM checkpoint c JOIN session s ON s.team = c.team AND s.session = c.session"
            f" WHERE c.team = %(team)s{_where(wanted, 'c.at')}"
        )
        return int(self._fetch_value(sql, **wanted._asdict()))

    def checkpoint_named(self, public: str) -> CheckpointRow | None:
        """Return the checkpoint with an id; of several the person's own."""
        sql = f"{_CHECKPOINT} AND c.public = %(public)s ORDER BY s.owner = %(person)s DESC, c.session LIMIT 1"
        return next(iter(self._fetch_all(CheckpointRow, sql, public=public)), None)

    def checkpoints_like(self, text: str, limit: int) -> list[CheckpointRow]:
        """Return the checkpoints whose id starts with a text."""
        sql = (
            f"{_CHECKPOINT} AND c.public >= %(first)s AND c.public < %(last)s"
            " ORDER BY c.public, c.session LIMIT %(limit)s"
        )
        return self._fetch_all(CheckpointRow, sql, first=text, last=text + _LAST, limit=_limit(limit))

    def projects(self, wanted: Filter) -> list[ProjectRow]:
        """Return the projects with sessions of users, the latest first."""
        sql = f"""SELECT max(s.project_name), s.project_key, count(*) FILTER (WHERE s.kind = ''),
              count(*) FILTER (WHERE s.kind != ''), sum(s.turns) FILTER (WHERE s.kind = ''),
              max(s.ended) FILTER (WHERE s.kind = ''),
              string_agg(DISTINCT s.agent, ',' ORDER BY s.agent) FILTER (WHERE s.kind = '')
            FROM session s WHERE s.team = %(team)s AND s.turns > 0{_where(wanted)}
            GROUP BY s.project_key HAVING count(*) FILTER (WHERE s.kind = '') > 0 ORDER BY 6 DESC, 1"""
        return self._fetch_all(ProjectRow, sql, **wanted._asdict())


def _where(wanted: Filter, at: str = "s.ended") -> str:
    """Return the SQL conditions of a filter, each after AND; its fields are their values."""
    used: dict[str, Any] = wanted._asdict()
    where = "".join(f" AND {sql.format(at=at)}" for name, sql in _CONDITIONS.items() if used[name])
    return where if wanted.helpers else f"{where} AND s.kind = ''"


def _limit(limit: int) -> int | None:
    """Return a limit of SQLite, where a negative one is none."""
    return limit if limit >= 0 else None
