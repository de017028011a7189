"""Guard an HTTP server on loopback: decide which requests get in, before anything else reads them.

A web page in a browser cannot pass: its requests name the page's host or origin, and it has no token.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hmac import compare_digest

MAX_BODY = 4_000_000  # bytes
_JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Request:
    """The head of a request, with header names in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]


def find_refusal(request: Request, port: int, token: str, paths: frozenset[str]) -> int:
    """Return the status that refuses a request; 0 lets it in."""
    headers = request.headers
    if headers.get("host", "").lower() not in (f"127.0.0.1:{port}", f"localhost:{port}"):
        return 421
    if "origin" in headers:
        return 403
    given, wanted = headers.get("authorization", ""), f"Bearer {token}"
    if not token or not compare_digest(given.encode("utf-8", "replace"), wanted.encode()):
        return 401
    if request.method != "POST":
        return 405
    if request.path not in paths:
        return 404
    if headers.get("content-type", "").partition(";")[0].strip().lower() != _JSON:
        return 415
    length = headers.get("content-length", "")
    if not (length.isascii() and length.isdigit()) or "transfer-encoding" in headers:
        return 411
    return 413 if int(length) > MAX_BODY else 0
