"""Finds the folder a chat of Gemini CLI was held in, which its file seldom says."""

from __future__ import annotations

import os

from told.agents.text import items, mapping, text
from told.guard.files import NotReadableError, read_document
from told.guard.jsonl import json_document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.model import Source

_MAX_PATH = 4096


def folder_of(source: Source, head: dict[str, Any]) -> str:
    """Return the project's folder from the chat's head, the project list, or the note beside the chats."""
    named = next((path for path in items(head.get("directories")) if isinstance(path, str) and path), "")
    return named or _listed(source, text(head.get("projectHash"))) or _noted(source)


def _project(source: Source) -> str:
    """Return the name of the project's folder below `tmp`."""
    return os.path.relpath(source.path, os.path.join(source.root, "tmp")).split(os.sep)[0]


def _listed(source: Source, digest: str) -> str:
    projects = mapping(mapping(json_document(os.path.join(source.root, "projects.json"))).get("projects"))
    name = _project(source)
    for path, given in projects.items():
        if given == name:
            return path
    return next((path for path in projects if digest and _hash(path) == digest), "")


def _noted(source: Source) -> str:
    try:
        note = read_document(os.path.join(source.root, "tmp", _project(source), ".project_root"), _MAX_PATH)
    except NotReadableError:
        return ""
    return note.decode(errors="replace").strip()


def _hash(path: str) -> str:
    import hashlib

    return hashlib.sha256(path.encode(errors="replace")).hexdigest()
