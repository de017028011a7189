"""Write the first config file; edit the text of one, keeping comments and order."""

from __future__ import annotations

import json
import os
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from told.errors import MissingError, UsageError
from told.files import create_private
from told.settings import parse_toml
from told.settings.keys import AGENT_NAME, CONFIG, KEYS, RULES

_WIDTH = 100
_HEAD = """\
# told's settings. Commented lines show the defaults; change them here or with
# `told config set KEY VALUE`. `told config list` shows the values in use and where they come from.
"""
_RULES = """\
# [[redaction.rules]]
# name = "staff-badge"
# pattern = "BADGE-[0-9]{6}"
# example = "BADGE-104233"
"""


def make_template() -> str:
    """Return the config file as it is first written."""
    parts = [_HEAD]
    table = ""
    for key in KEYS:
        if key.kind == RULES or AGENT_NAME in key.path:
            continue
        if len(key.path) > 1 and key.path[0] != table:
            table = key.path[0]
            parts.append(f"[{table}]\n")
        parts.append(f"{_comment(key.about)}# {key.path[-1]} = {to_toml(key.default)}\n")
    rules = next(key for key in KEYS if key.kind == RULES)
    agents = [
        f"# {key.path[-1]} = {to_toml(key.default or '~/agents/codex-home')}  # {key.about}\n"
        for key in KEYS
        if AGENT_NAME in key.path
    ]
    return "\n".join([*parts, _comment(rules.about) + _RULES, "# [agents.codex]\n" + "".join(agents)])


