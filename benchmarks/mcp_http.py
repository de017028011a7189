"""What MCP over HTTP costs: told's background service, before and after an agent asks it for tools."""

from __future__ import annotations

import http.client
import json
import os
import statistics
import time
from typing import NamedTuple
from urllib.parse import urlsplit

from benchmarks import CannotMeasureError, measure
from benchmarks.mcp_talk import INITIALIZE, memory_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_SECONDS = 60


class _Service(NamedTuple):
    """Where the service answers, and what it wants to see."""

    url: str
    token: str
    pid: int

    def ask(self, method: str, params: Mapping[str, Any]) -> float:
        """Send one request over a new connection, as agents do that keep none; return the seconds it took."""
        place = urlsplit(self.url)
        headers = {
            "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
            "Authorization": f"Bearer {self.token}",
        }  # fmt: skip
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        began = time.perf_counter()
        connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=_SECONDS)
        try:
            connection.request("POST", place.path, body, headers)
            response = connection.getresponse()
            said = json.loads(response.read())
        except (OSError, ValueError) as error:
            raise CannotMeasureError(f"the service does not answer: {error}") from error
        finally:
            connection.close()
        if "result" not in said or said["result"].get("isError"):
            raise CannotMeasureError(f"{method}: {json.dumps(said)[:300]}")
        return time.perf_counter() - began


def measured(mcp: measure.Command, home: str, tool: str, given: Mapping[str, Any], count: int) -> Any:
    """Return what the service costs with MCP over HTTP; a sentence where that cannot be had.

    Args:
        mcp: Told's server, whose store the service is started on.
        home: A folder for the agent that the service is installed for.
        tool: The tool that is called.
        given: What it is called with.
        count: How often it is called.
    """
    os.makedirs(os.path.join(home, ".claude"))
    like = mcp._replace(environ={**mcp.environ, "HOME": home})

    def told(*words: str) -> measure.Ran:
        return measure.once(like._replace(words=[like.words[0], *words]))

    added = told("install", "--agent", "claude-code", "--service", "--yes")
    if added.code:
        return f"not there: {added.errors.strip()[-200:]}"
    try:
        found = json.loads(told("service", "status", "--json").out)
        with open(found["token_file"], encoding="ascii") as file:
            service = _Service(found["mcp"], file.read().strip(), found["pid"])
        return _figures(service, tool, given, count)
    except (CannotMeasureError, OSError, ValueError, KeyError) as error:
        return f"not measured: {error}"
    finally:
        told("service", "stop")


def _figures(service: _Service, tool: str, given: Mapping[str, Any], count: int) -> dict[str, Any]:
    before = memory_of(service.pid)
    first = service.ask("initialize", INITIALIZE)
    listed = [service.ask("tools/list", {}) for _ in range(count)]
    called = [service.ask("tools/call", {"name": tool, "arguments": dict(given)}) for _ in range(count)]
    return {
        "first_ms": round(first * 1000, 1), "list_ms": round(statistics.median(listed) * 1000, 2),
        "call_ms": round(statistics.median(called) * 1000, 2), "before_mb": before.now,
        "after_mb": memory_of(service.pid).now,
    }  # fmt: skip
