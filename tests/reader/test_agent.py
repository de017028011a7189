"""The user's own agent as the reader: alone, in an empty folder, without tools, hooks or told."""

from __future__ import annotations

import json
import os
import sys
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.machine import ago
from tests.install.wired_machine import at_terminal
from tests.reader.test_review import IDS, IDS_TEXT, answers, item, say, texts
from told.agents import installed_agents
from told.agents.headless import HeadlessTask, is_scratch_folder
from told.errors import ToldError
from told.reader import models
from told.reader.base import Question
from told.service.local import answer_now

if TYPE_CHECKING:
    from tests.cli.machine import Machine

ABLE = sorted(name for name, one in installed_agents().items() if one.headless)


def install(desk: Machine, name: str, script: str) -> None:
    """Put a program on the PATH that notes how it is run."""
    folder = desk.home / "bin"
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"""#!{sys.executable}
import json, os, sys
given = sys.stdin.read()
with open({str(desk.home / "ran.jsonl")!r}, "a") as file:
    seen = dict(words=sys.argv[1:], cwd=os.getcwd(), files=os.listdir("."))
    seen |= dict(environ=dict(os.environ), given=given)
    file.write(json.dumps(seen) + "\\n")
{script}
""")
    path.chmod(0o755)
    desk.environ["PATH"] = f"{folder}{os.pathsep}/nonexistent"


def runs(desk: Machine) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (desk.home / "ran.jsonl").read_text().splitlines()]


def prints(answer: object) -> str:
    """Return a script that prints what Claude Code would."""
    usage = {"input_tokens": 500, "cache_read_input_tokens": 100, "output_tokens": 30}
    return f"print({json.dumps(json.dumps({'result': json.dumps(answer), 'usage': usage}))})"


@pytest.fixture
def chosen(desk: Machine) -> Machine:
    desk.config('[reader]\nmode = "agent"\n')
    return desk


def test_the_agent_reads_alone(chosen: Machine) -> None:
    install(chosen, "claude", prints(answers(item())))
    chosen.environ |= {"TOLD_MARK": "1"}
    say(chosen, IDS)
    assert chosen.told("learn", "--yes").code == 0
    assert texts(chosen) == [IDS_TEXT]
    (run,) = runs(chosen)
    assert is_scratch_folder(run["cwd"])
    assert not os.path.exists(run["cwd"])
    assert run["files"] == []
    assert run["environ"]["TOLD_HOOKS"] == "off"
    assert "customer ids" in run["given"]
    assert {"-p", "--no-session-persistence", "--strict-mcp-config"} <= set(run["words"])
    assert "disableAllHooks" in " ".join(run["words"])
    assert IDS[:20] not in " ".join(run["words"])  # other users can see arguments
    spent = chosen.told("stats", "--json").json["reader"]
    assert (spent["tokens_in"], spent["tokens_out"]) == (600, 30)


def test_the_first_agent_that_is_there_is_used(chosen: Machine) -> None:
    message = {
        "type": "item.completed",
        "item": {"type": "agent_message", "text": json.dumps(answers(item()))},
    }
    done = {"type": "turn.completed", "usage": {"input_tokens": 9, "output_tokens": 8}}
    install(
        chosen, "codex", f"print({json.dumps(json.dumps(message))}); print({json.dumps(json.dumps(done))})"
    )
    say(chosen, IDS)
    assert "to Codex." in chosen.told("learn", "--yes").out
    assert texts(chosen) == [IDS_TEXT]
    (run,) = runs(chosen)
    assert "--ephemeral" in run["words"]
    assert run["given"].startswith("You read what a user typed")


def test_no_agent_is_there(chosen: Machine) -> None:
    chosen.environ["PATH"] = "/nonexistent"
    done = chosen.told("learn", "--yes")
    assert done.code == 4
    assert "on the PATH. Install it, or choose another reader.mode." in done.err


def test_signs_of_another_agents_shell_are_not_passed_on(chosen: Machine) -> None:
    install(chosen, "claude", prints(answers()))
    made = models.open_agent("", "", chosen.environ | {"CLAUDECODE": "1", "CODEX_THREAD_ID": "x"})
    made.ask(Question("system", "prompt", {}, 10))
    (run,) = runs(chosen)
    assert not {"CLAUDECODE", "CODEX_THREAD_ID"} & set(run["environ"])


