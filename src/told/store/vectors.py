"""What turns mean: the vectors of their passages, and a sketch of each session that is quick to compare."""

from __future__ import annotations

from told.store.database import Transaction, rows
from told.store.fresh import TO_UNDERSTAND
from told.store.ids import NOTE, project_of_token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    import apsw

    Turn = tuple[int, str, str]  # row, asked, answered
    Place = tuple[int, int, int, int]  # row, session, n, at


class TurnVectors:
    """The tables `model`, `turn_meaning` and `sketch`. Vectors of different models are never mixed."""

    def __init__(self, connection: apsw.Connection, model: str, *, notes: bool = False) -> None:
        """Take the open store, and the model whose vectors count; with `notes` only checkpoints."""
        self._db = connection
        self._notes = notes
        self._model = model
        self._id = self._known()

    # -- looking ----------------------------------------------------------------------------------

    def is_empty(self) -> bool:
        """Tell whether no session has a sketch of this model."""
        return not rows(self._db, "SELECT 1 FROM sketch WHERE model_id = ? LIMIT 1", (self._id,))

    def counts(self) -> tuple[int, int]:
        """Return how many turns have vectors of this model, and how many turns there are."""
        own = "SELECT count(*) FROM turn_meaning WHERE model_id = ?"
        every = "SELECT count(*) FROM turn WHERE asked != '' OR answered != ''"
        return int(rows(self._db, own, (self._id,))[0][0]), int(rows(self._db, every)[0][0])

    def of(self, turns: Iterable[int]) -> dict[int, bytes]:
        """Return the vectors of turns, by row; one after the other, as they were put there."""
        listed = ", ".join(map(str, turns))
        sql = f"SELECT turn_id, vectors FROM turn_meaning WHERE turn_id IN ({listed}) AND model_id = ?"
        return dict(rows(self._db, sql, (self._id,)))

    def sketches(
        self, project: str = "", *, since: int = 0, until: int = 0, agent: str = ""
    ) -> list[tuple[bytes, bytes]]:
        """Return the (turns, signs) of all sessions, or of those that may have what is looked for."""
        conditions, values = ["k.model_id = ?"], [self._id]
        for condition, value in (
            ("s.project_id = ?", project_of_token(project)), ("s.ended >= ?", since),
            ("s.started < ?", until), ("s.agent = ?", agent),
        ):  # fmt: skip
            if value:
                conditions.append(condition)
                values.append(value)  # type: ignore[arg-type]
        join = " JOIN session s ON s.id = k.session_id" if len(values) > 1 else ""
        where = " AND ".join(conditions)
        return rows(self._db, f"SELECT k.turns, k.signs FROM sketch k{join} WHERE {where}", values)

    def places(self, turns: Sequence[int], *, since: int = 0, until: int = 0) -> list[Place]:
        """Return the (row, session, n, at) of those turns that are there and of the time that is wanted."""
        conditions = [f"id IN ({', '.join(map(str, turns))})"]
        values: list[Any] = []
        for condition, value in (("at >= ?", since), ("at < ?", until)):
            if value:
                conditions.append(condition)
                values.append(value)
        if self._notes:
            conditions.append(f"n <= {NOTE}")
        sql = f"SELECT id, session_id, n, at FROM turn WHERE {' AND '.join(conditions)}"
        return rows(self._db, sql, values)

    # -- bringing up to date ------------------------------------------------------------------------

    def waiting(self, limit: int) -> list[int]:
        """Return sessions with turns that have no vectors yet, or no sketch; the latest first."""
        found = rows(
            self._db,
            "SELECT s.id FROM fresh f JOIN session s ON s.id = f.session_id WHERE f.stage = ?"
            " ORDER BY s.ended DESC, s.id LIMIT ?",
            (TO_UNDERSTAND, limit),
        )
        return [row[0] for row in found]

    def missing(self, session_id: int) -> list[Turn]:
        """Return the (row, asked, answered) of a session's turns that have no vectors of this model."""
        return rows(
            self._db,
            "SELECT t.id, t.asked, t.answered FROM turn t LEFT JOIN turn_meaning m ON m.turn_id = t.id"
            " WHERE t.session_id = ? AND m.model_id IS NOT ? AND (t.asked != '' OR t.answered != '')",
            (session_id, self._id),
        )

    def all_of(self, session_id: int) -> list[tuple[int, bytes]]:
        """Return the (row, vectors) of a session's turns, in order."""
        return rows(
            self._db,
            "SELECT m.turn_id, m.vectors FROM turn t JOIN turn_meaning m ON m.turn_id = t.id"
            " WHERE t.session_id = ? AND m.model_id = ? ORDER BY t.n",
            (session_id, self._id),
        )

    def put(self, made: Iterable[tuple[int, str, str, bytes]]) -> None:
        """Store vectors of turns (row, asked, answered, vectors), unless the texts changed meanwhile."""
        with Transaction(self._db):
            self._id = self._id or self._added()
            self._db.executemany(
                "INSERT OR REPLACE INTO turn_meaning SELECT id, ?, ? FROM turn"
                " WHERE id = ? AND asked = ? AND answered = ?",
                ((self._id, vectors, row, asked, answered) for row, asked, answered, vectors in made),
            )

    def sketched(self, session_id: int, turns: bytes, signs: bytes, known: int) -> bool:
        """Store the sketch of a session, and strike the session off; False if its turns changed meanwhile.

        Args:
            session_id: Which session.
            turns: The row of the turn that each sign vector is of, eight bytes each.
            signs: The sign vectors.
            known: How many turns with vectors the sketch was made from.
        """
        with Transaction(self._db):
            self._id = self._id or self._added()
            if len(self.all_of(session_id)) != known or self.missing(session_id):
                return False
            self._db.execute("DELETE FROM sketch WHERE session_id = ?", (session_id,))
            if turns:
                values = (session_id, self._id, turns, signs)
                self._db.execute("INSERT INTO sketch VALUES(?, ?, ?, ?)", values)
            sql = "DELETE FROM fresh WHERE stage = ? AND session_id = ?"
            self._db.execute(sql, (TO_UNDERSTAND, session_id))
        return True

    def is_of_another(self) -> bool:
        """Tell whether there are vectors, and all of them are of other models."""
        sql = "SELECT EXISTS(SELECT 1 FROM sketch), EXISTS(SELECT 1 FROM sketch WHERE model_id = ?)"
        some, own = rows(self._db, sql, (self._id,))[0]
        return bool(some) and not own

    def queue(self, *, drop: bool) -> None:
        """Have every session looked at again; with `drop` the vectors there are go first."""
        with Transaction(self._db):
            if drop:
                self._db.execute("DELETE FROM turn_meaning; DELETE FROM sketch; DELETE FROM model")
                self._id = 0
            sql = "INSERT OR IGNORE INTO fresh SELECT ?, id FROM session"
            self._db.execute(sql, (TO_UNDERSTAND,))

    def _known(self) -> int:
        found = rows(self._db, "SELECT id FROM model WHERE name = ?", (self._model,))
        return int(found[0][0]) if found else 0

    def _added(self) -> int:
        self._db.execute("INSERT OR IGNORE INTO model(name) VALUES(?)", (self._model,))
        return self._known()
