"""Appended operations are on disk, in order, and separate from torn lines."""

from __future__ import annotations

import json
import multiprocessing
import os
import stat
from pathlib import Path

import pytest

from told.errors import DiskFullError, MissingError, UsageError
from told.journal import append as appending
from told.journal.append import append, new_memory_id
from told.journal.files import Draft
from told.journal.read import read_operations, verify

from .writing import NOW, damages, do, journal, operations, remember, segment


def test_append_writes_one_readable_json_line(tmp_path: Path) -> None:
    memory = remember(tmp_path, 'Use uv, "never" pip.\nAlways.', kind="rule")
    lines = segment(tmp_path).read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1
    value = json.loads(lines[0])
    assert list(value) == [
        "number", "at", "kind", "memory", "by", "payload", "payload_hash", "previous", "hash",
    ]  # fmt: skip
    assert (value["number"], value["at"], value["kind"], value["by"]) == (1, NOW, "remember", "user")
    assert value["memory"] == memory
    assert value["payload"]["text"] == 'Use uv, "never" pip.\nAlways.'
    assert len(value["payload"]["salt"]) == 32


def test_same_text_twice_gets_two_ids_and_hashes(tmp_path: Path) -> None:
    assert remember(tmp_path, "Use uv.") != remember(tmp_path, "Use uv.")
    first, second = (json.loads(line) for line in segment(tmp_path).read_text().splitlines())
    assert first["payload_hash"] != second["payload_hash"]
    assert second["previous"] == first["hash"]


def test_journal_files_are_private(tmp_path: Path) -> None:
    home = tmp_path / "home"
    remember(home, "Use uv.")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (home, *home.rglob("*"))}
    assert {modes[path.name] for path in home.rglob("*") if path.is_file()} == {0o600}
    assert {modes[path.name] for path in (home, *home.rglob("*")) if path.is_dir()} == {0o700}


def test_append_writes_a_batch_at_once(tmp_path: Path) -> None:
    old = remember(tmp_path, "Use pip.")
    new = new_memory_id()
    written = append(
        str(tmp_path),
        [Draft("correct", "user", {"text": "Use uv."}, new), Draft("supersede", "user", {"by": new}, old)],
        now=NOW,
    )
    assert [(one.number, one.memory) for one in written] == [(2, new), (3, old)]
    assert damages(tmp_path) == []


def test_taken_memory_id_gets_longer() -> None:
    assert len(new_memory_id()) == 8
    assert len(new_memory_id(lambda name: len(name) < 10)) == 10


def test_segments_rotate_and_continue_the_chain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(appending, "SEGMENT_BYTES", 1500)
    for number in range(20):
        remember(tmp_path, f"Rule {number}.", at=NOW + number)
    assert len(list(tmp_path.glob("journal/*/*.jsonl"))) > 2
    assert [one.number for one in operations(tmp_path)] == list(range(1, 21))
    assert damages(tmp_path) == []


@pytest.mark.parametrize("cut", [1, 40, 200])
def test_torn_line_is_moved_aside_and_reported(tmp_path: Path, cut: int) -> None:
    remember(tmp_path, "Use uv.")
    remember(tmp_path, "Never pushed through.")
    path = segment(tmp_path)
    path.write_bytes(path.read_bytes()[:-cut])
    assert [(one.line, one.what) for one in damages(tmp_path)] == [(2, "cut off")]
    remember(tmp_path, "Next.")
    texts = [one.payload["text"] for one in operations(tmp_path) if one.payload]
    assert texts == ["Use uv.", "Next."]
    assert [(Path(one.file).suffix, one.line) for one in damages(tmp_path)] == [(".torn", 0)]
    assert path.read_bytes().endswith(b"\n")


def test_append_continues_after_a_garbage_line(tmp_path: Path) -> None:
    remember(tmp_path, "Use uv.")
    with segment(tmp_path).open("ab") as file:
        file.write(b"\0\0\0 rubbish\n")
    assert do(tmp_path, "lock", "m1").number == 3
    assert [(one.line, one.what) for one in damages(tmp_path)] == [(2, "not valid JSON")]


def test_append_finds_a_long_last_line(tmp_path: Path) -> None:
    remember(tmp_path, "x" * 100_000)
    assert do(tmp_path, "lock", "m1").number == 2
    assert damages(tmp_path) == []


def test_append_refuses_too_long_payload(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="too long to remember"):
        remember(tmp_path, "x" * 600_000)


def test_append_accepts_lone_surrogates(tmp_path: Path) -> None:
    remember(tmp_path, "half \ud83d of a smile", ratio=float("nan"))
    assert damages(tmp_path) == []
    assert operations(tmp_path)[0].payload is not None
    assert operations(tmp_path)[0].payload["text"] == "half ? of a smile"  # type: ignore[index]


def test_full_disk_leaves_journal_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remember(tmp_path, "Use uv.")
    before = segment(tmp_path).read_bytes()
    real = os.write

    def half(descriptor: int, content: bytes) -> int:
        return real(descriptor, content[: len(content) // 2])

    monkeypatch.setattr(os, "write", half)
    with pytest.raises(DiskFullError, match="The disk is full"):
        remember(tmp_path, "Lost.")
    monkeypatch.undo()
    assert segment(tmp_path).read_bytes() == before
    remember(tmp_path, "Next.")
    assert damages(tmp_path) == []


def test_failed_sync_leaves_journal_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remember(tmp_path, "Use uv.")
    before = segment(tmp_path).read_bytes()

    def fail(_: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(appending, "_sync", fail)
    with pytest.raises(MissingError, match="input/output error"):
        remember(tmp_path, "Lost.")
    assert segment(tmp_path).read_bytes() == before


def test_append_names_a_folder_it_cannot_create(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file stands here")
    with pytest.raises(MissingError, match=r"cannot write to .*home"):
        remember(tmp_path / "home", "Use uv.")


def test_machine_id_is_stable_and_invalid_one_is_replaced(tmp_path: Path) -> None:
    first = do(tmp_path, "show").machine
    assert do(tmp_path, "show").machine == first
    (tmp_path / "machine").write_text("../../etc\n")
    second = do(tmp_path, "show").machine
    assert second != first
    assert second.isalnum()
    assert len(operations(tmp_path)) == 3


def _append_many(home: str, count: int) -> None:
    for number in range(count):
        append(home, [Draft("remember", "user", {"text": f"{os.getpid()} {number}"})], now=NOW + number)


def test_concurrent_writers_keep_the_chain_valid(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_append_many, args=(str(tmp_path), 40)) for _ in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert verify(journal(tmp_path)) == []
    assert [one.number for one in operations(tmp_path)] != []
    assert sorted(one.number for one in operations(tmp_path)) == list(range(1, 121))
    assert len(list(tmp_path.glob("journal/*"))) == 1


def test_missing_journal_reads_as_empty(tmp_path: Path) -> None:
    assert list(read_operations(journal(tmp_path))) == []
    assert verify(journal(tmp_path)) == []
