"""Send and receive messages over a stream: a JSON header and parts, each with its length."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import Any, Protocol

from told.sync.transports.names import MAX_FILE

_LENGTH = struct.Struct(">I")
_MAX_HEADER = 4 * 1024 * 1024
_MAX_PARTS = 20_000
_MAX_MESSAGE = 1024 * 1024 * 1024


class BrokenStreamError(Exception):
    """The stream ended, or carries something else."""


class Source(Protocol):
    """Where bytes come from."""

    def read(self, size: int, /) -> bytes:
        """Return bytes; fewer or none at the end."""


class Target(Protocol):
    """Where bytes go."""

    def write(self, data: bytes, /) -> int:
        """Take bytes."""

    def flush(self) -> None:
        """Pass on what was taken."""


def send(target: Target, header: dict[str, Any], parts: Sequence[bytes] = ()) -> None:
    """Send one message."""
    described = json.dumps(header | {"sizes": [len(part) for part in parts]}).encode()
    target.write(_LENGTH.pack(len(described)) + described)
    for part in parts:
        target.write(part)
    target.flush()


def receive(source: Source) -> tuple[dict[str, Any], list[bytes]]:
    """Receive one message whole.

    Raises:
        BrokenStreamError: the stream ended before its end, or it is none.
    """
    (length,) = _LENGTH.unpack(_read(source, _LENGTH.size))
    if length > _MAX_HEADER:
        raise BrokenStreamError(f"a header of {length} bytes")
    try:
        header = json.loads(_read(source, length))
        sizes = header.pop("sizes")
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError):
        raise BrokenStreamError("no message") from None
    if not isinstance(sizes, list) or len(sizes) > _MAX_PARTS or not all(map(_is_size, sizes)):
        raise BrokenStreamError("wrong sizes")
    if sum(sizes) > _MAX_MESSAGE:
        raise BrokenStreamError(f"a message of {sum(sizes)} bytes")
    return header, [_read(source, size) for size in sizes]


def _is_size(size: object) -> bool:
    return type(size) is int and 0 <= size <= MAX_FILE


def _read(source: Source, size: int) -> bytes:
    data = source.read(size)
    while len(data) < size:
        more = source.read(size - len(data))
        if not more:
            raise BrokenStreamError("the connection ended")
        data += more
    return data
