"""Which agent it is that calls itself so as a client of the Model Context Protocol."""

from __future__ import annotations

import os

# A word that stands for an agent whose whole name is not in a client's; the first that is there counts.
_WORDS = {
    "vscode": "vscode-copilot", "visual": "vscode-copilot", "jetbrains": "jetbrains-copilot",
    "intellij": "jetbrains-copilot", "copilot": "copilot-cli", "gemini": "gemini-cli", "qwen": "qwen-code",
    "continue": "continue",
}  # fmt: skip
_NO_AGENTS = ("base", "dialects", "events", "generic", "labels", "text", "wiring")


def agent_of_client(name: str) -> str:
    """Return the agent that a client's name tells of; empty if it is none that told knows.

    >>> agent_of_client("codex-mcp-client"), agent_of_client("gemini-cli-mcp-client")
    ('codex', 'gemini-cli')
    >>> agent_of_client("Visual Studio Code"), agent_of_client("cursor-vscode"), agent_of_client("claude-ai")
    ('vscode-copilot', 'cursor', '')
    """
    said = "".join(letter if letter.isalnum() else " " for letter in name[:200].lower()).split()
    whole = [one for one in _names() if set(one.split("-")) <= set(said)]
    if whole:
        return max(whole, key=len)
    return next((agent for word, agent in _WORDS.items() if word in said), "")


def _names() -> list[str]:
    """Return agents' names as their files have them: loading them all would take longer than most calls."""
    files = sorted(os.listdir(os.path.dirname(__file__)))
    modules = [file[:-3] for file in files if file.endswith(".py") and not file.startswith("_")]
    return [module.replace("_", "-") for module in modules if module not in _NO_AGENTS]
