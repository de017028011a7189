"""The tools, resources and prompts that told offers over MCP; check a tool's arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from told.jsontext import load_json
from told.redact.names import is_plain_name
from told.tables import load_table
from told.text import shorten

_TABLE = load_table(__file__)
_TYPES: dict[str, dict[str, Any]] = {
    "text": {"type": "string"},
    "texts": {"type": "array", "items": {"type": "string"}},
    "number": {"type": "integer"},
    "boolean": {"type": "boolean"},
}


def _properties(arguments: dict[str, str | list[str]]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for name, kind in arguments.items():
        if isinstance(kind, list):
            properties[name] = {"type": "string", "enum": kind}
        else:
            type_name, _, description = kind.partition(": ")
            properties[name] = _TYPES[type_name] | ({"description": description} if description else {})
    return properties


STATEMENTS = "statements"
STATEMENT = _properties(_TABLE["statement"])
_TYPES[STATEMENTS] = {
    "type": "array", "items": {"type": "object", "properties": STATEMENT, "required": ["text"]},
}  # fmt: skip
_SHOW = "told://show/"
_LONGEST_URI = 300

INSTRUCTIONS: str = _TABLE["instructions"]
RESOURCES: list[dict[str, Any]] = _TABLE["resource"]
TEMPLATES: list[dict[str, Any]] = _TABLE["template"]
PROMPTS: list[dict[str, Any]] = _TABLE["prompt"]


class Toolbox(Protocol):
    """Run tools and read resources, with checked arguments."""

    def call(self, name: str, arguments: dict[str, Any], client: Client) -> Answer:
        """Run a tool and return its answer."""

    def read(self, uri: str, client: Client) -> Answer:
        """Return the text of a resource."""

    def knows_place(self) -> bool:
        """Tell whether a call's project is known without the client's folders."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: what an agent reads about it, and its arguments."""

    name: str
    about: str
    schema: dict[str, Any]  # JSON Schema, as the agent sees it
    more: dict[str, Any]  # accepted properties that are not announced
    read_only: bool = False
    destructive: bool = False


