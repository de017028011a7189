"""Takes the text of old sessions out of `sessions.db`, and keeps which ones and how much room that makes.

A trimmed session keeps its row, its touches, refs and checkpoints, and its turns without their texts: so it
is listed as before, and a copy of one of its turns in another file is still known as a copy.
"""

from __future__ import annotations

from _blake2 import blake2s

import apsw

from told.errors import BusyError
from told.record import record
from told.store.database import rows
from told.store.fresh import TO_CAPTURE, TO_OBSERVE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# What someone works in is never trimmed, whatever the clock says.
_NEWEST = 10
_TEXTS = " + ".join(f"octet_length(t.{name})" for name in ("asked", "answered", "steps", "near", "extra"))

# What waits for its vectors alone is not spared: without its text there is nothing to make them of.
_UNLEARNED = f"SELECT session_id FROM fresh WHERE stage IN ({TO_CAPTURE}, {TO_OBSERVE})"


@record
class Heavy:
    """A session whose turns have texts."""

    id: int
    bytes: int  # of the texts, and of the words made from them
    is_kept: bool  # whether the archive has it as it is


@record
class Origin:
    """Where a trimmed session comes from."""

    id: int
    agent: str
    native: str
    path: str  # of the agent's file; empty if that is gone
    size: int
    changed: int
    print: str


class Trimmed:
    """The table `trimmed`."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def has(self, session_id: int) -> bool:
        """Tell whether a session lost its texts."""
        return bool(rows(self._db, "SELECT 1 FROM trimmed WHERE session_id = ?", (session_id,)))

    def is_as_before(self, session_id: int, turns: Iterable[tuple[int, str, str, str]]) -> bool:
        """Tell whether a session lost its texts, and a file that was read again has just these."""
        known = rows(self._db, "SELECT print FROM trimmed WHERE session_id = ?", (session_id,))
        if not known:
            return False
        sql = "SELECT n FROM turn WHERE session_id = ? AND n >= 0"
        own = {row[0] for row in rows(self._db, sql, (session_id,))}
        return bool(known[0][0] == print_of(one for one in turns if one[0] in own))

    def add(self, session_id: int, found: str) -> None:
        """Note that a session lost its texts, whose print this is."""
        self._db.execute("INSERT OR REPLACE INTO trimmed VALUES(?, ?)", (session_id, found))

    def remove(self, session_id: int) -> None:
        """Note that a session has its texts again."""
        self._db.execute("DELETE FROM trimmed WHERE session_id = ?", (session_id,))

    def all(self) -> list[Origin]:
        """Return every trimmed session, the latest first."""
        found = rows(
            self._db,
            "SELECT s.id, s.agent, s.native, iif(f.gone OR f.layout = 'archive', '', coalesce(f.path, '')),"
            " coalesce(f.size, 0), coalesce(f.changed, 0), coalesce(f.print, '')"
            " FROM trimmed t JOIN session s ON s.id = t.session_id LEFT JOIN source f ON f.id = s.source_id"
            " ORDER BY s.ended DESC, s.public",
        )
        return [Origin(*row) for row in found]


def print_of(turns: Iterable[tuple[int, str, str, str]]) -> str:
    """Return a hash of the (number, asked, answered, steps) of turns."""
    hashed = blake2s(digest_size=16)
    for turn in turns:
        hashed.update("\x1f".join(map(str, turn)).encode("utf-8", "surrogatepass") + b"\x1e")
    return hashed.hexdigest()


def heaviest(connection: apsw.Connection, *, learned: bool) -> list[Heavy]:
    """Return the sessions that have texts, the oldest first, without the newest ones.

    Args:
        connection: The open store.
        learned: Leave out those that nobody has learned from yet.
    """
    waiting = f" AND s.id NOT IN ({_UNLEARNED})" if learned else ""
    found = rows(
        connection,
        f"SELECT s.id, sum({_TEXTS}) AS bytes, s.kept >= s.revision FROM session s"
        " JOIN turn t ON t.session_id = s.id AND t.n >= 0"
        " WHERE s.id NOT IN (SELECT id FROM session WHERE turns > 0 ORDER BY ended DESC, public LIMIT ?)"
        f"{waiting} GROUP BY s.id HAVING bytes > 0 ORDER BY s.ended, s.public",
        (_NEWEST,),
    )
    return [Heavy(one, size, bool(is_kept)) for one, size, is_kept in found]


def space(connection: apsw.Connection) -> tuple[int, int]:
    """Return how many bytes the file has, and how many of them are free."""
    pages, free, size = rows(
        connection, "SELECT page_count, freelist_count, page_size FROM pragma_page_count,"
        " pragma_freelist_count, pragma_page_size",
    )[0]  # fmt: skip
    return pages * size, free * size


def text_bytes(connection: apsw.Connection) -> int:
    """Return how many bytes the texts of all turns have."""
    return int(rows(connection, f"SELECT coalesce(sum({_TEXTS}), 0) FROM turn t")[0][0])


def may_be_emptied(connection: apsw.Connection, session_id: int, *, learned: bool) -> bool:
    """Tell whether the archive has a session as it is, and nobody still has to learn from it."""
    waiting = f" AND id NOT IN ({_UNLEARNED})" if learned else ""
    sql = f"SELECT 1 FROM session WHERE id = ? AND kept >= revision{waiting}"
    return bool(rows(connection, sql, (session_id,)))


@record
class Orphan:
    """A session that its agent has deleted: only the archive has it."""

    id: int
    public: str
    agent: str
    native: str
    summary: str
    ended: int
    path: str  # of the agent's file that was there once; empty if nobody knows it
    bytes: int  # of the texts that the store has of it


def orphans(connection: apsw.Connection) -> list[Orphan]:
    """Return the sessions whose agent's file is gone, the oldest first."""
    found = rows(
        connection,
        "SELECT s.id, s.public, s.agent, s.native, coalesce(nullif(s.title, ''), s.summary), s.ended,"
        " iif(f.layout = 'archive', '', coalesce(f.path, '')),"
        f" (SELECT coalesce(sum({_TEXTS}), 0) FROM turn t WHERE t.session_id = s.id)"
        " FROM session s LEFT JOIN source f ON f.id = s.source_id"
        " WHERE s.turns > 0 AND (f.id IS NULL OR f.gone) ORDER BY s.ended, s.public",
    )
    return [Orphan(*row) for row in found]


def compact(connection: apsw.Connection, *, words: bool, when: float = 0.0) -> bool:
    """Make the file as small as it can be; False if another told is at it, or the disk is full.

    Args:
        connection: The open store.
        words: Whether words were taken out, which the index only marks as gone.
        when: Only if at least this share of the file is free.
    """
    from told.store.erasing import leave_nothing

    size, free = space(connection)
    try:
        if words or free > when * size:
            leave_nothing(connection)
        else:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except (BusyError, apsw.BusyError, apsw.FullError, apsw.IOError, apsw.ReadOnlyError):
        return False
    return True
