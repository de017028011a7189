"""`told install` replaces hooks and removes files of the previous version."""

from __future__ import annotations

import fcntl
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from told.install.legacy import legacy_files, remove_legacy_files

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.machine import Machine

OLD_FILES = ("service.json", "service.token", "service.callers", "snapshot.3-11", "settings")


def as_before(value: Any, event: str = "") -> Any:
    """Turn hooks into those of told 0.1: the exec form, and a request to the HTTP service."""
    if isinstance(value, list):
        return [as_before(one, event) for one in value]
    if not isinstance(value, dict):
        return value
    if "client.py" not in str(value.get("command", "")):
        return {name: as_before(one, name) for name, one in value.items()}
    if " prompt" in value["command"]:
        url = "http://127.0.0.1:23456/told.hook/claude-code/prompt"
        return {"type": "http", "url": url, "headers": {"Authorization": "Bearer x"}, "timeout": 0.25}
    arguments = ["-I", "-S", "-c", "import sys;from told.hook.run import run;run()", "claude-code", "start"]
    return {"type": "command", "command": "/usr/bin/python3", "args": arguments, "timeout": 5}


def test_install_replaces_old_hooks_and_removes_old_files(machine: Machine) -> None:
    settings = machine.write(".claude/settings.json", json.dumps({"model": "opus"}))
    before = settings.read_bytes()
    machine.told("install", "--agent", "claude")
    new = settings.read_text()
    for path in (settings, machine.told_home / "installed.json"):
        path.write_text(json.dumps(as_before(json.loads(path.read_text()))))
    assert settings.read_text().count("told.hook") == 6
    for name in OLD_FILES:
        (machine.told_home / name).write_text("old")
    status = machine.told("status", "--agent", "claude").out
    assert "told install --agent claude" in status
    assert "5 files of an earlier version" in status
    assert "Removed 5 files of an earlier version" in machine.told("install", "--agent", "claude").out
    assert json.loads(settings.read_text()) == json.loads(new)
    assert not any((machine.told_home / name).exists() for name in OLD_FILES)
    status = machine.told("status", "--agent", "claude").out
    assert "earlier version" not in status
    assert "told install --agent claude" not in status
    machine.told("uninstall")
    assert json.loads(settings.read_text()) == json.loads(before)


def test_other_files_stay(tmp_path: Path) -> None:
    for name in ("memory.db", "config.toml", "settings.bak", "service"):
        (tmp_path / name).write_text("")
    assert legacy_files(str(tmp_path)) == []
    assert remove_legacy_files(str(tmp_path)) == []
    assert len(list(tmp_path.iterdir())) == 4


def test_running_old_service_is_stopped(tmp_path: Path) -> None:
    lock = tmp_path / "service.lock"
    code = (
        "import fcntl,os,sys,time;d=os.open(sys.argv[1],os.O_CREAT|os.O_RDWR);fcntl.flock(d,fcntl.LOCK_EX);"
        "os.write(d,b'%d'%os.getpid());print('held',flush=True);time.sleep(600)"
    )
    words = [sys.executable, "-c", code, str(lock)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as old:
        assert old.stdout is not None
        assert old.stdout.readline() == "held\n"
        assert remove_legacy_files(str(tmp_path)) == [str(lock)]
        assert old.wait(60) == -15
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
