"""Checkpoint files are private, complete, never overwritten and never linked."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from told.ingest.checkpoint_files import (
    UnreadableError,
    create_checkpoint,
    find_unreadable,
    list_checkpoints,
    list_files,
    make_slug,
    new_path,
    project_folder,
    read_checkpoint,
    set_status,
)
from told.ingest.checkpoint_markdown import format_checkpoint
from told.journal.registry import ProjectJournal, register
from told.model import CLOSED, OPEN, Handover

if TYPE_CHECKING:
    from pathlib import Path

ONE = Handover(goal="Ship it", title="Ship it", id="cabcdefghi", at=1_794_828_243_007)


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Fix the login", "fix-the-login"), ("../../pwn", "pwn"), ("...", "checkpoint"), ("", "checkpoint"),
        ("🚀🚀", "checkpoint"), ("CON", "checkpoint-con"), ("lpt1", "checkpoint-lpt1"),
        ("Café Zoë", "cafe-zoe"), ("a\0b\nc", "a-b-c"), ("日本語", "checkpoint"), ("x" * 300, "x" * 48),
        ("--a--b--", "a-b"),
        ("key [secret:aws-key:3f2a] here", "key-here"), ("C:\\Windows\\x", "c-windows-x"),
        ("only whole words are taken into the name of it all",
         "only-whole-words-are-taken-into-the-name-of-it"),
    ],
)  # fmt: skip
def test_slug_is_safe_in_file_names(title: str, slug: str) -> None:
    assert make_slug(title) == slug
    assert len(make_slug(title)) <= 48


def test_file_name_has_time_title_and_id() -> None:
    assert new_path("/f", ONE) == "/f/2026-11-16-1124-ship-it-cabcdefghi.md"


def test_each_project_has_its_own_folder(tmp_path: Path) -> None:
    home = str(tmp_path)
    one, other, same = (
        project_folder(home, key, "acme/demo", "") for key in ("github.com/acme/demo", "path:/x", "path:/x")
    )
    assert one != other == same
    assert os.path.dirname(one) == os.path.join(home, "checkpoints")
    assert os.path.basename(one).startswith("acme-demo-")
    odd = project_folder(home, "k", "../../..", "")
    assert os.path.basename(odd).startswith("project-")


def test_registered_project_keeps_its_checkpoints(tmp_path: Path) -> None:
    home, root = str(tmp_path / "told"), tmp_path / "demo"
    (root / ".told").mkdir(parents=True)
    register(ProjectJournal(home, str(root), "project:github.com/acme/demo"))
    expected = str(root / ".told" / "checkpoints")
    assert project_folder(home, "github.com/acme/demo", "acme/demo", str(root)) == expected
    assert project_folder(home, "github.com/acme/demo", "acme/demo", "/a/clone") == expected
    assert project_folder(home, "github.com/acme/other", "acme/other", "/x").startswith(home)
    (root / ".told").rmdir()
    assert project_folder(home, "github.com/acme/demo", "acme/demo", str(root)).startswith(home)


def test_checkpoint_file_is_private_and_never_overwritten(tmp_path: Path) -> None:
    path = new_path(str(tmp_path / "told" / "checkpoints" / "demo-1"), ONE)
    create_checkpoint(path, ONE)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700
    assert read_checkpoint(path) == ONE
    with pytest.raises(FileExistsError):
        create_checkpoint(path, replace(ONE, goal="Something else"))
    assert read_checkpoint(path) == ONE
    assert os.listdir(os.path.dirname(path)) == [os.path.basename(path)]


def test_create_works_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object) -> None:
        raise PermissionError(1, "not here")

    monkeypatch.setattr(os, "link", no_links)
    path = new_path(str(tmp_path / "a" / "b"), ONE)
    create_checkpoint(path, ONE)
    with pytest.raises(FileExistsError):
        create_checkpoint(path, ONE)
    assert read_checkpoint(path) == ONE
    assert len(os.listdir(os.path.dirname(path))) == 1


def test_links_are_neither_read_nor_written(tmp_path: Path) -> None:
    home, elsewhere = tmp_path / "told", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (home / "checkpoints").mkdir(parents=True)
    folder = home / "checkpoints" / "demo-1"
    folder.symlink_to(elsewhere)
    with pytest.raises(OSError, match="link"):
        create_checkpoint(new_path(str(folder), ONE), ONE)
    (elsewhere / "x.md").write_text(format_checkpoint(ONE))
    assert list(list_checkpoints(str(home))) == []
    folder.unlink()
    folder.mkdir()
    (folder / "x.md").symlink_to(elsewhere / "x.md")
    assert list(list_checkpoints(str(home))) == []
    with pytest.raises(UnreadableError):
        read_checkpoint(str(folder / "x.md"))
    with pytest.raises(OSError):
        set_status(str(folder / "x.md"), CLOSED)
    assert (elsewhere / "x.md").read_text() == format_checkpoint(ONE)
    assert os.listdir(elsewhere) == ["x.md"]


def test_list_checkpoints_finds_only_checkpoints(tmp_path: Path) -> None:
    home, root = str(tmp_path / "told"), tmp_path / "demo"
    (root / ".told").mkdir(parents=True)
    register(ProjectJournal(home, str(root), "project:k"))
    paths = []
    for folder in (project_folder(home, "other", "other", ""), project_folder(home, "k", "demo", str(root))):
        path = new_path(folder, ONE)
        create_checkpoint(path, ONE)
        paths.append(path)
        for name in (".hidden.md", "x.md~", "x.md.7.new", "lock", ".x.md.swp"):
            with open(os.path.join(folder, name), "w") as file:
                file.write("# no")
        os.mkdir(os.path.join(folder, "folder.md"))
    assert sorted(list_checkpoints(home)) == sorted(paths)


# -- the status, and nothing else -------------------------------------------------------------------

_EDITED = b"\xef\xbb\xbf---\r\nmood: good\r\nStatus:%b  \r\n---\r\n\r\n# T \xff\r\nstatus: open\r\n"


def test_set_status_changes_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "x.md"
    for old, new in (
        (_EDITED % b"   open", _EDITED % b" closed"),
        (b"---\nid: x\n---\nText", b"---\nid: x\nstatus: closed\n---\nText"),
        (b"# T\n\n## Goal\nx", b"---\nstatus: closed\n---\n\n# T\n\n## Goal\nx"),
        (b"", b"---\nstatus: closed\n---\n\n"),
    ):  # fmt: skip
        path.write_bytes(old)
        set_status(str(path), CLOSED)
        assert path.read_bytes() == new
        before = path.stat().st_mtime_ns
        set_status(str(path), CLOSED)
        assert (path.read_bytes(), path.stat().st_mtime_ns) == (new, before)


def test_set_status_closes_and_reopens(tmp_path: Path) -> None:
    path = str(tmp_path / "told" / "checkpoints" / "x.md")
    create_checkpoint(path, ONE)
    set_status(path, CLOSED)
    assert read_checkpoint(path) == replace(ONE, status=CLOSED)
    set_status(path, OPEN)
    assert read_checkpoint(path) == ONE


# -- what cannot be read ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"a\0b", "no text"), (b"\xff\xfe\xfa", "UTF-8"), (b"x" * (1024 * 1024 + 1), "larger than 1 MB")],
)
def test_unreadable_files_are_listed_with_a_reason(tmp_path: Path, content: bytes, why: str) -> None:
    folder = tmp_path / "checkpoints" / "demo-1"
    folder.mkdir(parents=True)
    (folder / "x.md").write_bytes(content)
    ((path, reason),) = find_unreadable(str(tmp_path))
    assert path == str(folder / "x.md")
    assert why in reason


def test_unreadable_folder_is_not_taken_for_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert list_files(str(tmp_path / "gone")) == {}

    def refused(path: str) -> None:
        raise PermissionError(13, "no", path)

    monkeypatch.setattr(os, "scandir", refused)
    with pytest.raises(PermissionError):
        list_files(str(tmp_path))


# -- killed -----------------------------------------------------------------------------------------

_WRITER = """
import sys
from told.ingest.checkpoint_files import create_checkpoint, new_path, set_status
from told.model import Handover
folder = sys.argv[1]
for number in range(100_000):
    letters = "".join("abcdefghij"[int(digit)] for digit in f"{number:09}")
    one = Handover(goal="word " * 2000, title="Killed", id="c" + letters, at=1794828243007)
    path = new_path(folder, one)
    create_checkpoint(path, one)
    set_status(path, "closed")
    if not number:
        print("begun", flush=True)
"""


def test_killed_writer_leaves_only_complete_files(tmp_path: Path) -> None:
    folder = tmp_path / "told" / "checkpoints" / "demo-1"
    whole = Handover(goal=("word " * 2000).strip(), title="Killed", at=1_794_828_243_007)
    for round_ in range(5):
        process = subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(folder / str(round_))], stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        try:
            process.wait(0.003 + 0.011 * round_)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        process.communicate()
        found = list(map(read_checkpoint, list_files(str(folder / str(round_)))))
        assert found
        assert {replace(one, id="", status=OPEN) for one in found} == {whole}
