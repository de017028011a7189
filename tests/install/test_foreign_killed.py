"""Killed at any step: the file always parses, and a later uninstall gives back the bytes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pytest

from tests.install.foreign_files import JSON_FILES, TEXT_FILES, TOML_FILES, changes, put, said
from tests.soak import sampled
from told.install import foreign
from told.install.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Callable

STEPS = ("replace", "fsync", "mkdir", "remove", "rmdir", "open", "fdopen")
FILES = {
    ".claude/settings.json": JSON_FILES[".claude/settings.json"],
    ".config/zed/settings.json": JSON_FILES[".config/zed/settings.json"],
    ".codex/config.toml": TOML_FILES[".codex/config.toml"],
    "CLAUDE.md": TEXT_FILES["CLAUDE.md"],
    "empty.json": "",
}
EVERYDAY = (".claude/settings.json", "new/folder/AGENTS.md")


class DeadError(BaseException):
    """The process is no more: nothing catches it, and nothing is written after it."""


class Fate:
    """Lets so many steps on the disk happen, then no more: it dies before one, after one, or half-way."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def fated(*args: Any, **named: Any) -> Any:
            if call is FDOPEN and args[1] == "rb":  # reading is no step
                return call(*args, **named)
            self.left -= 1
            if self.left < 0:
                raise DeadError
            result = call(*args, **named)
            if call is FDOPEN:
                return self.half(result) if result.writable() else result
            if call is not OPEN:
                self.left -= 1
            if self.left < 0:
                raise DeadError
            return result

        return fated

    def half(self, file: Any) -> Any:
        """Make a file that is written in two halves, with a chance to die between."""
        fate, write = self, file.write

        class Halves:
            def __enter__(self) -> Self:
                return self

            def __exit__(self, *_: object) -> None:
                file.close()

            def write(self, raw: bytes) -> None:
                write(raw[: len(raw) // 2])
                file.flush()
                fate.left -= 1
                if fate.left < 0:
                    raise DeadError
                write(raw[len(raw) // 2 :])

            flush = staticmethod(file.flush)
            fileno = staticmethod(file.fileno)
            close = staticmethod(file.close)

        return Halves()


OPEN, FDOPEN = os.open, os.fdopen


def dies(work: Callable[[], Any], steps: int) -> bool:
    """Do some work and be killed after so many steps; tell whether it came to that."""
    fate = Fate(steps)
    with pytest.MonkeyPatch.context() as patch:
        for name in STEPS:
            patch.setattr(os, name, fate.around(getattr(os, name)))
        try:
            work()
        except DeadError:
            return True
    return False


def install(path: str, home: Path) -> None:
    ledger = Ledger(str(home / "told"))
    for change in changes(path)[:3]:
        foreign.apply_change(change, ledger, "agent user")


def uninstall(home: Path) -> None:
    foreign.undo_changes(Ledger(str(home / "told")))


def tree(home: Path) -> dict[str, bytes | None]:
    return {
        str(each.relative_to(home)): each.read_bytes() if each.is_file() else None
        for each in sorted(home.rglob("*"))
        if "told" not in each.relative_to(home).parts
    }


def check_parses(path: str) -> None:
    if os.path.exists(path):
        said(path, Path(path).read_bytes())


def start(tmp_path: Path, name: str, text: str | None) -> str:
    if text is None:
        return str(tmp_path / name)
    return put(tmp_path, name, text.encode())


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)  # thousands of them; only their order is the subject


@pytest.mark.parametrize(
    "name", sampled([*FILES, "new/folder/settings.json", "new/folder/AGENTS.md"], EVERYDAY)
)
def test_a_killed_install_can_be_taken_back(name: str, tmp_path: Path) -> None:
    path = start(tmp_path, name, FILES.get(name))
    before = tree(tmp_path)
    steps = 0
    while dies(lambda: install(path, tmp_path), steps):
        check_parses(path)
        uninstall(tmp_path)
        assert tree(tmp_path) == before, steps
        steps += 1
    assert steps > 20
    uninstall(tmp_path)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("name", sampled([*FILES, "new/folder/settings.json"], EVERYDAY))
def test_a_killed_install_goes_on_where_it_stopped(name: str, tmp_path: Path) -> None:
    path = start(tmp_path, name, FILES.get(name))
    before = tree(tmp_path)
    install(path, tmp_path)
    whole = tree(tmp_path)
    uninstall(tmp_path)
    steps = 0
    while dies(lambda: install(path, tmp_path), steps):
        install(path, tmp_path)
        assert tree(tmp_path) == whole, steps
        uninstall(tmp_path)
        assert tree(tmp_path) == before, steps
        steps += 1


@pytest.mark.parametrize(
    "name", sampled([*FILES, "new/folder/settings.json", "new/folder/AGENTS.md"], EVERYDAY)
)
def test_a_killed_uninstall_is_finished_by_the_next(name: str, tmp_path: Path) -> None:
    path = start(tmp_path, name, FILES.get(name))
    before = tree(tmp_path)
    steps = 0
    while True:
        install(path, tmp_path)
        if not dies(lambda: uninstall(tmp_path), steps):
            break
        check_parses(path)
        uninstall(tmp_path)
        assert tree(tmp_path) == before, steps
        steps += 1
    assert steps > 8


def test_what_others_write_after_the_kill_is_kept(tmp_path: Path) -> None:
    name = ".claude/settings.json"
    path = str(tmp_path / name)
    steps = 0
    while True:
        put(tmp_path, name, FILES[name].encode())
        died = dies(lambda: install(path, tmp_path), steps)
        text = Path(path).read_text(encoding="utf-8")
        Path(path).write_text(text.replace('"opus"', '"haiku"'), encoding="utf-8")
        uninstall(tmp_path)
        assert Path(path).read_text(encoding="utf-8") == FILES[name].replace('"opus"', '"haiku"'), steps
        if not died:
            break
        steps += 3


KILLED = """
import os, sys
sys.path[:0] = [sys.argv[4]]
from tests.install.test_foreign_killed import install
from pathlib import Path
left = int(sys.argv[3])
real = os.replace
def replace(*args):
    global left
    left -= 1
    if left < 0:
        os._exit(9)
    real(*args)
os.replace = replace
install(sys.argv[1], Path(sys.argv[2]))
"""


@pytest.mark.parametrize("steps", sampled([0, 1, 2, 4], [2]))
def test_a_process_that_really_dies_leaves_the_same(steps: int, tmp_path: Path) -> None:
    name = ".codex/config.toml"
    path = put(tmp_path, name, FILES[name].encode())
    before = tree(tmp_path)
    root = str(Path(__file__).parents[2])
    ended = subprocess.run([sys.executable, "-c", KILLED, path, str(tmp_path), str(steps), root], check=False)
    assert ended.returncode == 9
    check_parses(path)
    uninstall(tmp_path)
    assert tree(tmp_path) == before
