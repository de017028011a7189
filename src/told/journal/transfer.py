"""Copy operations from one home to another: without numbers, hashes and salts, in series of their own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from told.files import cannot_write, make_folder, sync_folder, write_private
from told.hashing import blake2s
from told.journal.append import SEGMENT_BYTES
from told.journal.files import (
    IDENTITY,
    MAX_PAYLOAD,
    STRANGER,
    UNDO,
    Operation,
    clock_path,
    encode_head,
    encode_line,
    erase_payload,
    first_hash,
    is_machine_id,
    journal_folder,
    next_segment,
    read_clock,
)
from told.journal.read import read_operations
from told.jsontext import dump_json
from told.store.database import LETTERS, public_id
from told.store.memories.records import row_offset

_OWN_FIELDS = ("salt", "part", "pad")  # payload fields that belong to one copy
_UNFINISHED = "journal.part"  # a folder that becomes a series when it is complete
_MAX_OFFSET = 1 << 20


class Copy(NamedTuple):
    """An operation without what belongs to its place in a journal."""

    series: int  # which of the series it belongs to, from 0
    at: int
    kind: str
    memory: str
    by: str
    payload: dict[str, Any] | None  # None: erased

    @property
    def identity(self) -> str:
        """What every copy of it has in common; empty if erased."""
        found = (self.payload or {}).get(IDENTITY)
        return found if isinstance(found, str) else ""

    @property
    def operation(self) -> Operation:
        """The operation as one of a journal, for reading only."""
        return Operation("", 0, self.at, self.kind, self.memory, self.by, self.payload)


def read_own_operations(home: str) -> list[Operation]:
    """Read the operations of this user, each once; what colleagues wrote in projects is left out."""
    found = [
        one
        for one in read_operations(journal_folder(home))
        if isinstance(one, Operation) and not one.machine.startswith(STRANGER)
    ]
    kept: dict[str, Operation] = {}
    for one in sorted(found, key=lambda one: (one.machine, one.number)):
        kept.setdefault(one.identity or f"{one.machine} {one.number}", one)
    ids = {(one.machine, one.number) for one in kept.values()}
    return [one for one in found if (one.machine, one.number) in ids]


def copy_operations(operations: Sequence[Operation]) -> tuple[list[Copy], list[int]]:
    """Return copies of operations, and the order of their series among rows of the same second."""
    machines = sorted({one.machine for one in operations})
    by_place: dict[tuple[Any, Any], str] = {(one.machine, one.number): one.identity for one in operations}
    copies = []
    for one in operations:
        payload = None
        if one.payload is not None:
            payload = {name: value for name, value in one.payload.items() if name not in _OWN_FIELDS}
            payload[IDENTITY] = one.identity
        if one.kind == UNDO and payload is not None:
            place = (payload.get("machine"), payload.get("number"))
            payload["undone"] = payload.get("undone") or by_place.get(place, "")
            payload = {name: value for name, value in payload.items() if name not in ("machine", "number")}
        copies.append(Copy(machines.index(one.machine), one.at, one.kind, one.memory, one.by, payload))
    by_offset = sorted(machines, key=row_offset)
    return copies, [by_offset.index(machine) for machine in machines]


def name_series(home: str, seed: str, order: Sequence[int]) -> list[str]:
    """Return unused names for series that sort, and offset rows, in a given order."""
    names: list[str] = []
    alphabet = sorted(LETTERS)
    for number, place in enumerate(order):
        low = place * _MAX_OFFSET // len(order)
        high = low + _MAX_OFFSET // (2 * len(order))
        start = alphabet[number // 32 % 32] + alphabet[number % 32]
        tries = (start + public_id("", seed, str(number), str(many), length=6) for many in range(1 << 30))
        names.append(next(name for name in tries if low <= row_offset(name) < high and _is_free(home, name)))
    return names


def _is_free(home: str, name: str) -> bool:
    return is_machine_id(name) and not os.path.lexists(os.path.join(journal_folder(home), name))


def write_copies(home: str, copies: Iterable[Copy], names: Sequence[str]) -> None:
    """Write copies as new series, each complete or not at all."""
    by_series: list[list[Copy]] = [[] for _ in names]
    for one in copies:
        by_series[one.series].append(one)
    for name, some in zip(names, by_series, strict=True):
        if some:
            _write_series(home, name, some)


def advance_clock(home: str, copies: Iterable[Copy]) -> None:
    """Make what is written here from now on come later than the copies."""
    latest = max((one.operation.order for one in copies), default=0)
    if latest > read_clock(home):
        make_folder(os.path.dirname(clock_path(home)))
        write_private(clock_path(home), f"{latest}\n".encode())


def _write_series(home: str, name: str, copies: Sequence[Copy]) -> None:
    folder = os.path.join(journal_folder(home), name)
    unfinished = os.path.join(home, f"{_UNFINISHED}-{name}")
    try:
        shutil.rmtree(unfinished, ignore_errors=True)
        make_folder(unfinished)
        segment = ""
        for content in _encode_segments(copies, name):
            segment = next_segment(segment)
            write_private(os.path.join(unfinished, segment), content)
        sync_folder(unfinished)
        make_folder(journal_folder(home))
        os.rename(unfinished, folder)
        sync_folder(journal_folder(home))
    except OSError as error:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise cannot_write(folder, error) from None


def _encode_segments(copies: Sequence[Copy], name: str) -> Iterator[bytes]:
    previous, lines, size = first_hash(name), [], 0
    for number, one in enumerate(copies, 1):
        head = encode_head(number, one.at, one.kind, one.memory, one.by)
        salted = {**(one.payload or {}), "salt": os.urandom(16).hex()}
        line, previous = encode_line(head, dump_json(salted).encode("utf-8", "replace"), previous)
        if one.payload is None:
            line = erase_payload(line.rstrip(b"\n"), head) + b"\n"
        lines.append(line)
        size += len(line)
        if size >= SEGMENT_BYTES:
            yield b"".join(lines)
            lines, size = [], 0
    if lines:
        yield b"".join(lines)


def is_too_long(payload: dict[str, Any] | None) -> bool:
    """Tell whether a payload is longer than told writes."""
    return payload is not None and len(dump_json(payload)) > MAX_PAYLOAD - 64


def seal_copies(copies: Iterable[Copy], key: bytes = b"") -> str:
    """Return a seal that only a home with this key makes for these operations; without a key, a hash."""
    seal = blake2s(key=key[:32], digest_size=16, person=b"export")
    for one in copies:
        seal.update(dump_json(one).encode("utf-8", "replace") + b"\n")
    return str(seal.hexdigest())
