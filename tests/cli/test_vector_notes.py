"""`told health` reports missing vectors and a missing vector table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.recall.test_recall_meaning import SAID, memory
from told.cli.health import vector_notes
from told.search.index_text import make_index_fields
from told.search.vectors import table as vector_table
from told.store.memories.read import SqliteMemories, memory_path, open_memory_database
from told.store.memories.records import IndexFields

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_health_reports_a_damaged_vector_table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for damaged in (None, b"", b"told meaning 1 " + b"x" * 500):
        path = tmp_path / f"{damaged!r:.8}.bin"
        if damaged is not None:
            path.write_bytes(damaged)
        monkeypatch.setattr(vector_table, "TABLE_PATH", str(path))
        assert vector_notes(str(tmp_path))
    monkeypatch.undo()
    assert vector_notes(str(tmp_path)) == []


def test_health_reports_memories_without_vectors(tmp_path: Path) -> None:
    connection = open_memory_database(memory_path(str(tmp_path)))
    assert connection is not None
    memories = SqliteMemories(connection)
    with memories.writer.transaction():
        memories.writer.put(memory(0, SAID[0]), lambda *_: IndexFields(""))
    assert "told re-embed" in vector_notes(str(tmp_path))[0]
    with memories.writer.transaction():
        memories.writer.put(memory(0, SAID[1]), make_index_fields)
    assert vector_notes(str(tmp_path)) == []
    connection.close()
