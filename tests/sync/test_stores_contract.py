"""What holds for every reader of another tool's store, whatever is in the store."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.soak import points, sampled
from tests.sync.other_stores import DATABASES, STORES, check, files_of, items_of, read_or_refuse, unpack
from told.errors import BusyError, ToldError
from told.memories.remember import MAX_LENGTH
from told.store import foreign
from told.sync.stores import read_store
from told.sync.stores.item import Item, LeftOut
from told.sync.stores.statements import MAX_PARTS, MAX_TEXT

HOSTILE = "\x1b]0;owned\x07\x1b[31mred\x00 \u202egnirts\u202c \ud83d [[x]] (a) #b `c` -- '); DROP TABLE x; "
EVERY = pytest.mark.parametrize(("tool", "name"), STORES, ids=[f"{tool}:{name}" for tool, name in STORES])
EVERY_DATABASE = pytest.mark.parametrize(
    ("tool", "name"), DATABASES, ids=[":".join(one) for one in DATABASES]
)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign, "BACKOFF", (0.0, 0.0))


def test_texts_are_no_longer_than_told_accepts() -> None:
    assert MAX_TEXT < MAX_LENGTH


@EVERY
def test_two_readings_give_the_same_and_change_nothing(tmp_path: Path, tool: str, name: str) -> None:
    path = unpack(tool, name, tmp_path)
    before = {one: (one.read_bytes(), one.stat().st_mtime_ns) for one in files_of(tmp_path)}
    found = list(read_store(tool, str(path)))
    check(found)
    assert found == list(read_store(tool, str(path)))
    assert before == {one: (one.read_bytes(), one.stat().st_mtime_ns) for one in files_of(tmp_path)}


@EVERY
def test_a_missing_store_is_one_clear_error(tmp_path: Path, tool: str, name: str) -> None:
    with pytest.raises(ToldError, match="Check the path"):
        list(read_store(tool, str(tmp_path / "none" / name)))
    with pytest.raises(ToldError):
        list(read_store(tool, f"{tmp_path}/\0{name}"))


@EVERY
def test_an_empty_file_or_folder_gives_nothing(tmp_path: Path, tool: str, name: str) -> None:
    (tmp_path / name).touch()
    assert not read_or_refuse(tool, tmp_path / name)
    (tmp_path / "folder" / name).mkdir(parents=True)
    assert not read_or_refuse(tool, tmp_path / "folder" / name)
    assert not read_or_refuse(tool, tmp_path / "folder")


@EVERY_DATABASE
def test_a_store_without_rows_is_empty_and_no_error(tmp_path: Path, tool: str, name: str) -> None:
    path = unpack(tool, name, tmp_path)
    with _writing(path) as database:
        for _, table, kind, *_ in database.execute("PRAGMA table_list").fetchall():
            if kind == "table" and not table.startswith("sqlite_"):
                database.execute(f'DELETE FROM "{table}"')
    assert list(read_store(tool, str(path))) == []


@EVERY
def test_another_program_s_file_is_refused(tmp_path: Path, tool: str, name: str) -> None:
    path = tmp_path / name
    for content in (b"\x89PNG\r\n\x1a\n" + bytes(200), b"\x7fELF" + bytes(200), b"null", b"[1, 2]", b'"text"',
                    b'{"a": 1}', b"# Notes\n", b"PGDMP\x01" + bytes(50)):  # fmt: skip
        path.write_bytes(content)
        if tool in ("claude-memory", "basic-memory"):  # any text may be a note
            read_or_refuse(tool, path)
        elif content == b"[1, 2]" and name in ("export.json", "get_all.json"):
            assert not [one for one in read_or_refuse(tool, path) if isinstance(one, Item)]
        else:
            with pytest.raises(ToldError, match=r"Check|Restore"):
                list(read_store(tool, str(path)))


@EVERY_DATABASE
def test_another_tool_s_database_is_refused(tmp_path: Path, tool: str, name: str) -> None:
    for other, other_name in DATABASES:
        if (other, other_name) != (tool, name):
            path = tmp_path / f"{other}-{other_name}" / name
            path.parent.mkdir()
            shutil.copy(unpack(other, other_name, tmp_path / other_name), path)
            with pytest.raises(ToldError, match="is not a store of"):
                list(read_store(tool, str(path)))


@EVERY
def test_a_truncated_store_gives_what_is_there_or_an_error(tmp_path: Path, tool: str, name: str) -> None:
    path = unpack(tool, name, tmp_path)
    whole = len(read_or_refuse(tool, path))
    for file in files_of(path):
        content = file.read_bytes()
        for part in range(10):
            file.write_bytes(content[: len(content) * part // 10])
            assert len(read_or_refuse(tool, path)) <= whole + 2
        file.write_bytes(content)


@EVERY_DATABASE
def test_a_store_is_read_while_its_owner_writes(tmp_path: Path, tool: str, name: str) -> None:
    path = unpack(tool, name, tmp_path)
    expected = items_of(tool, path)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as owner:
        owner.execute("BEGIN EXCLUSIVE")
        assert items_of(tool, path) == expected
        owner.execute("ROLLBACK")
        owner.execute("PRAGMA journal_mode = WAL")
        owner.execute("CREATE TABLE of_the_owner (id)")
        owner.execute("BEGIN IMMEDIATE")
        owner.execute("INSERT INTO of_the_owner VALUES (1)")
        assert items_of(tool, path) == expected
        owner.execute("COMMIT")
        assert os.path.getsize(f"{path}-wal") > 0
        assert items_of(tool, path) == expected


def test_rows_that_are_only_in_the_log_are_read(tmp_path: Path) -> None:
    path = unpack("engram", "engram.db", tmp_path)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as owner:
        owner.execute("PRAGMA journal_mode = WAL")
        owner.execute("UPDATE observations SET content = 'Changed in the log.', title = '' WHERE id = 1")
        assert items_of("engram", path)["observation/1"].text == "Changed in the log."


def test_a_store_that_keeps_changing_is_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = unpack("engram", "engram.db", tmp_path)
    states = iter(range(1000))
    monkeypatch.setattr(foreign, "_state", lambda _: ((next(states), 0, 0),))
    with pytest.raises(BusyError, match="Close engram, then retry"):
        list(read_store("engram", str(path)))


@EVERY
@pytest.mark.parametrize(
    "text",
    sampled(
        [HOSTILE, "word " * 200_000, "x" * 1_000_000, "\x00", "é" * 10_000, "…"], [HOSTILE, "word " * 200_000]
    ),
    ids=["hostile", "words", "one word", "NUL", "accents", "dots"],
)
def test_hostile_and_huge_texts_are_cleaned_and_shortened(
    tmp_path: Path, tool: str, name: str, text: str
) -> None:
    path = unpack(tool, name, tmp_path)
    for file in files_of(path):
        _replace_texts(file, text)
    found = read_or_refuse(tool, path)
    assert not any("\x1b" in one.text for one in found if isinstance(one, Item))
    if len(text) > 100_000:
        parts = [one for one in found if isinstance(one, Item) and "#" in one.source]
        assert len(parts) >= MAX_PARTS - 1
        assert any("longer than told accepts" in one.reason for one in found if isinstance(one, LeftOut))


@given(data=st.data())
@settings(
    max_examples=points(everyday=10, soak=4000), deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
@EVERY
def test_flipped_bytes_never_raise_but_told_s_errors(
    tmp_path_factory: pytest.TempPathFactory, tool: str, name: str, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("flipped")
    path = unpack(tool, name, folder)
    file = data.draw(st.sampled_from(files_of(path)))
    content = bytearray(file.read_bytes())
    places = st.integers(0, len(content) - 1)
    for place in data.draw(st.lists(places, min_size=1, max_size=30)):
        content[place] ^= data.draw(st.integers(1, 255))
    file.write_bytes(content)
    read_or_refuse(tool, path)
    shutil.rmtree(folder)


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[sqlite3.Connection]:
    """Change a database without its triggers and full-text tables."""
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        for (trigger,) in database.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall():
            database.execute(f'DROP TRIGGER "{trigger}"')
        yield database


def _replace_texts(file: Path, text: str) -> None:
    """Put a text in place of every sentence of a store."""
    if file.read_bytes().startswith(b"SQLite format 3"):
        with _writing(file) as database:
            with contextlib.suppress(sqlite3.OperationalError):
                for (number,) in database.execute("SELECT rowid FROM points").fetchall():
                    point = pickle.dumps({"id": number, "payload": {"data": _encoded(text)}})
                    database.execute("UPDATE points SET point = ? WHERE rowid = ?", (point, number))
            for table, column in _COLUMNS:
                with contextlib.suppress(sqlite3.OperationalError):
                    database.execute(f"UPDATE {table} SET {column} = ?", (_encoded(text),))
        return
    content = file.read_bytes()
    replace = _REPLACERS.get(file.suffix, _replace_in_json)
    file.write_bytes(replace(content, text))


def _encoded(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _replace_in_json(content: bytes, text: str) -> bytes:
    as_json = json.dumps(text)[1:-1].encode()
    for sentence in _SENTENCES:
        content = content.replace(sentence, as_json)
    return content


def _replace_in_dump(content: bytes, text: str) -> bytes:
    escaped = _encoded(text).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")
    for sentence in _SENTENCES:
        content = content.replace(sentence, escaped.encode())
    return content


def _replace_in_note(content: bytes, text: str) -> bytes:
    return content + b"\n\n" + text.encode("utf-8", "replace") + b"\n"


_REPLACERS: dict[str, Callable[[bytes, str], bytes]] = {".sql": _replace_in_dump, ".md": _replace_in_note}
_SENTENCES = (
    b"Prices are stored in cents.", b"Added a key.", b"Never push to main.", b"Works on Mondays",
    b"Dates were in local time.", b"Keys live 24 hours",
)  # fmt: skip
_COLUMNS = (
    ("observations", "narrative"), ("observations", "content"), ("observations", "title"),
    ("beliefs", "content"), ("memories", "content"), ("session_chunks", "content"), ("history", "new_memory"),
    ("session_summaries", "learned"), ("sessions", "goal"),
)  # fmt: skip
