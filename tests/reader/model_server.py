"""A scripted model on loopback that speaks OpenAI's chat interface and Anthropic's messages."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

NOTHING: dict[str, Any] = {"items": [], "candidates": [], "summary": None}


@dataclass
class ModelServer:
    """What reached the model, and what it answers."""

    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    raw: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    status: int = 200
    location: str = ""
    refuses_schema: bool = False
    # From the JSON that told sent to the answer: an object, or a text as it is.
    answer: Callable[[dict[str, Any]], Any] = lambda _asked: NOTHING

    def asked(self) -> list[dict[str, Any]]:
        """Return the JSON documents that told sent as its questions."""
        return [json.loads(one["messages"][-1]["content"]) for one in self.requests]


@contextmanager
def model_server() -> Iterator[ModelServer]:
    """Serve until the end of the block."""
    model = ModelServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["content-length"])).decode()
            body = json.loads(raw)
            model.raw.append(raw)
            model.requests.append(body)
            model.paths.append(self.path)
            model.headers.append({name.lower(): value for name, value in self.headers.items()})
            status = 400 if model.refuses_schema and "response_format" in body else model.status
            if status != 200:
                self._send(status, {"error": "no"})
                return
            found = model.answer(json.loads(body["messages"][-1]["content"]))
            text = found if isinstance(found, str) else json.dumps(found)
            if self.path.endswith("/messages"):
                usage = {"input_tokens": 700, "output_tokens": 50}
                self._send(200, {"content": [{"type": "text", "text": text}], "usage": usage})
            else:
                usage = {"prompt_tokens": 900, "completion_tokens": 40}
                message = {"role": "assistant", "content": text}
                self._send(200, {"choices": [{"message": message}], "usage": usage})

        def _send(self, status: int, document: dict[str, Any]) -> None:
            data = json.dumps(document).encode()
            self.send_response(status)
            if model.location:
                self.send_header("location", model.location)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
