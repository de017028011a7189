"""What only the file of memories does: notice damage, and leave no deleted byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.journal.writing import dump_tables
from tests.store.test_memories import memory, put
from told.jsontext import dump_json, load_json
from told.store.memories.read import SqliteMemories, memory_path, open_memory_database
from told.store.memories.records import Edge, IndexFields, Trigger
from told.store.memories.schema import find_damage, purge_memories

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteMemories]:
    connection = open_memory_database(memory_path(str(tmp_path)))
    assert connection is not None
    memories = SqliteMemories(connection)
    yield memories
    memories.close()


def test_failed_transaction_changes_nothing(store: SqliteMemories) -> None:
    put(store, memory(1, "Use uv."))
    before = dump_tables(store.connection)

    def stop() -> None:
        with store.writer.transaction():
            store.writer.put(memory(2, "Use pip."), lambda *_: IndexFields(""))
            raise KeyError

    with pytest.raises(KeyError):
        stop()
    put(store)
    assert dump_tables(store.connection) == before


def test_tampered_row_is_reported_and_skipped(store: SqliteMemories) -> None:
    put(store, memory(1, "Use uv."), memory(2, "Use ruff.", entities=("ruff",)))
    store.connection.execute("UPDATE memory SET trust = 'user' WHERE number = 1")
    assert find_damage(store.connection) == ["memory mmmmmm01 was changed"]
    assert list(store.get(["mmmmmm01", "mmmmmm02"])) == ["mmmmmm02"]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE trigger_of SET value = 'other'", "DELETE FROM trigger_of", "UPDATE shown SET at = at + 1",
        "UPDATE edge SET kind = 'supports'", "INSERT INTO memory_words(memory_words) VALUES('delete-all')",
    ],
)  # fmt: skip
def test_tampered_links_are_reported(store: SqliteMemories, change: str) -> None:
    put(
        store,
        memory(
            1, "Use uv.", entities=("uv",), triggers=(Trigger("task", "x"),), edges=(Edge("about", "m2"),)
        ),
    )
    with store.writer.transaction():
        store.writer.put_shown("mmmmmm01", [("s", 4)])
    assert find_damage(store.connection) == []
    store.connection.execute(change)
    assert find_damage(store.connection) != []


def test_dropped_memory_leaves_nothing(store: SqliteMemories, tmp_path: Path) -> None:
    put(store, *(memory(number, f"Rule {number}.") for number in range(50)))
    put(store, memory(77, "Xylophonists only.", entities=("xylophon",)))
    with store.writer.transaction():
        store.writer.drop("mmmmmm77")
    purge_memories(store.connection)
    assert not any(b"ylophon" in path.read_bytes() for path in tmp_path.iterdir())
    assert find_damage(store.connection) == []


def test_json_round_trips() -> None:
    value = {"a": [1, -2.5, True, None, 'ü\n"\\\u2028'], "b": {}}
    assert load_json(dump_json(value)) == value
    assert dump_json((1, float("inf"))) == "[1,null]"
    for wrong in ("", "[1,]", "NaN", "1 2", "[" * 100_000, '"a\nb"'):
        with pytest.raises(ValueError):
            load_json(wrong)
    with pytest.raises(TypeError):
        dump_json(object())
