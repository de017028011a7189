"""Read the store of engram, or the JSON file of `engram export`."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from told.jsontext import as_dict, as_list, as_millis, as_text
from told.store.memories.names import ACTIVE, FORGOTTEN, SUPERSEDED
from told.sync.stores.item import Item, LeftOut
from told.sync.stores.reading import NotAStoreError, id_text, open_database, read_json, read_rows
from told.sync.stores.statements import join_title

TOOL = "engram"
_FILE = "engram.db"
_OBSERVATION = (
    "id", "sync_id", "session_id", "type", "title", "content", "project", "scope", "topic_key", "created_at",
    "updated_at", "deleted_at",
)  # fmt: skip
_KINDS = {
    "decision": "decision", "architecture": "decision", "preference": "preference",
    "session_summary": "observation", "passive": "observation",
}  # fmt: skip
_RAW = ("tool_use", "file_change", "command", "file_read", "search")
_RELATIONS = {"supersedes": "supersedes", "conflicts_with": "contradicts", "related": "about"}

_Rows = Callable[[str, tuple[str, ...]], Iterator[dict[str, Any]]]


def places(home: str, environ: Mapping[str, str]) -> list[str]:
    """Return where engram keeps its store."""
    return [os.path.join(environ.get("ENGRAM_DATA_DIR") or os.path.join(home, ".engram"), _FILE)]


def read(path: str) -> Iterator[Item | LeftOut]:
    """Yield what is in a store, its folder or an export."""
    if path.endswith(".json"):
        found = as_dict(read_json(path, TOOL))
        if not isinstance(found.get("observations"), list):
            raise NotAStoreError(
                f"{path} is not an export of {TOOL}: it has no observations. Check the path."
            )
        names = {"user_prompts": "prompts"}
        yield from _read_tables(
            lambda table, _: (as_dict(row) for row in as_list(found.get(names.get(table, table))))
        )
        return
    if os.path.isdir(path):
        path = os.path.join(path, _FILE)
    with open_database(path, TOOL, "observations", ("session_id", "type", "title", "content")) as database:
        yield from _read_tables(lambda table, columns: read_rows(database, table, columns))


def _read_tables(rows: _Rows) -> Iterator[Item | LeftOut]:
    links = _read_relations(rows)
    replaced = {other for found in links.values() for kind, other in found if kind == "supersedes"}
    raw = 0
    for row in rows("observations", _OBSERVATION):
        if as_text(row.get("type")) in _RAW:
            raw += 1
        else:
            yield _read_observation(row, links, replaced)
    for row in rows("sessions", ("id", "project", "started_at", "ended_at", "summary")):
        if as_text(row.get("summary")).strip():
            yield Item(
                f"session/{id_text(row.get('id'))}",
                as_text(row.get("summary")),
                "observation",
                as_text(row.get("project")),
                as_millis(row.get("ended_at")) or as_millis(row.get("started_at")),
                session=id_text(row.get("id")),
            )
    prompts = sum(1 for _ in rows("user_prompts", ("id",)))
    if raw:
        yield LeftOut("observations", "raw tool calls: told reads them from the agents' own files", raw)
    if prompts:
        yield LeftOut("user_prompts", "raw prompts: told reads them from the agents' own files", prompts)


def _read_observation(
    row: dict[str, Any], links: dict[str, list[tuple[str, str]]], replaced: set[str]
) -> Item:
    source = _source(row)
    status = SUPERSEDED if source in replaced else ACTIVE
    return Item(
        source,
        join_title(as_text(row.get("title")), as_text(row.get("content"))),
        _KINDS.get(as_text(row.get("type")), "fact"),
        "" if as_text(row.get("scope")) == "personal" else as_text(row.get("project")),
        as_millis(row.get("created_at")),
        as_millis(row.get("updated_at")),
        status=FORGOTTEN if row.get("deleted_at") else status,
        entities=tuple(filter(None, (as_text(row.get("topic_key")),))),
        links=tuple(links[source]),
        session=as_text(row.get("session_id")),
    )


def _read_relations(rows: _Rows) -> dict[str, list[tuple[str, str]]]:
    """Return the links of observations; older versions have none."""
    links: dict[str, list[tuple[str, str]]] = defaultdict(list)
    relations = [
        (
            as_text(row.get("source_id")),
            as_text(row.get("target_id")),
            _RELATIONS[as_text(row.get("relation"))],
        )
        for row in rows("memory_relations", ("source_id", "target_id", "relation"))
        if as_text(row.get("relation")) in _RELATIONS
    ]
    if not relations:
        return links
    sources = {as_text(row.get("sync_id")): _source(row) for row in rows("observations", ("id", "sync_id"))}
    for start, end, kind in relations:
        if start in sources and end in sources:
            links[sources[start]].append((kind, sources[end]))
    return links


def _source(row: dict[str, Any]) -> str:
    return f"observation/{id_text(row.get('id'))}"
