"""Looks at what is wired: whether it is as told would write it, and whether the hook runs."""

from __future__ import annotations

import time

from told.agents.wiring import FULL, MINIMAL, NO_HOOKS, PROMPT, Entry
from told.errors import ToldError
from told.record import record, replaced
from told.setup._foreign_kinds import as_installed
from told.setup.foreign import look, preview
from told.setup.parts import HOOKS, INSTRUCTIONS, owner, part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from told.agents.base import Agent
    from told.agents.wiring import Change, Place
    from told.setup.ledger import Ledger

THERE, MISSING, OUTDATED, YOURS, BROKEN = "there", "missing", "outdated", "yours", "broken"
_PATIENCE = 5  # seconds: the time is measured, and a machine under load is no fault


@record
class Seen:
    """How one change of a wiring stands."""

    change: Change
    state: str  # there, missing, older than this told, changed by the user, or broken
    note: str = ""


@record
class Wired:
    """How an agent is wired in one scope."""

    agent: str
    scope: str
    profile: str
    seen: tuple[Seen, ...]
    is_wired: bool

    def count(self, what: str) -> int:
        """Return how many changes of one kind are there."""
        return sum(part(one.change) == what and one.state in (THERE, YOURS, OUTDATED) for one in self.seen)

    @property
    def needs_install(self) -> bool:
        """Whether `told install` would change something."""
        return any(one.state in (MISSING, OUTDATED) for one in self.seen)


@record
class Ran:
    """What running the hook showed."""

    milliseconds: float
    fault: str = ""  # empty if it ended with 0


def examine(agent: Agent, place: Place, ledger: Ledger) -> Wired:
    """Return how an agent is wired; the profile is the one that fits best to the ledger and the files."""
    known = {(one.path, one.identity) for one in ledger.installed(owner(agent, place))}
    tried = []
    for profile in (MINIMAL, FULL, NO_HOOKS):
        changes = agent.wire(replaced(place, profile=profile)) if agent.wire else ()
        seen = tuple(_seen(one) for one in changes if not (isinstance(one, Entry) and one.default))
        made = {(one.path, as_installed(one, "").identity) for one in changes}
        there = sum(one.state == THERE for one in seen) - sum(one.state in (MISSING, BROKEN) for one in seen)
        tried.append((-len(known ^ made) if known else 0, there, profile, seen))
    _, _, profile, seen = max(tried, key=lambda one: one[:2])
    # A paragraph may have been written for another agent that reads the same file.
    own = (one for one in seen if part(one.change) != INSTRUCTIONS)
    is_there = any(one.state in (THERE, OUTDATED) for one in own)
    return Wired(agent.name, place.scope, profile, seen, is_there or bool(known))


def run_hook(agent: Agent, place: Place, environ: Mapping[str, str]) -> Ran:
    """Run an agent's hook once with an empty event, as the agent would."""
    import subprocess

    began = time.perf_counter()
    try:
        done = subprocess.run(  # noqa: S603 - told's own command
            place.launch.words(agent.name, PROMPT),
            input=b"{}", capture_output=True, timeout=_PATIENCE, check=False, env=dict(environ),
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Ran(_PATIENCE * 1000.0, f"it did not end within {_PATIENCE} seconds")
    except OSError as error:
        return Ran(0.0, f"it does not start ({(error.strerror or 'error').lower()})")
    fault = f"it ended with {done.returncode}" if done.returncode else ""
    return Ran((time.perf_counter() - began) * 1000, fault)


def has_hooks(wired: Wired) -> bool:
    """Tell whether any hook of told's is there."""
    return wired.count(HOOKS) > 0


def _seen(change: Change) -> Seen:
    state = look(change)
    if state in (THERE, MISSING):
        return Seen(change, state)
    if state.startswith("broken: "):
        return Seen(change, BROKEN, state.removeprefix("broken: "))
    try:
        return Seen(change, OUTDATED if preview(change) else YOURS)
    except ToldError as error:
        return Seen(change, BROKEN, str(error))
