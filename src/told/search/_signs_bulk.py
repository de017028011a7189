"""The same count of signs with numpy, for very many vectors."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Not a dependency of told, so type checkers may not know it.
np: Any = import_module("numpy")
_TOGETHER = 65_536  # vectors at once


def differences(one: bytes, others: bytes) -> bytes:
    """Return in how many signs each of many vectors differs from one; of longer vectors, half of that."""
    own = np.frombuffer(one, np.uint64)
    rows = np.frombuffer(others, np.uint64).reshape(-1, len(own))
    found = []
    for start in range(0, len(rows), _TOGETHER):
        counts = np.bitwise_count(rows[start : start + _TOGETHER] ^ own).sum(axis=1, dtype=np.uint16)
        found.append((counts >> int(len(one) > 32)).astype(np.uint8).tobytes())
    return b"".join(found)
