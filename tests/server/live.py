"""A server on a real port of this machine, in a thread of the test."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from tests.server.site import Site
from told.server.app import make_app


@contextmanager
def serving(site: Site) -> Iterator[str]:
    """Serve a site on 127.0.0.1; yield its address."""
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    bound.listen(64)  # clients may come before the thread is ready
    app: Any = make_app(site.server)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, lifespan="off"))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[bound])), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    finally:
        server.should_exit = server.force_exit = True
        thread.join()
        bound.close()