@dataclass(frozen=True, slots=True)
class Client:
    """The agent that calls: its name and folders."""

    name: str = ""
    roots: tuple[str, ...] = ()
    may_be_asked: bool = False  # for its folders, which it has not given yet


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool answers."""

    text: str
    is_error: bool = False


def load_tool(fields: dict[str, Any]) -> Tool:
    """Return the tool that a table describes."""
    schema = {"type": "object", "properties": _properties(fields["arguments"])}
    if "required" in fields:
        schema["required"] = fields["required"]
    hints = {name: fields.get(name, False) for name in ("read_only", "destructive")}
    return Tool(fields["name"], fields["about"], schema, _properties(fields.get("more", {})), **hints)


TOOLS = tuple(load_tool(fields) for fields in _TABLE["tool"])


def tool_named(name: str) -> Tool | None:
    """Return the tool with a name."""
    return next((tool for tool in TOOLS if tool.name == name), None)


def describe_tool(tool: Tool) -> dict[str, Any]:
    """Return a tool as agents see it."""
    # Clients take a tool without a hint as destructive.
    hints = {"readOnlyHint": True} if tool.read_only else {"destructiveHint": tool.destructive}
    return {"name": tool.name, "description": tool.about, "inputSchema": tool.schema, "annotations": hints}


def is_resource(uri: str) -> bool:
    """Tell whether told could have a resource with this URI."""
    if uri.startswith(_SHOW):
        return len(_SHOW) < len(uri) <= _LONGEST_URI
    return any(uri == one["uri"] for one in RESOURCES)


def prompt_text(name: str, arguments: dict[str, Any]) -> str:
    """Return the text of a prompt, or raise ValueError."""
    text: str | None = _TABLE["prompt_texts"].get(name)
    if text is None:
        raise ValueError("Unknown prompt: ask for checkpoint or recall.")
    if "{topic}" not in text:
        return text
    topic = arguments.get("topic")
    if not isinstance(topic, str) or not topic.strip():
        raise ValueError("`topic` is missing: give what to look for.")
    return text.format(topic=topic.strip())


LONGEST = 100_000  # characters of a text, or of all items of a list
_MOST_ITEMS = 1000
_MOST_STATEMENTS = 50
_MISTAKES_SHOWN = 5
_LARGEST_NUMBER, _MOST_DIGITS = 999_999_999, 9
_HINTS: dict[str, str] = _TABLE["hints"]
_TEXT = "text"
_ALONE = {"items": _TEXT, "ids": "id"}  # one may be given without a list
_MISSING = object()


class MistakeError(Exception):
    """An invalid argument, with the sentence to say."""


def check_arguments(tool: Tool, given: Any) -> tuple[dict[str, Any], str]:
    """Return the arguments as the tool takes them, and what is wrong.

    Models write numbers as text, and one text instead of a list: that is accepted.
    """
    if given is None:
        given = {}
    if not isinstance(given, dict):
        return {}, f"Give {tool.name} its arguments as an object."
    properties = {**tool.schema["properties"], **tool.more}
    valid: dict[str, Any] = {}
    mistakes = {}
    for name, value in given.items():
        if name.startswith("_") or value is None:
            continue
        try:
            found = _convert(tool, name, value, properties.get(name))
            if found is not _MISSING:
                valid[name] = found
        except MistakeError as mistake:
            mistakes[name] = str(mistake)
    missing = [
        f"`{name}` is missing: {_HINTS[name]}."
        for name in tool.schema.get("required", ())
        if name not in valid and name not in mistakes and given.get(_ALONE.get(name, "")) is None
    ]
    return valid, "\n".join([*missing, *mistakes.values()][:_MISTAKES_SHOWN])


def _convert(tool: Tool, name: str, value: Any, schema: dict[str, Any] | None) -> Any:
    if schema is None:
        known = ", ".join(tool.schema["properties"])
        shown = shorten(_valid_text(name), 40).replace("`", "'")
        shown = f"`{shown}`" if is_plain_name(name) else "That"
        raise MistakeError(f"{shown} is no argument of {tool.name}: it takes {known}.")
    kind = schema["type"]
    if kind == "array":
        is_text = schema["items"]["type"] == "string"
        return (_texts(name, value) if is_text else _statements(tool, name, value)) or _MISSING
    if kind == "boolean":
        if isinstance(value, str) and value.strip().lower() in ("true", "false"):
            return value.strip().lower() == "true"
        if not isinstance(value, bool):
            raise MistakeError(f"`{name}` must be true or false.")
        return value
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
        raise MistakeError(f"`{name}` must be text.")
    if len(value) > LONGEST:
        raise MistakeError(f"`{name}` has {len(value):,} characters: give at most {LONGEST:,}.")
    return _valid_text(value)


def _texts(name: str, value: Any) -> list[str]:
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = _list_in(value)
    items = value if isinstance(value, list) else [_text(name, value) if type(value) is int else value]
    if len(items) > _MOST_ITEMS:
        raise MistakeError(f"`{name}` has {len(items):,} items: give at most {_MOST_ITEMS:,}.")
    if any(not isinstance(item, str) for item in items):
        raise MistakeError(f"`{name}` must be a list of texts.")
    if sum(map(len, items)) > LONGEST:
        raise MistakeError(f"`{name}` has {sum(map(len, items)):,} characters: give at most {LONGEST:,}.")
    return [text for text in (_valid_text(item).strip() for item in items) if text]


def _statements(tool: Tool, name: str, value: Any) -> list[dict[str, Any]]:
    """Return a list of objects with checked fields; one object or text is a list of one."""
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        value = _list_in(value)
    items = value if isinstance(value, list) else [value]
    if len(items) > _MOST_STATEMENTS:
        raise MistakeError(f"`{name}` has {len(items):,} items: give at most {_MOST_STATEMENTS}.")
    given = [{_TEXT: one} if isinstance(one, str) else one for one in items]
    if any(not isinstance(one, dict) or _TEXT not in one for one in given):
        fields = ", ".join(field for field in STATEMENT if field != _TEXT)
        raise MistakeError(f"`{name}` must be a list of objects with text, and maybe {fields}.")
    return [_statement(tool, name, one) for one in given]


def _statement(tool: Tool, name: str, given: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for field, value in given.items():
        if field.startswith("_") or value is None:
            continue
        # The announced choices are not the only ones.
        schema = tool.more.get(field) if field in STATEMENT else None
        checked = _convert(tool, field, value, schema)
        if checked is not _MISSING:
            fields[field] = checked
    if _TEXT not in fields:
        raise MistakeError(f"`{_TEXT}` is missing in `{name}`: {_HINTS[_TEXT]}.")
    return fields


def _list_in(text: str) -> Any:
    """Return the list that a text has as JSON, else the text."""
    if len(text) > LONGEST:
        return text
    try:
        found = load_json(text.strip())
    except ValueError:
        return text
    return found if isinstance(found, (list, dict)) else text


def _number(name: str, value: Any) -> int:
    if isinstance(value, str) and value.strip().isdecimal() and len(value.strip()) <= _MOST_DIGITS:
        value = int(value.strip())
    if isinstance(value, float) and value == value // 1:
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise MistakeError(f"`{name}` must be a whole number of at least 1.")
    return min(int(value), _LARGEST_NUMBER)


def _valid_text(text: str) -> str:
    """Replace halves of surrogate pairs, which cannot be written."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
