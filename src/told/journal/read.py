"""Read the journals of all machines: every operation and every damaged line."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from heapq import merge
from typing import NamedTuple, TypeVar

from told.errors import BusyError
from told.files import open_regular
from told.journal.files import (
    ERASED,
    ID_LENGTH,
    REDACTED,
    SEGMENT_SUFFIX,
    TORN_SUFFIX,
    BadLineError,
    Damage,
    Operation,
    SeriesLock,
    drop_partial_batch,
    first_hash,
    list_segments,
    parse_line,
    peek_line,
)
from told.journal.registry import Series, list_series
from told.jsontext import dump_json
from told.store.memories.records import Position

T = TypeVar("T")
Key = tuple[int, str, int]  # time, machine, number
Positions = dict[tuple[str, str], Position]  # by series and segment

_MAX_NEEDLES = 64  # with more ids it is faster to parse every line
_MARK_LENGTH = 48  # bytes before a position, to notice that a segment was rewritten


def read_operations(folder: str) -> Iterator[Operation | Damage]:
    """Yield all operations and damage, always in the same order.

    Includes registered projects. Sorted by (time, machine, number), but a machine's own order always holds,
    even when its clock was set back.
    """
    series = list_series(folder)
    return _merge(series, _read_series, lambda found: found if isinstance(found, Operation) else None)


def verify(folder: str) -> list[Damage]:
    """List all damage of the journals in a folder."""
    return [found for found in read_operations(folder) if isinstance(found, Damage)]


def find_by_memory(folder: str, prefixes: Collection[str]) -> Iterator[Operation]:
    """Yield the operations on memories whose ids have one of the prefixes."""
    exact = frozenset(prefixes)
    # A colleague's memory has a longer id here than in the colleague's series.
    starts = {prefix[:ID_LENGTH] for prefix in exact}
    needles = [dump_json(start)[:-1].encode() for start in starts] if len(exact) <= _MAX_NEEDLES else []
    sizes = sorted({len(prefix) for prefix in exact})
    return _find(
        folder, needles, lambda found: any(one[:size] in exact for one in found.touched for size in sizes)
    )


def find_by_kind(folder: str, kinds: Collection[str]) -> Iterator[Operation]:
    """Yield the operations of some kinds, machine by machine."""
    needles = [f'"kind":{dump_json(kind)},'.encode() for kind in kinds]
    return _find(folder, needles, lambda operation: operation.kind in kinds)


def _find(folder: str, needles: list[bytes], wanted: Callable[[Operation], bool]) -> Iterator[Operation]:
    for series in list_series(folder):
        yield from find_in_series(series, needles, wanted)


def find_in_series(
    series: Series, needles: list[bytes], wanted: Callable[[Operation], bool]
) -> Iterator[Operation]:
    """Yield the wanted operations; skip lines without any of the needles."""
    for name in series.segments():
        data = _read_bytes(os.path.join(series.folder, name))
        if needles and not any(needle in data for needle in needles):
            continue
        for line in drop_partial_batch(data.split(b"\n")[:-1]):
            if needles and not any(needle in line for needle in needles):
                continue
            try:
                found = series.accept(parse_line(line, series.machine), line)
            except BadLineError:
                continue
            if found and wanted(found):
                yield found


def _merge(
    every: Sequence[Series], read: Callable[[Series], Iterator[T]],
    operation_of: Callable[[T], Operation | None],
) -> Iterator[T]:  # fmt: skip
    """Merge what is read from all series by (time, machine, number)."""

    def add_keys(series: Series) -> Iterator[tuple[Key, T]]:
        at = number = 0
        for item in read(series):
            operation = operation_of(item)
            if operation:
                at, number = max(at, operation.order), operation.number
            yield (at, series.machine, number), item

    for _, item in merge(*map(add_keys, every), key=lambda pair: pair[0]):
        yield item


def _read_series(series: Series) -> Iterator[Operation | Damage]:
    """Yield a series' operations in order, and every break of its chain."""
    folder, machine = series.folder, series.machine
    names = series.segments()
    expected, previous = 1, first_hash(machine)
    is_chained = True  # the line before was valid, so this one must continue it
    for name in names:
        path = os.path.join(folder, name)
        lines, rest = _read_lines(path, folder if name == names[-1] else "")
        for number, line in enumerate(lines, 1):
            try:
                found = parse_line(line, machine)
            except BadLineError as error:
                yield Damage(path, number, str(error))
                is_chained = False
                expected += 1
                continue
            if found.number < expected:
                yield Damage(path, number, f"number {found.number} comes twice")
                continue
            if found.number > expected:
                yield Damage(path, number, f"operations {expected} to {found.number - 1} are missing")
            elif is_chained and found.previous != previous:
                yield Damage(path, number, "does not continue the line before")
            expected, previous, is_chained = found.number + 1, found.hash, True
            accepted = series.accept(found, line)
            if accepted:
                yield accepted
        if rest:
            yield Damage(path, len(lines) + 1, "cut off")
    for name in list_segments(folder, TORN_SUFFIX):
        segment = name.removesuffix(TORN_SUFFIX) + SEGMENT_SUFFIX
        yield Damage(os.path.join(folder, name), 0, f"cut off at the end of {segment}")


