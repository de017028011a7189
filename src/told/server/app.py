"""Make the ASGI app: all routes behind one guard."""

from __future__ import annotations

from functools import cache

from fastapi import FastAPI, Security
from fastapi.security import HTTPBearer

from told import __version__
from told.server import agent_memory, agent_tools, mcp
from told.server.context import Server
from told.server.errors import RESPONSES, add_error_handlers
from told.server.guard import ASGIApp, Guard
from told.server.request_metrics import Measured
from told.server.routes import (
    docs,
    health,
    jobs,
    memories,
    metrics,
    people,
    recall,
    search,
    sessions,
    sync,
)

_TITLE = "told team server"
_ROUTES = (docs, health, jobs, memories, metrics, people, recall, search, sessions, sync)


@cache
def make_api(*, compat: bool = False) -> FastAPI:
    """Return all routes, without the guard, which hands them the server of each request.

    Args:
        compat: Answer agent-memory's paths and tools as well.
    """
    token = Security(HTTPBearer(auto_error=False))  # only described: the guard has checked it
    app = FastAPI(
        title=_TITLE,
        version=__version__,
        docs_url=None,
        redoc_url=None,
        responses=RESPONSES,
        dependencies=[token],
    )
    add_error_handlers(app)
    for router in (*(one.router for one in _ROUTES), *(agent_memory.ROUTERS if compat else ())):
        app.include_router(router)
    own = agent_tools.TOOLS, agent_tools.INSTRUCTIONS
    tools, instructions = agent_memory.TOOLS_AND_GUIDE if compat else own
    app.router.routes.append(mcp.make_route(tools, instructions))
    return app


def make_app(server: Server, *, local: bool = False) -> ASGIApp:
    """Return the app behind its guard.

    Args:
        server: The database and settings.
        local: It is served on a Unix socket that only this machine's user reaches.
    """
    api = make_api(compat=server.settings.compat)
    return Measured(Guard(api, server, local=local), server.requests)
