"""`memory.db` is what the journal says: applied in any order, interrupted anywhere, rebuilt or carried on."""

from __future__ import annotations

import multiprocessing
import os
import random
import shutil
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.journal.writing import dump_tables, fold
from tests.soak import points
from told.errors import ToldError
from told.journal import append as appending
from told.journal import apply as applying
from told.journal.append import append
from told.journal.apply import catch_up, open_memories, purge_erased, rebuild
from told.journal.erase import erase
from told.journal.files import Draft
from told.store.memories.schema import find_damage

from .test_fold import payloads
from .writing import NOW, damages, do, operations, remember, segment

if TYPE_CHECKING:
    from pathlib import Path

KINDS = ("remember", "lock", "unlock", "supersede", "forget", "show", "repeat", "edge", "revise", "undo")


def texts(home: Path) -> list[str]:
    memories = open_memories(str(home))
    found = sorted(memory.text for memory in memories.get(memories.ids()).values())
    memories.close()
    return found


def rebuilt(home: Path) -> dict[str, list[Any]]:
    copy = home.parent / f"{home.name}-copy"
    shutil.copytree(home, copy, ignore=shutil.ignore_patterns("memory.db*"))
    memories = rebuild(str(copy))
    found = dump_tables(memories.connection)
    memories.close()
    shutil.rmtree(copy)
    return found


def test_open_memories_applies_appended_operations(tmp_path: Path) -> None:
    remember(tmp_path, "Use uv.")
    assert texts(tmp_path) == ["Use uv."]
    remember(tmp_path, "Use ruff.")
    assert texts(tmp_path) == ["Use ruff.", "Use uv."]


def test_applying_twice_changes_nothing(tmp_path: Path) -> None:
    memory = remember(tmp_path, "Use uv.")
    do(tmp_path, "show", memories=[memory], session="s")
    memories = open_memories(str(tmp_path))
    before = dump_tables(memories.connection)
    assert catch_up(str(tmp_path), memories) == 0
    assert dump_tables(memories.connection) == before
    assert memories.get([memory])[memory].shown == 1
    assert memories.shown_in("s") == {memory: NOW}


def history(home: Path, seed: int, count: int = 60) -> None:
    """Write a history of two machines that know of each other's memories, with clocks apart."""
    rng = random.Random(seed)
    known: list[str] = []
    for number in range(count):
        name = rng.choice(("aaaaaaaa", "bbbbbbbb"))
        (home / "machine").write_text(name)
        kind = rng.choice(KINDS) if known else "remember"
        payload: dict[str, Any] = {"text": f"Rule {number} of {name}", "session": rng.choice("st")}
        payload |= {"entities": [rng.choice("xyz")], "triggers": [["command", rng.choice("xyz")]]}
        if kind == "supersede":
            payload = {"by": rng.choice(known)}
        elif kind == "edge":
            payload = {"kind": "supports", "target": rng.choice(known)}
        elif kind == "undo":
            payload = {"machine": rng.choice(("aaaaaaaa", "bbbbbbbb")), "number": rng.randint(1, 30)}
        elif kind == "show":
            payload["memories"] = rng.sample(known, min(len(known), 3))
        memory = "" if kind in ("remember", "show") else rng.choice(known)
        by = rng.choice(("user", "user", "agent"))
        written = append(str(home), [Draft(kind, by, payload, memory)], now=NOW + rng.randint(0, 40) * 1000)
        known += [written[0].memory] if kind == "remember" else []


