"""The service as a process: one of it, found again after any death, and gone when nobody needs it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

import told
from tests.hook.desk import ASKED, TAUGHT, typed
from tests.serve.house import PATIENCE, House, is_running, until, variables_of
from told.errors import MissingError
from told.hook import service as starting
from told.hook.service import CALLERS, runs, spawn, wake
from told.serve import control

KEPT = {"service.json", "service.token"}  # the port and the token stand in an agent's file


def test_it_is_started_asked_and_stopped(house: House) -> None:
    house.choose()
    assert house.child("ping").code == 1
    started = house.child("service", "start")
    assert started.code == 0
    assert started.out.startswith(f"Started: port {house.port} of this machine, process {house.pid}.")
    asked = house.child("ping")
    assert asked.code == 0
    assert asked.out.startswith("The service answered in ")
    pid = house.pid
    stopped = house.child("service", "stop")
    assert stopped.out.startswith("Stopped. ")
    assert not is_running(pid)
    assert house.own_files() == KEPT
    assert house.child("service", "stop").out == "It was not running.\n"


def test_for_machines(house: House) -> None:
    nothing: dict[str, object] = {
        "chosen": False,
        "running": False,
        "port": None,
        "pid": None,
        "taken": False,
        "for": [],
        "mcp": None,
        "token_file": None,
    }
    assert house.told("service", "status", "--json").json == nothing
    assert house.told("ping", "--json") == (1, '{"running":false,"answers":false,"taken":false}\n', "")
    house.begin()
    found = house.told("service", "status", "--json").json
    assert found == {
        "chosen": True, "running": True, "port": house.port, "pid": house.pid, "taken": False,
        "for": ["claude-code user"], "mcp": f"http://127.0.0.1:{house.port}/mcp",
        "token_file": f"{house.place}/service.token",
    }  # fmt: skip
    answer = house.told("ping", "--json").json
    assert answer.pop("ms") > 0
    assert answer == {"running": True, "answers": True, "pid": house.pid, "version": told.__version__}


def test_without_a_choice_it_says_how_to_make_one(house: House) -> None:
    started, asked = house.child("service", "start"), house.child("ping")
    assert (started.code, asked.code) == (4, 1)
    assert (
        started.err == asked.err == "told: The service is not set up. `told install --service` does that.\n"
    )
    assert house.child("service", "dance").code == 2
    assert house.own_files() == set()


def test_there_is_only_one_of_it(house: House) -> None:
    pid = house.begin()
    assert house.begin() == pid
    assert house.child("service", "start").out.startswith("It runs already: ")
    others = [spawn(house.place, house.environ) for _ in range(4)]
    for other in others:
        assert os.waitpid(other, 0)[1] == 0  # it saw that one runs, and left
    assert house.pid == pid


def test_many_that_start_it_at_once_start_one(house: House) -> None:
    house.choose()
    before = _children()
    with ThreadPoolExecutor(8) as pool:
        pids = set(pool.map(lambda _: control.start(house.place, house.environ).pid, range(8)))
    assert pids == {house.pid}
    until(lambda: _children() - before == pids)
    assert control.ping(house.place) is not None


def _children() -> set[int]:
    """Return the processes that this one started and that still run."""
    found = set()
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            state = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
            if int(state[1]) == os.getpid() and is_running(int(name)):
                found.add(int(name))
    return found


def test_killed_it_is_noticed_and_comes_back_at_the_same_place(house: House) -> None:
    first, port = house.begin(), house.port
    os.kill(first, signal.SIGKILL)
    until(lambda: not is_running(first))
    assert house.child("service", "status").out.startswith(
        f"The service has port {port}, but does not run. `told service start` starts it.\n"
    )
    second = house.begin()
    assert second != first
    assert house.port == port
    house.say(TAUGHT)
    assert "pnpm" in house.say(ASKED, "second")


def test_what_a_killed_one_left_names_nobody(house: House) -> None:
    house.choose()
    stranger = subprocess.Popen(["sleep", "60"])
    try:
        (house.told_home / "service.lock").write_text(f"{stranger.pid}\n")
        assert house.pid == 0
        assert house.told("service", "stop").out == "It was not running.\n"
        assert stranger.poll() is None
        assert house.begin() not in (0, stranger.pid)
    finally:
        stranger.kill()
        stranger.wait()


def test_a_file_of_nonsense_is_no_choice(house: House) -> None:
    for nonsense in ("", "{", "[]", '{"port":"x","owners":[]}', '{"port":80}', "null", "\0"):
        (house.told_home / "service.json").write_text(nonsense)
        assert house.told("service", "start").code == 4
        assert not wake(house.place, "claude-code", house.environ)


def test_a_port_that_another_program_has_is_said(house: House) -> None:
    house.choose()
    with socket.create_server(("127.0.0.1", house.port)):
        done = house.child("service", "start")
        assert done.code == 4
        assert f"Another program has port {house.port}." in done.err
        for words in (("service", "status"), ("ping",)):
            said = house.child(*words)
            assert f"another program has port {house.port}, and prompts go unanswered" in said.out + said.err
        assert house.told("service", "status", "--json").json["taken"] is True
        with pytest.raises(MissingError):
            house.begin()
    assert house.begin() > 0  # as soon as it is free again


def test_it_leaves_when_nobody_needs_it(house: House) -> None:
    pid = house.begin(idle=0.2)
    until(lambda: not is_running(pid))
    assert house.own_files() == KEPT


def test_it_stays_while_an_agent_runs_that_asked_for_it(house: House) -> None:
    agent = subprocess.Popen(["sleep", "60"])
    try:
        house.choose()
        (house.told_home / CALLERS).write_text(f"1\n999999999\n{agent.pid}\nx\n")
        pid = house.begin(idle=0.2)
        until(lambda: (house.told_home / CALLERS).read_text() in (f"{agent.pid}\n", f"1\n{agent.pid}\n"))
        time.sleep(0.5)
        assert is_running(pid)
    finally:
        agent.kill()
        agent.wait()
    (house.told_home / CALLERS).write_text("999999999\n")
    until(lambda: not is_running(pid))


def test_a_hung_one_is_told_apart_and_ended(house: House) -> None:
    pid = house.begin()
    house.say(TAUGHT)
    os.kill(pid, signal.SIGSTOP)
    asked = house.child("ping")
    assert asked.code == 3
    assert asked.err == f"told: The service hangs (process {pid}). `told service stop` ends it.\n"
    assert house.told("ping", "--json").code == 3
    assert "pnpm" in house.call("claude-code", "prompt", typed(house, ASKED, session="second")).out
    assert house.child("remember", "The build runs with vite.").code == 0
    assert house.child("service", "stop").code == 0
    assert not is_running(pid)
    assert house.own_files() == KEPT


def test_one_that_is_stuck_in_a_call_leaves(house: House) -> None:
    pid = house.begin(patience=0.2, first="import told.serve.service as it;it._STUCK=0.3;it._EVERY=0.1;")
    until(lambda: control.ping(house.place) is not None)
    os.mkfifo(house.told_home / "places")  # whoever reads this waits for ever
    assert house.post(typed(house, TAUGHT))[:2] == (204, b"")
    until(lambda: not is_running(pid))
    assert house.own_files() == KEPT


def test_it_keeps_nothing_of_whoever_started_it(house: House) -> None:
    house.environ |= {"ANTHROPIC_API_KEY": "sk-ant-x", "CURSOR_VERSION": "3.1", "CLAUDECODE": "1"}
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    pid = house.begin()
    os.close(writing)
    try:
        assert select.select([reading], [], [], PATIENCE)[0]  # at its end: nobody else holds the other one
        assert os.read(reading, 1) == b""
    finally:
        os.close(reading)
    assert set(variables_of(pid)) <= {"HOME", "TOLD_HOME", "TOLD_BACKGROUND", "TZ", "PATH"}
    assert os.readlink(f"/proc/{pid}/cwd") == "/"
    assert os.getsid(pid) == pid
    assert {os.readlink(f"/proc/{pid}/fd/{stream}") for stream in range(3)} == {os.devnull}


def test_it_makes_room_for_a_newer_told(house: House, tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    shutil.copytree(
        Path(told.__file__).parent, installed / "told", ignore=shutil.ignore_patterns("__pycache__")
    )
    house.choose()
    folders = [str(installed), str(Path(apsw.__file__).parents[1])]
    program = (
        f"import sys,json;sys.path[:0]={folders!r}\nfrom told.serve import control\n"
        "print(control.start(sys.argv[1],json.loads(sys.argv[2])).pid)"
    )
    words = [sys.executable, "-I", "-S", "-c", program, house.place, json.dumps(house.environ)]
    first = int(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    until(lambda: control.ping(house.place) is not None)
    version = installed / "told" / "__init__.py"
    version.write_text(version.read_text().replace(told.__version__, "99.0"))
    until(lambda: _version(house) == "99.0")
    assert not is_running(first)
    assert house.pid not in (0, first)


def _version(house: House) -> str:
    with contextlib.suppress(OSError):  # between the two nobody listens
        house.post(typed(house, "ok thanks"))
    found = control.ping(house.place)
    return found.version if found else ""


def test_looking_and_starting_and_stopping_at_once_never_hides_one(house: House) -> None:
    house.choose()
    for _ in range(5):
        with ThreadPoolExecutor(8) as pool:
            looks = [pool.submit(runs, house.place) for _ in range(200)]
            pid = pool.submit(house.begin).result()
            assert all(look.result() in (True, False) for look in looks)
        assert (house.pid, runs(house.place)) == (pid, True)
        assert control.stop(house.place)
        assert not is_running(pid)


def test_only_the_file_whose_lock_one_has_is_removed(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    path = house.told_home / "service.lock"
    path.write_text("1\n")
    late = os.open(path, os.O_RDWR)  # opened when the old one was there, and only now locked
    path.unlink()
    path.write_text("2\n")
    monkeypatch.setattr(starting, "hold_lock", lambda *_: late)
    assert not runs(house.place)
    assert path.read_text() == "2\n"


def test_looking_whether_it_runs_leaves_nothing(house: House) -> None:
    assert not runs(house.place)
    assert house.own_files() == set()
