"""A project with something of each kind to review."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cli.machine import ago
from told.capture.statements import Statement, capture

if TYPE_CHECKING:
    from datetime import datetime

    import pytest

    from tests.cli.machine import Machine

LOCKED = "Use tabs for indentation, never spaces."
SPACES = "Use spaces for indentation, never tabs."
RULE = "Never push straight to main, always open a pull request."
FACT = "The staging database is refreshed from production every Monday."
HABIT = "Prefer small commits over large ones."
CHANCE = "The exporter writes its report to the attic bucket."
VAGUE = "It works that way for them."
GLOBAL_RULE = "Answer in German, never in English."
REDIS, MEMCACHED = "We use Redis for the session cache.", "Sessions are cached in Memcached."
ENGLISH = "Answer in English, never in German."
_SURE = {
    RULE: ("rule", 0.9),
    FACT: ("fact", 0.9),
    SPACES: ("rule", 0.9),
    ENGLISH: ("rule", 0.9),
    MEMCACHED: ("fact", 0.9),
}
_UNSURE = {HABIT: ("rule", 0.4), CHANCE: ("fact", 0.3), VAGUE: ("fact", 0.9)}


def fill_desk(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Enter a repository with a conflict, a proposal, a learned rule and three candidates."""
    monkeypatch.chdir(machine.repo("work/shop", "git@github.com:acme/shop.git"))

    def read(message: str, before: str = "", asked: str = "") -> list[Statement]:
        found = [Statement(kind, text, text, certainty=certainty, sure=text in _SURE)
                 for text, (kind, certainty) in (_SURE | _UNSURE).items() if text in message]  # fmt: skip
        return found or capture(message, before)

    monkeypatch.setattr("told.learning.learn.capture", read)
    say(machine, "Show me the change.", f"Looks good. {RULE}\nNow fix the login form.", at=ago(days=9))
    for said in (f"{FACT} {CHANCE}", HABIT, VAGUE):  # a session leaves one candidate at most
        say(machine, said, at=ago(days=2))
    assert machine.told("lock", LOCKED).code == 0
    say(machine, f"{SPACES} Then format it.", at=ago(minutes=-1))
    fact = next(one for one in machine.told("memories", "--json").json["memories"] if one["text"] == FACT)
    assert machine.told("lock", fact["id"], CLAUDECODE="1").code == 0
    return machine


def say(machine: Machine, *prompts: str, at: datetime) -> None:
    """Leave a session of Claude Code in the repository."""
    machine.claude(*((prompt, "Done.") for prompt in prompts), at=at, cwd=str(machine.home / "work/shop"))
