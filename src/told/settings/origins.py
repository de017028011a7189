"""Where each setting comes from: `told config list` and `told config get` show it."""

from __future__ import annotations

import os

from told.record import record
from told.settings import CONFIG, in_project, is_off
from told.settings.keys import KEYS, NAME, RULES, key_named
from told.settings.reading import content_of, parsed, values_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from told.settings import Settings

DEFAULT, FILE, ENVIRONMENT, PROJECT = "default", "file", "environment", "project"


@record
class Row:
    """One setting as it holds now."""

    name: str
    value: Any
    default: Any
    source: str


def rows(settings: Settings, environ: Mapping[str, str], root: str) -> list[Row]:
    """Return every setting, and those of the agents that the file names.

    Args:
        settings: The user's, which may be the safe ones.
        environ: The variables that told runs with.
        root: The project that one is in; empty if none.
    """
    values = _in_file(settings)
    named = sorted({place[1] for place in values if place[0] == "agents"})
    names = [key.name for key in KEYS if NAME not in key.path]
    names += [f"agents.{name}.{last}" for name in named for last in ("enabled", "path")]
    return [row(name, settings, values, environ, root) for name in names]


def one(name: str, settings: Settings, environ: Mapping[str, str], root: str) -> Row:
    """Return one setting.

    Raises:
        UsageError: there is none of that name.
    """
    key_named(name)
    return row(name, settings, _in_file(settings), environ, root)


def row(
    name: str,
    settings: Settings,
    values: Mapping[tuple[str, ...], Any],
    environ: Mapping[str, str],
    root: str,
) -> Row:
    """Return a setting, with what the file sets at hand."""
    key = key_named(name)
    place = tuple(name.split("."))
    value, source = (values[place], FILE) if place in values else (key.default, DEFAULT)
    if key.variable and is_off(environ, key.variable):
        value, source = False, ENVIRONMENT
    if key.in_project and not settings.problem:
        there = getattr(in_project(settings, root), key.field)
        if there != value:
            value, source = there, PROJECT
    if key.kind == RULES:
        value = [dict(zip(("name", "pattern", "example"), rule, strict=True)) for rule in value]
    return Row(name, value, [] if key.kind == RULES else key.default, source)


def _in_file(settings: Settings) -> dict[tuple[str, ...], Any]:
    path = os.path.join(settings.home, CONFIG)
    if settings.problem or not os.path.lexists(path):
        return {}
    return values_of(parsed(content_of(path)[0], path), path)
