"""Read the stores of agentmemory-rrs: one database of beliefs for each project folder."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from told.files import NotReadableError, read_document
from told.jsontext import as_millis, as_text
from told.store.foreign import ForeignDatabase
from told.store.memories.names import ACTIVE, CANDIDATE, FORGOTTEN, SUPERSEDED
from told.sync.stores.item import Item, LeftOut
from told.sync.stores.reading import (
    NotAStoreError,
    count_rows,
    id_text,
    open_database,
    read_rows,
    require_path,
)

TOOL = "agentmemory-rrs"
_FILE = "memory.db"
_LOCKED_IMPORTANCE = 9.0
_BELIEF = (
    "id", "content", "belief_type", "locked", "valid_to", "superseded_by", "created_at", "updated_at",
    "session_id",
)  # fmt: skip
_KINDS = {"preference": "preference", "correction": "correction", "requirement": "rule"}
_EDGES = {
    "SUPPORTS": "supports", "CONTRADICTS": "contradicts", "SUPERSEDES": "supersedes", "RELATES_TO": "about",
}  # fmt: skip
_LEFT_OUT = (
    ("observations", "raw text from which the beliefs were made"),
    ("checkpoints", "working notes of sessions that have ended"),
)


def places(home: str, environ: Mapping[str, str]) -> list[str]:
    """Return where agentmemory-rrs keeps its stores."""
    one = environ.get("AGENTMEMORY_DB")
    return [one] if one else [os.path.join(home, ".agentmemory", "projects")]


def read(path: str) -> Iterator[Item | LeftOut]:
    """Yield the beliefs of one database, or of all below a folder."""
    if not os.path.isdir(path):
        yield from _read_database(path)
        return
    databases = _find_databases(path)
    if not databases:
        raise NotAStoreError(f"{path} has no {_FILE} of {TOOL}. Check the path.")
    for database in databases:
        yield from _read_database(database)


def _find_databases(folder: str) -> list[str]:
    """Return the database of a project's folder, or those of the projects and shared scopes in it."""
    if os.path.isfile(os.path.join(folder, _FILE)):
        return [os.path.join(folder, _FILE)]
    found = []
    for parent in (folder, os.path.join(folder, "projects"), os.path.join(folder, "shared")):
        names = sorted(os.listdir(parent)) if os.path.isdir(parent) else []
        found += [os.path.join(parent, name, _FILE) for name in names]
    return [one for one in found if os.path.isfile(one)]


def _read_database(path: str) -> Iterator[Item | LeftOut]:
    require_path(path, TOOL)
    project = _read_project(os.path.join(os.path.dirname(path), "project.txt"))
    with open_database(path, TOOL, "beliefs", ("id", "content", "belief_type", "valid_to")) as database:
        links = _read_links(database)
        for row in read_rows(database, "beliefs", _BELIEF):
            yield _read_belief(row, project, links)
        for table, reason in _LEFT_OUT:
            number = count_rows(database, table)
            if number:
                yield LeftOut(f"{project or path}: {table}", reason, number)


def _read_belief(row: dict[str, Any], project: str, links: dict[str, dict[str, str]]) -> Item:
    source, kind = id_text(row["id"]), as_text(row["belief_type"])
    status = ACTIVE
    if row["superseded_by"]:
        status = SUPERSEDED
    elif row["valid_to"]:
        status = FORGOTTEN
    elif kind == "speculative":
        status = CANDIDATE
    return Item(
        source,
        as_text(row["content"]),
        "rule" if row["locked"] else _KINDS.get(kind, "fact"),
        project,
        as_millis(row["created_at"]),
        as_millis(row["updated_at"]),
        status=status,
        importance=_LOCKED_IMPORTANCE if row["locked"] else 0.0,
        links=tuple((kind, other) for other, kind in links[source].items()),
        session=as_text(row["session_id"]),
    )


def _read_links(database: ForeignDatabase) -> dict[str, dict[str, str]]:
    """Return the kind of link from each belief to each other one."""
    links: dict[str, dict[str, str]] = defaultdict(dict)
    for row in read_rows(database, "beliefs", ("id", "superseded_by"), "superseded_by IS NOT NULL"):
        links[id_text(row["superseded_by"])][id_text(row["id"])] = "supersedes"
    for row in read_rows(database, "edges", ("from_id", "to_id", "edge_type")):
        kind = _EDGES.get(as_text(row["edge_type"]))
        if kind:
            links[id_text(row["from_id"])].setdefault(id_text(row["to_id"]), kind)
    return links


def _read_project(path: str) -> str:
    try:
        return read_document(path, 10_000).decode("utf-8", "replace").strip()
    except NotReadableError:
        return ""
