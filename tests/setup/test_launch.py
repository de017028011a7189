"""The line that agents run really starts told's hook, whatever the folders are called."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import told
from told.agents.wiring import Launch
from told.errors import MissingError
from told.setup import launch as launching
from told.setup.launch import code, fault, launch

ODD = [
    "plain",
    "with space",
    "it's",
    'say "hi"',
    "$HOME",
    "`id`",
    "a;b&c",
    "back\\slash",
    "Ünïcode 日本",
    "100%",
]


def fake_told(folder: Path, text: str) -> Path:
    """Make a package that stands in for told, and a module that stands in for apsw."""
    package = folder / "told"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "hook.py").write_text(text)
    (folder / "apsw.py").write_text("")
    return folder


@pytest.mark.parametrize("name", ODD)
def test_the_line_works_in_a_shell_from_folders_with_odd_names(tmp_path: Path, name: str) -> None:
    source = "import sys\ndef run():\n    print(*sys.argv[1:], sys.stdin.read())\n"
    folder = fake_told(tmp_path / name, source)
    line = Launch(launch().interpreter, code([str(folder)])).line("codex", "start")
    done = subprocess.run(["sh", "-c", line], input="{}", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "codex start {}\n", "")


@pytest.mark.parametrize("name", ODD)
def test_the_words_work_without_a_shell(tmp_path: Path, name: str) -> None:
    folder = fake_told(tmp_path / name, "def run():\n    print('here')\n")
    words = Launch(launch().interpreter, code([str(folder)])).words("claude-code", "prompt")
    done = subprocess.run(words, input="{}", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "here\n")


def test_an_interpreter_with_an_odd_name_is_one_word(tmp_path: Path) -> None:
    link = tmp_path / "my pythons" / "it's 3"
    link.parent.mkdir()
    link.symlink_to(launch().interpreter)
    folder = fake_told(tmp_path / "src", "def run():\n    print('here')\n")
    line = Launch(str(link), code([str(folder)])).line("codex", "start")
    done = subprocess.run(["sh", "-c", line], input="{}", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "here\n")


@pytest.mark.parametrize(
    "text", ["import nothing_like_that", "raise SystemError", "1 +", "def run():\n    raise ValueError"]
)
def test_a_told_that_is_broken_never_stops_a_prompt(tmp_path: Path, text: str) -> None:
    folder = fake_told(tmp_path / "src", text)
    words = Launch(launch().interpreter, code([str(folder)])).words("claude-code", "prompt")
    assert subprocess.run(words, input=b"{}", capture_output=True, check=False).returncode == 0


def test_a_told_that_is_gone_never_stops_a_prompt(tmp_path: Path) -> None:
    words = Launch(launch().interpreter, code([str(tmp_path / "gone")])).words("claude-code", "prompt")
    done = subprocess.run(words, input=b"{}", capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"")


def test_the_interpreter_is_a_real_binary_of_this_version() -> None:
    found = launch().interpreter
    assert not os.path.islink(found)
    assert "shims" not in found
    with open(found, "rb") as file:
        assert file.read(2) != b"#!"
    done = subprocess.run([found, "-V"], capture_output=True, text=True, check=True)
    assert done.stdout.split()[1] == sys.version.split()[0]


def test_told_and_apsw_are_found_from_where_they_are_installed() -> None:
    found = launch()
    assert str(Path(told.__file__).parents[1]) in found.code
    assert fault(found) == ""


def test_what_keeps_the_hook_from_loading_is_said(tmp_path: Path) -> None:
    assert "No module named" in fault(Launch(launch().interpreter, code([str(tmp_path)])))
    assert fault(Launch("/nowhere/python", code([str(tmp_path)]))) == "/nowhere/python does not start"


def test_a_binary_of_another_version_or_a_shim_that_does_nothing_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shim = tmp_path / "python3"
    shim.write_text("#!/bin/sh\necho cpython-36\n")
    shim.chmod(0o755)
    real = launch().interpreter
    monkeypatch.setattr(sys, "_base_executable", str(shim))
    assert launch().interpreter == real
    monkeypatch.setattr(sys, "executable", str(shim))
    with pytest.raises(MissingError, match="is another Python"):
        launch()
    assert launch(strict=False).interpreter == str(shim), "what is wired can be looked at all the same"


def test_homebrews_lasting_name_is_taken(tmp_path: Path) -> None:
    binary = tmp_path / "Cellar" / "python@3.13" / "3.13.2" / "bin" / "python3.13"
    binary.parent.mkdir(parents=True)
    binary.write_text("")
    assert launching._lasting(str(binary)) == str(binary)
    (tmp_path / "opt").mkdir()
    (tmp_path / "opt" / "python@3.13").symlink_to(binary.parents[1])
    assert launching._lasting(str(binary)) == f"{tmp_path}/opt/python@3.13/bin/python3.13"
    assert launching._lasting("/usr/bin/python3") == "/usr/bin/python3"
