"""Counts and checks for `told health`: what is stored, how fresh it is, and whether it can be found."""

from __future__ import annotations

import apsw

from told.record import record
from told.store.database import rows
from told.store.expected import layout_damage, structure_damage, words_damage
from told.store.schema import migrate
from told.store.sealing import broken_seals


@record
class Inventory:
    """What is stored of one agent."""

    agent: str
    files: int
    gone: int
    bytes: int
    sessions: int
    turns: int
    last: int
    problems: int


def damaged(connection: apsw.Connection) -> list[str]:
    """Return what is wrong with `sessions.db`, each in a few words; nothing if all is as it was written."""
    found: list[str] = []
    for check in (
        structure_damage,
        lambda one: layout_damage(one, migrate, "turn_words"),
        lambda one: [f"rows of the table {name} were changed" for name in broken_seals(one)],
        lambda one: words_damage(one, "turn_words"),
    ):
        try:
            found += check(connection)
        except (apsw.Error, UnicodeDecodeError) as error:
            found.append(f"cannot be read: {error}")
    return list(dict.fromkeys(found))


class Condition:
    """Queries about the store itself."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def inventory(self) -> dict[str, Inventory]:
        """Return what is stored of each agent that has files or sessions."""
        found = rows(
            self._db,
            """SELECT a.agent, coalesce(f.files, 0), coalesce(f.gone, 0), coalesce(f.bytes, 0),
                coalesce(s.sessions, 0), coalesce(s.turns, 0), coalesce(s.last, 0), coalesce(f.problems, 0)
              FROM (SELECT agent FROM source UNION SELECT agent FROM session) a
              LEFT JOIN (SELECT agent, sum(gone = 0) files, sum(gone) gone, sum(size * (gone = 0)) bytes,
                  sum((SELECT count(*) FROM problem p WHERE p.source_id = source.id)) problems
                FROM source GROUP BY agent) f ON f.agent = a.agent
              LEFT JOIN (SELECT agent, count(*) sessions, sum(turns) turns, max(ended) last
                FROM session WHERE turns > 0 GROUP BY agent) s ON s.agent = a.agent""",
        )
        return {row[0]: Inventory(*row) for row in found}

    def problems(self, limit: int) -> list[tuple[str, str, int, str]]:
        """Return (agent, path, line, reason) of what could not be read, the latest first."""
        return rows(
            self._db,
            "SELECT s.agent, s.path, p.line, p.reason FROM problem p JOIN source s ON s.id = p.source_id"
            " ORDER BY p.at DESC, s.path, p.line LIMIT ?",
            (limit,),
        )

    def totals(self) -> tuple[int, int, int, int, int]:
        """Return (sessions, with a summary, with a project, turns, last activity)."""
        sessions, summarised, placed, turns, last = rows(
            self._db,
            "SELECT count(*), coalesce(sum(summary != '' OR title != ''), 0),"
            " coalesce(sum(project_id IS NOT NULL), 0), coalesce(sum(turns), 0), coalesce(max(ended), 0)"
            " FROM session WHERE turns > 0",
        )[0]
        return sessions, summarised, placed, turns, last

    def latest_asked(self) -> tuple[str, str] | None:
        """Return the (session, text) of the last thing a user asked, for the end-to-end probe."""
        found = rows(
            self._db,
            "SELECT s.public, t.asked FROM turn t JOIN session s ON s.id = t.session_id"
            " WHERE t.n >= 0 AND length(t.asked) > 12 ORDER BY t.id DESC LIMIT 1",
        )
        return (found[0][0], found[0][1]) if found else None

    def is_sound(self) -> bool:
        """Whether SQLite finds the file's structure in order."""
        return bool(rows(self._db, "PRAGMA quick_check(1)") == [("ok",)])
