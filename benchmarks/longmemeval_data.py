"""Reads LongMemEval as published and lays out its three settings: s, o48 and pool."""

from __future__ import annotations

import gzip
import json
import os
import time
from collections.abc import Iterator, Sequence
from hashlib import blake2s
from typing import Any, NamedTuple

from benchmarks import CannotMeasureError
from benchmarks.retrieval import Said

ORACLE = "longmemeval_oracle.json.gz"
HAYSTACKS = "lme_s_haystacks_user500.jsonl.gz"
_O48 = 48
_ABSTENTION = "_abs"


class Question(NamedTuple):
    """A question and what answers it."""

    id: str
    type: str
    text: str
    now: int
    sessions: frozenset[str]  # that hold the answer
    with_user_turn: frozenset[str]  # those of them in which the user says it
    turns: frozenset[str]  # the user's turns that hold it

    @property
    def abstention(self) -> bool:
        """Tell whether the right answer is that nobody said it."""
        return self.id.endswith(_ABSTENTION)


class Oracle(NamedTuple):
    """All questions, and all sessions that answer one of them, by id."""

    questions: list[Question]
    sessions: dict[str, tuple[Said, ...]]


def files(data: str, haystacks: str) -> tuple[str, str]:
    """Return the paths of the oracle file and of the haystacks; the latter may be empty."""
    if os.path.isdir(data):
        beside = os.path.join(data, HAYSTACKS)
        return os.path.join(data, ORACLE), haystacks or (beside if os.path.exists(beside) else "")
    return data, haystacks


def oracle(path: str) -> Oracle:
    """Read the oracle file: questions with their evidence sessions in full."""
    questions: list[Question] = []
    sessions: dict[str, tuple[Said, ...]] = {}
    try:
        for one in json.loads(_text(path)):
            gold: list[str] = []
            for name, date, messages in zip(
                one["haystack_session_ids"], one["haystack_dates"], one["haystack_sessions"], strict=True
            ):
                said, answering = _turns(name, _moment(date), messages)
                sessions.setdefault(name, said)
                gold += answering
            questions.append(
                Question(
                    one["question_id"],
                    one["question_type"],
                    one["question"],
                    _moment(one["question_date"]),
                    frozenset(one["answer_session_ids"]),
                    frozenset(name.rpartition(":")[0] for name in gold),
                    frozenset(gold),
                )
            )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CannotMeasureError(f"{path} cannot be read as LongMemEval's oracle file: {error}") from error
    return Oracle(questions, sessions)


def haystacks(path: str) -> dict[str, tuple[Said, ...]]:
    """Read the haystacks of setting s by question: each session is one turn."""
    found: dict[str, tuple[Said, ...]] = {}
    try:
        for line in _text(path).strip().split("\n"):  # a text may hold other breaks
            one = json.loads(line)
            # A few haystacks hold a session twice; it can be found once.
            sessions = {name: (date, text) for name, date, text in reversed(one["sessions"])}
            found[one["question_id"]] = tuple(
                Said(f"{name}:0", name, _moment(date), text)
                for name, (date, text) in reversed(sessions.items())
            )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CannotMeasureError(f"{path} cannot be read as LongMemEval's haystacks: {error}") from error
    return found


def among_others(data: Oracle, question: Question, count: int = _O48) -> list[Said]:
    """Return a question's evidence among evidence of other questions, `count` sessions in all.

    Which others is chosen by a hash, so it is the same everywhere. A session with the very words of
    one that answers is none of them.
    """
    own = {_words(data.sessions[name]) for name in question.sessions}
    others = [name for name in data.sessions if name not in question.sessions]
    others.sort(key=lambda name: shuffled(f"{question.id}\0{name}"))
    distinct = (name for name in others if _words(data.sessions[name]) not in own)
    chosen = {*question.sessions, *_first(distinct, count - len(question.sessions))}
    # In the order of the file: where the evidence stands tells nothing.
    return [turn for name, said in data.sessions.items() if name in chosen for turn in said]


def shuffled(name: str) -> bytes:
    """Return what to sort names by so that their order tells nothing, and is the same everywhere."""
    return blake2s(name.encode()).digest()


def _first(names: Iterator[str], count: int) -> Iterator[str]:
    yield from (name for name, _ in zip(names, range(max(0, count)), strict=False))


def _words(said: Sequence[Said]) -> tuple[str, ...]:
    return tuple(turn.asked for turn in said)


def _turns(session: str, at: int, messages: Sequence[dict[str, Any]]) -> tuple[tuple[Said, ...], list[str]]:
    """Make one turn of what the user said and what was answered; return the ids with the answer, too."""
    pairs: list[tuple[str, list[str], bool]] = []
    for message in messages:
        if message["role"] == "user":
            pairs.append((message["content"], [], bool(message.get("has_answer"))))
        else:
            if not pairs:
                pairs.append(("", [], False))
            pairs[-1][1].append(message["content"])
    said = tuple(
        Said(f"{session}:{n}", session, at + n * 60_000, asked, "\n".join(answered))
        for n, (asked, answered, _) in enumerate(pairs)
    )
    return said, [f"{session}:{n}" for n, pair in enumerate(pairs) if pair[2]]


def _moment(date: str) -> int:
    """Read a date such as `2023/04/10 (Mon) 17:50`, in milliseconds of local time."""
    day, _, rest = date.partition(" (")
    return int(time.mktime(time.strptime(f"{day} {rest.rpartition(') ')[2]}", "%Y/%m/%d %H:%M"))) * 1000


def _text(path: str) -> str:
    with (
        gzip.open(path, "rt", encoding="utf-8") if path.endswith(".gz") else open(path, encoding="utf-8")
    ) as file:
        return file.read()
