"""Asking told through MCP: how the scripted model calls its tools in each agent, and what it heard."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lab.result import Finding
from lab.wires.base import Asked

if TYPE_CHECKING:  # the model follows this script
    from lab.model import Request

ASK = "Ask told about the export"  # a prompt with these words makes the model call the tool
_QUERY = "invoice export"
_PREFIX = r"(?:mcp__told(?:__|::)|mcp_told_|told(?:__|_|-))"
_SEARCH = re.compile(f"{_PREFIX}search")
_FINDER, _CALLER = "tool_search", "tool_call"  # where tools are not offered before they are looked for
_BEHIND = "behind its search for tools"


def tool(names: Iterable[str], wanted: str = "search") -> str:
    """Return what an agent calls a tool of told's; empty where it does not offer it."""
    return next((name for name in names if re.fullmatch(f"{_PREFIX}{wanted}", name)), "")


def next_call(
    asked: Asked, wanted: str = "search", arguments: Mapping[str, Any] | None = None
) -> tuple[str, Any] | None:
    """Return the call that the model makes next, or None when told has been called."""
    called = set(asked.called)
    arguments = arguments or {"query": _QUERY}
    name = tool(asked.tools, wanted)
    if name:
        return None if name in called else (name, arguments)
    if _FINDER in asked.tools and _FINDER not in called:
        return _FINDER, {"query": f"told {wanted} memories"}
    found = re.search(f"{_PREFIX}{wanted}", "\n".join(asked.results))
    if found and _CALLER in asked.tools and _CALLER not in called:
        return _CALLER, {"name": found[0], "arguments": arguments}
    return None


def listed(turns: Sequence[Request]) -> Finding:
    """Tell whether the agent shows the model told's tools."""
    if any(tool(request.tools) for request in turns[:1]):
        return Finding(True)
    behind = any(tool(request.tools) or request.matches(_SEARCH) for request in turns)
    return Finding(behind, _BEHIND if behind else "no request names told's tools")


def answered(turns: Sequence[Request], words: str) -> Finding:
    """Tell whether a request after the call holds what told answered; it must hold these words."""
    results = turns[-1].results if turns else ()
    if any(words in text for text in results):
        return Finding(True)
    return Finding(False, f"told did not answer: {results[-1][:120]}" if results else "it was not called")
