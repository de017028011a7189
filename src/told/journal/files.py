"""Files of the journal: their names and locks, and the exact byte format of their lines, the operations.

The hash of an operation covers its fields, the hash of its payload and the hash of the previous operation.
A payload can therefore be erased and the chain still verifies; a random salt keeps its hash meaningless.
A payload that was redacted later keeps the original payload hash and adds a hash of the new line.
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import Any, NamedTuple

from told.errors import BusyError
from told.files import (
    cannot_write,
    create_private,
    make_folder,
    open_private,
    open_regular,
    read_text,
    write_private,
)
from told.hashing import blake2s
from told.jsontext import dump_json, load_json
from told.pattern import lazy_pattern
from told.store.database import public_id
from told.store.memories.names import STRANGER as STRANGER  # noqa: PLC0414 - part of an operation

try:
    import fcntl
except ImportError:  # no such locks here: `verify` reports what two writers at once break
    fcntl = None  # type: ignore[assignment]

SET = "set"  # sets notes that belong to no memory: {"set": {topic: {name: value}}}
FORGET, UNDO, ARCHIVE, RESTORE = "forget", "undo", "archive", "restore"
CHECKPOINT, FORGET_CHECKPOINT = "checkpoint", "forget_checkpoint"  # of a checkpoint instead of a memory
ACT = "act"  # payload field: operations with the same value are undone together
MAKES_MEMORY = frozenset(("remember", "correct"))
IDENTITY = "op"  # payload field: a random name that all copies of an operation share
CLOCK = "clock"  # payload field: a time later than `at`, after operations of a faster clock were seen
ID_LENGTH = 8  # letters of a memory's id; further ones tell apart those that begin alike
SEEN = "seen"  # payload field of an edit: how far its machine had received each other machine's operations
EDITS = frozenset(("revise", "supersede", "share", "lock", "unlock", "confirm", "reject"))

MAX_PAYLOAD = 512 * 1024  # bytes
_HEX = 32
_TAIL = len(f',"payload_hash":"{"":0<{_HEX}}","previous":"{"":0<{_HEX}}","hash":"{"":0<{_HEX}}"}}')
_NUMBER = b'{"number":'
_HASH = b'","hash":"'
ERASED = b'"payload":null,'  # in a line without its payload
REDACTED = b',"redacted":"'  # in a line that was redacted
_REDACTED_LENGTH = len(REDACTED) + _HEX + 1
_SALT_LENGTH = len('"salt":""}') + _HEX
_PART = b'"part":['
_MAX_PART = 24
_FIELDS = 9

LOCK_WAIT_MS = 5000
SEGMENT_SUFFIX = ".jsonl"
TORN_SUFFIX = ".torn"
_SEGMENT_DIGITS = 6
_SEGMENT = lazy_pattern(rf"[0-9]{{{_SEGMENT_DIGITS}}}\.[^.]*")
_MACHINE_ID_LENGTH = 8
_MACHINE_ID = lazy_pattern(rf"[a-z2-7]{{{_MACHINE_ID_LENGTH}}}")


def journal_folder(home: str) -> str:
    """Return the folder of the journals in told's home."""
    return os.path.join(home, "journal")


def list_machines(folder: str) -> list[str]:
    """List the machines that have a journal in a folder, sorted."""
    try:
        return sorted(name for name in os.listdir(folder) if os.path.isdir(os.path.join(folder, name)))
    except OSError:
        return []


def list_segments(folder: str, suffix: str = SEGMENT_SUFFIX) -> list[str]:
    """List the segment names in a machine's folder, in order."""
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return sorted(name for name in names if name.endswith(suffix) and _SEGMENT.fullmatch(name))


def next_segment(name: str) -> str:
    """Return the segment name after this one; the first for ""."""
    return f"{int(name[:_SEGMENT_DIGITS] or 0) + 1:0{_SEGMENT_DIGITS}}{SEGMENT_SUFFIX}"


def read_key(home: str) -> bytes:
    """Read the secret key of told's home; b"" if there is none."""
    try:
        with open_regular(os.path.join(home, "key")) as file:
            return file.read(32)
    except OSError:
        return b""


def clock_path(home: str) -> str:
    """Return the file with the latest time that another machine's operations have."""
    return os.path.join(home, "sync", "clock")


def read_clock(home: str) -> int:
    """Return the latest time of another machine's operations; 0 if there are none."""
    try:
        text = read_text(clock_path(home), 20).strip()
    except OSError:
        return 0
    return int(text) if text.isdecimal() and text.isascii() else 0


def read_seen(home: str) -> dict[str, int]:
    """Return the time of the latest operation received from each of the user's other machines."""
    try:
        found = load_json(read_text(_seen_path(home)))
    except (OSError, ValueError):
        return {}
    return {name: at for name, at in found.items() if _is_time(at)} if isinstance(found, dict) else {}


