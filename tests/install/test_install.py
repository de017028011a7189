"""`told install`: writes into agents' own files what told needs there, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.install.wired_machine import WITH_MCP, at_terminal, fill, launch_with, project, tree
from tests.soak import points, sampled
from told.agents import wired_agents
from told.agents.wiring import PROJECT_SCOPE, USER_SCOPE
from told.cli.connect import install as wiring_wishes
from told.install.place import launch, make_place

if TYPE_CHECKING:
    from tests.cli.machine import Machine

STARTED = launch()


@pytest.fixture(autouse=True)
def _alone(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the agents of the machine that runs the tests, and look for an interpreter only once."""
    machine.environ["PATH"] = str(machine.home / "bin")
    launch_with(monkeypatch, STARTED)
    monkeypatch.setattr(wiring_wishes, "all_commands", lambda: WITH_MCP)


def claude(machine: Machine) -> Path:
    return Path(machine.folder(".claude"))


def settings(machine: Machine) -> dict[str, object]:
    found: dict[str, object] = json.loads((machine.home / ".claude" / "settings.json").read_text())
    return found


@pytest.mark.parametrize("scope", [USER_SCOPE, PROJECT_SCOPE])
@pytest.mark.parametrize("agent", sorted(wired_agents()))
def test_install_again_and_uninstall_leaves_every_byte_as_it_was(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, agent: str, scope: str
) -> None:
    shop = project(machine)
    monkeypatch.chdir(shop)
    fill(agent, make_place(machine.environ, str(shop), frozenset(("mcp",)), scope=scope))
    before = tree(machine.home)
    first = machine.told("install", "--agent", agent, "--scope", scope, "--profile", "full")
    assert (first.code, first.err) == (0, "")
    installed = tree(machine.home)
    for _ in range(points(everyday=1, soak=2)):
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
    for _ in range(points(everyday=1, soak=3)):
        assert machine.told("install", "--scope", scope, *names).code == 0
    assert machine.told("uninstall").code == 0
    assert tree(machine.home) == before


def test_agents_are_found_by_their_folders_and_by_their_programs(machine: Machine) -> None:
    claude(machine)
    machine.write("bin/codex", "#!/bin/sh\n").chmod(0o755)
    answer = machine.told("install", "--json")
    assert [row["agent"] for row in answer.json["agents"]] == ["claude-code", "codex"]
    assert (machine.home / ".codex" / "hooks.json").exists()


def agent_program(machine: Machine, name: str, version: str) -> None:
    """Install an agent as npm does: a link on the PATH to a script in its package."""
    machine.write(f"lib/node_modules/{name}/package.json", json.dumps({"name": name, "version": version}))
    script = machine.write(f"lib/node_modules/{name}/bin/{name}.js", "#!/bin/sh\nexit 1\n")
    script.chmod(0o755)
    machine.folder("bin")
    (machine.home / "bin" / name).symlink_to(script)


def test_one_line_for_each_agent_with_what_works_in_its_version(machine: Machine) -> None:
    claude(machine)
    machine.folder(".cursor")
    agent_program(machine, "codex", "0.98.0")
    lines = machine.told("install").out.splitlines()
    assert lines[:4] == [
        "Claude Code: 6 hooks (since 1.0.62), MCP server, instructions, 10 commands",
        "Codex 0.98.0: MCP server, instructions",
        (
            "  Codex 0.98.0 is too old for hooks; 0.124.0 or later has them."
            " Update it, or told works through MCP and instructions only."
        ),
        "Cursor: 5 hooks (since 1.7), MCP server",
    ]
    codex = machine.told("install", "codex", "--json").json["agents"][0]
    assert codex["version"] == "0.98.0"
    assert codex["needs"] == [{"what": "hooks", "version": "0.124.0", "met": False}]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (".local/share/claude/versions/2.1.326", "2.1.326"),  # its own installer
        ("Caskroom/claude-code/2.1.3/claude", "2.1.3"),
        ("Cellar/claude-code/2.0.45_1/bin/claude", "2.0.45"),
        ("opt/versions/2025.09.18-7ae6800/claude", "2025.09.18"),
        (".pyenv/versions/3.11.4/bin/claude", "1.0.128"),  # a version of something else: it is asked
        ("plain/claude", "1.0.128"),
    ],
)
def test_the_version_is_found_however_the_agent_was_installed(machine: Machine, path: str, said: str) -> None:
    program = machine.write(path, "#!/bin/sh\necho '1.0.128 (Claude Code)'\n")
    program.chmod(0o755)
    machine.write("package.json", '{"version": "7.0.0"}')  # of a project of the user's
    machine.folder("bin")
    (machine.home / "bin" / "claude").symlink_to(program)
    assert machine.told("install", "--json", "--dry-run").json["agents"][0]["version"] == said


