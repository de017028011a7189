"""The help: groups, examples that run, likely words, and completion."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from demo.told import Scratch
from tests.demo_history import imported
from told.cli.arguments import all_commands
from told.cli.help import SHELLS, command_groups, examples_of, help_text
from told.cli.main import main

SHOWN = [command for command in all_commands() if not command.hidden]
_MAY_BE_EMPTY = ("proposals", "unlock", "undo", "redact-scan", "retention", "service", "ping")
_FED = {"hook": b"{}", "mcp": b""}  # they read standard input


@pytest.fixture
def scratch() -> Scratch:
    """The history of the demo, imported, in a project that says how it is tested."""
    made = imported(changes=True)
    (Path(made.cwd) / "Makefile").write_text("test:\n\tnpm test\n")
    return made


def test_every_command_is_in_one_group_and_has_examples() -> None:
    grouped = [command.name for _, commands in command_groups() for command in commands]
    assert sorted(grouped) == sorted(command.name for command in SHOWN)
    assert [command.name for command in SHOWN if not examples_of(command.name)] == []
    lines = [line for command in SHOWN for line in help_text(command.name).splitlines()]
    assert [line for line in lines if len(line) > 80] == []


@pytest.mark.parametrize("command", [command.name for command in SHOWN])
def test_every_example_works_on_the_demos_history(
    scratch: Scratch, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(scratch.cwd)
    environ = dict(scratch.environ)
    if command == "service":
        del environ["TOLD_BACKGROUND"]
    for typed, _ in examples_of(command):
        assert f"told {command}" in typed or command in ("confirm", "reject")
        if command in _FED:
            run = [sys.executable, "-m", "told", *shlex.split(typed.rpartition("told ")[2])]
            done = subprocess.run(
                run, input=_FED[command], env=scratch.environ, capture_output=True, timeout=60, check=False
            )
            assert (done.returncode, done.stderr) == (0, b""), typed
            continue
        for one in typed.split(" && "):
            code = main(shlex.split(one)[1:], environ)
            out, err = capsys.readouterr()
            assert code in ((0, 1) if command in _MAY_BE_EMPTY else (0,)), (one, out, err)
            assert "Traceback" not in err
            assert out or err


@pytest.mark.parametrize(
    ("typed", "command"),
    [
        ("recall", "search"), ("sessions", "list"), ("doctor", "health"), ("delete", "forget"),
        ("memory", "memories"), ("projects", "repos"), ("file", "files"), ("checkpoint", "checkpoint"),
        ("rules", "memories --kind rule"), ("setup", "install"),
    ],
)  # fmt: skip
def test_likely_words_run_the_command_and_say_its_name(
    typed: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    environ = {"HOME": str(tmp_path), "TOLD_HOME": str(tmp_path / "told"), "TOLD_BACKGROUND": "off"}
    assert main([typed, "--help"], environ) == 0
    out, err = capsys.readouterr()
    assert out.startswith(f"told {command.partition(' ')[0]}: ")
    assert err == ("" if typed == command else f"told: `told {typed}` is `told {command}`.\n")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("serach", 'Did you mean "told search"?'),
        ("recal", 'Did you mean "told search"?'),
        ("login", "told needs no account."),
        ("qqqq", "`told help` lists the commands."),
    ],
)
def test_unknown_words_get_the_right_suggestion(
    typed: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([typed], {"HOME": str(tmp_path), "TOLD_HOME": str(tmp_path / "told")}) == 2
    assert capsys.readouterr().err.startswith(f'told: Unknown command "{typed}". ')
    assert main([typed], {"HOME": str(tmp_path), "TOLD_HOME": str(tmp_path / "told")}) == 2
    assert said in capsys.readouterr().err


def _script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["completion", shell], {}) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["told", "sea"], ["search"]),
        (["told", "install", "--ag"], ["--agent"]),
        (["told", "install", "--agent", "claude-c"], ["claude-code"]),
        (["told", "service", "st"], ["start", "stop", "status"]),
    ],
)
def test_bash_completes(words: list[str], expected: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    asked = (
        f"{_script('bash', capsys)}\nCOMP_WORDS=({shlex.join(words)}); COMP_CWORD={len(words) - 1}; _told\n"
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout.split() == expected


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_accepts_its_script(
    shell: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    script = _script(shell, capsys)
    assert all(command.name in script for command in SHOWN)
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    path = tmp_path / "told"
    path.write_text(script)
    environ = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    done = subprocess.run([program, "-n", path], capture_output=True, env=environ, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_completion_needs_a_shell(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "tcsh"], {}) == 2
    assert capsys.readouterr().err == "told: Name the shell: `told completion bash|zsh|fish`.\n"
