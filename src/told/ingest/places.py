"""Keeps which folder belongs to which project, since a folder that is gone can no longer tell."""

from __future__ import annotations

import json
import os

from told.agents.text import text
from told.guard.files import NotReadableError, read_document
from told.guard.jsonl import parse
from told.store.database import make_private_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.store.projects import Projects


def _path(home: str) -> str:
    return os.path.join(home, "archive", "places.jsonl")


def keep_places(projects: Projects, home: str) -> None:
    """Write down all places, if that is not what stands there already."""
    lines = [json.dumps(place, ensure_ascii=False) for place in projects.places()]
    content = "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")
    path = _path(home)
    try:
        if not content or read_document(path) == content:
            return
    except NotReadableError:
        pass
    make_private_folder(os.path.dirname(path))
    temporary = f"{path}.{os.getpid()}"
    with os.fdopen(os.open(temporary, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
    os.replace(temporary, path)


def recall_places(projects: Projects, home: str) -> None:
    """Take in the places that were written down, where the store knows none."""
    if projects.roots():
        return
    try:
        content = read_document(_path(home))
    except NotReadableError:
        return
    for line in content.splitlines():
        place = parse(line)
        if isinstance(place, list) and len(place) == 4 and all(map(text, place)):
            path, key, name, root = place
            projects.place(path, projects.put(key, name, root).id)
