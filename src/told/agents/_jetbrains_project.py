"""Finds the project of a session whose records name files but no project."""

from __future__ import annotations

import os

# No project lies deeper than this.
_MAX_PARENTS = 40


def project_of(path: str) -> str:
    """Return the nearest folder above a file that is under version control; empty if there is none."""
    if not os.path.isabs(path) or "\0" in path:
        return ""
    folder = os.path.dirname(path)
    for _ in range(_MAX_PARENTS):
        if os.path.exists(os.path.join(folder, ".git")):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
    return ""
