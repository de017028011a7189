"""`told install`: writes into agents' own files what told needs there, and nothing else."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.install.wired_machine import WITH_MCP, at_terminal, fill, project, tree
from told.agents import wired_agents
from told.agents.wiring import PROJECT_SCOPE, USER_SCOPE
from told.cli import install as wiring_wishes
from told.install import place as places
from told.install.place import launch, make_place

if TYPE_CHECKING:
    from tests.cli.machine import Machine

STARTED = launch()


@pytest.fixture(autouse=True)
def _alone(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the agents of the machine that runs the tests, and look for an interpreter only once."""
    machine.environ["PATH"] = str(machine.home / "bin")
    monkeypatch.setattr(places, "launch", lambda: STARTED)
    monkeypatch.setattr(wiring_wishes, "COMMANDS", WITH_MCP)


def claude(machine: Machine) -> Path:
    return Path(machine.folder(".claude"))


def settings(machine: Machine) -> dict[str, object]:
    found: dict[str, object] = json.loads((machine.home / ".claude" / "settings.json").read_text())
    return found


@pytest.mark.parametrize("scope", [USER_SCOPE, PROJECT_SCOPE])
@pytest.mark.parametrize("agent", sorted(wired_agents()))
def test_install_three_times_and_uninstall_leaves_every_byte_as_it_was(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, agent: str, scope: str
) -> None:
    shop = project(machine)
    monkeypatch.chdir(shop)
    fill(agent, make_place(machine.environ, str(shop), frozenset(("mcp",)), scope=scope))
    before = tree(machine.home)
    first = machine.told("install", "--agent", agent, "--scope", scope, "--profile", "full")
    assert (first.code, first.err) == (0, "")
    installed = tree(machine.home)
    for _ in range(2):
        again = machine.told("install", "--agent", agent, "--scope", scope, "--profile", "full")
        assert again.code == 0
        assert "already connected" in again.out or "nothing to write here" in again.out
        assert tree(machine.home) == installed
    nothing_there = scope == USER_SCOPE and agent in ("aider", "generic")
    assert (installed == before) == nothing_there
    assert machine.told("uninstall", "--agent", agent).code == 0
    assert tree(machine.home) == before


@pytest.mark.parametrize("scope", [USER_SCOPE, PROJECT_SCOPE])
def test_all_agents_together_leave_every_byte_as_it_was(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, scope: str
) -> None:
    shop = project(machine)
    monkeypatch.chdir(shop)
    before = tree(machine.home)
    names = [word for agent in wired_agents() for word in ("--agent", agent)]
    for _ in range(3):
        assert machine.told("install", "--scope", scope, *names).code == 0
    assert machine.told("uninstall").code == 0
    assert tree(machine.home) == before


def test_agents_are_found_by_their_folders_and_by_their_programs(machine: Machine) -> None:
    claude(machine)
    machine.write("bin/codex", "#!/bin/sh\n").chmod(0o755)
    answer = machine.told("install", "--json")
    assert [row["agent"] for row in answer.json["agents"]] == ["claude-code", "codex"]
    assert (machine.home / ".codex" / "hooks.json").exists()


def test_one_line_for_each_file(machine: Machine) -> None:
    claude(machine)
    lines = machine.told("install").out.splitlines()
    assert lines[:5] == [
        "Claude Code",
        "  ~/.claude/settings.json: 6 hooks written",
        "  ~/.claude.json: MCP server written",
        "  ~/.claude/CLAUDE.md: instructions written",
        "  ~/.claude/commands/mem: 10 commands written",
    ]
    assert all(len(line) <= 80 for line in lines)


