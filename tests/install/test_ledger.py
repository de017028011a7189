"""The ledger is told's own: private, whole, and without anything of the files it speaks of."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.install.foreign_files import (
    CLAUDE_SETTINGS,
    CLAUDE_STATE,
    CODEX_CONFIG,
    GEMINI,
    SECRET,
    VSCODE_SETTINGS,
    ZED,
    changes,
    put,
)
from told.errors import BusyError, MissingError
from told.install import foreign
from told.install.ledger import Ledger
from told.journal.files import SeriesLock

SECRETS = {
    "settings.json": CLAUDE_SETTINGS,
    ".claude.json": CLAUDE_STATE,
    "config.toml": CODEX_CONFIG,
    "gemini.json": GEMINI,
    "code.json": VSCODE_SETTINGS,
    "zed.json": ZED,
}


def test_it_is_private_and_holds_no_key_of_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger(str(tmp_path / "told"))
    seen: list[str] = []
    save = Ledger.save

    def saved(self: Ledger) -> None:
        save(self)
        seen.append(Path(self.path).read_text(encoding="utf-8"))

    monkeypatch.setattr(Ledger, "save", saved)
    for name, text in SECRETS.items():
        path = put(tmp_path, name, text.encode())
        for change in changes(path):
            foreign.apply_change(change, ledger, "agent user")
    assert os.stat(ledger.path).st_mode & 0o777 == 0o600
    foreign.undo_changes(ledger)
    assert len(seen) > 40
    for text in seen:
        assert SECRET not in text
        assert "opus" not in text
        assert "trust_level" not in text


def test_another_reads_what_one_wrote(tmp_path: Path) -> None:
    path = put(tmp_path, "settings.json", b"{}")
    one, other = Ledger(str(tmp_path / "told")), Ledger(str(tmp_path / "told"))
    foreign.apply_change(changes(path)[0], one, "one user")
    foreign.apply_change(changes(path)[1], other, "two user")
    assert Ledger(str(tmp_path / "told")).owners() == ["one user", "two user"]
    assert [change.keys for change in other.installed("one")] == [("hooks", "UserPromptSubmit")]
    assert other.installed("on") == []
    foreign.undo_changes(one)
    assert Path(path).read_bytes() == b"{}"


def test_two_installs_at_once_wait_for_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, "settings.json", b"{}")
    ledger = Ledger(str(tmp_path / "told"))
    monkeypatch.setattr("told.journal.files.LOCK_WAIT_MS", 5)
    monkeypatch.setattr(SeriesLock.__init__, "__defaults__", (5,))
    with ledger.lock(), pytest.raises(BusyError):
        foreign.apply_change(changes(path)[0], Ledger(str(tmp_path / "told")), "agent user")
    assert Path(path).read_bytes() == b"{}"


def test_a_damaged_one_is_put_aside_and_told_s_entries_are_taken_over(tmp_path: Path) -> None:
    path = put(tmp_path, "settings.json", b'{"a": 1}')
    ledger = Ledger(str(tmp_path / "told"))
    for damage in ("", "{", "[]", '{"files": {"x": 1}, "folders": []}', '{"files": []}'):
        foreign.apply_change(changes(path)[0], ledger, "agent user")
        Path(ledger.path).write_text(damage, encoding="utf-8")
        ledger = Ledger(str(tmp_path / "told"))
        assert ledger.installed() == []
        assert not foreign.apply_change(changes(path)[0], ledger, "agent user")
        assert Path(ledger.path + ".damaged").read_text(encoding="utf-8") == damage
        foreign.undo_changes(ledger)
        assert b"told" not in Path(path).read_bytes()


def test_a_folder_of_told_s_that_cannot_be_written_stops_before_anything_is(tmp_path: Path) -> None:
    path = put(tmp_path, "settings.json", b"{}")
    put(tmp_path, "told", b"a file")
    with pytest.raises(MissingError, match="told cannot"):
        foreign.apply_change(changes(path)[0], Ledger(str(tmp_path / "told")), "agent user")
    assert Path(path).read_bytes() == b"{}"
