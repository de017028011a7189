"""Appends operations to this machine's journal: what is acknowledged is on disk.

A prompt waits for this, so it imports next to nothing and reads only the last line.
"""

from __future__ import annotations

import os

from told.errors import UsageError
from told.journal.files import (
    SEGMENT,
    TORN,
    WAIT_MS,
    SeriesLock,
    cannot_write,
    journal_folder,
    make_folder,
    next_segment,
    open_private,
    segments,
    sync_folder,
)  # fmt: skip
from told.journal.line import LONGEST, end_of, first_previous, head_of, line_of, without_part
from told.journal.machine import machine_of
from told.record import record
from told.store.ids import public_id
from told.store.memory_json import encoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from told.journal.registry import Place

ROTATE = 1_000_000
MAKES_MEMORY = frozenset(("remember", "correct"))
_WINDOW = 8192
_sync = getattr(os, "fdatasync", os.fsync)


@record
class Draft:
    """An operation that is still to be written down."""

    kind: str
    by: str
    payload: dict[str, Any] | None = None
    memory: str = ""  # made for it, if it makes a memory


@record
class Written:
    """An operation as it was written down."""

    machine: str
    number: int
    memory: str


@record
class _End:
    """Where a series ends."""

    segment: str  # empty: there is none yet
    size: int
    number: int
    previous: str


def new_memory_id(taken: Callable[[str], bool] | None = None, seed: str = "") -> str:
    """Return an id for a memory; a longer one as long as it is taken."""
    seed = seed or os.urandom(16).hex()
    length = 7
    while taken and taken(public_id("m", seed, length=length)):
        length += 1
    return public_id("m", seed, length=length)


def append(
    home: str, drafts: Sequence[Draft], *, now: int, wait_ms: int = WAIT_MS, sync: bool = True,
    place: Place | None = None,
) -> list[Written]:  # fmt: skip
    """Write operations to the journal, all in one go; when this returns they are on disk.

    Args:
        home: The folder of everything told writes for itself.
        drafts: What happened, in order.
        now: When, in ms since 1970.
        wait_ms: How long to wait for another writer.
        sync: Without it they are only handed to the system, and on disk once a later call returns that syncs.
        place: The project whose own journal they are written to, instead of the one in told's home.

    Raises:
        MissingError: the disk is full or may not be written; the journal is as it was.
        BusyError: another writer took too long.
        UsageError: an operation is too long to be kept.
    """
    machine = _series(place) if place else machine_of(home)
    folder = os.path.join(place.journal if place else journal_folder(home), machine)
    payloads = [_payload(draft, part, len(drafts)) for part, draft in enumerate(drafts, 1)]
    try:
        make_folder(folder)
        with SeriesLock(folder, wait_ms):
            return _append(folder, machine, drafts, payloads, now, sync=sync, key=_key(place))
    except OSError as error:
        raise cannot_write(folder, error) from None


def _append(
    folder: str, machine: str, drafts: Sequence[Draft], payloads: list[bytes], now: int, *, sync: bool,
    key: bytes,
) -> list[Written]:  # fmt: skip
    names = segments(folder)
    end = _end_of_series(folder, machine, names)
    number, previous = end.number, end.previous
    written, lines = [], []
    for draft, payload in zip(drafts, payloads, strict=True):
        number += 1
        memory = draft.memory
        if not memory and draft.kind in MAKES_MEMORY:
            memory = public_id("m", machine, str(number), str(now))
        head = head_of(number, now, draft.kind, memory, draft.by)
        line, previous = line_of(head, _sealed(payload, head, machine, key) if key else payload, previous)
        lines.append(line)
        written.append(Written(machine, number, memory))
    fresh = not end.segment or end.size >= ROTATE
    name = next_segment(end.segment) if fresh else end.segment
    if fresh and end.segment:
        _write(os.path.join(folder, end.segment), b"", end.size)  # what was not synced there
    _write(os.path.join(folder, name), b"".join(lines), 0 if fresh else end.size, sync=sync)
    if fresh:
        sync_folder(folder)
    return written


