"""Keeps apart what each source says of a session, so that the order of reading makes no difference."""

from __future__ import annotations

from told.store.database import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import apsw

    from told.model import Facts

_FIELDS = ("cwd", "branch", "repository", "parent", "kind", "model")


class SessionFacts:
    """The table `fact`, and the part of the table `session` that is made from it."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def put(self, session_id: int, source_id: int, facts: Facts, last: int, *, replace: bool) -> None:
        """Add what a source newly says, or replace all that it said before.

        An empty field adds nothing, and a user's title outlives an agent's.

        Args:
            session_id: The session.
            source_id: Who says it.
            facts: What it says.
            last: The time of the last thing it tells.
            replace: Whether it was read from its start.
        """
        added = "" if replace else """ ON CONFLICT DO UPDATE SET
              cwd = CASE WHEN cwd = '' THEN excluded.cwd ELSE cwd END,
              branch = CASE WHEN excluded.branch = '' THEN branch ELSE excluded.branch END,
              repository = CASE WHEN excluded.repository = '' THEN repository ELSE excluded.repository END,
              title_by = CASE WHEN excluded.title = '' OR (title_by = 'user' AND excluded.title_by != 'user')
                THEN title_by ELSE excluded.title_by END,
              title = CASE WHEN excluded.title = '' OR (title_by = 'user' AND excluded.title_by != 'user')
                THEN title ELSE excluded.title END,
              started = CASE WHEN excluded.started = 0 THEN started WHEN started = 0 THEN excluded.started
                ELSE min(started, excluded.started) END,
              last = max(last, excluded.last),
              parent = CASE WHEN excluded.parent = '' THEN parent ELSE excluded.parent END,
              kind = CASE WHEN excluded.kind = '' THEN kind ELSE excluded.kind END,
              archived = max(archived, excluded.archived),
              model = CASE WHEN excluded.model = '' THEN model ELSE excluded.model END"""  # fmt: skip
        self._db.execute(
            f"INSERT {'OR REPLACE ' if replace else ''}INTO fact"
            f" VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?){added}",
            (session_id, source_id, facts.cwd, facts.branch, facts.repository, facts.title,
             facts.title_by if facts.title else "", facts.started, last, facts.parent, facts.kind,
             int(facts.archived), facts.model),
        )  # fmt: skip

    def forget(self, session_id: int, source_id: int) -> None:
        """Forget what a source said."""
        self._db.execute("DELETE FROM fact WHERE session_id = ? AND source_id = ?", (session_id, source_id))

    def settle(self, session_id: int) -> None:
        """Bring the session in line: of each field the word of the source its turns come from, if it has one.

        The others follow in the order of their paths, which is the same however they were read.
        """
        found = rows(
            self._db,
            f"SELECT {', '.join('f.' + name for name in _FIELDS)}, f.title, f.title_by, f.started, f.archived"
            " FROM fact f JOIN session s ON s.id = f.session_id LEFT JOIN source o ON o.id = f.source_id"
            " WHERE f.session_id = ? ORDER BY f.source_id != s.source_id, o.path",
            (session_id,),
        )
        titles = [(row[-4], row[-3]) for row in found if row[-4]]
        title, title_by = next((one for one in titles if one[1] == "user"), titles[0] if titles else ("", ""))
        values: list[Any] = [
            next((row[place] for row in found if row[place]), "") for place in range(len(_FIELDS))
        ]
        started = min((row[-2] for row in found if row[-2]), default=0)
        archived = max((row[-1] for row in found), default=0)
        self._db.execute(
            f"UPDATE session SET {', '.join(name + ' = ?' for name in _FIELDS)},"
            " title = ?, title_by = ?, started = ?, archived = ? WHERE id = ?",
            (*values, title, title_by, started, archived, session_id),
        )
