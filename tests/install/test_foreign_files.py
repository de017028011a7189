"""Install three times, uninstall: every file of every agent is again what it was, to the byte."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.install.foreign_files import (
    JSON_FILES,
    SECRET,
    TEXT_FILES,
    TOML_FILES,
    changes,
    plain,
    put,
    said,
    variants,
    with_change,
)
from tests.soak import SOAK, sampled
from told.agents.wiring import Entry, OwnFile
from told.install import foreign
from told.install.ledger import Ledger
from told.install.preview import Preview

ALL = {
    label: (name, raw)
    for name, text in (JSON_FILES | TOML_FILES | TEXT_FILES).items()
    for label, raw in variants(name, text).items()
}
# Every file as it is, and three of them in every form.
EVERYDAY = {
    label
    for label in ALL
    if ", " not in label or label.startswith((".claude/settings.json", ".codex/config.toml", "CLAUDE.md"))
}


def test_there_are_more_than_sixty_files() -> None:
    assert len({(name, raw) for name, raw in ALL.values()}) > 100


@pytest.mark.parametrize("label", sampled(ALL, EVERYDAY))
def test_three_installs_and_an_uninstall_give_back_the_bytes(label: str, tmp_path: Path) -> None:
    name, raw = ALL[label]
    path = put(tmp_path, name, raw)
    ledger = Ledger(str(tmp_path / "told"))
    expected = plain(said(path, raw))
    for change in changes(path):
        assert foreign.change_state(change) == "missing"
        preview = Preview(ledger)
        assert preview.apply(change, "agent user")
        assert "\n+" in next(preview.diffs())[1]
        assert foreign.apply_change(change, ledger, "agent user")
        assert foreign.change_state(change) == "there"
        assert not Preview(ledger).apply(change, "agent user")
        if isinstance(change, Entry):
            expected = with_change(expected, change)
            assert plain(said(path, Path(path).read_bytes())) == expected
    once = Path(path).read_bytes()
    for _ in range(2):
        assert [foreign.apply_change(change, ledger, "agent user") for change in changes(path)].count(
            True
        ) == 0
    assert Path(path).read_bytes() == once
    assert SECRET not in Path(ledger.path).read_text(encoding="utf-8")
    assert {outcome.state for outcome in foreign.undo_changes(ledger, "agent")} == {"restored"}
    assert Path(path).read_bytes() == raw
    assert os.stat(path).st_mode & 0o777 == 0o640
    assert Ledger(str(tmp_path / "told")).installed() == []
    assert sorted(os.listdir(Path(path).parent)) == [Path(path).name, *(["told"] if "/" not in name else [])]


@pytest.mark.parametrize("label", sampled(ALL, EVERYDAY))
def test_an_uninstall_without_the_ledger_leaves_nothing_of_told(label: str, tmp_path: Path) -> None:
    name, raw = ALL[label]
    path = put(tmp_path, name, raw)
    for change in changes(path):
        foreign.apply_change(change, Ledger(str(tmp_path / "told")), "agent user")
    mine = [change for change in changes(path) if not isinstance(change, Entry) or "told" in repr(change)]
    others = [change for change in changes(path) if change not in mine]
    assert {foreign.remove_change(change).state for change in mine} == {"removed"}
    assert {foreign.remove_change(change).state for change in mine} == {"gone"}
    assert all(foreign.remove_change(change).state == "left" for change in others)
    if not os.path.exists(path):
        assert not raw.decode("utf-8-sig").strip()
        return
    left = Path(path).read_bytes()
    if path.endswith(".md"):
        assert left.strip() == raw.strip()
    else:
        expected = plain(said(path, raw))
        for change in others:
            expected = with_change(expected, change)
        assert without_empty(plain(said(path, left))) == without_empty(expected)


def without_empty(value: object) -> object:
    if isinstance(value, dict):
        return {key: kept for key, inner in value.items() if (kept := without_empty(inner)) not in ({}, [])}
    return value


@pytest.mark.parametrize("name", ["a/b/settings.json", "a/b/config.toml", "a/b/AGENTS.md"])
def test_a_file_and_folders_that_told_made_are_removed(name: str, tmp_path: Path) -> None:
    path = str(tmp_path / "home" / name)
    os.mkdir(tmp_path / "home")
    ledger = Ledger(str(tmp_path / "told"))
    for change in changes(path):
        foreign.apply_change(change, ledger, "agent user")
    assert os.path.exists(path)
    foreign.undo_changes(ledger)
    assert os.listdir(tmp_path / "home") == []
    assert ledger.folders == []


def test_told_s_own_files_and_their_folder_come_and_go_together(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path / "told"))
    files = [OwnFile(str(tmp_path / f"home/commands/mem/{n}.sh"), f"told {n}\n", n == "b") for n in "abc"]
    (tmp_path / "home").mkdir()
    for file in files:
        assert foreign.apply_change(file, ledger, "agent user")
        assert not foreign.apply_change(file, ledger, "agent user")
    assert [os.access(file.path, os.X_OK) for file in files] == [False, True, False]
    first = [change for change in ledger.installed() if change.path.endswith("a.sh")]
    foreign.undo_changes(ledger, only=first)
    assert sorted(os.listdir(tmp_path / "home/commands/mem")) == ["b.sh", "c.sh"]
    foreign.undo_changes(ledger)
    assert os.listdir(tmp_path / "home") == []


def test_a_linked_dotfile_stays_a_link_and_its_target_is_changed(tmp_path: Path) -> None:
    for name, text in JSON_FILES.items():
        target = put(tmp_path / "dotfiles", name, text.encode())
        link = tmp_path / "home" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.relpath(target, link.parent))
        ledger = Ledger(str(tmp_path / "told"))
        for change in changes(str(link)):
            foreign.apply_change(change, ledger, "agent user")
        assert link.is_symlink()
        assert b"told" in Path(target).read_bytes()
        foreign.undo_changes(ledger)
        assert link.is_symlink()
        assert Path(target).read_bytes() == text.encode()


def test_another_launch_path_replaces_the_old_one_where_it_stands(tmp_path: Path) -> None:
    files = list((JSON_FILES | TOML_FILES).items())
    for name, text in files if SOAK else files[::4]:
        path = put(tmp_path, name, text.encode())
        ledger = Ledger(str(tmp_path / "told"))
        fresh = Ledger(str(tmp_path / "told2"))
        for change in changes(path):
            foreign.apply_change(change, ledger, "agent user")
        applied = [
            foreign.apply_change(change, ledger, "agent user") for change in changes(path, f"/new {MARK}")
        ]
        assert applied == [True, True, False, False, False, False]
        updated = Path(path).read_bytes()
        put(tmp_path, name, text.encode())
        for change in changes(path, f"/new {MARK}"):
            foreign.apply_change(change, fresh, "agent user")
        assert Path(path).read_bytes() == updated
        foreign.undo_changes(ledger)
        assert Path(path).read_bytes() == text.encode()


MARK = "from told.hook.run import run"
