"""Find the operations that belong to private memories and never leave this machine."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from told.journal.files import Draft, Operation
from told.store.memories.records import is_private


def find_private_memories(operations: Iterable[Operation | Draft]) -> frozenset[str]:
    """Return the ids of memories that ever had a private scope, also if that was undone."""
    return frozenset(one.memory for one in operations if one.memory and _has_private_scope(one.payload))


def is_private_operation(operation: Operation | Draft, private: Collection[str]) -> bool:
    """Tell whether an operation changes or names a private memory.

    Args:
        operation: An operation, written or not.
        private: The ids of private memories.
    """
    payload = operation.payload or {}
    if _has_private_scope(payload) or operation.memory in private:
        return True
    named = [one for value in payload.values() for one in (value if isinstance(value, list) else [value])]
    return any(isinstance(one, str) and one in private for one in named)


def _has_private_scope(payload: Mapping[str, Any] | None) -> bool:
    scope = (payload or {}).get("scope")
    return isinstance(scope, str) and is_private(scope)
