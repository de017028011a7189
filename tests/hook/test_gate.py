"""With the full profile: a reminder after some tool calls, and a gate that asks for a checkpoint."""

from __future__ import annotations

import os
import re
import stat
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING

import pytest

from tests.hook.desk import Desk, begun, said_to_model, typed
from tests.hook.tool_calls import (
    EDITS,
    EVENT_NAMES,
    LOOKS,
    OWN_TOOLS,
    SHELLS,
    TOOL_AGENTS,
    reason,
    run,
    tool_call,
)
from told.agents import wired_agents
from told.agents.wiring import Launch, Place
from told.checkpoints.counter import count_call, count_denial, reset_count
from told.hook.tool import is_own_tool
from told.text import count_tokens

if TYPE_CHECKING:
    from pathlib import Path

_ASK = 'guard = "off"\n[checkpoint]\nremind_after = 2\ngate = "ask"\n'
_REMIND = 'guard = "off"\n[checkpoint]\nremind_after = 3\n'


def _asking(desk: Desk, config: str = _ASK) -> Desk:
    desk.config(config)
    assert desk.told("index").code == 0  # there is a store
    return desk


def _denied(desk: Desk, times: int, **more: str) -> list[bool]:
    return [bool(reason(run(desk, **more))) for _ in range(times)]


def _counts(desk: Desk) -> list[Path]:
    return sorted((desk.told_home / "counts").glob("*"))


# The reminder


def test_by_default_the_fifth_call_is_reminded_and_every_fifth_after_it_and_none_is_denied(
    desk: Desk,
) -> None:
    answers = [run(desk) for _ in range(15)]
    assert [bool(answer) for answer in answers] == ([False] * 4 + [True]) * 3
    assert not any(map(reason, answers))


def test_the_reminder_is_one_short_line_that_says_what_to_do(desk: Desk) -> None:
    desk.config("[checkpoint]\nremind_after = 1\n")
    for _ in range(12):
        text = said_to_model(run(desk))
    assert "12 tool calls" in text
    assert "`checkpoint`" in text
    assert "`told checkpoint" in text
    assert "\n" not in text
    assert count_tokens(text) <= 40


@pytest.mark.parametrize("agent", TOOL_AGENTS)
def test_a_reminder_has_the_form_of_the_agent_and_decides_nothing(desk: Desk, agent: str) -> None:
    desk.config(_REMIND)
    answers = [run(desk, agent=agent) for _ in range(3)]
    assert answers[:2] == [{}, {}]
    text = said_to_model(answers[2])
    assert "checkpoint" in text
    if agent in ("copilot-cli", "opencode"):
        assert answers[2] == {"additionalContext": text}
    elif agent == "cursor":  # an `allow` would be a yes in the user's place
        assert answers[2] == {"additional_context": text}
    else:
        name = EVENT_NAMES.get(agent, "PreToolUse")
        assert answers[2] == {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}


@pytest.mark.parametrize("agent", TOOL_AGENTS)
def test_edits_and_commands_count_and_looking_does_not(desk: Desk, agent: str) -> None:
    desk.config(_REMIND)
    edit = tool_call(desk, *EDITS[agent], agent)
    assert desk.ask(agent, "tool", edit) == {}
    if agent in LOOKS:
        look = tool_call(desk, *LOOKS[agent], agent)
        assert [desk.ask(agent, "tool", look) for _ in range(5)] == [{}] * 5
    assert run(desk, agent=agent) == {}
    assert "3 tool calls" in said_to_model(desk.ask(agent, "tool", edit))


def test_with_0_there_is_neither_a_reminder_nor_a_gate(desk: Desk) -> None:
    _asking(desk, _ASK.replace("remind_after = 2", "remind_after = 0"))
    assert [run(desk) for _ in range(20)] == [{}] * 20
    assert _counts(desk) == []


def test_sessions_are_counted_apart_and_agents_too(desk: Desk) -> None:
    desk.config(_REMIND)
    assert [bool(run(desk, session=f"s-{number % 2}")) for number in range(6)] == [False] * 4 + [True] * 2
    assert run(desk, agent="codex", session="s-0") == {}


def test_a_locked_rule_comes_first_and_its_call_is_not_counted(desk: Desk) -> None:
    _asking(desk, _ASK.replace("off", "deny"))
    assert desk.told("remember", "--lock", "--scope", "global", "Never run `git push --force`.").code == 0
    for _ in range(4):
        assert "A rule you locked" in reason(run(desk, "git push --force"))
    assert _denied(desk, 3) == [False, False, True]


