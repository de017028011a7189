"""Works out anew what memories mean, after another table came with told or where it was missing."""

from __future__ import annotations

from told.guard.text import without_placeholders
from told.search.meaning import model_id
from told.search.meant import meant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from told.store.memories import Memories

_AT_ONCE = 1000  # memories in one transaction


def remeaning(memories: Memories, *, only_missing: bool = False) -> Iterator[tuple[int, int]]:
    """Give active memories a vector of the present table, and yield (done, of how many) now and then.

    What is done stays done if the caller stops: with `only_missing` it goes on from there.
    """
    model = model_id()
    if model is None:
        return
    wanted = memories.meanings.missing(model) if only_missing else memories.listed()
    for start in range(0, len(wanted), _AT_ONCE):
        some = memories.load(wanted[start : start + _AT_ONCE])
        with memories.writer.transaction():
            for row, memory in some.items():
                text = without_placeholders(memory.text)
                memories.writer.meanings.put(row, memory.scope, meant(text))
        yield min(start + _AT_ONCE, len(wanted)), len(wanted)
