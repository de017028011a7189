"""The one guard in front: what it does not let through never comes near the memories."""

from __future__ import annotations

from hmac import compare_digest

from told.agents.wiring import PROMPT
from told.record import record
from told.serve.request import MOST_BODY, length_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.serve.request import Head

PING = "/ping"
HOOK = "/told.hook/"
MCP = "/mcp"
# A token in an agent's file is for what that agent's hooks ask over the network, and for nothing else.
_SERVED = frozenset((PROMPT,))
_JSON = "application/json"


@record
class Route:
    """Where a request that was let through goes."""

    agent: str = ""  # empty: it only asks whether anybody is there
    event: str = ""
    is_mcp: bool = False  # no hook asks, but an agent in the middle of its work


def admitted(head: Head, port: int, token: str) -> Route | int:
    """Return where a request goes, or the code of its refusal.

    A web page cannot say who it is not: a browser names the page's host or its origin in every such request.
    """
    headers = head.headers
    if headers.get("host", "").lower() not in (f"127.0.0.1:{port}", f"localhost:{port}"):
        return 421
    if "origin" in headers:
        return 403
    given, wanted = headers.get("authorization", ""), f"Bearer {token}"
    if not token or not compare_digest(given.encode("latin-1"), wanted.encode()):
        return 401
    if head.method != "POST":
        return 405
    route = _route(head.path)
    if route is None:
        return 404
    if headers.get("content-type", "").partition(";")[0].strip().lower() != _JSON:
        return 415
    length = length_of(head)
    if length < 0:
        return 411
    return route if length <= MOST_BODY else 413


def _route(path: str) -> Route | None:
    if path in (PING, MCP):
        return Route(is_mcp=path == MCP)
    agent, slash, event = path.removeprefix(HOOK).partition("/")
    is_hook = path.startswith(HOOK) and slash and event in _SERVED
    return Route(agent, event) if is_hook and _is_name(agent) else None


def _is_name(agent: str) -> bool:
    return 0 < len(agent) <= 40 and agent.isascii() and agent.replace("-", "").isalnum()
