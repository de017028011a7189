"""What memories mean, as it is stored: it comes and goes with its memory, and leaves nothing behind."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from told.record import replaced
from told.search.memory_words import memory_words
from told.store import memory_meaning_writing
from told.store.memories import Memories, Memory, memory_path, open_memory_database
from told.store.memory_condition import damaged, dump, purge
from told.store.memory_meaning import apart, signs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from told.store.memory_records import Worked

SHOP = "project:shop"
MODEL = memory_words("a text", 0).meant.model


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Memories]:
    connection = open_memory_database(memory_path(str(tmp_path)))
    assert connection is not None
    yield Memories(connection)
    connection.close()


def memory(number: int, text: str, **fields: object) -> Memory:
    given = {"id": f"m{number}", "machine": "one", "number": number, "text": text, "scope": SHOP}
    return Memory(**{**given, "created": 1_790_000_000_000 + number * 1000, **fields})  # type: ignore[arg-type]


def put(store: Memories, *memories: Memory) -> None:
    with store.writer.transaction():
        for one in memories:
            store.writer.put(one, memory_words)


def known(store: Memories, scope: str = SHOP) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    for rows, columns in store.meanings.signs([scope], MODEL, 10_000):
        found |= apart(rows.tobytes(), columns)
    return found


def test_a_memory_has_its_vector_and_its_signs(store: Memories) -> None:
    put(store, memory(1, "Use pnpm, never npm."), memory(2, "Tickets live in Linear."))
    expected = [
        memory_words(text, 0).meant.vector for text in ("Use pnpm, never npm.", "Tickets live in Linear.")
    ]
    assert list(known(store).values()) == [signs(vector) for vector in expected]
    assert list(store.meanings.vectors(list(known(store)), MODEL).values()) == expected
    assert store.meanings.vectors(list(known(store)), "another") == {}
    assert damaged(store.connection) == []


def test_it_follows_the_memory(store: Memories) -> None:
    first = memory(1, "Use pnpm, never npm.")
    put(store, first, memory(2, "Tickets live in Linear."))
    put(store, replaced(first, scope="project:other"))
    assert len(known(store)) == len(known(store, "project:other")) == 1
    put(store, replaced(first, status="superseded"))
    assert known(store, "project:other") == {}
    put(store, first)
    assert len(known(store)) == 2
    put(store, replaced(first, text="", status="forgotten"))
    assert len(known(store)) == 1
    store.writer.drop("m2")
    with store.writer.transaction():
        store.writer.drop("m2")
    assert known(store) == {}
    assert store.meanings.counts() == {}
    assert damaged(store.connection) == []


def test_of_a_forgotten_memory_no_byte_of_its_vector_is_left(store: Memories, tmp_path: Path) -> None:
    secret = memory(1, "The launch code is a purple elephant.")
    put(store, secret, memory(2, "Tickets live in Linear."), memory(3, "Errors go to Sentry."))
    vector = memory_words(secret.text, 0).meant.vector
    assert any(vector in path.read_bytes() for path in tmp_path.iterdir())
    put(store, replaced(secret, text="", status="forgotten"))
    purge(store.connection)
    for path in tmp_path.iterdir():
        assert vector not in path.read_bytes()
        assert vector[:64] not in path.read_bytes()
    assert signs(vector) not in known(store).values()


def test_any_order_gives_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(memory_meaning_writing, "TOGETHER", 4)
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
        store = Memories(connection)
        ordered = chance.sample(every, len(every))
        for start in range(0, len(ordered), 7 - turn):
            put(store, *ordered[start : start + 7 - turn])
        for one in chance.sample(every, 15):
            put(store, replaced(one, status="superseded"))
            put(store, one)
        assert damaged(connection) == []
        assert len(known(store)) == len(every)
        dumps.append(dump(connection)["meaning_of"])
        connection.close()
    assert dumps[0] == dumps[1] == dumps[2]


def test_the_newest_are_looked_at_where_there_are_too_many(
    store: Memories, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_meaning_writing, "TOGETHER", 4)
    put(store, *[memory(number, f"The cache has {number} entries.") for number in range(10)])
    newest = sorted(known(store))[-6:]
    found = [row for rows, _ in store.meanings.signs([SHOP], MODEL, 6) for row in rows]
    assert sorted(found) == newest


def test_damage_is_seen(store: Memories) -> None:
    put(store, memory(1, "Use pnpm, never npm."))
    for change in (
        "UPDATE meaning_of SET vector = zeroblob(256)",
        "UPDATE meaning_signs SET signs = zeroblob(31)",
        "DELETE FROM meaning_signs",
        "UPDATE memory SET scope = 'project:x'",
    ):
        store.connection.execute("SAVEPOINT before")
        store.connection.execute(change)
        assert damaged(store.connection) != []
        store.connection.execute("ROLLBACK TO before")
    assert damaged(store.connection) == []


def test_what_was_rolled_back_has_no_meaning(store: Memories) -> None:
    def broken(text: str, at: int) -> Worked:
        if "broken" in text:
            raise RuntimeError
        return memory_words(text, at)

    def put_both() -> None:
        with store.writer.transaction():
            for one in (memory(1, "Use pnpm, never npm."), memory(3, "broken")):
                store.writer.put(one, broken)

    with pytest.raises(RuntimeError):
        put_both()
    put(store, memory(2, "Tickets live in Linear."))
    assert len(known(store)) == 1
