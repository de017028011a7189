"""Append operations to a journal; they are on disk when the call returns."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from told.errors import DiskFullError, MissingError, UsageError
from told.files import cannot_write, make_folder, open_private, sync_folder
from told.journal.files import (
    ACT,
    CLOCK,
    EDITS,
    IDENTITY,
    MAKES_MEMORY,
    MAX_PAYLOAD,
    SEEN,
    SEGMENT_SUFFIX,
    TORN_SUFFIX,
    Draft,
    Operation,
    SeriesLock,
    drop_partial_batch,
    encode_head,
    encode_line,
    first_hash,
    get_machine_id,
    journal_folder,
    list_segments,
    next_segment,
    peek_line,
    read_clock,
    read_key,
    read_seen,
)
from told.journal.private import find_private_memories, is_private_operation
from told.journal.registry import (
    ProjectJournal,
    choose_project,
    is_home_only,
    own_series_name,
    seal_payload,
)
from told.jsontext import dump_json
from told.store.database import public_id
from told.store.memories.protocol import Memories
from told.store.memories.records import is_private

SEGMENT_BYTES = 1_000_000  # a larger segment is followed by a new one
_OF_SERIES = ("part", "salt")  # payload fields that each copy has of its own
_FIRST_READ = 8192  # bytes
_sync = getattr(os, "fdatasync", os.fsync)


@dataclass(frozen=True, slots=True)
class Written:
    """An operation that was appended."""

    machine: str
    number: int
    memory: str


@dataclass(frozen=True, slots=True)
class SeriesEnd:
    """The end of a series."""

    segment: str  # "": there is none yet
    size: int
    number: int
    previous: str


def new_memory_id(taken: Callable[[str], bool] | None = None, seed: str = "") -> str:
    """Generate a memory id; longer if shorter ones are taken."""
    seed = seed or os.urandom(16).hex()
    length = 7
    while taken and taken(public_id("m", seed, length=length)):
        length += 1
    return public_id("m", seed, length=length)


def append(
    home: str, drafts: Sequence[Draft], *, now: int, sync: bool = True, project: ProjectJournal | None = None
) -> list[Written]:  # fmt: skip
    """Append operations as one batch; without `sync` a later call flushes it to disk.

    On an error nothing was written.
    """
    now = max(0, now)  # by a clock before 1970
    seen = read_clock(home)
    later: dict[str, Any] = {CLOCK: seen + 1} if seen >= now else {}
    machine = own_series_name(project) if project else get_machine_id(home)
    folder = os.path.join(project.journal if project else journal_folder(home), machine)
    key = read_key(project.home) if project else b""
    others = read_seen(home) if any(draft.kind in EDITS for draft in drafts) else {}
    known: dict[str, Any] = {SEEN: others} if others else {}
    payloads = [
        encode_payload(draft, part, len(drafts), later | (known if draft.kind in EDITS else {}))
        for part, draft in enumerate(drafts, 1)
    ]
    try:
        make_folder(folder)
        with SeriesLock(folder):
            return _append(folder, machine, drafts, payloads, now, sync=sync, key=key)
    except OSError as error:
        raise cannot_write(folder, error) from None


def append_to_projects(home: str, memories: Memories, drafts: Sequence[Draft], now: int) -> list[Draft]:
    """Append groups that belong to one project to its journal; return the rest.

    Groups that a project's journal cannot take (read-only, full) are returned as well.
    """
    if not read_key(home):  # without a key the user's operations could not be recognised later
        return list(drafts)
    rest: list[Draft] = []
    groups: dict[object, list[Draft]] = {}
    private = _find_private(memories, drafts)
    for draft in drafts:
        if is_home_only(draft) or is_private_operation(draft, private):
            rest.append(draft)
        else:
            groups.setdefault((draft.payload or {}).get(ACT), []).append(draft)
    known = memories.get({draft.memory for group in groups.values() for draft in group})
    by_place: dict[ProjectJournal, list[Draft]] = {}
    at_home: list[Draft] = []
    for group in groups.values():
        place = choose_project(home, group, known)
        (by_place.setdefault(place, []) if place else at_home).extend(group)
    for place, some in by_place.items():
        try:
            append(home, some, now=now, project=place)
        except (MissingError, DiskFullError):
            at_home += some
    return at_home + rest


def _find_private(memories: Memories, drafts: Sequence[Draft]) -> set[str]:
    """Return the private memories that some operations change or name."""
    names = {
        one
        for draft in drafts
        for value in (draft.memory, *(draft.payload or {}).values())
        for one in (value if isinstance(value, list) else [value])
        if isinstance(one, str)
    }
    known = {name for name, memory in memories.get(names).items() if is_private(memory)}
    return known | find_private_memories(drafts)


def append_copies(
    folder: str, machine: str, operations: Iterable[Operation], segment_bytes: int = SEGMENT_BYTES
) -> int:  # fmt: skip
    """Append operations of other series with numbers and hashes of this one; return how many.

    A kill keeps the first ones. The caller has locked the folder.
    """
    end, count = _find_end(folder, machine), 0
    for name, data in encode_copies(operations, end, segment_bytes):
        _write(os.path.join(folder, name), data, end.size if name == end.segment else 0)
        count += data.count(b"\n")
    if count:
        sync_folder(folder)
    return count


def encode_copies(
    operations: Iterable[Operation], end: SeriesEnd, segment_bytes: int
) -> Iterator[tuple[str, bytes]]:
    """Yield the segments to which operations of other series are appended, and what comes to each."""
    number, previous = end.number, end.previous
    name, size = (end.segment, end.size) if end.segment else (next_segment(""), 0)
    lines: list[bytes] = []
    length = 0
    for operation in operations:
        number += 1
        kept = {field: value for field, value in (operation.payload or {}).items() if field not in _OF_SERIES}
        payload = dump_json({**kept, "salt": os.urandom(16).hex()}).encode("utf-8", "replace")
        head = encode_head(number, operation.at, operation.kind, operation.memory, operation.by)
        line, previous = encode_line(head, payload, previous)
        if size + length + len(line) > segment_bytes and size + length:
            yield name, b"".join(lines)
            name, size, lines, length = next_segment(name), 0, [], 0
        lines.append(line)
        length += len(line)
    if lines:
        yield name, b"".join(lines)


def find_end(folder: str, machine: str) -> tuple[int, str]:
    """Return number and hash of the last operation of a series."""
    end = _find_end(folder, machine)
    return end.number, end.previous


def encode_payload(draft: Draft, part: int, count: int, later: Mapping[str, Any]) -> bytes:
    """Encode the payload of a draft, one of so many in its batch."""
    parts = {"part": [part, count]} if count > 1 else {}
    given = draft.payload or {}
    named = {IDENTITY: os.urandom(8).hex(), **later, **given}
    salted = {**named, **parts, "salt": os.urandom(16).hex()}
    payload = dump_json(salted).encode("utf-8", "replace")
    if len(payload) > MAX_PAYLOAD:
        raise UsageError(f"That is too long to remember: {len(payload) // 1024} KB. Say it shorter.")
    return payload


def _append(
    folder: str, machine: str, drafts: Sequence[Draft], payloads: list[bytes], now: int, *, sync: bool,
    key: bytes,
) -> list[Written]:  # fmt: skip
    end = _find_end(folder, machine)
    number, previous = end.number, end.previous
    written, lines = [], []
    for draft, payload in zip(drafts, payloads, strict=True):
        number += 1
        memory = draft.memory
        if not memory and draft.kind in MAKES_MEMORY:
            memory = public_id("m", machine, str(number), str(now))
        head = encode_head(number, now, draft.kind, memory, draft.by)
        line, previous = encode_line(head, seal_payload(payload, head, machine, key), previous)
        lines.append(line)
        written.append(Written(machine, number, memory))
    is_new = not end.segment or end.size >= SEGMENT_BYTES
    name = next_segment(end.segment) if is_new else end.segment
    if is_new and end.segment:
        _write(os.path.join(folder, end.segment), b"", end.size)  # sync what was not synced
    _write(os.path.join(folder, name), b"".join(lines), 0 if is_new else end.size, sync=sync)
    if is_new:
        sync_folder(folder)
    return written


def _write(path: str, content: bytes, size: int, *, sync: bool = True) -> None:
    """Append to a segment; on failure truncate it to its former size."""
    descriptor = open_private(path, os.O_RDWR | os.O_APPEND)
    try:
        try:
            if os.write(descriptor, content) != len(content):
                raise OSError(errno.ENOSPC, "no space left on device")  # noqa: TRY301 - truncated below
            if sync:
                _sync(descriptor)
        except OSError:
            os.ftruncate(descriptor, size)
            raise
    finally:
        os.close(descriptor)


def _find_end(folder: str, machine: str) -> SeriesEnd:
    """Find the end of a series, after moving a torn line aside."""
    names = list_segments(folder)
    newest = names[-1] if names else ""
    size = skipped = 0
    for name in reversed(names):
        path = os.path.join(folder, name)
        if name == newest:
            size = _move_torn_aside(path)
        last, bad = _read_last_line(path)
        skipped += bad
        if last:
            return SeriesEnd(newest, size, last[0] + skipped, last[1])
    return SeriesEnd(newest, size, skipped, first_hash(machine))


def _move_torn_aside(path: str) -> int:
    """Move what a killed writer left to another file; return the size left."""
    descriptor = open_private(path, os.O_RDWR)
    try:
        size = os.fstat(descriptor).st_size
        if not size:
            return 0
        start, data, end = _complete_part(descriptor, size)
        if end < len(data):
            aside = open_private(path.removesuffix(SEGMENT_SUFFIX) + TORN_SUFFIX, os.O_WRONLY | os.O_APPEND)
            os.write(aside, data[end:] + b"\n")
            os.close(aside)
            os.ftruncate(descriptor, start + end)
            os.fsync(descriptor)
        return start + end
    finally:
        os.close(descriptor)


def _complete_part(descriptor: int, size: int) -> tuple[int, bytes, int]:
    """Return the offset of a segment's end, its bytes, and how many are complete batches."""
    for start, data in _read_backwards(descriptor, size):
        lines = data.split(b"\n")
        known = lines[1:-1] if start else lines[:-1]
        complete = drop_partial_batch(known)
        if complete or not start:
            break
    return start, data, len(data) - len(lines[-1]) - sum(len(line) + 1 for line in known[len(complete) :])


def _read_last_line(path: str) -> tuple[tuple[int, str] | None, int]:
    """Return number and hash of the last valid line, and the count of bad lines after it."""
    descriptor = open_private(path, os.O_RDONLY)
    try:
        for start, data in _read_backwards(descriptor, os.fstat(descriptor).st_size):
            lines = data.split(b"\n")[:-1]
            for bad, line in enumerate(reversed(lines if not start else lines[1:])):
                found = peek_line(line)
                if found:
                    return found, bad
        return None, len(lines)
    finally:
        os.close(descriptor)


def _read_backwards(descriptor: int, size: int) -> Iterator[tuple[int, bytes]]:
    """Yield the offset and bytes of ever longer ends of a file."""
    length, start = _FIRST_READ, size
    while start or length == _FIRST_READ:
        start = max(0, size - length)
        os.lseek(descriptor, start, os.SEEK_SET)
        yield start, os.read(descriptor, size - start)
        length *= 8
