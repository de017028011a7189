"""A store for search tests: the real full-text index, in memory."""

from __future__ import annotations

import time
from collections.abc import Sequence

import apsw

from told.search.index_text import make_extra_words, make_near_words
from told.search.rank import Hit
from told.store.sessions.match import TurnIndex

NOON = int(time.mktime((2026, 11, 5, 12, 0, 0, 0, 0, -1))) * 1000  # a Thursday, local time
DAY = 86_400_000


class FakeStore(TurnIndex):
    """Turns that tests put in, matched by SQLite itself."""

    def __init__(self) -> None:
        self.db = apsw.Connection(":memory:")
        super().__init__(self.db)
        self.db.execute(
            "CREATE TABLE turn(id INTEGER PRIMARY KEY, session_id, n, at, agent, project, asked, answered,"
            " steps, near, extra);"
            "CREATE VIRTUAL TABLE turn_words USING fts5(project, asked, answered, steps, near, extra,"
            " content='turn', content_rowid='id', tokenize='porter unicode61 remove_diacritics 2');"
            "CREATE VIRTUAL TABLE vocabulary USING fts5vocab(turn_words, row);"
        )
        self.expressions: list[str] = []

    def put(
        self,
        session: int,
        *asked: str,
        project: str = "p1",
        at: int = NOON,
        agent: str = "claude",
        answered: str = "",
    ) -> None:
        """Add a session with these turns."""
        for n, text in enumerate(asked):
            around = [asked[n - 1] if n else "", asked[n + 1] if n + 1 < len(asked) else ""]
            values = (project, text, answered, "", make_near_words(*around), make_extra_words(text, at))
            self.db.execute(
                "INSERT INTO turn(session_id, n, at, agent, project, asked, answered, steps, near, extra)"
                " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (session, n, at + n * 1000, agent, *values),
            )
            self.db.execute(
                "INSERT INTO turn_words(rowid, project, asked, answered, steps, near, extra)"
                " VALUES(last_insert_rowid(), ?, ?, ?, ?, ?, ?)",
                values,
            )

    def turn_count(self) -> int:
        return int(self.db.execute("SELECT count(*) FROM turn").get)

    def frequency(self, phrase: str, cap: int) -> int:
        sql = "SELECT count(*) FROM (SELECT 1 FROM turn_words WHERE turn_words MATCH ? LIMIT ?)"
        return int(self.db.execute(sql, (phrase, cap)).get)

    def match(
        self, expression: str, weights: Sequence[float], limit: int, *,
        since: int = 0, until: int = 0, agent: str = "", newest: int = 0,
        long_weights: Sequence[float] = (), long_from: int = 1000,
    ) -> list[Hit]:  # fmt: skip
        self.expressions.append(expression)
        marks, long_marks = ",".join(map(str, weights)), ",".join(map(str, long_weights or weights))
        share = f"min(1.0, octet_length(t.answered) / {float(long_from)})"
        return list(
            self.db.execute(
                f"SELECT t.id, t.session_id, t.n, t.at, bm25(turn_words, {marks}) * (1 - {share})"
                f" + bm25(turn_words, {long_marks}) * {share} AS score"
                " FROM turn_words JOIN turn t ON t.id = turn_words.rowid WHERE turn_words MATCH :expression"
                " AND t.at >= :since AND (:until = 0 OR t.at < :until) AND (:agent = '' OR t.agent = :agent)"
                " AND t.id >= coalesce((SELECT min(rowid) FROM (SELECT rowid FROM turn_words"
                "  WHERE :newest AND turn_words MATCH :expression ORDER BY rowid DESC LIMIT :newest)), 0)"
                " ORDER BY score, t.id DESC LIMIT :limit",
                {"expression": expression, "since": since, "until": until, "agent": agent, "newest": newest,
                 "limit": limit},
            )
        )  # fmt: skip

    def shapes(self, turns: Sequence[int]) -> list[tuple[int, tuple[int, str, bool]]]:
        sql = "SELECT asked, answered FROM turn WHERE id = ?"
        texts = [(turn, *next(iter(self.db.execute(sql, (turn,))))) for turn in turns]
        return [
            (
                turn,
                (len((asked + answered).encode()), asked[:32], not answered and asked.rstrip()[-1:] == "?"),
            )
            for turn, asked, answered in texts
        ]

    def similar_terms(self, word: str) -> list[str]:
        terms = [term for (term,) in self.db.execute("SELECT term FROM vocabulary ORDER BY term")]
        return [term for term in terms if _one_edit(word, term) or _one_edit(word[:-1], term)][:3]


def _one_edit(first: str, second: str) -> bool:
    """Tell whether words differ by one letter more, less or other, or by two that changed places."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    splits = [(first[:at], first[at:]) for at in range(len(first) + 1)]
    return second in (
        {head + tail[1:] for head, tail in splits if tail}
        | {head + tail[1] + tail[0] + tail[2:] for head, tail in splits if len(tail) > 1}
        | {head + letter + tail[1:] for head, tail in splits if tail for letter in letters}
        | {head + letter + tail for head, tail in splits for letter in letters}
    )
