"""Choosing the service: what stands in an agent's file, and what happens while the service is away."""

from __future__ import annotations

import json
import os
import signal
import socket
from typing import TYPE_CHECKING

from tests.cli.machine import ago
from tests.hook.desk import ASKED, TAUGHT, begun, typed
from tests.serve.house import House, is_running, until

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

SETTINGS = ".claude/settings.json"
BEFORE = '{\n  // mine\n  "model": "opus",\n}\n'
EVENTS = ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd", "SubagentStart")


def _install(house: House, *more: str) -> None:
    done = house.child("install", "--agent", "claude-code", "--yes", *more)
    assert done.code == 0, done.err


def _hooks(path: Path) -> dict[str, Any]:
    lines = [line for line in path.read_text().splitlines() if not line.lstrip().startswith("//")]
    found = json.loads("\n".join(lines).replace(",\n}", "\n}"))["hooks"]
    return {event: found[event][0]["hooks"][0] for event in EVENTS}


def test_only_the_prompt_is_asked_over_the_network(house: House) -> None:
    settings = house.write(SETTINGS, "{}\n")
    _install(house, "--service")
    hooks = _hooks(settings)
    assert {event for event, hook in hooks.items() if hook["type"] == "http"} == {"UserPromptSubmit"}
    asked = hooks["UserPromptSubmit"]
    assert asked["url"] == f"http://127.0.0.1:{house.port}/told.hook/claude-code/prompt"
    assert asked["headers"] == {"Authorization": f"Bearer {house.token}"}
    assert house.post(typed(house, TAUGHT), **_as_headers(asked)).code in (200, 204)
    assert house.child("status", "--json").json["agents"][0]["works"] is True
    assert not house.child("status").out.count("->")


def _as_headers(hook: dict[str, Any]) -> dict[str, Any]:
    return {name.lower(): value for name, value in hook["headers"].items()}


def test_install_again_changes_nothing_and_keeps_it_running(house: House) -> None:
    settings = house.write(SETTINGS, BEFORE)
    _install(house, "--service")
    pid, written = house.pid, settings.read_bytes()
    _install(house, "--service")
    assert (house.pid, settings.read_bytes()) == (pid, written)


def test_uninstall_gives_back_the_bytes_and_ends_the_service(house: House) -> None:
    settings = house.write(SETTINGS, BEFORE)
    _install(house, "--service")
    pid = house.pid
    done = house.child("uninstall", "--yes")
    assert done.code == 0, done.err
    assert settings.read_text() == BEFORE
    assert not is_running(pid)
    assert house.own_files() == set()


def test_purge_ends_it_as_well(house: House) -> None:
    house.write(SETTINGS, BEFORE)
    _install(house, "--service")
    pid = house.pid
    assert house.child("uninstall", "--purge", "--yes").code == 0
    assert not is_running(pid)
    assert not house.told_home.exists()


def test_install_without_it_puts_the_command_back(house: House) -> None:
    settings = house.write(SETTINGS, "{}\n")
    _install(house, "--service")
    pid = house.pid
    _install(house)
    assert {hook["type"] for hook in _hooks(settings).values()} == {"command"}
    assert not is_running(pid)
    assert house.own_files() == set()


def test_other_agents_do_not_matter_to_it(house: House) -> None:
    house.write(SETTINGS, "{}\n")
    house.folder(".codex")
    _install(house, "--service")
    pid = house.pid
    assert house.child("install", "--agent", "codex", "--yes").code == 0
    assert house.child("uninstall", "--agent", "codex", "--yes").code == 0
    assert house.pid == pid


def test_where_no_agent_can_ask_it_it_is_not_started(house: House) -> None:
    house.folder(".codex")
    done = house.child("install", "--agent", "codex", "--yes", "--service")
    assert done.code == 0
    assert "None of these agents can ask the service, so it was not started." in done.out
    assert house.own_files() == set()


def test_a_dry_run_chooses_nothing_and_shows_no_token(house: House) -> None:
    house.write(SETTINGS, "{}\n")
    done = house.child("install", "--agent", "claude-code", "--service", "--dry-run")
    assert '"Authorization": "Bearer …"' in done.out
    assert house.own_files() == set()
    _install(house, "--service")
    _install(house)
    _install(house, "--service")
    done = house.child("install", "--agent", "claude-code", "--dry-run", "--service")
    assert house.token not in done.out


def test_a_port_that_was_taken_meanwhile_is_replaced(house: House) -> None:
    settings = house.write(SETTINGS, "{}\n")
    _install(house, "--service")
    taken = house.port
    assert house.child("service", "stop").code == 0
    with socket.create_server(("127.0.0.1", taken)):
        _install(house, "--service")
        assert house.port != taken
        assert f":{house.port}/" in _hooks(settings)["UserPromptSubmit"]["url"]
        assert house.pid > 0


def test_a_session_that_starts_finds_it_running_again(house: House) -> None:
    house.write(SETTINGS, "{}\n")
    _install(house, "--service")
    os.kill(house.pid, signal.SIGKILL)
    started = house.call("claude-code", "start", begun(house), TOLD_BACKGROUND="on")
    assert (started.code, started.err) == (0, "")
    until(lambda: house.pid)
    until(lambda: house.post(typed(house, TAUGHT)).code == 204 and "pnpm" in house.operations())


def test_only_the_agent_whose_hooks_ask_it_starts_it(house: House) -> None:
    house.choose()
    for agent, environ in (("codex", "on"), ("claude-code", "off")):
        house.call(agent, "start", begun(house, agent), TOLD_BACKGROUND=environ)
        assert house.own_files() == {"service.json", "service.token"}


def test_what_was_said_while_it_was_away_is_learned_when_the_agent_stops(house: House) -> None:
    house.choose()  # it does not run: Claude Code goes on without an answer
    cwd = house.project
    session = house.claude((TAUGHT, "All right, pnpm it is."), cwd=cwd, at=ago(minutes=1))
    [transcript] = (house.home / ".claude" / "projects").rglob(f"{session}.jsonl")
    stop = house.payload("claude-code", "Stop", session_id=session, transcript_path=str(transcript), cwd=cwd)
    assert house.call("claude-code", "stop", stop).is_silent
    assert house.texts() == ["We use pnpm here, never npm."]


def test_what_it_heard_is_not_learned_again_when_the_agent_stops(served: House) -> None:
    cwd = served.project
    session = served.claude((TAUGHT, "All right, pnpm it is."), cwd=cwd, at=ago(minutes=1))
    served.say(TAUGHT, session)
    [transcript] = (served.home / ".claude" / "projects").rglob(f"{session}.jsonl")
    stop = served.payload("claude-code", "Stop", session_id=session, transcript_path=str(transcript), cwd=cwd)
    assert served.call("claude-code", "stop", stop).is_silent
    assert served.texts() == ["We use pnpm here, never npm."]
    assert "pnpm" in served.say(ASKED, "second")
