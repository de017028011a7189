"""Detect who runs a command: the user, or an agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from told.agents import detect_agent
from told.store.memories.names import AGENT, USER


class Caller(NamedTuple):
    """Who runs a command."""

    by: str = USER  # or agent
    agent: str = ""
    session: str = ""  # the agent's own id of it
    sign: str = ""  # the variable that gave the agent away

    @property
    def is_user(self) -> bool:
        """Return whether the user runs the command."""
        return self.by == USER


def detect_caller(environ: Mapping[str, str]) -> Caller:
    """Detect who runs a command; without an agent's variable it is the user."""
    found = detect_agent(environ)
    return Caller(AGENT, found.name, found.session, found.sign) if found else Caller()
