"""Takes back what told wrote into agents' files: what the ledger knows, and what is recognisably told's."""

from __future__ import annotations

from told.agents.wiring import FULL, MINIMAL, NO_HOOKS, Entry
from told.record import replaced
from told.setup.foreign import look, remove, take_back
from told.setup.parts import owner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from told.agents.base import Agent
    from told.agents.wiring import Change, Place
    from told.setup.foreign import Outcome
    from told.setup.ledger import Ledger


def unwire(ledger: Ledger, prefixes: Iterable[str]) -> list[Outcome]:
    """Take back what was written for owners whose name begins so."""
    return [outcome for prefix in prefixes for outcome in take_back(ledger, prefix)]


def sweep_out(agents: Iterable[Agent], places: Iterable[Place], ledger: Ledger) -> list[Outcome]:
    """Remove what no ledger knows of: told's folder was deleted, or another told wrote it."""
    known = {one.path for one in ledger.installed()}
    places = list(places)
    outcomes = []
    for agent in agents:
        for place in places:
            if owner(agent, place) in ledger.owners():
                continue
            for change in _ever_written(agent, place):
                if change.path not in known and look(change) in ("there", "edited"):
                    outcomes.append(remove(change))  # noqa: PERF401 - each is looked at after the one before
    return outcomes


def _ever_written(agent: Agent, place: Place) -> Iterator[Change]:
    for profile in (FULL, MINIMAL, NO_HOOKS):
        for change in agent.wire(replaced(place, profile=profile)) if agent.wire else ():
            # A default is not recognisably told's: the user may have written it.
            if not (isinstance(change, Entry) and change.default):
                yield change
