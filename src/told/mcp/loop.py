"""Serve one JSON-RPC message per line until EOF."""

from __future__ import annotations

import os
import select
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from told.jsontext import dump_json, load_json
from told.mcp.server import NO_JSON, NO_REQUEST, Server, failure

LONGEST = 4 << 20  # bytes of one message
_CHUNK = 1 << 16
_ENDS = 1024  # bytes kept of each end of a line that is too long
_PAUSE = 0.01  # seconds between polls


class EndedError(Exception):
    """The client is gone."""


class Overlong(bytes):
    """The beginning and end of a line that was too long."""


def take_standard_streams() -> tuple[int, int]:
    """Take standard input and output for the protocol alone."""
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:
        os.dup2(nothing, 1)
    os.close(nothing)
    return source, sink


class Lines:
    """Read lines up to the longest message."""

    def __init__(self, source: int, sink: int) -> None:
        self._source = source
        self._watch = _watch(source, sink)
        self._rest = bytearray()
        self._scanned = 0  # bytes of the rest without an end of line
        self._head = b""  # of a line that is too long
        self._ready: deque[bytes] = deque()

    def next(self, seconds: float | None = None) -> bytes | None:
        """Return the next line; None if none comes in time."""
        ends = None if seconds is None else time.monotonic() + seconds
        while not self._ready:
            left = None if ends is None else ends - time.monotonic()
            if left is not None and left <= 0:
                return None
            if self._can_read(left):
                self._read()
        line: bytes = self._ready.popleft()
        return line

    def _can_read(self, seconds: float | None) -> bool:
        if self._watch is not None:
            return self._watch(seconds)
        return seconds is None or _waits_on_windows(self._source, seconds)

    def _read(self) -> None:
        try:
            chunk = os.read(self._source, _CHUNK)
        except BlockingIOError:
            time.sleep(_PAUSE)
            return
        except OSError:
            raise EndedError from None
        if not chunk:
            if not self._rest or self._head:
                raise EndedError
            chunk = b"\n"  # the last line may lack its end
        self._rest += chunk
        self._ready += self._lines()

    def _lines(self) -> Iterator[bytes]:
        while (end := self._rest.find(b"\n", self._scanned)) >= 0:
            line = bytes(self._rest[:end])
            del self._rest[: end + 1]
            self._scanned = 0
            if self._head or len(line) > LONGEST:
                yield Overlong((self._head or line[:_ENDS]) + b"\n" + line[-_ENDS:])
                self._head = b""
            elif line.strip():
                yield line
        self._scanned = len(self._rest)
        if self._scanned > LONGEST or (self._head and self._scanned > _ENDS):
            self._head = self._head or bytes(self._rest[:_ENDS])
            del self._rest[:-_ENDS]
            self._scanned = len(self._rest)


def _write_line(sink: int, line: bytes) -> None:
    """Write all of a line, or raise EndedError if nobody reads it."""
    rest = memoryview(line)
    while rest:
        try:
            rest = rest[os.write(sink, rest) :]
        except BlockingIOError:
            time.sleep(_PAUSE)
        except OSError:
            raise EndedError from None


def _watch(source: int, sink: int) -> Callable[[float | None], bool] | None:
    """Return a function that waits for input, if the system can."""
    if not hasattr(select, "poll"):
        return None
    both = select.poll()
    both.register(source, select.POLLIN)
    both.register(sink, 0)  # reports when the reader is gone, though others may have it open

    def can_read(seconds: float | None) -> bool:
        seen = dict(both.poll(None if seconds is None else seconds * 1000))
        if source in seen:
            return True
        if seen.get(sink, 0) & (select.POLLERR | select.POLLHUP):
            raise EndedError
        if sink in seen:
            both.unregister(sink)  # it cannot be polled
        return False

    return can_read


def _waits_on_windows(source: int, seconds: float) -> bool:
    if sys.platform != "win32":
        return False
    import _winapi  # noqa: PLC0415 - only on Windows
    import msvcrt  # noqa: PLC0415 - only on Windows

    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        try:
            if _winapi.PeekNamedPipe(msvcrt.get_osfhandle(source), 0)[0]:
                return True
        except OSError:
            return True  # EOF or no pipe: reading will tell
        time.sleep(_PAUSE)
    return False


_ROOTS_SECONDS = 0.5  # a call waits this long for the client's folders
_MOST_WAITING = 16
_OTHER_ENDS = "\x85\u2028\u2029"


def serve(server: Server, source: int, sink: int) -> None:
    """Answer messages from one descriptor on the other, until EOF."""
    lines = Lines(source, sink)
    waiting: list[Any] = []  # calls that need the client's folders
    until = 0.0
    try:
        while True:
            try:
                line = lines.next(until - time.monotonic() if waiting else None)
            except EndedError:
                _answer_all(server, sink, waiting)  # also what was asked last
                return
            if line is None:
                server.waits = False  # it is too late
            else:
                message = read_message(line)
                if server.waits and server.needs_place(message):
                    until = until if waiting else time.monotonic() + _ROOTS_SECONDS
                    waiting.append(message)
                else:
                    _answer_all(server, sink, [message])
            if not server.waits or len(waiting) == _MOST_WAITING:
                _answer_all(server, sink, waiting)
                waiting.clear()
    except EndedError:
        return


@dataclass(frozen=True, slots=True)
class Unread:
    """A line that is no message, with its answer."""

    answer: dict[str, Any]


def read_message(line: bytes) -> Any:
    """Return the message in a line, or an `Unread`."""
    if isinstance(line, Overlong):
        megabytes = LONGEST >> 20
        return Unread(
            failure(_id_in(line), NO_REQUEST, f"A message has at most {megabytes} MB: send less text.")
        )
    try:
        return load_json(line.decode("utf-8").lstrip("\ufeff").strip())
    except ValueError:
        return Unread(failure(None, NO_JSON, "This is not JSON."))


def _answer_all(server: Server, sink: int, messages: list[Any]) -> None:
    for message in messages:
        answer = message.answer if isinstance(message, Unread) else server.answer(message)
        for said in (answer, server.question()):
            if said is not None:
                _write_line(sink, _format_message(said))


def _format_message(message: Any) -> bytes:
    """Return a message as one line, for all definitions of a line."""
    text = dump_json(message)
    for other_end in _OTHER_ENDS:
        if other_end in text:
            text = text.replace(other_end, f"\\u{ord(other_end):04x}")
    # Half a surrogate pair is written as the JSON escape it came as.
    return text.encode("utf-8", "backslashreplace") + b"\n"


def _id_in(line: Overlong) -> Any:
    """Return the id of an overlong request, if it is found."""
    head, _, tail = line.decode("utf-8", "replace").partition("\n")
    inner = head.strip().removeprefix("{").partition("{")[0].partition("[")[0]
    outer = tail.strip().removesuffix("}").rpartition("}")[2].rpartition("]")[2]
    for part in (inner.rpartition(",")[0], outer.strip().removeprefix(",")):
        try:
            id_ = load_json("{" + part.strip() + "}").get("id")
        except ValueError:
            continue
        if isinstance(id_, (str, int)) and not isinstance(id_, bool):
            return id_
    return None