def to_toml(value: Any) -> str:
    """Format a value as TOML on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):  # JSON escapes as TOML does, except for one character
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value)


def write_first_config(home: str) -> bool:
    """Write the first config file; return False if there is one or it fails."""
    try:
        create_private(os.path.join(home, CONFIG), make_template().encode())
    except OSError:
        return False
    return True


def _comment(text: str) -> str:
    return "".join(f"# {line}\n" for line in textwrap.wrap(text, _WIDTH - 2))


def set_value(text: str, place: Sequence[str], value: Any) -> str:
    """Set a value in the text of a config file."""
    wanted = parse_toml(text, CONFIG)
    _put(wanted, place, value)
    line = f"{place[-1]} = {to_toml(value)}"
    for attempt in (_replace_line(text, place, f"# {place[-1]} = ", line), _insert_line(text, place, line)):
        if attempt is not None and _has_values(attempt, wanted):
            return attempt

    def change(document: Any) -> None:
        inner = document
        for name in place[:-1]:
            if name not in inner:
                inner[name] = tomlkit.table(is_super_table=name != place[-2])
            inner = inner[name]
        inner[place[-1]] = value

    return _edit(text, change, wanted)


def unset_value(text: str, place: Sequence[str], default: str = "") -> str:
    """Remove a setting from the text of a config file."""
    wanted = parse_toml(text, CONFIG)
    tables = wanted
    for name in place[:-1]:
        tables = tables.get(name, {})
        if not isinstance(tables, dict):
            return text
    if place[-1] not in tables:
        return text
    del tables[place[-1]]
    commented = (
        _replace_line(text, place, f"{place[-1]} = ", f"# {place[-1]} = {default}") if default else None
    )
    if commented is not None and _has_values(commented, wanted):
        return commented

    def change(document: Any) -> None:
        for name in place[:-1]:
            document = document[name]
        del document[place[-1]]

    return _edit(text, change, wanted)


def _edit(text: str, change: Callable[[Any], None], wanted: dict[str, Any]) -> str:
    """Change the text with tomlkit, and check that nothing else changed."""
    try:
        document = tomlkit.parse(text)
        change(document)
        after: str | None = str(tomlkit.dumps(document))
    except (TOMLKitError, LookupError, TypeError, ValueError, AttributeError):
        after = None
    if after is None or not _has_values(after, wanted):
        raise MissingError("told cannot change that file without changing more. Change that line by hand.")
    return after


def _put(tables: dict[str, Any], place: Sequence[str], value: Any) -> None:
    for name in place[:-1]:
        tables = tables.setdefault(name, {})
        if not isinstance(tables, dict):
            raise UsageError(f"{name} in the file must be a table: [{name}].")
    tables[place[-1]] = value


def _replace_line(text: str, place: Sequence[str], beginning: str, instead: str) -> str | None:
    """Replace the first line of the table with this beginning; None if there is none."""
    lines = text.split("\n")
    table = ""
    for at, line in enumerate(lines):
        if line.startswith("["):
            table = line.strip("[] \r")
        elif table == ".".join(place[:-1]) and line.startswith(beginning):
            lines[at] = instead + ("\r" if line.endswith("\r") else "")
            return "\n".join(lines)
    return None


def _insert_line(text: str, place: Sequence[str], line: str) -> str:
    """Insert a line at the start of its table, or before the first table."""
    lines = text.rstrip("\n").split("\n") if text.strip() else []
    ending = "\r" if lines and lines[0].endswith("\r") else ""
    header = f"[{'.'.join(place[:-1])}]"
    if len(place) > 1:
        at = next((at for at, one in enumerate(lines) if one.rstrip() == header), -1)
        if at < 0:
            lines += ([ending] if lines else []) + [header + ending]
            at = len(lines) - 1
        at += 1
    else:
        at = next((at for at, one in enumerate(lines) if one.startswith("[")), len(lines))
        while at and at < len(lines) and lines[at - 1].startswith("#"):
            at -= 1  # a comment of the table below
    return "\n".join([*lines[:at], line + ending, *lines[at:], ""])


def _has_values(text: str, wanted: dict[str, Any]) -> bool:
    """Return whether a text has these values and no others."""
    try:
        return bool(_without_empty_tables(parse_toml(text, CONFIG)) == _without_empty_tables(wanted))
    except UsageError:
        return False


def _without_empty_tables(value: Any) -> Any:
    """Remove empty tables, which mean nothing."""
    if isinstance(value, dict):
        inner = {name: _without_empty_tables(below) for name, below in value.items()}
        return {name: below for name, below in inner.items() if below != {}}
    return value


def add_rule(text: str, name: str, pattern: str, example: str) -> str:
    """Add a rule to the text of a config file, or replace the one of that name."""
    wanted = parse_toml(text, CONFIG)
    rules = _rules_of(wanted)
    given = {"name": name, "pattern": pattern, "example": example}
    at = _find_rule(rules, name)
    if at < len(rules):
        rules[at] = given
        return _edit(text, lambda document: document["redaction"]["rules"][at].update(given), wanted)
    rules.append(given)
    lines = "".join(f"{part} = {to_toml(value)}\n" for part, value in given.items())
    appended = f"{text.rstrip()}\n\n[[redaction.rules]]\n{lines}".lstrip()
    if _has_values(appended, wanted):
        return appended

    def change(document: Any) -> None:
        if "redaction" not in document:
            document["redaction"] = tomlkit.table()
        document["redaction"]["rules"] = rules

    return _edit(text, change, wanted)


def remove_rule(text: str, name: str) -> str:
    """Remove the rule of that name, if there is one."""
    wanted = parse_toml(text, CONFIG)
    rules = _rules_of(wanted)
    at = _find_rule(rules, name)
    if at == len(rules):
        return text
    del rules[at]
    if rules:
        return _edit(text, lambda document: document["redaction"]["rules"].__delitem__(at), wanted)
    del wanted["redaction"]["rules"]
    return _edit(text, lambda document: document["redaction"].__delitem__("rules"), wanted)


def _rules_of(tables: dict[str, Any]) -> list[Any]:
    redaction = tables.setdefault("redaction", {})
    rules = redaction.setdefault("rules", []) if isinstance(redaction, dict) else None
    if not isinstance(rules, list):
        raise UsageError("redaction.rules in the file must be tables: [[redaction.rules]].")
    return rules


def _find_rule(rules: list[Any], name: str) -> int:
    """Return the index of a rule; the number of rules if there is none."""
    named = (at for at, one in enumerate(rules) if isinstance(one, dict) and one.get("name") == name)
    return next(named, len(rules))