def test_the_hook_that_is_written_really_runs(machine: Machine) -> None:
    claude(machine)
    machine.told("install")
    hooks = settings(machine)["hooks"]
    assert isinstance(hooks, dict)
    assert len(hooks) == 6
    for (group,) in hooks.values():
        (hook,) = group["hooks"]
        done = subprocess.run(
            ["/bin/sh", "-c", hook["command"]],
            input=b"{}",
            env=machine.environ,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0
        assert done.stderr == b""


def test_a_dry_run_shows_everything_and_writes_nothing(machine: Machine) -> None:
    claude(machine)
    before = tree(machine.home)
    answer = machine.told("install", "--dry-run")
    assert answer.code == 0
    assert "~/.claude/settings.json: 6 hooks would be written" in answer.out
    assert '+    "SessionStart": [' in answer.out
    assert tree(machine.home) == before
    assert not (machine.told_home / "installed.json").exists()


def test_a_malformed_file_is_named_with_its_line_and_stops_no_other_agent(machine: Machine) -> None:
    broken = machine.write(".claude/settings.json", '{\n  "theme": "dark"\n  "hooks": {}\n}\n')
    machine.folder(".codex")
    answer = machine.told("install")
    assert answer.code == 4
    assert f"{broken} is not valid at line 3" in answer.err
    assert answer.err.count("\n") == 1
    assert "~/.claude/settings.json: 6 hooks not written" in answer.out
    assert broken.read_text() == '{\n  "theme": "dark"\n  "hooks": {}\n}\n'
    assert (machine.home / ".codex" / "hooks.json").exists()
    assert (machine.home / ".claude" / "CLAUDE.md").exists()


def test_hooks_that_a_malformed_file_refused_are_written_once_it_is_mended(machine: Machine) -> None:
    broken = machine.write(".claude/settings.json", "{")
    assert machine.told("install").code == 4
    broken.write_text("{}")
    assert "~/.claude/settings.json: 6 hooks written" in machine.told("install").out


def test_an_agent_without_hooks_stays_without_them(machine: Machine) -> None:
    machine.folder(".claude")
    machine.told("install", "--profile", "none")
    assert machine.told("install").out.startswith("Claude Code: already connected")
    machine.told("uninstall")
    assert "6 hooks written" in machine.told("install").out


def test_a_value_of_somebody_else_at_tolds_place_is_not_taken(machine: Machine) -> None:
    own = machine.write(".claude.json", '{"mcpServers": {"told": {"command": "my-own-told"}}}')
    answer = machine.told("install", "--agent", "claude")
    assert answer.code == 4
    assert "mcpServers.told" in answer.err
    assert "my-own-told" in own.read_text()


def test_where_no_agent_is_found_that_is_said(machine: Machine) -> None:
    answer = machine.told("install")
    assert answer.code == 1
    assert "No agent was found" in answer.err
    assert "claude-code" in answer.err


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ("cluade", 'Did you mean "claude-code"?'),
        ("vscod", 'Did you mean "vscode-copilot"?'),
        ("emacs", "told can connect:"),
    ],
)
def test_a_mistyped_agent(machine: Machine, given: str, hint: str) -> None:
    answer = machine.told("install", "--agent", given)
    assert answer.code == 2
    assert hint in answer.err


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("claude", "claude-code"), ("Claude-Code", "claude-code"), ("vscode", "vscode-copilot"),
        ("jetbrains", "jetbrains-copilot"), ("gemini", "gemini-cli"), ("qcoder", "qoder"),
        ("copilot", "copilot-cli"),
    ],
)  # fmt: skip
def test_an_agent_may_be_called_by_its_short_name(machine: Machine, given: str, name: str) -> None:
    assert [row["agent"] for row in machine.told("install", "--json", "--agent", given).json["agents"]] == [
        name
    ]


def test_several_agents_may_be_named(machine: Machine) -> None:
    answer = machine.told("install", "--json", "--agent", "kiro,zed", "--agent", "codex", "--agent", "kiro")
    assert [row["agent"] for row in answer.json["agents"]] == ["kiro", "zed", "codex"]


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("--scope", "here"), "--scope is one of user, project"),
        (("--profile", "most"), "--profile is one of none, minimal, full"),
        (("--scope", "project"), "There is no project here"),
        (("codex",), "takes options only"),
    ],
)
def test_wrong_use(machine: Machine, words: tuple[str, ...], hint: str) -> None:
    claude(machine)
    before = tree(machine.home)
    answer = machine.told("install", *words)
    assert answer.code == 2
    assert hint in answer.err
    assert tree(machine.home) == before


def test_another_profile_takes_back_what_it_does_not_have(machine: Machine) -> None:
    claude(machine)
    before = tree(machine.home)
    machine.told("install", "--profile", "full")
    assert "PreToolUse" in settings(machine)["hooks"]  # type: ignore[operator]
    assert "already connected" in machine.told("install").out, "what the user chose once is kept"
    answer = machine.told("install", "--profile", "minimal")
    assert "1 hook removed" in answer.out
    assert "PreToolUse" not in settings(machine)["hooks"]  # type: ignore[operator]
    machine.told("install", "--profile", "none")
    assert (
        "hook/client.py" not in (machine.home / ".claude" / "settings.json").read_text()
        if (machine.home / ".claude" / "settings.json").exists()
        else True
    )
    assert "told brief" in (machine.home / ".claude" / "CLAUDE.md").read_text()
    machine.told("uninstall")
    assert tree(machine.home) == before


