"""Read `memory.jsonl`, the knowledge graph of the MCP memory server."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping
from typing import Any

from told.jsontext import as_list, as_text, parse_json, read_raw_lines
from told.model import Problem
from told.sync.stores.item import Item, LeftOut
from told.sync.stores.reading import NotAStoreError, explain, file_time, require_path
from told.sync.stores.statements import text_key

TOOL = "the MCP memory server"
_FILE = "memory.jsonl"
_KINDS = {"decision": "decision", "preference": "preference", "rule": "rule", "warning": "warning"}


def places(home: str, environ: Mapping[str, str]) -> list[str]:
    """Return where the server keeps its file: the configured place, else beside its own code."""
    one = environ.get("MEMORY_FILE_PATH")
    if one:
        return [one]
    package = os.path.join("node_modules", "@modelcontextprotocol", "server-memory", "dist", _FILE)
    pattern = os.path.join(glob.escape(home), ".npm", "_npx", "*", package)
    return sorted(glob.glob(pattern), key=file_time, reverse=True) or [os.path.join(home, _FILE)]


def read(path: str) -> Iterator[Item | LeftOut]:
    """Yield one item for each observation and each relation."""
    if os.path.isdir(path):
        path = os.path.join(path, _FILE)
    require_path(path, TOOL)
    is_known = is_foreign = False
    for number, (raw, _) in enumerate(read_raw_lines(path, 0), 1):
        if isinstance(raw, Problem):
            if not raw.line:
                raise explain(path, TOOL, raw.reason)
            yield LeftOut(f"line {number}", raw.reason)
            continue
        if not raw.strip(b" \t\r\n\0\xef\xbb\xbf"):
            continue
        row = parse_json(raw.strip(b" \t\r\n\0").removeprefix(b"\xef\xbb\xbf"))
        kind = row.get("type") if isinstance(row, dict) else None
        if kind == "entity":
            yield from _read_entity(row)
        elif kind == "relation":
            yield _read_relation(row)
        else:
            is_foreign = True
            if not is_known and number > 10:
                break
            yield LeftOut(f"line {number}", row if isinstance(row, str) else "not an entity or relation")
            continue
        is_known = True
    if is_foreign and not is_known:
        raise NotAStoreError(f"{path} is not a store of {TOOL}: no line is an entity. Check the path.")


def _read_entity(row: dict[str, Any]) -> Iterator[Item | LeftOut]:
    name, kind = as_text(row.get("name")).strip(), as_text(row.get("entityType")).strip()
    observations = [one for one in as_list(row.get("observations")) if isinstance(one, str)]
    if not observations:
        yield LeftOut(f"entity/{name}", "an entity without observations")
    for text in dict.fromkeys(observations):
        is_named = name.casefold() in text.casefold()
        yield Item(
            f"entity/{text_key(name, text)}",
            text if is_named or not text.strip() else f"{name}: {text}",
            _KINDS.get(kind.casefold(), "fact"),
            entities=(name, kind),
        )


def _read_relation(row: dict[str, Any]) -> Item:
    start, kind, end = (as_text(row.get(name)).strip() for name in ("from", "relationType", "to"))
    text = f"{start} {kind.replace('_', ' ')} {end}." if start and end else ""
    return Item(f"relation/{text_key(start, kind, end)}", text, entities=(start, end))
