"""Commands that only read: the service's answer is the same as that of the command's own process."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.machine import Answer, Machine, ago
from tests.cli.template import prepare
from tests.service.house import PATIENCE, until
from tests.service.test_client import ALLOWED
from tests.soak import SOAK
from told.cli.arguments import command_named
from told.cli.entry.client import SERVED
from told.hook.client import WITHHELD
from told.service import control
from told.service.commands import CommandLine, CommandRunner, Commands, Printed
from told.service.protocol import Request

# Command lines with what they print, and with the errors of wrong use and of nothing found.
LINES = (
    "list", "list --json", "list --all-projects -n 1", "list --agent codex", "list --agent nobody",
    "list --days x", "list extra", "search cache", "search cache --json", "search nothingsaysthis", "search",
    "search cache --in x", "files", "repos --json", "timeline", "timeline --around nosuchid", "checkpoints",
    "show nosuchid", "memories", "memories --json", "memories --status candidate", "why nosuchid",
    "evolution Redis", "diff Redis", "brief", "brief --prompt cache --json", "explain cache",
)  # fmt: skip


def build(made: Machine) -> None:
    """Do something in two projects, of which told knows."""
    project = made.repo("shop", "git@github.com:acme/shop.git")
    made.claude(("Where does the cache live?", "In Redis, with a TTL."), cwd=project, at=ago(days=2))
    made.claude(("Fix the docker image", "Fixed it."), at=ago(days=1), cwd=made.folder("other"))
    with contextlib.chdir(project):
        assert made.told("index").code == 0
        assert made.told("remember", "The cache lives in Redis").code == 0


@pytest.fixture
def machine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Machine]:  # fmt: skip
    made = prepare(Machine(tmp_path, capsys), build, tmp_path_factory, monkeypatch)
    gc.enable()  # a command does without
    yield made
    control.stop(str(made.told_home))


def serve(machine: Machine) -> int:
    """Start the service; return its process."""
    environ = machine.environ | {"TOLD_BACKGROUND": "on", "TOLD_SERVICE_IDLE": "300"}
    return control.start(str(machine.told_home), environ).pid


def told(machine: Machine, line: str, **variables: str) -> tuple[Answer, set[str]]:
    """Run a command in the project; return its answer and the modules that its process imported."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "told", *line.split()],
        env=machine.environ | variables, cwd=machine.home / "shop", capture_output=True, text=True,
        timeout=PATIENCE, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    mine = [one for one in done.stderr.splitlines(keepends=True) if not one.startswith("import time:")]
    imported = {one.rpartition("|")[2].strip() for one in done.stderr.splitlines() if one not in mine}
    return Answer(done.returncode, done.stdout, "".join(mine)), imported


def test_the_service_answers_as_the_command_itself_does(machine: Machine) -> None:
    with contextlib.chdir(machine.home / "shop"):
        before = {line: machine.told(*line.split()) for line in LINES}
    gc.enable()  # a command does without
    serve(machine)
    after = {line: told(machine, line) for line in LINES}
    assert {line: answer for line, (answer, _) in after.items()} == before
    assert [line for line, (_, imported) in after.items() if "told.cli.main" in imported] == []


