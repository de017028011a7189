"""Detect who runs a command: the user, or an agent."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from told.agents import detect_agent
from told.agents.processes import find_agent_above, this_machine
from told.store.memories.names import AGENT, USER
from told.store.memories.records import CAPTURE, READER


class Caller(NamedTuple):
    """Who runs a command."""

    by: str = USER  # or agent
    agent: str = ""
    session: str = ""  # the agent's own id of it
    sign: str = ""  # what gave the agent away: a variable, or its process

    @property
    def is_user(self) -> bool:
        """Return whether the user runs the command."""
        return self.by == USER

    @property
    def is_told(self) -> bool:
        """Return whether told itself writes what users said in sessions."""
        return self.by in (CAPTURE, READER)


def detect_caller(environ: Mapping[str, str], pid: int = 0) -> Caller:
    """Detect who runs a command: without an agent's variable, and no agent above it, it is the user."""
    found = detect_agent(environ)
    if found:
        return Caller(AGENT, found.name, found.session, f"{found.sign} is set here")
    processes = this_machine()
    agent = find_agent_above(pid or os.getpid(), processes) if processes else ""
    return Caller(AGENT, agent, sign=f"{agent} runs it") if agent else Caller()
