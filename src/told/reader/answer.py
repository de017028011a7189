"""Parse what a reader answers; nothing in it is trusted."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from told.reader.base import NoAnswerError
from told.store.memories.records import DECISION, FACT, GLOBAL, RULE
from told.text import clean, shorten

KINDS = (RULE, DECISION, FACT)
_RULES = ("rule", "preference", "correction", "warning")  # kinds that models also use
_MAX_ITEMS = 60
_MIN_TEXT, _MAX_TEXT = 8, 400  # characters
_MAX_QUOTE = 2_000
_MAX_PHRASES, _MAX_PHRASE = 5, 80  # phrases of later prompts, and their characters
_MAX_REPLACED = 8
_MAX_LINES, _MAX_LINE, _MAX_GOAL = 6, 200, 240
_SCHEMAS: Mapping[str, Any] = json.loads(Path(__file__).with_name("answer.json").read_text(encoding="utf-8"))
ITEMS_SCHEMA, SUMMARY_SCHEMA = _SCHEMAS["items"], _SCHEMAS["summary"]


@dataclass(frozen=True, slots=True)
class Item:
    """A statement that the reader wants to keep; not proven yet."""

    text: str  # empty if the user only takes something back
    kind: str
    scope: str  # project or global
    quote: str
    message: int  # its id in the question; -1 if it is unknown
    replaces: tuple[str, ...] = ()  # ids of memories, or texts of items before it
    when: tuple[str, ...] = ()
    always: bool = False


@dataclass(frozen=True, slots=True)
class Summary:
    """A reader's words for a session."""

    goal: str
    done: tuple[str, ...]
    pending: tuple[str, ...]
    decisions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """The valid parts of an answer."""

    items: tuple[Item, ...] = ()
    keep: tuple[str, ...] = ()  # ids of what told kept itself
    drop: tuple[str, ...] = ()
    invalid: int = 0  # items that were not valid


def parse_answer(text: str, messages: Collection[int], kept: Collection[str]) -> Answer:
    """Return the valid parts of an answer.

    Args:
        text: What the model wrote.
        messages: The ids of the messages in the question.
        kept: The ids of what told kept itself from them.
    """
    found = _load(text)
    listed = found.get("items")
    if not isinstance(listed, list):
        raise NoAnswerError("The reader's answer has no list of items.")
    items = [_parse_item(one, messages) for one in listed[:_MAX_ITEMS]]
    keep: list[str] = []
    drop: list[str] = []
    decided = found.get("candidates")
    for one in decided if isinstance(decided, list) else ():
        if isinstance(one, dict) and one.get("id") in kept and isinstance(one.get("keep"), bool):
            (keep if one["keep"] else drop).append(one["id"])
    valid = tuple(one for one in items if one is not None)
    return Answer(
        valid,
        tuple(dict.fromkeys(one for one in keep if one not in drop)),
        tuple(dict.fromkeys(drop)),
        len(listed) - len(valid),
    )


def parse_summary(text: str) -> Summary | None:
    """Return a session's summary; None if the answer has none."""
    found = _load(text)
    value = found.get("summary", found)
    if not isinstance(value, dict) or not isinstance(value.get("goal"), str):
        return None
    goal = shorten(clean(value["goal"]), _MAX_GOAL)
    lines = (_lines(value.get(name)) for name in ("done", "pending", "decisions"))
    return Summary(goal, *lines) if goal else None


def _load(text: str) -> dict[str, Any]:
    """Return the outermost JSON object in a text; models add fences and remarks."""
    start, end = text.find("{"), text.rfind("}")
    try:
        found = json.loads(text[start : end + 1]) if 0 <= start < end else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise NoAnswerError("The reader's answer is not a JSON object.")
    return found


def _parse_item(one: Any, messages: Collection[int]) -> Item | None:
    if not isinstance(one, dict):
        return None
    text, quote = one.get("text") or "", one.get("quote")
    if not isinstance(text, str) or not isinstance(quote, str):
        return None
    text, quote = " ".join(clean(text).split()), clean(quote).strip()
    replaces = _texts(one.get("replaces"), _MAX_REPLACED, _MAX_TEXT)
    kind = one.get("kind")
    kind = RULE if kind in _RULES or (not text and replaces) else kind
    is_long_enough = _MIN_TEXT <= len(text) <= _MAX_TEXT or (not text and bool(replaces))
    if kind not in KINDS or not is_long_enough or not 0 < len(quote) <= _MAX_QUOTE:
        return None
    return Item(
        text, kind, GLOBAL if one.get("scope") == GLOBAL else "project", quote, _find_message(one, messages),
        replaces, _texts(one.get("when"), _MAX_PHRASES, _MAX_PHRASE), one.get("always") is True,
    )  # fmt: skip


def _find_message(one: Mapping[str, Any], messages: Collection[int]) -> int:
    """Return the message that an item names; a wrong one does no harm, its quote is looked for."""
    for name in ("message", "turn", "id"):
        value = one.get(name)
        if isinstance(value, str) and value.isascii() and value.isdigit():
            value = int(value[:9])
        if isinstance(value, int) and not isinstance(value, bool) and value in messages:
            return value
    return -1


def _texts(value: Any, most: int, longest: int) -> tuple[str, ...]:
    listed = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    texts = (" ".join(clean(one).split()) for one in listed if isinstance(one, str))
    return tuple(dict.fromkeys(one for one in texts if 0 < len(one) <= longest))[:most]


def _lines(value: Any) -> tuple[str, ...]:
    listed = value if isinstance(value, list) else []
    texts = [shorten(clean(one), _MAX_LINE) for one in listed if isinstance(one, str)]
    return tuple(dict.fromkeys(filter(None, texts)))[:_MAX_LINES]
