"""Vectors of memories in `memory.db`."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.journal.writing import dump_tables
from told.search.index_text import make_index_fields
from told.store.memories import match as memory_vectors
from told.store.memories.match import pack_vector_signs, unpack_sign_columns
from told.store.memories.read import SqliteMemories, memory_path, open_memory_database
from told.store.memories.records import IndexFields, Memory
from told.store.memories.schema import find_damage, purge_memories

SHOP = "project:shop"
MODEL = make_index_fields("a text", 0).embedding.model


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteMemories]:
    connection = open_memory_database(memory_path(str(tmp_path)))
    assert connection is not None
    yield SqliteMemories(connection)
    connection.close()


def memory(number: int, text: str, **fields: object) -> Memory:
    given = {"id": f"m{number}", "machine": "one", "number": number, "text": text, "scope": SHOP}
    return Memory(**{**given, "created": 1_790_000_000_000 + number * 1000, **fields})  # type: ignore[arg-type]


def put(store: SqliteMemories, *memories: Memory) -> None:
    with store.writer.transaction():
        for one in memories:
            store.writer.put(one, make_index_fields)


def known(store: SqliteMemories, scope: str = SHOP) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    for rows, columns in store.vectors.signs([scope], MODEL, 10_000):
        found |= unpack_sign_columns(rows.tobytes(), columns)
    return found


def test_memory_has_vector_and_signs(store: SqliteMemories) -> None:
    put(store, memory(1, "Use pnpm, never npm."), memory(2, "Tickets live in Linear."))
    expected = [
        make_index_fields(text, 0).embedding.vector
        for text in ("Use pnpm, never npm.", "Tickets live in Linear.")
    ]
    assert list(known(store).values()) == [pack_vector_signs(vector) for vector in expected]
    assert list(store.vectors.vectors(list(known(store)), MODEL).values()) == expected
    assert store.vectors.vectors(list(known(store)), "another") == {}
    assert find_damage(store.connection) == []


def test_vector_follows_memory(store: SqliteMemories) -> None:
    first = memory(1, "Use pnpm, never npm.")
    put(store, first, memory(2, "Tickets live in Linear."))
    put(store, first._replace(scope="project:other"))
    assert len(known(store)) == len(known(store, "project:other")) == 1
    put(store, first._replace(status="superseded"))
    assert known(store, "project:other") == {}
    put(store, first)
    assert len(known(store)) == 2
    put(store, first._replace(text="", status="forgotten"))
    assert len(known(store)) == 1
    store.writer.drop("m2")
    with store.writer.transaction():
        store.writer.drop("m2")
    assert known(store) == {}
    assert store.vectors.counts() == {}
    assert find_damage(store.connection) == []


def test_forgotten_memory_leaves_no_byte_of_vector(store: SqliteMemories, tmp_path: Path) -> None:
    secret = memory(1, "The launch code is a purple elephant.")
    put(store, secret, memory(2, "Tickets live in Linear."), memory(3, "Errors go to Sentry."))
    vector = make_index_fields(secret.text, 0).embedding.vector
    assert any(vector in path.read_bytes() for path in tmp_path.iterdir())
    put(store, secret._replace(text="", status="forgotten"))
    purge_memories(store.connection)
    for path in tmp_path.iterdir():
        assert vector not in path.read_bytes()
        assert vector[:64] not in path.read_bytes()
    assert pack_vector_signs(vector) not in known(store).values()


def test_write_order_does_not_change_blocks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(memory_vectors, "MAX_BLOCK", 4)
    chance = random.Random(7)
    words = [
        "cache",
        "login",
        "invoice",
        "deploy",
        "kernel",
        "penguin",
        "harbour",
        "violin",
        "test",
        "branch",
    ]
    every = [
        memory(number, f"{chance.choice(words)} {chance.choice(words)} {number}") for number in range(40)
    ]
    dumps = []
    for turn in range(3):
        folder = tmp_path / str(turn)
        folder.mkdir()
        connection = open_memory_database(memory_path(str(folder)))
        assert connection is not None
        store = SqliteMemories(connection)
        ordered = chance.sample(every, len(every))
        for start in range(0, len(ordered), 7 - turn):
            put(store, *ordered[start : start + 7 - turn])
        for one in chance.sample(every, 15):
            put(store, one._replace(status="superseded"))
            put(store, one)
        assert find_damage(connection) == []
        assert len(known(store)) == len(every)
        dumps.append(dump_tables(connection)["meaning_of"])
        connection.close()
    assert dumps[0] == dumps[1] == dumps[2]


def test_signs_are_limited_to_newest(store: SqliteMemories, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_vectors, "MAX_BLOCK", 4)
    put(store, *[memory(number, f"The cache has {number} entries.") for number in range(10)])
    newest = sorted(known(store))[-6:]
    found = [row for rows, _ in store.vectors.signs([SHOP], MODEL, 6) for row in rows]
    assert sorted(found) == newest


def test_damaged_vectors_are_reported(store: SqliteMemories) -> None:
    put(store, memory(1, "Use pnpm, never npm."))
    for change in (
        "UPDATE meaning_of SET vector = zeroblob(256)",
        "UPDATE meaning_signs SET signs = zeroblob(31)",
        "DELETE FROM meaning_signs",
        "UPDATE memory SET scope = 'project:x'",
    ):
        store.connection.execute("SAVEPOINT before")
        store.connection.execute(change)
        assert find_damage(store.connection) != []
        store.connection.execute("ROLLBACK TO before")
    assert find_damage(store.connection) == []


def test_rolled_back_memory_has_no_vector(store: SqliteMemories) -> None:
    def broken(text: str, at: int, when: Sequence[str]) -> IndexFields:
        if "broken" in text:
            raise RuntimeError
        return make_index_fields(text, at, when)

    def put_both() -> None:
        with store.writer.transaction():
            for one in (memory(1, "Use pnpm, never npm."), memory(3, "broken")):
                store.writer.put(one, broken)

    with pytest.raises(RuntimeError):
        put_both()
    put(store, memory(2, "Tickets live in Linear."))
    assert len(known(store)) == 1
