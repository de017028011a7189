"""One small file for each agent that can be run here: its program, its settings and its command lines."""

from __future__ import annotations

import importlib
import pkgutil

from lab.agents.base import RealAgent

_ORDER = ("claude-code", "codex", "gemini-cli", "opencode", "copilot-cli", "qwen-code", "cline")


def real_agents() -> dict[str, RealAgent]:
    """Return every agent by told's name for it, in the order of the table."""
    names = [module.name for module in pkgutil.iter_modules(__path__) if module.name != "base"]
    found: list[RealAgent] = [importlib.import_module(f"{__name__}.{name}").AGENT for name in names]
    return {one.name: one for one in sorted(found, key=lambda one: _ORDER.index(one.name))}
