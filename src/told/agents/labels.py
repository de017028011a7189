"""Short names of agents for lists, without loading the agents."""

from __future__ import annotations

# Where the label is not simply the name's first word; a test holds this against the agents' own files.
_LABELS = {"vscode-copilot": "vscode", "neovim": "nvim", "jetbrains-copilot": "jetbrains"}


def label(agent: str) -> str:
    """Return the name of an agent in lists."""
    return _LABELS.get(agent) or agent.partition("-")[0]
