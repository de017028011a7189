"""Flipped bytes in told's own files are found by `told health --deep` and repaired by `told rebuild`."""

from __future__ import annotations

import gc
import random
import shutil
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from tests.cli.conftest import build_shop
from tests.cli.machine import ago
from tests.cli.test_memory_remember import remember
from tests.soak import points
from told.store.sessions import schema as sealing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.machine import Machine
    from tests.cli.template import Build

_FLIPS = points(everyday=4, soak=240)
_REBUILDS = points(everyday=1, soak=24)
_QUESTIONS = (
    ("list", "--all-projects"), ("search", "cache", "--all-projects"), ("search", "login", "--all-projects"),
    ("files", "--all-projects"), ("timeline", "--all-projects"), ("checkpoints", "--all-projects"),
    ("repos",), ("memories", "--all-projects"), ("brief", "--prompt", "Which port does the gateway use?"),
)  # fmt: skip


def build_busy(shop: Machine) -> None:
    build_shop(shop)
    for number in range(30):
        shop.claude(
            (f"Rename the field user_{number} in Account.java", f"Renamed it in {number + 2} files; ok."),
            (f"What is the limit of queue {number}?", f"It is {number * 100} messages, see `limits.toml`."),
            at=ago(days=2 + number), title=f"Queue {number}", files={f"/gone/src/q{number}.py": "Edit"},
        )  # fmt: skip
        remember(shop, f"The gateway of region {number} uses port {8000 + number}")
    remember(shop, "--lock", "--scope", "global", "Never push to main")
    shop.told("correct", "region 29", "The gateway of region 29 uses port 9999")
    assert shop.told("index").code == 0
    settle(shop)


@pytest.fixture
def busy(prepared: Callable[[Build], Machine]) -> Machine:
    """A machine with sessions, an archive, and memories that were changed."""
    return prepared(build_busy)


def settle(machine: Machine) -> None:
    """Bring both databases into one file each, without free pages."""
    assert sealing.TABLES  # its functions stand in the triggers
    gc.collect()
    for name in ("sessions.db", "memory.db"):
        connection = apsw.Connection(str(machine.told_home / name))
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
    for path in machine.told_home.glob("*.db-*"):
        path.unlink()


def rows_of(path: Path) -> Any:
    """Return every row of every table and every word of the index; why not, if they cannot be read."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    index = "turn_words" if path.name == "sessions.db" else "memory_words"
    try:
        tables = connection.execute("SELECT name, sql FROM sqlite_schema ORDER BY name").fetchall()
        connection.execute(f"CREATE VIRTUAL TABLE temp.word USING fts5vocab(main, {index}, instance)")
        found: dict[str, Any] = {"word": connection.execute("SELECT * FROM temp.word").fetchall()}
        for name, sql in tables:
            # How the index keeps its words has bytes that mean nothing.
            if str(sql).startswith("CREATE TABLE") and not str(name).startswith(f"{index}_"):
                found[str(name)] = sorted(map(repr, connection.execute(f"SELECT * FROM {name}")))
        return tables, found, connection.execute("PRAGMA user_version").fetchall()
    except (apsw.Error, UnicodeDecodeError) as error:
        return repr(error)
    finally:
        connection.close()


def answers(machine: Machine) -> list[str]:
    gc.collect()
    return [machine.told(*words, "--json").out for words in _QUESTIONS]


def test_what_is_as_it_was_written_is_said_to_be_so(busy: Machine) -> None:
    answer = busy.told("health", "--deep")
    assert answer.code == 0, answer.out
    assert "are undamaged" in answer.out
    assert busy.told("health", "--deep", "--json").json["deep"]["sound"] is True


@pytest.mark.parametrize("name", ["sessions.db", "memory.db"])
def test_a_flipped_byte_is_found_or_changes_nothing_and_a_rebuild_repairs_it(
    busy: Machine, name: str
) -> None:
    before = answers(busy)
    settle(busy)
    kept = busy.told_home.with_name("kept")
    shutil.copytree(busy.told_home, kept)
    original = (kept / name).read_bytes()
    rows = rows_of(kept / name)
    chance = random.Random(20261115)
    missed, found = [], 0
    for number in range(_FLIPS):
        gc.collect()
        shutil.rmtree(busy.told_home)
        shutil.copytree(kept, busy.told_home)
        at = len(original) * number // _FLIPS + chance.randrange(len(original) // _FLIPS)
        changed = bytearray(original)
        changed[at] ^= 1 << chance.randrange(8)
        (busy.told_home / name).write_bytes(changed)
        answer = busy.told("health", "--deep")
        assert "Traceback" not in answer.err
        if answer.code == 0:
            if rows_of(busy.told_home / name) != rows:
                missed.append(at)
            continue
        found += 1
        assert "told rebuild" in answer.out, answer.out
        assert f"{name} is damaged" in answer.out
        if found % (_FLIPS // _REBUILDS) == 1:
            rebuilt = busy.told("rebuild")
            assert rebuilt.code == 0, rebuilt.err
            assert answers(busy) == before
            assert busy.told("health", "--deep").code == 0
    assert missed == []
    assert found > (_FLIPS // 4 if _FLIPS >= 60 else 0)  # a few flips may all hit unused bytes


def test_a_damaged_line_of_the_journal_is_named_and_the_others_stay(busy: Machine) -> None:
    journal = next(busy.told_home.rglob("000001.jsonl"))
    lines = journal.read_bytes().split(b"\n")
    damaged = next(n for n, line in enumerate(lines) if b"region 12 " in line)
    lines[damaged] = lines[damaged].replace(b"region 12 ", b"region 1Z ")
    journal.write_bytes(b"\n".join(lines))
    known = busy.told("stats", "--json").json["by_status"]
    answer = busy.told("health", "--deep")
    assert answer.code == 4
    assert f"000001.jsonl, line {damaged + 1} is damaged: its payload does not match" in answer.out
    assert busy.told("rebuild").code == 0
    left = busy.told("stats", "--json").json["by_status"]
    assert sum(left.values()) == sum(known.values()) - 1
    for status in left:
        out = busy.told("memories", "--status", status, "-n", "99", "--all-projects").out
        assert "region 12 " not in out
        assert "1Z" not in out


def test_a_damaged_file_of_the_archive_is_named(busy: Machine) -> None:
    path = min((busy.told_home / "archive").rglob("*.gz"))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)
    answer = busy.told("health", "--deep")
    assert answer.code == 4
    assert path.name in answer.out


def test_damaged_memories_never_cost_the_sessions(busy: Machine) -> None:
    before = [
        busy.told("list", "--all-projects").out,
        busy.told("memories", "--all-projects", "-n", "99").out,
    ]
    settle(busy)
    kept = busy.told_home.with_name("kept")
    shutil.copytree(busy.told_home, kept)
    asked = (("memories",), ("search", "gateway"), ("brief", "--prompt", "the port"), ("stats",), ("index",))
    for words in asked[: points(everyday=2, soak=5)]:
        gc.collect()
        shutil.rmtree(busy.told_home)
        shutil.copytree(kept, busy.told_home)
        path = busy.told_home / "memory.db"
        content = bytearray(path.read_bytes())
        content[4096 : len(content) - 4096] = b"\xa5" * (len(content) - 8192)
        path.write_bytes(content)
        for _ in range(2):
            answer = busy.told(*words)
            assert "Traceback" not in answer.err
        assert not list(busy.told_home.glob("sessions.db.damaged*")), words
        assert busy.told("list", "--all-projects").out == before[0], words
        busy.told("memories")
        assert busy.told("memories", "--all-projects", "-n", "99").out == before[1], words
