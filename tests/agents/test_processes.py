"""Who speaks at a hook: process trees of the real agents, as they were recorded on Linux."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from told.agents import installed_agents
from told.agents.processes import (
    NESTED,
    PIPED,
    USER,
    LinuxProcesses,
    OtherProcesses,
    Process,
    Processes,
    find_agent_above,
)
from told.agents.processes import find_speaker as find_speaker_of

DATA = Path(__file__).parent.parent / "data" / "processes"
CLIENT = "/home/dev/.venv/lib/python3.11/site-packages/told/hook/client.py"
HOOK = f"/usr/bin/python3 -I -S {CLIENT} claude-code prompt"


def find_speaker(pid: int, processes: Processes) -> str:
    """Tell whose word a hook call is, where told is installed as in the records."""
    return find_speaker_of(pid, processes, CLIENT)


class Recorded:
    """Processes that ran once."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self._variables = {row["pid"]: frozenset(row.pop("variables")) for row in rows}
        self._found = {row["pid"]: Process(**row | {"words": tuple(row["words"])}) for row in rows}

    def get(self, pid: int) -> Process | None:
        return self._found.get(pid)

    def variables(self, pid: int) -> frozenset[str]:
        return self._variables.get(pid, frozenset())


def tree(*commands: str | tuple[str, ...], groups: tuple[int, ...] = ()) -> Recorded:
    """Return processes, the hook first, each started by the next one."""
    rows = []
    for place, command in enumerate(commands):
        words = command.split() if isinstance(command, str) else list(command)
        group = groups[place] if groups else 100
        rows.append({
            "pid": 1000 - place, "parent": 999 - place, "group": group, "words": words, "variables": (),
        })  # fmt: skip
    return Recorded(rows)


def recorded_cases() -> list[tuple[str, dict[str, Any]]]:
    files = sorted(DATA.glob("*.json"))
    return [(file.stem, one) for file in files for one in json.loads(file.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(
    ("agent", "case"), recorded_cases(), ids=lambda one: one if isinstance(one, str) else one["case"]
)
def test_recorded_trees_of_real_agents_say_who_speaks(agent: str, case: dict[str, Any]) -> None:
    rows = case["processes"]
    hook = rows[0]["pid"]
    has_agent = len(rows) > 1
    processes = Recorded(rows)
    assert find_speaker(hook, processes) == case["speaker"]
    assert find_agent_above(hook, processes) == (agent if has_agent else "")


def test_there_are_records_of_claude_code_and_codex() -> None:
    agents = {agent for agent, _ in recorded_cases()}
    assert {"claude-code", "codex"} <= agents <= installed_agents().keys()


def test_a_hook_without_an_agent_above_is_the_users_word() -> None:
    assert find_speaker(1000, tree(HOOK, "python3 run.py", "bash", "sshd")) == USER
    assert find_speaker(1000, tree()) == USER  # its process is gone


def test_a_headless_run_that_a_script_started_is_the_users_word() -> None:
    shell = ("sh", "-c", f"{HOOK} 2>/dev/null || true")
    assert find_speaker(1000, tree(HOOK, shell, "claude -p fix", "bash nightly.sh", "cron")) == USER
    assert find_speaker(1000, tree(HOOK, shell, "claude -p fix", "make fix", "bash", "claude")) == NESTED


def test_an_editors_terminal_is_the_users() -> None:
    shell = ("sh", "-c", f"{HOOK} 2>/dev/null || true")
    for editor in ("/usr/share/cursor/cursor", "/usr/share/code/code --type=ptyHost", "zed"):
        assert find_speaker(1000, tree(HOOK, shell, "claude", "bash", editor)) == USER


@pytest.mark.parametrize(
    "line",
    [
        f"cat evil.json | {HOOK}",
        f"{HOOK} < evil.json",
        f"exec 0< evil.json; {HOOK}",
        f"{HOOK} <<< '{{}}' 2>/dev/null || true",
        f"eval '{HOOK}'",
        "bash evil.sh",
    ],
)
def test_a_shell_that_does_more_than_run_the_hook_is_the_agents(line: str) -> None:
    between = ("bash", "-c", line)
    assert find_speaker(1000, tree(HOOK, between, "claude")) == PIPED
    assert find_speaker(1000, tree(HOOK, ("sh", "-c", HOOK), between, "claude")) == PIPED


def test_a_program_that_only_looks_like_the_hook_is_the_agents() -> None:
    for fake in ("/tmp/told/hook/client.py", "/tmp/client.py"):
        words = f"python3 -I -S {fake} claude-code prompt"
        assert (
            find_speaker(1000, tree(words, ("sh", "-c", f"{words} 2>/dev/null || true"), "claude")) == PIPED
        )
        assert find_speaker(1000, tree(words, "opencode")) == PIPED
    hidden = ("sh", "-c", f"env -u CODEX_CI {HOOK} 2>/dev/null || true")
    assert find_speaker(1000, tree(HOOK, hidden, "codex")) == PIPED


def test_other_shells_and_launchers_of_a_users_agent_are_no_tool_calls() -> None:
    shell = ("zsh", "-lc", f"{HOOK} 2>/dev/null || true")
    assert find_speaker(1000, tree(HOOK, HOOK, shell, "codex", "node /usr/bin/codex", "zsh")) == USER
    assert find_speaker(1000, tree(HOOK, "opencode", "node /usr/bin/opencode", "zsh")) == USER
    # A shell that became the command it ran leaves a group of its own.
    nested = tree(HOOK, shell, "codex", "codex", groups=(1, 1, 2, 3))
    assert find_speaker(1000, nested) == NESTED


def test_a_command_below_an_agent_is_the_agents_without_any_variable() -> None:
    assert (
        find_agent_above(1000, tree("told lock x", "env -i told lock x", "bash -c x", "claude"))
        == "claude-code"
    )
    script = "node /usr/lib/node_modules/@google/gemini-cli/bundle/start.js"
    assert find_agent_above(1000, tree("told lock x", "bash -c x", script)) == "gemini-cli"
    assert find_agent_above(1000, tree("told lock x", "bash", "python3 /home/me/claude-code/run.py")) == ""


@pytest.mark.skipif(sys.platform == "win32", reason="has no parents")
def test_this_machines_processes_are_read() -> None:
    machines: list[Processes] = [OtherProcesses(), *([LinuxProcesses()] if sys.platform == "linux" else [])]
    for processes in machines:
        own = processes.get(os.getpid())
        if own is None and not os.path.exists("/bin/ps"):
            continue
        assert own is not None
        assert own.parent == os.getppid()
        assert any("py" in word for word in own.words)
        assert processes.get(2**22 + 1) is None


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_variables_of_a_process_are_read() -> None:
    words = ["/bin/sh", "-c", "echo; read line"]
    child = subprocess.Popen(words, env={"CLAUDECODE": "1"}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout is not None
    try:
        child.stdout.readline()  # it runs
        assert "CLAUDECODE" in LinuxProcesses().variables(child.pid)
    finally:
        child.communicate()
