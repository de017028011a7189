"""Store what each source says of a session, which sessions await work, and which were trimmed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from told.hashing import blake2s
from told.store.database import Queries, transaction

if TYPE_CHECKING:
    from told.model import Facts

_FIELDS = ("cwd", "branch", "repository", "parent", "kind", "model")
TO_CAPTURE, TO_OBSERVE, TO_EMBED = 0, 1, 2  # stages; triggers add the last one
TurnTexts = tuple[int, str, str, str]  # number, asked, answered, steps
QUIET_MS = 30 * 60_000  # a session without turns for so long can be observed


class SessionFacts(Queries):
    """The table `fact`, and the columns of `session` that are merged from it.

    Each source has its own row, so that the order of reading makes no difference.
    """

    def put(self, session_id: int, source_id: int, facts: Facts, last: int, *, replace: bool) -> None:
        """Add or replace what a source says of a session, up to its `last` event.

        An empty field adds nothing, and a user's title outranks an agent's.
        """
        newer = ", ".join(f"{name} = coalesce(nullif(excluded.{name}, ''), {name})" for name in _FIELDS[1:])
        added = "" if replace else f""" ON CONFLICT DO UPDATE SET
              cwd = coalesce(nullif(cwd, ''), excluded.cwd), {newer},
              title_by = CASE WHEN excluded.title = '' OR (title_by = 'user' AND excluded.title_by != 'user')
                THEN title_by ELSE excluded.title_by END,
              title = CASE WHEN excluded.title = '' OR (title_by = 'user' AND excluded.title_by != 'user')
                THEN title ELSE excluded.title END,
              started = CASE WHEN excluded.started = 0 THEN started WHEN started = 0 THEN excluded.started
                ELSE min(started, excluded.started) END,
              last = max(last, excluded.last), archived = max(archived, excluded.archived)"""  # fmt: skip
        self._db.execute(
            f"INSERT {'OR REPLACE ' if replace else ''}INTO fact"
            f" VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?){added}",
            (session_id, source_id, facts.cwd, facts.branch, facts.repository, facts.title,
             facts.title_by if facts.title else "", facts.started, last, facts.parent, facts.kind,
             int(facts.archived), facts.model),
        )  # fmt: skip

    def forget(self, session_id: int, source_id: int) -> None:
        """Delete what a source said."""
        self._db.execute("DELETE FROM fact WHERE session_id = ? AND source_id = ?", (session_id, source_id))

    def update_session(self, session_id: int) -> None:
        """Merge the facts into the session.

        The source of its turns comes first, then the others in the order of their paths.
        """
        found = self._fetch(
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


class QueuedSession(NamedTuple):
    """A session with turns that await work."""

    id: int
    agent: str
    native: str
    kind: str
    project: str  # key of its project; empty if unknown
    next_n: int

    @property
    def name(self) -> str:
        """Its name in notes about sessions."""
        return f"{self.agent}/{self.native}"


class WorkQueue(Queries):
    """The tables `fresh` and `renamed`."""

    def add(self, session_id: int) -> None:
        """Queue a session with new turns; inside their transaction."""
        values = [(TO_CAPTURE, session_id), (TO_OBSERVE, session_id)]
        self._db.executemany("INSERT OR IGNORE INTO fresh VALUES(?, ?)", values)

    def is_waiting(self) -> bool:
        """Tell whether sessions await capture, or renamed projects an update."""
        sql = "SELECT EXISTS(SELECT 1 FROM fresh WHERE stage = 0) OR EXISTS(SELECT 1 FROM renamed)"
        return bool(self._fetch_value(sql))

    def count(self, stage: int) -> int:
        """Return how many sessions wait for a stage."""
        return int(self._fetch_value("SELECT count(*) FROM fresh WHERE stage = ?", (stage,)))

    def has_quiet_session(self, now: int) -> bool:
        """Tell whether a session that awaits observation is quiet."""
        return bool(self.waiting(TO_OBSERVE, now - QUIET_MS, 1))

    def waiting(self, stage: int, before: int = 1 << 62, limit: int = 500) -> list[QueuedSession]:
        """Return the sessions of a stage that ended before a time, the oldest first."""
        sql = (
            "SELECT s.id, s.agent, s.native, s.kind, coalesce(p.key, ''), s.next_n FROM fresh f"
            " JOIN session s ON s.id = f.session_id LEFT JOIN project p ON p.id = s.project_id"
            " WHERE f.stage = ? AND s.ended < ? ORDER BY s.started, s.public LIMIT ?"
        )
        return self._fetch_all(QueuedSession, sql, (stage, before, limit))

    def ended_between(self, since: int, before: int) -> list[QueuedSession]:
        """Return all sessions with turns that ended in a period, the latest first."""
        sql = (
            "SELECT s.id, s.agent, s.native, s.kind, coalesce(p.key, ''), s.next_n FROM session s"
            " LEFT JOIN project p ON p.id = s.project_id WHERE s.turns > 0 AND s.ended >= ? AND s.ended < ?"
            " ORDER BY s.ended DESC, s.public"
        )
        return self._fetch_all(QueuedSession, sql, (since, before))

    def done(self, stage: int, sessions: Iterable[QueuedSession]) -> None:
        """Dequeue sessions without newer turns."""
        with transaction(self._db):
            self._db.executemany(
                "DELETE FROM fresh WHERE stage = ? AND session_id ="
                " (SELECT id FROM session WHERE id = ? AND next_n = ?)",
                [(stage, one.id, one.next_n) for one in sessions],
            )

    def dequeue_if_empty(self, session_id: int) -> None:
        """Dequeue a session that has no text left to embed."""
        self._db.execute(
            "DELETE FROM fresh WHERE stage = ?1 AND session_id = ?2 AND NOT EXISTS"
            " (SELECT 1 FROM turn WHERE session_id = ?2 AND (asked != '' OR answered != ''))",
            (TO_EMBED, session_id),
        )

    def rename(self, old: str, new: str) -> None:
        """Queue a project's new key; inside the transaction that sets it."""
        self._db.execute("INSERT OR REPLACE INTO renamed VALUES(?, ?)", (old, new))

    def renamed(self) -> list[tuple[str, str]]:
        """Return the queued (old, new) keys of projects."""
        return self._fetch("SELECT old, new FROM renamed ORDER BY old")

    def clear_renamed(self, renamed: Iterable[tuple[str, str]]) -> None:
        """Dequeue renamed projects."""
        with transaction(self._db):
            self._db.executemany("DELETE FROM renamed WHERE old = ? AND new = ?", renamed)


