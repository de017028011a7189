"""Versions and migrations of `sessions.db`."""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import stat
from typing import TYPE_CHECKING

import apsw
import pytest

from tests.ingest.box import differences
from tests.store.older import history, stored
from told.app import stores
from told.store.opening import read_version
from told.store.sessions import schema
from told.store.sessions.schema import VERSION, find_damage, migrate

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ingest.box import Box

LAYOUT = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name"
VECTORS = (
    "SELECT s.native, n, vectors, signs FROM turn_meaning JOIN turn t ON t.id = turn_id"
    " JOIN session s ON s.id = t.session_id JOIN sketch k ON k.session_id = s.id ORDER BY 1, 2"
)


def set_version(path: Path, number: int) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(f"PRAGMA user_version={number}")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def remember(box: Box) -> None:
    box.claude("first-session").turn("Which port does the gateway use?", "It listens on 8443.").write()
    box.index()


@pytest.mark.parametrize("before", range(1, VERSION))
def test_older_store_is_migrated(box: Box, before: int) -> None:
    """Each of these stores was made by the told of that version (tests/store/older.py)."""
    words = ("gateway port", "zebra", "never open", "what was done")
    history(box)
    box.index()
    answers = box.answers(words)
    vectors = box.rows(VECTORS)
    assert answers["checkpoints"]["checkpoints"]
    box.drop_store()
    for path in (box.home / ".claude", box.told_home / "archive"):
        shutil.rmtree(path)  # the store alone has it now
    box.store.touch(0o600)
    box.store.write_bytes(gzip.decompress(stored(before).read_bytes()))
    assert box.rows("PRAGMA user_version") == [(before,)]
    assert differences(answers, box.answers(words)) == []
    assert box.rows("PRAGMA user_version") == [(VERSION,)]
    box.index()
    assert box.rows(VECTORS) == vectors
    old, new = apsw.Connection(str(box.store)), apsw.Connection(":memory:")
    assert migrate(new)
    assert old.execute(LAYOUT).fetchall() == new.execute(LAYOUT).fetchall()
    assert find_damage(old) == []
    old.close()
    new.close()
    assert not list(box.told_home.glob("*.damaged*"))


def test_migration_removes_words_of_deleted_text(box: Box) -> None:
    """Until version 6, forgetting could leave words in the index."""
    box.told_home.mkdir()
    box.store.touch(0o600)
    box.store.write_bytes(gzip.decompress(stored(6).read_bytes()))
    old = apsw.Connection(str(box.store))
    old.execute("INSERT INTO turn_words(rowid, asked) VALUES(7, 'hippocampus')")
    old.execute("INSERT INTO turn_words(turn_words, rowid, asked) VALUES('delete', 7, 'hippocampus')")
    old.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    old.close()
    assert b"hippocamp" in box.store.read_bytes()
    assert box.told("list", "--all-projects").code == 0
    new = apsw.Connection(str(box.store))
    new.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    assert find_damage(new) == []
    new.close()
    assert b"hippocamp" not in box.store.read_bytes()


def test_store_without_migration_is_rebuilt(box: Box) -> None:
    remember(box)
    before = box.answers(("gateway",))
    set_version(box.store, -1)
    box.told("index")
    assert box.answers(("gateway",)) == before
    assert box.rows("PRAGMA user_version") == [(VERSION,)]


def test_rebuilt_store_reads_archive(box: Box) -> None:
    remember(box)
    before = box.answers(("gateway",))
    next((box.home / ".claude").rglob("*.jsonl")).unlink()
    box.index()
    set_version(box.store, -1)
    box.told("index")
    assert box.answers(("gateway",)) == before


def test_newer_store_is_not_changed(box: Box) -> None:
    remember(box)
    set_version(box.store, VERSION + 1)
    before = hashlib.sha256(box.store.read_bytes()).hexdigest()
    box.claude("second-session").turn("Another one", "Yes.").write()
    for words in (
        ("list",),
        ("search", "port"),
        ("index",),
        ("show", "first-session"),
        ("sweep",),
        ("health",),
    ):
        answer = box.told(*words)
        assert answer.code != 0
        assert "newer told" in answer.err
        assert answer.err.count("\n") == 1
    assert hashlib.sha256(box.store.read_bytes()).hexdigest() == before
    assert not list(box.told_home.glob("*.damaged*"))
    set_version(box.store, VERSION)


