"""Read the store of sessionmem, or a JSON file of `sessionmem export` or its team sync."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping
from typing import Any

from told.jsontext import as_dict, as_millis, as_text
from told.pattern import lazy_pattern
from told.store.memories.names import ACTIVE, ARCHIVED
from told.sync.stores.item import Item, LeftOut
from told.sync.stores.reading import (
    NotAStoreError,
    count_rows,
    id_text,
    number_of,
    open_database,
    read_json,
    read_rows,
    text_list,
)

TOOL = "sessionmem"
_FILE = "memories.db"
_MEMORY = (
    "id", "project_id", "session_id", "source_adapter", "kind", "content", "importance", "created_at",
    "updated_at", "author", "origin_project_id", "tags", "expires_at",
)  # fmt: skip
_KINDS = {"decision": "decision", "warning": "warning", "preference": "preference", "summary": "observation"}
_HASH = lazy_pattern(r"-[0-9a-f]{8}\Z")  # of the folder's path, which differs between machines


def places(home: str, environ: Mapping[str, str]) -> list[str]:
    """Return where sessionmem keeps its store."""
    return [environ.get("SESSIONMEM_DB_PATH") or os.path.join(home, ".sessionmem", _FILE)]


def read(path: str) -> Iterator[Item | LeftOut]:
    """Yield the memories of a store, its folder or an export."""
    if path.endswith(".json"):
        yield from _read_export(path)
        return
    if os.path.isdir(path):
        path = os.path.join(path, _FILE)
    with open_database(path, TOOL, "memories", ("id", "project_id", "kind", "content")) as database:
        for row in read_rows(database, "memories", _MEMORY):
            yield _read_memory(row)
        events = count_rows(database, "session_events")
        if events:
            yield LeftOut(
                "session_events", "raw tool calls: told reads them from the agents' own files", events
            )
        deleted = sum(
            1 for _ in read_rows(database, "memory_feedback", (), "feedback_type = 'manual_delete'")
        )
        if deleted:
            yield LeftOut("memory_feedback", "deleted there, with the text", deleted)


def _read_export(path: str) -> Iterator[Item | LeftOut]:
    found = read_json(path, TOOL)
    rows = as_dict(found).get("memories", found)
    if not isinstance(rows, list):
        raise NotAStoreError(
            f"{path} is not an export of {TOOL}: it has no list of memories. Check the path."
        )
    for row in rows:
        yield _read_memory({_snake(name): value for name, value in as_dict(row).items()})


def _read_memory(row: dict[str, Any]) -> Item:
    expires = as_millis(row.get("expires_at"))
    source = id_text(row.get("id")) or id_text(row.get("memory_id"))
    is_commit = source.startswith("gitcommit-")  # its hook stores each as a decision
    return Item(
        source,
        as_text(row.get("content")),
        "observation" if is_commit else _KINDS.get(as_text(row.get("kind")), "fact"),
        _HASH.sub("", as_text(row.get("project_id"))),
        as_millis(row.get("created_at")),
        as_millis(row.get("updated_at")),
        status=ARCHIVED if 0 < expires < time.time() * 1000 else ACTIVE,
        importance=number_of(row.get("importance")),
        entities=text_list(row.get("tags")),
        agent=as_text(row.get("source_adapter")),
        session=as_text(row.get("session_id")),
        context=f"from {as_text(row.get('author'))}" if row.get("origin_project_id") else "",
    )


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()
