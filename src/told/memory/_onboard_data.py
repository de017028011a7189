"""Reads the data files of a project: what is broken, or nested without end, says nothing."""

from __future__ import annotations

import json
import tomllib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.memory._onboard_files import Document


def json_of(document: Document | None) -> dict[str, Any]:
    """Return the object in a JSON file."""
    if document is None:
        return {}
    try:
        value = json.loads(document.text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def toml_of(document: Document | None) -> dict[str, Any]:
    """Return the table in a TOML file."""
    if document is None:
        return {}
    try:
        return tomllib.loads(document.text)
    except (ValueError, RecursionError):
        return {}


def below(value: Any, *keys: str) -> Any:
    """Return what stands under some keys; None if nothing does."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value
