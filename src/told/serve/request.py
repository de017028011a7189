"""Reads what comes in over a connection: as little of HTTP as hooks speak, and only for so long."""

from __future__ import annotations

import time

from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from socket import socket

MOST_BODY = 4_000_000  # bytes; a longer call is no prompt
_MOST_HEAD = 16_384
_END = b"\r\n\r\n"
_NAME = frozenset("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz")


@record
class Head:
    """The head of a request, without anything that could be read in two ways."""

    method: str
    path: str
    headers: dict[str, str]  # by their names in small letters
    rest: bytes  # what of the body came with it


def read_head(connection: socket, ends: float) -> Head | None:
    """Read the head of a request; None if it is not understood, too long or too slow.

    Args:
        connection: To whoever asks.
        ends: When there must be all of it, on the clock that only goes forward.
    """
    raw = b""
    while _END not in raw:
        part = _received(connection, _MOST_HEAD, ends) if len(raw) < _MOST_HEAD else b""
        if not part:
            return None
        raw += part
    head, _, rest = raw.partition(_END)
    lines = head.decode("latin-1").split("\r\n")
    first = lines[0].split(" ")
    if len(head) > _MOST_HEAD or len(first) != 3 or first[2] not in ("HTTP/1.1", "HTTP/1.0"):
        return None
    headers: dict[str, str] = {}
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        name = name.lower()
        if not colon or not name or not set(name) <= _NAME or name in headers:
            return None
        headers[name] = value.strip(" \t")
    return Head(first[0], first[1], headers, rest)


def read_body(connection: socket, head: Head, ends: float) -> bytes | None:
    """Read the body of a request; None if it does not come in time, or is not as long as it should be."""
    length = length_of(head)
    parts, size = [head.rest], len(head.rest)
    while size < length:
        part = _received(connection, min(length - size, 1 << 18), ends)
        if not part:
            return None
        parts.append(part)
        size += len(part)
    return b"".join(parts) if size == length else None


def length_of(head: Head) -> int:
    """Return how long the body is; -1 where the head does not say so plainly."""
    given = head.headers.get("content-length", "")
    plain = (
        given.isascii() and given.isdigit() and len(given) < 10 and "transfer-encoding" not in head.headers
    )
    return int(given) if plain else -1


def drain(connection: socket, ends: float) -> None:
    """Take what still comes, so that whoever was refused can read that."""
    size = 0
    while size < MOST_BODY and (part := _received(connection, 1 << 18, ends)):
        size += len(part)


def _received(connection: socket, most: int, ends: float) -> bytes:
    left = ends - time.monotonic()
    if left <= 0:
        return b""
    connection.settimeout(left)
    try:
        return connection.recv(most)
    except OSError:
        return b""
