"""Make the ASGI app: all routes behind one guard."""

from __future__ import annotations

from fastapi import FastAPI, Security
from fastapi.security import HTTPBearer

from told import __version__
from told.server import agent_memory, agent_tools, mcp
from told.server.context import Server
from told.server.errors import RESPONSES, add_error_handlers
from told.server.guard import ASGIApp, Guard
from told.server.request_metrics import Measured
from told.server.routes import (
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
_ROUTES = (health, jobs, memories, metrics, people, recall, search, sessions, sync)


def make_api(server: Server) -> FastAPI:
    """Return the app without its guard."""
    token = Security(HTTPBearer(auto_error=False))  # only described: the guard has checked it
    app = FastAPI(
        title=_TITLE, version=__version__, redoc_url=None, responses=RESPONSES, dependencies=[token]
    )
    app.state.told = server
    add_error_handlers(app)
    for router in (
        *(one.router for one in _ROUTES),
        *(agent_memory.ROUTERS if server.settings.compat else ()),
    ):
        app.include_router(router)
    own = agent_tools.TOOLS, agent_tools.INSTRUCTIONS
    tools, instructions = agent_memory.TOOLS_AND_GUIDE if server.settings.compat else own
    app.router.routes.append(mcp.make_route(server, tools, instructions))
    return app


def make_app(server: Server, *, local: bool = False) -> ASGIApp:
    """Return the app behind its guard.

    Args:
        server: The database and settings.
        local: It is served on a Unix socket that only this machine's user reaches.
    """
    return Measured(Guard(make_api(server), server, local=local), server.requests)
