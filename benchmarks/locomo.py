"""How much of the evidence for LoCoMo's questions is found, without any model reading the result."""

from __future__ import annotations

import gzip
import json
import re
import time
from typing import NamedTuple

import apsw

from benchmarks import CannotMeasureError
from told.search.index_text import extra_words, near_words
from told.search.sessions import search
from told.store.matching import Matching
from told.store.schema import migrate
from told.store.writing import TurnText, Writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

TYPES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_TUNING = 5  # chats; the others are held apart

HOW = (
    "Each chat is one corpus: its turns (with image captions) are ranked for each of its questions. "
    "turn@k is the share of a question's evidence turns among the first k, all@5 whether every chat "
    "session with evidence is among the first five, sessions ranked by their best turn; all are means "
    "over questions. Choices may be made on the tuning half (the first five chats) only. The baseline "
    "asks FTS5 for any word of the question."
)


class Turn(NamedTuple):
    """One turn of a chat."""

    id: str
    session: int
    speaker: str
    text: str
    date: str


class Question(NamedTuple):
    """A question with the turns that answer it."""

    text: str
    type: str
    evidence: frozenset[str]


class Chat(NamedTuple):
    """A chat of many sessions and the questions about it."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


class Score(NamedTuple):
    """How well one question was answered."""

    chat: int
    type: str
    turn_5: float
    turn_10: float
    all_5: float


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Score told's retrieval, and a plain full-text search beside it."""
    if not arguments.data:
        raise CannotMeasureError("Give the data set as --data locomo10.json.gz.")
    chats = load(arguments.data)
    ways: dict[str, Callable[[Sequence[Turn], Sequence[str]], list[list[str]]]] = {
        "told": retrieve,
        "baseline": baseline,
    }
    if arguments.quick:
        chats = chats[:2]
    figures: dict[str, Any] = {
        "benchmark": "locomo",
        "chats": len(chats),
        "turns": sum(len(chat.turns) for chat in chats),
        "questions": sum(len(chat.questions) for chat in chats),
    }
    for name, way in ways.items():
        figures[name] = summary(score(chats, way))
    figures["how"] = HOW
    return figures


def retrieve(turns: Sequence[Turn], questions: Sequence[str]) -> list[list[str]]:
    """Rank a chat's turns for each question with told's store and search: the ids, best first."""
    database = apsw.Connection(":memory:")
    migrate(database)
    writer = Writer(database, extra_words, near_words)
    ids: dict[tuple[int, int], str] = {}
    with writer.transaction():
        for number in dict.fromkeys(turn.session for turn in turns):
            session = writer.new_session("locomo", str(number))
            said = [turn for turn in turns if turn.session == number]
            texts = [
                TurnText(n, _moment(turn.date) + n * 60_000, "", turn.text, "", "")
                for n, turn in enumerate(said)
            ]
            writer.put_turns(session, texts, replace=True)
            ids.update({(session.id, n): turn.id for n, turn in enumerate(said)})
    last = max(_moment(turn.date) for turn in turns) + 86_400_000
    store = Matching(database)
    return [
        [ids[turn.session, turn.n] for turn in search(store, question, now=last).turns]
        for question in questions
    ]


def _moment(date: str) -> int:
    """Read a date such as `1:56 pm on 8 May, 2023`, in milliseconds of local time."""
    if not date:
        return 0
    return int(time.mktime(time.strptime(date, "%I:%M %p on %d %B, %Y"))) * 1000


def baseline(turns: Sequence[Turn], questions: Sequence[str]) -> list[list[str]]:
    """Rank a chat's turns for each question by BM25 over any of its words."""
    database = apsw.Connection(":memory:")
    database.execute("CREATE VIRTUAL TABLE t USING fts5(body)")
    database.executemany(
        "INSERT INTO t (rowid, body) VALUES (?, ?)", ((row, turn.text) for row, turn in enumerate(turns))
    )
    ranked = []
    for question in questions:
        words = dict.fromkeys(re.findall(r"[^\W_]+", question.lower()))
        query = " OR ".join(f'"{word}"' for word in words)
        rows = database.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank, rowid", (query,))
        ranked.append([turns[row].id for (row,) in rows])
    return ranked


def load(path: str) -> list[Chat]:
    """Read LoCoMo as published. Questions without usable evidence are left out."""
    try:
        with (
            gzip.open(path, "rt", encoding="utf-8")
            if path.endswith(".gz")
            else open(path, encoding="utf-8") as file
        ):
            published = json.load(file)
    except (OSError, ValueError) as error:
        raise CannotMeasureError(f"{path} cannot be read as LoCoMo: {error}") from error
    return [_chat(chat) for chat in published]


def score(
    chats: Iterable[Chat], way: Callable[[Sequence[Turn], Sequence[str]], list[list[str]]]
) -> list[Score]:
    """Score one way of retrieval on every question."""
    scores = []
    for number, chat in enumerate(chats):
        sessions = {turn.id: turn.session for turn in chat.turns}
        ranked = way(chat.turns, [question.text for question in chat.questions])
        for question, ids in zip(chat.questions, ranked, strict=True):
            wanted = {sessions[turn] for turn in question.evidence}
            first = list(dict.fromkeys(sessions[turn] for turn in ids))[:5]
            scores.append(
                Score(
                    number,
                    question.type,
                    _share(question.evidence, ids[:5]),
                    _share(question.evidence, ids[:10]),
                    float(wanted <= set(first)),
                )
            )
    return scores


def summary(scores: Sequence[Score]) -> dict[str, Any]:
    """Take the means: over all, over each half, and by the type of question."""
    return {
        "all": _means(scores),
        "tuning half": _means([one for one in scores if one.chat < _TUNING]),
        "held-apart half": _means([one for one in scores if one.chat >= _TUNING]),
        **{kind: _means([one for one in scores if one.type == kind]) for kind in TYPES.values()},
    }


def _means(scores: Sequence[Score]) -> dict[str, float]:
    count = len(scores)
    return {
        "questions": count,
        "turn@5": round(sum(one.turn_5 for one in scores) / max(1, count), 4),
        "turn@10": round(sum(one.turn_10 for one in scores) / max(1, count), 4),
        "all@5": round(sum(one.all_5 for one in scores) / max(1, count), 4),
    }


def _share(wanted: frozenset[str], found: Sequence[str]) -> float:
    return len(wanted.intersection(found)) / len(wanted)


def _chat(published: dict[str, Any]) -> Chat:
    conversation = published["conversation"]
    turns: list[Turn] = []
    for name in conversation:
        if match := re.fullmatch(r"session_(\d+)", name):
            date = str(conversation.get(f"{name}_date_time", ""))
            turns += [_turn(turn, int(match[1]), date) for turn in conversation[name]]
    known = {turn.id for turn in turns}
    questions = []
    for question in published["qa"]:
        # Some evidence holds several ids in one text, or writes one as D:11:26 or D30:05.
        ids = re.findall(r"D:?(\d+):0*(\d+)", " ".join(question.get("evidence") or ()))
        evidence = frozenset(f"D{session}:{number}" for session, number in ids) & known
        if evidence:
            questions.append(Question(question["question"], TYPES[question["category"]], evidence))
    return Chat(str(published.get("sample_id", "")), tuple(turns), tuple(questions))


def _turn(turn: dict[str, Any], session: int, date: str) -> Turn:
    text = f"{turn['speaker']}: {turn['text']}"
    if caption := turn.get("blip_caption"):
        text += f" [shares {caption}]"
    return Turn(turn["dia_id"], session, turn["speaker"], text, date)
