"""The scripted model: a server on loopback that answers every agent and keeps what reached it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import ModuleType, TracebackType
from typing import Any, Self

from lab import script
from lab.wires import anthropic, chat, gemini, responses
from lab.wires.base import Body, Event, compact

_WIRES: dict[str, ModuleType] = {wire.SUFFIX: wire for wire in (anthropic, chat, responses, gemini)} | {
    gemini.STREAM_SUFFIX: gemini
}
_MODELS = ("scripted", "claude-sonnet-4-5", "gpt-5.5", "gpt-4.1", "gemini-2.5-pro", "qwen3-coder-plus")


@dataclass(frozen=True)
class Request:
    """One request that reached the model."""

    kind: str  # TURN, SUMMARY, TITLE, JSON
    body: Body
    prompt: str  # what the user said last in it
    tools: tuple[str, ...] = ()  # the names of those that the model may call
    results: tuple[str, ...] = ()  # what those said that it has called since the prompt
    newest: int = 0  # when a file in the folder that is watched was last written, in ns

    @property
    def texts(self) -> tuple[str, ...]:
        """Every text in it."""
        return tuple(_texts(self.body))

    def has(self, words: str) -> bool:
        """Whether any text in it contains these words."""
        return any(words in text for text in self.texts)

    def matches(self, pattern: re.Pattern[str]) -> bool:
        """Whether any text in it matches a pattern somewhere."""
        return any(pattern.search(text) for text in self.texts)


class Model:
    """The server; a context manager. `requests[label]` are the requests below `/label/`."""

    def __init__(self, folder: str) -> None:
        """Keep the requests in `folder`, one file each; those of an earlier run go."""
        shutil.rmtree(folder, ignore_errors=True)
        self.requests: dict[str, list[Request]] = {}
        self.watched: dict[str, str] = {}  # the folder of each label at which every request takes a look
        self._folder = folder
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.model = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def url(self, label: str) -> str:
        """Return the address for an agent of that name."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/{label}"

    def count(self, label: str) -> int:
        """Return how many requests of a label there have been."""
        return len(self.requests.get(label, ()))

    def since(self, label: str, count: int) -> list[Request]:
        """Return the requests of a label after the first `count`."""
        return self.requests.get(label, [])[count:]

    def keep(self, label: str, request: Request) -> None:
        """Keep a request, in memory and on disk."""
        with self._lock:
            known = self.requests.setdefault(label, [])
            known.append(request)
            folder = os.path.join(self._folder, label)
            os.makedirs(folder, exist_ok=True)
            path = os.path.join(folder, f"{len(known):04d}-{request.kind}.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(request.body, file, ensure_ascii=False, indent=1)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    model: Model


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        """Answer with the list of models, whatever is asked."""
        models = [{"id": name, "object": "model", "type": "model", "display_name": name} for name in _MODELS]
        self._document({"object": "list", "data": models, "models": [], "has_more": False})

    def do_HEAD(self) -> None:
        """Answer a look whether anybody is there."""
        self._document({})

    def do_POST(self) -> None:
        """Answer a request of an agent."""
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = self.path.split("?")[0]
        label, _, rest = path.strip("/").partition("/")
        wire = next((one for suffix, one in _WIRES.items() if rest.endswith(suffix)), None)
        if wire is None:
            size = max(10, len(raw) // 4)  # what only wants tokens counted
            self._document({"input_tokens": size, "totalTokens": size})
            return
        body = json.loads(raw)
        asked = wire.read(body, rest)
        answer = script.answer_to(asked)
        model = self.server.model
        newest = _newest(model.watched.get(label, ""))
        model.keep(label, Request(answer.kind, body, asked.prompt, tuple(asked.tools), asked.results, newest))
        if body.get("stream") or rest.endswith(gemini.STREAM_SUFFIX):
            self._stream(wire.stream(answer, body))
        else:
            self._document(wire.whole(answer, body))

    def _document(self, document: Body) -> None:
        data = compact(document).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _stream(self, events: Any) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            for event in events:
                self.wfile.write(_line(event))
        except (BrokenPipeError, ConnectionResetError):
            return  # the agent has heard enough

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
        """Say nothing."""


def _newest(folder: str) -> int:
    """Return when a file below a folder was last written; 0 if there is none."""
    paths = [os.path.join(here, name) for here, _, files in os.walk(folder) for name in files]
    times = [0]
    for path in paths:
        with contextlib.suppress(OSError):  # gone meanwhile
            times.append(os.stat(path).st_mtime_ns)
    return max(times)


def _line(event: Event) -> bytes:
    name, data = event
    text = data if isinstance(data, str) else compact(data)
    return (f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode()


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for one in inner for text in _texts(one)]
