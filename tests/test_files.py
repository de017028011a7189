"""Tests of private, atomic file writes and small tables."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from told.files import (
    NotReadableError,
    create_private,
    is_timestamp,
    make_folder,
    open_private,
    read_document,
    read_table,
    replace_private,
    write_private,
    write_table,
)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("sync", [True, False])
def test_write_replaces_file_privately(tmp_path: Path, sync: bool) -> None:
    path = tmp_path / "key"
    path.write_text("old")
    path.chmod(0o644)
    write_private(str(path), b"new", sync=sync)
    assert path.read_bytes() == b"new"
    assert mode_of(path) == 0o600
    assert os.listdir(tmp_path) == ["key"]


def test_failed_write_keeps_old_file_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text("old")

    def fail() -> None:
        with replace_private(str(path)) as file:
            file.write(b"half")
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        fail()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["key"]


@pytest.mark.parametrize("has_links", [True, False])
def test_create_never_changes_an_existing_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_links: bool
) -> None:
    if not has_links:

        def refuse(*_: object) -> None:
            raise PermissionError

        monkeypatch.setattr(os, "link", refuse)
    path = tmp_path / "machine"
    create_private(str(path), b"first")
    with pytest.raises(FileExistsError):
        create_private(str(path), b"second")
    assert path.read_bytes() == b"first"
    assert mode_of(path) == 0o600
    assert os.listdir(tmp_path) == ["machine"]


def test_make_folder_with_parents(tmp_path: Path) -> None:
    make_folder(str(tmp_path / "a" / "b"))
    assert mode_of(tmp_path / "a" / "b") == mode_of(tmp_path / "a") == 0o700
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        make_folder(str(tmp_path / "file"))


def test_open_creates_only_the_next_folder(tmp_path: Path) -> None:
    os.close(open_private(str(tmp_path / "shown" / "s1"), os.O_WRONLY, make_parent=True))
    assert mode_of(tmp_path / "shown") == 0o700
    with pytest.raises(FileNotFoundError):
        open_private(str(tmp_path / "none" / "shown" / "s1"), os.O_WRONLY, make_parent=True)


def test_read_refuses_links_folders_and_large_files(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 2000)
    link = tmp_path / "link"
    link.symlink_to(path)
    assert read_document(str(link)) == path.read_bytes()
    with pytest.raises(NotReadableError):
        read_document(str(link), follow_links=False)
    with pytest.raises(NotReadableError, match="not a regular file"):
        read_document(str(tmp_path))
    with pytest.raises(NotReadableError, match="larger than 1 kB"):
        read_document(str(path), 1000)


def test_table_keeps_rows_with_the_right_number_of_fields(tmp_path: Path) -> None:
    path = str(tmp_path / "table")
    assert read_table(path, 2) == []
    write_table(path, ["1\tfirst", "broken", "2\tsecond"])
    assert read_table(path, 2) == [["1", "first"], ["2", "second"]]
    write_table(path, ["\ud800"])  # cannot be encoded: the old table stays
    assert len(read_table(path, 2)) == 2
    write_table(str(tmp_path / "none" / "table"), [])
    assert is_timestamp("1700000000000")
    assert not any(map(is_timestamp, ("", "-1", "1.5", "٣", "1" * 20)))
