"""Reading another program's database: what is seen, and what the owner never notices."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

import apsw
import pytest

from told.store import foreign
from told.store.foreign import Foreign, ForeignError, missing

if TYPE_CHECKING:
    from pathlib import Path


class Needed(NamedTuple):
    table: str
    columns: tuple[str, ...]


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
    with Foreign(str(path)) as database:
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


def test_rows_come_in_the_order_asked_for_with_only_what_the_condition_lets_through(tmp_path: Path) -> None:
    with_rows(tmp_path / "a.db").close()
    with Foreign(str(tmp_path / "a.db")) as database:
        assert list(database.rows("turns", ("id", "said"), order="id DESC")) == [
            {"id": 2, "said": "two"},
            {"id": 1, "said": "one"},
        ]
        assert list(database.rows("turns", ("said",), where="id > ?", values=(1,))) == [{"said": "two"}]


def test_a_closed_wal_database_is_read_without_leaving_files_beside_it(tmp_path: Path) -> None:
    with_rows(tmp_path / "a.db", "wal").close()
    before = (tmp_path / "a.db").read_bytes()
    assert os.listdir(tmp_path) == ["a.db"]
    with Foreign(str(tmp_path / "a.db")) as database:
        assert len(list(database.rows("turns", ("said",)))) == 2
        assert os.listdir(tmp_path) == ["a.db"]
    assert os.listdir(tmp_path) == ["a.db"]
    assert (tmp_path / "a.db").read_bytes() == before


def test_what_the_owner_committed_to_a_live_log_is_seen_at_once(tmp_path: Path) -> None:
    connection = with_rows(tmp_path / "a.db", "wal")
    with Foreign(str(tmp_path / "a.db")) as database:
        assert len(list(database.rows("turns", ("said",)))) == 2
        connection.execute("INSERT INTO turns VALUES (3, 'three')")
        assert [row["said"] for row in database.rows("turns", ("said",), order="id")][-1] == "three"
    connection.close()


def test_an_open_reader_does_not_keep_the_owner_from_writing_or_from_tidying_up(tmp_path: Path) -> None:
    connection = with_rows(tmp_path / "a.db", "wal")
    with Foreign(str(tmp_path / "a.db")) as database:
        rows = database.rows("turns", ("said",))
        next(rows)
        connection.execute("INSERT INTO turns VALUES (3, 'three')")
        assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall() == [(0, 0, 0)]
        connection.close()
        assert os.listdir(tmp_path) == ["a.db"]
        assert len(list(database.rows("turns", ("said",)))) == 3


@pytest.mark.parametrize("mode", ["delete", "truncate", "persist"])
def test_an_open_reader_does_not_block_a_writer_without_a_log(tmp_path: Path, mode: str) -> None:
    connection = with_rows(tmp_path / "a.db", mode)
    with Foreign(str(tmp_path / "a.db")) as database:
        next(database.rows("turns", ("said",)))
        connection.execute("INSERT INTO turns VALUES (3, 'three')")
        assert len(list(database.rows("turns", ("said",)))) == 3
    connection.close()


def test_a_writer_with_an_exclusive_lock_does_not_break_reading(tmp_path: Path) -> None:
    connection = with_rows(tmp_path / "a.db")
    connection.execute("BEGIN EXCLUSIVE")
    assert said(tmp_path / "a.db") == ["one", "two"]
    connection.execute("UPDATE turns SET said = 'not committed'")
    assert said(tmp_path / "a.db") == ["one", "two"]
    connection.execute("COMMIT")
    assert said(tmp_path / "a.db") == ["not committed", "not committed"]
    connection.close()


def test_a_change_that_reached_the_file_but_was_not_committed_is_not_seen(tmp_path: Path) -> None:
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


def test_an_owner_that_holds_the_whole_log_delays_but_does_not_break_reading(tmp_path: Path) -> None:
    connection = with_rows(tmp_path / "a.db", "wal")
    connection.execute("PRAGMA locking_mode=exclusive").fetchall()
    connection.execute("INSERT INTO turns VALUES (3, 'three')")

    def let_go() -> None:
        time.sleep(0.1)
        connection.execute("PRAGMA locking_mode=normal").fetchall()
        connection.execute("SELECT 1 FROM turns").fetchall()

    thread = threading.Thread(target=let_go)
    thread.start()
    with Foreign(str(tmp_path / "a.db")) as database:
        assert len(list(database.rows("turns", ("said",)))) == 3
        assert database.retries > 0
    thread.join()
    connection.close()


def test_the_log_of_a_killed_owner_is_read_and_left_as_it_was(tmp_path: Path) -> None:
    path = crashed_owner(tmp_path, WAL_CRASH)
    assert (tmp_path / "crashed.db-wal").stat().st_size > 0
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    assert said(path) == ["kept"]
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == before


def test_a_log_without_shared_memory_is_read_in_a_private_copy_that_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, copies = tmp_path / "home", tmp_path / "copies"
    home.mkdir()
    copies.mkdir()
    path = crashed_owner(home, WAL_CRASH)
    (home / "crashed.db-shm").unlink()
    monkeypatch.setattr(tempfile, "tempdir", str(copies))
    with Foreign(str(path)) as database:
        assert [row["said"] for row in database.rows("turns", ("said",))] == ["kept"]
        (folder,) = copies.iterdir()
        assert folder.stat().st_mode & 0o777 == 0o700
        assert {file.stat().st_mode & 0o077 for file in folder.iterdir()} == {0}
    assert list(copies.iterdir()) == []
    assert sorted(os.listdir(home)) == ["crashed.db", "crashed.db-wal"]


def test_a_database_too_large_to_copy_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = crashed_owner(tmp_path, WAL_CRASH)
    (tmp_path / "crashed.db-shm").unlink()
    monkeypatch.setattr(foreign, "_MAX_COPY", 1000)
    with pytest.raises(ForeignError, match="larger than"):
        Foreign(str(path))


def test_a_file_that_changes_during_each_read_is_given_up_with_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
        Foreign(str(tmp_path / "a.db"))


def test_a_file_replaced_between_two_queries_is_read_anew(tmp_path: Path) -> None:
    with_rows(tmp_path / "a.db").close()
    newer = with_rows(tmp_path / "b.db")
    newer.execute("INSERT INTO turns VALUES (3, 'three')")
    newer.close()
    with Foreign(str(tmp_path / "a.db")) as database:
        assert len(list(database.rows("turns", ("said",)))) == 2
        shutil.move(tmp_path / "b.db", tmp_path / "a.db")
        assert len(list(database.rows("turns", ("said",)))) == 3


def test_columns_that_are_not_there_are_none_and_are_named(tmp_path: Path) -> None:
    with_rows(tmp_path / "a.db").close()
    path = str(tmp_path / "a.db")
    with Foreign(path) as database:
        assert database.columns("turns") == {"id", "said"}
        assert database.columns("nothing") == set()
        assert next(database.rows("turns", ("said", "model"))) == {"said": "one", "model": None}
        assert list(database.rows("nothing", ("said",))) == []
    assert missing(path, [Needed("turns", ("said", "at")), Needed("files", ("path",))]) == [
        "turns.at",
        "files.path",
    ]
    assert missing(path, [Needed("turns", ("id",))]) == []


def test_names_with_quotes_are_only_names(tmp_path: Path) -> None:
    connection = owner(tmp_path / "a.db")
    connection.execute('CREATE TABLE "od""d t"("a""b" TEXT, "select" TEXT)')
    connection.execute("INSERT INTO \"od\"\"d t\" VALUES ('x', 'y')")
    connection.close()
    with Foreign(str(tmp_path / "a.db")) as database:
        assert list(database.rows('od"d t', ('a"b', "select", 'x" FROM y --'))) == [
            {'a"b': "x", "select": "y", 'x" FROM y --': None}
        ]


def test_the_row_number_can_be_asked_for_where_there_is_one(tmp_path: Path) -> None:
    connection = owner(tmp_path / "a.db")
    connection.execute("CREATE TABLE plain(x); CREATE TABLE keyed(x PRIMARY KEY) WITHOUT ROWID")
    connection.execute("INSERT INTO plain VALUES ('a'); INSERT INTO keyed VALUES ('a')")
    connection.close()
    with Foreign(str(tmp_path / "a.db")) as database:
        assert list(database.rows("plain", ("rowid", "x"))) == [{"rowid": 1, "x": "a"}]
        assert list(database.rows("keyed", ("rowid", "x"))) == [{"rowid": None, "x": "a"}]


def test_a_view_in_place_of_a_table_is_not_run(tmp_path: Path) -> None:
    connection = owner(tmp_path / "a.db")
    connection.execute(
        "CREATE VIEW turns AS "
        "WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id FROM n"
    )
    connection.close()
    with Foreign(str(tmp_path / "a.db")) as database:
        assert list(database.rows("turns", ("id",))) == []


def test_text_that_is_not_valid_is_mended_and_nul_is_kept(tmp_path: Path) -> None:
    connection = owner(tmp_path / "a.db")
    connection.execute("CREATE TABLE turns(id, said, raw)")
    connection.execute(
        "INSERT INTO turns VALUES (1, CAST(x'ff41' AS TEXT), x'ff'), (2, CAST(x'410042' AS TEXT), 7)"
    )
    connection.close()
    with Foreign(str(tmp_path / "a.db")) as database:
        assert list(database.rows("turns", ("id", "said", "raw", "no"), order="id")) == [
            {"id": 1, "said": "\ufffdA", "raw": b"\xff", "no": None},
            {"id": 2, "said": "A\0B", "raw": 7, "no": None},
        ]


def test_a_database_in_another_encoding_is_read(tmp_path: Path) -> None:
    connection = apsw.Connection(str(tmp_path / "a.db"))
    connection.execute("PRAGMA encoding='UTF-16le'")
    connection.execute("CREATE TABLE turns(said); INSERT INTO turns VALUES ('grüße')")
    connection.close()
    assert missing(str(tmp_path / "a.db"), [Needed("turns", ("said",))]) == []
    with Foreign(str(tmp_path / "a.db")) as database:
        assert list(database.rows("turns", ("said",))) == [{"said": "grüße"}]


@pytest.mark.parametrize(
    "name", ["with space.db", "a?mode=rw.db", "a#b.db", "a%20b.db", "grün.db", "a&b=c;d.db"]
)
def test_any_file_name_is_taken_literally(tmp_path: Path, name: str) -> None:
    with_rows(tmp_path / name, "wal").close()
    assert said(tmp_path / name) == ["one", "two"]
    assert os.listdir(tmp_path) == [name]


def test_a_link_to_a_live_database_reads_its_log(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    connection = with_rows(tmp_path / "real" / "a.db", "wal")
    (tmp_path / "link.db").symlink_to(tmp_path / "real" / "a.db")
    assert said(tmp_path / "link.db") == ["one", "two"]
    connection.close()


def test_what_is_no_database_is_refused_with_a_short_reason(tmp_path: Path) -> None:
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
            Foreign(f"{tmp_path}/{name}")


def test_a_damaged_database_is_refused_and_a_damaged_table_leaves_the_others_readable(tmp_path: Path) -> None:
    connection = with_rows(tmp_path / "a.db")
    connection.execute("CREATE TABLE other(x); INSERT INTO other VALUES ('fine')")
    connection.close()
    content = bytearray((tmp_path / "a.db").read_bytes())
    content[4096:8192] = b"\x55" * 4096  # the second page is the first table's
    (tmp_path / "a.db").write_bytes(content)
    with Foreign(str(tmp_path / "a.db")) as database:
        with pytest.raises(ForeignError, match="damaged"):
            list(database.rows("turns", ("said",)))
        assert list(database.rows("other", ("x",))) == [{"x": "fine"}]
        assert database.retries == 3


def test_a_condition_that_names_a_missing_column_is_an_error_of_this_file_only(tmp_path: Path) -> None:
    with_rows(tmp_path / "a.db").close()
    with Foreign(str(tmp_path / "a.db")) as database:
        with pytest.raises(ForeignError, match="no such column"):
            list(database.rows("turns", ("said",), where="missing > 1"))
        assert database.retries == 0
