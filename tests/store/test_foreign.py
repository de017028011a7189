"""Reading of other programs' databases."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from typing import TYPE_CHECKING

import apsw
import pytest

from told.store import foreign
from told.store.foreign import ForeignDatabase, ForeignError

if TYPE_CHECKING:
    from pathlib import Path


def owner(path: Path, mode: str = "delete") -> apsw.Connection:
    connection = apsw.Connection(str(path))
    connection.execute(f"PRAGMA journal_mode={mode}").fetchall()
    return connection


def with_rows(path: Path, mode: str = "delete") -> apsw.Connection:
    connection = owner(path, mode)
    connection.execute("CREATE TABLE turns(id INTEGER PRIMARY KEY, said TEXT)")
    connection.execute("INSERT INTO turns VALUES (1, 'one'), (2, 'two')")
    return connection


def said(path: Path) -> list[str]:
    with ForeignDatabase(str(path)) as database:
        return [row["said"] for row in database.rows("turns", ("said",), order="id")]


def crashed_owner(folder: Path, statements: str) -> Path:
    """Leave a database behind as a program does that is killed."""
    path = folder / "crashed.db"
    program = f"""
import apsw, os
c = apsw.Connection({str(path)!r})
{statements}
os._exit(9)
"""
    subprocess.run([sys.executable, "-c", program], check=False)
    return path


WAL_CRASH = """
c.execute("PRAGMA journal_mode=wal").fetchall()
c.execute("CREATE TABLE turns(id INTEGER PRIMARY KEY, said TEXT)")
c.execute("INSERT INTO turns VALUES (1, 'kept')")
"""


def test_rows_follow_order_and_condition(tmp_path: Path) -> None:
    with_rows(tmp_path / "a.db").close()
    with ForeignDatabase(str(tmp_path / "a.db")) as database:
        assert list(database.rows("turns", ("id", "said"), order="id DESC")) == [
            {"id": 2, "said": "two"},
            {"id": 1, "said": "one"},
        ]
        assert list(database.rows("turns", ("said",), where="id > ?", values=(1,))) == [{"said": "two"}]


def test_reading_closed_wal_database_leaves_no_files(tmp_path: Path) -> None:
    with_rows(tmp_path / "a.db", "wal").close()
    before = (tmp_path / "a.db").read_bytes()
    assert os.listdir(tmp_path) == ["a.db"]
    with ForeignDatabase(str(tmp_path / "a.db")) as database:
        assert len(list(database.rows("turns", ("said",)))) == 2
        assert os.listdir(tmp_path) == ["a.db"]
    assert os.listdir(tmp_path) == ["a.db"]
    assert (tmp_path / "a.db").read_bytes() == before


def test_committed_rows_of_live_log_are_read(tmp_path: Path) -> None:
    connection = with_rows(tmp_path / "a.db", "wal")
    with ForeignDatabase(str(tmp_path / "a.db")) as database:
        assert len(list(database.rows("turns", ("said",)))) == 2
        connection.execute("INSERT INTO turns VALUES (3, 'three')")
        assert [row["said"] for row in database.rows("turns", ("said",), order="id")][-1] == "three"
    connection.close()


def test_reader_does_not_block_owner_checkpoint(tmp_path: Path) -> None:
    connection = with_rows(tmp_path / "a.db", "wal")
    with ForeignDatabase(str(tmp_path / "a.db")) as database:
        rows = database.rows("turns", ("said",))
        next(rows)
        connection.execute("INSERT INTO turns VALUES (3, 'three')")
        assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall() == [(0, 0, 0)]
        connection.close()
        assert os.listdir(tmp_path) == ["a.db"]
        assert len(list(database.rows("turns", ("said",)))) == 3


@pytest.mark.parametrize("mode", ["delete", "truncate", "persist"])
def test_reader_does_not_block_writer_without_wal(tmp_path: Path, mode: str) -> None:
    connection = with_rows(tmp_path / "a.db", mode)
    with ForeignDatabase(str(tmp_path / "a.db")) as database:
        next(database.rows("turns", ("said",)))
        connection.execute("INSERT INTO turns VALUES (3, 'three')")
        assert len(list(database.rows("turns", ("said",)))) == 3
    connection.close()


def test_exclusive_lock_does_not_break_reading(tmp_path: Path) -> None:
    connection = with_rows(tmp_path / "a.db")
    connection.execute("BEGIN EXCLUSIVE")
    assert said(tmp_path / "a.db") == ["one", "two"]
    connection.execute("UPDATE turns SET said = 'not committed'")
    assert said(tmp_path / "a.db") == ["one", "two"]
    connection.execute("COMMIT")
    assert said(tmp_path / "a.db") == ["not committed", "not committed"]
    connection.close()


def test_uncommitted_change_is_not_read(tmp_path: Path) -> None:
    connection = with_rows(tmp_path / "a.db")
    connection.execute("PRAGMA cache_size=1")
    connection.execute("BEGIN")
    connection.execute("UPDATE turns SET said = 'not committed'")
    connection.execute("CREATE TABLE other(x)")
    for _ in range(200):
        connection.execute("INSERT INTO other VALUES (randomblob(4000))")
    assert (tmp_path / "a.db").stat().st_size > 100_000
    files = sorted(os.listdir(tmp_path))
    assert said(tmp_path / "a.db") == ["one", "two"]
    assert sorted(os.listdir(tmp_path)) == files
    connection.execute("ROLLBACK")
    connection.close()


def test_locked_log_only_delays_reading(tmp_path: Path) -> None:
    connection = with_rows(tmp_path / "a.db", "wal")
    connection.execute("PRAGMA locking_mode=exclusive").fetchall()
    connection.execute("INSERT INTO turns VALUES (3, 'three')")

    def let_go() -> None:
        time.sleep(0.1)
        connection.execute("PRAGMA locking_mode=normal").fetchall()
        connection.execute("SELECT 1 FROM turns").fetchall()

    thread = threading.Thread(target=let_go)
    thread.start()
    with ForeignDatabase(str(tmp_path / "a.db")) as database:
        assert len(list(database.rows("turns", ("said",)))) == 3
        assert database.retries > 0
    thread.join()
    connection.close()


def test_log_of_killed_owner_is_read_unchanged(tmp_path: Path) -> None:
    path = crashed_owner(tmp_path, WAL_CRASH)
    assert (tmp_path / "crashed.db-wal").stat().st_size > 0
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    assert said(path) == ["kept"]
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == before


def test_log_without_shared_memory_is_read_from_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, copies = tmp_path / "home", tmp_path / "copies"
    home.mkdir()
    copies.mkdir()
    path = crashed_owner(home, WAL_CRASH)
    (home / "crashed.db-shm").unlink()
    monkeypatch.setattr(tempfile, "tempdir", str(copies))
    with ForeignDatabase(str(path)) as database:
        assert [row["said"] for row in database.rows("turns", ("said",))] == ["kept"]
        (folder,) = copies.iterdir()
        assert folder.stat().st_mode & 0o777 == 0o700
        assert {file.stat().st_mode & 0o077 for file in folder.iterdir()} == {0}
    assert list(copies.iterdir()) == []
    assert sorted(os.listdir(home)) == ["crashed.db", "crashed.db-wal"]


def test_too_large_database_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = crashed_owner(tmp_path, WAL_CRASH)
    (tmp_path / "crashed.db-shm").unlink()
    monkeypatch.setattr(foreign, "_MAX_COPY", 1000)
    with pytest.raises(ForeignError, match="larger than"):
        ForeignDatabase(str(path))


def test_constantly_changing_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_rows(tmp_path / "a.db").close()
    times = iter(range(10**9, 10**9 + 100))
    real = foreign._state

    def touched(path: str) -> tuple[tuple[int, int, int], ...]:
        moment = next(times)
        os.utime(path, (moment, moment))
        return real(path)

    monkeypatch.setattr(foreign, "_state", touched)
    monkeypatch.setattr(foreign, "BACKOFF", (0.0, 0.0, 0.0))
    with pytest.raises(ForeignError, match="kept changing"):
        ForeignDatabase(str(tmp_path / "a.db"))


def test_replaced_file_is_read_again(tmp_path: Path) -> None:
    with_rows(tmp_path / "a.db").close()
    newer = with_rows(tmp_path / "b.db")
    newer.execute("INSERT INTO turns VALUES (3, 'three')")
    newer.close()
    with ForeignDatabase(str(tmp_path / "a.db")) as database:
        assert len(list(database.rows("turns", ("said",)))) == 2
        shutil.move(tmp_path / "b.db", tmp_path / "a.db")
        assert len(list(database.rows("turns", ("said",)))) == 3


def test_missing_columns_are_none(tmp_path: Path) -> None:
    with_rows(tmp_path / "a.db").close()
    path = str(tmp_path / "a.db")
    with ForeignDatabase(path) as database:
        assert database.columns("turns") == {"id", "said"}
        assert database.columns("nothing") == set()
        assert next(database.rows("turns", ("said", "model"))) == {"said": "one", "model": None}
        assert list(database.rows("nothing", ("said",))) == []


def test_names_with_quotes_are_escaped(tmp_path: Path) -> None:
    connection = owner(tmp_path / "a.db")
    connection.execute('CREATE TABLE "od""d t"("a""b" TEXT, "select" TEXT)')
    connection.execute("INSERT INTO \"od\"\"d t\" VALUES ('x', 'y')")
    connection.close()
    with ForeignDatabase(str(tmp_path / "a.db")) as database:
        assert list(database.rows('od"d t', ('a"b', "select", 'x" FROM y --'))) == [
            {'a"b': "x", "select": "y", 'x" FROM y --': None}
        ]


def test_rowid_can_be_selected(tmp_path: Path) -> None:
    connection = owner(tmp_path / "a.db")
    connection.execute("CREATE TABLE plain(x); CREATE TABLE keyed(x PRIMARY KEY) WITHOUT ROWID")
    connection.execute("INSERT INTO plain VALUES ('a'); INSERT INTO keyed VALUES ('a')")
    connection.close()
    with ForeignDatabase(str(tmp_path / "a.db")) as database:
        assert list(database.rows("plain", ("rowid", "x"))) == [{"rowid": 1, "x": "a"}]
        assert list(database.rows("keyed", ("rowid", "x"))) == [{"rowid": None, "x": "a"}]


def test_view_is_not_executed(tmp_path: Path) -> None:
    connection = owner(tmp_path / "a.db")
    connection.execute(
        "CREATE VIEW turns AS "
        "WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id FROM n"
    )
    connection.close()
    with ForeignDatabase(str(tmp_path / "a.db")) as database:
        assert list(database.rows("turns", ("id",))) == []


def test_invalid_text_is_decoded_with_replacements(tmp_path: Path) -> None:
    connection = owner(tmp_path / "a.db")
    connection.execute("CREATE TABLE turns(id, said, raw)")
    connection.execute(
        "INSERT INTO turns VALUES (1, CAST(x'ff41' AS TEXT), x'ff'), (2, CAST(x'410042' AS TEXT), 7)"
    )
    connection.close()
    with ForeignDatabase(str(tmp_path / "a.db")) as database:
        assert list(database.rows("turns", ("id", "said", "raw", "no"), order="id")) == [
            {"id": 1, "said": "\ufffdA", "raw": b"\xff", "no": None},
            {"id": 2, "said": "A\0B", "raw": 7, "no": None},
        ]


def test_utf16_database_is_read(tmp_path: Path) -> None:
    connection = apsw.Connection(str(tmp_path / "a.db"))
    connection.execute("PRAGMA encoding='UTF-16le'")
    connection.execute("CREATE TABLE turns(said); INSERT INTO turns VALUES ('grüße')")
    connection.close()
    with ForeignDatabase(str(tmp_path / "a.db")) as database:
        assert list(database.rows("turns", ("said",))) == [{"said": "grüße"}]


@pytest.mark.parametrize(
    "name", ["with space.db", "a?mode=rw.db", "a#b.db", "a%20b.db", "grün.db", "a&b=c;d.db"]
)
def test_any_file_name_works(tmp_path: Path, name: str) -> None:
    with_rows(tmp_path / name, "wal").close()
    assert said(tmp_path / name) == ["one", "two"]
    assert os.listdir(tmp_path) == [name]


def test_link_to_live_database_reads_its_log(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    connection = with_rows(tmp_path / "real" / "a.db", "wal")
    (tmp_path / "link.db").symlink_to(tmp_path / "real" / "a.db")
    assert said(tmp_path / "link.db") == ["one", "two"]
    connection.close()


def test_invalid_database_is_refused_with_reason(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    (tmp_path / "text.db").write_text("hello" * 100)
    (tmp_path / "short.db").write_bytes(b"SQLite format 3\0")
    (tmp_path / "header.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 2000)
    os.mkfifo(tmp_path / "pipe.db")
    for name, why in (
        ("empty.db", "empty"),
        ("text.db", "not a database"),
        ("short.db", "not a database"),
        ("header.db", "not a database"),
        ("pipe.db", "not a regular file"),
        ("gone.db", "no such file or directory"),
        (".", "directory|regular"),
        ("\0", "not a path"),
    ):
        with pytest.raises(ForeignError, match=why):
            ForeignDatabase(f"{tmp_path}/{name}")


def test_damaged_table_leaves_others_readable(tmp_path: Path) -> None:
    connection = with_rows(tmp_path / "a.db")
    connection.execute("CREATE TABLE other(x); INSERT INTO other VALUES ('fine')")
    connection.close()
    content = bytearray((tmp_path / "a.db").read_bytes())
    content[4096:8192] = b"\x55" * 4096  # the second page is the first table's
    (tmp_path / "a.db").write_bytes(content)
    with ForeignDatabase(str(tmp_path / "a.db")) as database:
        with pytest.raises(ForeignError, match="damaged"):
            list(database.rows("turns", ("said",)))
        assert list(database.rows("other", ("x",))) == [{"x": "fine"}]
        assert database.retries == 3


def test_condition_on_missing_column_is_an_error(tmp_path: Path) -> None:
    with_rows(tmp_path / "a.db").close()
    with ForeignDatabase(str(tmp_path / "a.db")) as database:
        with pytest.raises(ForeignError, match="no such column"):
            list(database.rows("turns", ("said",), where="missing > 1"))
        assert database.retries == 0