@pytest.mark.parametrize("seed", range(6))
def test_any_arrival_order_equals_a_rebuild(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(appending, "SEGMENT_BYTES", 2000)
    monkeypatch.setattr(applying, "_BATCH", 7)
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    history(source, seed)
    rng = random.Random(seed)
    files = sorted(source.glob("journal/*/*.jsonl"))
    target.mkdir()
    arriving = [(path, share) for path in files for share in (0.3, 0.7, 1.0)]
    rng.shuffle(arriving)
    for path, share in arriving:
        place = target / path.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        content = path.read_bytes()[: int(path.stat().st_size * share)]
        if not place.exists() or place.stat().st_size < len(content):
            place.write_bytes(content)
        open_memories(str(target)).close()
    memories = open_memories(str(target))
    assert dump_tables(memories.connection) == rebuilt(source)
    assert find_damage(memories.connection) == []
    assert memories.get(memories.ids()) == fold(operations(source))


@given(
    st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 3), payloads()), max_size=12), st.integers(1, 5)
)
@settings(
    max_examples=points(everyday=8, soak=100),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_payload_can_be_applied(
    tmp_path_factory: pytest.TempPathFactory, drafts: list[tuple[str, int, dict[str, Any]]], step: int
) -> None:
    home = tmp_path_factory.mktemp("home")
    known = [f"mmmmmmm{letter}" for letter in "abcd"]
    for number, (kind, which, payload) in enumerate(drafts):
        append(str(home), [Draft(kind, "user", payload, known[which])], now=NOW + number)
        if number % step == 0:
            open_memories(str(home)).close()
    memories = open_memories(str(home))
    assert dump_tables(memories.connection) == rebuilt(home)
    assert find_damage(memories.connection) == []


def _write_and_apply(home: str) -> None:
    memories = open_memories(home)
    for number in range(25):
        written = append(
            home, [Draft("remember", "user", {"text": f"{os.getpid()} {number}"})], now=NOW + number
        )
        append(
            home, [Draft("show", "tool", {"memories": [written[0].memory], "session": "s"})], now=NOW + number
        )
        catch_up(home, memories)


def test_concurrent_appliers_apply_everything_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write_and_apply, args=(str(tmp_path),)) for _ in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    memories = open_memories(str(tmp_path))
    assert [one.shown for one in memories.get(memories.ids()).values()] == [1] * 75
    assert damages(tmp_path) == []
    assert find_damage(memories.connection) == []
    assert dump_tables(memories.connection) == rebuilt(tmp_path)


def test_flipped_byte_in_journal_loses_only_its_memory(tmp_path: Path) -> None:
    for number in range(3):
        remember(tmp_path, f"Rule {number}.")
    content = bytearray(segment(tmp_path).read_bytes())
    content[content.index(b"Rule 1")] ^= 1
    segment(tmp_path).write_bytes(content)
    assert [(one.line, one.what) for one in damages(tmp_path)] == [(2, "its payload does not match")]
    assert texts(tmp_path) == ["Rule 0.", "Rule 2."]


