"""Read the store of claude-mem: observations, their facts, and session summaries.

The store is `claude-mem.db`; its export, a JSON file with the same tables, is read as well.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from told.jsontext import as_dict, as_list, as_millis, as_text
from told.sync.stores.item import Item, LeftOut
from told.sync.stores.reading import (
    NotAStoreError,
    count_rows,
    id_text,
    open_database,
    read_json,
    read_rows,
    text_list,
)
from told.sync.stores.statements import add_facts, join_title

TOOL = "claude-mem"
_FILE = "claude-mem.db"
_SESSION = ("memory_session_id", "content_session_id", "platform_source")
_OBSERVATION = (
    "id", "memory_session_id", "project", "merged_into_project", "text", "type", "title", "subtitle", "facts",
    "narrative", "concepts", "files_read", "files_modified", "created_at", "created_at_epoch",
)  # fmt: skip
_SUMMARY = (
    "id", "memory_session_id", "project", "merged_into_project", "request", "learned", "next_steps", "notes",
    "files_edited", "created_at", "created_at_epoch",
)  # fmt: skip
_KINDS = {
    "decision": "decision", "discovery": "fact", "security_alert": "warning", "security_note": "warning",
}  # fmt: skip
# Of a summary; the rest says what was done, which the observations say in more detail.
_PARTS = (("learned", ""), ("next_steps", "Next steps: "), ("notes", ""))
_LEFT_OUT = (
    ("user_prompts", "raw prompts: told reads them from the agents' own files"),
    ("tool_uses", "raw tool calls: told reads them from the agents' own files"),
)

_Rows = Callable[[str, tuple[str, ...]], Iterator[dict[str, Any]]]


def places(home: str, environ: Mapping[str, str]) -> list[str]:
    """Return where claude-mem keeps its store."""
    folder = environ.get("CLAUDE_MEM_DATA_DIR") or os.path.join(home, ".claude-mem")
    return [os.path.join(folder, _FILE)]


def read(path: str) -> Iterator[Item | LeftOut]:
    """Yield what is in a store, its folder or an export."""
    if path.endswith(".json"):
        yield from _read_export(path)
        return
    if os.path.isdir(path):
        path = os.path.join(path, _FILE)
    with open_database(path, TOOL, "observations", ("type", "title", "memory_session_id")) as database:
        yield from _read_tables(lambda table, columns: read_rows(database, table, columns))
        for table, reason in _LEFT_OUT:
            number = count_rows(database, table)
            if number:
                yield LeftOut(table, reason, number)


def _read_export(path: str) -> Iterator[Item | LeftOut]:
    found = as_dict(read_json(path, TOOL))
    if not isinstance(found.get("observations"), list):
        raise NotAStoreError(f"{path} is not an export of {TOOL}: it has no observations. Check the path.")
    names = {"sdk_sessions": "sessions", "session_summaries": "summaries"}
    yield from _read_tables(
        lambda table, _: (as_dict(row) for row in as_list(found.get(names.get(table, table))))
    )
    prompts = len(as_list(found.get("prompts")))
    if prompts:
        yield LeftOut(*_LEFT_OUT[0], prompts)


def _read_tables(rows: _Rows) -> Iterator[Item | LeftOut]:
    sessions = {
        as_text(row.get("memory_session_id")): (
            as_text(row.get("platform_source")),
            as_text(row.get("content_session_id")),
        )
        for row in rows("sdk_sessions", _SESSION)
    }
    for row in rows("observations", _OBSERVATION):
        yield from _read_observation(row, sessions)
    for row in rows("session_summaries", _SUMMARY):
        yield from _read_summary(row, sessions)


def _read_observation(row: dict[str, Any], sessions: dict[str, tuple[str, str]]) -> Iterator[Item | LeftOut]:
    title = as_text(row.get("title"))
    bodies = (as_text(row.get(name)).strip() for name in ("narrative", "text", "subtitle"))
    concepts = text_list(row.get("concepts"))
    agent, session = sessions.get(as_text(row.get("memory_session_id")), ("", ""))
    item = Item(
        f"observation/{id_text(row.get('id')) or _key(row)}",
        join_title(title, next(filter(None, bodies), "")),
        _KINDS.get(as_text(row.get("type")), "warning" if "gotcha" in concepts else "observation"),
        _project(row),
        _created(row),
        entities=(*concepts, *text_list(row.get("files_modified")), *text_list(row.get("files_read"))),
        agent=agent,
        session=session,
    )
    yield from add_facts(item, title, text_list(row.get("facts")))


def _read_summary(row: dict[str, Any], sessions: dict[str, tuple[str, str]]) -> Iterator[Item | LeftOut]:
    agent, session = sessions.get(as_text(row.get("memory_session_id")), ("", ""))
    source = f"summary/{id_text(row.get('id')) or _key(row)}"
    is_empty = True
    for name, start in _PARTS:
        text = as_text(row.get(name)).strip()
        if text:
            is_empty = False
            yield Item(
                f"{source}/{name}",
                start + text,
                "observation",
                _project(row),
                _created(row),
                entities=text_list(row.get("files_edited")),
                agent=agent,
                session=session,
                context=as_text(row.get("request")),
            )
    if is_empty:
        yield LeftOut(source, "a summary without anything learned")


def _key(row: dict[str, Any]) -> str:
    """Return an id for a row of an export, which has none."""
    return f"{as_text(row.get('memory_session_id'))}/{_created(row)}/{as_text(row.get('title'))}"


def _project(row: dict[str, Any]) -> str:
    return as_text(row.get("merged_into_project")) or as_text(row.get("project"))


def _created(row: dict[str, Any]) -> int:
    return as_millis(row.get("created_at_epoch")) or as_millis(row.get("created_at"))
