"""Writes conversations into `sessions.db`: sessions, turns and their words, touches, refs, checkpoints."""

from __future__ import annotations

from _blake2 import blake2s

from told.record import record
from told.store.database import rows
from told.store.facts import SessionFacts
from told.store.fresh import Fresh
from told.store.ids import NOTE, OWN, TITLE, checkpoint_id, project_token, public_id
from told.store.trimming import Trimmed
from told.store.words import WordsTransaction, net_changes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    import apsw

    from told.model import Checkpoint, Ref, Touch

# A turn's row id counts eighths of seconds since 2015, so that the index's own order is time.
_EPOCH = 1_420_070_400
_LAST_SECOND = 1 << 36
# Bytes of words that the index holds before it writes; the schema says the same.
ROOM = 33_554_432


@record
class SessionState:
    """What the writer needs to know of a session to go on with it."""

    id: int
    agent: str
    native: str
    source_id: int  # where its turns come from; 0 when it has none yet
    project_id: int
    started: int
    next_n: int
    cwd: str = ""
    repository: str = ""
    parent: str = ""
    title: str = ""
    summary: str = ""


@record
class TurnText:
    """One exchange as it is stored."""

    n: int
    at: int
    key: str | int  # the agent's own id of it, or the number that was made of that
    asked: str
    answered: str
    steps: str


