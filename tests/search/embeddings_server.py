"""A local server with the API of OpenAI's `/v1/embeddings`."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from told.search.vectors import table as vector_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    Answer = tuple[int, dict[str, str], bytes]


class Endpoint:
    """What was asked, and what to answer instead of vectors, in order."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/v1/embeddings"
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.instead: list[Answer] = []
        self.always: Answer | None = None
        self.pause = 0.0  # seconds before an answer

    @property
    def setting(self) -> str:
        """The value of `model` for it."""
        return f"{self.url}#model=toy"

    @property
    def texts(self) -> list[str]:
        """All texts that were ever sent."""
        return [text for one in self.asked for text in one["input"]]

    def answer(self, body: dict[str, Any]) -> Answer:
        if self.instead:
            return self.instead.pop(0)
        if self.always:
            return self.always
        rows = [{"index": at, "embedding": row} for at, row in enumerate(map(vector, body["input"]))]
        rows.reverse()  # whoever reads them has to look at the index
        return 200, {}, json.dumps({"data": rows, "model": body["model"]}).encode()


def vector(text: str) -> list[float]:
    """Return what the endpoint says of a text: what the table says of it, and one dimension more."""
    known = vector_table.make_vector(text)
    return [1.0, *(value / 400 for value in memoryview(known).cast("b"))] if known else [1.0] + [0.0] * 256


@contextmanager
def endpoint() -> Iterator[Endpoint]:
    """Serve until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            made.asked.append({"path": self.path, **body})
            made.keys.append(self.headers.get("Authorization"))
            if made.pause:
                time.sleep(made.pause)
            status, headers, content = made.answer(body)
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: Any) -> None:
            """Say nothing of a client that was stopped while it waited."""

    server = Server(("127.0.0.1", 0), Handler)
    made = Endpoint(server.server_port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