class Origin(NamedTuple):
    """The source of a trimmed session."""

    id: int
    agent: str
    native: str
    path: str  # of the agent's file; empty if it is gone
    size: int
    changed: int
    print: str


class TrimmedSessions(Queries):
    """The table `trimmed`."""

    def has(self, session_id: int) -> bool:
        """Tell whether a session was trimmed."""
        return bool(self._fetch("SELECT 1 FROM trimmed WHERE session_id = ?", (session_id,)))

    def is_unchanged(self, session_id: int, turns: Iterable[TurnTexts]) -> bool:
        """Tell whether turns that were read again are those that were trimmed."""
        known = self._fetch("SELECT print FROM trimmed WHERE session_id = ?", (session_id,))
        return bool(known) and bool(known[0][0] == self._hash_own(session_id, turns))

    def update(self, session_id: int, turns: Iterable[TurnTexts]) -> None:
        """Store the hash of the new texts of a session that was trimmed."""
        if self.has(session_id):
            self.add(session_id, self._hash_own(session_id, turns))

    def _hash_own(self, session_id: int, turns: Iterable[TurnTexts]) -> str:
        """Hash those turns that the session has, not the copies that others have."""
        own = set(self._fetch_column("SELECT n FROM turn WHERE session_id = ? AND n >= 0", (session_id,)))
        return hash_turns(one for one in turns if one[0] in own)

    def add(self, session_id: int, digest: str) -> None:
        """Mark a session as trimmed, with the hash of its turns."""
        self._db.execute("INSERT OR REPLACE INTO trimmed VALUES(?, ?)", (session_id, digest))

    def remove(self, session_id: int) -> None:
        """Mark a session as complete again."""
        self._db.execute("DELETE FROM trimmed WHERE session_id = ?", (session_id,))

    def all(self) -> list[Origin]:
        """Return every trimmed session, the latest first."""
        return self._fetch_all(
            Origin,
            "SELECT s.id, s.agent, s.native, iif(f.gone OR f.layout = 'archive', '', coalesce(f.path, '')),"
            " coalesce(f.size, 0), coalesce(f.changed, 0), coalesce(f.print, '')"
            " FROM trimmed t JOIN session s ON s.id = t.session_id LEFT JOIN source f ON f.id = s.source_id"
            " ORDER BY s.ended DESC, s.public",
        )


def hash_turns(turns: Iterable[TurnTexts]) -> str:
    """Return a hash of the (number, asked, answered, steps) of turns."""
    hashed = blake2s(digest_size=16)
    for turn in turns:
        hashed.update("\x1f".join(map(str, turn)).encode("utf-8", "surrogatepass") + b"\x1e")
    return hashed.hexdigest()
