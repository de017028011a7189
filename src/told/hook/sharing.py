"""Cursor runs Claude Code's hooks beside its own: where told is in both, only one of them answers."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from told.agents.dialects import Call

_HOOKS = os.path.join(".cursor", "hooks.json")
_MARK = b"told.hook"
_MOST = 1_000_000


def answers_itself(call: Call, environ: Mapping[str, str]) -> bool:
    """Tell whether Cursor has a hook of told's own, for the user or in the project."""
    roots = (
        environ.get("HOME") or environ.get("USERPROFILE") or "",
        environ.get("CURSOR_PROJECT_DIR"),
        call.cwd,
    )
    return any(root and _has_hook(os.path.join(root, _HOOKS)) for root in roots)


def _has_hook(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return _MARK in file.read(_MOST)
    except OSError:
        return False
