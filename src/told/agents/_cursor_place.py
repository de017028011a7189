"""Finds the project folder that Cursor made the name of a transcripts folder from."""

from __future__ import annotations

import os
import re

from told.agents.text import mapping, text
from told.guard.jsonl import json_document

# Enough for any real path; a hostile tree of look-alike folders is given up on.
_MAX_LOOKS = 400


def project_folder(transcripts: str) -> str:
    """Return the project of a folder below `projects/`; empty when it cannot be told for certain."""
    trusted = mapping(json_document(os.path.join(transcripts, ".workspace-trusted")))
    return text(trusted.get("workspacePath")) or _resolved(os.path.basename(transcripts))


def _resolved(slug: str, root: str = "/") -> str:
    """Find the one existing folder whose path reads like the slug: every other character became `-`."""
    if os.name == "nt" and re.match(r"[A-Za-z]-", slug):
        root, slug = f"{slug[0]}:\\", slug[2:]
    found: list[str] = []
    waiting = [(root, slug)]
    for _ in range(_MAX_LOOKS):
        if not waiting:
            return found[0] if len(found) == 1 else ""
        folder, rest = waiting.pop()
        for name in _folders_in(folder):
            part = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")
            path = os.path.join(folder, name)
            if part and part == rest:
                found.append(path)
            elif part and rest.startswith(f"{part}-"):
                waiting.append((path, rest[len(part) + 1 :]))
    return ""


def _folders_in(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries if entry.is_dir()]
    except OSError:
        return []
