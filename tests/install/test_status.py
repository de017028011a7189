"""`told status`: what is wired into each agent, whether it works, and what to do."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests import forked
from tests.install.wired_machine import launch_with, project
from told.install.place import launch
from told.service.state import count_problem

if TYPE_CHECKING:
    from tests.cli.machine import Machine

STARTED = launch()


@pytest.fixture(autouse=True)
def _alone(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.environ["PATH"] = str(machine.home / "bin")
    launch_with(monkeypatch, STARTED)


def row(machine: Machine, agent: str) -> dict[str, Any]:
    rows = machine.told("status", "--json").json["agents"]
    (found,) = [one for one in rows if one["agent"] == agent]
    return dict(found)


def test_what_works(machine: Machine) -> None:
    machine.told("install", "--agent", "claude")
    answer = machine.told("status")
    assert answer.code == 0
    first, second, *_ = answer.out.splitlines()
    assert first.startswith("Claude Code: works, its hook took ")
    assert second == "  all projects: 6 hooks (since 1.0.62), MCP server, instructions, 10 commands"
    found = row(machine, "claude-code")
    assert (found["wired"], found["works"], found["todo"]) == (True, True, [])
    assert found["hook_ms"] > 0


def test_what_is_found_and_not_wired_says_how_to_wire_it(machine: Machine) -> None:
    machine.folder(".cursor")
    lines = machine.told("status").out.splitlines()
    assert lines[:2] == ["Cursor: not connected. Run `told install --agent cursor`.", ""]


def test_where_there_is_no_agent_that_is_said(machine: Machine) -> None:
    answer = machine.told("status")
    assert answer.code == 0
    assert answer.out.startswith("No agent was found on this machine.")


def test_an_agent_that_is_too_old_for_hooks_is_said_to_be(machine: Machine) -> None:
    program = machine.write("bin/codex", "#!/bin/sh\necho codex-cli 0.98.0\n")
    program.chmod(0o755)
    machine.told("install")
    assert machine.told("status").out.splitlines()[:3] == [
        "Codex 0.98.0: connected, but too old for hooks",
        "  all projects: MCP server, instructions",
        (
            "  -> Codex 0.98.0 is too old for hooks; 0.124.0 or later has them."
            " Update it, or told works through MCP and instructions only."
        ),
    ]
    assert row(machine, "codex")["needs"] == [{"what": "hooks", "version": "0.124.0", "met": False}]
    program.write_text("#!/bin/sh\necho codex-cli 0.124.0\n")
    assert machine.told("status").out.startswith("Codex 0.124.0: connected, and waits for you\n")


def test_latency_late_and_missed_hooks_are_shown(machine: Machine) -> None:
    machine.told("install", "--agent", "claude")
    assert "Hooks: no calls this week; 0 late, 0 missed." in machine.told("status").out
    call = json.dumps({"session_id": "s1", "prompt": "Hello there", "cwd": str(machine.home)})
    environ = machine.environ | {"TOLD_HOOK_SECONDS": "100"}
    for agent, event in (("claude-code", "prompt"), ("codex", "start"), ("claude-code", "stop")):
        assert forked.run(STARTED.words(agent, event), environ, machine.home, call.encode()).code == 0
    count_problem(str(machine.told_home), "codex", "prompt", "late", "slow")
    found = machine.told("status", "--json").json
    assert found["hook_calls"] == 2, "nobody waits for the end of a turn, nor for what `told status` tries"
    assert 0 < found["hook_p50_ms"] <= found["hook_p95_ms"]
    assert (found["late"], found["missed"]) == (1, 0)
    assert "(last 2 calls); 1 late, 0 missed." in machine.told("status").out


def test_a_hook_that_somebody_took_out_is_missed(machine: Machine) -> None:
    machine.told("install", "--agent", "claude")
    path = machine.home / ".claude" / "settings.json"
    settings = json.loads(path.read_text())
    del settings["hooks"]["Stop"]
    path.write_text(json.dumps(settings))
    answer = machine.told("status").out
    assert "Claude Code: partly connected" in answer
    assert "all projects: 5 hooks" in answer
    assert "`told install --agent claude` writes what is missing or old." in answer
    machine.told("install", "--agent", "claude")
    assert "Claude Code: works" in machine.told("status").out


def test_a_told_that_moved_is_noticed(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    launch_with(monkeypatch, replace(STARTED, interpreter="/opt/old/python3"))
    machine.told("install", "--agent", "claude")
    launch_with(monkeypatch, STARTED)
    assert "writes what is missing or old" in machine.told("status").out
    machine.told("install", "--agent", "claude")
    assert "Claude Code: works" in machine.told("status").out


def test_an_interpreter_that_is_gone_is_noticed(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    launch_with(monkeypatch, replace(STARTED, interpreter="/opt/gone/python3"))
    machine.told("install", "--agent", "claude")
    answer = machine.told("status").out
    assert "Claude Code: connected, but the hook fails" in answer
    assert "told's hook cannot be loaded (/opt/gone/python3 does not start)" in answer
    assert row(machine, "claude-code")["works"] is False


def test_a_hook_that_cannot_be_loaded_is_noticed_though_it_is_silent(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    launch_with(monkeypatch, replace(STARTED, client="/nowhere/told/hook/client.py"))
    machine.told("install", "--agent", "claude")
    assert "cannot be loaded" in machine.told("status").out


def test_a_malformed_file_is_named_with_its_line(machine: Machine) -> None:
    machine.told("install", "--agent", "claude")
    path = machine.write(".claude/settings.json", '{\n  "hooks": {,}\n}\n')
    answer = machine.told("status")
    assert answer.code == 0
    assert f"{path} is not valid at line 2" in " ".join(answer.out.split())


def test_codex_waits_for_the_user_until_every_hook_is_approved(machine: Machine) -> None:
    machine.told("install", "--agent", "codex")
    answer = machine.told("status").out
    assert "Codex: connected, and waits for you" in answer
    assert "approve told's hooks" in answer
    hooks = machine.home / ".codex" / "hooks.json"
    events = ("session_start", "user_prompt_submit", "pre_compact", "stop", "session_end", "subagent_start")

    def approved(*names: str) -> str:
        return "".join(
            f'[hooks.state."{hooks}:{event}:0:0"]\ntrusted_hash = "sha256:00"\n' for event in names
        )

    wired = (machine.home / ".codex" / "config.toml").read_text()
    machine.write(".codex/config.toml", wired + approved(*events[:3]))
    assert "waits for you" in machine.told("status").out
    machine.write(".codex/config.toml", wired + approved(*events))
    assert "Codex: works" in machine.told("status").out


def test_told_never_approves_its_own_hooks(machine: Machine) -> None:
    machine.write(".codex/config.toml", 'model = "gpt"\n')
    machine.told("install", "--agent", "codex")
    assert "trusted_hash" not in (machine.home / ".codex" / "config.toml").read_text()


def test_the_guard_is_seen(machine: Machine) -> None:
    machine.told("install", "--agent", "claude")
    assert "Guard: off" in machine.told("status").out
    machine.told("install", "--agent", "claude", "--profile", "full")
    assert "Guard: on" in machine.told("status").out
    machine.config('guard = "off"\n')
    assert "Guard: off, as config.toml has it" in machine.told("status").out


@pytest.mark.parametrize("agent", ["copilot-cli", "opencode"])
def test_the_guard_is_seen_where_hooks_are_a_file_of_their_own(machine: Machine, agent: str) -> None:
    machine.told("install", "--agent", agent, "--profile", "full")
    assert machine.told("status", "--json").json["guard"] == "ask"
    assert row(machine, agent)["works"] is True


def test_the_project_of_the_current_folder_is_looked_at(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = project(machine)
    monkeypatch.chdir(shop)
    machine.told("install", "--agent", "claude", "--scope", "project")
    assert "  this project: 6 hooks" in machine.told("status").out
    monkeypatch.chdir(machine.home)
    assert "this project" not in machine.told("status").out


def test_hooks_that_run_twice_are_noticed(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project(machine))
    machine.told("install", "--agent", "codex", "--scope", "project")
    assert "run twice" not in machine.told("status").out
    machine.told("install", "--agent", "codex")
    assert "Its hooks run twice here" in machine.told("status").out
    machine.told("uninstall", "--agent", "codex", "--scope", "project")
    assert "run twice" not in machine.told("status").out


def test_what_the_user_changed_is_not_a_fault(machine: Machine) -> None:
    machine.told("install", "--agent", "claude")
    notes = machine.home / ".claude" / "CLAUDE.md"
    notes.write_text(notes.read_text().replace("keep to them", "weigh them"))
    answer = machine.told("status").out
    assert "Claude Code: works" in answer
    assert "  ~/.claude/CLAUDE.md: as you changed it" in answer


def test_an_agent_without_hooks_says_what_it_cannot_do(machine: Machine) -> None:
    machine.told("install", "--agent", "cline")
    answer = machine.told("status").out
    assert answer.splitlines()[0] == "Cline: connected, without hooks"
    assert "asks told because its rules say so" in " ".join(answer.split())


def test_a_paragraph_that_another_agent_needed_does_not_make_this_one_wired(machine: Machine) -> None:
    machine.folder(".gemini/antigravity")
    machine.told("install", "--agent", "gemini")
    assert row(machine, "antigravity")["wired"] is False


def test_what_is_wired_without_a_ledger_is_still_seen(machine: Machine) -> None:
    machine.told("install", "--agent", "claude")
    (machine.told_home / "installed.json").unlink()
    assert "Claude Code: works" in machine.told("status").out


def test_a_mistyped_agent(machine: Machine) -> None:
    answer = machine.told("status", "--agent", "cluade")
    assert (answer.code, answer.out) == (2, "")


def test_ping_works_without_a_service(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = machine.told("ping")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("told answered a hook in ")
    found = machine.told("ping", "--json")
    assert (found.code, found.json["running"], found.json["answers"]) == (0, False, True)
    launch_with(monkeypatch, replace(STARTED, interpreter="/opt/gone/python3"))
    answer = machine.told("ping")
    assert (answer.code, answer.out) == (4, "")
    assert answer.err.startswith("told: told cannot answer a hook: it does not start")
    assert machine.told("ping", "--json").code == 4
