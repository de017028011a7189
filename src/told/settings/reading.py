"""Reads a config file, and says in one sentence what is wrong with it."""

from __future__ import annotations

import os
import stat

from told.errors import MissingError, UsageError
from told.settings.keys import KEYS, NAME, RULES, TABLES, fits, key_at, misfit, nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

LARGEST = 1_000_000  # bytes
_LONGEST = 1_000  # characters of a rule's pattern or example
_MOST_RULES = 100
_IN_RULE = ("name", "pattern", "example")
_NAME = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
_LONGEST_NAME = 40


def content_of(path: str, largest: int = LARGEST, flags: int = 0) -> tuple[bytes, os.stat_result]:
    """Return what is in a file, and its state; nothing else than a file is read, or waited for.

    Raises:
        MissingError: it cannot be read.
    """
    flags |= os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags)
        try:
            state = os.fstat(descriptor)
            if not stat.S_ISREG(state.st_mode):
                raise MissingError(f"{path} is no file. Move away what stands there.")
            content = b""
            while len(content) <= largest and (part := os.read(descriptor, largest + 1 - len(content))):
                content += part
        finally:
            os.close(descriptor)
    except OSError as error:
        raise MissingError(f"{path} cannot be read ({(error.strerror or 'error').lower()}).") from None
    if len(content) > largest:
        raise MissingError(f"{path} is larger than {largest // 1000} kB. Make it smaller.")
    return content, state


def parsed(content: bytes | str, path: str) -> dict[str, Any]:
    """Return the tables of a TOML file.

    Raises:
        UsageError: it is not valid; the sentence names the line.
    """
    import tomllib

    try:
        return tomllib.loads(content if isinstance(content, str) else content.decode())
    except (ValueError, RecursionError) as error:
        why = str(error) if isinstance(error, ValueError) else "too many brackets in each other"
        raise UsageError(f"{path} is not valid TOML: {why}. Mend that line.") from None


def values_of(tables: Mapping[str, Any], path: str) -> dict[tuple[str, ...], Any]:
    """Return what a config file sets, by path, all of it known and checked.

    Raises:
        UsageError: something of it is not understood.
    """
    found: dict[tuple[str, ...], Any] = {}
    for place, value in flat(tables):
        key = key_at(place)
        if key is None:
            raise UsageError(_unknown(place, value, path))
        if not fits(key, value):
            raise UsageError(f"{'.'.join(place)} in {path} {misfit(key, value)}.")
        found[place] = _rules(value, path) if key.kind == RULES else value
    return found


def flat(tables: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the path and value of everything that a file sets."""
    for name, value in tables.items():
        if (name,) not in TABLES or not isinstance(value, dict):
            yield (name,), value
            continue
        for inner, below in value.items():
            if name == "agents" and isinstance(below, dict):
                yield from (((name, inner, last), given) for last, given in below.items())
            else:
                yield (name, inner), below


def fields_of(values: Mapping[tuple[str, ...], Any]) -> dict[str, Any]:
    """Return what a file sets as plain values for the fields of the settings record."""
    found: dict[str, Any] = {}
    redaction = {key.path[1]: key.default for key in KEYS if key.field == "redaction"}
    off, folders = [], []
    for place, value in sorted(values.items()):
        key = key_at(place)
        if key is None:
            continue
        if key.field == "redaction":
            redaction[place[1]] = value
            found["redaction"] = tuple(redaction.values())
        elif NAME not in key.path:
            found[key.field] = value
        elif key.field == "agents_off" and not value:
            off.append(place[1])
        elif key.field == "agent_folders" and value:
            folders.append((place[1], value))
    if off:
        found["agents_off"] = tuple(off)
    if folders:
        found["agent_folders"] = tuple(folders)
    return found


def shown(place: tuple[str, ...]) -> str:
    """Return a path as it is named to people, whatever stands in it."""
    name = ".".join(place)
    return "".join(char if char.isprintable() else "?" for char in name)[:80]


def _unknown(place: tuple[str, ...], value: Any, path: str) -> str:
    if place == ("agents",):
        return f"agents in {path} must be tables such as [agents.codex]."
    if place[0] == "agents":
        return f"[{shown(place[:2])}] in {path} takes only `enabled` and `path`."
    if (place in TABLES) and not isinstance(value, dict):
        return f"{shown(place)} in {path} must be a table: [{shown(place)}]."
    name = shown(place)
    return f"{path} has an unknown setting: {name}.{nearest(name, otherwise='Remove that line.')}"


def _rules(given: list[Any], path: str) -> tuple[tuple[str, str, str], ...]:
    where = f"redaction.rules in {path}"
    if len(given) > _MOST_RULES:
        raise UsageError(f"{where} may have {_MOST_RULES} rules at most.")
    found: dict[str, tuple[str, str, str]] = {}
    for one in given:
        if not isinstance(one, dict) or set(one) != set(_IN_RULE):
            raise UsageError(f"Each of {where} must have a name, a pattern and an example, and nothing else.")
        name, pattern, example = (one[part] for part in _IN_RULE)
        if not isinstance(name, str) or not is_name(name):
            raise UsageError(
                f"The name of each of {where} must be of a to z, 0 to 9 and dashes, {_LONGEST_NAME} at most."
            )
        if name in found:
            raise UsageError(f"Two of {where} are called {name}. Give one of them another name.")
        for part, text in (("pattern", pattern), ("example", example)):
            if not isinstance(text, str) or not 0 < len(text) <= _LONGEST:
                raise UsageError(
                    f"The {part} of {name} in {where} must be text of 1 to {_LONGEST:,} characters."
                )
        found[name] = (name, pattern, example)
    return tuple(found.values())


def is_name(name: str) -> bool:
    """Tell whether a rule may be called so: the name stands in placeholders."""
    return 0 < len(name) <= _LONGEST_NAME and _NAME.issuperset(name)
