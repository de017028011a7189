"""Briefs and answers that an agent did not get in time."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.service.house import CLIENT, HURRY, PYTHON, House, Said, end, folders, until
from told.ingest.leftovers import remove_traces
from told.service import calls
from told.service.process import Endpoint, _leave, _listen
from told.service.server import Server
from told.service.state import READY, clear_missed, make_key, put_missed, read_counts, take_missed

BRIEF = "Rules: run the tests first."


class Desk:
    """A service in this process whose answers a test decides on."""

    def __init__(self, house: House, monkeypatch: pytest.MonkeyPatch, *, tcp: bool = False) -> None:
        self.house = house
        self.may_start = threading.Event()
        self.may_prompt = threading.Event()
        self.may_prompt.set()
        self.answered: list[str] = []
        self.fails = False
        monkeypatch.setattr(calls, "answer_hook", self._dispatch)
        home = str(house.home)
        (house.home / "run").mkdir(mode=0o700, exist_ok=True)
        self.endpoint: Endpoint = _listen(home, tcp=tcp)
        self.server = Server(self.endpoint.listener, home, {}, token=self.endpoint.token)
        self.thread = threading.Thread(target=self.server.serve, args=(lambda: False, 1.0))
        self.thread.start()

    def _dispatch(
        self, agent: str, event: str, payload: Mapping[str, Any], environ: Mapping[str, str], runtime: Any,
        *, pid: int,
    ) -> str:  # fmt: skip
        (self.may_start if event == "start" else self.may_prompt).wait(60)
        self.answered.append(f"{event} {payload['session_id']}")
        if self.fails:
            raise RuntimeError("api_key=k-secret")
        text = (
            f"{BRIEF} ({payload['source']})" if event == "start" else payload["prompt"].removeprefix("quiet")
        )
        found = {"hookSpecificOutput": {"hookEventName": "x", "additionalContext": text}}
        return json.dumps(found) if text else ""

    def close(self) -> None:
        """End the service."""
        self.may_start.set()
        self.may_prompt.set()
        self.server.stop()
        self.thread.join()
        _leave(str(self.house.home), self.endpoint)
        self.server.finish(20)


@pytest.fixture
def desk(house: House, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    made = Desk(house, monkeypatch)
    yield made
    made.close()


def is_finished(desk: Desk, *answered: str) -> Callable[[], bool]:
    return lambda: set(answered) <= set(desk.answered) and not desk.server._worker.waiting


def test_late_brief_comes_with_the_next_prompt_once(desk: Desk) -> None:
    house = desk.house
    assert house.start("s-1", **HURRY) == Said(0, "", "")
    desk.may_start.set()
    assert until(is_finished(desk, "start s-1"))
    assert house.prompt("quiet", "s-2").text == ""
    assert house.prompt("quiet", "s-1").text == f"{BRIEF} (startup)"
    assert house.prompt("quiet", "s-1").text == ""


def test_late_brief_stands_before_the_brief_of_the_prompt(desk: Desk) -> None:
    house = desk.house
    house.call("start", house.started("s-1", "compact"), **HURRY)
    desk.may_start.set()
    assert until(is_finished(desk, "start s-1"))
    assert house.prompt("own brief", "s-1").text == f"{BRIEF} (compact)\n\nown brief"


def test_prompt_waits_for_a_brief_that_is_still_being_made(desk: Desk) -> None:
    house = desk.house
    house.start("s-1", **HURRY)
    threading.Timer(0.5, desk.may_start.set).start()
    assert house.prompt("quiet", "s-1").text == f"{BRIEF} (startup)"
    assert house.prompt("quiet", "s-1").text == ""


def test_brief_in_time_is_not_repeated(desk: Desk) -> None:
    desk.may_start.set()
    assert desk.house.start("s-1").text == f"{BRIEF} (startup)"
    assert desk.house.prompt("quiet", "s-1").text == ""
    assert not list((desk.house.home / "run" / "missed").iterdir())


def test_brief_for_an_agent_that_did_not_wait_comes_with_the_next_prompt(desk: Desk) -> None:
    house = desk.house
    process = house.send("start", house.started("s-1"))
    assert until(lambda: desk.server._worker.waiting)
    process.kill()
    process.communicate()
    assert until(lambda: read_counts(str(house.home)))
    desk.may_start.set()
    assert until(is_finished(desk, "start s-1"))
    assert house.prompt("quiet", "s-1").text == f"{BRIEF} (startup)"
    found = read_counts(str(house.home))
    assert [(one.event, one.late, one.missed, one.reason) for one in found] == [
        ("start", 0, 1, "the agent did not wait")
    ]


def test_brief_that_could_not_be_made_is_made_for_the_next_prompt(desk: Desk) -> None:
    house = desk.house
    desk.may_start.set()
    desk.fails = True
    assert house.start("s-1") == Said(0, "", "")
    desk.fails = False
    assert house.prompt("quiet", "s-1").text == f"{BRIEF} (startup)"
    assert house.prompt("quiet", "s-1").text == ""


def test_brief_older_than_a_day_is_dropped(tmp_path: Path) -> None:
    home, key = str(tmp_path), make_key("claude-code", "s-1")
    put_missed(home, key, READY, text=BRIEF)
    path = tmp_path / "run" / "missed" / key
    kept = json.loads(path.read_text())
    path.write_text(json.dumps(kept | {"at": time.time() - 90_000}))
    assert take_missed(home, key, 0.0) is None
    assert not path.exists()


def test_forgetting_removes_kept_briefs(tmp_path: Path) -> None:
    put_missed(str(tmp_path), "s1", READY, text=BRIEF)
    clear_missed(str(tmp_path))
    assert (tmp_path / "run" / "missed" / "s1").exists()
    remove_traces(str(tmp_path))
    assert not (tmp_path / "run" / "missed" / "s1").exists()


def test_late_command_says_that_it_is_not_saved_yet_and_what_became_of_it(desk: Desk) -> None:
    house = desk.house
    desk.may_prompt.clear()
    assert calls._NOT_SAVED in house.prompt("/mem:lock Run the tests", "s-1", **HURRY).text
    assert house.prompt("We use pnpm", "s-1", **HURRY) == Said(0, "", "")
    desk.may_prompt.set()
    assert until(lambda: desk.answered.count("prompt s-1") == 2 and not desk.server._worker.waiting)
    assert house.prompt("quiet", "s-1").text == "/mem:lock Run the tests"
    found = read_counts(str(house.home))
    assert [(one.agent, one.event, one.late, one.reason) for one in found] == [
        ("claude-code", "prompt", 2, "no answer within the limit")
    ]


def test_failure_is_counted_without_its_message(desk: Desk) -> None:
    desk.fails = True
    assert desk.house.prompt("We use pnpm") == Said(0, "", "")
    assert "Not saved" in desk.house.prompt("/mem:lock Run the tests").text
    found = read_counts(str(desk.house.home))
    assert [(one.failed, one.reason) for one in found] == [(2, "RuntimeError")]
    assert "k-secret" not in (desk.house.home / "run" / "counts.json").read_text()


def test_prompts_do_not_wait_for_starts(desk: Desk) -> None:
    house = desk.house
    process = house.send("start", house.started("s-1"))
    assert until(lambda: desk.server._worker.waiting)
    assert house.prompt("own brief", "s-2").text == "own brief"
    desk.may_start.set()
    process.communicate()


def test_end_of_a_session_does_not_wait(desk: Desk) -> None:
    desk.may_prompt.clear()
    payload = {"session_id": "s-1", "cwd": "/", "hook_event_name": "SessionEnd", "prompt": ""}
    assert desk.house.call("end", payload) == Said(0, "", "")
    assert desk.server._worker.waiting == 1
    desk.may_prompt.set()
    assert until(is_finished(desk, "end s-1"))


def test_on_windows_a_port_and_a_token_take_the_place_of_the_socket(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(house, monkeypatch, tcp=True)
    try:
        path = house.home / "run" / "service.port"
        assert path.stat().st_mode & 0o777 == 0o600
        code = (
            f"import sys;sys.platform='win32';sys.argv[1:]=['claude-code','prompt',*{folders()!r}];"
            f"__file__={CLIENT!r};exec(compile(open({CLIENT!r}).read(),{CLIENT!r},'exec'))"
        )

        def ask() -> Said:
            process = subprocess.Popen(
                [PYTHON, "-I", "-S", "-c", code], env=house.environ | {"TOLD_BACKGROUND": "off"},
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
            return end(process, json.dumps(house.typed("own brief")).encode())

        assert ask().text == "own brief"
        port, token = path.read_text().split()
        for wrong in (b"", b"x" * len(token)):
            with socket.create_connection(("127.0.0.1", int(port))) as connection:
                head = b"\0".join([b"claude-code", b"prompt", wrong, b"0", b"/"])
                connection.sendall(b"told1 hook %d 2\n%s{}" % (len(head), head))
                assert connection.recv(100) == b""
    finally:
        desk.close()
    assert not path.exists()
