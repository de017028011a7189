"""Whether told can compare what memories mean, for `told health`."""

from __future__ import annotations

import os

from told.search import meaning
from told.store.memories import Memories, memory_path, open_memory_database


def meaning_notes(home: str) -> list[str]:
    """Return what is wrong, in a sentence that says what to do; none if nothing is."""
    note = _note(home)
    return [note] if note else []


def _note(home: str) -> str:
    if not meaning.is_whole():
        return (
            f"The table {meaning.PATH} is missing or damaged: memories are found by their words alone."
            " Install told again."
        )
    path = memory_path(home)
    database = open_memory_database(path) if os.path.exists(path) else None
    if database is None:
        return ""
    try:
        memories = Memories(database)
        counts = memories.meanings.counts()
        others = sum(found for model, found in counts.items() if model != meaning.model_id())
        none = bool(not counts and memories.meanings.missing("", 1))
    finally:
        database.close()
    if not others and not none:
        return ""
    return "What memories mean is not known to this version of told, only their words. Run `told re-embed`."
