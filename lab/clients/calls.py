"""The calls that every client makes: each tool properly, with nothing, wrong types and a megabyte."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lab.clients.past import Past
from lab.clients.talk import WORD, Call

MEGABYTE = ("the quick brown fox " * 52_429)[: 1 << 20]
_WRONG: dict[str, Any] = {
    "string": {"not": ["a text"]}, "integer": "many", "boolean": "perhaps", "array": 7,
}  # fmt: skip


GOOD = Call("search", {"query": WORD})  # has to work at any time
NAMES = (
    "search", "timeline", "get", "remember", "correct", "forget", "checkpoint", "sessions", "files", "wonder",
    "reason", "feedback",
)  # fmt: skip


def proper(past: Past) -> list[Call]:
    """Return one call of each tool as an agent should make it."""
    return [
        GOOD,
        Call("timeline", {"around": past.session}),
        Call("get", {"ids": [past.kept]}),
        Call("remember", {"items": [{"text": "The invoice export runs at night.", "kind": "fact"}]}),
        Call("correct", {"id": past.outdated, "text": "The shop closes at nine."}),
        Call("forget", {"id": past.unwanted}),
        Call("checkpoint", {"goal": "Move the export to CSV", "done": ["read it"], "pending": ["write it"]}),
        Call("sessions", {"limit": 5}),
        Call("files", {}),
        Call("wonder", {"topic": WORD}),
        Call("reason", {"question": "Should the export write commas?"}),
        Call("feedback", {"id": past.kept, "useful": True}),
    ]


def with_nothing(tools: Mapping[str, Any]) -> list[Call]:
    """Return a call of each tool without arguments."""
    return [Call(name, None) for name in tools]


def with_wrong_types(tools: Mapping[str, Any]) -> list[Call]:
    """Return a call of each tool in which nothing has the type that it should have."""
    return [
        Call(name, {key: _WRONG[one.get("type", "string")] for key, one in _properties(schema).items()})
        for name, schema in tools.items()
    ]


def with_a_megabyte(tools: Mapping[str, Any], past: Past) -> list[Call]:
    """Return a call of each tool with a megabyte of text where it takes text first."""
    usual = {call.tool: dict(call.arguments or {}) for call in proper(past)}
    return [Call(name, usual.get(name, {}) | _put_megabyte(schema)) for name, schema in tools.items()]


def _put_megabyte(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the text that it needs, or the first that it takes, also in a list of objects."""
    properties = _properties(schema)
    texts = [key for key, one in properties.items() if one.get("type") == "string"]
    if texts:
        return {next((key for key in schema.get("required") or () if key in texts), texts[0]): MEGABYTE}
    key = next(key for key, one in properties.items() if one.get("type") == "array")
    item = properties[key]["items"]
    return {key: [MEGABYTE if item.get("type") == "string" else _put_megabyte(item)]}


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = schema.get("properties") or {}
    return found
