"""Told's server on the official SDK, for HTTP in every revision; loaded only when that is asked for."""

from __future__ import annotations

from mcp.server.lowlevel import Server as Official
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp_types import CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY, PROTOCOL_VERSION_META_KEY

from told import __version__
from told.serve.mcp.envelope import STATELESS
from told.serve.mcp.offers import INSTRUCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any

    from mcp.server.context import ServerRequestContext

    Ask = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]

# Nobody who asks over HTTP has a current folder, and without sessions no folders can be asked for.
_WHERE = " told does not see your folder here: give `project` (its folder or name) in every call."


def answering(ask: Ask, most: int) -> StreamableHTTPSessionManager:
    """Return the SDK's side: it reads requests, and hands each that is well-formed on.

    Args:
        ask: Answers one message of the stateless revision.
        most: How many bytes a request may have.
    """

    async def handle(context: ServerRequestContext[Any, Any], _: object) -> Any:
        params = {**(context.params or {}), "_meta": _envelope(context)}
        said = await ask({"jsonrpc": "2.0", "id": 0, "method": context.method, "params": params})
        if "error" in said:
            error = said["error"]
            raise MCPError(error["code"], error["message"], error.get("data"))
        # The SDK leaves out what a revision does not know, and says itself who answers.
        return {name: value for name, value in said["result"].items() if name != "_meta"}

    official: Official[Any] = Official(
        "told", version=__version__, title="told", instructions=INSTRUCTIONS + _WHERE,
        on_list_tools=handle, on_call_tool=handle, on_list_resources=handle,
        on_list_resource_templates=handle, on_read_resource=handle, on_list_prompts=handle,
        on_get_prompt=handle,
    )  # fmt: skip
    return StreamableHTTPSessionManager(
        official, json_response=True, stateless=True, max_request_body_size=most
    )


def _envelope(context: ServerRequestContext[Any, Any]) -> dict[str, Any]:
    """Say who asks as the stateless revision does; in older ones that is unknown after the first request."""
    found: dict[str, Any] = {PROTOCOL_VERSION_META_KEY: STATELESS[-1], CLIENT_CAPABILITIES_META_KEY: {}}
    client = context.session.client_params
    if client is not None:
        found[CLIENT_INFO_META_KEY] = {
            "name": client.client_info.name, "version": client.client_info.version,
        }  # fmt: skip
    return found
