"""Full-text matching over turns: frequencies of words, ranked rows, and words that are one letter away."""

from __future__ import annotations

import apsw

from told.store.database import rows
from told.store.ids import NOTE
from told.store.words import indexed_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_TOKENIZER = ["unicode61", "remove_diacritics", "2"]
# A word's neighbours are looked for among terms with the same first two letters: more is not worth the wait.
_MOST_TERMS = 20_000
_LONGEST_QUESTION = 2000  # bytes
_MOST_ASKED = 3000  # characters in which the words of a question are looked for


class Matching:
    """What the search room asks of the store."""

    def __init__(self, connection: apsw.Connection, *, notes: bool = False) -> None:
        """Take the open store; with `notes` only checkpoints match."""
        self._db = connection
        self._notes = notes

    def turn_count(self) -> int:
        """Return how many turns are indexed."""
        return indexed_rows(self._db, "turn_words")

    def frequency(self, phrase: str, cap: int) -> int:
        """Return in how many turns an FTS5 expression occurs, counting no further than `cap`."""
        found = rows(
            self._db,
            "SELECT count(*) FROM (SELECT 1 FROM turn_words WHERE turn_words MATCH ? LIMIT ?)",
            (phrase, cap),
        )
        return int(found[0][0])

    def match(
        self, expression: str, weights: Sequence[float], limit: int, *,
        since: int = 0, until: int = 0, agent: str = "", newest: int = 0,
        wordy: Sequence[float] = (), wordy_from: int = 1000,
    ) -> list[tuple[int, int, int, int, float]]:  # fmt: skip
        """Return (row, session, n, at, score) of the best matches; a lower score is better.

        With `newest` only that many of the latest matching turns are scored. With `wordy` these weights
        hold, once the best are chosen, for answers of `wordy_from` bytes, and a mixture for shorter ones.
        """
        conditions = ["turn_words MATCH ?"]
        values: list[Any] = [expression]
        if newest:
            oldest = rows(
                self._db,
                "SELECT min(rowid) FROM (SELECT rowid FROM turn_words WHERE turn_words MATCH ?"
                " ORDER BY rowid DESC LIMIT ?)",
                (expression, newest),
            )[0][0]
            conditions.append("turn_words.rowid >= ?")
            values.append(oldest or 0)
        join = ""
        if since or until or agent or self._notes:
            join = " JOIN turn t ON t.id = turn_words.rowid JOIN session s ON s.id = t.session_id"
            if self._notes:
                conditions.append(f"t.n <= {NOTE}")
            for condition, value in (("t.at >= ?", since), ("t.at < ?", until), ("s.agent = ?", agent)):
                if value:
                    conditions.append(condition)
                    values.append(value)
        ranked = (
            f"SELECT turn_words.rowid AS row, {_bm25(weights)} AS score, {_bm25(wordy or weights)} AS wordy"
            f" FROM turn_words{join}"
            f" WHERE {' AND '.join(conditions)} ORDER BY score, turn_words.rowid DESC LIMIT ?"
        )
        share = f"min(1.0, octet_length(t.answered) / {float(wordy_from)})"
        score = f"r.score + (r.wordy - r.score) * {share}" if wordy else "r.score"
        return rows(
            self._db,
            f"SELECT t.id, t.session_id, t.n, t.at, {score} FROM ({ranked}) r JOIN turn t ON t.id = r.row",
            (*values, limit),
        )

    def shapes(self, turns: Sequence[int]) -> list[tuple[int, tuple[int, str, bool]]]:
        """Return the row and the (bytes, asked, whether it is a question without an answer) of turns.

        Of what was asked, only the beginning.
        """
        found = rows(
            self._db,
            f"SELECT id, octet_length(asked) + octet_length(answered), substr(asked, 1, {_MOST_ASKED}),"
            f" octet_length(answered) = 0 AND octet_length(asked) <= {_LONGEST_QUESTION}"
            f" AND substr(rtrim(asked), -1) = '?' FROM turn WHERE id IN ({', '.join(map(str, turns))})",
        )
        return [(row, (size, asked, bool(asks))) for row, size, asked, asks in found]

    def similar_terms(self, word: str) -> list[str]:
        """Return indexed terms that are one letter away from a word, the most frequent first."""
        stem = self._stem(word)
        if len(stem) < 3:
            return []
        low, high = stem[:2], stem[:2] + "\U0010ffff"
        found = rows(
            self._db,
            "SELECT term, doc FROM turn_vocabulary WHERE term >= ? AND term < ? LIMIT ?",
            (low, high, _MOST_TERMS),
        )
        near = [(-doc, term) for term, doc in found if one_letter_apart(stem, term)]
        return list(dict.fromkeys(self._spelled(term) for _, term in sorted(near)[:3]))

    def _spelled(self, stem: str) -> str:
        """Return a word that the index has under a stem: what is stemmed twice is another stem."""
        found = rows(
            self._db,
            "SELECT t.asked, t.answered, t.steps, t.near, t.extra"
            " FROM turn_places p JOIN turn t ON t.id = p.doc WHERE p.term = ? LIMIT 1",
            (stem,),
        )
        for text in found[0] if found else ():
            content = text.encode()
            for start, end, term in self._tokens(content):
                if term == stem:
                    return str(content[start:end].decode("utf-8", "replace")).lower()
        return stem

    def _stem(self, word: str) -> str:
        found = self._tokens(word.encode())
        return str(found[0][2]) if found else ""

    def _tokens(self, text: bytes) -> list[Any]:
        """Return (start, end, stem) of each word, as the index takes a text apart."""
        tokenizer = self._db.fts5_tokenizer("porter", _TOKENIZER)
        found: Any = tokenizer(text, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_colocated=False)
        return list(found)


def _bm25(weights: Sequence[float]) -> str:
    """Return the call that scores a row with a weight for each column."""
    return f"bm25(turn_words, {', '.join(str(float(weight)) for weight in weights)})"


def one_letter_apart(first: str, second: str) -> bool:
    """Whether two words differ by one letter more, less or other, or by two that changed places."""
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
