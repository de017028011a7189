"""The background service: listens on this machine alone, answers hooks, and leaves when it is idle."""

from __future__ import annotations

import os
import time
from socket import SHUT_WR
from threading import Lock, Thread

from told import __version__
from told.serve.choice import token_of
from told.serve.freshness import Freshness
from told.serve.guarding import admitted
from told.serve.neighbour import is_another_users
from told.serve.request import MOST_BODY, drain, read_body, read_head
from told.serve.worker import Job, Worker
from told.store.memory_json import encoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from socket import socket

    from told.serve.mcp.http import Http
    from told.serve.mcp.protocol import Toolbox
    from told.serve.request import Head

IDLE, OUTDATED, GONE, STUCK = "idle", "outdated", "gone", "stuck"
_TO_READ, _TO_LEAVE = 1.0, 0.3  # seconds for a request to arrive, and for one that was refused to go
_STUCK = 10.0  # seconds after which an answer will never come
_STUCK_CALL = 300.0  # and after which a tool will never be done
_MOST = 64  # connections at a time
_LOOK, _EVERY = 2.0, 60.0  # seconds between two looks around, with calls and without
_PAUSE = 0.05
_SETTLED = 1.0  # seconds without a change after which a new told is there as a whole


class Service:
    """One listening socket, a thread for each connection, and one that answers."""

    def __init__(
        self, listener: socket, home: str, environ: Mapping[str, str], patience: float,
        tools: Toolbox | None = None,
    ) -> None:  # fmt: skip
        """Take a socket that listens already: calls wait in it until everything is loaded."""
        self._listener = listener
        self._port = listener.getsockname()[1]
        self._home = home
        self._environ = environ
        self._worker = Worker(environ)
        self._tools = tools
        self._mcp: Http | None = None  # until somebody asks for it
        self._making = Lock()
        self._patience = patience
        self._open: set[socket] = set()
        self._last = self._looked = time.monotonic()
        self._changed = 0.0  # when it was seen that a new told is there

    def load(self, seconds: float) -> None:
        """Wait until everything is loaded, but no longer than so many seconds."""
        self._worker.ready.wait(seconds)

    def serve(self, idle: float, is_wanted: Callable[[float], bool]) -> str:
        """Answer until there is a reason to leave, and return that.

        Args:
            idle: After how many seconds without a call nobody needs it.
            is_wanted: Tells whether somebody needs it all the same, after so many seconds.
        """
        freshness = Freshness()
        while True:
            self._listener.settimeout(_SETTLED if self._changed else min(_EVERY, max(0.05, idle / 4)))
            try:
                connection, _ = self._listener.accept()
            except TimeoutError:
                pass
            except OSError:
                time.sleep(_PAUSE)  # whoever came is gone again, or there are too many
            else:
                self._take(connection)
                if time.monotonic() - self._looked < _LOOK and not self._changed:
                    continue
            reason = self._reason(freshness, idle, is_wanted)
            if reason:
                return reason

    def finish(self, seconds: float) -> None:
        """Let those finish who are being answered."""
        self._listener.close()
        ends = time.monotonic() + seconds
        while self._open and time.monotonic() < ends:
            time.sleep(0.01)
        self._worker.finish(max(0.0, ends - time.monotonic()))

    def _reason(self, freshness: Freshness, idle: float, is_wanted: Callable[[float], bool]) -> str:
        now = self._looked = time.monotonic()
        if not token_of(self._home):
            return GONE
        if self._worker.busy_for() > _STUCK or (self._mcp and self._mcp.busy_for() > _STUCK_CALL):
            return STUCK
        if freshness.changed():
            self._changed = now
        elif self._changed and now - self._changed >= _SETTLED:
            return OUTDATED
        quiet = now - self._last
        return IDLE if quiet >= idle and not is_wanted(quiet) else ""

    def _take(self, connection: socket) -> None:
        if len(self._open) >= _MOST:
            connection.close()
            return
        self._open.add(connection)
        try:
            Thread(target=self._handle, args=(connection,), daemon=True).start()
        except RuntimeError:  # the system allows no more threads
            self._open.discard(connection)
            connection.close()

    def _handle(self, connection: socket) -> None:
        try:
            with connection:
                self._respond(connection)
        except OSError:
            pass  # whoever asked went away
        finally:
            self._open.discard(connection)

    def _respond(self, connection: socket) -> None:
        ends = time.monotonic() + _TO_READ
        head = read_head(connection, ends)
        found = admitted(head, self._port, token_of(self._home)) if head else 400
        if not isinstance(found, int) and is_another_users(connection):
            found = 403
        body = read_body(connection, head, ends) if head and not isinstance(found, int) else None
        if isinstance(found, int) or body is None:
            connection.sendall(_response(found if isinstance(found, int) else 400))
            connection.shutdown(SHUT_WR)
            drain(connection, min(ends, time.monotonic() + _TO_LEAVE))
            return
        if found.is_mcp and head:
            self._last = time.monotonic()
            connection.sendall(_response(*self._asked(head, body)))
            return
        if not found.agent:
            connection.sendall(_response(200, encoded({"pid": os.getpid(), "version": __version__})))
            return
        self._last = time.monotonic()
        said = self._worker.ask(Job(found, body, self._last + self._patience))
        connection.sendall(_response(200 if said else 204, said))

    def _asked(self, head: Head, body: bytes) -> tuple[int, str]:
        """Answer what an agent asks over MCP, in other threads than those that prompts need."""
        if self._tools is None:
            return 404, ""
        if self._mcp is None:
            from told.hook.trouble import note
            from told.serve.mcp.http import Http

            environ = self._environ
            made = Http(self._tools, lambda error: note(error, environ), MOST_BODY)
            with self._making:
                self._mcp = self._mcp or made
        return self._mcp.respond(head, body)


def _response(code: int, body: str = "") -> bytes:
    """Return a response that says nothing about who gives it."""
    raw = body.encode("utf-8", "replace")
    kind = "Content-Type: application/json\r\n" if raw else ""
    length = "" if code == 204 else f"Content-Length: {len(raw)}\r\n"
    return f"HTTP/1.1 {code} \r\n{kind}{length}Connection: close\r\n\r\n".encode() + raw
