"""Keeping a checkpoint: clean, redacted, of a reasonable size, written once, and never lost."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from told.cli.session import open_store
from told.errors import BusyError, MissingError, NotFoundError, UsageError
from told.guard.redact import Redactor
from told.ingest.checkpoint_files import every
from told.ingest.checkpoint_reading import read_file
from told.ingest.checkpoint_sync import sync
from told.journal.places import register
from told.journal.registry import Place
from told.memory.checkpoint import LONGEST, MOST_ITEMS, close, keep
from told.memory.checkpoint_count import count
from told.memory.disk import use
from told.model import CLOSED, OPEN, USER, Handover
from told.record import replaced
from told.setup.purge import purge
from told.store.ids import is_checkpoint_id
from told.store.reading import Filter, Reading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import apsw

    from told.memory.checkpoint import Kept

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
def kept(home: str, connection: apsw.Connection) -> Callable[[Handover], Kept]:
    return lambda one: keep(connection, home, one, redact, name="acme/demo", root="/gone/demo")


def statuses(connection: apsw.Connection) -> dict[str, str]:
    return {row.public: row.status for row in Reading(connection).checkpoints(Filter(), -1)}


def test_it_is_on_disk_and_found_at_once(
    home: str, connection: apsw.Connection, kept: Callable[[Handover], Kept]
) -> None:
    done = kept(ONE)
    assert is_checkpoint_id(done.handover.id)
    assert (done.again, done.handover.title) == (False, "Move the gateway to another port")
    assert (
        read_file(done.path) == done.handover == replaced(ONE, id=done.handover.id, title=done.handover.title)
    )
    assert list(every(home)) == [done.path]
    assert statuses(connection) == {done.handover.id: OPEN}


def test_the_same_once_more_writes_nothing(
    home: str, connection: apsw.Connection, kept: Callable[[Handover], Kept]
) -> None:
    first = kept(ONE)
    again = kept(replaced(ONE, at=ONE.at + 5000, branch="other"))
    assert again == replaced(first, again=True)
    assert list(every(home)) == [first.path]
    assert kept(replaced(ONE, session="second")).again is False


def test_a_new_one_closes_the_one_before_of_the_same_session_alone(
    connection: apsw.Connection, kept: Callable[[Handover], Kept]
) -> None:
    first, other = kept(ONE), kept(replaced(ONE, session="second"))
    second = kept(replaced(ONE, goal="Something else", at=ONE.at + 1))
    assert [read_file(one.path).status for one in (first, other, second)] == [CLOSED, OPEN, OPEN]
    assert statuses(connection) == {
        first.handover.id: CLOSED, other.handover.id: OPEN, second.handover.id: OPEN,
    }  # fmt: skip
    third = kept(replaced(ONE, at=ONE.at + 2))  # back to what the first one said
    assert not third.again
    assert third.path != first.path
    assert [read_file(one.path).status for one in (first, second, third)] == [CLOSED, CLOSED, OPEN]


def test_a_file_is_written_without_the_store_and_taken_in_later(home: str) -> None:
    first = keep(None, home, ONE, redact, name="acme/demo", root="")
    assert keep(None, home, ONE, redact, name="acme/demo", root="").again
    second = keep(None, home, replaced(ONE, goal="More", at=ONE.at + 1), redact, name="acme/demo", root="")
    connection = open_store(os.path.join(home, "sessions.db"))
    assert keep(connection, home, second.handover, redact, name="acme/demo", root="").again
    assert statuses(connection) == {first.handover.id: CLOSED, second.handover.id: OPEN}
    connection.close()


def test_many_files_that_nobody_has_read_yet_wait_for_the_sweep(
    home: str, connection: apsw.Connection, kept: Callable[[Handover], Kept]
) -> None:
    for number in range(60):
        keep(None, home, replaced(ONE, session=f"s{number}"), redact, name="acme/demo", root="")
    first = kept(ONE)
    second = kept(replaced(ONE, goal="More", at=ONE.at + 60_000))
    assert statuses(connection) == {}
    assert (read_file(first.path).status, read_file(second.path).status) == (CLOSED, OPEN)
    assert sync(connection, home, redact) == 62
    assert len(statuses(connection)) == 62


def test_a_busy_store_does_not_stop_it(
    home: str, connection: apsw.Connection, kept: Callable[[Handover], Kept]
) -> None:
    other = open_store(os.path.join(home, "sessions.db"))
    connection.set_busy_timeout(1)
    other.execute("BEGIN IMMEDIATE")
    done = kept(ONE)
    other.execute("ROLLBACK")
    other.close()
    assert read_file(done.path) == done.handover
    assert kept(ONE).again
    assert statuses(connection) == {done.handover.id: OPEN}


def test_told_s_own_id_of_a_session_is_understood(
    connection: apsw.Connection, kept: Callable[[Handover], Kept]
) -> None:
    kept(ONE)
    ((public,),) = connection.execute("SELECT public FROM session").fetchall()
    done = kept(replaced(ONE, goal="More", agent="", session=public))
    assert (done.handover.agent, done.handover.session) == ("claude-code", "first")


def test_the_counter_begins_anew(home: str, kept: Callable[[Handover], Kept]) -> None:
    for _ in range(3):
        count(home, "claude-code", "first")
    kept(ONE)
    assert count(home, "claude-code", "first").calls == 1


@pytest.mark.parametrize(
    "field", ["title", "goal", "notes", "branch", "folder", "session", "project", "agent"]
)
def test_no_secret_is_written_wherever_it_stands(
    home: str, connection: apsw.Connection, kept: Callable[[Handover], Kept], field: str
) -> None:
    for number, text in enumerate((SECRET, f"key={SECRET}", f"https://me:{SECRET}@host/x")):
        kept(replaced(replaced(ONE, session=f"s{number}"), **{field: text}))
        kept(
            replaced(ONE, session=f"t{number}", done=(text,), more=((text, text),), files=(f"{text} (edit)",))
        )
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for folder, _, names in os.walk(home):
        for name in names:
            assert SECRET.lower() not in name.lower()
            with open(os.path.join(folder, name), "rb") as file:
                assert SECRET.encode() not in file.read(), name


def test_control_characters_are_cleaned_away(kept: Callable[[Handover], Kept]) -> None:
    done = kept(replaced(ONE, goal="a\0b\x1b[31mred\r\nnext\u2028line", title="x\x07y"))
    assert (done.handover.goal, done.handover.title) == ("abred\nnext\nline", "xy")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"goal": "", "pending": ()}, "nothing in this checkpoint"),
        ({"goal": " \n", "pending": ("", " ")}, "nothing in this checkpoint"),
        ({"done": ("x",) * (MOST_ITEMS + 1)}, "at most 200 items"),
        ({"goal": "x" * (LONGEST + 1)}, "at most 20,000 characters"),
        ({"done": ("x" * LONGEST,) * 11}, "at most 200,000 characters"),
        ({"title": "x" * 501}, "at most 500 characters"),
        ({"session": "x" * 4097}, "at most 4,096 characters"),
    ],
)
def test_too_little_and_too_much_is_refused_in_a_sentence(
    home: str, kept: Callable[[Handover], Kept], change: dict[str, object], says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        kept(replaced(ONE, **change))
    assert list(every(home)) == []


def test_a_title_of_300_characters_is_kept(kept: Callable[[Handover], Kept]) -> None:
    done = kept(replaced(ONE, title="long " * 60))
    assert read_file(done.path).title == ("long " * 60).strip()
    assert len(os.path.basename(done.path)) < 100


# -- closing ----------------------------------------------------------------------------------------


def test_it_is_closed_by_its_id(
    home: str, connection: apsw.Connection, kept: Callable[[Handover], Kept]
) -> None:
    done = kept(ONE)
    assert close(connection, home, done.handover.id) == done.path
    assert read_file(done.path).status == CLOSED
    assert statuses(connection) == {done.handover.id: CLOSED}
    with pytest.raises(NotFoundError):
        close(connection, home, "caaaaaaaaa")
    os.remove(done.path)
    with pytest.raises(NotFoundError, match="gone"):
        close(connection, home, done.handover.id)


# -- what can go wrong ------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_full_or_read_only_disk_is_one_sentence_and_leaves_nothing(
    home: str, kept: Callable[[Handover], Kept], monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    first = kept(ONE)

    def full(_: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(MissingError, match=r"told cannot write to .*checkpoints"):
        kept(replaced(ONE, goal="Something else", at=ONE.at + 1))
    assert os.listdir(os.path.dirname(first.path)) == [os.path.basename(first.path)]
    assert read_file(first.path).status == OPEN


_AGENT = """
import os, sys
from told.cli.session import open_store
from told.memory.checkpoint import keep
from told.model import Handover
home, who = sys.argv[1:]
connection = open_store(os.path.join(home, "sessions.db"))
sys.stdin.readline()
for number in range(12):
    one = Handover(goal=f"{who} {number}", title="The same", agent=who, session="same", project="k",
                   at=1794828243007)
    keep(connection, home, one, str, name="demo", root="")