def hash_of_key(agent: str, key: str | int) -> int | None:
    """Return a number for an agent's own id of a record, or None if it has none."""
    if key == "":
        return None
    if isinstance(key, int):  # of a turn that was stored before
        return key
    digest = blake2s(f"{agent}\0{key}".encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


class Writer:
    """Writes inside transactions; words reach the full-text index when the transaction ends."""

    def __init__(
        self, connection: apsw.Connection, words: Callable[[str, int], str], near: Callable[[str, str], str]
    ) -> None:
        """Take the connection, and the functions that make a turn's extra and neighbouring words."""
        self._db = connection
        self._words = words
        self._near = near
        self.facts = SessionFacts(connection)
        self.fresh = Fresh(connection)
        self.trimmed = Trimmed(connection)
        self._pending: list[tuple[int, bool, tuple[str, ...]]] = []
        self._room = ROOM  # bytes of words that the index holds

    def transaction(self) -> WordsTransaction:
        """Begin a transaction that also brings the full-text index up to date."""
        return WordsTransaction(self._db, self)

    # -- sessions ---------------------------------------------------------------------------------

    def session(self, agent: str, native: str) -> SessionState | None:
        """Return what is known of a session."""
        found = rows(
            self._db,
            "SELECT id, agent, native, source_id, coalesce(project_id, 0), started, next_n,"
            " cwd, repository, parent, title, summary FROM session WHERE agent = ? AND native = ?",
            (agent, native),
        )
        return SessionState(*found[0]) if found else None

    def new_session(self, agent: str, native: str) -> SessionState:
        """Make a session and return it."""
        length = 7
        while True:
            public = public_id("s", agent, native, length=length)
            if not rows(self._db, "SELECT 1 FROM session WHERE public = ?", (public,)):
                break
            length += 1
        self._db.execute(
            "INSERT INTO session(public, agent, native, source_id) VALUES(?, ?, ?, 0)",
            (public, agent, native),
        )
        return SessionState(self._db.last_insert_rowid(), agent, native, 0, 0, 0, 0)

    def own(self, session_id: int, source_id: int) -> None:
        """Make a source the one that a session's turns come from."""
        self._db.execute("UPDATE session SET source_id = ? WHERE id = ?", (source_id, session_id))

    def place_session(self, session_id: int, project_id: int, part: str) -> None:
        """Say which project a session belongs to, and which folder of it."""
        self._db.execute(
            "UPDATE session SET project_id = ?, part = ? WHERE id = ?", (project_id, part, session_id)
        )
        token = project_token(project_id)
        for row in self._turn_rows("session_id = ? AND project != ?", (session_id, token)):
            self._rewrite(row[0], row[1:], (token, *row[2:]))
        # Its checkpoints may be meant for another project: their files are looked at once more.
        self._db.execute(
            "UPDATE source SET changed = -1 WHERE layout = 'checkpoint' AND id IN"
            " (SELECT source_id FROM checkpoint WHERE session_id = ? AND path != '')",
            (session_id,),
        )

    def close_session(self, session_id: int, next_n: int, summary: str) -> None:
        """Bring the counts and times of a session up to date after its turns were written."""
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
            # A checkpoint that somebody writes later is none of what happened in the session.
            {"id": session_id, "next": next_n, "summary": summary, "own": NOTE - OWN},
        )

    # -- turns ------------------------------------------------------------------------------------

    def turn(self, session_id: int, n: int) -> TurnText | None:
        """Return one turn of a session."""
        found = rows(
            self._db,
            "SELECT n, at, coalesce(key, ''), asked, answered, steps FROM turn"
            " WHERE session_id = ? AND n = ?",
            (session_id, n),
        )
        return TurnText(*found[0]) if found else None

    def put_turns(self, session: SessionState, turns: Sequence[TurnText], *, replace: bool) -> None:
        """Store turns that follow each other; with `replace` the session has no others.

        A turn that another session already holds a copy of stays with the session that began first.
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
            key = hash_of_key(session.agent, turn.key)
            if key is None or (key not in seen and not self._belongs_elsewhere(key, session, first)):
                mine[turn.n], keys[turn.n] = turn, key
                seen.add(key)
        for n, key in keys.items():
            turn = mine[n]
            near = self._near(_whole(mine.get(n - 1)), _whole(mine.get(n + 1)))
            extra = self._words(f"{turn.asked}\n{turn.answered}", turn.at)
            self._put(session.id, turn, key, (token, turn.asked, turn.answered, turn.steps, near, extra), old)
        for n, (row_id, _, gone) in old.items():
            if replace or n <= turns[-1].n:
                self._drop(row_id, gone)
        if before is not None:
            self._renew_near(session.id, before.n)
        if replace and any(turn.asked or turn.answered or turn.steps for turn in turns):
            self.trimmed.remove(session.id)

    def empty_turns(self, session_id: int) -> None:
        """Take the texts out of a session's turns, and their words out of the index; titles stay."""
        for row in self._turn_rows("session_id = ? AND n >= 0", (session_id,)):
            self._rewrite(row[0], row[1:], (row[1], "", "", "", "", ""))
        self.fresh.nothing_to_understand(session_id)

    def put_title(self, session: SessionState) -> None:
        """Make a session's title searchable."""
        self._put_note(session, TITLE, session.started, session.title)

    def _put_note(self, session: SessionState, n: int, at: int, text: str) -> None:
        old = self._old_turns("session_id = ? AND n = ?", (session.id, n))
        if text:
            words = (project_token(session.project_id), "", text, "", "", self._words(text, at))
            self._put(session.id, TurnText(n, at, "", "", text, ""), None, words, old)
        for row_id, _, gone in old.values():
            self._drop(row_id, gone)

    def _old_turns(self, where: str, values: tuple[Any, ...]) -> dict[int, tuple[int, int, tuple[str, ...]]]:
        """Return the (row id, time, words) of turns by their number."""
        select = "SELECT n, id, at, project, asked, answered, steps, near, extra FROM turn WHERE "
        return {row[0]: (row[1], row[2], row[3:]) for row in rows(self._db, select + where, values)}

    def _put(
        self, session_id: int, turn: TurnText, key: int | None, words: tuple[str, ...],
        old: dict[int, tuple[int, int, tuple[str, ...]]],
    ) -> None:  # fmt: skip
        if turn.n in old and old[turn.n][1] == turn.at:
            row_id, _, known = old.pop(turn.n)
            self._db.execute("UPDATE turn SET key = ? WHERE id = ?", (key, row_id))
            self._rewrite(row_id, known, words)
            return
        if turn.n in old:  # its row id would no longer tell its time
            row_id, _, known = old.pop(turn.n)
            self._drop(row_id, known)
        row_id = self._free_id(session_id, turn)
        self._db.execute(
            "INSERT INTO turn VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (row_id, session_id, turn.n, turn.at, key, *words),
        )
        self._pending.append((row_id, True, words))

    def _belongs_elsewhere(self, key: int, session: SessionState, first: int) -> bool:
        """Whether another session, or this one before its turn `first`, holds a turn rightfully."""
        copies = rows(
            self._db,
            "SELECT t.id, t.n, s.id, s.started, s.native FROM turn t JOIN session s ON s.id = t.session_id"
            " WHERE t.key = ? AND (t.session_id != ? OR t.n < ?)",
            (key, session.id, first),
        )
        for row_id, n, other, started, native in copies:
            if other == session.id or (started, native) < (session.started, session.native):
                return True
            self._drop(row_id, self._turn_rows("id = ?", (row_id,))[0][1:])
            self._db.execute(
                "UPDATE session SET turns = turns - 1, revision = revision + 1 WHERE id = ?", (other,)
            )
            self._renew_near(other, n - 1)
            self._renew_near(other, n + 1)
        return False

    def _free_id(self, session_id: int, turn: TurnText) -> int:
        first = row_id = max(1, min(turn.at // 1000 - _EPOCH, _LAST_SECOND)) << 3
        attempt = 0
        while rows(self._db, "SELECT 1 FROM turn WHERE id = ?", (row_id,)):
            attempt += 1
            # That second is full: look further and further away, each turn elsewhere.
            room = 8 << min(max(0, attempt - 7), 30)
            row_id = first + (attempt if attempt < 8 else session_id * 7919 + turn.n + attempt * 9973) % room
        return row_id

    def _renew_near(self, session_id: int, n: int) -> None:
        """Bring the neighbouring words of a turn, if it is there, in line with its neighbours."""
        for row in self._turn_rows("session_id = ? AND n = ? AND n >= 0", (session_id, n)):
            around = (self.turn(session_id, n - 1) if n else None, self.turn(session_id, n + 1))
            near = self._near(*map(_whole, around))
            self._rewrite(row[0], row[1:], (*row[1:5], near, row[6]))

    def _turn_rows(self, where: str, values: tuple[Any, ...]) -> list[Any]:
        select = "SELECT id, project, asked, answered, steps, near, extra FROM turn WHERE "
        return rows(self._db, select + where, values)

    def _rewrite(self, row_id: int, old: tuple[str, ...], new: tuple[str, ...]) -> None:
        if old == new:
            return
        self._db.execute(
            "UPDATE turn SET project = ?, asked = ?, answered = ?, steps = ?, near = ?, extra = ?"
            " WHERE id = ?",
            (*new, row_id),
        )
        self._pending.append((row_id, False, old))
        self._pending.append((row_id, True, new))

    def _drop(self, row_id: int, words: tuple[str, ...]) -> None:
        self._db.execute("DELETE FROM turn WHERE id = ?", (row_id,))
        self._pending.append((row_id, False, words))

    def flush_words(self) -> None:
        """Bring the full-text index in line with the turns, in the order of row ids.

        The index writes a segment whenever ids go backwards; sorted, a batch is one segment.
        """
        self._give_room(sum(len(text) for _, _, words in self._pending for text in words))
        for row_id, last in sorted(net_changes(self._pending).items()):
            removed, added = last
            if removed is not None:
                self._db.execute(
                    "INSERT INTO turn_words(turn_words, rowid, project, asked, answered, steps, near, extra)"
                    " VALUES('delete', ?, ?, ?, ?, ?, ?, ?)",
                    (row_id, *removed),
                )
            if added is not None:
                self._db.execute(
                    "INSERT INTO turn_words(rowid, project, asked, answered, steps, near, extra)"
                    " VALUES(?, ?, ?, ?, ?, ?, ?)",
                    (row_id, *added),
                )
        self._pending.clear()

    def _give_room(self, weight: int) -> None:
        """Say how many bytes the index may hold before it writes them, so that words of a weight fit.

        It must not come to write before the transaction ends: there, a trigger on its table (see `sealing`)
        makes it write again, and so on until the process dies.
        """
        size = ROOM if weight <= ROOM // 4 else 6 * weight
        if size == self._room:
            return
        self._room = size
        self._db.execute("INSERT INTO turn_words(turn_words, rank) VALUES('hashsize', ?)", (size,))

    def forget_pending(self) -> None:
        """Drop words that belong to a transaction that was rolled back."""
        self._pending.clear()

    # -- what a session touched and named -----------------------------------------------------------

    def put_touches(self, session_id: int, touches: Iterable[Touch]) -> None:
        """Store touched files, the latest touch of each; a change outweighs a look."""
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
        """Store a hand-over note of an agent; where two sources have it, the longer text."""
        texts = (note.title, note.overview, note.work_done, note.technical_details, note.important_files,
                 note.next_steps, note.history)  # fmt: skip
        others = rows(
            self._db,
            "SELECT title, overview, work_done, technical_details, important_files, next_steps, history"
            " FROM checkpoint WHERE session_id = ? AND number = ? AND source_id != ?",
            (session.id, note.number, source_id),
        )
        if others and _weight(others[0]) > _weight(texts):
            return
        public = checkpoint_id(session.agent, session.native, note.number)
        self._db.execute(
            "INSERT OR REPLACE INTO checkpoint VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (session.id, note.number, public, *texts[:2], note.at, *texts[2:], source_id, note.status,
             note.path),
        )  # fmt: skip
        self._put_note(session, NOTE - note.number, note.at, "\n".join(filter(None, texts)))

    def clear_touches(self, session_id: int) -> None:
        """Forget what a session touched, before it is read anew."""
        self._db.execute("DELETE FROM touch WHERE session_id = ?", (session_id,))

    def clear_source(self, session: SessionState, source_id: int) -> None:
        """Forget what a source named and noted of a session, before it is read anew."""
        who = (session.id, source_id)
        self._db.execute("DELETE FROM ref WHERE session_id = ? AND source_id = ?", who)
        notes = "FROM checkpoint WHERE session_id = ? AND source_id = ?"
        for (number,) in rows(self._db, f"SELECT number {notes}", who):
            self._put_note(session, NOTE - number, 0, "")
        self._db.execute(f"DELETE {notes}", who)


def _weight(texts: tuple[str, ...]) -> tuple[int, tuple[str, ...]]:
    return sum(map(len, texts)), texts


def _whole(turn: TurnText | None) -> str:
    return "" if turn is None else f"{turn.asked}\n{turn.answered}".strip()
