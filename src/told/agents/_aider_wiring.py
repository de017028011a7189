"""Wires Aider: a paragraph in the file of conventions that its documentation suggests."""

from __future__ import annotations

from told.agents._wiring_places import below
from told.agents.wiring import PROJECT_SCOPE, Block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.agents.wiring import Change, Place


def changes(place: Place) -> tuple[Change, ...]:
    """Return what told writes for Aider: nothing that holds in all projects, and no YAML."""
    if place.scope != PROJECT_SCOPE:
        return ()
    return (Block(below(place, place.project, "CONVENTIONS.md"), place.guide),)
