"""Load the tables and word lists that lie beside modules."""

from __future__ import annotations

import os
import tomllib
from functools import cache
from typing import Any


@cache
def load_table(module: str, name: str = "") -> dict[str, Any]:
    """Load the TOML file of a module, or another one beside it.

    Args:
        module: The module's `__file__`.
        name: The file's name without its ending; the module's by default.
    """
    path = os.path.join(os.path.dirname(module), name) if name else os.path.splitext(module)[0]
    with open(f"{path}.toml", "rb") as file:
        return tomllib.load(file)


@cache
def load_words(module: str, name: str, *keys: str) -> frozenset[str]:
    """Load the words at a place of a file beside a module, from all lists there."""
    found = load_table(module, name)
    for key in keys:
        found = found[key]
    return frozenset(_list_words(found))


def _list_words(found: Any) -> list[str]:
    if isinstance(found, str):
        return found.split()
    return [
        word for one in (found.values() if isinstance(found, dict) else found) for word in _list_words(one)
    ]