# The gate


@pytest.mark.parametrize("agent", TOOL_AGENTS)
def test_when_it_asks_a_call_is_denied_with_a_reason_that_reaches_the_model(desk: Desk, agent: str) -> None:
    _asking(desk)
    assert _denied(desk, 2, agent=agent) == [False, False]
    answer = run(desk, agent=agent)
    said = reason(answer)
    assert "MCP tool `checkpoint`" in said
    assert '`told checkpoint --goal "…" --done "…" --pending "…"`' in said
    if agent in ("claude-code", "codex", "qwen-code", "qoder"):
        assert answer["hookSpecificOutput"]["hookEventName"] == "PreToolUse"


def test_as_installed_a_denial_is_json_on_stdout_with_exit_code_0(desk: Desk) -> None:
    _asking(desk)
    _denied(desk, 2)
    said = desk.call("claude-code", "tool", tool_call(desk, "Bash", {"command": "ls"}))
    assert (said.code, said.err) == (0, "")
    assert "told asks for a checkpoint" in reason(said.json)


def test_after_three_denials_it_stays_open_until_there_is_a_checkpoint(desk: Desk) -> None:
    _asking(desk)
    assert _denied(desk, 30) == [False] * 2 + [True] * 3 + [False] * 25
    desk.environ |= {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s-1"}  # as in the agent's own shell
    done = desk.told("checkpoint", "--goal", "Ship the export")
    assert done.code == 0, done
    assert _denied(desk, 8) == [False] * 2 + [True] * 3 + [False] * 3


def test_while_it_is_open_the_reminder_goes_on(desk: Desk) -> None:
    _asking(desk)
    _denied(desk, 5)
    said = [said_to_model(run(desk)) for _ in range(6)]
    assert [bool(one) for one in said] == [False, True] * 3
    assert said[1].startswith("told: 4 tool calls")  # those that were denied were none


def test_a_checkpoint_lets_the_next_calls_pass(desk: Desk) -> None:
    _asking(desk)
    for _ in range(4):
        assert _denied(desk, 2) == [False, False]
        assert "2 tool calls without one" in reason(run(desk))
        assert "2 tool calls without one" in reason(run(desk))
        reset_count(str(desk.told_home), "claude-code", "s-1")
    assert _denied(desk, 3) == [False, False, True]


def test_even_where_it_asks_after_every_call_one_passes_for_each_checkpoint(desk: Desk) -> None:
    _asking(desk, _ASK.replace("remind_after = 2", "remind_after = 1"))
    for _ in range(5):
        assert _denied(desk, 2) == [False, True]
        reset_count(str(desk.told_home), "claude-code", "s-1")


def test_the_end_of_a_session_leaves_no_count(desk: Desk) -> None:
    _asking(desk)
    run(desk)
    assert len(_counts(desk)) == 1
    desk.ask("claude-code", "end", desk.payload("claude-code", "SessionEnd-other", session_id="s-1"))
    assert _counts(desk) == []


# What always passes


@pytest.mark.parametrize("name", OWN_TOOLS)
def test_its_own_tools_pass_in_every_spelling_and_are_not_counted(desk: Desk, name: str) -> None:
    _asking(desk)
    given = {"goal": "x", "command": "make", "file_path": "/x/a.py"}
    assert [desk.ask("claude-code", "tool", tool_call(desk, name, given)) for _ in range(9)] == [{}] * 9
    assert _denied(desk, 3) == [False, False, True]
    assert desk.ask("claude-code", "tool", tool_call(desk, name, given)) == {}


def test_tools_that_are_only_called_a_little_like_its_own_are_not_its_own() -> None:
    for name in ("Bash", "untold_write", "mcp__memo__told", "write_told", "retold", "mcp__toldyou__x", ""):
        assert not is_own_tool(name)


@pytest.mark.parametrize(
    "command",
    [
        "told checkpoint",
        'told checkpoint --goal "Ship it" --done "the export"',
        "cd app && told checkpoint --goal x",
        "/home/dev/.local/bin/told checkpoint --goal x",
        "TOLD_HOME=/srv/told told checkpoint --goal x",
        "sh -lc 'told checkpoint --goal x'",
        "python3 -m told checkpoint --goal x",
        "uvx told checkpoint --goal x",
        "uv run told checkpoint --goal x",
        'told checkpoint --stdin <<\'END\'\n{"goal": "x"}\nEND',
        "echo '{}' | told checkpoint --stdin",
        "told search export",
    ],
)
def test_a_command_that_runs_told_passes_and_is_not_counted(desk: Desk, command: str) -> None:
    _asking(desk)
    assert [run(desk, command) for _ in range(6)] == [{}] * 6
    assert _denied(desk, 3) == [False, False, True]
    assert run(desk, command) == {}


@pytest.mark.parametrize(
    "command",
    [
        'echo "told checkpoint"',
        "git commit -m 'told checkpoint'",
        "grep -rn mcp__told__checkpoint src",
        "cat > notes.md <<END\ntold checkpoint --goal x\nEND",
        "ls told",
        "which told",
        "untold checkpoint",
        "python3 -m retold checkpoint",
        "echo mcp__told__checkpoint ocm__checkpoint",
    ],
)
def test_a_command_that_only_mentions_it_is_no_way_through(desk: Desk, command: str) -> None:
    _asking(desk)
    assert [bool(reason(run(desk, command))) for _ in range(3)] == [False, False, True]


@pytest.mark.parametrize("agent", TOOL_AGENTS)
def test_a_checkpoint_through_the_shell_of_any_agent_passes(desk: Desk, agent: str) -> None:
    _asking(desk)
    assert _denied(desk, 3, agent=agent)[2]
    assert run(desk, "told checkpoint --goal x --done y", agent) == {}


def test_helpers_are_neither_counted_nor_stopped(desk: Desk) -> None:
    _asking(desk)
    payload = tool_call(desk, "Bash", {"command": "ls"}) | {"agent_id": "a106be", "agent_type": "Explore"}
    assert [desk.ask("claude-code", "tool", payload) for _ in range(9)] == [{}] * 9
    assert _denied(desk, 3) == [False, False, True]
    assert desk.ask("claude-code", "tool", payload) == {}


def test_without_a_session_nothing_is_counted(desk: Desk) -> None:
    _asking(desk)
    payload = tool_call(desk, "Bash", {"command": "ls"}, session="")
    assert [desk.ask("claude-code", "tool", payload) for _ in range(9)] == [{}] * 9
    assert _counts(desk) == []


# When told cannot work


def test_the_sixth_call_is_not_denied_where_nothing_was_set_up(desk: Desk) -> None:
    assert not any(_denied(desk, 12))


def test_it_is_open_where_no_checkpoint_could_be_kept(desk: Desk) -> None:
    desk.config(_ASK)  # and no store
    assert not any(_denied(desk, 12))


def test_it_is_open_where_the_settings_are_broken(desk: Desk) -> None:
    _asking(desk)
    _denied(desk, 3)
    desk.config(_ASK + "nonsense = 1\n")
    assert not any(_denied(desk, 12))


@pytest.mark.parametrize("damage", ["folder", "file", "link", "pipe", "noise", "zeros", "huge", "home"])
def test_it_is_open_where_the_count_cannot_be_kept(desk: Desk, damage: str) -> None:
    _asking(desk)
    assert _denied(desk, 3)[2]
    (counter,) = _counts(desk)
    match damage:
        case "folder":
            counter.unlink()
            counter.mkdir()
        case "file":
            counter.unlink()
            counter.parent.rmdir()
            counter.parent.write_text("")
        case "link":
            counter.unlink()
            counter.symlink_to(desk.home / "elsewhere")
        case "pipe":
            counter.unlink()
            os.mkfifo(counter)
        case "noise":
            counter.write_bytes(b"....!not what was written")
        case "zeros":
            counter.write_bytes(bytes(40))
        case "huge":
            counter.write_bytes(b"." * 200_000)
        case "home":
            desk.told_home.rename(desk.told_home.with_name("away"))
    assert run(desk) == {}
    assert _denied(desk, 1) == [False]
    assert not (desk.home / "elsewhere").exists()


def test_a_denial_that_cannot_be_noted_is_none(desk: Desk) -> None:
    _asking(desk)
    _denied(desk, 2)
    (counter,) = _counts(desk)
    counter.write_bytes(b"." * 65_535)  # one more call is counted, and nothing behind it
    assert not any(_denied(desk, 5))


# How it counts


def test_calls_at_the_same_time_have_each_a_number_of_their_own(tmp_path: Path) -> None:
    home = str(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        calls = list(pool.map(lambda _: count_call(home, "codex", "s").calls, range(200)))
        denials = list(pool.map(lambda _: count_denial(home, "codex", "s"), range(40)))
    assert sorted(calls) == list(range(1, 201))
    assert sorted(denials) == list(range(1, 41))


def test_the_first_calls_of_all_may_come_at_the_same_time(tmp_path: Path) -> None:
    at_once = Barrier(8)

    def first(home: str) -> int:
        at_once.wait()
        return count_call(home, "codex", "s").calls

    with ThreadPoolExecutor(8) as pool:
        for attempt in range(100):
            home = tmp_path / str(attempt)
            home.mkdir()
            assert sorted(pool.map(first, [str(home)] * 8)) == list(range(1, 9))


def test_calls_at_the_same_time_are_denied_three_times_in_all(desk: Desk) -> None:
    _asking(desk)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: run(desk), range(24)))
    assert sum(1 for answer in answers if reason(answer)) == 3


