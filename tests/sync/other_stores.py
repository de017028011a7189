"""The stores in tests/data/stores, which runs of the real tools made: `python -m lab.stores`."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

from told.errors import ToldError
from told.memories.remember import validate_text
from told.store.memories.records import OBSERVATION, split_kind
from told.sync.stores import read_store
from told.sync.stores.item import Item, LeftOut
from told.sync.stores.statements import MAX_TEXT
from told.text import clean

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
LINKS = {"supports", "contradicts", "supersedes", "about"}
STATUSES = {"active", "candidate", "archived", "superseded", "forgotten"}
KINDS = {"rule", "decision", "fact", "correction", "preference", "warning", OBSERVATION}


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


def files_of(path: Path) -> list[Path]:
    """Return a file, or the files below a folder."""
    return sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]


def check(found: list[Item | LeftOut]) -> None:
    """Check everything that told relies on."""
    sources = [one.source for one in found if isinstance(one, Item)]
    assert len(set(sources)) == len(sources)
    for one in found:
        assert clean(one.source) == one.source
        assert "\n" not in one.source
        if isinstance(one, LeftOut):
            assert one.reason
            assert one.count > 0
            continue
        assert validate_text(one.text) == one.text
        assert len(one.text) <= MAX_TEXT
        for text in (one.text, one.context, one.project, one.agent, one.session, *one.entities):
            text.encode()
            assert not any(ord(sign) < 32 or ord(sign) == 127 for sign in text)
        assert one.kind in KINDS
        assert split_kind(one.kind)
        assert one.status in STATUSES
        assert one.trust == "agent"
        assert 0 <= one.importance <= 10
        assert 0 <= one.created <= one.updated or one.created == 0
        assert all(kind in LINKS and other for kind, other in one.links)


def read_or_refuse(tool: str, path: Path) -> list[Item | LeftOut]:
    """Read a store; an error must be told's own, in one sentence or two."""
    try:
        found = list(read_store(tool, str(path)))
    except ToldError as error:
        refusal = str(error)
    else:
        check(found)
        return found
    assert 10 < len(refusal) < 600
    assert "\n" not in refusal
    return []
