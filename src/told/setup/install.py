"""Wires one agent: writes what its wiring says, and takes back what only an earlier one said."""

from __future__ import annotations

from told.agents.wiring import Entry
from told.errors import ToldError
from told.record import record
from told.setup._foreign_kinds import as_installed
from told.setup.foreign import apply, look, preview, take_back
from told.setup.parts import owner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.agents.base import Agent
    from told.agents.wiring import Change, Place
    from told.setup.ledger import Installed, Ledger

WRITTEN, THERE, REMOVED, KEPT, BROKEN = "written", "there", "removed", "kept", "broken"


@record
class Step:
    """What was done, or would be, with one change."""

    change: Change
    state: str  # written, there already, removed, kept as the user made it, or broken
    note: str = ""  # the sentence that says what is wrong
    lines: str = ""  # what would be written


def wire(agent: Agent, place: Place, ledger: Ledger) -> list[Step]:
    """Write everything an agent's wiring says; a file that cannot be changed stops none of the others."""
    name = owner(agent, place)
    steps = []
    for change in wanted(agent, place, ledger):
        try:
            done = apply(change, ledger, name)
        except ToldError as error:
            steps.append(Step(change, BROKEN, str(error)))
            continue
        steps.append(Step(change, WRITTEN if done else _unwritten(change)))
    outdated = _outdated(agent, place, ledger)
    if outdated:
        from told.setup._foreign_kinds import as_change

        take_back(ledger, name, outdated)
        steps += [Step(as_change(one), REMOVED) for one in outdated]
    return steps


def plan(agent: Agent, place: Place, ledger: Ledger) -> list[Step]:
    """Return what `wire` would do, without doing it."""
    from told.setup._foreign_kinds import as_change

    steps = []
    for change in wanted(agent, place, ledger):
        try:
            lines = preview(change)
        except ToldError as error:
            steps.append(Step(change, BROKEN, str(error)))
            continue
        steps.append(Step(change, WRITTEN if lines else _unwritten(change), lines=lines))
    return [*steps, *(Step(as_change(one), REMOVED) for one in _outdated(agent, place, ledger))]


def wanted(agent: Agent, place: Place, ledger: Ledger) -> list[Change]:
    """Return what an agent's wiring says, without the defaults for which the user has a value already."""
    if agent.wire is None:
        return []
    known = {(one.path, one.identity) for one in ledger.installed(owner(agent, place))}
    return [
        change
        for change in agent.wire(place)
        if not (isinstance(change, Entry) and change.default)
        or (change.path, as_installed(change, "").identity) in known
        or look(change) == "missing"
    ]


def _outdated(agent: Agent, place: Place, ledger: Ledger) -> list[Installed]:
    changes = () if agent.wire is None else agent.wire(place)
    kept = {(change.path, as_installed(change, "").identity) for change in changes}
    return [one for one in ledger.installed(owner(agent, place)) if (one.path, one.identity) not in kept]


def _unwritten(change: Change) -> str:
    return THERE if look(change) == "there" else KEPT
