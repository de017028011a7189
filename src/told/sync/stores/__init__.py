"""Read the memories of other tools, to move to told."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Mapping
from typing import Protocol, cast

from told.errors import MissingError, UsageError
from told.sync.stores.item import Item, LeftOut
from told.sync.stores.statements import make_statements

# The module of each tool's reader, loaded when it is needed.
TOOLS = {
    "claude-mem": "claude_mem",
    "agentmemory": "agentmemory",
    "agentmemory-rrs": "agentmemory_rrs",
    "sessionmem": "sessionmem",
    "ocm": "ocm",
    "agent-memory": "agent_memory",
    "mem0": "mem0",
    "basic-memory": "basic_memory",
    "engram": "engram",
    "mcp-memory": "mcp_memory",
    "claude-memory": "claude_memory",
}


class Reader(Protocol):
    """A module that reads one tool's store."""

    def read(self, path: str) -> Iterator[Item | LeftOut]:
        """Yield what is in a store."""

    def places(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """Return where the tool keeps its store, the likeliest first."""


def read_store(tool: str, path: str) -> Iterator[Item | LeftOut]:
    """Yield what another tool's store has, in the same order each time; change nothing.

    Raises:
        ToldError: the store is missing, busy, damaged or of another tool.
    """
    yield from make_statements(_reader(tool).read(path))


def find_store(tool: str, environ: Mapping[str, str]) -> str:
    """Return the default place of a tool's store.

    Raises:
        MissingError: there is none.
    """
    places = _reader(tool).places(environ.get("HOME") or environ.get("USERPROFILE", ""), environ)
    for place in places:
        if os.path.exists(place):
            return place
    looked = f" in {' or '.join(places)}" if places else ""
    raise MissingError(f"No store of {tool} found{looked}. Give its path: told import --from {tool} PATH")


def _reader(tool: str) -> Reader:
    if tool not in TOOLS:
        raise UsageError(f"told cannot import from {tool!r}. Use one of {', '.join(TOOLS)}.")
    return cast("Reader", importlib.import_module(f"told.sync.stores.{TOOLS[tool]}"))
