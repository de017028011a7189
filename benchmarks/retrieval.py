"""What the benchmarks of retrieval share: corpora, told's index and a plain one, and what they cost."""

from __future__ import annotations

import argparse
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2s
from typing import NamedTuple, Protocol

import apsw

from benchmarks import CannotMeasureError
from benchmarks.retrieval_cost import Cost, forget_peak, peak_since
from told.errors import ToldError
from told.ingest.embed_job import embed_turns
from told.search.index_text import make_extra_words, make_near_words
from told.search.sessions import TurnSimilarity, search_sessions
from told.search.vectors.embedder import Embedder, load_default_embedder, load_embedder
from told.store.sessions.match import TurnIndex, TurnVectors
from told.store.sessions.read import TurnText
from told.store.sessions.schema import migrate
from told.store.sessions.write import SessionWriter

_MOST_SESSIONS = 50
TOLD, WORDS, MODEL, BASELINE = "told", "told_words", "told_model", "baseline"


class Said(NamedTuple):
    """One turn that can be found."""

    id: str
    session: str
    at: int  # ms since 1970
    asked: str
    answered: str = ""

    @property
    def text(self) -> str:
        """Return both sides as one text."""
        return f"{self.asked}\n{self.answered}" if self.answered else self.asked


class Corpus(NamedTuple):
    """Turns, the questions about them, and the moment at which each is asked."""

    said: Sequence[Said]
    questions: Sequence[tuple[str, int]]


class Answer(NamedTuple):
    """What was found: ids, the best first."""

    turns: list[str]
    sessions: list[str]


class Index(Protocol):
    """A corpus that can be asked."""

    def answer(self, question: str, now: int) -> Answer:
        """Return what answers a question that is asked at a moment."""

    def size(self) -> int:
        """Return the bytes that the index takes, the texts included."""


class Told:
    """told's own store and search, in memory."""

    def __init__(self, said: Sequence[Said]) -> None:
        """Write turns as the sessions of an agent."""
        self._db = apsw.Connection(":memory:")
        self._db.deserialize("main", _empty_store())
        self._turns: dict[tuple[int, int], str] = {}
        self._sessions: dict[int, str] = {}
        writer = SessionWriter(self._db, make_extra_words, make_near_words)
        by_session: dict[str, list[Said]] = {}
        for turn in said:
            by_session.setdefault(turn.session, []).append(turn)
        with writer.transaction():
            for name, turns in by_session.items():
                session = writer.new_session("benchmark", name)
                texts = [
                    TurnText(n, turn.at, "", turn.asked, turn.answered, "") for n, turn in enumerate(turns)
                ]
                writer.put_turns(session, texts, replace=True)
                self._sessions[session.id] = name
                self._turns.update({(session.id, n): turn.id for n, turn in enumerate(turns)})
        self._store = TurnIndex(self._db)
        self.meaning: TurnSimilarity | None = None
        embedder = self.embedder()
        if embedder is not None:
            embed_turns(self._db, embedder)
            self.meaning = TurnSimilarity(TurnVectors(self._db, embedder.model), embedder)

    def embedder(self) -> Embedder | None:
        """Return what turns texts into vectors: the table that comes with told."""
        return _remembering(load_default_embedder())

    def answer(self, question: str, now: int) -> Answer:
        """Rank turns and sessions: the only place where the benchmarks ask told."""
        found = search_sessions(self._store, question, now=now, limit=_MOST_SESSIONS, meaning=self.meaning)
        return Answer(
            [self._turns[turn.session, turn.n] for turn in found.turns],
            [self._sessions[group.session] for group in found.sessions],
        )

    def size(self) -> int:
        """Return the bytes of the store."""
        return _size(self._db)


class Words(Told):
    """The same without vectors."""

    def embedder(self) -> Embedder | None:
        """Return nothing."""
        return None


class Plain:
    """FTS5 as it comes, asked for any word of the question: the least that others can be compared with."""

    def __init__(self, said: Sequence[Said]) -> None:
        """Index the text of each turn."""
        self._db = apsw.Connection(":memory:")
        self._said = said
        self._db.execute("CREATE VIRTUAL TABLE t USING fts5(body)")
        rows = ((row, turn.text) for row, turn in enumerate(said))
        with self._db:
            self._db.executemany("INSERT INTO t (rowid, body) VALUES (?, ?)", rows)

    def answer(self, question: str, _now: int) -> Answer:
        """Rank turns by BM25, and sessions by their best turn."""
        words = dict.fromkeys(re.findall(r"[^\W_]+", question.lower()))
        query = " OR ".join(f'"{word}"' for word in words)
        rows = self._db.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank, rowid", (query,))
        found = [self._said[row] for (row,) in rows]
        return Answer([turn.id for turn in found], list(dict.fromkeys(turn.session for turn in found)))

    def size(self) -> int:
        """Return the bytes of the index."""
        return _size(self._db)


