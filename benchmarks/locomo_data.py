"""Reads LoCoMo as published: chats of many sessions, and questions with the turns that answer them."""

from __future__ import annotations

import gzip
import json
import re
import time
from typing import Any, NamedTuple

from benchmarks import CannotMeasureError

TYPES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}


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


def moment(date: str) -> int:
    """Read a date such as `1:56 pm on 8 May, 2023`, in milliseconds of local time."""
    if not date:
        return 0
    return int(time.mktime(time.strptime(date, "%I:%M %p on %d %B, %Y"))) * 1000


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