def test_a_slow_agent_is_ended_with_its_children(chosen: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "_AGENT_SECONDS", 3)
    marker = chosen.home / "child.pid"
    install(
        chosen, "claude",
        "import subprocess\n"
        "child = subprocess.Popen(['/bin/sleep', '600'])\n"
        f"open({str(marker)!r}, 'w').write(str(child.pid))\n"
        "child.wait()",
    )  # fmt: skip
    made = models.open_agent("claude-code", "", chosen.environ)
    with pytest.raises(ToldError, match="did not answer within 3 seconds"):
        made.ask(Question("system", "prompt", {}, 10))
    deadline = time.monotonic() + 60  # a killed process is gone soon, on a busy machine a little later
    while is_running(int(marker.read_text())):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().split()[2] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("script", ["print('Hello')", "sys.exit(3)", "print('{}')", ""])
def test_an_agent_that_fails_changes_nothing(chosen: Machine, script: str) -> None:
    install(chosen, "claude", script)
    say(chosen, IDS)
    done = chosen.told("learn", "--yes")
    assert "1 call failed: Claude Code" in done.out
    assert texts(chosen) == []


def test_what_an_agent_did_for_told_is_not_its_users_session(desk: Machine) -> None:
    folder = "/tmp/told-reader-ab12cd"
    desk.claude((IDS, "{}"), at=ago(hours=1), cwd=folder)
    say(desk, IDS)
    desk.told("index")
    (found,) = desk.told("list", "--all-projects", "--json").json["sessions"]
    assert found["project"] == "acme/shop"


def test_hooks_are_silent_in_it(desk: Machine) -> None:
    desk.told("remember", "Customer ids are UUIDs, not integers.", "--kind", "rule")
    repo = str(desk.home / "work/shop")

    def start(cwd: str, **environ: str) -> str:
        payload = {"hook_event_name": "SessionStart", "session_id": "s1", "cwd": cwd, "source": "startup"}
        return answer_now("claude-code", "start", json.dumps(payload).encode(), desk.environ | environ)

    assert "UUIDs" in start(repo)
    assert start(repo, TOLD_HOOKS="off") == ""
    assert start("/tmp/told-reader-ab12cd") == ""


@pytest.mark.parametrize("name", ABLE)
def test_every_headless_agent_takes_the_question_from_stdin(name: str) -> None:
    headless = installed_agents()[name].headless
    assert headless is not None
    words = headless.arguments(HeadlessTask("the system text", "some-model"))
    assert "some-model" in words
    assert ("the system text" in words) == headless.takes_system
    with pytest.raises(ValueError, match=r".*"):
        headless.read('{"type": "other"}\n')


def test_a_session_that_ended_just_now_is_read(chosen: Machine) -> None:
    install(chosen, "claude", prints(answers(item())))
    session = say(chosen, IDS, at=ago(seconds=5))
    chosen.told("index")
    assert texts(chosen) == []
    assert chosen.told("sweep", "--ended", f"claude-code/{session}").code == 0
    assert texts(chosen) == [IDS_TEXT]


def test_install_asks_and_reads_the_last_days(desk: Machine) -> None:
    install(desk, "claude", prints(answers(item())))
    say(desk, IDS, at=datetime.now(UTC) - timedelta(days=3))
    answer = at_terminal(desk, ["install", "--agent", "claude-code"], "y\ny\ny\ny\n")
    assert answer.code == 0, answer.err
    assert "Let Claude Code read finished sessions for what you taught it?" in answer.out
    assert "Read the last 30 days now? 1 session, about" in answer.out
    assert "Customer ids are UUIDs, not integers." in " ".join(answer.out.split())
    assert "reader" in (desk.told_home / "config.toml").read_text()


@pytest.mark.parametrize("words", [["--yes"], []])
def test_install_without_a_terminal_says_how_to_turn_it_on(desk: Machine, words: list[str]) -> None:
    install(desk, "claude", prints(answers(item())))
    said = desk.told("install", "--agent", "claude-code", *words).out
    assert "`told config set reader.mode agent` lets your agent read finished sessions." in said
    assert desk.told("config", "get", "reader.mode").out == "off\n"
