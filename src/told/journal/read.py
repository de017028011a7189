"""Reads the journals of all machines: each operation that is whole, and each place that is damaged."""

from __future__ import annotations

import os

from told.errors import BusyError
from told.journal.files import SEGMENT, TORN, SeriesLock, every_series, segments
from told.journal.line import (
    digest,
    first_previous,
    hash_of,
    head_of,
    mark_of,
    redacted_mark,
    split,
    without_part,
)  # fmt: skip
from told.journal.model import Damage, Operation
from told.store.memory_json import decoded, encoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from typing import TypeVar

    from told.journal.files import Series

    T = TypeVar("T")

_FEW = 64  # so many ids are looked for byte by byte; with more it is quicker to read every line
_FIELDS = 9


class BadLineError(Exception):
    """A line is not what told wrote; the text says why."""


def read(folder: str) -> Iterator[Operation | Damage]:
    """Yield every operation of every machine, and every damage, in an order that is always the same.

    Also of the projects that keep their own journal and are named in the registry beside the folder.
    Operations come by (when, machine, number), where a clock that was set back does not bring a machine's
    operations out of their own order.
    """
    streams = [_keyed(_all_of(series), series.machine) for series in every_series(folder)]
    for _, found in merged(streams):
        yield found


def verify(folder: str) -> list[Damage]:
    """Return every damage: the file, the line and what is wrong there."""
    return [found for found in read(folder) if isinstance(found, Damage)]


def operations_of(folder: str, beginnings: Collection[str]) -> Iterator[Operation]:
    """Yield the operations that touch memories whose ids begin so, without reading all others."""
    wanted = tuple(beginnings)
    needles = [encoded(begin)[:-1].encode() for begin in wanted] if len(wanted) <= _FEW else []
    sizes = sorted({len(begin) for begin in wanted})
    exact = frozenset(wanted)
    yield from _picked(
        folder, needles, lambda found: any(one[:size] in exact for one in found.touched for size in sizes)
    )


def operations_like(folder: str, kinds: Collection[str]) -> Iterator[Operation]:
    """Yield the operations of some kinds, machine by machine."""
    needles = [f'"kind":{encoded(kind)},'.encode() for kind in kinds]
    yield from _picked(folder, needles, lambda operation: operation.kind in kinds)


def operation(line: bytes, machine: str) -> Operation:
    """Return what a line without its end says.

    Raises:
        BadLineError: it is not what told wrote.
    """
    try:
        value = decoded(line.decode())
    except ValueError:
        raise BadLineError("not valid JSON") from None
    mark = mark_of(line)
    if not isinstance(value, dict) or len(value) != _FIELDS + (mark is not None):
        raise BadLineError("not an operation")
    number, at, kind, memory, by, payload = (
        value.get(name) for name in ("number", "at", "kind", "memory", "by", "payload")
    )
    if not (_is_count(number) and _is_count(at) and all(isinstance(one, str) for one in (kind, memory, by))):
        raise BadLineError("not an operation")
    head = head_of(number, at, kind, memory, by)  # type: ignore[arg-type]
    raw, tail = split(line, head)
    payload_hash, previous, own = value.get("payload_hash"), value.get("previous"), value.get("hash")
    if tail.decode() != f',"payload_hash":"{payload_hash}","previous":"{previous}","hash":"{own}"}}':
        raise BadLineError("not written by told")
    if not line.startswith(head) or hash_of(head, str(payload_hash), str(previous)) != own:
        raise BadLineError("wrong hash")
    matches = raw == b"null" if payload is None else isinstance(payload, dict) and digest(raw) == payload_hash
    if mark is not None:
        matches = isinstance(payload, dict) and redacted_mark(head, raw, tail) == mark
    if not matches:
        raise BadLineError("its payload does not match")
    return Operation(
        machine, number, at, kind, memory, by, payload, own, previous, mark is not None,  # type: ignore[arg-type]
    )  # fmt: skip


def taken(found: Operation, line: bytes, series: Series) -> Operation | None:
    """Return an operation as it may be taken from where it stands; None if it may not be taken at all."""
    if series.place is None:
        return found
    from told.journal.origin import as_known

    return as_known(found, line, series.place)


def merged(
    streams: list[Iterator[tuple[tuple[int, str, int], T]]],
) -> Iterator[tuple[tuple[int, str, int], T]]:
    """Merge streams that are each in order."""
    if len(streams) == 1:
        return streams[0]
    from heapq import merge

    return merge(*streams, key=lambda item: item[0])


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53


def _keyed(
    found: Iterator[Operation | Damage], machine: str
) -> Iterator[tuple[tuple[int, str, int], Operation | Damage]]:
    at = number = 0
    for one in found:
        if isinstance(one, Operation):
            at, number = max(at, one.at), one.number
        yield (at, machine, number), one


def _all_of(series: Series) -> Iterator[Operation | Damage]:
    """Yield one series' operations in their own order, and where its chain is broken."""
    folder, machine = series.folder, series.machine
    names = series.segments()
    expected, previous = 1, first_previous(machine)
    sure = True  # whether the line before was read, so that this one must continue it
    for name in names:
        path = os.path.join(folder, name)
        lines, rest = _lines(path, folder if name == names[-1] else "")
        for place, line in enumerate(lines, 1):
            try:
                found = operation(line, machine)
            except BadLineError as error:
                yield Damage(path, place, str(error))
                sure = False
                expected += 1
                continue
            if found.number < expected:
                yield Damage(path, place, f"number {found.number} comes twice")
                continue
            if found.number > expected:
                yield Damage(path, place, f"operations {expected} to {found.number - 1} are missing")
            elif sure and found.previous != previous:
                yield Damage(path, place, "does not continue the line before")
            expected, previous, sure = found.number + 1, found.hash, True
            accepted = taken(found, line, series)
            if accepted:
                yield accepted
        if rest:
            yield Damage(path, len(lines) + 1, "cut off")
    for name in segments(folder, TORN):
        yield Damage(
            os.path.join(folder, name), 0, f"cut off at the end of {name.removesuffix(TORN)}{SEGMENT}"
        )


def _lines(path: str, lock: str = "") -> tuple[list[bytes], bytes]:
    """Return the whole lines of a segment, and what is behind them."""
    data = _content(path)
    if lock and data and not data.endswith(b"\n"):
        try:  # a writer may be at work: wait for it
            with SeriesLock(lock, 1000):
                data = _content(path)
        except (OSError, BusyError):
            pass
    lines = data.split(b"\n")
    return without_part(lines[:-1]), lines[-1]


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _picked(folder: str, needles: list[bytes], wanted: Callable[[Operation], bool]) -> Iterator[Operation]:
    for series in every_series(folder):
        yield from picked_in(series, needles, wanted)


def picked_in(
    series: Series, needles: list[bytes], wanted: Callable[[Operation], bool]
) -> Iterator[Operation]:
    """Yield the operations of a series that are wanted; lines without any of the needles are not read."""
    for name in series.segments():
        data = _content(os.path.join(series.folder, name))
        if needles and not any(needle in data for needle in needles):
            continue
        for line in without_part(data.split(b"\n")[:-1]):
            if needles and not any(needle in line for needle in needles):
                continue
            try:
                found = taken(operation(line, series.machine), line, series)
            except BadLineError:
                continue
            if found and wanted(found):
                yield found