def test_an_agent_that_does_not_say_its_version_is_installed_without_one(machine: Machine) -> None:
    machine.write("bin/claude", "#!/bin/sh\nexec sleep 60\n").chmod(0o755)
    machine.environ["PATH"] += ":/bin:/usr/bin"
    assert machine.told("install", "claude", "--json").json["agents"][0]["version"] is None


def test_told_is_called_by_its_path_where_its_name_does_not_find_it(machine: Machine) -> None:
    own = Path(sys.executable).with_name("told")
    claude(machine)
    before = tree(machine.home)
    machine.told("install")
    notes = machine.home / ".claude" / "CLAUDE.md"
    command = machine.home / ".claude" / "commands" / "mem" / "search.md"
    assert f"`{own} search " in notes.read_text()
    assert f"allowed-tools: Bash({own}:*)" in command.read_text()
    assert f"`{own} search`" in command.read_text()
    by_path = tree(machine.home)
    machine.folder("bin")
    (machine.home / "bin" / "told").symlink_to(own)
    assert "Claude Code: works" in machine.told("status").out, "the path is still good"
    assert "already connected" not in machine.told("install").out
    assert "`told search " in notes.read_text()
    assert "allowed-tools: Bash(told:*)" in command.read_text()
    (machine.home / "bin" / "told").unlink()
    assert "writes what is missing or old" in machine.told("status").out, "the name is not"
    machine.told("install")
    (machine.home / "bin").rmdir()
    assert tree(machine.home) == by_path
    machine.environ |= {"PATH": str(own.parent), "VIRTUAL_ENV": str(own.parent.parent)}
    machine.told("install")
    assert f"`{own} search " in notes.read_text(), "an activated environment ends with its shell"
    machine.told("uninstall")
    assert tree(machine.home) == before


def test_the_hook_that_is_written_really_runs(machine: Machine) -> None:
    claude(machine)
    machine.told("install")
    hooks = settings(machine)["hooks"]
    assert isinstance(hooks, dict)
    assert len(hooks) == 6
    for (group,) in list(hooks.values())[: points(everyday=2, soak=6)]:
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


def test_a_dry_run_is_one_diff_of_each_file_and_writes_nothing(machine: Machine) -> None:
    settings_file = machine.write(".claude/settings.json", '{\n  "theme": "dark"\n}\n')
    notes = machine.write(".codex/AGENTS.md", "# Mine\n")
    before = tree(machine.home)
    answer = machine.told("install", "--dry-run")
    assert answer.code == 0
    assert answer.out.startswith("Claude Code: 6 hooks (since 1.0.62), MCP server")
    assert "approve" not in answer.out
    assert answer.out.endswith("\nNothing was written.\n")
    heads = [line for line in answer.out.splitlines() if line.startswith("+++ ")]
    assert len(heads) == len(set(heads)) == 3 + 10 + 3
    assert f"--- {settings_file}\n+++ {settings_file}\n@@ -1,3 +1," in answer.out
    assert '-  "theme": "dark"\n+  "theme": "dark",\n+  "hooks": {\n' in answer.out
    assert f"--- {notes}\n+++ {notes}\n@@ -1 +1," in answer.out
    assert f"--- /dev/null\n+++ {machine.home}/.claude/commands/mem/lock.md\n@@ -0,0 +1," in answer.out
    assert machine.told("install", "--dry-run", "--json").json["diff"] in answer.out
    assert tree(machine.home) == before
    assert not (machine.told_home / "installed.json").exists()
    machine.told("install")
    assert "\nThere is nothing to write.\n" in machine.told("install", "--dry-run").out
    away = machine.told("install", "--dry-run", "--profile", "none").out
    assert f"--- {settings_file}\n+++ {settings_file}\n" in away
    assert f"--- {machine.home}/.codex/hooks.json\n+++ /dev/null\n" in away


