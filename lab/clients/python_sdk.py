"""The official Python SDK's client, from the environment that this runs in."""

from __future__ import annotations

import asyncio
import functools
import importlib.metadata
import os
import pathlib
from collections.abc import Sequence
from typing import Any, TextIO

from lab.clients.talk import INITIALIZE, STATELESS, WORD, Call, Client, Heard, Outcome, Server

_SECONDS = 60.0


def clients() -> list[Client]:
    """Return it once for each era."""
    version = importlib.metadata.version("mcp")
    return [
        Client("Python SDK", version, era, functools.partial(_talk, era)) for era in (INITIALIZE, STATELESS)
    ]


def _talk(era: str, server: Server, calls: Sequence[Call]) -> Heard:
    with open(os.devnull, "w", encoding="utf-8") as silence:
        return asyncio.run(_connected(era, server, calls, silence))


async def _connected(era: str, server: Server, calls: Sequence[Call], silence: TextIO) -> Heard:
    import mcp_types as types
    from mcp import Client as Connection
    from mcp.client.stdio import StdioServerParameters, stdio_client

    async def roots(context: Any) -> types.ListRootsResult:
        del context
        return types.ListRootsResult(
            roots=[types.Root.model_validate({"uri": pathlib.Path(one).as_uri()}) for one in server.roots]
        )

    started = StdioServerParameters(
        command=server.command, args=list(server.args), env=dict(server.env), cwd=server.cwd
    )
    try:
        async with Connection(
            stdio_client(started, errlog=silence),
            mode="legacy" if era == INITIALIZE else "auto",
            read_timeout_seconds=_SECONDS,
            list_roots_callback=roots if server.roots else None,
        ) as connection:
            return await _all(connection, calls)
    except Exception as error:  # noqa: BLE001 - whatever goes wrong is the finding
        return Heard(failure=_sentence(error))


async def _all(connection: Any, calls: Sequence[Call]) -> Heard:
    tools = (await connection.list_tools()).tools
    resources = [str(one.uri) for one in (await connection.list_resources()).resources]
    prompts = (await connection.list_prompts()).prompts
    texts = {}
    for uri in resources:
        texts[uri] = _text((await connection.read_resource(uri)).contents)
    for one in prompts:
        given = {wanted.name: WORD for wanted in one.arguments or ()}
        got = await connection.get_prompt(one.name, given)
        texts[one.name] = _text([message.content for message in got.messages])
    return Heard(
        revision=str(connection.protocol_version),
        instructions=connection.instructions or "",
        tools={one.name: one.input_schema for one in tools},
        resources=resources,
        prompts=[one.name for one in prompts],
        texts=texts,
        outcomes=[await _outcome(connection, call) for call in calls],
    )


async def _outcome(connection: Any, call: Call) -> Outcome:
    try:
        result = await connection.call_tool(call.tool, call.arguments)
    except Exception as error:  # noqa: BLE001 - a failure is a finding
        return Outcome(failure=_sentence(error))
    return Outcome(_text(result.content), bool(result.is_error))


def _text(blocks: Sequence[Any]) -> str:
    return "\n".join(getattr(block, "text", "") for block in blocks)


def _sentence(error: BaseException) -> str:
    """Return what went wrong; of several at once, the first."""
    inner = getattr(error, "exceptions", None)
    return _sentence(inner[0]) if inner else (str(error) or type(error).__name__)[:300]