def _read_lines(path: str, lock: str = "") -> tuple[list[bytes], bytes]:
    """Return the complete lines of a segment and the rest."""
    data = _read_bytes(path)
    if lock and data and not data.endswith(b"\n"):
        try:  # a writer may be at work: wait for it
            with SeriesLock(lock, 1000):
                data = _read_bytes(path)
        except (OSError, BusyError):
            pass
    lines = data.split(b"\n")
    return drop_partial_batch(lines[:-1]), lines[-1]


def _read_bytes(path: str) -> bytes:
    try:
        with open_regular(path) as file:
            return file.read()
    except OSError:
        return b""


class Entry(NamedTuple):
    """A line that is not applied to the database yet."""

    series: str  # its name
    segment: str
    operation: Operation | None  # None: the line is damaged, not accepted or as it was applied
    position: Position  # after the line
    was_applied: bool  # before the segment was rewritten


def read_new(folder: str, positions: Positions, every: Sequence[Series] | None = None) -> Iterator[Entry]:
    """Yield the lines after the positions, in the order of `read_operations`; of all series by default."""

    def read(series: Series) -> Iterator[Entry]:
        for name in series.segments():
            yield from _read_new_lines(series, name, positions.get((series.name, name)))

    return _merge(list_series(folder) if every is None else every, read, lambda entry: entry.operation)


def has_new(folder: str, positions: Positions, every: Sequence[Series] | None = None) -> bool:
    """Return whether a segment changed its size since it was applied."""
    for series in list_series(folder) if every is None else every:
        for name in series.segments():
            position = positions.get((series.name, name))
            try:
                if position is None or os.stat(os.path.join(series.folder, name)).st_size != position.size:
                    return True
            except OSError:
                continue  # removed meanwhile
    return False


def _read_new_lines(series: Series, name: str, position: Position | None) -> Iterator[Entry]:
    """Yield the lines after a position; of a rewritten segment also the changed ones before it."""
    start, data = _read_new_bytes(os.path.join(series.folder, name), position)
    number = position.number if position else 0
    applied = number if position is not None and not start else 0
    known = frozenset(position.erased.split(",")) if position and applied else frozenset()
    erased = position.erased if position and start else ""
    end = 0
    is_skipped = False

    def here() -> Position:
        mark = data[max(0, end - _MARK_LENGTH) : end]
        if len(mark) < _MARK_LENGTH and start and position:  # a short line right after the position
            mark = (bytes.fromhex(position.mark) + mark)[-_MARK_LENGTH:]
        return Position(start + end, number, mark.hex(), erased)

    for line in drop_partial_batch(data.split(b"\n")[:-1]):
        end += len(line) + 1
        seen = peek_line(line) if applied else None
        is_skipped = seen is not None and seen[0] <= applied and _is_as_applied(line, seen[0], known)
        if is_skipped:
            erased += f",{seen[0]}" if seen and ERASED in line else ""
            continue
        found: Operation | None
        try:
            found = parse_line(line, series.machine)
        except BadLineError:
            found = None
        was_applied = found is not None and found.number <= applied
        if found is not None:
            number = max(number, found.number)
            erased += f",{found.number}" if found.payload is None else ""
            found = series.accept(found, line)
        yield Entry(series.name, name, found, here(), was_applied)
    if is_skipped:
        yield Entry(series.name, name, None, here(), was_applied=True)


def _is_as_applied(line: bytes, number: int, erased: Collection[str]) -> bool:
    """Tell whether an applied line is the same as when it was applied."""
    return str(number) in erased if ERASED in line else REDACTED not in line


def _read_new_bytes(path: str, position: Position | None) -> tuple[int, bytes]:
    """Return offset and bytes of the new part; the whole segment if it was rewritten."""
    try:
        if position and os.stat(path).st_size == position.size:
            return position.size, b""
        with open_regular(path) as file:
            if position:
                length = len(position.mark) // 2
                file.seek(max(0, position.size - length))
                if file.read(length).hex() == position.mark:
                    return position.size, file.read()
                file.seek(0)
            return 0, file.read()
    except OSError:
        return 0, b""