def _series(place: Place) -> str:
    from told.journal.places import own_series

    return own_series(place)


def _sealed(payload: bytes, head: bytes, machine: str, key: bytes) -> bytes:
    from told.journal.origin import sealed

    return sealed(payload, head, machine, key)


def _key(place: Place | None) -> bytes:
    """Return what operations are sealed with where others can write, too."""
    if place is None:
        return b""
    from told.journal.origin import key_of

    return key_of(place.home)


def _payload(draft: Draft, part: int, count: int) -> bytes:
    parts = {"part": [part, count]} if count > 1 else {}
    salted = {**(draft.payload or {}), **parts, "salt": os.urandom(16).hex()}
    payload = encoded(salted).encode("utf-8", "replace")
    if len(payload) > LONGEST:
        raise UsageError(f"That is too long to remember: {len(payload) // 1024} KB. Say it shorter.")
    return payload


def _write(path: str, content: bytes, size: int, *, sync: bool = True) -> None:
    """Write behind the last whole line; if that fails, leave the file as it was."""
    descriptor = open_private(path, os.O_RDWR | os.O_APPEND)
    try:
        try:
            count = os.write(descriptor, content)
            if count != len(content):
                raise OSError(28, "no space left on device")  # noqa: TRY301 - the same way out as any other
            if sync:
                _sync(descriptor)
        except OSError:
            os.ftruncate(descriptor, size)
            raise
    finally:
        os.close(descriptor)


def _end_of_series(folder: str, machine: str, names: list[str]) -> _End:
    """Return where the series ends; a line that was cut off is put aside first."""
    newest = names[-1] if names else ""
    size = 0
    skipped = 0
    for name in reversed(names):
        path = os.path.join(folder, name)
        if name == newest:
            size = _without_torn(path)
        last, bad = _last_line(path)
        skipped += bad
        if last:
            return _End(newest, size, last[0] + skipped, last[1])
    return _End(newest, size, skipped, first_previous(machine))


def _without_torn(path: str) -> int:
    """Return the size of what is whole in a segment; what a killed writer left behind goes into a file."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        size = os.fstat(descriptor).st_size
        if not size:
            return 0
        start, data, end = _whole(descriptor, size)
        if end < len(data):
            aside = open_private(path.removesuffix(SEGMENT) + TORN, os.O_WRONLY | os.O_APPEND)
            os.write(aside, data[end:] + b"\n")
            os.close(aside)
            os.ftruncate(descriptor, start + end)
            os.fsync(descriptor)
        return start + end
    finally:
        os.close(descriptor)


def _whole(descriptor: int, size: int) -> tuple[int, bytes, int]:
    """Return where the last bytes of a segment begin, these, and how many of them are whole."""
    for start, data in _ends(descriptor, size):
        lines = data.split(b"\n")
        known = lines[1:-1] if start else lines[:-1]
        kept = without_part(known)
        if kept or not start:
            break
    return start, data, len(data) - len(lines[-1]) - sum(len(line) + 1 for line in known[len(kept) :])


def _last_line(path: str) -> tuple[tuple[int, str] | None, int]:
    """Return number and hash of the last line that is one, and how many behind it are not."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        for start, data in _ends(descriptor, os.fstat(descriptor).st_size):
            lines = data.split(b"\n")[:-1]
            for bad, line in enumerate(reversed(lines if not start else lines[1:])):
                found = end_of(line)
                if found:
                    return found, bad
        return None, len(lines)
    finally:
        os.close(descriptor)


def _ends(descriptor: int, size: int) -> Iterator[tuple[int, bytes]]:
    """Yield ever more of the end of a file, up to all of it: where that begins, and its bytes."""
    window, start = _WINDOW, size
    while start or window == _WINDOW:
        start = max(0, size - window)
        os.lseek(descriptor, start, os.SEEK_SET)
        yield start, os.read(descriptor, size - start)
        window *= 8
