"""What an audit says of a memory: what is wrong with it, and what to do."""

from __future__ import annotations

from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.store.memory_records import Memory

GONE, COMMAND, PROGRAM, HOST = "gone", "command", "program", "host"
CONTRADICTS, OUTDATED, DENIED = "contradicts", "outdated", "denied"
REPEATS, IN_FILE = "repeats", "in a file"
STALE, EXPIRED, FADED = "stale", "expired", "faded"
NAMED = (GONE, COMMAND, PROGRAM, HOST)  # the name stands in the memory itself
# In the order in which they are told.
KINDS = (
    GONE, COMMAND, HOST, PROGRAM, CONTRADICTS, OUTDATED, DENIED, REPEATS, IN_FILE, STALE, EXPIRED, FADED,
)  # fmt: skip


@record
class Finding:
    """One thing that is wrong with a memory."""

    what: str
    memory: Memory
    why: str  # told's own words; {} stands for the name
    name: str = ""  # others' words: a path, a command, a host, or a place in a file
    other: Memory | None = None
    do: tuple[str, ...] = ()  # commands, each behind the case that it is for, if there are several
    sure: bool = True


def erase(memory: Memory) -> str:
    """Return the command that erases a memory."""
    return f"told forget {memory.id} --force"
