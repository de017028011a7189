"""The command that agents run starts told's hook, whatever the folders are called."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import told
from told.agents.wiring import Launch
from told.errors import MissingError
from told.install import place as launching
from told.install.place import find_fault, launch

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


def fake_client(folder: Path, text: str = "import sys\nprint(*sys.argv[1:], sys.stdin.read())\n") -> str:
    """Write a script that stands in for the hook client."""
    path = folder / "told" / "hook" / "client.py"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("name", ODD)
def test_line_works_in_a_shell_with_odd_folder_names(tmp_path: Path, name: str) -> None:
    client = fake_client(tmp_path / name)
    line = Launch(launch().interpreter, client, (str(tmp_path / name),)).line("codex", "start")
    done = subprocess.run(["sh", "-c", line], input="{}", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"codex start {tmp_path / name} {{}}\n", "")


@pytest.mark.parametrize("name", ODD)
def test_words_work_without_a_shell(tmp_path: Path, name: str) -> None:
    client = fake_client(tmp_path / name)
    words = Launch(launch().interpreter, client).words("claude-code", "prompt")
    done = subprocess.run(words, input="{}", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "claude-code prompt {}\n")


def test_interpreter_with_an_odd_name_is_one_word(tmp_path: Path) -> None:
    link = tmp_path / "my pythons" / "it's 3"
    link.parent.mkdir()
    link.symlink_to(launch().interpreter)
    line = Launch(str(link), fake_client(tmp_path / "src")).line("codex", "start")
    done = subprocess.run(["sh", "-c", line], input="{}", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "codex start {}\n")


@pytest.mark.parametrize(
    "text", ["import nothing_like_that", "raise SystemError", "1 +", "raise SystemExit(2)"]
)
def test_broken_client_never_blocks_a_prompt(tmp_path: Path, text: str) -> None:
    line = Launch(launch().interpreter, fake_client(tmp_path, text)).line("claude-code", "prompt")
    done = subprocess.run(["sh", "-c", line], input=b"{}", capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_interpreter_is_a_real_binary_of_this_version() -> None:
    found = launch().interpreter
    assert not os.path.islink(found)
    assert "shims" not in found
    with open(found, "rb") as file:
        assert file.read(2) != b"#!"
    done = subprocess.run([found, "-V"], capture_output=True, text=True, check=True)
    assert done.stdout.split()[1] == sys.version.split()[0]


def test_client_is_the_installed_one() -> None:
    found = launch()
    assert found.client == str(Path(told.__file__).parent / "hook" / "client.py")
    assert find_fault(found) == ""


def test_fault_says_why_the_hook_cannot_be_loaded(tmp_path: Path) -> None:
    client = fake_client(tmp_path)
    assert "No module named" in find_fault(Launch(launch().interpreter, client))
    assert find_fault(Launch("/nowhere/python", client)) == "/nowhere/python does not start"


def test_binary_of_another_version_or_a_shim_is_not_used(
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
    assert launch(strict=False).interpreter == str(shim)


def test_stable_path_of_homebrew_is_used(tmp_path: Path) -> None:
    binary = tmp_path / "Cellar" / "python@3.13" / "3.13.2" / "bin" / "python3.13"
    binary.parent.mkdir(parents=True)
    binary.write_text("")
    assert launching._stable_path(str(binary)) == str(binary)
    (tmp_path / "opt").mkdir()
    (tmp_path / "opt" / "python@3.13").symlink_to(binary.parents[1])
    assert launching._stable_path(str(binary)) == f"{tmp_path}/opt/python@3.13/bin/python3.13"
    assert launching._stable_path("/usr/bin/python3") == "/usr/bin/python3"
