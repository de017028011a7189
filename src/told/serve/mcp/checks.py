"""Compares what an agent gave a tool with what the tool takes, and says each mistake in one sentence."""

from __future__ import annotations

from told.guard.names import is_plain
from told.guard.text import one_line
from told.store.memory_json import decoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.serve.mcp.protocol import Tool

LONGEST = 100_000  # characters of a text, or of all items of a list
_MOST_ITEMS = 1000
_MOST_NAMED = 5  # mistakes in one answer
_DIGITS = 9
_LARGEST = 999_999_999
_HINTS = {
    "query": "give words to search for",
    "id": "give an id that search, timeline or sessions showed",
    "text": "give the statement in one self-contained sentence",
    "goal": "say what the work is for",
    "topic": "say what to look at",
    "question": "ask: do we …, X or Y, why …",
    "useful": "say true or false",
}
_MISSING = object()


class MistakeError(Exception):
    """An argument that a tool cannot be given, with the sentence to say."""


def checked(tool: Tool, given: Any) -> tuple[dict[str, Any], str]:
    """Return the arguments as the tool takes them, and what is wrong with them; empty if nothing is.

    Models write numbers as text and one text where a list is wanted: what is meant is taken.
    """
    if given is None:
        given = {}
    if not isinstance(given, dict):
        return {}, f"Give {tool.name} its arguments as an object with names."
    properties = {**tool.schema["properties"], **tool.more}
    taken: dict[str, Any] = {}
    wrong = {}
    for name, value in given.items():
        if name.startswith("_") or value is None:
            continue
        try:
            found = _taken(tool, name, value, properties.get(name))
            if found is not _MISSING:
                taken[name] = found
        except MistakeError as mistake:
            wrong[name] = str(mistake)
    missing = [
        f"`{name}` is missing: {_HINTS[name]}."
        for name in tool.schema.get("required", ())
        if name not in taken and name not in wrong
    ]
    return taken, "\n".join([*missing, *wrong.values()][:_MOST_NAMED])


def _taken(tool: Tool, name: str, value: Any, schema: dict[str, Any] | None) -> Any:
    if schema is None:
        known = ", ".join(tool.schema["properties"])
        shown = one_line(_whole(name), 40).replace("`", "'")
        shown = f"`{shown}`" if is_plain(name) else "What you named so"
        raise MistakeError(f"{shown} is no argument of {tool.name}: it takes {known}.")
    kind = schema["type"]
    if kind == "array":
        return _texts(name, value) or _MISSING
    if kind == "boolean":
        return _truth(name, value)
    if kind == "integer":
        return _number(name, value)
    text = _text(name, value).strip()
    if not text:
        return _MISSING
    if "enum" not in schema:
        return text
    if text.lower() not in schema["enum"]:
        *others, last = schema["enum"]
        raise MistakeError(f"`{name}` must be {', '.join(others)} or {last}.")
    return text.lower()


def _text(name: str, value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)  # an id of digits only
    if not isinstance(value, str):
        raise MistakeError(f"`{name}` must be a text.")
    if len(value) > LONGEST:
        raise MistakeError(f"`{name}` has {len(value):,} characters: give at most {LONGEST:,}.")
    return _whole(value)


def _texts(name: str, value: Any) -> list[str]:
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = _list_in(value)
    items = value if isinstance(value, list) else [value]
    if len(items) > _MOST_ITEMS:
        raise MistakeError(f"`{name}` has {len(items):,} items: give at most {_MOST_ITEMS:,}.")
    if any(not isinstance(item, str) for item in items):
        raise MistakeError(f"`{name}` must be a list of texts.")
    if sum(map(len, items)) > LONGEST:
        raise MistakeError(f"`{name}` has {sum(map(len, items)):,} characters: give at most {LONGEST:,}.")
    return [text for text in (_whole(item).strip() for item in items) if text]


def _list_in(text: str) -> Any:
    """Return the list that a text is the JSON of; the text itself if it is none."""
    if len(text) > LONGEST:
        return text
    try:
        found = decoded(text.strip())
    except ValueError:
        return text
    return found if isinstance(found, list) else text


def _truth(name: str, value: Any) -> bool:
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    if not isinstance(value, bool):
        raise MistakeError(f"`{name}` must be true or false.")
    return value


def _number(name: str, value: Any) -> int:
    if isinstance(value, str) and value.strip().isdecimal() and len(value.strip()) <= _DIGITS:
        value = int(value.strip())
    if isinstance(value, float) and value == value // 1:
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise MistakeError(f"`{name}` must be a whole number of at least 1.")
    return min(int(value), _LARGEST)


def _whole(text: str) -> str:
    """Return the text without halves of characters, which nothing can be written with."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
