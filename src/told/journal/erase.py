"""Erases payloads for good: the operations stay, their chain still holds, what was said is gone."""

from __future__ import annotations

import os

from told.journal.files import (
    TORN,
    UNFINISHED,
    SeriesLock,
    cannot_write,
    every_series,
    journal_folder,
    write_whole,
)
from told.journal.line import head_of, split
from told.journal.read import BadLineError, operation
from told.store.memory_json import encoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection


def erase(home: str, memories: Collection[str]) -> int:
    """Erase what every operation of some memories says, in the journals of all machines and projects.

    What was cut off, damaged or left behind and may say it, too, is removed. A `forget` keeps its payload: it
    names the places that are not to be read in again, and nothing of what was said. A segment is replaced in
    one step.

    Returns:
        How many operations were erased.

    Raises:
        MissingError: a segment cannot be written.
        BusyError: another writer took too long.
    """
    needles = [encoded(memory).encode() for memory in memories]
    wanted = frozenset(memories)
    count = 0
    for series in every_series(journal_folder(home)):
        folder = series.folder
        try:
            with SeriesLock(folder):
                for name in os.listdir(folder):
                    if name.endswith((TORN, UNFINISHED)):
                        os.remove(os.path.join(folder, name))
                for name in series.segments():
                    count += _erase_in(os.path.join(folder, name), series.machine, wanted, needles)
        except OSError as error:
            raise cannot_write(folder, error) from None
    return count


def _erase_in(path: str, machine: str, memories: frozenset[str], needles: list[bytes]) -> int:
    with open(path, "rb") as file:
        data = file.read()
    *lines, torn = data.split(b"\n")
    if not torn and not any(needle in data for needle in needles):
        return 0
    kept, count = [], 0
    for line in lines:
        new = _erased(line, machine, memories) if any(needle in line for needle in needles) else line
        count += new != line
        if new:
            kept.append(new + b"\n")
    write_whole(path, b"".join(kept))
    return count


def _erased(line: bytes, machine: str, memories: frozenset[str]) -> bytes:
    """Return a line without its payload, if it is of one of the memories; nothing if it is damaged."""
    try:
        found = operation(line, machine)
    except BadLineError:
        return b""
    if found.memory not in memories or found.payload is None or found.kind == "forget":
        return line
    head = head_of(found.number, found.at, found.kind, found.memory, found.by)
    return head + b"null" + split(line, head)[1]
