"""The config file as it is first written: every setting, as a comment that shows what holds anyway."""

from __future__ import annotations

import os

from told.settings import CONFIG
from told.settings.keys import KEYS, NAME, RULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_WIDTH = 100
_HEAD = """\
# told's settings. What stands behind a # is what holds until you change it, here or with
# `told config set KEY VALUE`. `told config list` shows what holds, and where it comes from.
"""
_RULES = """\
# [[redaction.rules]]
# name = "staff-badge"
# pattern = "BADGE-[0-9]{6}"
# example = "BADGE-104233"
"""


def template() -> str:
    """Return the file as it is first written."""
    parts = [_HEAD]
    table = ""
    for key in KEYS:
        if key.kind == RULES or NAME in key.path:
            continue
        if len(key.path) > 1 and key.path[0] != table:
            table = key.path[0]
            parts.append(f"[{table}]\n")
        parts.append(f"{_comment(key.about)}# {key.path[-1]} = {literal(key.default)}\n")
    rules = next(key for key in KEYS if key.kind == RULES)
    agents = [
        f"# {key.path[-1]} = {literal(key.default or '~/agents/codex-home')}  # {key.about}\n"
        for key in KEYS
        if NAME in key.path
    ]
    return "\n".join([*parts, _comment(rules.about) + _RULES, "# [agents.codex]\n" + "".join(agents)])


def literal(value: Any) -> str:
    """Return a value as TOML has it, on one line."""
    import json

    if isinstance(value, bool):
        return "true" if value else "false"
    # What JSON escapes, TOML escapes in the same way, except for one character.
    return (
        json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        if isinstance(value, str)
        else str(value)
    )


def write_first(home: str) -> bool:
    """Write the first config file; False if there is one already, or none can be written."""
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(os.path.join(home, CONFIG), flags, 0o600), "wb") as file:
            file.write(template().encode())
    except OSError:
        return False
    return True


def _comment(text: str) -> str:
    import textwrap

    return "".join(f"# {line}\n" for line in textwrap.wrap(text, _WIDTH - 2))
