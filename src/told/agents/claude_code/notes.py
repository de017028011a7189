"""Where Claude Code keeps its own memory of a project: MEMORY.md and topic files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from told.agents.base import expand_path
from told.files import NotReadableError, read_document
from told.pattern import lazy_pattern

_MAX_SETTINGS = 1 << 20
_NOT_IN_NAMES = lazy_pattern(r"[^A-Za-z0-9]")


def find_notes_folder(environ: Mapping[str, str], root: str) -> str:
    """Return the folder with Claude Code's memory of a project; empty if it cannot be known.

    A variable comes first, then the user's settings, then the default. A project's settings do not count.
    """
    given = environ.get("CLAUDE_COWORK_MEMORY_PATH_OVERRIDE", "")
    folder = environ.get("CLAUDE_CONFIG_DIR", "") or expand_path("~/.claude", environ)
    given = given or _read_setting(os.path.join(folder, "settings.json"))
    if given:
        return expand_path(given, environ) if os.path.isabs(expand_path(given, environ)) else ""
    return os.path.join(folder, "projects", _NOT_IN_NAMES.sub("-", root), "memory") if folder else ""


def _read_setting(path: str) -> str:
    try:
        found = json.loads(read_document(path, _MAX_SETTINGS))
    except (NotReadableError, OSError, ValueError, RecursionError):
        return ""
    value = found.get("autoMemoryDirectory") if isinstance(found, dict) else ""
    return value if isinstance(value, str) else ""