"""


def test_agents_that_write_at_the_same_moment_lose_nothing(home: str, connection: apsw.Connection) -> None:
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
    errors = [agent.communicate(timeout=60)[1] for agent in agents]
    assert errors == [""] * 3
    assert [agent.returncode for agent in agents] == [0] * 3
    found = [read_file(path) for path in every(home)]
    for who in ("one", "other"):
        assert {one.goal for one in found if one.agent == who} == {f"{who} {number}" for number in range(12)}
    assert len({one.id for one in found}) == len(found)
    assert not [name for _, _, names in os.walk(home) for name in names if name.endswith(".new")]
    last = keep(connection, home, replaced(ONE, by=USER, project="k"), redact, name="demo", root="")
    assert len(statuses(connection)) == len(found) + 1
    assert statuses(connection)[last.handover.id] == OPEN


def test_a_store_that_is_busy_for_good_is_no_error_of_close(
    home: str, connection: apsw.Connection, kept: Callable[[Handover], Kept]
) -> None:
    done = kept(ONE)
    other = open_store(os.path.join(home, "sessions.db"))
    connection.set_busy_timeout(1)
    other.execute("BEGIN IMMEDIATE")
    try:
        close(connection, home, done.handover.id)
    except BusyError:
        pytest.fail("the file is closed, and that counts")
    finally:
        other.execute("ROLLBACK")
        other.close()
    assert read_file(done.path).status == CLOSED


def test_a_purge_takes_them_all_also_those_of_projects(
    home: str, connection: apsw.Connection, kept: Callable[[Handover], Kept], tmp_path: Path
) -> None:
    root = tmp_path / "shop"
    (root / ".told").mkdir(parents=True)
    register(Place(home, str(root), "project:path:shop"))
    first = kept(ONE)
    own = keep(
        connection,
        home,
        replaced(ONE, session="own", project="path:shop", folder=str(root)),
        redact,
        name="shop",
        root=str(root),
    )
    assert own.path.startswith(str(root / ".told" / "checkpoints"))
    assert {row.project for row in Reading(connection).checkpoints(Filter(), -1)} == {"acme/demo", "shop"}
    before = use(home, 0).total
    assert before > os.path.getsize(first.path) + os.path.getsize(own.path)
    connection.close()
    assert purge(home) == []
    assert not os.path.exists(first.path)
    assert os.listdir(root) == []