def write_seen(home: str, machine: str, at: int) -> None:
    """Note that operations of another machine were received up to a time."""
    seen = read_seen(home)
    if at > seen.get(machine, 0):
        write_private(_seen_path(home), dump_json(seen | {machine: at}).encode())


def _seen_path(home: str) -> str:
    return os.path.join(home, "sync", "seen")


def get_machine_id(home: str) -> str:
    """Return this machine's id; create it on first use."""
    path = os.path.join(home, "machine")
    return _read_machine_id(path) or _create_machine_id(path)


def is_machine_id(name: str) -> bool:
    """Return whether a name has the form of a machine id."""
    return _MACHINE_ID.fullmatch(name) is not None


def _read_machine_id(path: str) -> str:
    try:
        name = read_text(path, 64).strip()
    except OSError:
        return ""
    return name if is_machine_id(name) else ""


def _create_machine_id(path: str) -> str:
    name = public_id("", os.urandom(16).hex(), length=_MACHINE_ID_LENGTH)
    content = f"{name}\n".encode()
    try:
        make_folder(os.path.dirname(path))
        if os.path.exists(path) and not _read_machine_id(path):
            write_private(path, content)
        else:
            with contextlib.suppress(FileExistsError):  # another process was faster
                create_private(path, content)
    except OSError as error:
        raise cannot_write(path, error) from None
    return _read_machine_id(path) or name


class SeriesLock:
    """Lock a machine's folder for one writer; a killed writer releases it."""

    def __init__(self, folder: str, wait_ms: int = LOCK_WAIT_MS) -> None:
        self._path = os.path.join(folder, "lock")
        self._wait_ms = wait_ms
        self._descriptor = -1

    def __enter__(self) -> None:
        try:
            self._descriptor = open_private(self._path, os.O_RDWR)
        except OSError as error:
            raise cannot_write(self._path, error) from None
        if fcntl is None:
            return
        deadline = time.monotonic() + self._wait_ms / 1000
        while True:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() < deadline:
                    time.sleep(0.001)
                    continue
                os.close(self._descriptor)
                raise BusyError from None
            except OSError:
                os.close(self._descriptor)
                raise
            return

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


class Draft(NamedTuple):
    """An operation to append."""

    kind: str
    by: str
    payload: dict[str, Any] | None = None
    memory: str = ""  # generated if the operation creates a memory


class Operation(NamedTuple):
    """One line of a journal: a change of a memory."""

    machine: str
    number: int
    at: int
    kind: str
    memory: str
    by: str
    payload: dict[str, Any] | None  # None: erased
    hash: str = ""
    previous: str = ""
    redacted: bool = False  # the payload was redacted after it was written

    @property
    def identity(self) -> str:
        """What every copy of it has in common; empty if erased."""
        payload = self.payload or {}
        found = payload.get(IDENTITY) or payload.get("salt")  # older operations have only a salt
        return found if isinstance(found, str) else ""

    @property
    def order(self) -> int:
        """When it happened: later than all its machine had seen, even if the clock was behind."""
        clock = (self.payload or {}).get(CLOCK)
        is_later = isinstance(clock, int) and not isinstance(clock, bool) and self.at < clock < 1 << 53
        return clock if is_later else self.at  # type: ignore[return-value]

    @property
    def touched(self) -> tuple[str, ...]:
        """The ids of the memories it changes: its own, or those its payload lists."""
        if self.memory or not self.payload:
            return (self.memory,) if self.memory else ()
        listed = self.payload.get("memories")
        if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
            return ()
        return tuple(dict.fromkeys(listed))


class Damage(NamedTuple):
    """A line of a journal that told did not write."""

    file: str
    line: int  # from 1; 0: the whole file
    what: str


class BadLineError(Exception):
    """A line is not what told wrote; the message says why."""


