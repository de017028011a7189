"""What a shared folder adds to the contract: drives, permissions and other programs."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sync.places import SPACE
from told.errors import BusyError, DiskFullError, MissingError, UsageError
from told.sync.transports import folder as module
from told.sync.transports.folder import FolderTransport

A, ONE, TWO = "aaaaaaaa", "000001.jsonl", "000002.jsonl"


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    return tmp_path / "shared"


@pytest.fixture
def place(shared: Path) -> FolderTransport:
    return FolderTransport(str(shared), SPACE)


@contextlib.contextmanager
def without_root(folder: Path) -> Iterator[None]:
    """Drop root's rights, which are to write everywhere, and let nobody pass through to a folder."""
    if os.geteuid() != 0:
        yield
        return
    for path in folder.parents:
        if path.is_relative_to(tempfile.gettempdir()):
            path.chmod(path.stat().st_mode | 0o011)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def files_below(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_the_layout_is_one_folder_for_each_series(shared: Path, place: FolderTransport) -> None:
    place.write(A, {ONE: b"one"}, b"1", before=None)
    top = f"told-sync/{SPACE}/{A}"
    assert files_below(shared) == {f"{top}/head", f"{top}/{ONE}", f"{top}/~told-lock.tmp"}
    assert (shared / top / "head").read_bytes() == b"1"


def test_reading_creates_nothing(shared: Path, place: FolderTransport) -> None:
    assert place.heads() == {}
    assert place.read(A, [ONE]) == {}
    assert not place.write(A, {ONE: b"one"}, b"2", before=b"1")
    assert not shared.exists()


def test_an_unmounted_drive_is_not_filled(tmp_path: Path) -> None:
    place = FolderTransport(str(tmp_path / "mount" / "shared"), SPACE)
    with pytest.raises(BusyError, match="Connect its drive"):
        place.write(A, {ONE: b"one"}, b"1", before=None)
    with pytest.raises(BusyError, match="Connect its drive"):
        place.heads()
    assert not (tmp_path / "mount").exists()


def test_a_known_place_that_is_empty_now_is_a_drive_that_is_away(shared: Path) -> None:
    place = FolderTransport(str(shared), SPACE, known=True)
    for _ in range(2):  # first without the folder, then with the empty mount point
        with pytest.raises(BusyError, match="drive"):
            place.heads()
        with pytest.raises(BusyError, match="drive"):
            place.write(A, {ONE: b"one"}, b"1", before=None)
        shared.mkdir(exist_ok=True)
    assert list(shared.iterdir()) == []


def test_a_file_in_the_way_is_named(shared: Path, place: FolderTransport) -> None:
    shared.write_bytes(b"")
    with pytest.raises(MissingError, match="not a folder"):
        place.heads()


def test_a_private_folder_stays_private(shared: Path, place: FolderTransport) -> None:
    place.write(A, {ONE: b"one"}, b"1", before=None)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (shared, *shared.rglob("*"))}
    assert modes == {0o700, 0o600}


def test_a_folder_of_a_group_stays_one_of_the_group(shared: Path, place: FolderTransport) -> None:
    shared.mkdir()
    shared.chmod(0o2770)
    place.write(A, {ONE: b"one"}, b"1", before=None)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in shared.rglob("*")}
    assert modes == {0o2770, 0o660}


