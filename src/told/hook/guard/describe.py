"""Say what the guard does with a rule."""

from __future__ import annotations

import re
from dataclasses import dataclass

from told.agents.wiring import FULL
from told.hook.guard import load_table
from told.hook.guard.actions import TASK, Action
from told.hook.guard.rules import Prohibition, forbids_something, read_rule
from told.hook.guard.verdict import ASK, DENY
from told.install.ledger import Ledger

CANNOT_ACT = (
    "The guard cannot act on this rule. Name a command or a path in backticks:"
    " Never run `make deploy`. Never edit `src/gen/`."
)
_SHOWN = 3  # commands that are named
_OFF = "off"
_USES = {"change": "changes to", "delete": "deleting", "commit": "committing", "any": "using"}


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the guard does with a rule."""

    commands: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    use: str = ""  # of the paths: change, delete, commit, any
    where: str = ""  # "on main", "in production"
    is_conditional: bool = False  # it asks even if the setting says "deny"

    @property
    def acts(self) -> bool:
        """Whether the guard can act on the rule."""
        return bool(self.commands or self.paths)

    def decide(self, setting: str) -> str:
        """Return what a forbidden call meets: ask, deny or off."""
        return ASK if self.is_conditional and setting == DENY else setting


def describe_rule(text: str) -> Coverage | None:
    """Return what the guard matches; None if the rule forbids no command and no path."""
    found = read_rule(text)
    if not found:
        return Coverage() if forbids_something(text) else None
    commands = dict.fromkeys(_list_commands([one.action for one in found if one.action]))
    paths = dict.fromkeys(path for one in found for path in one.paths if one.use)
    return Coverage(
        tuple(commands), tuple(paths), next((one.use for one in found if one.use), ""),
        next((place for one in found if (place := _describe_place(one))), ""),
        all(one.is_conditional for one in found),
    )  # fmt: skip


def guard_note(text: str, setting: str, home: str) -> str:
    """Return one line about a locked rule; empty if it forbids no command and no path."""
    found = describe_rule(text)
    if found is None or not found.acts:
        return CANNOT_ACT if found else ""
    named = [f"`{one}`" for one in found.commands[:_SHOWN]]
    more = len(found.commands) - _SHOWN
    named += [f"{more} more command{'s' if more > 1 else ''}"] if more > 0 else []
    parts = [_join(named)] if named else []
    parts += [f"{_USES[found.use]} {_join([f'`{one}`' for one in found.paths])}"] if found.paths else []
    what = f"{_join(parts)} {found.where}".strip()
    if not is_installed(home):
        return f"The guard can enforce it after `told install --profile full`: {what}."
    if setting == _OFF:
        return f"The guard is off; `told config set guard ask` turns it on: {what}."
    return f"The guard {'denies' if found.decide(setting) == DENY else 'asks before'} {what}."


def is_installed(home: str) -> bool:
    """Tell whether an agent calls told before a tool call."""
    ledger = Ledger(home)
    return any(ledger.profiles.get(owner) == FULL for owner in ledger.owners())


def _list_commands(actions: list[Action]) -> list[str]:
    """Return the commands of actions in readable form, each in one spelling."""
    spelt = {one.call: one.text for action in actions for one in action.patterns}
    statements = []
    for action in actions:  # a pattern of SQL as its first statement: `drop\\s+table` is "DROP TABLE"
        first = re.sub(r"\\[sSbw]", " ", action.sql.partition("|")[0].lower())
        statements.append(" ".join(re.findall(r"[a-z]{3,}", first)).upper())
    return [one.replace(" ?*", "").replace(TASK, "make") for one in (*spelt.values(), *statements) if one]


def _describe_place(prohibition: Prohibition) -> str:
    if prohibition.branches:
        return f"on {_usual_names(prohibition.branches, 'branches')}"
    if prohibition.environments:
        return f"in {_usual_names(prohibition.environments, 'environments')}"
    return f"of `{prohibition.paths[0]}`" if prohibition.paths and not prohibition.use else ""


def _usual_names(names: frozenset[str], table: str) -> str:
    lines = [line.split() for line in load_table("words")[table]]
    known = {word for line in lines for word in line}
    others = sorted(one for one in names if one not in known and "*" not in one)
    return _join([line[0] for line in lines if line[0] in names] + others)


def _join(names: list[str]) -> str:
    return " and ".join([part for part in (", ".join(names[:-1]), *names[-1:]) if part])
