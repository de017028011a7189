"""Hands requests that the guard let through to the official SDK, which runs in a thread of its own."""

from __future__ import annotations

import time
from threading import BoundedSemaphore, Event, Lock, Thread

from told.errors import MissingError
from told.serve.mcp.server import Server, failure
from told.store.memory_json import decoded, encoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable, Mapping
    from concurrent.futures import Executor
    from typing import Any

    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from told.serve.mcp.protocol import Toolbox
    from told.serve.request import Head

_WRONG_INSIDE = -32603
_MISSING = (
    "MCP over HTTP needs the official SDK: pip install 'told[http]', into the Python that told runs on."
)
_BUSY = "told is busy with other calls. Ask again."
_WORK = ("tools/call", "resources/read")  # what opens told's files, one after the other
_TO_LOAD, _LONGEST, _TO_ANSWER = 20.0, 25.0, 30.0  # seconds: for the SDK, for a call, and for a request
_AT_ONCE = 16  # more of them would take the places of prompts


class Http:
    """The one face of told's that is asynchronous. Nothing of it is loaded before the first request."""

    def __init__(self, toolbox: Toolbox, note: Callable[[Exception], None], most: int) -> None:
        """Take who does the work, whom to tell of what should not happen, and how long a request may be."""
        self._server = Server(toolbox, note)
        self._note = note
        self._most = most
        self._places = BoundedSemaphore(_AT_ONCE)
        self._loading = Lock()
        self._loop: AbstractEventLoop | None = None
        self._official: StreamableHTTPSessionManager | None = None
        self._desk: Executor | None = None
        self._since = 0.0  # when the call began that is being answered; 0 if none is

    def respond(self, head: Head, body: bytes) -> tuple[int, str]:
        """Return the code and the body of the response to a request."""
        if not self._places.acquire(blocking=False):
            return 503, _error(body, _BUSY)
        try:
            return self._response(head, body)
        except MissingError as error:
            return 501, _error(body, str(error))
        except TimeoutError:
            return 504, _error(body, _BUSY)
        except Exception as error:  # noqa: BLE001 - nothing that goes wrong with a request may end the service
            self._note(error)
            return 500, _error(
                body, f"told failed at this ({type(error).__name__}). `told health` may say why."
            )
        finally:
            self._places.release()

    def busy_for(self) -> float:
        """Return for how many seconds one and the same call has been answered."""
        since = self._since
        return time.monotonic() - since if since else 0.0

    def _response(self, head: Head, body: bytes) -> tuple[int, str]:
        loop = self._loaded()
        from asyncio import run_coroutine_threadsafe

        answering = run_coroutine_threadsafe(self._exchange(head, body), loop)
        try:
            return answering.result(_TO_ANSWER)
        finally:
            answering.cancel()

    def _loaded(self) -> AbstractEventLoop:
        """Return the loop that the SDK runs in; load that if need be.

        Raises:
            MissingError: it is not installed, or one of another time. If it comes later, it is found then.
        """
        with self._loading:
            if self._loop is None:
                from concurrent.futures import ThreadPoolExecutor

                try:
                    from told.serve.mcp.sdk import answering
                except ImportError as error:
                    raise MissingError(_MISSING) from error
                import gc

                self._desk = self._desk or ThreadPoolExecutor(1)
                self._official = answering(self._ask, self._most)
                gc.collect()
                gc.freeze()  # it stays, and prompts need not wait while it is looked through
                ready = Event()
                Thread(target=self._run, args=(ready,), daemon=True).start()
                ready.wait(_TO_LOAD)
            if self._loop is None:
                raise RuntimeError("The official SDK does not run here.")
            return self._loop

    def _run(self, ready: Event) -> None:
        import asyncio

        try:
            asyncio.run(self._serve(ready))
        finally:
            self._loop = None
            ready.set()

    async def _serve(self, ready: Event) -> None:
        import asyncio

        assert self._official is not None
        async with self._official.run():
            self._loop = asyncio.get_running_loop()
            ready.set()
            await asyncio.Event().wait()  # for ever: the process is left without a word

    async def _exchange(self, head: Head, body: bytes) -> tuple[int, str]:
        """Have the SDK answer one request: it takes an ASGI scope, and what comes in and goes out."""
        import asyncio

        coming: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        coming.put_nowait({"type": "http.request", "body": body, "more_body": False})
        code, parts = 500, []

        async def send(message: Mapping[str, Any]) -> None:
            nonlocal code
            if message["type"] == "http.response.start":
                code = message["status"]
            else:
                parts.append(message.get("body", b""))

        assert self._official is not None
        await self._official.handle_request(_scope(head), coming.get, send)
        return code, b"".join(parts).decode("utf-8", "replace")

    async def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Answer one message. What opens told's files waits for its turn, in another thread than prompts."""
        import asyncio

        if message["method"] not in _WORK:
            said: dict[str, Any] = self._server.answer(message)
            return said
        begun = Event()
        work = asyncio.get_running_loop().run_in_executor(self._desk, self._worked, message, begun)
        done, _ = await asyncio.wait((work,), timeout=_LONGEST)
        if done:
            return work.result()
        if not begun.is_set() and work.cancel():
            return _late(message, _BUSY)
        return _late(message, f"This takes longer than {_LONGEST:.0f} seconds. It goes on; ask for it later.")

    def _worked(self, message: dict[str, Any], begun: Event) -> dict[str, Any]:
        begun.set()
        self._since = time.monotonic()
        try:
            said: dict[str, Any] = self._server.answer(message)
            return said
        finally:
            self._since = 0.0


def _scope(head: Head) -> dict[str, Any]:
    # The token has done its work, and is nobody's business any more.
    headers = [
        (name.encode("latin-1"), value.encode("latin-1"))
        for name, value in head.headers.items()
        if name != "authorization"
    ]
    return {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http",
        "method": head.method, "path": head.path, "raw_path": head.path.encode("latin-1"),
        "query_string": b"", "root_path": "", "headers": headers, "client": None, "server": None,
    }  # fmt: skip


def _late(message: dict[str, Any], sentence: str) -> dict[str, Any]:
    if message["method"] != "tools/call":
        return failure(0, _WRONG_INSIDE, sentence)
    return {"result": {"content": [{"type": "text", "text": sentence}], "isError": True}}


def _error(body: bytes, sentence: str) -> str:
    """Return the body of a refusal, for the request that it refuses if that can be read."""
    try:
        asked = decoded(body.decode("utf-8", "replace").strip())
    except ValueError:
        asked = None
    number = asked.get("id") if isinstance(asked, dict) else None
    return encoded(failure(number if isinstance(number, (str, int)) else None, _WRONG_INSIDE, sentence))