def test_migrations_run_in_order(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    remember(box)
    steps = {
        VERSION: "CREATE TABLE one(a); INSERT INTO one VALUES(7)",
        VERSION + 1: "ALTER TABLE one ADD COLUMN b DEFAULT 8",
    }
    monkeypatch.setattr(schema, "_MIGRATIONS", steps)
    for module in (schema, stores):
        monkeypatch.setattr(module, "VERSION", VERSION + 2)
    assert box.turns("first-session") == [("Which port does the gateway use?", "It listens on 8443.")]
    assert box.rows("SELECT * FROM one") == [(7, 8)]
    assert box.rows("PRAGMA user_version") == [(VERSION + 2,)]


def test_failed_migration_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = apsw.Connection(":memory:")
    assert migrate(connection)
    monkeypatch.setattr(schema, "_MIGRATIONS", {VERSION: "CREATE TABLE one(a); SELECT * FROM nowhere"})
    monkeypatch.setattr(schema, "VERSION", VERSION + 1)
    assert not migrate(connection)
    assert read_version(connection) == VERSION
    assert connection.execute("SELECT * FROM sqlite_schema WHERE name = 'one'").fetchall() == []
    assert not connection.in_transaction
    connection.close()


def test_incomplete_migration_path_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = apsw.Connection(":memory:")
    assert migrate(connection)
    monkeypatch.setattr(schema, "_MIGRATIONS", {VERSION: "CREATE TABLE one(a)"})
    monkeypatch.setattr(schema, "VERSION", VERSION + 2)
    assert not migrate(connection)
    assert not connection.in_transaction
    connection.close()


@pytest.mark.parametrize(
    "content", [b"", b"not a database", b"SQLite format 3\0" + b"\xff" * 5000, b"\0" * 8192]
)
def test_damaged_store_is_rebuilt(box: Box, content: bytes) -> None:
    remember(box)
    box.drop_store()
    box.store.touch(0o600)
    box.store.write_bytes(content)
    assert box.told("index").code == 0
    assert box.turns("first-session") == [("Which port does the gateway use?", "It listens on 8443.")]
    assert stat.S_IMODE(box.store.stat().st_mode) == 0o600


def test_store_created_by_another_process_is_used(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    """Between two looks at the version, another told may have made the store."""
    remember(box)
    looks = iter([0])
    monkeypatch.setattr(stores, "read_version", lambda connection: next(looks, VERSION))
    stores.open_store(str(box.store)).close()
    damaged = list(box.told_home.glob("*.damaged*"))
    box.drop_store()
    assert not damaged


@pytest.mark.parametrize(
    "umask", [0o000, pytest.param(0o022, marks=pytest.mark.soak), pytest.param(0o077, marks=pytest.mark.soak)]
)
def test_written_files_are_private(box: Box, umask: int) -> None:
    box.use_fixtures()
    old = os.umask(umask)
    try:
        for words in (
            ("index",),
            ("list",),
            ("search", "greet"),
            ("sweep",),
            ("health",),
            ("rebuild",),
            ("repos",),
        ):
            assert box.told(*words).code == 0
        process = box.start("search", "greet", TOLD_BACKGROUND="on")
        process.communicate(timeout=120)
        writer = apsw.Connection(str(box.store))
        writer.execute("BEGIN IMMEDIATE; UPDATE sweep SET at = at; COMMIT")
        assert (box.told_home / "sessions.db-wal").exists()
        for path in [box.told_home, *box.told_home.rglob("*")]:
            mode = stat.S_IMODE(path.stat().st_mode)
            assert mode == (0o700 if path.is_dir() else 0o600), f"{path} is {mode:o}"
        writer.close()
    finally:
        os.umask(old)


def test_existing_folder_keeps_its_mode(tmp_path: Path) -> None:
    from told.store.database import make_private_folder

    (tmp_path / "open").mkdir(mode=0o755)
    make_private_folder(str(tmp_path / "open" / "a" / "b"))
    make_private_folder(str(tmp_path / "open" / "a" / "b"))
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("open", "open/a", "open/a/b")]
    assert modes == [0o755, 0o700, 0o700]
