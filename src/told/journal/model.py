"""The words of the journal: operations, damage, and the memories they make."""

from __future__ import annotations

from told.record import record
from told.store.memory_records import (
    ACTIVE,
    AGENT,
    ARCHIVED,
    CORRECTION,
    DECISION,
    FACT,
    FORGOTTEN,
    GLOBAL,
    KINDS,
    OBSERVATION,
    PREFERENCE,
    PROJECT,
    QUARANTINED,
    RULE,
    SHARED,
    SUPERSEDED,
    TEAM,
    TOOL,
    USER,
    WARNING,
    Edge,
    Evidence,
    Memory,
    Trigger,
)  # fmt: skip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STRANGER = "~"  # before the machine of an operation in a project's folder that this machine did not write
SET = "set"  # the operation that notes something about no memory: {"set": {topic: {name: value}}}

__all__ = [
    "ACTIVE", "AGENT", "ARCHIVED", "CORRECTION", "DECISION", "FACT", "FORGOTTEN", "GLOBAL", "KINDS",
    "OBSERVATION", "PREFERENCE", "PROJECT", "QUARANTINED", "RULE", "SET", "SHARED", "STRANGER", "SUPERSEDED",
    "TEAM", "TOOL", "USER", "WARNING", "Damage", "Edge", "Evidence", "Memory", "Operation", "Trigger",
]  # fmt: skip


@record
class Operation:
    """One line of a journal: something that happened to a memory."""

    machine: str
    number: int
    at: int
    kind: str
    memory: str
    by: str
    payload: dict[str, Any] | None  # None: erased
    hash: str = ""
    previous: str = ""
    redacted: bool = False  # something was taken out of its payload after it was written

    @property
    def touched(self) -> tuple[str, ...]:
        """The memories it is about: its own, or those its payload lists."""
        if self.memory or not self.payload:
            return (self.memory,) if self.memory else ()
        listed = self.payload.get("memories")
        named = dict.fromkeys(listed) if isinstance(listed, list) and all(map(_is_text, listed)) else {}
        return tuple(named)


@record
class Damage:
    """A line of a journal that is not what told wrote."""

    file: str
    line: int  # from 1; 0 is the whole file
    what: str


def _is_text(value: object) -> bool:
    return isinstance(value, str)
