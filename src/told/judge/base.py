"""What a judge is asked and what it answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import apsw

from told.errors import BusyError
from told.ingest.complete_sessions import CompleteSessions
from told.store.memories.protocol import Memories
from told.store.memories.records import DECISION, FACT, GLOBAL, RULE
from told.text import clean, shorten

NONE, AGENT, ENDPOINT, ANTHROPIC, GGUF = "none", "agent", "endpoint", "anthropic", "gguf"
MODES = (NONE, AGENT, ENDPOINT, ANTHROPIC, GGUF)


@dataclass(frozen=True, slots=True)
class Question:
    """One request; all text is redacted."""

    system: str
    prompt: str
    schema: Mapping[str, Any]  # JSON schema of the answer
    max_tokens: int  # of the answer


@dataclass(frozen=True, slots=True)
class Reply:
    """The text of an answer; tokens are 0 if the model does not say."""

    text: str
    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(frozen=True, slots=True)
class Stores:
    """What the judge reads and writes."""

    home: str
    connection: apsw.Connection
    reading: CompleteSessions
    memories: Memories
    redact: Callable[[str], str]  # also where the user turned redaction off for told's own files
    now: int


class NoAnswerError(BusyError):
    """The judge gave no usable answer. Try again later."""


class Judge(Protocol):
    """A model that answers questions."""

    @property
    def mode(self) -> str:
        """One of MODES."""

    @property
    def title(self) -> str:
        """Its name for users, such as `qwen3 at 127.0.0.1`."""

    @property
    def sends(self) -> str:
        """Where the text goes, in words."""

    def ask(self, question: Question) -> Reply:
        """Answer a question.

        Raises NoAnswerError, or MissingError until the user changes something.
        """


KINDS = (RULE, DECISION, FACT)
_RULES = ("rule", "preference", "correction", "warning")  # kinds that models also use
_MAX_ITEMS = 24
_MIN_TEXT, _MAX_TEXT = 8, 400  # characters
_MAX_QUOTE = 2_000
_MAX_LINES, _MAX_LINE, _MAX_GOAL = 6, 200, 240
SCHEMA: Mapping[str, Any] = json.loads(Path(__file__).with_name("answer.json").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Item:
    """A statement that the judge wants to keep; not proven yet."""

    text: str
    kind: str
    scope: str  # project or global
    quote: str
    turn: int
    replaces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Summary:
    """A judge's words for a session."""

    goal: str
    done: tuple[str, ...]
    pending: tuple[str, ...]
    decisions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """The valid parts of an answer."""

    items: tuple[Item, ...] = ()
    keep: tuple[str, ...] = ()  # ids of candidates
    drop: tuple[str, ...] = ()
    summary: Summary | None = None
    invalid: int = 0  # items that were not valid


def parse_answer(
    text: str, turns: Collection[int], candidates: Collection[str], known: Collection[str]
) -> Answer:
    """Return the valid parts of an answer."""
    found = _load(text)
    items, invalid = [], 0
    listed = found.get("items")
    if not isinstance(listed, list):
        raise NoAnswerError("The judge's answer has no list of items.")
    for one in listed[:_MAX_ITEMS]:
        item = _parse_item(one, turns, known)
        invalid += item is None
        items += [item] if item else []
    keep: list[str] = []
    drop: list[str] = []
    decided = found.get("candidates")
    for one in decided if isinstance(decided, list) else ():
        if isinstance(one, dict) and one.get("id") in candidates and isinstance(one.get("keep"), bool):
            (keep if one["keep"] else drop).append(one["id"])
    invalid += len(listed[_MAX_ITEMS:])
    kept = tuple(dict.fromkeys(one for one in keep if one not in drop))
    return Answer(
        tuple(items), kept, tuple(dict.fromkeys(drop)), _parse_summary(found.get("summary")), invalid
    )


def _load(text: str) -> dict[str, Any]:
    """Return the outermost JSON object in a text; models add fences and remarks."""
    start, end = text.find("{"), text.rfind("}")
    try:
        found = json.loads(text[start : end + 1]) if 0 <= start < end else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise NoAnswerError("The judge's answer is not a JSON object.")
    return found


def _parse_item(one: Any, turns: Collection[int], known: Collection[str]) -> Item | None:
    if not isinstance(one, dict):
        return None
    text, quote, turn = one.get("text"), one.get("quote"), one.get("turn")
    if not isinstance(text, str) or not isinstance(quote, str) or not isinstance(turn, int):
        return None
    text, quote = " ".join(clean(text).split()), clean(quote).strip()
    kind = one.get("kind")
    kind = RULE if kind in _RULES else kind
    is_valid = _MIN_TEXT <= len(text) <= _MAX_TEXT and 0 < len(quote) <= _MAX_QUOTE
    if not is_valid or turn not in turns or kind not in KINDS:
        return None
    named = one.get("replaces")
    named = [named] if isinstance(named, str) else named if isinstance(named, list) else []
    replaces = tuple(dict.fromkeys(each for each in named if isinstance(each, str) and each in known))
    return Item(text, kind, GLOBAL if one.get("scope") == GLOBAL else "project", quote, turn, replaces)


def _parse_summary(value: Any) -> Summary | None:
    if not isinstance(value, dict) or not isinstance(value.get("goal"), str):
        return None
    goal = shorten(clean(value["goal"]), _MAX_GOAL)
    return (
        Summary(goal, *(_lines(value.get(name)) for name in ("done", "pending", "decisions")))
        if goal
        else None
    )


def _lines(value: Any) -> tuple[str, ...]:
    listed = value if isinstance(value, list) else []
    texts = [shorten(clean(one), _MAX_LINE) for one in listed if isinstance(one, str)]
    return tuple(dict.fromkeys(filter(None, texts)))[:_MAX_LINES]