def test_a_read_only_folder_can_be_read(shared: Path, place: FolderTransport) -> None:
    place.write(A, {ONE: b"one"}, b"1", before=None)
    for path in (shared, *shared.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    with without_root(shared):
        assert place.heads() == {A: b"1"}
        assert place.read(A, [ONE]) == {ONE: b"one"}
        refused = r"cannot write to .* \(permission denied\)\. Check its permissions\."
        with pytest.raises(MissingError, match=refused):
            place.write(A, {TWO: b"two"}, b"2", before=b"1")
        assert place.heads() == {A: b"1"}


def test_a_series_that_may_not_be_read_does_not_hide_the_others(shared: Path, place: FolderTransport) -> None:
    shared.mkdir()
    shared.chmod(0o755)
    for series in (A, "bbbbbbbb"):
        place.write(series, {ONE: b"one"}, b"1", before=None)
    (shared / "told-sync" / SPACE / A / "head").chmod(0)
    with without_root(shared):
        assert place.heads() == {"bbbbbbbb": b"1"}


def test_a_full_disk_changes_nothing(
    shared: Path, place: FolderTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write(A, {ONE: b"one"}, b"1", before=None)
    left = [1]

    def fsync(descriptor: int) -> None:
        if not left:
            raise OSError(errno.ENOSPC, "No space left on device")
        left.pop()

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fsync)
        with pytest.raises(DiskFullError, match="Free some space"):
            place.write(A, {ONE: b"other", TWO: b"two"}, b"2", before=b"1")
    assert place.heads() == {A: b"1"}
    assert place.read(A, [ONE, TWO]) == {ONE: b"one"}
    assert not [path for path in shared.rglob("*.tmp") if path.name != "~told-lock.tmp"]


def test_a_drive_that_fails_is_busy_and_not_empty(
    place: FolderTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write(A, {ONE: b"one"}, b"1", before=None)

    def lstat(path: str) -> os.stat_result:
        raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")

    monkeypatch.setattr(os, "lstat", lstat)
    with pytest.raises(BusyError, match="endpoint is not connected"):
        place.heads()


def test_drives_without_locks_and_permissions_work(
    shared: Path, place: FolderTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOTSUP, "Operation not supported")

    shared.mkdir(mode=0o777)
    shared.chmod(0o777)
    monkeypatch.setattr(fcntl, "flock", refuse)
    monkeypatch.setattr(os, "chmod", refuse)
    assert place.write(A, {ONE: b"one"}, b"1", before=None)
    assert place.write(A, {ONE: b"two"}, b"2", before=b"1")
    assert place.heads() == {A: b"2"}


def test_without_locks_the_head_is_compared_again_before_it_is_replaced(
    shared: Path, place: FolderTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write(A, {ONE: b"one"}, b"1", before=None)
    head = shared / "told-sync" / SPACE / A / "head"
    write_file = module._stage

    def stage(folder: str, data: bytes, mode: int) -> str:
        head.write_bytes(b"another machine's")
        return write_file(folder, data, mode)

    monkeypatch.setattr(module, "_stage", stage)
    assert not place.write(A, {ONE: b"two"}, b"2", before=b"1")
    assert place.heads() == {A: b"another machine's"}
    assert place.read(A, [ONE]) == {ONE: b"one"}


def test_a_file_that_another_program_has_open_is_replaced_later(
    place: FolderTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace, failures = os.replace, [1, 2]

    def busy(source: str, target: str) -> None:
        if failures:
            failures.pop()
            raise PermissionError(errno.EACCES, "The process cannot access the file")
        replace(source, target)

    monkeypatch.setattr(os, "replace", busy)
    assert place.write(A, {ONE: b"one"}, b"1", before=None)
    assert place.heads() == {A: b"1"}


def test_what_a_killed_writer_left_is_removed_after_an_hour(shared: Path, place: FolderTransport) -> None:
    place.write(A, {ONE: b"one"}, b"1", before=None)
    old, new = (shared / "told-sync" / SPACE / A / f"~told-{name}.tmp" for name in ("old", "new"))
    for path in (old, new):
        path.write_bytes(b"half")
    an_hour_ago = time.time() - 3700
    os.utime(old, (an_hour_ago, an_hour_ago))
    place.write(A, {}, b"2", before=b"1")
    assert not old.exists()
    assert new.exists()


def test_links_in_the_way_are_not_followed(shared: Path, tmp_path: Path, place: FolderTransport) -> None:
    target = tmp_path / "target"
    target.mkdir()
    (shared / "told-sync" / SPACE).mkdir(parents=True)
    (shared / "told-sync" / SPACE / A).symlink_to(target)
    with pytest.raises(MissingError, match="not a folder"):
        place.write(A, {ONE: b"one"}, b"1", before=None)
    assert list(target.iterdir()) == []


@pytest.mark.parametrize("space", ["", "..", "a/b", "A", "-a", "a b", "a" * 65, "a\n"])
def test_a_space_has_a_plain_name(shared: Path, space: str) -> None:
    with pytest.raises(UsageError, match="not the id of a space"):
        FolderTransport(str(shared), space)
