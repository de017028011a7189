"""The shape of one line of the journal, fixed to the byte so that each byte is covered by a hash.

An operation's hash covers its fields, the hash of its payload and the hash of the operation before it. The
payload carries a random salt, so that nothing can be told from its hash once it is erased.

A payload from which a secret was taken out later stands in the place of the first one: the line keeps the
first one's hash, so that the chain holds, and a further hash tells that the new one is as it was written.
"""

from __future__ import annotations

from _blake2 import blake2s

from told.store.memory_json import encoded

_HEX = 32
_TAIL = len(f',"payload_hash":"{"":0<{_HEX}}","previous":"{"":0<{_HEX}}","hash":"{"":0<{_HEX}}"}}')
_NUMBER = b'{"number":'
_HASH = b'","hash":"'
_REDACTED = b',"redacted":"'
_MARK = len(_REDACTED) + _HEX + 1
_SALT = len('"salt":""}') + _HEX
_PART = b'"part":['
_LONGEST_PART = 24
LONGEST = 512 * 1024


def digest(data: bytes) -> str:
    """Return a hash as text."""
    return blake2s(data, digest_size=_HEX // 2).hexdigest()


def first_previous(machine: str) -> str:
    """Return what stands for the operation before a machine's first."""
    return digest(machine.encode())


def head_of(number: int, at: int, kind: str, memory: str, by: str) -> bytes:
    """Return a line up to its payload."""
    fields = f'"kind":{encoded(kind)},"memory":{encoded(memory)},"by":{encoded(by)}'
    return f'{{"number":{number},"at":{at},{fields},"payload":'.encode("utf-8", "replace")


def hash_of(head: bytes, payload_hash: str, previous: str) -> str:
    """Return the hash of an operation."""
    return digest(head + f"{payload_hash} {previous}".encode())


def line_of(head: bytes, payload: bytes, previous: str) -> tuple[bytes, str]:
    """Return a whole line with its end, and the operation's hash."""
    payload_hash = digest(payload)
    own = hash_of(head, payload_hash, previous)
    tail = f',"payload_hash":"{payload_hash}","previous":"{previous}","hash":"{own}"}}\n'
    return head + payload + tail.encode(), own


def split(line: bytes, head: bytes) -> tuple[bytes, bytes]:
    """Return the payload and the tail of a line that begins with this head."""
    return _unmarked(line[len(head) : -_TAIL]), line[-_TAIL:]


def redacted_line(line: bytes, head: bytes, payload: bytes) -> bytes:
    """Return a line, without its end, that has another payload; all before and behind it stays as it is."""
    tail = line[-_TAIL:]
    mark = redacted_mark(head, payload, tail)
    return head + payload + _REDACTED + mark.encode() + b'"' + tail


def redacted_mark(head: bytes, payload: bytes, tail: bytes) -> str:
    """Return what a line has to say of a payload that is not its first one."""
    return digest(head + payload + tail)


def mark_of(line: bytes) -> str | None:
    """Return what a line says of its payload, if that is not its first one."""
    mark = line[-_TAIL - _MARK : -_TAIL]
    if not mark.startswith(_REDACTED) or not mark.endswith(b'"'):
        return None
    return mark[len(_REDACTED) : -1].decode("ascii", "replace")


def _unmarked(payload: bytes) -> bytes:
    # A payload ends with a brace, and what stands behind it with a quotation mark.
    return payload[:-_MARK] if payload[-_MARK:].startswith(_REDACTED) and payload.endswith(b'"') else payload


def end_of(line: bytes) -> tuple[int, str] | None:
    """Return number and hash of a line at a glance, without reading its payload; None if it is none."""
    if not line.startswith(_NUMBER) or not line.endswith(b'"}') or line[-_HEX - 12 : -_HEX - 2] != _HASH:
        return None
    number = line[len(_NUMBER) : len(_NUMBER) + 20].partition(b",")[0]
    return (int(number), line[-_HEX - 2 : -2].decode("ascii", "replace")) if number.isdigit() else None


def part_of(line: bytes) -> tuple[int, int]:
    """Return which of how many operations that belong together a line is; most are the only one."""
    payload = _unmarked(line[:-_TAIL])[:-_SALT]
    start = payload.rfind(_PART, -_LONGEST_PART)
    if start < 0 or not payload.endswith(b"],"):
        return 1, 1
    place, _, count = payload[start + len(_PART) : -2].partition(b",")
    return (int(place), int(count)) if place.isdigit() and count.isdigit() else (1, 1)


def without_part(lines: list[bytes]) -> list[bytes]:
    """Return lines without the last ones if these are only a part of what belongs together."""
    place, count = part_of(lines[-1]) if lines else (1, 1)
    return lines[:-place] if place < count else lines