WAYS: Mapping[str, Callable[[Sequence[Said]], Index]] = {TOLD: Told, WORDS: Words, BASELINE: Plain}


def model_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that measures told with a model of the user's as well."""
    parser.add_argument("--model", default="", help="a folder with a model, to be measured beside the table")


def ways(arguments: argparse.Namespace) -> dict[str, Callable[[Sequence[Said]], Index]]:
    """Return the ways of retrieval that are measured."""
    folder = getattr(arguments, "model", "")
    if not folder:
        return dict(WAYS)
    try:
        embedder = _remembering(load_embedder(os.path.abspath(folder)))
    except ToldError as error:
        raise CannotMeasureError(str(error)) from error

    class WithModel(Told):
        """told with a model of the user's."""

        def embedder(self) -> Embedder | None:
            """Return the model."""
            return embedder

    return {TOLD: Told, MODEL: WithModel, WORDS: Words, BASELINE: Plain}


class Remembering:
    """Makes no vector twice: many corpora of a benchmark have the same sessions."""

    is_quick = True

    def __init__(self, embedder: Embedder) -> None:
        """Stand before an embedder."""
        self.model = embedder.model
        self.floor = embedder.floor
        self._embedder = embedder
        self._known: dict[tuple[str, bool], bytes | None] = {}
        self.seconds, self.texts = 0.0, 0

    def vectors(self, texts: Sequence[str], *, asking: bool = False) -> list[bytes | None]:
        """Return the vectors of texts, in order."""
        new = [text for text in dict.fromkeys(texts) if (text, asking) not in self._known]
        began = time.perf_counter()
        made = self._embedder.vectors(new, asking=asking) if new else []
        self.seconds += time.perf_counter() - began
        self.texts += len(new)
        self._known.update({(text, asking): one for text, one in zip(new, made, strict=True)})
        return [self._known[text, asking] for text in texts]


_remembered: dict[str, Remembering] = {}


def _remembering(embedder: Embedder | None) -> Remembering | None:
    if embedder is None:
        return None
    return _remembered.setdefault(embedder.model, Remembering(embedder))


def ask(way: Callable[[Sequence[Said]], Index], corpora: Iterable[Corpus]) -> tuple[list[list[Answer]], Cost]:
    """Index each corpus and ask its questions; return the answers by corpus, and what it cost."""
    answers: list[list[Answer]] = []
    ms: list[float] = []
    seconds, size = 0.0, 0
    before = forget_peak()
    for corpus in corpora:
        began = time.perf_counter()
        index = way(corpus.said)
        seconds += time.perf_counter() - began
        size += index.size()
        of_corpus = []
        for question, now in corpus.questions:
            began = time.perf_counter()
            of_corpus.append(index.answer(question, now))
            ms.append((time.perf_counter() - began) * 1000)
        answers.append(of_corpus)
    return answers, Cost(ms, seconds, size, peak_since(before))


def means(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the number of questions and the mean of each figure."""
    names = rows[0] if rows else {}
    return {
        "questions": len(rows),
        **{name: round(sum(row[name] for row in rows) / len(rows), 4) for name in names},
    }


def share(wanted: Iterable[str], found: Iterable[str]) -> float:
    """Return how much of what is wanted was found."""
    needed = frozenset(wanted)
    return len(needed.intersection(found)) / len(needed)


def tuning_part(name: str, parts: int) -> bool:
    """Tell whether a question is one of the n-th part that choices may be made on; the same everywhere."""
    return int(blake2s(name.encode()).hexdigest()[:8], 16) % parts == 0


def _empty_store() -> bytes:
    """Return a store without sessions: copying one is quicker than making its tables again."""
    if not _EMPTY:
        database = apsw.Connection(":memory:")
        migrate(database)
        _EMPTY.append(bytes(database.serialize("main")))
    return _EMPTY[0]


_EMPTY: list[bytes] = []


def _size(database: apsw.Connection) -> int:
    return int(database.pragma("page_count")) * int(database.pragma("page_size"))
