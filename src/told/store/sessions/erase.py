"""Remove or rewrite text in `sessions.db`: to forget it, to redact it, or to save space.

A trimmed session keeps its row, touches, refs, checkpoints and empty turns: it is still listed, and copies of
its turns in other files are still recognised.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import apsw

from told.errors import BusyError
from told.model import Checkpoint
from told.store.database import Queries, fetch, purge
from told.store.sessions.facts import TO_CAPTURE, TO_OBSERVE
from told.store.sessions.schema import rebuild_index
from told.store.sessions.write import NOTE_TEXTS, SessionState, SessionWriter

_NOTE = (
    "number, title, overview, at, work_done, technical_details, important_files, next_steps, history,"
    " public, status, path"
)
_FACTS = ("branch", "repository", "title", "model")

_NEWEST = 10  # sessions that are never trimmed
_MAX_IN_MEMORY = 256 * 1024 * 1024  # a larger file is vacuumed on the disk
_TEXTS = " + ".join(f"octet_length(t.{name})" for name in ("asked", "answered", "steps", "near", "extra"))
# Sessions that only await vectors may be trimmed: there is nothing to embed without text.
_UNLEARNED = f"SELECT session_id FROM fresh WHERE stage IN ({TO_CAPTURE}, {TO_OBSERVE})"


@dataclass(frozen=True, slots=True)
class StoredText:
    """Texts that belong together, and their session."""

    kind: str
    session_id: int  # 0: none
    name: str  # by which a user can find it
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TrimCandidate:
    """A session with text."""

    id: int
    bytes: int  # of its text and index words
    is_archived: bool  # whether the archive is up to date


@dataclass(frozen=True, slots=True)
class Orphan:
    """A session that only the archive has."""

    id: int
    public: str
    agent: str
    native: str
    summary: str
    ended: int
    path: str  # of the agent's deleted file; empty if unknown
    bytes: int  # of its text in the store


class SessionEraser(Queries):
    """Queries of forgetting and redaction."""

    def sessions_with(self, expression: str) -> list[int]:
        """Return the sessions with a turn, title or checkpoint that matches."""
        sql = (
            "SELECT DISTINCT t.session_id FROM turn_words w JOIN turn t ON t.id = w.rowid"
            " WHERE turn_words MATCH ? ORDER BY 1"
        )
        return self._fetch_column(sql, (expression,))

    def find(self, agent: str, native: str) -> int:
        """Return a session's row by its native id; 0 if there is none."""
        found = self._fetch("SELECT id FROM session WHERE agent = ? AND native = ?", (agent, native))
        return int(found[0][0]) if found else 0

    def names(self, session_id: int) -> tuple[str, str]:
        """Return a session's agent and native id; empty if it is gone."""
        found = self._fetch("SELECT agent, native FROM session WHERE id = ?", (session_id,))
        return tuple(found[0]) if found else ("", "")

    def helpers(self, agent: str, native: str) -> list[str]:
        """Return the native ids of the sessions that a session started."""
        sql = "SELECT native FROM session WHERE agent = ? AND parent = ? AND native != ? ORDER BY native"
        return self._fetch_column(sql, (agent, native, native))

    def facts(self, session_id: int) -> list[tuple[int, str, str, str, str, str]]:
        """Return the (source, branch, repository, title, model, reader's state) of a session's sources."""
        columns = ", ".join(f"f.{name}" for name in _FACTS)
        return self._fetch(
            f"SELECT f.source_id, {columns}, coalesce(s.state, '') FROM fact f"
            " LEFT JOIN source s ON s.id = f.source_id WHERE f.session_id = ?",
            (session_id,),
        )

    def put_facts(self, session_id: int, source_id: int, facts: Sequence[str], state: str) -> None:
        """Change what a source said of a session, and its reader's state."""
        columns = ", ".join(f"{name} = ?" for name in _FACTS)
        sql = f"UPDATE fact SET {columns} WHERE session_id = ? AND source_id = ?"
        self._db.execute(sql, (*facts, session_id, source_id))
        self.put_state(source_id, state)

    def files(self, session_id: int) -> list[str]:
        """Return the agents' files about a session."""
        sql = (
            "SELECT s.path FROM fact f JOIN source s ON s.id = f.source_id"
            " WHERE f.session_id = ? AND s.layout != 'archive' ORDER BY s.path"
        )
        return self._fetch_column(sql, (session_id,))

    def notes(self, session_id: int) -> list[tuple[int, Checkpoint]]:
        """Return the (source, checkpoint) pairs of a session."""
        sql = f"SELECT source_id, {_NOTE} FROM checkpoint WHERE session_id = ?"
        return [(row[0], Checkpoint("", *row[1:])) for row in self._fetch(sql, (session_id,))]

    def keys(self, session_id: int) -> list[int]:
        """Return the hashed native ids of a session's turns."""
        sql = "SELECT key FROM turn WHERE session_id = ? AND key IS NOT NULL ORDER BY n"
        return self._fetch_column(sql, (session_id,))

    def drop_touch(self, session_id: int, path: str) -> None:
        """Delete a touch."""
        self._db.execute("DELETE FROM touch WHERE session_id = ? AND path = ?", (session_id, path))

    def drop_ref(self, session_id: int, value: str) -> None:
        """Delete a ref."""
        self._db.execute("DELETE FROM ref WHERE session_id = ? AND value = ?", (session_id, value))

    def drop_session(self, writer: SessionWriter, session: SessionState) -> None:
        """Delete a session and its rows; inside a transaction of the writer.

        The file of a checkpoint that still exists will be imported again.
        """
        files = "SELECT source_id FROM checkpoint WHERE session_id = ? AND path != ''"
        for (source_id,) in self._fetch(files, (session.id,)):
            writer.clear_source(session, source_id)
            self._db.execute("DELETE FROM source WHERE id = ?", (source_id,))
        for source_id, *_ in self.facts(session.id):
            writer.clear_source(session, source_id)
        writer.put_turns(session, (), replace=True)
        self._db.execute("UPDATE session SET title = '' WHERE id = ?", (session.id,))
        cleared = writer.session(session.agent, session.native)
        assert cleared is not None
        writer.put_title(cleared)
        for table in ("touch", "ref", "checkpoint", "fact", "fresh", "trimmed"):
            self._db.execute(f"DELETE FROM {table} WHERE session_id = ?", (session.id,))
        self._db.execute("DELETE FROM session WHERE id = ?", (session.id,))

    def size(self) -> int:
        """Return how many rows have to be scanned."""
        tables = ("turn", "session", "fact", "checkpoint", "touch", "ref", "source", "problem")
        return sum(self._fetch_value(f"SELECT count(*) FROM {table}") for table in tables)

    def texts(self) -> Iterator[StoredText]:
        """Yield all texts, in the order of the disk."""
        for session_id, n, public, *turn in self._db.execute(
            "SELECT t.session_id, t.n, s.public, t.asked, t.answered, t.steps FROM turn t"
            " JOIN session s ON s.id = t.session_id ORDER BY t.id"
        ):
            # Indexed copies of titles and checkpoints have numbers below 0.
            yield StoredText("turn" if n >= 0 else "search", session_id, f"{public}.{n}", tuple(turn))
        for session_id, public, summary in self._db.execute("SELECT id, public, summary FROM session"):
            yield StoredText("session", session_id, public, (summary,))
        for kind, table, columns in (
            ("session", "fact", _FACTS),
            ("checkpoint", "checkpoint", NOTE_TEXTS),
            ("touch", "touch", ("path",)),
            ("ref", "ref", ("value",)),
        ):
            name = "f.public" if kind == "checkpoint" else "s.public"
            texts = ", ".join(f"f.{column}" for column in columns)
            for session_id, public, *found in self._db.execute(
                f"SELECT s.id, {name}, {texts} FROM {table} f JOIN session s ON s.id = f.session_id"
            ):
                yield StoredText(kind, session_id, public, tuple(found))

    def ids(self) -> Iterator[str]:
        """Yield the native ids of sessions."""
        for table in ("session", "fact"):
            native = "native, " if table == "session" else ""
            for row in self._db.execute(f"SELECT DISTINCT {native}parent FROM {table}"):
                yield from filter(None, row)

    def places(self) -> Iterator[str]:
        """Yield the paths of files and folders, and the names of projects."""
        for table, columns in (
            ("session", "cwd, part"), ("fact", "cwd"), ("project", "key, name, root"), ("place", "path"),
            ("source", "path, root"), ("folder", "path"),
        ):  # fmt: skip
            for row in self._db.execute(f"SELECT DISTINCT {columns} FROM {table}"):
                yield from filter(None, row)

    def states(self) -> Iterator[tuple[int, str, str]]:
        """Yield the (source, path, state) of readers with a state."""
        yield from self._db.execute("SELECT id, path, state FROM source WHERE state != '' ORDER BY id")

    def problems(self) -> Iterator[tuple[int, int, str, int, str]]:
        """Yield the (source, line, reason, time, path) of problems."""
        yield from self._db.execute(
            "SELECT p.source_id, p.line, p.reason, p.at, coalesce(s.path, '') FROM problem p"
            " LEFT JOIN source s ON s.id = p.source_id"
        )

    def refs(self, session_id: int) -> list[tuple[str, str, int, int]]:
        """Return the (kind, value, source, time) of a session's refs."""
        return self._fetch("SELECT kind, value, source_id, at FROM ref WHERE session_id = ?", (session_id,))

    def put_state(self, source_id: int, state: str) -> None:
        """Change a reader's state."""
        self._db.execute("UPDATE source SET state = ? WHERE id = ?", (state, source_id))

    def put_problem(self, source_id: int, line: int, old: str, new: str, at: int) -> None:
        """Change the reason of a problem."""
        self._db.execute(
            "DELETE FROM problem WHERE source_id = ? AND line = ? AND reason = ?", (source_id, line, old)
        )
        self._db.execute("INSERT OR IGNORE INTO problem VALUES(?, ?, ?, ?)", (source_id, line, new, at))


