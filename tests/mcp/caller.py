"""An agent's side of the protocol, and tools that only note what they were asked."""

from __future__ import annotations

import json
from itertools import count
from typing import TYPE_CHECKING, Any

from told.mcp.server import Server
from told.mcp.tools import Answer, Client

if TYPE_CHECKING:
    from collections.abc import Callable

META = "io.modelcontextprotocol/"
NEWEST = "2026-07-28"
_ids = count(1)


def envelope(version: Any = NEWEST, **more: Any) -> dict[str, Any]:
    """Return what every request of the stateless revision carries."""
    said = {"protocolVersion": version, "clientCapabilities": {}, "clientInfo": {"name": "an agent"}}
    return {META + name: value for name, value in {**said, **more}.items() if value is not ...}


def request(method: str, params: Any = ..., **more: Any) -> dict[str, Any]:
    """Return a request."""
    made = {"jsonrpc": "2.0", "id": next(_ids), "method": method}
    return made | ({} if params is ... else {"params": params}) | more


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    """Return a call of a tool."""
    return request("tools/call", {"name": tool, "arguments": arguments})


def greeting(version: Any = "2025-11-25", **abilities: Any) -> dict[str, Any]:
    """Return the request with which a connection begins."""
    client = {"name": "an agent", "version": "7"}
    params = {"protocolVersion": version, "capabilities": abilities, "clientInfo": client}
    return request("initialize", params)


def lines(*messages: Any) -> bytes:
    """Return messages as they are sent; bytes are sent as they are."""
    return b"".join(
        one + b"\n" if isinstance(one, bytes) else json.dumps(one).encode() + b"\n" for one in messages
    )


class Box:
    """Tools that note what they are asked, and say it back."""

    def __init__(self, work: Callable[[], Answer] | None = None, *, knows_place: bool = True) -> None:
        self.asked: list[tuple[str, dict[str, Any], Client]] = []
        self._work = work
        self._knows_place = knows_place

    def call(self, name: str, arguments: dict[str, Any], client: Client) -> Answer:
        """Note a call."""
        self.asked.append((name, arguments, client))
        return self._work() if self._work else Answer(f"{name}: {arguments}")

    def read(self, uri: str, client: Client) -> Answer:
        """Note what is read."""
        self.asked.append((uri, {}, client))
        return self._work() if self._work else Answer(f"# {uri}")

    def knows_place(self) -> bool:
        """Say whether it was started in a project."""
        return self._knows_place


def asked(message: Any, box: Box | None = None) -> Any:
    """Return the answer of a new server to one message."""
    return Server(box or Box()).answer(message)


def result(message: Any, box: Box | None = None) -> dict[str, Any]:
    """Return what a new server gives."""
    answer = asked(message, box)
    assert answer["id"] == message["id"]
    found: dict[str, Any] = answer["result"]
    return found


def code(message: Any, box: Box | None = None) -> int:
    """Return why a new server gives nothing."""
    answer = asked(message, box)
    found: int = answer["error"]["code"]
    return found
