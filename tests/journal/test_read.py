"""Every damaged line is named, and the others stay."""

from __future__ import annotations

import random
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.soak import points
from told.journal.erase import erase
from told.journal.files import Operation
from told.journal.read import find_by_kind, find_by_memory, read_operations, verify

from .writing import NOW, damages, do, journal, operations, remember, segment

if TYPE_CHECKING:
    from pathlib import Path


def test_flipped_byte_is_found_and_loses_one_line(tmp_path: Path) -> None:
    for number in range(5):
        remember(tmp_path, f"Rule {number} über alles.", at=NOW + number)
    path = segment(tmp_path)
    whole = path.read_bytes()
    starts = [0, *(at + 1 for at, byte in enumerate(whole) if byte == 10)]
    rng = random.Random(7)
    for place in rng.sample(range(len(whole)), points(everyday=80, soak=400)):
        changed = bytearray(whole)
        changed[place] ^= 1 << rng.randrange(8)
        path.write_bytes(changed)
        if whole[place] == 10 or changed[place] == 10:
            assert damages(tmp_path)
            continue
        line = sum(1 for start in starts if start <= place)
        assert {one.line for one in damages(tmp_path)} == {line}, place
        assert [one.number for one in operations(tmp_path)] == [n for n in range(1, 6) if n != line]


def test_missing_duplicate_and_foreign_lines_are_reported(tmp_path: Path) -> None:
    for number in range(4):
        remember(tmp_path, f"Rule {number}.")
    path = segment(tmp_path)
    first, second, third, fourth = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + third + fourth)
    assert [(one.line, one.what) for one in damages(tmp_path)] == [(2, "operations 2 to 2 are missing")]
    path.write_bytes(first + second + second + third + fourth)
    assert [(one.line, one.what) for one in damages(tmp_path)] == [(3, "number 2 comes twice")]
    assert len(operations(tmp_path)) == 4
    other = tmp_path / "other"
    for number in range(2):
        remember(other, f"Elsewhere {number}.")
    path.write_bytes(first + segment(other).read_bytes().splitlines(keepends=True)[1] + third + fourth)
    assert [one.line for one in damages(tmp_path)] == [2, 3]
    assert {one.what for one in damages(tmp_path)} == {"does not continue the line before"}


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b"{}",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"number":NaN}',
        b'{"number":' + b"9" * 5000 + b"}",
    ],
)
def test_hostile_lines_are_reported_as_damage(tmp_path: Path, line: bytes) -> None:
    remember(tmp_path, "Use uv.")
    with segment(tmp_path).open("ab") as file:
        file.write(line + b"\n")
    remember(tmp_path, "Use ruff.")
    assert [one.line for one in damages(tmp_path)] == [2]
    assert len(operations(tmp_path)) == 2


def test_incomplete_copy_yields_complete_lines(tmp_path: Path) -> None:
    for number in range(3):
        remember(tmp_path, f"Rule {number}.")
    path = segment(tmp_path)
    whole = path.read_bytes()
    ends = [at for at, byte in enumerate(whole, 1) if byte == 10]
    for size in range(0, len(whole), 37):
        path.write_bytes(whole[:size])
        assert len(operations(tmp_path)) == sum(1 for end in ends if end <= size)


def test_machines_are_merged_by_time(tmp_path: Path) -> None:
    for at in (10, 30, 20):
        remember(tmp_path, "mine", at=at)
    other = tmp_path / "other"
    for at in (15, 25):
        remember(other, "theirs", at=at)
    shutil.copytree(next((other / "journal").iterdir()), tmp_path / "journal" / "zzzzzzzz")
    found = [one for one in read_operations(journal(tmp_path)) if isinstance(one, Operation)]
    assert [one.at for one in found] == [10, 15, 25, 30, 20]


def test_unfinished_files_are_ignored(tmp_path: Path) -> None:
    remember(tmp_path, "Use uv.")
    folder = segment(tmp_path).parent
    for name in (".000002.jsonl.tmp", "000002.jsonl.part", "~syncthing~000002.jsonl.tmp", "000002 (1).jsonl"):
        (folder / name).write_text("not yet")
    assert verify(journal(tmp_path)) == []


def test_find_by_memory(tmp_path: Path) -> None:
    first, second = remember(tmp_path, "One."), remember(tmp_path, "Two.")
    do(tmp_path, "lock", second)
    do(tmp_path, "show", memories=[first, second], session="s")
    kinds = [one.kind for one in find_by_memory(journal(tmp_path), [second])]
    assert kinds == ["remember", "lock", "show"]
    assert [one.memory for one in find_by_kind(journal(tmp_path), ["lock"])] == [second]


def test_erase_keeps_the_chain_valid(tmp_path: Path) -> None:
    kept = remember(tmp_path, "Use uv.")
    gone = remember(tmp_path, "My password is hunter2.")
    do(tmp_path, "revise", gone, text="My password was hunter2.")
    do(tmp_path, "forget", gone, evidence=[{"agent": "codex", "session": "s1", "turn": 4}])
    assert erase(str(tmp_path), [gone]) == 2
    assert b"hunter2" not in segment(tmp_path).read_bytes()
    assert damages(tmp_path) == []
    payloads = {(one.memory, one.kind): one.payload for one in operations(tmp_path)}
    assert payloads[gone, "remember"] is None
    assert payloads[gone, "forget"] is not None
    assert payloads[kept, "remember"] is not None
    remember(tmp_path, "Next.")
    assert damages(tmp_path) == []
    assert erase(str(tmp_path), [gone]) == 0


def test_erase_removes_torn_and_unfinished_files(tmp_path: Path) -> None:
    gone = remember(tmp_path, "hunter2")
    remember(tmp_path, "hunter2 again")
    segment(tmp_path).write_bytes(segment(tmp_path).read_bytes()[:-20])
    do(tmp_path, "show")
    assert any(b"hunter2 again" in path.read_bytes() for path in tmp_path.rglob("*.torn"))
    segment(tmp_path).with_name("000001.jsonl.77.new").write_text("hunter2, when the last erasing was killed")
    erase(str(tmp_path), [gone])
    assert not any(b"hunter2" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