def test_hooks_that_hold_everywhere_are_not_written_into_a_project_besides(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = project(machine)
    monkeypatch.chdir(shop)
    machine.told("install", "--agent", "codex")
    machine.told("install", "--agent", "codex", "--scope", "project")
    assert (shop / "AGENTS.md").exists()
    assert not (shop / ".codex" / "hooks.json").exists()
    assert "already connected" in machine.told("install", "--agent", "codex", "--scope", "project").out
    machine.told("install", "--agent", "codex", "--scope", "project", "--profile", "minimal")
    assert (shop / ".codex" / "hooks.json").exists(), "the user asked for it"


def test_instructions_that_the_user_changed_are_left_alone(machine: Machine) -> None:
    claude(machine)
    machine.told("install")
    notes = machine.home / ".claude" / "CLAUDE.md"
    notes.write_text(notes.read_text().replace("keep to them", "weigh them"))
    edited = notes.read_text()
    answer = machine.told("install", "--profile", "none")
    assert "~/.claude/CLAUDE.md: instructions left as you changed it" in answer.out
    assert notes.read_text() == edited
    assert "so it was left" in machine.told("uninstall").out
    assert notes.read_text() == edited


def test_what_the_user_changes_meanwhile_stays(machine: Machine) -> None:
    path = machine.write(".claude/settings.json", '{\n  "theme": "dark"\n}\n')
    machine.told("install")
    path.write_text(path.read_text().replace('"dark"', '"light",\n  "verbose": true'))
    machine.told("uninstall")
    assert json.loads(path.read_text()) == {"theme": "light", "verbose": True}


def test_a_version_that_cursor_has_already_is_not_tolds_to_take(machine: Machine) -> None:
    path = machine.write(".cursor/hooks.json", '{"version": 1, "hooks": {}}\n')
    machine.told("install")
    (machine.told_home / "installed.json").unlink()
    machine.told("uninstall")
    assert json.loads(path.read_text())["version"] == 1


def test_json_says_what_was_done(machine: Machine) -> None:
    machine.folder(".codex")
    answer = machine.told("install", "--json", "--profile", "none").json
    assert answer["dry_run"] is False
    (row,) = answer["agents"]
    assert (row["scope"], row["profile"], row["changed"]) == ("user", "none", True)
    assert {one["what"] for one in row["files"]} == {"MCP server", "instructions"}
    assert {one["state"] for one in row["files"]} == {"written"}
    again = machine.told("install", "--json").json["agents"][0]
    assert (again["profile"], again["changed"]) == ("none", False)


def test_what_codex_wants_from_the_user_is_said(machine: Machine) -> None:
    machine.folder(".codex")
    assert "approve told's hooks" in machine.told("install").out


def test_without_a_terminal_nothing_is_asked_and_history_is_not_forgotten(machine: Machine) -> None:
    machine.claude(("Never commit to main.", "I will not."))
    answer = machine.child("install")
    assert answer.code == 0
    assert "[Y/n]" not in answer.out
    assert "`told index` imports your existing history." in answer.out
    assert "told index" not in machine.child("install").out


def test_at_a_terminal_it_is_asked_once_and_no_means_no(machine: Machine) -> None:
    claude(machine)
    before = tree(machine.home)
    answer = at_terminal(machine, ["install"], "n\n")
    assert answer.code == 0
    assert "6 hooks would be written" in answer.out
    assert answer.out.count("[Y/n]") == 1
    assert "Nothing was written." in answer.out
    assert tree(machine.home) == before


def test_at_a_terminal_the_history_is_read_and_reviewed(machine: Machine) -> None:
    machine.claude(("From now on always run the linter before you commit.", "I will."))
    answer = at_terminal(machine, ["install"], "y\ny\ny\nl\n")
    assert answer.code == 0
    assert answer.out.count("[Y/n]") == 3
    assert "Imported 1 changed file. 1 session in total." in answer.out
    assert "Review 1 memory now? [Y/n]" in answer.out
    assert "1 of 1 · rule" in answer.out
    assert "Always run the linter before you commit." in answer.out
    assert "Locked 1. Nothing more waits." in answer.out
    assert machine.child("memories", "--all-projects", "--locked").out.startswith("1 memory\n")


def test_what_was_learned_can_be_reviewed_later(machine: Machine) -> None:
    machine.claude(("From now on always run the linter before you commit.", "I will."))
    answer = at_terminal(machine, ["install"], "y\ny\nn\n")
    assert answer.out.rstrip().endswith("`told review` shows them later.")
    assert "Always run the linter" in machine.child("review").out


def test_yes_asks_nothing_at_a_terminal(machine: Machine) -> None:
    claude(machine)
    answer = at_terminal(machine, ["install", "--yes"], "")
    assert answer.code == 0
    assert "[Y/n]" not in answer.out
    assert (machine.home / ".claude" / "settings.json").exists()