def test_a_diff_shows_no_key_of_the_users(machine: Machine) -> None:
    key = "sk-ant-" + "api03-Zx9Qw8Er7Ty6Ui5Op4As3Df2Gh1Jk0Lz"
    machine.write(".claude/settings.json", f'{{\n  "env": {{"ANTHROPIC_API_KEY": "{key}"}}\n}}\n')
    out = machine.told("install", "--dry-run").out
    assert '"ANTHROPIC_API_KEY"' in out
    assert key not in out


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
    assert "Claude Code: 6 hooks" in machine.told("install").out
    assert "SessionStart" in broken.read_text()


def test_an_agent_without_hooks_stays_without_them(machine: Machine) -> None:
    machine.folder(".claude")
    machine.told("install", "--profile", "none")
    assert machine.told("install").out.startswith("Claude Code: already connected")
    machine.told("uninstall")
    assert "6 hooks" in machine.told("install").out


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
        ("emacs", "told knows: aider,"),
    ],
)
def test_a_mistyped_agent(machine: Machine, given: str, hint: str) -> None:
    answer = machine.told("install", "--agent", given)
    assert answer.code == 2
    assert hint in answer.err


SHORT_NAMES = {
    "claude": "claude-code", "Claude-Code": "claude-code", "vscode": "vscode-copilot",
    "jetbrains": "jetbrains-copilot", "gemini": "gemini-cli", "qcoder": "qoder", "copilot": "copilot-cli",
}  # fmt: skip


@pytest.mark.parametrize("given", sampled(SHORT_NAMES, ("Claude-Code", "vscode", "qcoder")))
def test_an_agent_may_be_called_by_its_short_name(machine: Machine, given: str) -> None:
    name = SHORT_NAMES[given]
    for words in (("install", "--agent", given), ("install", given), ("status", given)):
        rows = machine.told(*words, "--json").json["agents"]
        assert [row["agent"] for row in rows] == [name]


def test_several_agents_may_be_named(machine: Machine) -> None:
    answer = machine.told("install", "--json", "--agent", "kiro,zed", "--agent", "codex", "--agent", "kiro")
    assert [row["agent"] for row in answer.json["agents"]] == ["kiro", "zed", "codex"]


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("--scope", "here"), "--scope is one of user, project"),
        (("--profile", "most"), "--profile is one of none, minimal, full"),
        (("--scope", "project"), "There is no project here"),
        (("emacs",), 'Unknown agent "emacs". told knows: aider,'),
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
    assert "always run the linter before you commit." in answer.out
    assert "Locked 1. Nothing more waits." in answer.out
    assert machine.child("memories", "--all-projects", "--locked").out.startswith("1 memory\n")


def test_what_was_learned_can_be_reviewed_later(machine: Machine) -> None:
    machine.claude(("From now on always run the linter before you commit.", "I will."))
    answer = at_terminal(machine, ["install"], "y\ny\nn\n")
    assert answer.out.rstrip().endswith("`told review` shows them later.")
    assert "always run the linter" in machine.told("review").out


def test_yes_asks_nothing_at_a_terminal(machine: Machine) -> None:
    claude(machine)
    answer = at_terminal(machine, ["install", "--yes"], "")
    assert answer.code == 0
    assert "[Y/n]" not in answer.out
    assert (machine.home / ".claude" / "settings.json").exists()
