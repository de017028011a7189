"""Helpers to write journals in tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from told.journal.append import Written, append
from told.journal.files import Damage, Draft, Operation
from told.journal.fold import fold_family, group_by_family
from told.journal.read import read_operations
from told.store.memories.records import LINK_TABLES

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import apsw

    from told.store.memories.records import Memory

NOW = 1_750_000_000_000


def remember(home: Path, text: str, at: int = NOW, by: str = "user", **more: Any) -> str:
    return append(str(home), [Draft("remember", by, {"text": text, **more})], now=at)[0].memory


def do(home: Path, kind: str, memory: str = "", at: int = NOW, by: str = "user", **payload: Any) -> Written:
    return append(str(home), [Draft(kind, by, payload, memory)], now=at)[0]


def journal(home: Path) -> str:
    return str(home / "journal")


def operations(home: Path) -> list[Operation]:
    return [found for found in read_operations(journal(home)) if isinstance(found, Operation)]


def damages(home: Path) -> list[Damage]:
    return [found for found in read_operations(journal(home)) if isinstance(found, Damage)]


def segment(home: Path) -> Path:
    return max(home.glob("journal/*/*.jsonl"))


def fold(every: Iterable[Operation]) -> dict[str, Memory]:
    made: dict[str, Memory] = {}
    for family, touching in sorted(group_by_family(every).items()):
        made |= {name: folded.memory for name, folded in fold_family(family, touching).items()}
    return made


def dump_tables(connection: apsw.Connection) -> dict[str, list[Any]]:
    """Return every row that is derived from the journal."""
    found = {
        name: connection.execute(f"SELECT * FROM {name}").fetchall()
        for name in (*LINK_TABLES, "shown", "noted", "orphan", "word_of", "memory", "meaning_of")
    }
    terms = connection.execute("SELECT term, doc, cnt FROM memory_vocabulary").fetchall()
    return {name: sorted(rows) for name, rows in found.items()} | {"words": sorted(terms)}
