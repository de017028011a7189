"""What told does not change: one clear sentence for each, and nothing is written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.install.foreign_files import CLAUDE_SETTINGS, CODEX_CONFIG, changes, put
from told.agents.wiring import Block, Entry, OwnFile
from told.errors import BusyError, MissingError, ToldError, UsageError
from told.install import disk, foreign
from told.install.ledger import Ledger

BROKEN = {
    "a comma": ("settings.json", CLAUDE_SETTINGS.replace('"model"', '"x": 1 "model"'), 20),
    "an end": ("settings.json", '{\n  "a": [1, 2\n', 3),
    "a quote": ("settings.json", '{\n  "a": "b\n}\n', 2),
    "a colon": ("settings.json", '{"a" 1}', 1),
    "no value": ("settings.json", '{"a": ,}', 1),
    "two commas": ("settings.json", "[1,,2]", 1),
    "a bare name": ("settings.json", "{a: 1}", 1),
    "single quotes": ("settings.json", "{'a': 1}", 1),
    "a number": ("settings.json", '{\n"a": 01}', 2),
    "NaN": ("settings.json", '{"a": [NaN]}', 1),
    "an open comment": ("settings.json", '{"a": 1 /* }', 1),
    "a second value": ("settings.json", "{}\n{}", 2),
    "conflict marks": ("settings.json", '{\n<<<<<<< HEAD\n"a": 1\n}', 2),
    "too deep": ("settings.json", "[" * 5000 + "]" * 5000, 1),
    "too deep beside": ("settings.json", '{"a":' + "[" * 100_000 + "]" * 100_000 + "}", 1),
    "a table twice": ("config.toml", CODEX_CONFIG + "[features]\n", 0),
    "an open list": ("config.toml", "a = 1\nb = [1,\n", 0),
    "no TOML": ("config.toml", "a = 1\nb: 2\n", 2),
}


@pytest.mark.parametrize("label", BROKEN)
def test_a_malformed_file_is_named_with_its_line(label: str, tmp_path: Path) -> None:
    name, text, line = BROKEN[label]
    path = put(tmp_path, name, text.encode())
    ledger = Ledger(str(tmp_path / "told"))
    with pytest.raises(UsageError, match=f"{name} is not valid at line {line or ''}") as refused:
        foreign.apply_change(changes(path)[0], ledger, "agent user")
    assert str(refused.value).count("\n") == 0
    assert foreign.change_state(changes(path)[0]).startswith(f"broken: {path} is not valid")
    assert foreign.remove_change(changes(path)[0]).state == "failed"
    assert Path(path).read_bytes() == text.encode()
    assert ledger.installed() == []


FOREIGN = {
    "a value": ("settings.json", '{"mcpServers": {"told": {"command": "mine"}}}', "mcpServers.told"),
    "a text": ("settings.json", '{"mcpServers": "no"}', "mcpServers"),
    "a list": ("settings.json", '{"mcpServers": []}', "mcpServers"),
    "null": ("settings.json", '{"mcpServers": null}', "mcpServers"),
    "a table": ("config.toml", '[mcp_servers.told]\ncommand = "mine"\n', "mcp_servers.told"),
    "a number": ("config.toml", "mcp_servers = 1\n", "mcp_servers"),
}


@pytest.mark.parametrize("label", FOREIGN)
def test_a_value_of_somebody_else_is_left_alone(label: str, tmp_path: Path) -> None:
    name, text, key = FOREIGN[label]
    path = put(tmp_path, name, text.encode())
    change = next(each for each in changes(path) if isinstance(each, Entry) and each.keys[-1] == "told")
    with pytest.raises(UsageError) as refused:
        foreign.apply_change(change, Ledger(str(tmp_path / "told")), "agent user")
    assert path in str(refused.value)
    assert key in str(refused.value)
    assert foreign.change_state(change).startswith("broken: ")
    assert foreign.remove_change(change).state in ("left", "failed")
    assert Path(path).read_bytes() == text.encode()


def test_a_list_that_is_no_list_is_left_alone(tmp_path: Path) -> None:
    for name, text in {"settings.json": '{"hooks": {"Stop": {}}}', "config.toml": "[hooks.Stop]\n"}.items():
        path = put(tmp_path, name, text.encode())
        with pytest.raises(UsageError, match=r"hooks\.Stop in .* is not a list"):
            foreign.apply_change(changes(path)[1], Ledger(str(tmp_path / "told")), "agent user")
        assert Path(path).read_bytes() == text.encode()


def refused(path: str, home: Path, change: Block | Entry | OwnFile | None = None) -> ToldError:
    with pytest.raises(ToldError) as error:
        foreign.apply_change(change or changes(path)[0], Ledger(str(home / "told")), "agent user")
    assert Ledger(str(home / "told")).installed() == []
    assert path in str(error.value)
    assert "\n" not in str(error.value)
    return error.value


def test_things_that_are_no_files(tmp_path: Path) -> None:
    path = str(tmp_path / "settings.json")
    os.mkdir(path)
    assert "is a folder" in str(refused(path, tmp_path))
    os.rmdir(path)
    os.mkfifo(path)
    assert "not a regular file" in str(refused(path, tmp_path))
    os.remove(path)
    os.symlink(tmp_path / "nowhere.json", path)
    assert "link to a file that is not there" in str(refused(path, tmp_path))
    assert not (tmp_path / "nowhere.json").exists()
    os.remove(path)
    os.symlink(path, path)
    assert "leads back to itself" in str(refused(path, tmp_path))
    below = put(tmp_path, "file", b"x") + "/settings.json"
    assert "is a file" in str(refused(below, tmp_path))


def test_texts_that_told_cannot_read(tmp_path: Path) -> None:
    path = put(tmp_path, "settings.json", '{\n "a": "é"}'.encode("latin-1"))
    assert "not UTF-8 at line 2" in str(refused(path, tmp_path))
    put(tmp_path, "settings.json", "{}".encode("utf-16"))
    assert "not UTF-8" in str(refused(path, tmp_path))
    put(tmp_path, "settings.json", b'{"a": "' + b"x" * disk.LARGEST + b'"}')
    assert "larger than 10 MB" in str(refused(path, tmp_path))
    yaml = put(tmp_path, "config.yml", b"a: 1\n")
    assert "YAML" in str(refused(yaml, tmp_path, Entry(yaml, ("a",), 1)))


def test_a_file_of_somebody_else_in_the_place_of_told_s_own(tmp_path: Path) -> None:
    path = put(tmp_path, "mem.md", b"mine")
    change = OwnFile(path, "told's\n")
    assert "is not told's" in str(refused(path, tmp_path, change))
    assert foreign.remove_change(change).state == "left"
    assert Path(path).read_bytes() == b"mine"


def test_a_read_only_file_or_folder(tmp_path: Path) -> None:
    path = put(tmp_path, "a/settings.json", b"{}", 0o444)
    error = refused(path, tmp_path)
    assert isinstance(error, MissingError)
    assert "read-only" in str(error)
    os.chmod(path, 0o644)
    os.chmod(tmp_path / "a", 0o555)
    try:
        with pytest.raises(MissingError, match=r"folder .* is read-only"):
            foreign.apply_change(changes(path)[0], Ledger(str(tmp_path / "told")), "agent user")
    finally:
        os.chmod(tmp_path / "a", 0o755)
    assert Path(path).read_bytes() == b"{}"
    assert os.listdir(tmp_path / "a") == ["settings.json"]


def test_a_file_that_became_read_only_stays_in_the_ledger(tmp_path: Path) -> None:
    path = put(tmp_path, "settings.json", b"{}")
    ledger = Ledger(str(tmp_path / "told"))
    foreign.apply_change(changes(path)[0], ledger, "agent user")
    os.chmod(path, 0o444)
    (outcome,) = foreign.undo_changes(ledger)
    assert (outcome.state, "read-only" in outcome.note) == ("failed", True)
    os.chmod(path, 0o640)
    foreign.undo_changes(Ledger(str(tmp_path / "told")))
    assert Path(path).read_bytes() == b"{}"


def test_a_full_disk_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "new" / "settings.json")
    ledger = Ledger(str(tmp_path / "told"))
    real = os.replace

    def full(source: str, target: str) -> None:
        if target == path:
            raise OSError(28, "No space left on device")
        real(source, target)

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(MissingError, match="no space left"):
        foreign.apply_change(changes(path)[0], ledger, "agent user")
    assert not (tmp_path / "new").exists()
    assert (ledger.installed(), ledger.folders) == ([], [])


def test_a_file_that_changes_while_told_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, "settings.json", b"{}")
    ledger = Ledger(str(tmp_path / "told"))
    plan = Ledger.record_plan

    def planned(*args: object) -> None:
        plan(*args)  # type: ignore[arg-type]
        Path(path).write_bytes(b'{"new": 1}')

    monkeypatch.setattr(Ledger, "record_plan", planned)
    with pytest.raises(BusyError, match="changed by another program"):
        foreign.apply_change(changes(path)[0], ledger, "agent user")
    assert Path(path).read_bytes() == b'{"new": 1}'
    assert ledger.installed() == []
    assert sorted(os.listdir(tmp_path)) == ["settings.json", "told"]
