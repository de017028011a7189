"""Encode the messages to the service and its answers.

A request is `told1 KIND HEAD_BYTES BODY_BYTES`, a newline, the head (fields separated by NUL) and the body.
An answer is `told1 BODY_BYTES`, a newline and the body. The hook client does the same without this module.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from socket import socket

from told.hook.client import LARGEST, PROTOCOL

HOOK, COMMAND, PING, STOP = "hook", "command", "ping", "stop"
_LONGEST_LINE = 100
_LARGEST_HEAD = 262_144


@dataclass(frozen=True, slots=True)
class Request:
    """One message to the service."""

    kind: str
    agent: str
    event: str
    token: str  # for TCP; empty on Unix sockets
    read_at: float  # when the client had read the call, on the system's monotonic clock
    cwd: str
    variables: tuple[tuple[str, str], ...]
    body: bytes
    pid: int = 0  # of the client; 0 if unknown


def encode_request(kind: str, token: str) -> bytes:
    """Return a request of told's own commands as bytes; hooks send theirs without this module."""
    head = os.fsencode(f"\0\0{token}\x000\0")
    return b"%s %s %d 0\n%s" % (PROTOCOL, kind.encode(), len(head), head)


def encode_answer(text: str) -> bytes:
    """Return an answer as bytes."""
    body = text.encode("utf-8", "replace")
    return b"%s %d\n%s" % (PROTOCOL, len(body), body)


def read_request(connection: socket, ends: float) -> Request:
    """Read one request; raise ValueError if it is none, or of another protocol version."""
    data = bytearray()
    while b"\n" not in data:
        if len(data) > _LONGEST_LINE:
            raise ValueError("no request")
        data += _receive(connection, ends)
    line, _, data = data.partition(b"\n")
    protocol, kind, *sizes = line.split(b" ")
    head_size, body_size = map(int, sizes)
    if protocol != PROTOCOL or not (0 <= head_size <= _LARGEST_HEAD and 0 <= body_size <= LARGEST):
        raise ValueError("another protocol, or too much")
    while len(data) < head_size + body_size:
        data += _receive(connection, ends)
    if len(data) > head_size + body_size:
        raise ValueError("more than was announced")
    agent, event, token, read_at, cwd, *fields = os.fsdecode(bytes(data[:head_size])).split("\0")
    pairs = (field.partition("=") for field in fields)
    variables = tuple((name, value) for name, equals, value in pairs if name and equals)
    body = bytes(data[head_size:])
    kind_name = kind.decode("ascii", "replace")
    return Request(
        kind_name, agent, event, token, float(read_at), cwd, variables, body, _find_client(connection)
    )


def _find_client(connection: socket) -> int:
    """Return the process at the other end of a Unix socket; 0 if that is unknown."""
    if sys.platform == "win32":
        return 0
    try:
        option = (1, 17, 12) if sys.platform == "linux" else (0, 2, 4)  # SO_PEERCRED, or LOCAL_PEERPID
        return int.from_bytes(connection.getsockopt(*option)[:4], sys.byteorder)
    except OSError:
        return 0


def _receive(connection: socket, ends: float) -> bytes:
    connection.settimeout(max(0.001, ends - time.monotonic()))
    part = connection.recv(1 << 16)
    if not part:
        raise ConnectionResetError
    return part
