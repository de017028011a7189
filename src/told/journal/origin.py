"""Who wrote an operation that stands in a project's folder: this machine, or somebody else.

Whatever stands there can have been put there by anybody who can write to the project. What this machine
wrote carries a seal, made with a key that never leaves told's home. All the rest is a colleague's word at
most: never the user's, never locked, of this project alone, and it changes nothing that was said here.
"""

from __future__ import annotations

import os
from _blake2 import blake2s

from told.journal.line import head_of, split
from told.journal.model import STRANGER
from told.journal.steps import UNDO
from told.record import replaced
from told.store.memory_records import TEAM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.journal.model import Operation
    from told.journal.registry import Place

COLLEAGUE = f"{TEAM}project"
_SEAL = 16  # of the 32 letters of the salt; the other half is chance
_END = b'"}'
_LONGEST = 4000  # characters of a memory
_MOST_IMPORTANT = 8.0
# Of each operation that is taken from others, what it may say.
_MAKING = ("text", "kind", "label", "status", "triggers", "entities", "evidence", "importance", "created")
_MAY_SAY = {
    "remember": _MAKING,
    "correct": _MAKING,
    "supersede": ("by", "why"),
    "edge": ("kind", "target", "remove", "why"),
    "forget": (),
    UNDO: ("machine", "number"),
}
_keys: dict[str, bytes] = {}


def sealed(payload: bytes, head: bytes, machine: str, key: bytes) -> bytes:
    """Return a payload whose salt says that this machine wrote it; without a key, as it is."""
    body = payload[: -_SEAL - len(_END)]
    return body + _seal(body, head, machine, key) + _END if key else payload


def as_known(operation: Operation, line: bytes, place: Place) -> Operation | None:
    """Return an operation of a project's folder as it may be taken; None if it may not."""
    head = head_of(operation.number, operation.at, operation.kind, operation.memory, operation.by)
    payload = split(line, head)[0]
    body = payload[: -_SEAL - len(_END)]
    key = key_of(place.home)
    if key and operation.payload and payload == body + _seal(body, head, operation.machine, key) + _END:
        return operation
    if operation.kind not in _MAY_SAY:
        return None
    return replaced(
        operation,
        machine=STRANGER + operation.machine,
        by=COLLEAGUE,
        payload=None if operation.payload is None else _allowed(operation, place),
    )


def key_of(home: str) -> bytes:
    """Return the key of told's home; nothing if there is none."""
    if not _keys.get(home):
        try:
            with open(os.path.join(home, "key"), "rb") as file:
                _keys[home] = file.read(32)
        except OSError:
            return b""
    return _keys[home]


def _seal(body: bytes, head: bytes, machine: str, key: bytes) -> bytes:
    made = blake2s(machine.encode() + b"\0" + head + body, key=key[:32], digest_size=_SEAL // 2)
    return made.hexdigest().encode()


def _allowed(operation: Operation, place: Place) -> dict[str, Any]:
    """Return what is taken of a payload that somebody else wrote."""
    given = operation.payload or {}
    payload = {name: given[name] for name in _MAY_SAY[operation.kind] if name in given}
    text = payload.get("text")
    if isinstance(text, str):
        payload["text"] = " ".join(text[: 2 * _LONGEST].split())[:_LONGEST]
    if operation.kind == UNDO:
        payload["machine"] = f"{STRANGER}{payload.get('machine')}"
    if operation.kind in ("remember", "correct"):
        payload |= {"scope": place.scope, "trust": COLLEAGUE}
        weight = payload.get("importance")
        if isinstance(weight, (int, float)) and weight > _MOST_IMPORTANT:
            payload["importance"] = _MOST_IMPORTANT
        created = payload.get("created")
        if isinstance(created, int) and created > operation.at:
            del payload["created"]
    return payload
