"""Write sessions, turns, touches, refs and checkpoints into `sessions.db`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from told.hashing import blake2s
from told.model import Checkpoint, Ref, Touch
from told.store.database import IndexedWriter, public_id
from told.store.sessions.facts import SessionFacts, TrimmedSessions, WorkQueue
from told.store.sessions.read import TurnText
from told.store.sessions.schema import FIRST_NOTE, OWN_CHECKPOINT, TITLE, checkpoint_id, project_token

# A turn's row id counts eighths of seconds since 2015, so that rows are in order of time.
_EPOCH = 1_420_070_400
_LAST_SECOND = 1 << 36
# Bytes that the index buffers before it writes; the schema sets the same.
INDEX_BUFFER = 33_554_432
_INDEXED = ("project", "asked", "answered", "steps", "near", "extra")
# The texts of a checkpoint.
NOTE_TEXTS = (
    "title", "overview", "work_done", "technical_details", "important_files", "next_steps", "history",
)  # fmt: skip
_TURN = f"SELECT id, {', '.join(_INDEXED)} FROM turn WHERE "


@dataclass(frozen=True, slots=True)
class SessionState:
    """What the writer needs to continue a session."""

    id: int
    agent: str
    native: str
    source_id: int  # of its turns; 0 if it has none
    project_id: int
    started: int
    next_n: int
    cwd: str = ""
    repository: str = ""
    parent: str = ""
    title: str = ""
    summary: str = ""


def hash_key(agent: str, key: str | int) -> int | None:
    """Return the hash of a native id; None if there is none."""
    if key == "":
        return None
    if isinstance(key, int):  # hashed already
        return key
    digest = blake2s(f"{agent}\0{key}".encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


class SessionWriter(IndexedWriter):
    """Writes sessions; the index follows at the end of the transaction."""

    def __init__(
        self, connection: apsw.Connection, words: Callable[[str, int], str], near: Callable[[str, str], str]
    ) -> None:
        """Take the functions that make a turn's extra and neighbouring words."""
        super().__init__(connection)
        self._words = words
        self._near = near
        self.facts = SessionFacts(connection)
        self.fresh = WorkQueue(connection)
        self.trimmed = TrimmedSessions(connection)
        self._buffer = INDEX_BUFFER

    def session(self, agent: str, native: str) -> SessionState | None:
        """Return the state of a session."""
        return self._fetch_first(
            SessionState,
            "SELECT id, agent, native, source_id, coalesce(project_id, 0), started, next_n,"
            " cwd, repository, parent, title, summary FROM session WHERE agent = ? AND native = ?",
            (agent, native),
        )

    def new_session(self, agent: str, native: str) -> SessionState:
        """Create a session."""
        length = 7
        while True:
            public = public_id("s", agent, native, length=length)
            if not self._fetch("SELECT 1 FROM session WHERE public = ?", (public,)):
                break
            length += 1
        self._db.execute(
            "INSERT INTO session(public, agent, native, source_id) VALUES(?, ?, ?, 0)",
            (public, agent, native),
        )
        return SessionState(self._db.last_insert_rowid(), agent, native, 0, 0, 0, 0)

    def set_source(self, session_id: int, source_id: int) -> None:
        """Set the source of a session's turns."""
        self._db.execute("UPDATE session SET source_id = ? WHERE id = ?", (source_id, session_id))

    def place_session(self, session_id: int, project_id: int, part: str) -> None:
        """Set the project of a session, and the folder in it."""
        self._db.execute(
            "UPDATE session SET project_id = ?, part = ? WHERE id = ?", (project_id, part, session_id)
        )
        token = project_token(project_id)
        for row in self._fetch(_TURN + "session_id = ? AND project != ?", (session_id, token)):
            self._rewrite(row[0], row[1:], (token, *row[2:]))
        # Its checkpoints may belong to another project: their files are read again.
        self._db.execute(
            "UPDATE source SET changed = -1 WHERE layout = 'checkpoint' AND id IN"
            " (SELECT source_id FROM checkpoint WHERE session_id = ? AND path != '')",
            (session_id,),
        )

    def close_session(self, session_id: int, next_n: int, summary: str) -> None:
        """Update the counts and times of a session after its turns."""
        self._db.execute(
            """UPDATE session SET next_n = :next, summary = :summary, revision = revision + 1,
              turns = (SELECT count(*) FROM turn WHERE session_id = :id AND n >= 0),
              ended = max(coalesce((SELECT max(at) FROM turn WHERE session_id = :id AND n > :own),
                  (SELECT max(at) FROM turn WHERE session_id = :id), 0), started,
                coalesce((SELECT last FROM fact f WHERE session_id = :id
                  AND f.source_id = session.source_id), 0)),
              started = CASE WHEN started > 0 THEN started
                ELSE coalesce((SELECT min(at) FROM turn WHERE session_id = :id AND at > 0), 0) END
            WHERE id = :id""",
            # A checkpoint written later does not extend the session.
            {"id": session_id, "next": next_n, "summary": summary, "own": FIRST_NOTE - OWN_CHECKPOINT},
        )

    def turn(self, session_id: int, n: int) -> TurnText | None:
        """Return one turn of a session."""
        columns = "n, at, coalesce(key, ''), asked, answered, steps"
        sql = f"SELECT {columns} FROM turn WHERE session_id = ? AND n = ?"
        return self._fetch_first(TurnText, sql, (session_id, n))

    def put_turns(self, session: SessionState, turns: Sequence[TurnText], *, replace: bool) -> None:
        """Store consecutive turns; with `replace` delete all others.

        A turn that several sessions contain belongs to the session that started first.
        """
        if not turns and not replace:
            return
        token = project_token(session.project_id)
        first = turns[0].n if turns else 0
        before = self.turn(session.id, first - 1) if first > 0 and not replace else None
        old = self._old_turns("session_id = ? AND n >= ?", (session.id, first))
        mine: dict[int, TurnText] = {} if before is None else {before.n: before}
        keys: dict[int, int | None] = {}
        seen: set[int | None] = set()
        for turn in turns:
            key = hash_key(session.agent, turn.key)
            if key is None or (key not in seen and not self._belongs_elsewhere(key, session, first)):
                mine[turn.n], keys[turn.n] = turn, key
                seen.add(key)
        for n, key in keys.items():
            turn = mine[n]
            near = self._near(_join_texts(mine.get(n - 1)), _join_texts(mine.get(n + 1)))
            extra = self._words(f"{turn.asked}\n{turn.answered}", turn.at)
            self._put(session.id, turn, key, (token, turn.asked, turn.answered, turn.steps, near, extra), old)
        for n, (row_id, _, gone) in old.items():
            if replace or n <= turns[-1].n:
                self._drop(row_id, gone)
        if before is not None:
            self._update_near(session.id, before.n)
        if replace and any(turn.asked or turn.answered or turn.steps for turn in turns):
            self.trimmed.remove(session.id)

    def empty_turns(self, session_id: int) -> None:
        """Delete the texts of a session's turns; its title stays."""
        for row in self._fetch(_TURN + "session_id = ? AND n >= 0", (session_id,)):
            self._rewrite(row[0], row[1:], (row[1], "", "", "", "", ""))
        self.fresh.dequeue_if_empty(session_id)

    def put_title(self, session: SessionState) -> None:
        """Index a session's title."""
        self._put_note(session, TITLE, session.started, session.title)

    def _put_note(self, session: SessionState, n: int, at: int, text: str) -> None:
        old = self._old_turns("session_id = ? AND n = ?", (session.id, n))
        if text:
            words = (project_token(session.project_id), "", text, "", "", self._words(text, at))
            self._put(session.id, TurnText(n, at, "", "", text, ""), None, words, old)
        for row_id, _, gone in old.values():
            self._drop(row_id, gone)

    def _old_turns(self, where: str, values: tuple[Any, ...]) -> dict[int, tuple[int, int, tuple[str, ...]]]:
        """Return the (row id, time, words) of turns by number."""
        found = self._fetch(f"SELECT n, id, at, {', '.join(_INDEXED)} FROM turn WHERE {where}", values)
        return {row[0]: (row[1], row[2], row[3:]) for row in found}

    def _put(
        self, session_id: int, turn: TurnText, key: int | None, words: tuple[str, ...],
        old: dict[int, tuple[int, int, tuple[str, ...]]],
    ) -> None:  # fmt: skip
        if turn.n in old and old[turn.n][1] == turn.at:
            row_id, _, known = old.pop(turn.n)
            self._db.execute("UPDATE turn SET key = ? WHERE id = ?", (key, row_id))
            self._rewrite(row_id, known, words)
            return
        if turn.n in old:  # the row id must match the time
            row_id, _, known = old.pop(turn.n)
            self._drop(row_id, known)
        row_id = self._find_free_id(session_id, turn)
        self._db.execute(
            "INSERT INTO turn VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (row_id, session_id, turn.n, turn.at, key, *words),
        )
        self._pending.append((row_id, True, words))

    def _belongs_elsewhere(self, key: int, session: SessionState, first: int) -> bool:
        """Tell whether a turn belongs to another session or before `first`."""
        copies = self._fetch(
            "SELECT t.id, t.n, s.id, s.started, s.native FROM turn t JOIN session s ON s.id = t.session_id"
            " WHERE t.key = ? AND (t.session_id != ? OR t.n < ?)",
            (key, session.id, first),
        )
        for row_id, n, other, started, native in copies:
            if other == session.id or (started, native) < (session.started, session.native):
                return True
            self._drop(row_id, self._fetch(_TURN + "id = ?", (row_id,))[0][1:])
            self._db.execute(
                "UPDATE session SET turns = turns - 1, revision = revision + 1 WHERE id = ?", (other,)
            )
            self._update_near(other, n - 1)
            self._update_near(other, n + 1)
        return False

    def _find_free_id(self, session_id: int, turn: TurnText) -> int:
        first = row_id = max(1, min(turn.at // 1000 - _EPOCH, _LAST_SECOND)) << 3
        attempt = 0
        while self._fetch("SELECT 1 FROM turn WHERE id = ?", (row_id,)):
            attempt += 1
            # The second is full: probe further and further away.
            room = 8 << min(max(0, attempt - 7), 30)
            row_id = first + (attempt if attempt < 8 else session_id * 7919 + turn.n + attempt * 9973) % room
        return row_id

    def _update_near(self, session_id: int, n: int) -> None:
        for row in self._fetch(_TURN + "session_id = ? AND n = ? AND n >= 0", (session_id, n)):
            around = (self.turn(session_id, n - 1) if n else None, self.turn(session_id, n + 1))
            near = self._near(*map(_join_texts, around))
            self._rewrite(row[0], row[1:], (*row[1:5], near, row[6]))

    def _rewrite(self, row_id: int, old: tuple[str, ...], new: tuple[str, ...]) -> None:
        if old == new:
            return
        self._db.execute(
            "UPDATE turn SET project = ?, asked = ?, answered = ?, steps = ?, near = ?, extra = ?"
            " WHERE id = ?",
            (*new, row_id),
        )
        self._pending += [(row_id, False, old), (row_id, True, new)]

    def _drop(self, row_id: int, words: tuple[str, ...]) -> None:
        self._db.execute("DELETE FROM turn WHERE id = ?", (row_id,))
        self._pending.append((row_id, False, words))

    def flush_words(self) -> None:
        """Apply the pending changes to the index."""
        self._set_buffer(sum(len(text) for _, _, words in self._pending for text in words))
        self._flush_index("turn_words", _INDEXED)

    def _set_buffer(self, weight: int) -> None:
        """Make the index buffer large enough for words of a size.

        A write before the end of the transaction would fire the checksum trigger on the index's table, which
        makes the index write again, without end.
        """
        size = INDEX_BUFFER if weight <= INDEX_BUFFER // 4 else 6 * weight
        if size == self._buffer:
            return
        self._buffer = size
        self._db.execute("INSERT INTO turn_words(turn_words, rank) VALUES('hashsize', ?)", (size,))

    def put_touches(self, session_id: int, touches: Iterable[Touch]) -> None:
        """Store the latest touch of each file; a change outranks a read."""
        self._db.executemany(
            """INSERT INTO touch VALUES(?, ?, ?, ?) ON CONFLICT DO UPDATE SET
              how = CASE WHEN excluded.how = 'read' THEN how ELSE excluded.how END,
              at = max(at, excluded.at)""",
            ((session_id, touch.path, touch.how, touch.at) for touch in touches),
        )

    def put_refs(self, session_id: int, source_id: int, refs: Iterable[Ref]) -> None:
        """Store commits, pull requests and issues that a source names."""
        self._db.executemany(
            "INSERT INTO ref VALUES(?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            ((session_id, ref.kind, ref.value, source_id, ref.at) for ref in refs),
        )

    def put_checkpoint(self, session: SessionState, source_id: int, note: Checkpoint) -> None:
        """Store a checkpoint; of two sources, the longer text wins."""
        texts = tuple(getattr(note, name) for name in NOTE_TEXTS)
        others = self._fetch(
            f"SELECT {', '.join(NOTE_TEXTS)} FROM checkpoint"
            " WHERE session_id = ? AND number = ? AND source_id != ?",
            (session.id, note.number, source_id),
        )
        if others and _measure(others[0]) > _measure(texts):
            return
        public = checkpoint_id(session.agent, session.native, note.number)
        self._db.execute(
            "INSERT OR REPLACE INTO checkpoint VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (session.id, note.number, public, *texts[:2], note.at, *texts[2:], source_id, note.status,
             note.path),
        )  # fmt: skip
        self._put_note(session, FIRST_NOTE - note.number, note.at, "\n".join(filter(None, texts)))

    def clear_touches(self, session_id: int) -> None:
        """Delete a session's touches before it is read again."""
        self._db.execute("DELETE FROM touch WHERE session_id = ?", (session_id,))

    def clear_source(self, session: SessionState, source_id: int) -> None:
        """Delete a source's refs and checkpoints before it is read again."""
        who = (session.id, source_id)
        self._db.execute("DELETE FROM ref WHERE session_id = ? AND source_id = ?", who)
        notes = "FROM checkpoint WHERE session_id = ? AND source_id = ?"
        for (number,) in self._fetch(f"SELECT number {notes}", who):
            self._put_note(session, FIRST_NOTE - number, 0, "")
        self._db.execute(f"DELETE {notes}", who)


def _measure(texts: tuple[str, ...]) -> tuple[int, tuple[str, ...]]:
    return sum(map(len, texts)), texts


def _join_texts(turn: TurnText | None) -> str:
    return "" if turn is None else f"{turn.asked}\n{turn.answered}".strip()
