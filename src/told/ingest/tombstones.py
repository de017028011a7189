"""Looks up in the journal what was forgotten, as it is at this moment."""

from __future__ import annotations

import os

from told.ingest.forgotten import SESSION_TOPIC, TURN_TOPIC, Forgotten
from told.journal.files import journal_folder, machines, segments
from told.store.memory_records import FORGOTTEN


class Tombstones:
    """What was forgotten according to the journal, as it is at this moment."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._seen: object = None
        self._forgotten = Forgotten(b"")

    def now(self) -> Forgotten:
        """Return it; looked up again if the journal has changed since."""
        state = _journal_state(self._home)
        if state and state != self._seen:
            self._forgotten = _from_journal(self._home)
            self._seen = state
        return self._forgotten


def _journal_state(home: str) -> list[tuple[str, int, int]]:
    """Return the newest segment of each machine: it tells whether anything was written."""
    found = []
    folder = journal_folder(home)
    for machine in machines(folder):
        for name in segments(os.path.join(folder, machine))[-1:]:
            state = os.stat(os.path.join(folder, machine, name))
            found.append((f"{machine}/{name}", state.st_size, state.st_mtime_ns))
    return found


def _from_journal(home: str) -> Forgotten:
    from told.journal.apply import open_memories

    memories = open_memories(home)
    try:
        ended = memories.load(memories.listed(status=FORGOTTEN)).values()
        places = [place for memory in ended for place in memory.evidence]
        sessions = memories.noted(SESSION_TOPIC)
        turns = {int(key): name for key, name in memories.noted(TURN_TOPIC).items()}
    finally:
        memories.close()
    return Forgotten(key_of(home), places, sessions, turns)


def key_of(home: str) -> bytes:
    """Return told's own key; nothing if there is none."""
    try:
        with open(os.path.join(home, "key"), "rb") as file:
            return file.read(32)
    except OSError:
        return b""
