"""Tell conversations that a program started: nobody types their prompts."""

from __future__ import annotations

import re
from collections.abc import Mapping

from told.agents import find_agent

_READ = 64 * 1024  # bytes of a conversation


def is_headless(name: str, path: str, environ: Mapping[str, str] | None = None) -> bool:
    """Tell whether a program started an agent's conversation.

    Args:
        name: The agent.
        path: The conversation's file; it may be missing.
        environ: The variables of a hook.
    """
    agent = find_agent(name)
    if agent is None:
        return False
    variable, begins = agent.headless_variable
    if variable and (environ or {}).get(variable, "").startswith(begins):
        return True
    if not agent.headless_sign or not path:
        return False
    try:
        with open(path, "rb") as file:
            return re.search(agent.headless_sign, file.read(_READ)) is not None
    except OSError:
        return False