def test_the_client_imports_as_little_as_a_hook(machine: Machine) -> None:
    serve(machine)
    bare = {
        "told",
        "told.__main__",
        "told.cli",
        "told.cli.entry",
        "told.cli.entry.client",
        "told.hook",
        "told.hook.client",
        "__future__",
    }
    code = "import runpy,sys;sys.argv=['told'];runpy.run_module('json.tool')"
    words = [sys.executable, "-X", "importtime", "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    usual = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    _, imported = told(machine, "list")
    assert imported - usual - ALLOWED - {"_socket"} <= bare


def test_other_commands_run_in_their_own_process(machine: Machine) -> None:
    serve(machine)
    lines = ("remember The cache is small", "checkpoints --copy", "list --help", "--version")
    for line in lines if SOAK else lines[:3]:
        answer, imported = told(machine, line)
        assert "told.cli.main" in imported, line
        assert answer.err.startswith("told: ") or answer.code == 0, line


@pytest.mark.parametrize("variables", [{"TZ": "Asia/Tokyo"}, {"TOLD_HOME": "{home}/elsewhere"}])
def test_another_place_is_answered_by_its_own_process(machine: Machine, variables: dict[str, str]) -> None:
    """Another time zone or another home."""
    variables = {name: value.format(home=machine.home) for name, value in variables.items()}
    with contextlib.chdir(machine.home / "shop"):
        if "TOLD_HOME" in variables:
            assert machine.told("index", **variables).code == 0
    gc.enable()  # a command does without
    before, _ = told(machine, "list", **variables)
    serve(machine)
    after, imported = told(machine, "list", **variables)
    assert "told.cli.main" in imported
    assert after == before


def test_the_agent_that_calls_is_known(machine: Machine) -> None:
    variables = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s-1", "ANTHROPIC_API_KEY": "k-1"}
    before, _ = told(machine, "memories", **variables)
    serve(machine)
    after, imported = told(machine, "memories", **variables)
    assert after == before
    assert "told.cli.main" not in imported


def test_a_hanging_service_is_not_waited_for(machine: Machine) -> None:
    before, _ = told(machine, "list")
    pid = serve(machine)
    os.kill(pid, signal.SIGSTOP)
    try:
        after, imported = told(machine, "list")
    finally:
        os.kill(pid, signal.SIGCONT)
    assert after == before
    assert "told.cli.main" in imported


def request(*words: str, **variables: str) -> Request:
    return Request("command", "told 1", "", "", 0.0, "/", tuple(variables.items()), "\0".join(words).encode())


def test_one_command_runs_at_a_time_and_a_value_that_was_not_sent_is_not_guessed() -> None:
    go_on = threading.Event()

    def run(line: CommandLine) -> Printed | None:
        if line.words == ["wait"]:
            go_on.wait(PATIENCE)
        return Printed(0, line.environ.get("SECRET", "none"), "", is_behind=False)

    commands = Commands("/h", {"HOME": "/u"}, CommandRunner("told 1", run))
    here = {"TOLD_HOME": "/h", "HOME": "/u"}
    waiting = threading.Thread(target=commands.answer, args=(request("wait", **here),))
    waiting.start()
    assert until(commands.busy_seconds)
    assert commands.answer(request("list", **here)) == ""
    go_on.set()
    waiting.join()
    assert commands.busy_seconds() == 0
    assert commands.answer(request("list", **here)) == "0 4 0\nnone"
    assert commands.answer(request("list", **here, SECRET=WITHHELD)) == ""
    assert Commands("/h", here, CommandRunner("told 2", run)).answer(request("list", **here)) == ""


def test_served_commands_exist_and_open_the_store() -> None:
    commands = [command_named(name) for name in SERVED]
    assert [command for command in commands if command is None or command.standalone or command.repairs] == []


def test_listing_sessions_loads_only_what_reads_them(machine: Machine) -> None:
    _, imported = told(machine, "list")
    rooms = {name.split(".")[1] for name in imported if name.startswith("told.")}
    assert rooms <= {
        "__main__", "cli", "hook", "app", "agents", "errors", "fence", "files", "ingest", "redact",
        "settings", "store", "tables", "text", "hashing", "pattern", "words",
    }  # fmt: skip
    assert not imported & {
        "told.ingest.sweep",
        "told.redact.engine",
        "told.agents.base",
        "subprocess",
        "json",
    }


def test_a_search_loads_only_what_ranks_and_prints(machine: Machine) -> None:
    answer, imported = told(machine, "search docker image")
    assert answer.code == 0
    assert "told.recall.search" in imported
    assert not imported & {
        "told.ingest.sweep", "told.ingest.checkpoint_rows", "told.redact.engine", "told.agents.base",
        "told.search.index_text", "told.conflict.relation", "subprocess", "dataclasses", "pathlib",
    }  # fmt: skip
