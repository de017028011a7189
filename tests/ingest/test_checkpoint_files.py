"""The files of checkpoints: private, never two with one name, never half of one, never behind a link."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from told.ingest.checkpoint_files import every, folder_of, new_path, put_status, slug_of, write
from told.ingest.checkpoint_places import listed
from told.ingest.checkpoint_reading import NotTextError, read_file, unreadable
from told.ingest.checkpoint_text import text_of
from told.journal.places import register
from told.journal.registry import Place
from told.model import CLOSED, OPEN, Handover
from told.record import replaced

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
def test_a_slug_is_safe_in_a_name_everywhere(title: str, slug: str) -> None:
    assert slug_of(title) == slug
    assert len(slug_of(title)) <= 48


def test_a_name_says_when_what_and_which() -> None:
    assert new_path("/f", ONE) == "/f/2026-11-16-1124-ship-it-cabcdefghi.md"


def test_each_project_has_a_folder_of_its_own(tmp_path: Path) -> None:
    home = str(tmp_path)
    one, other, same = (
        folder_of(home, key, "acme/demo", "") for key in ("github.com/acme/demo", "path:/x", "path:/x")
    )
    assert one != other == same
    assert os.path.dirname(one) == os.path.join(home, "checkpoints")
    assert os.path.basename(one).startswith("acme-demo-")
    odd = folder_of(home, "k", "../../..", "")
    assert os.path.basename(odd).startswith("project-")


def test_a_project_with_its_own_memories_keeps_its_checkpoints(tmp_path: Path) -> None:
    home, root = str(tmp_path / "told"), tmp_path / "demo"
    (root / ".told").mkdir(parents=True)
    register(Place(home, str(root), "project:github.com/acme/demo"))
    expected = str(root / ".told" / "checkpoints")
    assert folder_of(home, "github.com/acme/demo", "acme/demo", str(root)) == expected
    assert folder_of(home, "github.com/acme/demo", "acme/demo", "/a/clone") == expected
    assert folder_of(home, "github.com/acme/other", "acme/other", "/x").startswith(home)
    (root / ".told").rmdir()
    assert folder_of(home, "github.com/acme/demo", "acme/demo", str(root)).startswith(home)


def test_a_file_is_for_the_user_alone_and_taken_only_once(tmp_path: Path) -> None:
    path = new_path(str(tmp_path / "told" / "checkpoints" / "demo-1"), ONE)
    write(path, ONE)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700
    assert read_file(path) == ONE
    with pytest.raises(FileExistsError):
        write(path, replaced(ONE, goal="Something else"))
    assert read_file(path) == ONE
    assert os.listdir(os.path.dirname(path)) == [os.path.basename(path)]


def test_a_disk_without_second_names_takes_a_file_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object) -> None:
        raise PermissionError(1, "not here")

    monkeypatch.setattr(os, "link", no_links)
    path = new_path(str(tmp_path / "a" / "b"), ONE)
    write(path, ONE)
    with pytest.raises(FileExistsError):
        write(path, ONE)
    assert read_file(path) == ONE
    assert len(os.listdir(os.path.dirname(path))) == 1


def test_nothing_is_written_or_read_through_a_link(tmp_path: Path) -> None:
    home, elsewhere = tmp_path / "told", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (home / "checkpoints").mkdir(parents=True)
    folder = home / "checkpoints" / "demo-1"
    folder.symlink_to(elsewhere)
    with pytest.raises(OSError, match="link"):
        write(new_path(str(folder), ONE), ONE)
    (elsewhere / "x.md").write_text(text_of(ONE))
    assert list(every(str(home))) == []
    folder.unlink()
    folder.mkdir()
    (folder / "x.md").symlink_to(elsewhere / "x.md")
    assert list(every(str(home))) == []
    with pytest.raises(NotTextError):
        read_file(str(folder / "x.md"))
    with pytest.raises(OSError):
        put_status(str(folder / "x.md"), CLOSED)
    assert (elsewhere / "x.md").read_text() == text_of(ONE)
    assert os.listdir(elsewhere) == ["x.md"]


def test_every_checkpoint_is_found_and_nothing_else(tmp_path: Path) -> None:
    home, root = str(tmp_path / "told"), tmp_path / "demo"
    (root / ".told").mkdir(parents=True)
    register(Place(home, str(root), "project:k"))
    paths = []
    for folder in (folder_of(home, "other", "other", ""), folder_of(home, "k", "demo", str(root))):
        path = new_path(folder, ONE)
        write(path, ONE)
        paths.append(path)
        for name in (".hidden.md", "x.md~", "x.md.7.new", "lock", ".x.md.swp"):
            with open(os.path.join(folder, name), "w") as file:
                file.write("# no")
        os.mkdir(os.path.join(folder, "folder.md"))
    assert sorted(every(home)) == sorted(paths)


# -- the status, and nothing else -------------------------------------------------------------------

_EDITED = b"\xef\xbb\xbf---\r\nmood: good\r\nStatus:%b  \r\n---\r\n\r\n# T \xff\r\nstatus: open\r\n"


def test_a_hand_edited_file_changes_in_its_status_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.md"
    for old, new in (
        (_EDITED % b"   open", _EDITED % b" closed"),
        (b"---\nid: x\n---\nText", b"---\nid: x\nstatus: closed\n---\nText"),
        (b"# T\n\n## Goal\nx", b"---\nstatus: closed\n---\n\n# T\n\n## Goal\nx"),
        (b"", b"---\nstatus: closed\n---\n\n"),
    ):  # fmt: skip
        path.write_bytes(old)
        put_status(str(path), CLOSED)
        assert path.read_bytes() == new
        before = path.stat().st_mtime_ns
        put_status(str(path), CLOSED)
        assert (path.read_bytes(), path.stat().st_mtime_ns) == (new, before)


def test_a_checkpoint_is_closed_and_opened_again(tmp_path: Path) -> None:
    path = str(tmp_path / "told" / "checkpoints" / "x.md")
    write(path, ONE)
    put_status(path, CLOSED)
    assert read_file(path) == replaced(ONE, status=CLOSED)
    put_status(path, OPEN)
    assert read_file(path) == ONE


# -- what cannot be read ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"a\0b", "no text"), (b"\xff\xfe\xfa", "UTF-8"), (b"x" * (1024 * 1024 + 1), "larger than 1 MB")],
)
def test_what_is_no_text_is_named_with_the_reason(tmp_path: Path, content: bytes, why: str) -> None:
    folder = tmp_path / "checkpoints" / "demo-1"
    folder.mkdir(parents=True)
    (folder / "x.md").write_bytes(content)
    ((path, reason),) = unreadable(str(tmp_path))
    assert path == str(folder / "x.md")
    assert why in reason


def test_a_folder_that_may_not_be_read_is_not_taken_for_an_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert listed(str(tmp_path / "gone")) == {}

    def refused(path: str) -> None:
        raise PermissionError(13, "no", path)

    monkeypatch.setattr(os, "scandir", refused)
    with pytest.raises(PermissionError):
        listed(str(tmp_path))


# -- killed -----------------------------------------------------------------------------------------

_WRITER = """
import sys
from told.ingest.checkpoint_files import new_path, put_status, write
from told.model import Handover
folder = sys.argv[1]
for number in range(100_000):
    letters = "".join("abcdefghij"[int(digit)] for digit in f"{number:09}")
    one = Handover(goal="word " * 2000, title="Killed", id="c" + letters, at=1794828243007)
    path = new_path(folder, one)
    write(path, one)
    put_status(path, "closed")
    if not number:
        print("begun", flush=True)
"""


def test_a_killed_writer_leaves_whole_files_only(tmp_path: Path) -> None:
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
        found = list(map(read_file, listed(str(folder / str(round_)))))
        assert found
        assert {replaced(one, id="", status=OPEN) for one in found} == {whole}
