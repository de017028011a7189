"""List the files git shows as changed since a session began."""

from __future__ import annotations

import os
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from told.checkpoints.from_session import MAX_CHANGES, list_changes, read_branch

if TYPE_CHECKING:
    from pathlib import Path

_WHO = {
    f"GIT_{role}_{what}": "x@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
}
BEGAN = 1_763_000_000_000  # ms
BEFORE, AFTER = "1762990000 +0000", "1763010000 +0000"


class Tree:
    """A work tree with commits at given times."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir()
        self.environ = {"HOME": str(root.parent), "PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1"}
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str, at: str = BEFORE) -> None:
        when = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
        done = [*("git", "-C", str(self.root)), *words]
        subprocess.run(done, check=True, env=self.environ | _WHO | when, capture_output=True)

    def write(self, path: str, text: str, *, old: bool = False) -> None:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        if old:
            os.utime(place, (BEGAN / 1000 - 9000,) * 2)

    def commit(self, at: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "Work", at=at)

    def changed(self, since: int = BEGAN, own: tuple[str, ...] = ()) -> tuple[str, ...]:
        return list_changes(str(self.root), self.environ, since, own)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    made = Tree(tmp_path / "work")
    for name in ("kept.py", "changed.py", "gone.py", "committed.py", "removed.py"):
        made.write(name, "1\n", old=True)
    made.commit(BEFORE)
    return made


def test_created_edited_and_deleted_files_are_listed(tree: Tree) -> None:
    tree.write("committed.py", "2\n")
    tree.write("new.py", "1\n")
    (tree.root / "removed.py").unlink()
    tree.commit(AFTER)
    tree.write("changed.py", "2\n")
    tree.write("fresh.py", "1\n")
    (tree.root / "gone.py").unlink()
    assert tree.changed() == (
        "changed.py (edit)", "committed.py (edit)", "fresh.py (create)", "gone.py (delete)",
        "new.py (create)", "removed.py (delete)",
    )  # fmt: skip


def test_created_then_edited_file_is_created(tree: Tree) -> None:
    tree.write("new.py", "1\n")
    tree.commit(AFTER)
    tree.write("new.py", "2\n")
    assert tree.changed() == ("new.py (create)",)


def test_changes_before_the_session_are_ignored(tree: Tree) -> None:
    tree.write("changed.py", "longer\n", old=True)
    tree.write("fresh.py", "1\n", old=True)
    assert tree.changed() == ()
    assert tree.changed(0) == ("changed.py (edit)", "fresh.py (create)")


def test_told_s_own_files_are_ignored(tree: Tree) -> None:
    tree.write(".told/checkpoints/one.md", "x")
    tree.write(".told/journal/m/1.jsonl", "x")
    tree.write(".gitignore", ".x\n")
    tree.write("app.py", "1\n")
    assert tree.changed(own=(str(tree.root / ".gitignore"),)) == ("app.py (create)",)


def test_names_with_spaces_and_quotes_are_listed(tree: Tree) -> None:
    tree.write('häß "x" y.py', "1\n")
    assert tree.changed() == ('häß "x" y.py (create)',)


def test_list_is_limited(tree: Tree) -> None:
    for number in range(2 * MAX_CHANGES):
        tree.write(f"f{number}.py", "1\n")
    assert len(tree.changed()) == MAX_CHANGES


def test_no_repository_or_commit_is_no_error(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    assert list_changes(str(plain), {"PATH": os.environ["PATH"]}, BEGAN) == ()
    fresh = Tree(tmp_path / "fresh")
    fresh.write("a.py", "1\n")
    assert fresh.changed(time.time_ns() // 1_000_000 - 60_000) == ("a.py (create)",)
    assert read_branch(str(fresh.root), fresh.environ) == "main"