def find_trim_candidates(connection: apsw.Connection, *, learned: bool) -> list[TrimCandidate]:
    """Return sessions with text but the newest, the oldest first; `learned`: only those learned from."""
    waiting = f" AND s.id NOT IN ({_UNLEARNED})" if learned else ""
    found = fetch(
        connection,
        f"SELECT s.id, sum({_TEXTS}) AS bytes, s.kept >= s.revision FROM session s"
        " JOIN turn t ON t.session_id = s.id AND t.n >= 0"
        " WHERE s.id NOT IN (SELECT id FROM session WHERE turns > 0 ORDER BY ended DESC, public LIMIT ?)"
        f"{waiting} GROUP BY s.id HAVING bytes > 0 ORDER BY s.ended, s.public",
        (_NEWEST,),
    )
    return [TrimCandidate(one, size, bool(is_archived)) for one, size, is_archived in found]


def can_trim(connection: apsw.Connection, session_id: int, *, learned: bool) -> bool:
    """Tell whether the archive is up to date and learning is done."""
    waiting = f" AND id NOT IN ({_UNLEARNED})" if learned else ""
    sql = f"SELECT 1 FROM session WHERE id = ? AND kept >= revision{waiting}"
    return bool(fetch(connection, sql, (session_id,)))


def find_orphans(connection: apsw.Connection) -> list[Orphan]:
    """Return the sessions whose agent's file is gone, the oldest first."""
    found = fetch(
        connection,
        "SELECT s.id, s.public, s.agent, s.native, coalesce(nullif(s.title, ''), s.summary), s.ended,"
        " iif(f.layout = 'archive', '', coalesce(f.path, '')),"
        f" (SELECT coalesce(sum({_TEXTS}), 0) FROM turn t WHERE t.session_id = s.id)"
        " FROM session s LEFT JOIN source f ON f.id = s.source_id"
        " WHERE s.turns > 0 AND (f.id IS NULL OR f.gone) ORDER BY s.ended, s.public",
    )
    return [Orphan(*row) for row in found]


