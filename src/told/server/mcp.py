"""Serve MCP over streamable HTTP, without sessions: any server can take the next request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server as McpServer
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.concurrency import run_in_threadpool
from starlette.routing import Route

from told import __version__
from told.errors import ToldError
from told.server.context import Client, Server
from told.server.guard import Receive, Scope, Send
from told.store.postgres.people import READER, ROLES

PATH = "/mcp"
_MAX_BODY = 4 * 1024 * 1024  # bytes
_Context = ServerRequestContext[Any, Any]


class ServerTool(NamedTuple):
    """A tool of the team server."""

    name: str
    about: str
    schema: dict[str, Any]  # JSON Schema of its arguments
    call: Callable[[Server, Client, dict[str, Any]], str]
    role: str = READER  # that it needs


def make_route(tools: Sequence[ServerTool], instructions: str = "") -> Route:
    """Return the route of an MCP server with some tools."""
    return Route(PATH, endpoint=_Endpoint(_make_server(tools, instructions)), methods=["POST"])


class _Endpoint:
    """The ASGI app of the route."""

    def __init__(self, server: McpServer[Any]) -> None:
        self._server = server

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # A manager of its own for each request: none of them outlives the request, so there is no session to
        # keep, and nothing to end when the process ends. The guard has checked host, origin and token.
        manager = StreamableHTTPSessionManager(
            self._server, json_response=True, stateless=True, max_request_body_size=_MAX_BODY
        )
        async with manager.run():
            await manager.handle_request(scope, receive, send)


def _make_server(tools: Sequence[ServerTool], instructions: str) -> McpServer[Any]:
    by_name = {one.name: one for one in tools}

    async def list_tools(_: _Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_describe(one) for one in by_name.values()])

    async def call_tool(context: _Context, asked: types.CallToolRequestParams) -> types.CallToolResult:
        request: Any = context.request
        client: Client = request.state.client
        server: Server = request.state.server
        tool = by_name.get(asked.name)
        if tool is None:
            return _answer(f'Unknown tool "{asked.name[:80]}".', is_error=True)
        if ROLES.index(client.role) < ROLES.index(tool.role):
            needed = f"This needs the role {tool.role}, and your token has {client.role}."
            return _answer(needed, is_error=True)
        try:
            return _answer(await run_in_threadpool(tool.call, server, client, asked.arguments or {}))
        except ToldError as error:
            return _answer(str(error), is_error=True)

    return McpServer(
        "told", version=__version__, instructions=instructions or None, on_list_tools=list_tools,
        on_call_tool=call_tool,
    )  # fmt: skip


def _describe(tool: ServerTool) -> types.Tool:
    hints = types.ToolAnnotations(read_only_hint=tool.role == READER, destructive_hint=False)
    return types.Tool(name=tool.name, description=tool.about, input_schema=tool.schema, annotations=hints)


def _answer(text: str, *, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=is_error)
