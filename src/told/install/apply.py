"""Write an agent's wiring into its files, and remove outdated parts."""

from __future__ import annotations

import itertools
import subprocess
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from told.agents.base import Agent
from told.agents.wiring import (
    FULL,
    HOOKS,
    INSTRUCTIONS,
    MINIMAL,
    NO_HOOKS,
    PROJECT_SCOPE,
    PROMPT,
    SERVER,
    SLASH_COMMANDS,
    Block,
    Change,
    Entry,
    Launch,
    OwnFile,
    Place,
    has_mark,
)
from told.errors import ToldError
from told.install.edits import REMOVED, as_change, as_installed
from told.install.foreign import Outcome, apply_change, change_state, remove_change, undo_changes
from told.install.ledger import Ledger
from told.install.preview import Preview
from told.install.values import EDITED, MISSING, THERE


def part_of(change: Change) -> str:
    """Return what a change is for: hooks, server, instructions or commands."""
    if isinstance(change, Block):
        return INSTRUCTIONS
    if isinstance(change, Entry):
        return SERVER if change.keys[-1] == "told" else HOOKS
    if has_mark(change.text):
        return HOOKS
    return SLASH_COMMANDS if command_folder(change) else INSTRUCTIONS


def command_folder(change: Change) -> str:
    """Return the folder of a slash command; empty for other changes."""
    if not isinstance(change, OwnFile):
        return ""
    folder = change.path.replace("\\", "/").rpartition("/")[0]
    return change.path[: len(folder)] if folder.endswith("/commands/mem") else ""


def owner_of(agent: Agent, place: Place) -> str:
    """Return the owner of changes: agent, scope, and the project if any."""
    words = [agent.name, place.scope]
    if place.scope == PROJECT_SCOPE:
        words.append(place.project.replace("%", "%25").replace(" ", "%20"))
    return " ".join(words)


WRITTEN, KEPT, BROKEN = "written", "kept", "broken"


@dataclass(frozen=True, slots=True)
class Step:
    """The state of one change in an agent's files, or what was or would be done with it."""

    change: Change
    state: str  # also: older than this told (outdated), or changed by the user (yours)
    note: str = ""  # what is wrong


def wire(agent: Agent, place: Place, ledger: Ledger, preview: Preview | None = None) -> list[Step]:
    """Write an agent's wiring, or into a preview; a file that fails does not stop others."""
    owner = owner_of(agent, place)
    known = _known(agent, place, ledger)
    changes = _changes(agent, place)
    steps = []
    for change in changes:
        # A default that the user has set stays.
        if _is_default(change) and _identity(change) not in known and change_state(change) != MISSING:
            continue
        try:
            is_written = preview.apply(change, owner) if preview else apply_change(change, ledger, owner)
            state = preview.state(change) if preview else change_state(change)
        except ToldError as error:
            steps.append(Step(change, BROKEN, str(error)))
            continue
        steps.append(Step(change, WRITTEN if is_written else THERE if state == THERE else KEPT))
    kept = set(map(_identity, changes))
    outdated = [one for one in ledger.installed(owner) if (one.path, one.identity) not in kept]
    if preview:
        preview.remove(outdated, owner)
    elif outdated:
        undo_changes(ledger, owner, outdated)
    return [*steps, *(Step(as_change(one), REMOVED) for one in outdated)]


def _changes(agent: Agent, place: Place) -> tuple[Change, ...]:
    return agent.wire(place) if agent.wire else ()


def _identity(change: Change) -> tuple[str, tuple[object, ...]]:
    return change.path, as_installed(change, "").identity


def _known(agent: Agent, place: Place, ledger: Ledger) -> set[tuple[str, tuple[object, ...]]]:
    return {(one.path, one.identity) for one in ledger.installed(owner_of(agent, place))}


def _is_default(change: Change) -> bool:
    return isinstance(change, Entry) and change.default


def remove_unrecorded(agents: Iterable[Agent], places: Iterable[Place], ledger: Ledger) -> list[Outcome]:
    """Remove told's changes that the ledger does not know."""
    known = {one.path for one in ledger.installed()}
    outcomes = []
    for agent, place in itertools.product(agents, places):
        if owner_of(agent, place) in ledger.owners():
            continue
        for profile in (FULL, MINIMAL, NO_HOOKS):
            for change in _changes(agent, replace(place, profile=profile)):
                # A default may be the user's own.
                if _is_default(change) or change.path in known:
                    continue
                if change_state(change) in (THERE, EDITED):
                    outcomes.append(remove_change(change))
    return outcomes


