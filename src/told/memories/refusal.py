"""Refuse what the user rejected or forgot: only the user's own word brings it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from told.capture.statements import Statement
from told.memories.journal_writer import JournalWriter
from told.memories.lookup import find_put_away
from told.store.memories.records import Memory

if TYPE_CHECKING:
    from told.memories.remember import NewMemory


def find_refusing(writer: JournalWriter, new: NewMemory) -> Memory | None:
    """Return the memory that the user put away and that a statement would bring back."""
    found = find_put_away(writer.memories, new.text, new.scope, writer.now, writer.journal.key)
    return None if found is None or is_users_request(writer, new, found) else found


def is_users_request(writer: JournalWriter, new: NewMemory, old: Memory) -> bool:
    """Tell whether the user asks for a statement after having put it away: the only way back."""
    asks = isinstance(new.about, Statement) and new.about.requested and new.at > old.updated
    return writer.caller.is_user or (writer.caller.is_told and asks)


def refuse(writer: JournalWriter, new: NewMemory, old: Memory) -> Memory:
    """Record that a statement was not saved, without its words; return the memory that refuses it."""
    place = {"agent": new.agent, "session": new.session, "turn": new.turn, "at": new.at or writer.now}
    writer.add("refuse", old.id, evidence=[place])
    return old
