"""Forgets memories for good: nothing of what they said stays, only that there was something to forget."""

from __future__ import annotations

from told.journal.apply import leave_nothing
from told.journal.erase import erase
from told.journal.files import journal_folder
from told.journal.read import operations_of
from told.store.memory_records import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from told.memory.pen import Pen
    from told.store.memories import Memories


def forget(pen: Pen, memories: Sequence[Memory]) -> None:
    """Erase memories from the journal and the database, to the last byte.

    Each leaves a mark of where it was said, without a word of it, so that it is not read in again. What was
    interrupted is finished by forgetting the same memories once more.

    Raises:
        BusyError: another told is reading or writing; the memories are forgotten, but not all bytes are gone.
    """
    for memory in memories:
        places = [{"agent": one.agent, "session": one.session, "turn": one.turn, "at": one.at}
                  for one in memory.evidence]  # fmt: skip
        pen.note("forget", memory.id, evidence=places)
    pen.write()
    erase(pen.home, [memory.id for memory in memories])
    leave_nothing(pen.home, pen.memories)


def in_journal(home: str, beginning: str) -> list[Memory]:
    """Return the memories that only the journal knows, by the beginning of their ids: undone ones."""
    found = operations_of(journal_folder(home), [beginning])
    ids = sorted({one.memory for one in found if one.memory.startswith(beginning)})
    return [Memory(one) for one in ids]


def of_sessions(memories: Memories, sessions: Sequence[str]) -> list[Memory]:
    """Return the memories that come from sessions, given by any of their ids."""
    rows = [row for session in sessions for row in memories.of_session(session)]
    return [one for one in memories.load(dict.fromkeys(rows)).values() if one.text]


def the_same(memories: Memories, forgotten: Sequence[Memory]) -> list[Memory]:
    """Return other memories that have the very words of those to be forgotten."""
    ids = {memory.id for memory in forgotten}
    texts = {memory.text for memory in forgotten if memory.text}
    found: dict[str, Memory] = {}
    for text in texts:
        phrase = '"' + text.replace('"', '""') + '"'
        hits = memories.match(f"{{text}}:{phrase}", (1.0, 0.0, 0.0), 50)
        for one in memories.load(row for row, _ in hits).values():
            if one.id not in ids and text in one.text:
                found[one.id] = one
    return list(found.values())
