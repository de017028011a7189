"""Post JSON to a server that the user configured; follow no redirects."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, Protocol

_TRIES = 3
_PAUSE = 0.5  # seconds before the second try; doubled before each further one
_MAX_PAUSE = 10.0  # seconds that a server may ask to wait
_MAX_ANSWER = 64_000_000  # bytes
_PART = 65_536
_RETRY_STATUS = (408, 409, 425, 429, 500, 502, 503, 504, 529)


class Target(Protocol):
    """Where to send a request."""

    @property
    def secure(self) -> bool:
        """Whether to use TLS."""

    @property
    def host(self) -> str:
        """The name or address of the machine."""

    @property
    def port(self) -> int:
        """The port."""

    @property
    def path(self) -> str:
        """The path and query."""


@dataclass(frozen=True, slots=True)
class Response:
    """What a server answered; status 0 means that it did not."""

    status: int
    content: bytes  # without an answer: the reason
    wait: float = 0.0  # seconds that it asks to wait

    @property
    def reason(self) -> str:
        """Why there is no usable answer, on one line."""
        if self.status:
            return f"it answers with {self.status}"
        return " ".join(self.content.decode("utf-8", "replace").split())[:200] or "it does not answer"

    @property
    def is_refusal(self) -> bool:
        """Whether the same request would fail again."""
        return self.status not in (0, 200, *_RETRY_STATUS)


def post_json(
    target: Target, body: Mapping[str, Any], headers: Mapping[str, str], timeout: float, tries: int = _TRIES
) -> Response:
    """Post a JSON document, retrying a few times.

    Args:
        target: The server.
        body: The document.
        headers: Further headers, such as the key.
        timeout: Seconds for each try.
        tries: How often to try.
    """
    data = json.dumps(body).encode()
    pause = _PAUSE
    while True:
        tries -= 1
        found = _post(target, data, headers, timeout)
        if found.status == 200 or found.is_refusal or tries < 1 or found.wait > _MAX_PAUSE:
            return found
        time.sleep(max(pause, found.wait))
        pause *= 2


def _post(target: Target, data: bytes, headers: Mapping[str, str], timeout: float) -> Response:
    ends = time.monotonic() + timeout
    kind = HTTPSConnection if target.secure else HTTPConnection
    connection = kind(target.host, target.port, timeout=timeout)
    usual = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "told"}
    try:
        connection.request("POST", target.path or "/", data, {**usual, **headers})
        answer = connection.getresponse()
        content = _read(answer, ends)
        return Response(answer.status, content, _parse_seconds(answer.getheader("Retry-After", "")))
    except (OSError, HTTPException) as error:
        return Response(0, str(getattr(error, "strerror", "") or error).encode())
    finally:
        connection.close()


def _read(answer: HTTPResponse, ends: float) -> bytes:
    """Read a body; a server that sends it slowly gets no more time than others."""
    found = bytearray()
    while len(found) < _MAX_ANSWER and (part := answer.read1(_PART)):
        found += part
        if time.monotonic() > ends:
            raise TimeoutError("timed out")
    return bytes(found)


def _parse_seconds(text: str) -> float:
    return float(text[:6]) if text.isascii() and text.isdigit() else 0.0
