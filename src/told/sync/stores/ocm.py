"""Read the stores of openCodeMemory: what sessions decided, did and left to do."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from told.jsontext import as_dict, as_list, as_millis, as_text, parse_json
from told.sync.stores.item import Item, LeftOut
from told.sync.stores.reading import id_text, open_database, read_json, read_rows

TOOL = "openCodeMemory"
_FOLDER, _FILE, _REGISTRY = ".openCodeMemory", "memory.db", "registry.json"
_SESSION = ("id", "project", "tool", "started_at", "goal")
_CHUNK = ("id", "session_id", "chunk_type", "content", "created_at")
_KINDS = {
    "decision": ("decision", ""),
    "work_summary": ("observation", ""),
    "work_completed": ("observation", "Done: "),
    "work_pending": ("observation", "To do: "),
    "reference": ("fact", "Reference: "),
    "plan_file": ("fact", "Plan: "),
}


def places(home: str, environ: Mapping[str, str]) -> list[str]:
    """Return where openCodeMemory keeps its list of projects, or one project's store."""
    one = environ.get("OCM_PROJECT_DIR")
    return [os.path.join(one, _FOLDER)] if one else [os.path.join(home, _FOLDER)]


def read(path: str) -> Iterator[Item | LeftOut]:
    """Yield what is in a store, a project's folder, or in all registered projects."""
    folder = os.path.join(path, _FOLDER) if os.path.isdir(os.path.join(path, _FOLDER)) else path
    if not os.path.isdir(folder):
        yield from _read_database(folder)
        return
    registry = os.path.join(folder, _REGISTRY)
    if not os.path.exists(registry):
        yield from _read_database(os.path.join(folder, _FILE))
        return
    paths = [as_text(as_dict(one).get("db_path")) for one in as_list(read_json(registry, TOOL))]
    paths.insert(0, os.path.join(folder, _FILE))
    for database in dict.fromkeys(filter(None, paths)):
        if os.path.exists(database):
            yield from _read_database(database)
        elif database != paths[0]:  # sessions outside of projects are rare
            yield LeftOut(database, "a registered project whose store is gone")


def _read_database(path: str) -> Iterator[Item | LeftOut]:
    with open_database(path, TOOL, "session_chunks", ("session_id", "chunk_type", "content")) as database:
        sessions = {id_text(row["id"]): row for row in read_rows(database, "sessions", _SESSION)}
        files: dict[str, list[str]] = defaultdict(list)
        for row in read_rows(database, "session_files", ("session_id", "file_path")):
            files[id_text(row["session_id"])].append(as_text(row["file_path"]))
        for row in read_rows(database, "session_chunks", _CHUNK):
            session = id_text(row["session_id"])
            yield _read_chunk(row, session, sessions.get(session, {}), files[session])


def _read_chunk(row: dict[str, Any], session: str, about: dict[str, Any], files: list[str]) -> Item | LeftOut:
    source, chunk = f"{session}/{id_text(row['id'])}", as_text(row["chunk_type"])
    if chunk not in _KINDS:
        return LeftOut(source, "a summary of changed files, which git has")
    kind, start = _KINDS[chunk]
    text = as_text(row["content"])
    if chunk in ("reference", "plan_file"):
        parsed = as_dict(parse_json(text))
        names = [as_text(parsed.get(name)).lstrip("# ") for name in ("title", "header", "url", "path")]
        text = " ".join(filter(None, names)) or text
    return Item(
        source,
        start + text if text.strip() else "",
        kind,
        as_text(about.get("project")),
        as_millis(row["created_at"]) or as_millis(about.get("started_at")),
        entities=tuple(files),
        agent=as_text(about.get("tool")),
        session=session,
        context=as_text(about.get("goal")),
    )
