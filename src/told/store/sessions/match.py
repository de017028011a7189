"""Match turns against the full-text index and store their vectors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import apsw

from told.store.database import (
    TOKENIZER,
    Queries,
    count_indexed_rows,
    format_bm25,
    join_conditions,
    transaction,
)
from told.store.fts import match_any, match_in, quote_phrase
from told.store.sessions.facts import TO_EMBED
from told.store.sessions.schema import FIRST_NOTE, parse_project_token

# Similar terms share the first two letters; looking at more is too slow.
_MAX_TERMS = 20_000
MAX_QUESTION = 2000  # bytes
MAX_ASKED = 3000  # characters

Turn = tuple[int, str, str]  # row, asked, answered
Place = tuple[int, int, int, int]  # row, session, n, at


class TurnIndex(Queries):
    """Full-text queries over turns; with `notes` only over checkpoints."""

    def __init__(self, connection: apsw.Connection, *, notes: bool = False) -> None:
        super().__init__(connection)
        self._notes = notes

    def turn_count(self) -> int:
        """Return how many turns are indexed."""
        return count_indexed_rows(self._db, "turn_words")

    def frequency(self, phrase: str, cap: int) -> int:
        """Count the turns that match an expression, up to `cap`."""
        sql = "SELECT count(*) FROM (SELECT 1 FROM turn_words WHERE turn_words MATCH ? LIMIT ?)"
        return int(self._fetch_value(sql, (phrase, cap)))

    def match(
        self, expression: str, weights: Sequence[float], limit: int, *,
        since: int = 0, until: int = 0, agent: str = "", newest: int = 0,
        long_weights: Sequence[float] = (), long_from: int = 1000,
    ) -> list[tuple[int, int, int, int, float]]:  # fmt: skip
        """Return (row, session, n, at, score) of the best matches; a lower score is better.

        `newest`: score only so many of the newest matches. `long_weights`: for answers of `long_from` bytes;
        shorter ones get a mixture.
        """
        where, values = join_conditions(("t.at >= ?", since), ("t.at < ?", until), ("s.agent = ?", agent))
        if self._notes:
            where += f" AND t.n <= {FIRST_NOTE}"
        tables = " JOIN turn t ON t.id = turn_words.rowid JOIN session s ON s.id = t.session_id"
        join = tables if where else ""
        if newest:
            sql = (
                "SELECT min(rowid) FROM (SELECT rowid FROM turn_words WHERE turn_words MATCH ?"
                " ORDER BY rowid DESC LIMIT ?)"
            )
            where += " AND turn_words.rowid >= ?"
            values.append(self._fetch_value(sql, (expression, newest)) or 0)
        long_score = format_bm25("turn_words", long_weights or weights)
        ranked = (
            f"SELECT turn_words.rowid AS row, {format_bm25('turn_words', weights)} AS score,"
            f" {long_score} AS long FROM turn_words{join}"
            f" WHERE turn_words MATCH ?{where} ORDER BY score, turn_words.rowid DESC LIMIT ?"
        )
        share = f"min(1.0, octet_length(t.answered) / {float(long_from)})"
        score = f"r.score + (r.long - r.score) * {share}" if long_weights else "r.score"
        return self._fetch(
            f"SELECT t.id, t.session_id, t.n, t.at, {score} FROM ({ranked}) r JOIN turn t ON t.id = r.row",
            (expression, *values, limit),
        )

    def find_prompts(
        self, phrases: Sequence[str], parts: Sequence[str]
    ) -> list[tuple[str, int, int, str, str]]:
        """Return (native session, n, at, project key, text) of users' prompts with a phrase.

        Args:
            phrases: Matched by whole words.
            parts: Matched anywhere, for languages without spaces.
        """
        likes = " OR ".join("instr(t.asked, ?)" for _ in parts)
        return self._fetch(
            "SELECT s.native, t.n, t.at, coalesce(p.key, ''), t.asked FROM turn t"
            " JOIN session s ON s.id = t.session_id LEFT JOIN project p ON p.id = s.project_id"
            " WHERE s.kind = '' AND t.n >= 0 AND (t.id IN"
            f" (SELECT rowid FROM turn_words WHERE turn_words MATCH ?) OR {likes}) ORDER BY t.id",
            (match_in("asked", match_any(map(quote_phrase, phrases))), *parts),
        )

    def session_projects(self) -> dict[str, str]:
        """Return the project keys of sessions by their native ids."""
        sql = "SELECT s.native, p.key FROM session s JOIN project p ON p.id = s.project_id"
        return dict(self._fetch(sql))

    def shapes(self, turns: Sequence[int]) -> list[tuple[int, tuple[int, str, bool]]]:
        """Return (row, (bytes, start of the question, is it unanswered)) of turns."""
        found = self._fetch(
            f"SELECT id, octet_length(asked) + octet_length(answered), substr(asked, 1, {MAX_ASKED}),"
            f" octet_length(answered) = 0 AND octet_length(asked) <= {MAX_QUESTION}"
            f" AND substr(rtrim(asked), -1) = '?' FROM turn WHERE id IN ({', '.join(map(str, turns))})"
        )
        return [(row, (size, asked, bool(asks))) for row, size, asked, asks in found]

    def texts(self, turns: Sequence[int], *, of_told: bool = False) -> dict[int, tuple[str, str, str]]:
        """Return (asked, answered, steps) of turns by row; `of_told`: only turns that may have asked told."""
        where = " AND (instr(steps, 'told') OR instr(asked, '/mem:'))" if of_told else ""
        listed = ", ".join(map(str, turns))
        found = self._fetch(f"SELECT id, asked, answered, steps FROM turn WHERE id IN ({listed}){where}")
        return {row: (asked, answered, steps) for row, asked, answered, steps in found}

    def similar_terms(self, word: str) -> list[str]:
        """Return indexed words one edit away from a word, most frequent first."""
        tokens = self._tokenize(word.encode())
        stem = str(tokens[0][2]) if tokens else ""
        if len(stem) < 3:
            return []
        sql = "SELECT term, doc FROM turn_vocabulary WHERE term >= ? AND term < ? LIMIT ?"
        found = self._fetch(sql, (stem[:2], stem[:2] + "\U0010ffff", _MAX_TERMS))
        near = [(-doc, term) for term, doc in found if differ_by_one_edit(stem, term)]
        return list(dict.fromkeys(self._find_spelling(term) for _, term in sorted(near)[:3]))

    def _find_spelling(self, stem: str) -> str:
        """Return a word with a stem: stemming the stem again may change it."""
        sql = (
            "SELECT t.asked, t.answered, t.steps, t.near, t.extra"
            " FROM turn_places p JOIN turn t ON t.id = p.doc WHERE p.term = ? LIMIT 1"
        )
        found = self._fetch(sql, (stem,))
        for text in found[0] if found else ():
            content = text.encode()
            for start, end, term in self._tokenize(content):
                if term == stem:
                    return str(content[start:end].decode("utf-8", "replace")).lower()
        return stem

    def _tokenize(self, text: bytes) -> list[Any]:
        """Return (start, end, stem) of each word, as the index splits a text."""
        name, *arguments = TOKENIZER.split()
        tokenizer = self._db.fts5_tokenizer(name, arguments)
        found: Any = tokenizer(text, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_colocated=False)
        return list(found)


def differ_by_one_edit(first: str, second: str) -> bool:
    """Tell whether words differ by one letter, or by two swapped ones."""
    if abs(len(first) - len(second)) > 1 or first == second:
        return False
    if len(first) > len(second):
        first, second = second, first
    start = 0
    while start < len(first) and first[start] == second[start]:
        start += 1
    if len(first) < len(second):
        return first[start:] == second[start + 1 :]
    if first[start + 1 :] == second[start + 1 :]:
        return True
    return (
        first[start : start + 2] == second[start : start + 2][::-1]
        and first[start + 2 :] == second[start + 2 :]
    )


class TurnVectors(Queries):
    """The tables `model`, `turn_meaning` and `sketch`, for one model."""

    def __init__(self, connection: apsw.Connection, model: str, *, notes: bool = False) -> None:
        super().__init__(connection)
        self._notes = notes
        self._model = model
        self._id = self._find_model()

    def is_empty(self) -> bool:
        """Tell whether no session has a sketch of this model."""
        return not self._fetch("SELECT 1 FROM sketch WHERE model_id = ? LIMIT 1", (self._id,))

    def counts(self) -> tuple[int, int]:
        """Return how many turns have vectors of this model, and how many there are."""
        own = "SELECT count(*) FROM turn_meaning WHERE model_id = ?"
        every = "SELECT count(*) FROM turn WHERE asked != '' OR answered != ''"
        return int(self._fetch_value(own, (self._id,))), int(self._fetch_value(every))

    def of(self, turns: Iterable[int]) -> dict[int, bytes]:
        """Return the packed vectors of turns by row."""
        listed = ", ".join(map(str, turns))
        sql = f"SELECT turn_id, vectors FROM turn_meaning WHERE turn_id IN ({listed}) AND model_id = ?"
        return dict(self._fetch(sql, (self._id,)))

    def sketches(
        self, project: str = "", *, since: int = 0, until: int = 0, agent: str = ""
    ) -> list[tuple[bytes, bytes]]:
        """Return the (turns, signs) of the sessions that may match."""
        where, values = join_conditions(
            ("s.project_id = ?", parse_project_token(project)),
            ("s.ended >= ?", since),
            ("s.started < ?", until),
            ("s.agent = ?", agent),
        )
        join = " JOIN session s ON s.id = k.session_id" if where else ""
        sql = f"SELECT k.turns, k.signs FROM sketch k{join} WHERE k.model_id = ?{where}"
        return self._fetch(sql, (self._id, *values))

    def places(self, turns: Sequence[int], *, since: int = 0, until: int = 0) -> list[Place]:
        """Return the (row, session, n, at) of those turns that match."""
        where, values = join_conditions(("at >= ?", since), ("at < ?", until))
        if self._notes:
            where += f" AND n <= {FIRST_NOTE}"
        listed = ", ".join(map(str, turns))
        return self._fetch(f"SELECT id, session_id, n, at FROM turn WHERE id IN ({listed}){where}", values)

    def waiting(self, limit: int) -> list[int]:
        """Return sessions without vectors or sketch, the latest first."""
        sql = (
            "SELECT s.id FROM fresh f JOIN session s ON s.id = f.session_id WHERE f.stage = ?"
            " ORDER BY s.ended DESC, s.id LIMIT ?"
        )
        return self._fetch_column(sql, (TO_EMBED, limit))

    def missing(self, session_id: int) -> list[Turn]:
        """Return the (row, asked, answered) of a session's turns without vectors."""
        return self._fetch(
            "SELECT t.id, t.asked, t.answered FROM turn t LEFT JOIN turn_meaning m ON m.turn_id = t.id"
            " WHERE t.session_id = ? AND m.model_id IS NOT ? AND (t.asked != '' OR t.answered != '')",
            (session_id, self._id),
        )

    def all_of(self, session_id: int) -> list[tuple[int, bytes]]:
        """Return the (row, vectors) of a session's turns in order."""
        return self._fetch(
            "SELECT m.turn_id, m.vectors FROM turn t JOIN turn_meaning m ON m.turn_id = t.id"
            " WHERE t.session_id = ? AND m.model_id = ? ORDER BY t.n",
            (session_id, self._id),
        )

    def put(self, made: Iterable[tuple[int, str, str, bytes]]) -> None:
        """Store (row, asked, answered, vectors) of turns whose texts are unchanged."""
        with transaction(self._db):
            self._id = self._id or self._add_model()
            self._db.executemany(
                "INSERT OR REPLACE INTO turn_meaning SELECT id, ?, ? FROM turn"
                " WHERE id = ? AND asked = ? AND answered = ?",
                ((self._id, vectors, row, asked, answered) for row, asked, answered, vectors in made),
            )

    def put_sketch(self, session_id: int, turns: bytes, signs: bytes, known: int) -> bool:
        """Store a session's sketch and dequeue it; False if its `known` turns changed meanwhile."""
        with transaction(self._db):
            self._id = self._id or self._add_model()
            if len(self.all_of(session_id)) != known or self.missing(session_id):
                return False
            self._db.execute("DELETE FROM sketch WHERE session_id = ?", (session_id,))
            if turns:
                values = (session_id, self._id, turns, signs)
                self._db.execute("INSERT INTO sketch VALUES(?, ?, ?, ?)", values)
            self._db.execute("DELETE FROM fresh WHERE stage = ? AND session_id = ?", (TO_EMBED, session_id))
        return True

    def has_only_other_models(self) -> bool:
        """Tell whether all existing vectors are of other models."""
        sql = "SELECT EXISTS(SELECT 1 FROM sketch), EXISTS(SELECT 1 FROM sketch WHERE model_id = ?)"
        some, own = self._fetch(sql, (self._id,))[0]
        return bool(some) and not own

    def queue(self, *, drop: bool) -> None:
        """Queue every session; with `drop` delete all vectors first."""
        with transaction(self._db):
            if drop:
                self._db.execute("DELETE FROM turn_meaning; DELETE FROM sketch; DELETE FROM model")
                self._id = 0
            self._db.execute("INSERT OR IGNORE INTO fresh SELECT ?, id FROM session", (TO_EMBED,))

    def _find_model(self) -> int:
        found = self._fetch("SELECT id FROM model WHERE name = ?", (self._model,))
        return int(found[0][0]) if found else 0

    def _add_model(self) -> int:
        self._db.execute("INSERT OR IGNORE INTO model(name) VALUES(?)", (self._model,))
        return self._find_model()
