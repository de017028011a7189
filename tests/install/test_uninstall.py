"""`told uninstall`: takes told out of agents' files, and with --purge everything told knows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import forked
from tests.cli.machine import remember
from tests.install.wired_machine import at_terminal, launch_with, project, tree
from told.install.place import launch

if TYPE_CHECKING:
    from tests.cli.machine import Machine

STARTED = launch()


@pytest.fixture(autouse=True)
def _alone(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.environ["PATH"] = str(machine.home / "bin")
    launch_with(monkeypatch, STARTED)


def install(machine: Machine, *words: str) -> None:
    answer = machine.told("install", *words)
    assert (answer.code, answer.err) == (0, "")


def test_one_agent_alone(machine: Machine) -> None:
    install(machine, "--agent", "claude", "--agent", "codex")
    codex = tree(machine.home / ".codex")
    assert machine.told("uninstall", "--agent", "claude").code == 0
    assert not (machine.home / ".claude").exists()
    assert tree(machine.home / ".codex") == codex


def test_one_scope_alone(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = project(machine)
    monkeypatch.chdir(shop)
    install(machine, "--agent", "claude")
    install(machine, "--agent", "claude", "--scope", "project")
    everywhere = tree(machine.home / ".claude")
    machine.told("uninstall", "--scope", "project")
    assert not (shop / ".claude").exists()
    assert tree(machine.home / ".claude") == everywhere
    machine.told("uninstall", "--agent", "claude", "--scope", "user")
    assert not (machine.home / ".claude").exists()


def test_a_project_is_unwired_from_anywhere(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = project(machine)
    monkeypatch.chdir(shop)
    before = tree(shop)
    install(machine, "--agent", "claude", "--scope", "project")
    monkeypatch.chdir(machine.home)
    machine.told("uninstall")
    assert tree(shop) == before


def test_projects_with_alike_names_are_not_taken_for_each_other(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = project(machine, "shop"), project(machine, "shop two")
    for folder in (second, first, first):
        monkeypatch.chdir(folder)
        install(machine, "--agent", "claude", "--scope", "project")
    assert (second / ".claude" / "settings.local.json").exists()
    machine.told("uninstall")
    assert not (second / ".claude").exists()


def test_a_file_that_another_agent_needs_stays_until_the_last_is_gone(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = project(machine)
    monkeypatch.chdir(shop)
    install(machine, "--scope", "project", "--agent", "codex", "--agent", "generic")
    assert "Another agent still needs it." in machine.told("uninstall", "--agent", "codex").out
    assert (shop / "AGENTS.md").exists()
    machine.told("uninstall", "--agent", "generic")
    assert not (shop / "AGENTS.md").exists()


def test_one_line_for_each_file_and_folder(machine: Machine) -> None:
    machine.write(".claude/settings.json", '{"theme": "dark"}\n')
    install(machine)
    assert sorted(machine.told("uninstall").out.splitlines()) == [
        "~/.claude.json: removed",
        "~/.claude/CLAUDE.md: removed",
        "~/.claude/commands/mem: removed",
        "~/.claude/settings.json: restored",
    ]


def test_where_nothing_is_wired_that_is_said(machine: Machine) -> None:
    answer = machine.told("uninstall")
    assert (answer.code, answer.out) == (0, "told is not in any agent's files.\n")


def test_what_no_ledger_knows_is_still_recognised(machine: Machine) -> None:
    path = machine.write(".claude/settings.json", '{\n  "theme": "dark"\n}\n')
    install(machine, "--agent", "claude", "--agent", "copilot", "--agent", "kiro", "--profile", "full")
    (machine.told_home / "installed.json").unlink()
    machine.told("uninstall")
    assert json.loads(path.read_text()) == {"theme": "dark"}
    left = {name: content for name, content in tree(machine.home).items() if content is not None}
    # Nobody can tell any more whether a file that is empty now was there before.
    assert left.pop(".claude/settings.json")
    assert {name: json.loads(content) for name, content in left.items()} == {
        ".claude.json": {},
        ".copilot/mcp-config.json": {},
        ".kiro/settings/mcp.json": {},
    }


def test_a_file_that_cannot_be_changed_is_said_and_can_be_tried_again(machine: Machine) -> None:
    path = machine.write(".claude/settings.json", '{\n  "theme": "dark"\n}\n')
    before = path.read_bytes()
    install(machine)
    path.chmod(0o444)
    answer = machine.told("uninstall")
    assert answer.code == 4
    assert "read-only" in answer.err
    path.chmod(0o644)
    assert machine.told("uninstall").code == 0
    assert path.read_bytes() == before


def test_json(machine: Machine) -> None:
    install(machine, "--agent", "kiro")
    answer = machine.told("uninstall", "--json").json
    assert answer["purged"] is False
    assert [Path(one["path"]).name for one in answer["files"]] == ["told.md", "mcp.json"]


def test_a_purge_needs_a_yes(machine: Machine) -> None:
    remember(machine, "We use pnpm.")
    answer = machine.told("uninstall", "--purge")
    assert answer.code == 2
    assert "Add --yes" in answer.err
    assert machine.told_home.exists()


def test_a_purge_leaves_nothing(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = project(machine)
    machine.claude(("Never push to main.", "I will not."), cwd=str(shop))
    before = tree(machine.home)
    remember(machine, "We use pnpm.")
    machine.told("index")
    monkeypatch.chdir(shop)
    assert machine.told("init").code == 0
    remember(machine, "Here we use yarn.")
    install(machine, "--agent", "claude")
    call = {"session_id": "s1", "cwd": str(shop), "prompt": "Always run the linter before you commit."}
    for event in ("start", "prompt", "stop", "end"):
        environ = machine.environ | {"TOLD_DEBUG": "1"}
        words = STARTED.words("claude-code", event)
        assert forked.run(words, environ, shop, json.dumps(call).encode()).code == 0
    answer = machine.told("uninstall", "--purge", "--yes")
    assert (answer.code, answer.err) == (0, "")
    assert not machine.told_home.exists(), sorted(machine.told_home.iterdir())
    assert tree(machine.home) == before


def test_an_agent_cannot_purge(machine: Machine) -> None:
    remember(machine, "We use pnpm.")
    machine.environ["CLAUDECODE"] = "1"
    answer = machine.told("uninstall", "--purge", "--yes")
    assert answer.code == 2
    assert "Only you" in answer.err
    assert machine.told_home.exists()


def test_a_purge_is_for_everything(machine: Machine) -> None:
    remember(machine, "We use pnpm.")
    answer = machine.told("uninstall", "--purge", "--yes", "--agent", "claude")
    assert answer.code == 2
    assert machine.told_home.exists()


def test_a_purge_that_could_not_unwire_an_agent_deletes_nothing(machine: Machine) -> None:
    path = machine.write(".claude/settings.json", "{}\n")
    install(machine)
    path.chmod(0o444)
    assert machine.told("uninstall", "--purge", "--yes").code == 4
    assert machine.told_home.exists(), "what told wrote could not be removed without it"
    path.chmod(0o644)


def test_a_folder_that_is_not_tolds_is_not_purged(machine: Machine) -> None:
    kept = machine.home / "precious"
    kept.mkdir()
    (kept / "thesis.txt").write_text("years of work")
    machine.environ["TOLD_HOME"] = str(kept)
    answer = machine.told("uninstall", "--purge", "--yes")
    assert "not told's: thesis.txt" in answer.out
    assert {path.name for path in kept.iterdir()} <= {"thesis.txt", "calls"}
    assert (kept / "thesis.txt").read_text() == "years of work"


@pytest.mark.parametrize(("typed", "stays"), [("n\n", True), ("y\n", False)])
def test_at_a_terminal_a_purge_asks(machine: Machine, typed: str, stays: bool) -> None:
    remember(machine, "We use pnpm.")
    answer = at_terminal(machine, ["uninstall", "--purge"], typed)
    assert "This cannot be undone." in answer.out
    assert machine.told_home.exists() is stays


def test_at_a_terminal_it_is_asked_before_anything_is_taken_out(machine: Machine) -> None:
    install(machine, "--agent", "claude")
    wired = tree(machine.home)
    assert "Nothing was changed." in at_terminal(machine, ["uninstall"], "n\n").out
    assert tree(machine.home) == wired


def test_what_codex_wrote_itself_about_tolds_hooks_is_named_and_stays(machine: Machine) -> None:
    path = machine.write(".codex/config.toml", 'model = "gpt"\n')
    install(machine, "--agent", "codex")
    assert "approval" not in machine.told("uninstall").out
    install(machine, "--agent", "codex")
    hooks = machine.home / ".codex" / "hooks.json"
    approved = f'\n[hooks.state."{hooks}:session_start:0:0"]\ntrusted_hash = "sha256:00"\n'
    path.write_text(path.read_text() + approved)
    answer = machine.told("uninstall", "--json").json
    said = f'Codex keeps its own approval of told\'s hooks in {path}: [hooks.state."{hooks}:…"].'
    assert answer["notes"] == [f"{said} Remove these entries by hand if you like."]
    assert path.read_text() == 'model = "gpt"\n' + approved
    assert not hooks.exists()
