"""Any other agent: the files that many read, in the project."""

from __future__ import annotations

from told.agents._wiring_forms import project_mcp, shared_agents_file
from told.agents.base import Agent
from told.agents.wiring import PROJECT_SCOPE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.agents.wiring import Change, Place


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes into a project for agents that it does not know."""
    if place.scope != PROJECT_SCOPE:
        return ()
    return (*project_mcp(place), *shared_agents_file(place))


AGENT = Agent(
    name="generic",
    title="Any other agent",
    label="generic",
    wire=wire,
    limits="It is wired in a project only: --scope project.",
)