def test_forget_leaves_no_byte(tmp_path: Path) -> None:
    secret = "Zanzibar hippopotamus xylophonist"
    for number in range(200):
        remember(tmp_path, f"Rule {number} about zanzibarians.", at=NOW + number)
    gone = remember(
        tmp_path, f"The code is {secret}.", entities=["Hippopotamus"], triggers=[["command", "hippopotamus"]],
        evidence=[{"agent": "codex", "session": "s1", "turn": 3, "quote": secret}],
    )  # fmt: skip
    open_memories(str(tmp_path)).close()
    do(tmp_path, "revise", gone, text=f"Changed: {secret}!")
    memories = open_memories(str(tmp_path))
    assert any(b"ippopotamus" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    do(tmp_path, "forget", gone, evidence=[{"agent": "codex", "session": "s1", "turn": 3}])
    erase(str(tmp_path), [gone])
    purge_erased(str(tmp_path), memories)
    for path in tmp_path.rglob("*"):
        if path.is_file():
            content = path.read_bytes().lower()
            # The index keeps stems, and cuts off what a word shares with the one before it.
            assert b"hippopotam" not in content, path
            assert b"ippopotam" not in content, path
            assert b"xylophonist" not in content, path
    assert damages(tmp_path) == []
    assert find_damage(memories.connection) == []
    assert dump_tables(memories.connection) == rebuilt(tmp_path)
    left = memories.get([gone])[gone]
    assert (left.status, left.text) == ("forgotten", "")
    assert [(one.session, one.turn, one.quote) for one in left.evidence] == [("s1", 3, "")]
    assert len(memories.of_session("s1")) == 1


def test_forget_completes_after_kill_between_erase_and_apply(tmp_path: Path) -> None:
    gone = remember(tmp_path, "hunter2")
    kept = remember(tmp_path, "Use uv.")
    open_memories(str(tmp_path)).close()
    do(tmp_path, "forget", gone)
    erase(str(tmp_path), [gone])
    remember(tmp_path, "x" * 500)  # longer again than before
    memories = open_memories(str(tmp_path))
    assert memories.get([gone])[gone].text == ""
    assert memories.get([kept])[kept].text == "Use uv."
    assert len(memories.ids()) == 3
    assert dump_tables(memories.connection) == rebuilt(tmp_path)


@pytest.mark.parametrize("damage", ["rubbish", "empty", "newer"])
def test_unusable_database_is_rebuilt(tmp_path: Path, damage: str) -> None:
    remember(tmp_path, "Use uv.")
    memories = open_memories(str(tmp_path))
    if damage == "newer":
        memories.connection.execute("PRAGMA user_version=99")
    memories.close()
    if damage != "newer":
        (tmp_path / "memory.db").write_bytes(b"rubbish" * 1000 if damage == "rubbish" else b"")
    assert texts(tmp_path) == ["Use uv."]


RULES = points(everyday=60, soak=300)


def is_noticed(home: Path, expected: dict[str, list[Any]]) -> bool:
    """Tell whether a damage is found, or repaired at once; one that is not has to be without effect."""
    before = (home / "memory.db").stat().st_ino
    try:
        memories = open_memories(str(home))
        found = find_damage(memories.connection)
        assert found or (
            dump_tables(memories.connection) == expected and len(memories.listed(kinds=["rule"])) == RULES
        )
        memories.close()
    except (apsw.Error, ToldError):
        return True
    return bool(found) or (home / "memory.db").stat().st_ino != before


def test_flipped_bytes_in_database_are_found_and_repaired(tmp_path: Path) -> None:
    for number in range(RULES):
        remember(
            tmp_path, f"Rule {number}: the quick brown fox jumps over {number} lazy dogs.", at=NOW + number,
            kind="rule",
            entities=["fox"], triggers=[["command", f"run {number}"]], evidence={"session": "s"},
        )  # fmt: skip
    memories = open_memories(str(tmp_path))
    expected = dump_tables(memories.connection)
    memories.connection.execute("VACUUM")
    memories.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    memories.close()
    path = tmp_path / "memory.db"
    whole = path.read_bytes()
    rng = random.Random(3)
    unnoticed = 0
    flips = points(everyday=8, soak=60)
    for _ in range(flips):
        place = rng.randrange(100, len(whole) - 16)
        path.write_bytes(whole[:place] + rng.randbytes(16) + whole[place + 16 :])
        unnoticed += not is_noticed(tmp_path, expected)
        for suffix in ("-wal", "-shm"):
            (tmp_path / f"memory.db{suffix}").unlink(missing_ok=True)
    assert unnoticed < flips  # much of so small a file is free space
    path.write_bytes(whole[:5000] + os.urandom(3000) + whole[8000:])
    memories = rebuild(str(tmp_path))
    assert find_damage(memories.connection) == []
    assert dump_tables(memories.connection) == expected


def test_hurry_neither_waits_nor_applies_everything(tmp_path: Path) -> None:
    append(str(tmp_path), [Draft("remember", "user", {"text": f"Rule {n}."}) for n in range(450)], now=NOW)
    memories = open_memories(str(tmp_path), hurry=True)
    assert len(memories.ids()) == 200
    with memories.writer.transaction():
        other = open_memories(str(tmp_path), hurry=True)
        assert len(other.ids()) == 200
        other.close()
    for expected in (400, 450):
        open_memories(str(tmp_path), hurry=True).close()
        assert len(memories.ids()) == expected


def test_read_only_home_can_be_read(tmp_path: Path) -> None:
    remember(tmp_path, "Use uv.")
    open_memories(str(tmp_path)).close()
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    tmp_path.chmod(0o500)
    try:
        assert texts(tmp_path) == ["Use uv."]
    finally:
        tmp_path.chmod(0o700)
