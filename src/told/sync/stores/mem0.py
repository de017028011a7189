"""Read mem0: its history, its local vector store, or a JSON file of `get_all` or its server.

The history has every memory's text and deletion; the vector store adds whose it is and its metadata.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from told.jsontext import as_dict, as_list, as_millis, as_text
from told.store.memories.names import ACTIVE, FORGOTTEN
from told.sync.stores.item import Item, LeftOut
from told.sync.stores.literal_pickle import find_payload
from told.sync.stores.reading import (
    NotAStoreError,
    id_text,
    open_database,
    read_json,
    read_rows,
    require_path,
    tag_list,
)

TOOL = "mem0"
_HISTORY, _POINTS = "history.db", "storage.sqlite"
_EVENT = (
    "memory_id",
    "old_memory",
    "new_memory",
    "event",
    "created_at",
    "updated_at",
    "is_deleted",
    "actor_id",
)
_NO_TEXT = "its text is in a vector store that told cannot read; export it with Memory.get_all()"


def places(home: str, environ: Mapping[str, str]) -> list[str]:
    """Return where mem0 keeps its history."""
    return [os.path.join(environ.get("MEM0_DIR") or os.path.join(home, ".mem0"), _HISTORY)]


def read(path: str) -> Iterator[Item | LeftOut]:
    """Yield the memories of a history, a store of Qdrant, a folder with one, or a JSON file."""
    require_path(path, TOOL)
    if os.path.isdir(path):
        path = _find_in_folder(path)
    if path.endswith(".json"):
        yield from _read_export(path)
    elif os.path.basename(path) == _POINTS:
        yield from _read_points(path)
    else:
        yield from _read_history(path)


def _find_in_folder(folder: str) -> str:
    for names in ((_HISTORY,), (_POINTS,), ("collection", "mem0", _POINTS)):
        path = os.path.join(folder, *names)
        if os.path.isfile(path):
            return path
    raise NotAStoreError(f"{folder} has no {_HISTORY} and no {_POINTS} of {TOOL}. Check the path.")


def _read_history(path: str) -> Iterator[Item | LeftOut]:
    memories: dict[str, dict[str, Any]] = {}
    with open_database(path, TOOL, "history", ("memory_id", "new_memory", "event")) as database:
        for row in read_rows(database, "history", _EVENT):
            known = memories.setdefault(id_text(row["memory_id"]), {})
            known["created"] = known.get("created") or as_millis(row["created_at"])
            known["updated"] = as_millis(row["updated_at"]) or known["created"]
            text = as_text(row["new_memory"])
            known["text"] = text or as_text(row["old_memory"]) or known.get("text", "")
            known["deleted"] = as_text(row["event"]) == "DELETE" or bool(row["is_deleted"])
            known["agent"] = as_text(row["actor_id"]) or known.get("agent", "")
    for source, known in memories.items():
        if not known["text"].strip():
            yield LeftOut(source, _NO_TEXT)
            continue
        yield Item(
            source,
            known["text"],
            created=known["created"],
            updated=known["updated"],
            status=FORGOTTEN if known["deleted"] else ACTIVE,
            agent=known["agent"],
        )


def _read_points(path: str) -> Iterator[Item | LeftOut]:
    with open_database(path, TOOL, "points", ("id", "point")) as database:
        for row in read_rows(database, "points", ("id", "point")):
            found = find_payload(row["point"])
            if found is None:
                yield LeftOut(id_text(row["id"]), _NO_TEXT)
            else:
                yield _read_memory({"id": found[0], **found[1]})


def _read_export(path: str) -> Iterator[Item | LeftOut]:
    found = read_json(path, TOOL)
    rows = found
    for name in ("results", "memories"):
        rows = as_dict(found).get(name, rows)
    if not isinstance(rows, list):
        raise NotAStoreError(f"{path} is not an export of {TOOL}: it has no results. Check the path.")
    for row in as_list(rows):
        yield _read_memory(as_dict(row))


def _read_memory(row: dict[str, Any]) -> Item:
    metadata = {**as_dict(row.get("payload")), **as_dict(row.get("metadata")), **row}
    return Item(
        id_text(row.get("id")),
        as_text(metadata.get("memory")) or as_text(metadata.get("data")),
        project=as_text(metadata.get("project")) or as_text(metadata.get("app_id")),
        created=as_millis(metadata.get("created_at")),
        updated=as_millis(metadata.get("updated_at")),
        entities=(*tag_list(metadata.get("categories")), *tag_list(metadata.get("tags"))),
        agent=as_text(metadata.get("agent_id")),
        session=as_text(metadata.get("run_id")),
    )
