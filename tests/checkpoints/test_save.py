"""Save checkpoints: clean, redacted, limited, written once."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from told.app.stores import open_store
from told.checkpoints.counter import count_call
from told.checkpoints.save import MAX_ITEMS, MAX_TEXT, close_checkpoint, save_checkpoint
from told.errors import BusyError, DiskFullError, MissingError, NotFoundError, UsageError
from told.ingest.checkpoint_files import list_checkpoints, read_checkpoint
from told.ingest.checkpoint_sync import sync_checkpoints
from told.install.place import delete_home
from told.journal.registry import ProjectJournal, register
from told.model import CLOSED, OPEN, USER, Handover
from told.redact.engine import Redactor
from told.retention.disk import measure_disk_use
from told.store.sessions.read import Filter, SessionReader
from told.store.sessions.schema import is_checkpoint_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import apsw

    from told.checkpoints.save import SavedCheckpoint

KEY = "github.com/acme/demo"
ONE = Handover(
    goal="Move the gateway to another port", pending=("Tell the team",), agent="claude-code", session="first",
    project=KEY, folder="/gone/demo", branch="main", at=1_794_828_243_007,
)  # fmt: skip
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"

redact = Redactor(b"k" * 32).redact


@pytest.fixture
def home(tmp_path: Path) -> str:
    return str(tmp_path / "told")


@pytest.fixture
def connection(home: str) -> Iterator[apsw.Connection]:
    opened = open_store(os.path.join(home, "sessions.db"))
    yield opened
    opened.close()


@pytest.fixture
def kept(home: str, connection: apsw.Connection) -> Callable[[Handover], SavedCheckpoint]:
    return lambda one: save_checkpoint(connection, home, one, redact, name="acme/demo", root="/gone/demo")


def statuses(connection: apsw.Connection) -> dict[str, str]:
    return {row.public: row.status for row in SessionReader(connection).checkpoints(Filter(), -1)}


def test_saved_checkpoint_is_on_disk_and_found(
    home: str, connection: apsw.Connection, kept: Callable[[Handover], SavedCheckpoint]
) -> None:
    done = kept(ONE)
    assert is_checkpoint_id(done.handover.id)
    assert (done.again, done.handover.title) == (False, "Move the gateway to another port")
    assert (
        read_checkpoint(done.path)
        == done.handover
        == replace(ONE, id=done.handover.id, title=done.handover.title)
    )
    assert list(list_checkpoints(home)) == [done.path]
    assert statuses(connection) == {done.handover.id: OPEN}


def test_saving_the_same_again_writes_nothing(
    home: str, connection: apsw.Connection, kept: Callable[[Handover], SavedCheckpoint]
) -> None:
    first = kept(ONE)
    again = kept(replace(ONE, at=ONE.at + 5000, branch="other"))
    assert again == replace(first, again=True)
    assert list(list_checkpoints(home)) == [first.path]
    assert kept(replace(ONE, session="second")).again is False


def test_save_closes_earlier_checkpoints_of_the_session(
    connection: apsw.Connection, kept: Callable[[Handover], SavedCheckpoint]
) -> None:
    first, other = kept(ONE), kept(replace(ONE, session="second"))
    second = kept(replace(ONE, goal="Something else", at=ONE.at + 1))
    assert [read_checkpoint(one.path).status for one in (first, other, second)] == [CLOSED, OPEN, OPEN]
    assert statuses(connection) == {
        first.handover.id: CLOSED, other.handover.id: OPEN, second.handover.id: OPEN,
    }  # fmt: skip
    third = kept(replace(ONE, at=ONE.at + 2))  # back to what the first one said
    assert not third.again
    assert third.path != first.path
    assert [read_checkpoint(one.path).status for one in (first, second, third)] == [CLOSED, CLOSED, OPEN]


def test_save_without_database_is_synced_later(home: str) -> None:
    first = save_checkpoint(None, home, ONE, redact, name="acme/demo", root="")
    assert save_checkpoint(None, home, ONE, redact, name="acme/demo", root="").again
    second = save_checkpoint(
        None, home, replace(ONE, goal="More", at=ONE.at + 1), redact, name="acme/demo", root=""
    )
    connection = open_store(os.path.join(home, "sessions.db"))
    assert save_checkpoint(connection, home, second.handover, redact, name="acme/demo", root="").again
    assert statuses(connection) == {first.handover.id: CLOSED, second.handover.id: OPEN}
    connection.close()


def test_many_unread_files_wait_for_the_sweep(
    home: str, connection: apsw.Connection, kept: Callable[[Handover], SavedCheckpoint]
) -> None:
    for number in range(60):
        save_checkpoint(None, home, replace(ONE, session=f"s{number}"), redact, name="acme/demo", root="")
    first = kept(ONE)
    second = kept(replace(ONE, goal="More", at=ONE.at + 60_000))
    assert statuses(connection) == {}
    assert (read_checkpoint(first.path).status, read_checkpoint(second.path).status) == (CLOSED, OPEN)
    assert sync_checkpoints(connection, home, redact) == 62
    assert len(statuses(connection)) == 62


def test_save_works_with_a_busy_database(
    home: str, connection: apsw.Connection, kept: Callable[[Handover], SavedCheckpoint]
) -> None:
    other = open_store(os.path.join(home, "sessions.db"))
    connection.set_busy_timeout(1)
    other.execute("BEGIN IMMEDIATE")
    done = kept(ONE)
    other.execute("ROLLBACK")
    other.close()
    assert read_checkpoint(done.path) == done.handover
    assert kept(ONE).again
    assert statuses(connection) == {done.handover.id: OPEN}


def test_save_resolves_told_s_session_id(
    connection: apsw.Connection, kept: Callable[[Handover], SavedCheckpoint]
) -> None:
    kept(ONE)
    ((public,),) = connection.execute("SELECT public FROM session").fetchall()
    done = kept(replace(ONE, goal="More", agent="", session=str(public)))
    assert (done.handover.agent, done.handover.session) == ("claude-code", "first")


def test_save_resets_the_counter(home: str, kept: Callable[[Handover], SavedCheckpoint]) -> None:
    for _ in range(3):
        count_call(home, "claude-code", "first")
    kept(ONE)
    assert count_call(home, "claude-code", "first").calls == 1


@pytest.mark.parametrize(
    "field", ["title", "goal", "notes", "branch", "folder", "session", "project", "agent"]
)
def test_save_redacts_every_field(
    home: str, connection: apsw.Connection, kept: Callable[[Handover], SavedCheckpoint], field: str
) -> None:
    for number, text in enumerate((SECRET, f"key={SECRET}", f"https://me:{SECRET}@host/x")):
        changed: dict[str, Any] = {field: text}
        kept(replace(replace(ONE, session=f"s{number}"), **changed))
        kept(
            replace(ONE, session=f"t{number}", done=(text,), more=((text, text),), files=(f"{text} (edit)",))
        )
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for folder, _, names in os.walk(home):
        for name in names:
            assert SECRET.lower() not in name.lower()
            with open(os.path.join(folder, name), "rb") as file:
                assert SECRET.encode() not in file.read(), name


def test_save_removes_control_characters(kept: Callable[[Handover], SavedCheckpoint]) -> None:
    done = kept(replace(ONE, goal="a\0b\x1b[31mred\r\nnext\u2028line", title="x\x07y"))
    assert (done.handover.goal, done.handover.title) == ("abred\nnext\nline", "xy")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"goal": "", "pending": ()}, "nothing in this checkpoint"),
        ({"goal": " \n", "pending": ("", " ")}, "nothing in this checkpoint"),
        ({"done": ("x",) * (MAX_ITEMS + 1)}, "at most 200 items"),
        ({"goal": "x" * (MAX_TEXT + 1)}, "at most 20,000 characters"),
        ({"done": ("x" * MAX_TEXT,) * 11}, "at most 200,000 characters"),
        ({"title": "x" * 501}, "at most 500 characters"),
        ({"session": "x" * 4097}, "at most 4,096 characters"),
    ],
)
def test_save_refuses_empty_and_too_large_checkpoints(
    home: str, kept: Callable[[Handover], SavedCheckpoint], change: dict[str, Any], says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        kept(replace(ONE, **change))
    assert list(list_checkpoints(home)) == []


def test_title_of_300_characters_is_kept(kept: Callable[[Handover], SavedCheckpoint]) -> None:
    done = kept(replace(ONE, title="long " * 60))
    assert read_checkpoint(done.path).title == ("long " * 60).strip()
    assert len(os.path.basename(done.path)) < 100


# -- closing ----------------------------------------------------------------------------------------


def test_close_checkpoint_by_id(
    home: str, connection: apsw.Connection, kept: Callable[[Handover], SavedCheckpoint]
) -> None:
    done = kept(ONE)
    assert close_checkpoint(connection, home, done.handover.id) == done.path
    assert read_checkpoint(done.path).status == CLOSED
    assert statuses(connection) == {done.handover.id: CLOSED}
    with pytest.raises(NotFoundError):
        close_checkpoint(connection, home, "caaaaaaaaa")
    os.remove(done.path)
    with pytest.raises(NotFoundError, match="gone"):
        close_checkpoint(connection, home, done.handover.id)


# -- what can go wrong ------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_full_or_read_only_disk_leaves_no_file(
    home: str, kept: Callable[[Handover], SavedCheckpoint], monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    first = kept(ONE)

    def full(_: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises((DiskFullError, MissingError), match=r"told cannot write to .*checkpoints"):
        kept(replace(ONE, goal="Something else", at=ONE.at + 1))
    assert os.listdir(os.path.dirname(first.path)) == [os.path.basename(first.path)]
    assert read_checkpoint(first.path).status == OPEN


_AGENT = """
import os, sys
from told.app.stores import open_store
from told.checkpoints.save import save_checkpoint
from told.model import Handover
home, who = sys.argv[1:]
connection = open_store(os.path.join(home, "sessions.db"))
sys.stdin.readline()
for number in range(12):
    one = Handover(goal=f"{who} {number}", title="The same", agent=who, session="same", project="k",
                   at=1794828243007)
    save_checkpoint(connection, home, one, str, name="demo", root="")
