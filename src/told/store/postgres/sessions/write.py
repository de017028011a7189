"""Store sessions that people push, with the words by which they are found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from told.errors import MissingError, NotFoundError, UsageError
from told.hashing import blake2s
from told.model import Checkpoint, Ref, Touch
from told.store.database import public_id
from told.store.postgres.database import Connection, Viewer
from told.store.postgres.fts import format_tsvector
from told.store.postgres.sessions.queries import TeamQueries, clean, project_number
from told.store.sessions.read import TurnText
from told.store.sessions.schema import (
    FIRST_NOTE,
    TITLE,
    checkpoint_id,
    checkpoint_number,
    is_checkpoint_id,
    project_token,
)
from told.store.sessions.write import NOTE_TEXTS

_MAX_ID = 500  # characters of an agent's name and its id of a session
_PUBLIC_LENGTHS = (7, 9, 12, 16)
_OF_SESSION = "WHERE team = %(team)s AND session = %(session)s"
_STORED = f"SELECT n, at, asked, answered, steps, size FROM turn {_OF_SESSION}"


class PushedSession(NamedTuple):
    """A session as its owner describes it."""

    agent: str
    native: str
    project: str = ""  # its key, the same on all machines
    project_name: str = ""
    title: str = ""
    title_by: str = ""
    summary: str = ""
    cwd: str = ""
    part: str = ""  # folder inside the project
    branch: str = ""
    started: int = 0
    ended: int = 0
    kind: str = ""  # "subagent" for a helper's session
    parent: str = ""
    model: str = ""
    shared: bool = False  # whether the team sees it


class _StoredTurn(NamedTuple):
    """An indexed turn."""

    n: int
    at: int
    asked: str
    answered: str
    steps: str
    size: int  # words


class _SessionState(NamedTuple):
    """What the writer needs of a stored session."""

    session: int
    project: int
    title: str
    started: int
    shared: bool
    public: str
    agent: str
    native: str


class TeamSessionWriter(TeamQueries):
    """Writes the sessions of one person, inside a transaction that sees what the person may see."""

    def __init__(
        self, connection: Connection, viewer: Viewer,
        words: Callable[[str, int], str], near: Callable[[str, str], str],
    ) -> None:  # fmt: skip
        """Take the functions that make a turn's extra and neighbouring words."""
        super().__init__(connection, viewer)
        self._words = words
        self._near = near
        self._is_alone = False

    def lock(self) -> None:
        """Let one transaction at a time write a person's sessions."""
        if not self._is_alone:
            sql = "SELECT pg_advisory_xact_lock(hashtextextended(%(team)s || ' ' || %(person)s, 0))"
            self._fetch(sql)
            self._is_alone = True

    def put_session(self, pushed: PushedSession) -> int:
        """Create a session, or change it to what its owner says now; return its number."""
        pushed = PushedSession(*map(clean, pushed))
        if not pushed.native or len(pushed.agent + pushed.native) > _MAX_ID:
            raise UsageError(f"A session's id has 1 to {_MAX_ID} characters. Push it under another one.")
        self.lock()
        known = self._find(
            "agent = %(agent)s AND native = %(native)s", agent=pushed.agent, native=pushed.native
        )
        if known is None:
            known = self._create(pushed)
        number = project_number(pushed.project)
        names = [name for name in PushedSession._fields if name not in ("agent", "native", "project")]
        self._execute(
            f"UPDATE session SET {', '.join(f'{name} = %({name})s' for name in names)},"
            f" project = %(number)s, project_key = %(project)s {_OF_SESSION}",
            **{**pushed._asdict(), "number": number, "session": known.session},
        )
        if known.shared != pushed.shared:
            self._move_totals(known.session, shared=pushed.shared)
        state = known._replace(
            project=number, title=pushed.title, started=pushed.started, shared=pushed.shared
        )
        if known.project != number:
            turns = self._stored(state.session, "AND n != %(title)s", title=TITLE)
            self._index(state, turns, turns.keys(), turns)
        if known.title != pushed.title or known.project != number:
            self._put_note(state, TITLE, pushed.started, pushed.title)
        self._update_times(known.session)
        return known.session

    def put_turns(self, session_id: int, turns: Sequence[TurnText]) -> int:
        """Store turns by their numbers; return how many were new or different."""
        session = self._own(session_id)
        batch = {turn.n: _clean_turn(turn) for turn in turns}
        around = sorted({n + step for n in batch for step in range(-2, 3)})  # neighbours of neighbours
        stored = self._stored(session_id, "AND n = ANY(%(numbers)s) AND n >= 0", numbers=around)
        changed = {n for n, turn in batch.items() if n not in stored or stored[n]._replace(size=0) != turn}
        beside = {n + step for n in changed for step in (-1, 1)} & (batch.keys() | stored.keys())
        if changed:
            self._index(session, stored | batch, changed | beside, stored)
            self._update_times(session_id)
        return len(changed)

    def put_touches(self, session_id: int, touches: Iterable[Touch]) -> None:
        """Store the latest touch of each file; a change outranks a read."""
        self._own(session_id)
        self._execute_many(
            """INSERT INTO touch(team, session, path, how, at, path_hash)
            VALUES(%(team)s, %(session)s, %(path)s, %(how)s, %(at)s, %(hash)s)
            ON CONFLICT (team, session, path_hash) DO UPDATE SET
              how = CASE WHEN excluded.how = 'read' THEN touch.how ELSE excluded.how END,
              at = greatest(touch.at, excluded.at)""",
            (
                {
                    "session": session_id,
                    "path": one.path,
                    "how": one.how,
                    "at": one.at,
                    "hash": _hash(one.path),
                }
                for one in touches
            ),
        )

    def put_refs(self, session_id: int, refs: Iterable[Ref]) -> None:
        """Store commits, pull requests and issues that a session names."""
        self._own(session_id)
        self._execute_many(
            """INSERT INTO ref(team, session, kind, value, at, value_hash)
            VALUES(%(team)s, %(session)s, %(kind)s, %(value)s, %(at)s, %(hash)s)
            ON CONFLICT (team, session, kind, value_hash) DO UPDATE SET
              at = least(ref.at, excluded.at)""",
            (
                {"session": session_id, "kind": one.kind, "value": one.value, "at": one.at,
                 "hash": _hash(one.value)}
                for one in refs
            ),
        )  # fmt: skip

    def put_checkpoint(self, session_id: int, note: Checkpoint) -> str:
        """Store a checkpoint; return its id."""
        session = self._own(session_id)
        if note.id and not is_checkpoint_id(note.id):
            raise UsageError(f'"{note.id}" is no id of a checkpoint. Leave it out, or use told\'s.')
        number = checkpoint_number(note.id) if note.id else note.number
        public = checkpoint_id(session.agent, session.native, number)
        texts = {name: getattr(note, name) for name in NOTE_TEXTS}
        names = ("public", *NOTE_TEXTS, "at", "status", "path")
        self._execute(
            f"INSERT INTO checkpoint(team, session, number, {', '.join(names)})"
            f" VALUES(%(team)s, %(session)s, %(number)s, {', '.join(f'%({name})s' for name in names)})"
            " ON CONFLICT (team, session, number) DO UPDATE SET"
            f" {', '.join(f'{name} = excluded.{name}' for name in names)}",
            session=session_id, number=number, public=public, at=note.at, status=note.status, path=note.path,
            **texts,
        )  # fmt: skip
        self._put_note(session, FIRST_NOTE - number, note.at, "\n".join(filter(None, texts.values())))
        self._update_times(session_id)
        return public

    def find(self, agent: str, native: str) -> int:
        """Return the number of a session of the person; 0 if there is none."""
        found = self._find("agent = %(agent)s AND native = %(native)s", agent=agent, native=native)
        return found.session if found else 0

    def put_title(self, session_id: int, title: str, summary: str) -> None:
        """Replace the title and the summary of a session."""
        session = self._own(session_id)
        self._execute(
            f"UPDATE session SET title = %(title)s, summary = %(summary)s {_OF_SESSION}",
            session=session_id, title=title, summary=summary,
        )  # fmt: skip
        self._put_note(session, TITLE, session.started, title)

    def put_status(self, public: str, status: str) -> bool:
        """Change the status of a checkpoint of the person; False if there is none."""
        self.lock()
        sql = "UPDATE checkpoint SET status = %(status)s WHERE team = %(team)s AND public = %(public)s"
        return bool(self._execute(sql, public=public, status=status).rowcount)

    def delete_checkpoint(self, public: str) -> bool:
        """Delete a checkpoint of the person; False if there is none."""
        self.lock()
        sql = "DELETE FROM checkpoint WHERE team = %(team)s AND public = %(public)s RETURNING session, number"
        found = self._fetch(sql, public=public)
        for session_id, number in found:
            self._put_note(self._own(session_id), FIRST_NOTE - number, 0, "")
            self._update_times(session_id)
        return bool(found)

    def delete_session(self, session_id: int) -> bool:
        """Delete a session of the person and all that belongs to it; False if there is none."""
        self.lock()
        state = self._find("session = %(session)s", session=session_id)
        if state is None:
            return False
        turns, words = self._size(session_id)
        self._execute(f"DELETE FROM session {_OF_SESSION} AND owner = %(person)s", session=session_id)
        self._add_total(-turns, -words, shared=state.shared)
        return True

    def _create(self, pushed: PushedSession) -> _SessionState:
        # A colleague's session may have the same native id, and the id that is made of it.
        for owner in ((), (self._viewer.person,)):
            for length in _PUBLIC_LENGTHS:
                self._execute(
                    """INSERT INTO session(team, owner, public, agent, native, shared)
                    VALUES(%(team)s, %(person)s, %(public)s, %(agent)s, %(native)s, %(shared)s)
                    ON CONFLICT DO NOTHING""",
                    public=public_id("s", *owner, pushed.agent, pushed.native, length=length),
                    agent=pushed.agent, native=pushed.native, shared=pushed.shared,
                )  # fmt: skip
                created = self._find(
                    "agent = %(agent)s AND native = %(native)s", agent=pushed.agent, native=pushed.native
                )
                if created is not None:
                    return created
        raise MissingError(f"The session {pushed.native} cannot be stored. Push it under another id.")

    def _find(self, where: str, **values: object) -> _SessionState | None:
        """Return a session of the person."""
        sql = (
            "SELECT session, project, title, started, shared, public, agent, native FROM session"
            f" WHERE team = %(team)s AND owner = %(person)s AND {where}"
        )
        return next(iter(self._fetch_all(_SessionState, sql, **values)), None)

    def _own(self, session_id: int) -> _SessionState:
        self.lock()
        found = self._find("session = %(session)s", session=session_id)
        if found is None:
            raise NotFoundError("You have no such session. Push it first.")
        return found

    def _stored(self, session_id: int, where: str, **values: object) -> dict[int, _StoredTurn]:
        found = self._fetch_all(_StoredTurn, f"{_STORED} {where}", session=session_id, **values)
        return {turn.n: turn for turn in found}

    def _index(
        self, session: _SessionState, turns: Mapping[int, _StoredTurn], numbers: Iterable[int],
        stored: Mapping[int, _StoredTurn],
    ) -> None:  # fmt: skip
        """Write turns with their words; `stored`: those that are replaced."""
        marks = (project_token(session.project),)
        added = grown = 0
        rows = []
        for n in sorted(numbers):
            turn = turns[n]
            before, after = (_join_texts(turns.get(one)) if n >= 0 else "" for one in (n - 1, n + 1))
            near = self._near(before if n > 0 else "", after)
            extra = self._words(f"{turn.asked}\n{turn.answered}", turn.at)
            columns = (
                ("A", turn.asked), ("B", turn.answered), ("C", turn.steps), ("D", near), ("A", extra),
            )  # fmt: skip
            vector = format_tsvector(columns, marks)
            size = len(marks) + vector.count(":") + vector.count(",")
            rows.append({**turn._asdict(), "session": session.session, "size": size, "words": vector})
            added += n not in stored
            grown += size - (stored[n].size if n in stored else 0)
        self._execute_many(
            """INSERT INTO turn(team, session, n, at, asked, answered, steps, size, words)
            VALUES(%(team)s, %(session)s, %(n)s, %(at)s, %(asked)s, %(answered)s, %(steps)s, %(size)s,
              %(words)s::tsvector)
            ON CONFLICT (team, session, n) DO UPDATE SET at = excluded.at, asked = excluded.asked,
              answered = excluded.answered, steps = excluded.steps, size = excluded.size,
              words = excluded.words""",
            rows,
        )
        self._add_total(added, grown, shared=session.shared)

    def _put_note(self, session: _SessionState, n: int, at: int, text: str) -> None:
        """Index a title or a checkpoint; without text, remove it."""
        text = clean(text)
        stored = self._stored(session.session, "AND n = %(number)s", number=n)
        if text:
            self._index(session, {n: _StoredTurn(n, at, "", text, "", 0)}, (n,), stored)
        elif n in stored:
            self._execute(f"DELETE FROM turn {_OF_SESSION} AND n = %(n)s", session=session.session, n=n)
            self._add_total(-1, -stored[n].size, shared=session.shared)

    def _size(self, session_id: int) -> tuple[int, int]:
        sql = f"SELECT count(*), coalesce(sum(size), 0) FROM turn {_OF_SESSION}"
        turns, words = self._fetch(sql, session=session_id)[0]
        return int(turns), int(words)

    def _move_totals(self, session_id: int, *, shared: bool) -> None:
        turns, words = self._size(session_id)
        self._add_total(-turns, -words, shared=not shared)
        self._add_total(turns, words, shared=shared)

    def _add_total(self, turns: int, words: int, *, shared: bool) -> None:
        self._execute(
            """INSERT INTO turn_total(team, owner, shared, turns, words)
            VALUES(%(team)s, %(person)s, %(shared)s, %(turns)s, %(words)s)
            ON CONFLICT (team, owner, shared) DO UPDATE SET
              turns = turn_total.turns + excluded.turns, words = turn_total.words + excluded.words""",
            turns=turns, words=words, shared=shared,
        )  # fmt: skip

    def _update_times(self, session_id: int) -> None:
        """Update a session's number of turns, and its times by those of its turns."""
        self._execute(
            f"""UPDATE session SET turns = found.turns, ended = greatest(ended, started, found.last),
              started = CASE WHEN started > 0 THEN started ELSE coalesce(found.first, 0) END
            FROM (SELECT count(*) AS turns, max(at) AS last, min(at) FILTER (WHERE at > 0) AS first
              FROM turn {_OF_SESSION} AND n >= 0) AS found
            WHERE session.team = %(team)s AND session.session = %(session)s""",
            session=session_id,
        )


def _hash(text: str) -> bytes:
    """Return the key of a text that may be longer than an index takes."""
    return blake2s(clean(text).encode(), digest_size=16).digest()


def _clean_turn(turn: TurnText) -> _StoredTurn:
    asked, answered, steps = map(clean, turn.texts)
    return _StoredTurn(turn.n, turn.at, asked, answered, steps, 0)


def _join_texts(turn: _StoredTurn | None) -> str:
    return "" if turn is None else f"{turn.asked}\n{turn.answered}".strip()
