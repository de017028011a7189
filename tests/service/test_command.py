"""The command line in an agent's settings never blocks the agent."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.service.house import CLIENT, PYTHON, House, folders
from tests.soak import sampled
from told.agents.wiring import CMD, POWERSHELL, Launch, has_mark

NAMES = ("with space", "it's", 'a "quoted" one', "do$HOME`ls`", "ünïcode", "semi;colon&")
ALL = "".join(NAMES)
SHELLS = [shell for shell in ("sh", "bash", "dash", "zsh") if shutil.which(shell)]


def run(shell: str, line: str, environ: dict[str, str], raw: bytes = b"{}") -> tuple[int, bytes, bytes]:
    done = subprocess.run([shell, "-c", line], input=raw, env=environ, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("interpreter", "client"),
    [
        ("/nowhere/python", CLIENT),
        (PYTHON, "/nowhere/client.py"),
        ("/etc/hostname", CLIENT),
        (PYTHON, "/etc"),
    ],
)
def test_deleted_interpreter_or_client_is_silent_and_exits_0(
    house: House, shell: str, interpreter: str, client: str
) -> None:
    line = Launch(interpreter, client).line("claude-code", "prompt")
    assert run(shell, line, house.environ) == (0, b"", b"")


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("name", sampled([ALL, *NAMES], [ALL]))
def test_any_path_works(house: House, tmp_path: Path, shell: str, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    python = folder / "python"
    python.symlink_to(PYTHON)
    package = folder / "told"
    package.symlink_to(Path(CLIENT).parent.parent)
    launch = Launch(str(python), str(package / "hook" / "client.py"), tuple(folders()))
    line = launch.line("claude-code", "prompt")
    raw = json.dumps(house.typed("/mem:remember We use pnpm here")).encode()
    code, out, err = run(shell, line, house.environ | {"TOLD_BACKGROUND": "off"}, raw)
    assert (code, err) == (0, b"")
    assert b"remembers" in out or b"knew already" in out
    assert has_mark(line)


def test_lines_for_windows_have_the_documented_form() -> None:
    """Not run: there is no Windows here."""
    python, client = r"C:\Program Files\Python\python.exe", r"C:\told\hook\client.py"
    assert Launch(python, client).line("codex", "start", CMD) == (
        r'"C:\Program Files\Python\python.exe" -I -S C:\told\hook\client.py codex start 2>nul || exit /b 0'
    )
    assert Launch(python, client, (r"C:\it's",)).line("qwen-code", "start", POWERSHELL) == (
        r"try { & 'C:\Program Files\Python\python.exe' -I -S C:\told\hook\client.py qwen-code start "
        r"'C:\it''s' 2>$null } catch { }; exit 0"
    )
    assert has_mark(Launch(python, client).line("codex", "start", CMD))


def test_words_for_agents_without_a_shell() -> None:
    assert Launch("/p", "/c", ("/e",)).words("opencode", "start") == (
        "/p",
        "-I",
        "-S",
        "/c",
        "opencode",
        "start",
        "/e",
    )
    assert not has_mark("python -I -S other.py")
    assert has_mark("python -I -S -c 'from told.hook.run import run;run()' codex start")  # of told 0.1
    assert os.path.isfile(CLIENT)