def hash_bytes(data: bytes) -> str:
    """Hash bytes to hexadecimal text."""
    return blake2s(data, digest_size=_HEX // 2).hexdigest()


def first_hash(machine: str) -> str:
    """Return the `previous` hash of a machine's first operation."""
    return hash_bytes(machine.encode())


def encode_head(number: int, at: int, kind: str, memory: str, by: str) -> bytes:
    """Encode a line up to its payload."""
    fields = f'"kind":{dump_json(kind)},"memory":{dump_json(memory)},"by":{dump_json(by)}'
    return f'{{"number":{number},"at":{at},{fields},"payload":'.encode("utf-8", "replace")


def head_of(operation: Operation) -> bytes:
    """Encode an operation's line up to its payload."""
    return encode_head(operation.number, operation.at, operation.kind, operation.memory, operation.by)


def encode_line(head: bytes, payload: bytes, previous: str) -> tuple[bytes, str]:
    """Encode a line with its line feed; also return the operation's hash."""
    payload_hash = hash_bytes(payload)
    own = _hash_operation(head, payload_hash, previous)
    tail = f',"payload_hash":"{payload_hash}","previous":"{previous}","hash":"{own}"}}\n'
    return head + payload + tail.encode(), own


def _hash_operation(head: bytes, payload_hash: str, previous: str) -> str:
    return hash_bytes(head + f"{payload_hash} {previous}".encode())


def parse_line(line: bytes, machine: str) -> Operation:
    """Parse and verify a line without its line feed."""
    try:
        value = load_json(line.decode())
    except ValueError:
        raise BadLineError("not valid JSON") from None
    redacted_hash = _read_redacted_hash(line)
    if not isinstance(value, dict) or len(value) != _FIELDS + (redacted_hash is not None):
        raise BadLineError("not an operation")
    number, at, kind, memory, by, payload = (
        value.get(name) for name in ("number", "at", "kind", "memory", "by", "payload")
    )
    if not (_is_count(number) and _is_time(at) and all(isinstance(one, str) for one in (kind, memory, by))):
        raise BadLineError("not an operation")
    head = encode_head(number, at, kind, memory, by)  # type: ignore[arg-type]
    raw, tail = split_line(line, head)
    payload_hash, previous, own = value.get("payload_hash"), value.get("previous"), value.get("hash")
    if tail.decode() != f',"payload_hash":"{payload_hash}","previous":"{previous}","hash":"{own}"}}':
        raise BadLineError("not written by told")
    if not line.startswith(head) or _hash_operation(head, str(payload_hash), str(previous)) != own:
        raise BadLineError("wrong hash")
    if redacted_hash is not None:
        matches = isinstance(payload, dict) and hash_bytes(head + raw + tail) == redacted_hash
    elif payload is None:
        matches = raw == b"null"
    else:
        matches = isinstance(payload, dict) and hash_bytes(raw) == payload_hash
    if not matches:
        raise BadLineError("its payload does not match")
    return Operation(
        machine, number, at, kind, memory, by, payload, own, previous,  # type: ignore[arg-type]
        redacted=redacted_hash is not None,
    )  # fmt: skip


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53


def _is_time(value: object) -> bool:
    """Accept times before 1970 as well: clocks without a battery start there."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 53


def split_line(line: bytes, head: bytes) -> tuple[bytes, bytes]:
    """Split a line that starts with `head` into payload and tail."""
    return _strip_redacted_hash(line[len(head) : -_TAIL]), line[-_TAIL:]


def erase_payload(line: bytes, head: bytes) -> bytes:
    """Replace the payload of a line with null."""
    return head + b"null" + line[-_TAIL:]


def redact_payload(line: bytes, head: bytes, payload: bytes) -> bytes:
    """Replace the payload of a line and add the hash of the new line."""
    tail = line[-_TAIL:]
    return head + payload + REDACTED + hash_bytes(head + payload + tail).encode() + b'"' + tail


def _read_redacted_hash(line: bytes) -> str | None:
    field = line[-_TAIL - _REDACTED_LENGTH : -_TAIL]
    if not field.startswith(REDACTED) or not field.endswith(b'"'):
        return None
    return field[len(REDACTED) : -1].decode("ascii", "replace")


def _strip_redacted_hash(payload: bytes) -> bytes:
    # A payload ends with a brace, the field behind it with a quotation mark.
    has_hash = payload[-_REDACTED_LENGTH:].startswith(REDACTED) and payload.endswith(b'"')
    return payload[:-_REDACTED_LENGTH] if has_hash else payload


def peek_line(line: bytes) -> tuple[int, str] | None:
    """Read number and hash of a line without parsing it; None if it is none."""
    if not line.startswith(_NUMBER) or not line.endswith(b'"}') or line[-_HEX - 12 : -_HEX - 2] != _HASH:
        return None
    number = line[len(_NUMBER) : len(_NUMBER) + 20].partition(b",")[0]
    return (int(number), line[-_HEX - 2 : -2].decode("ascii", "replace")) if number.isdigit() else None


def drop_partial_batch(lines: list[bytes]) -> list[bytes]:
    """Drop the last lines if the batch they belong to is incomplete."""
    position, count = _read_part(lines[-1]) if lines else (1, 1)
    return lines[:-position] if position < count else lines


def _read_part(line: bytes) -> tuple[int, int]:
    """Return the position of a line in its batch, and the batch size."""
    payload = _strip_redacted_hash(line[:-_TAIL])[:-_SALT_LENGTH]
    start = payload.rfind(_PART, -_MAX_PART)
    if start < 0 or not payload.endswith(b"],"):
        return 1, 1
    position, _, count = payload[start + len(_PART) : -2].partition(b",")
    return (int(position), int(count)) if position.isdigit() and count.isdigit() else (1, 1)
