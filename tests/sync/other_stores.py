"""The stores in tests/data/stores, which runs of the real tools made: `python -m lab.stores`."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

from told.sync.stores import read_store
from told.sync.stores.item import Item, LeftOut

DATA = Path(__file__).parents[1] / "data" / "stores"
# Every form that a reader accepts.
STORES = (
    ("claude-mem", "claude-mem.db"),
    ("agentmemory", "state_store.db"),
    ("agentmemory", "standalone.json"),
    ("agentmemory", "export.json"),
    ("agentmemory-rrs", "memory.db"),
    ("sessionmem", "memories.db"),
    ("sessionmem", "export.json"),
    ("ocm", "memory.db"),
    ("agent-memory", "dump.sql"),
    ("agent-memory", "answers.json"),
    ("mem0", "history.db"),
    ("mem0", "storage.sqlite"),
    ("mem0", "get_all.json"),
    ("basic-memory", "basic-memory"),
    ("engram", "engram.db"),
    ("mcp-memory", "memory.jsonl"),
    ("claude-memory", "projects"),
)
DATABASES = tuple(one for one in STORES if one[1].endswith((".db", ".sqlite")) and one[0] != "agentmemory")


def unpack(tool: str, name: str, folder: Path) -> Path:
    """Copy a tool's stores to a folder; return the path of one of them."""
    target = folder / tool
    shutil.copytree(DATA / tool, target)
    for packed in target.rglob("*.gz"):
        packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))
        packed.unlink()
    return target / name


def items_of(tool: str, path: Path | str) -> dict[str, Item]:
    """Return the items of a store by their source."""
    return {one.source: one for one in read_store(tool, str(path)) if isinstance(one, Item)}


def left_out_of(tool: str, path: Path | str) -> dict[str, tuple[str, int]]:
    """Return reason and count of what is left out of a store, by its source."""
    found = read_store(tool, str(path))
    return {one.source: (one.reason, one.count) for one in found if isinstance(one, LeftOut)}
