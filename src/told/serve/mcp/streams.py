"""Standard input and output as the protocol's own: lines come in, lines go out, nothing else gets there."""

from __future__ import annotations

import os
import sys
import time
from _collections import deque  # type: ignore[import-not-found] # `collections` loads six others

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LONGEST = 4 << 20  # bytes of one message
_CHUNK = 1 << 16
_ENDS = 1024  # bytes that are kept of either end of a line that is too long
_PAUSE = 0.01  # seconds, where a system has to be asked again and again


class EndedError(Exception):
    """Whoever asks is gone."""


class Overlong(bytes):
    """What is left of a line that was too long: its beginning and its end."""


def own() -> tuple[int, int]:
    """Return descriptors that only the protocol has, and leave others for what prints or reads by chance."""
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
    """Reads lines, and never more of one than a message may have."""

    def __init__(self, source: int, sink: int) -> None:
        """Take where lines come from, and where their answers go: without that nobody asks any more."""
        self._source = source
        self._watch = _watch(source, sink)
        self._rest = bytearray()
        self._looked = 0  # bytes of the rest that have no end of line
        self._head = b""  # of a line that is too long
        self._ready: deque[bytes] = deque()

    def next(self, seconds: float | None = None) -> bytes | None:
        """Return the next line, without its end; None if none comes in time.

        Raises:
            EndedError: there will be no other line.
        """
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
        while (end := self._rest.find(b"\n", self._looked)) >= 0:
            line = bytes(self._rest[:end])
            del self._rest[: end + 1]
            self._looked = 0
            if self._head or len(line) > LONGEST:
                yield Overlong((self._head or line[:_ENDS]) + b"\n" + line[-_ENDS:])
                self._head = b""
            elif line.strip():
                yield line
        self._looked = len(self._rest)
        if self._looked > LONGEST or (self._head and self._looked > _ENDS):
            self._head = self._head or bytes(self._rest[:_ENDS])
            del self._rest[:-_ENDS]
            self._looked = len(self._rest)


def write(sink: int, line: bytes) -> None:
    """Write a line, all of it.

    Raises:
        EndedError: nobody reads it.
    """
    rest = memoryview(line)
    while rest:
        try:
            rest = rest[os.write(sink, rest) :]
        except BlockingIOError:
            time.sleep(_PAUSE)
        except OSError:
            raise EndedError from None


def _watch(source: int, sink: int) -> Callable[[float | None], bool] | None:
    """Return what waits until there is something to read; None where the system has no such thing."""
    import select

    if not hasattr(select, "poll"):
        return None
    both = select.poll()
    both.register(source, select.POLLIN)
    both.register(sink, 0)  # tells when nobody reads any more, though somebody may still hold the other end

    def can_read(seconds: float | None) -> bool:
        seen = dict(both.poll(None if seconds is None else seconds * 1000))
        if source in seen:
            return True
        if seen.get(sink, 0) & (select.POLLERR | select.POLLHUP):
            raise EndedError
        if sink in seen:
            both.unregister(sink)  # it is of a kind that cannot be watched
        return False

    return can_read


def _waits_on_windows(source: int, seconds: float) -> bool:
    if sys.platform != "win32":
        return False
    import _winapi
    import msvcrt

    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        try:
            if _winapi.PeekNamedPipe(msvcrt.get_osfhandle(source), 0)[0]:
                return True
        except OSError:
            return True  # it is at its end, or no pipe: reading tells
        time.sleep(_PAUSE)
    return False