def test_the_count_says_nothing_about_the_session_and_only_the_user_can_read_it(desk: Desk) -> None:
    desk.config(_REMIND)
    run(desk, "echo sk-live-secret", session="acme-secret-session")
    (counter,) = _counts(desk)
    assert stat.S_IMODE(counter.stat().st_mode) == 0o600
    assert stat.S_IMODE(counter.parent.stat().st_mode) == 0o700
    assert counter.read_bytes() == b"."
    assert "acme" not in counter.name


def test_counts_of_sessions_that_ended_long_ago_go_at_the_next_start(desk: Desk) -> None:
    desk.config(_REMIND)
    for session in ("old", "new"):
        run(desk, session=session)
    old = _counts(desk)[0]
    os.utime(old, (1, 1))
    desk.ask("claude-code", "start", begun(desk))
    assert old not in _counts(desk)
    assert len(_counts(desk)) == 1


def test_purge_takes_the_counts_along(desk: Desk) -> None:
    run(desk)
    assert _counts(desk)
    assert desk.told("uninstall", "--purge", "--yes").code == 0
    assert not desk.told_home.exists()


# Who sets it


def test_a_project_cannot_turn_the_gate_on(desk: Desk) -> None:
    _asking(desk, 'guard = "off"\n')
    folder = os.path.join(desk.project, ".told")
    os.mkdir(folder)
    with open(os.path.join(folder, "config.toml"), "w") as file:
        file.write('[checkpoint]\nremind_after = 1\ngate = "ask"\n')
    assert [bool(run(desk)) for _ in range(6)] == [False] * 4 + [True, False]


