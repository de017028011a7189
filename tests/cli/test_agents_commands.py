"""Every command decides what it does for an agent; none changes in its shell what is the user's."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.machine import remember
from tests.soak import SOAK
from told.cli.arguments import all_commands

if TYPE_CHECKING:
    from tests.cli.machine import Machine

AGENT = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s-9"}
READS, WRITES, PROPOSES, LIMITED, REFUSED = "reads", "writes", "proposes", "limited", "refused"
# For each command that writes: lines with which the user changes something. {id} is a locked rule, {other} an
# unlocked one, {candidate} what an agent said, {proposal} what one proposed.
LINES: dict[str, list[str]] = {
    "checkpoint": ["checkpoint Goal"],
    "checkpoints": ["checkpoints approve {checkpoint}"],
    "remember": ["remember Always use force --kind rule", "remember Always use force --lock"],
    "wonder": ["wonder tabs --note maybe"],
    "onboard": ["onboard"],
    "correct": ["correct {id} Always use tabs", "correct {other} Always use spaces"],
    "lock": ["lock {other}", "lock Always use force today"],
    "unlock": ["unlock {id}"],
    "confirm": ["confirm {candidate}", "confirm {other}"],
    "reject": ["reject {other}"],
    "dismiss": ["dismiss {other}"],
    "forget": [
        "forget {id} --force", "forget --source terminal --force", "forget --since 2020-01-01 --force",
        "forget {checkpoint} --force",
    ],
    "undo": ["undo", "undo --of {other}"],
    "export": ["export all.json --include-private"],
    "import": ["import told.json", "import --from mem0 told.json --yes"],
    "proposals": ["proposals accept {proposal}", "proposals decline {proposal}"],
    "review": [
        "review keep {candidate}", "review dismiss {other}", "review lock {other}", "review edit {other} New",
        "review scope {other} global", "review keep {proposal}", "review undo",
    ],
    "init": ["init"],
    "scopes": [
        "scopes create team", "scopes share {other} team", "scopes share {other} global",
        "scopes private {other}",
    ],
    "sync": ["sync folder ..", "sync join told-x folder ..", "sync code", "sync remove .."],
    "server": ["server start --embedded", "server token create eve --role admin", "server stop"],
    "sync-serve": [],  # answers another machine over ssh
    "team": ["team create evil --folder ..", "team enable ..", "team code", "team policy accept"],
    "share": ["share {other}"],
    "unshare": ["unshare {other}"],
    "backup": ["backup", "backup told.zip"],
    "restore": ["restore told.zip --yes"],
    "retention": ["retention prune --force --days 1", "retention restore {other}"],
    "install": ["install claude-code --profile none --yes", "install --profile full --yes claude-code"],
    "uninstall": ["uninstall --yes", "uninstall --purge --yes", "uninstall claude-code --yes"],
    "config": ["config set learn false", "config set guard off", "config unset learn"],
    "service": ["service start"],
    "redact-scan": ["redact-scan --apply --yes"],
    "learn": ["learn --reader agent --yes"],
    "hook": [],  # tests/service/test_speaker.py
    "index": ["index"],
    "rebuild": ["rebuild"],
    "re-embed": ["re-embed"],
    "sweep": ["sweep"],
}  # fmt: skip


def test_every_command_says_what_it_does_for_agents() -> None:
    for command in all_commands():
        assert command.agents in (READS, WRITES, PROPOSES, LIMITED, REFUSED), command.name
    writing = {command.name for command in all_commands() if command.agents != READS}
    assert writing == LINES.keys()  # a new command that writes shows here what an agent cannot do with it


@pytest.fixture
def desk(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine in a repository, connected to Claude Code, with memories of the user's."""
    folder = machine.repo("work/shop", "git@github.com:acme/shop.git")
    monkeypatch.chdir(folder)
    (machine.home / ".claude").mkdir(exist_ok=True)
    assert machine.told("install", "--agent", "claude-code", "--yes").code == 0
    return machine


def state(machine: Machine) -> dict[str, object]:
    """Return all that is the user's: memories, settings, agents' files, the project's folder."""
    memories = machine.told("memories", "--json", "--all-projects", "-n", "500").json["memories"]
    statuses = ("superseded", "dismissed", "archived", "forgotten")
    ended = [machine.told("memories", "--json", "--status", one, "--all-projects").out for one in statuses]
    config = machine.told_home / "config.toml"
    agents = sorted((machine.home / ".claude").rglob("*"))
    hashes = {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in agents if path.is_file()}
    rows = {one["id"]: (one["text"], one["locked"], one["scope"], one["status"]) for one in memories}
    return {
        "memories": {key: row for key, row in rows.items() if "force" not in str(row[0]) or row[1]},
        "ended": ended, "config": config.read_text() if config.exists() else "", "agents": hashes,
        "project": Path(".told").exists(), "scopes": machine.told("scopes", "--json").out,
        "checkpoints": [
            one["status"]
            for one in machine.told("checkpoints", "--json", "-n", "50").json["checkpoints"]
            if "Mine" in one["title"]
        ],
    }  # fmt: skip


def test_no_command_of_an_agent_changes_what_is_the_users(desk: Machine) -> None:
    names = {
        "id": remember(desk, "Never push to main", "--lock"), "other": remember(desk, "Use pnpm here"),
        "checkpoint": desk.told("checkpoint", "Mine", "--json").json["id"],
    }  # fmt: skip
    agents = desk.told("remember", "Squash all commits", "--json", **AGENT).json
    names["candidate"] = agents["id"]
    desk.told("lock", names["other"], **AGENT)
    names["proposal"] = desk.told("proposals", "--json").json["proposals"][0]["id"]
    before = state(desk)
    for command in all_commands():
        if command.name in ("service", "sweep", "re-embed"):
            continue  # they start processes, and change no memory
        lines = LINES.get(command.name, [])
        for line in lines:
            answer = desk.told(*line.format(**names).split(), **AGENT)
            if command.agents == REFUSED:
                assert answer.code == 2, line
                assert f"Only you can run `told {command.name}`" in answer.err
            if SOAK or line == lines[-1]:
                assert state(desk) == before, (line, answer)


def test_what_agents_need_still_works(desk: Machine) -> None:
    for line in (
        "remember The tests need Docker", "checkpoint Goal", "search docker", "memories --status candidate",
        "brief", "onboard --dry-run", "index", "install --agent claude-code --yes", "config list", "health",
    ):  # fmt: skip
        assert desk.told(*line.split(), **AGENT).code in (0, 1), line