OUTDATED, YOURS = "outdated", "yours"
_SECONDS = 5  # that a hook may take on a machine under load


@dataclass(frozen=True, slots=True)
class Wiring:
    """How told is installed into an agent for one scope."""

    agent: str
    scope: str
    profile: str
    seen: tuple[Step, ...]
    is_wired: bool

    def count(self, what: str) -> int:
        """Return how many changes of one kind are there."""
        return sum(part_of(one.change) == what and one.state in (THERE, YOURS, OUTDATED) for one in self.seen)

    @property
    def needs_install(self) -> bool:
        """Whether `told install` would change something."""
        return any(one.state in (MISSING, OUTDATED) for one in self.seen)


@dataclass(frozen=True, slots=True)
class HookRun:
    """The result of running a hook."""

    milliseconds: float
    fault: str = ""  # empty if it ended with 0


def inspect_wiring(agent: Agent, place: Place, ledger: Ledger) -> Wiring:
    """Inspect an agent's files; guess the profile from them."""
    known = _known(agent, place, ledger)
    owner = owner_of(agent, place)
    tried = []
    for profile in (MINIMAL, FULL, NO_HOOKS):
        changes = _changes(agent, replace(place, profile=profile))
        # The path of told works as well where its name would do.
        by_path = replace(place, profile=profile, told=place.told_beside, on_path=False)
        others = _changes(agent, by_path)
        seen = tuple(
            _inspect_change(one, other, ledger, owner)
            for one, other in zip(changes, others, strict=True)
            if not _is_default(one)
        )
        made = set(map(_identity, changes))
        there = sum(one.state == THERE for one in seen) - sum(one.state in (MISSING, BROKEN) for one in seen)
        tried.append((-len(known ^ made) if known else 0, there, profile, seen))
    _, _, profile, seen = max(tried, key=lambda one: one[:2])
    # A paragraph may have been written for another agent that reads the same file.
    own = (one for one in seen if part_of(one.change) != INSTRUCTIONS)
    is_there = any(one.state in (THERE, OUTDATED) for one in own)
    return Wiring(agent.name, place.scope, profile, seen, is_there or bool(known))


def _inspect_change(change: Change, other: Change, ledger: Ledger, owner: str) -> Step:
    """Return the state of a change, of which `other` is another form."""
    state = change_state(change)
    if state == THERE or (change != other and change_state(other) == THERE):
        return Step(change, THERE)
    if state == MISSING:
        return Step(change, state)
    if state.startswith("broken: "):
        return Step(change, BROKEN, state.removeprefix("broken: "))
    try:
        is_outdated = Preview(ledger).apply(change, owner)
    except ToldError as error:
        return Step(change, BROKEN, str(error))
    return Step(change, OUTDATED if is_outdated else YOURS)


def run_hook(agent: Agent, started: Launch, environ: Mapping[str, str]) -> HookRun:
    """Run an agent's hook once with an empty call."""
    # It must not start a service, since an agent's sandboxed shell may run this, nor count as a late hook.
    variables = dict(environ) | {"TOLD_BACKGROUND": "off", "TOLD_HOOK_SECONDS": str(_SECONDS)}
    began = time.perf_counter()
    try:
        done = subprocess.run(  # noqa: S603 - told's own command
            started.words(agent.name, PROMPT),
            input=b"{}", capture_output=True, timeout=_SECONDS + 1, check=False, env=variables,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return HookRun(_SECONDS * 1000.0, f"it did not end within {_SECONDS} seconds")
    except OSError as error:
        return HookRun(0.0, f"it does not start ({(error.strerror or 'error').lower()})")
    fault = f"it ended with {done.returncode}" if done.returncode else ""
    return HookRun((time.perf_counter() - began) * 1000, fault)


def has_hooks(wired: Wiring) -> bool:
    """Tell whether any of told's hooks is installed."""
    return wired.count(HOOKS) > 0