"""


def test_concurrent_saves_lose_nothing(home: str, connection: apsw.Connection) -> None:
    agents = [
        subprocess.Popen(
            [sys.executable, "-c", _AGENT, home, who],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for who in ("one", "one", "other")
    ]
    for agent in agents:
        assert agent.stdin is not None
        agent.stdin.write("go\n")
        agent.stdin.flush()
    errors = [agent.communicate(timeout=120)[1] for agent in agents]
    assert errors == [""] * 3
    assert [agent.returncode for agent in agents] == [0] * 3
    found = [read_checkpoint(path) for path in list_checkpoints(home)]
    for who in ("one", "other"):
        assert {one.goal for one in found if one.agent == who} == {f"{who} {number}" for number in range(12)}
    assert len({one.id for one in found}) == len(found)
    assert not [name for _, _, names in os.walk(home) for name in names if name.endswith(".new")]
    last = save_checkpoint(connection, home, replace(ONE, by=USER, project="k"), redact, name="demo", root="")
    assert len(statuses(connection)) == len(found) + 1
    assert statuses(connection)[last.handover.id] == OPEN


def test_close_works_with_a_busy_database(
    home: str, connection: apsw.Connection, kept: Callable[[Handover], SavedCheckpoint]
) -> None:
    done = kept(ONE)
    other = open_store(os.path.join(home, "sessions.db"))
    connection.set_busy_timeout(1)
    other.execute("BEGIN IMMEDIATE")
    try:
        close_checkpoint(connection, home, done.handover.id)
    except BusyError:
        pytest.fail("the file is closed, and that counts")
    finally:
        other.execute("ROLLBACK")
        other.close()
    assert read_checkpoint(done.path).status == CLOSED


def test_purge_removes_checkpoints_of_projects(
    home: str, connection: apsw.Connection, kept: Callable[[Handover], SavedCheckpoint], tmp_path: Path
) -> None:
    root = tmp_path / "shop"
    (root / ".told").mkdir(parents=True)
    register(ProjectJournal(home, str(root), "project:path:shop"))
    first = kept(ONE)
    own = save_checkpoint(
        connection,
        home,
        replace(ONE, session="own", project="path:shop", folder=str(root)),
        redact,
        name="shop",
        root=str(root),
    )
    assert own.path.startswith(str(root / ".told" / "checkpoints"))
    assert {row.project for row in SessionReader(connection).checkpoints(Filter(), -1)} == {
        "acme/demo",
        "shop",
    }
    before = measure_disk_use(home, 0).total
    assert before > os.path.getsize(first.path) + os.path.getsize(own.path)
    connection.close()
    assert delete_home(home) == []
    assert not os.path.exists(first.path)
    assert os.listdir(root) == []