def test_an_agent_cannot_turn_the_gate_off(desk: Desk) -> None:
    _asking(desk)
    desk.environ["CLAUDECODE"] = "1"
    assert desk.told("config", "set", "checkpoint.gate", "off").code != 0
    assert _denied(desk, 3) == [False, False, True]


@pytest.mark.parametrize("agent", TOOL_AGENTS)
def test_only_the_full_profile_has_a_hook_before_tool_calls(agent: str) -> None:
    mark = "tool.execute" if agent == "opencode" else EVENT_NAMES.get(agent, "PreToolUse")
    assert mark not in _wiring(agent, "minimal")
    assert "reminders" not in _wiring(agent, "minimal")
    assert mark in _wiring(agent, "full")


def _wiring(agent: str, profile: str) -> str:
    wire = wired_agents()[agent].wire
    assert wire is not None
    return str(
        wire(Place("/home/dev", "/home/dev/code", {}, Launch("/usr/bin/python3", "pass"), profile=profile))
    )


def test_a_prompt_counts_nothing(desk: Desk) -> None:
    desk.ask("claude-code", "prompt", typed(desk, "ship it"))
    desk.ask("claude-code", "start", begun(desk))
    assert _counts(desk) == []


@pytest.mark.parametrize("agent", ["claude-code", "codex", "gemini-cli", "qwen-code", "qoder"])
def test_where_a_matcher_chooses_the_tools_it_lets_commands_and_edits_through(agent: str) -> None:
    found = re.search(r"'matcher': '([^']*)'", _wiring(agent, "full"))
    assert found is not None
    tools = found[1].split("|")
    # Codex and Qwen Code also take Claude Code's names for their own tools.
    aliases = {"apply_patch": "Edit", "write_file": "Write", "run_shell_command": "Bash"}
    for tool in (SHELLS.get(agent, "Bash"), EDITS[agent][0]):
        assert tool in tools or aliases[tool] in tools
    assert not {"Read", "Grep", "read_file", ".*", "*"} & set(tools)
