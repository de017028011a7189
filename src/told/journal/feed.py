"""What the journals have that was not applied yet, in order, from the places where the last one stopped."""

from __future__ import annotations

import os

from told.journal.files import every_series
from told.journal.growth import has_grown
from told.journal.line import part_of
from told.journal.read import BadLineError, merged, operation, taken
from told.record import record
from told.store.memory_records import Position

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from told.journal.files import Series
    from told.journal.growth import Positions
    from told.journal.model import Operation

_MARK = 48


@record
class Entry:
    """One line that was not applied yet."""

    series: str  # its name
    segment: str
    operation: Operation | None  # None: the line is damaged, or not to be taken
    position: Position  # behind it
    known: bool  # it was applied before the segment was rewritten


def feed(folder: str, positions: Positions) -> Iterator[Entry]:
    """Yield what is new in all journals, in the order of `read`."""
    streams = [_new_of(series, positions) for series in every_series(folder)]
    for _, entry in merged(streams):
        yield entry


def is_behind(folder: str, positions: Positions) -> bool:
    """Tell whether there is anything new."""
    return any(True for _ in feed(folder, positions)) if has_grown(folder, positions) else False


def _new_of(series: Series, positions: Positions) -> Iterator[tuple[tuple[int, str, int], Entry]]:
    at = number = 0
    for name in series.segments():
        for entry in _segment(series, name, positions.get((series.name, name))):
            if entry.operation:
                at, number = max(at, entry.operation.at), entry.operation.number
            yield (at, series.machine, number), entry


def _segment(series: Series, name: str, position: Position | None) -> Iterator[Entry]:
    """Yield the lines behind a position; all of them if what is before it is no longer what it was."""
    start, data = _new_bytes(os.path.join(series.folder, name), position)
    data = _whole(data)
    rewritten = position is not None and not start
    number = position.number if position else 0
    before = number if rewritten else 0
    at = 0
    while True:
        begin, at = at, data.find(b"\n", at) + 1
        if not at:
            return
        line = data[begin : at - 1]
        found: Operation | None
        try:
            found = operation(line, series.machine)
        except BadLineError:
            found = None
        known = found is not None and found.number <= before
        if found is not None:
            number = max(number, found.number)
            found = taken(found, line, series)
        mark = data[max(0, at - _MARK) : at]
        if len(mark) < _MARK and start and position:  # a short line right behind the position
            mark = (bytes.fromhex(position.mark) + mark)[-_MARK:]
        yield Entry(series.name, name, found, Position(start + at, number, mark.hex()), known)


def _whole(data: bytes) -> bytes:
    """Leave out the end of a segment if it is only a part of what belongs together."""
    end = data.rfind(b"\n")
    last = data[data.rfind(b"\n", 0, max(end, 0)) + 1 : max(end, 0)]
    place, count = part_of(last)
    for _ in range(place if place < count else 0):
        end = data.rfind(b"\n", 0, max(end, 0))
    return data[: end + 1]


def _new_bytes(path: str, position: Position | None) -> tuple[int, bytes]:
    """Return where the new part of a segment begins, and the part: the whole segment if it was rewritten."""
    try:
        if position and os.stat(path).st_size == position.size:
            return position.size, b""
        with open(path, "rb") as file:
            if position:
                length = len(position.mark) // 2
                file.seek(max(0, position.size - length))
                if file.read(length).hex() == position.mark:
                    return position.size, file.read()
                file.seek(0)
            return 0, file.read()
    except OSError:
        return 0, b""
