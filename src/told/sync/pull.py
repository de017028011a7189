"""Fetch another machine's series: verify every byte, then replace the copy, or change nothing."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from told.files import make_folder, write_private
from told.journal.append import find_end
from told.journal.erase import redact_lines
from told.journal.files import (
    ERASED,
    BadLineError,
    Operation,
    SeriesLock,
    list_segments,
    parse_line,
    peek_line,
)
from told.redact.rescan import Rescanner
from told.sync.heads import BadHeadError, FileEntry, Head
from told.sync.identity import decrypt
from told.sync.spaces import Space
from told.sync.state import Known, digest, read_file
from told.sync.transports import Transport

_MAX_AHEAD = 800 * 86_400_000  # ms: two clocks may each be wrong by a year
_MAX_FILE = 16 * 1024 * 1024  # bytes
_FETCH = 64  # files at once


@dataclass(slots=True)
class Pulled:
    """What was fetched of a series."""

    operations: list[Operation] = field(default_factory=list)
    latest: int = 0  # the time of the latest operation
    changed: bool = False


def pull_series(
    home: str, space: Space, head: Head, known: Known, transport: Transport, *, now: int,
    rescanner: Rescanner | None = None,
) -> Pulled:  # fmt: skip
    """Bring the copy of a series up to its head, redacted if there is a rescanner.

    Raises:
        BadHeadError: a file is missing, cut off, changed or from the future; nothing was changed.
    """
    folder = space.series_folder(home, head.series)
    make_folder(folder)
    with SeriesLock(folder):
        number, own_hash = find_end(folder, head.series)
        if head.number < number:
            return Pulled()  # an older copy
        if head.number == number and head.hash != own_hash:
            raise BadHeadError("two machines wrote it; one is a copy of the other's folder")
        wanted = [one for one in head.files if one.last > number or known.files.get(one.name) != one.digest]
        local = set(list_segments(folder))
        wanted += [one for one in head.files if one.name not in local and one not in wanted]
        wanted.sort(key=lambda one: one.name)
        if not wanted:
            return Pulled()
        fetched = _fetch(space, head.series, wanted, transport)
        noted = min(number, known.number)  # a killed run fetched more than it noted
        pulled = verify_files(
            head, fetched, lambda name: read_file(os.path.join(folder, name)), number=noted, now=now
        )
        for name, data in fetched.items():
            path = os.path.join(folder, name)
            safe = redact_lines(data, head.series, rescanner) if rescanner else data
            write_private(path, _keep_erased(path, safe))
    pulled.changed = True
    return pulled


def _fetch(space: Space, series: str, wanted: list[FileEntry], transport: Transport) -> dict[str, bytes]:
    """Return the content of some files, by name, in order."""
    found: dict[str, bytes] = {}
    for at in range(0, len(wanted), _FETCH):
        part = wanted[at : at + _FETCH]
        for one, raw in _in_order(part, transport.read(series, [entry.name for entry in part])):
            data = unpack(raw, space.secret)
            if data is None or digest(data[: one.size]) != one.digest:
                raise BadHeadError(f"{one.name} is cut off or was changed")
            found[one.name] = data[: one.size]
    return found


def _in_order(part: list[FileEntry], raw: dict[str, bytes]) -> Iterable[tuple[FileEntry, bytes]]:
    for one in part:
        if one.name not in raw:
            raise BadHeadError(f"{one.name} has not arrived yet")
        yield one, raw[one.name]


def unpack(raw: bytes, key: bytes) -> bytes | None:
    """Return the content of a file as it was before it was encrypted; None if it is damaged."""
    plain = decrypt(key, raw) if len(raw) <= _MAX_FILE else None
    if plain is None or not key:
        return plain
    try:
        inflater = zlib.decompressobj()
        data = inflater.decompress(plain, _MAX_FILE)
    except zlib.error:
        return None
    return data if inflater.eof else None


def verify_files(
    head: Head, fetched: Mapping[str, bytes], read: Callable[[str], bytes], *, number: int, now: int
) -> Pulled:
    """Check that the files of a series continue each other up to its head.

    Args:
        head: The head, whose signatures were checked.
        fetched: New content, whose digests were checked, by name.
        read: Returns the content of a file that was verified before.
        number: The last operation that is known already.
        now: The time, in ms since 1970.

    Raises:
        BadHeadError: an operation is missing, changed or from the future.
    """
    pulled = Pulled()
    names = [one.name for one in head.files]
    if names != sorted(set(names)):
        raise BadHeadError("its files are not in order")
    expected, previous = 1, ""
    for one in head.files:
        data = fetched.get(one.name)
        if data is None:  # as it is here, verified before
            last = peek_line(read(one.name)[:-1].rpartition(b"\n")[2])
            if last is None or last[0] != one.last:
                raise BadHeadError(f"{one.name} does not match its copy")
            expected, previous = last[0] + 1, last[1]
            continue
        if not data.endswith(b"\n"):
            raise BadHeadError(f"{one.name} is cut off")
        verified = frozenset(read(one.name).split(b"\n") if expected <= number else ())
        for line in data[:-1].split(b"\n"):
            seen = peek_line(line) if line in verified else None
            if seen and seen[0] == expected <= number and (not previous or _continues(line, previous)):
                expected, previous = expected + 1, seen[1]
                continue
            operation = _parse(line, head.series, one.name)
            if operation.number != expected or (previous and operation.previous != previous):
                raise BadHeadError(f"operation {operation.number} of {one.name} does not continue the series")
            if operation.order > now + _MAX_AHEAD:
                ahead = "is dated more than two years ahead; check the clock of that machine"
                raise BadHeadError(f"operation {operation.number} {ahead}")
            expected, previous = expected + 1, operation.hash
            pulled.latest = max(pulled.latest, operation.order)
            if operation.number > number:
                pulled.operations.append(operation)
        if expected - 1 != one.last:
            raise BadHeadError(f"{one.name} does not end where its head says")
    if (expected - 1, previous or head.hash) != (head.number, head.hash):
        raise BadHeadError("it does not end where its head says")
    return pulled


def _continues(line: bytes, previous: str) -> bool:
    return f',"previous":"{previous}",'.encode() in line


def _parse(line: bytes, series: str, name: str) -> Operation:
    try:
        return parse_line(line, series)
    except BadLineError as error:
        raise BadHeadError(f"{name} has a line that told did not write: {error}") from None


def _keep_erased(path: str, data: bytes) -> bytes:
    """Return new content in which nothing comes back that was erased here."""
    old = read_file(path)
    if ERASED not in old:
        return data
    erased = {}
    for line in old.split(b"\n"):
        if ERASED in line and (found := peek_line(line)):
            erased[found] = line
    lines = data.split(b"\n")
    return b"\n".join(erased.get(found, line) if (found := peek_line(line)) else line for line in lines)