def measure_space(connection: apsw.Connection) -> tuple[int, int]:
    """Return the size of the file and its free bytes."""
    tables = "pragma_page_count, pragma_freelist_count, pragma_page_size"
    sql = f"SELECT page_count, freelist_count, page_size FROM {tables}"
    pages, free, size = fetch(connection, sql)[0]
    return pages * size, free * size


def count_text_bytes(connection: apsw.Connection) -> int:
    """Return the bytes of the texts of all turns."""
    return int(fetch(connection, f"SELECT coalesce(sum({_TEXTS}), 0) FROM turn t")[0][0])


def purge_sessions(connection: apsw.Connection) -> None:
    """Remove deleted bytes from the index, free pages and the log."""
    size, _ = measure_space(connection)
    connection.execute(f"PRAGMA temp_store={'MEMORY' if size < _MAX_IN_MEMORY else 'FILE'}")
    purge(connection, rebuild_index)


def compact(connection: apsw.Connection, *, words: bool, when: float = 0.0) -> bool:
    """Shrink the file; False if another process is busy or the disk is full.

    If words were deleted, which the index only marks, or more than a share of the file is free.
    """
    size, free = measure_space(connection)
    try:
        if words or free > when * size:
            purge_sessions(connection)
        else:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except (BusyError, apsw.BusyError, apsw.FullError, apsw.IOError, apsw.ReadOnlyError):
        return False
    return True
