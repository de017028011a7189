"""Compute the vectors of memories."""

from __future__ import annotations

from collections.abc import Iterator

from told.search.index_text import embed_memory
from told.search.vectors.table import table_model_id
from told.store.memories.protocol import Memories

_BATCH = 1000  # memories in one transaction


def embed_memories(memories: Memories, *, only_missing: bool = False) -> Iterator[tuple[int, int]]:
    """Compute vectors of active memories; yield (done, total) after each batch.

    Each batch is stored, so an interrupted run continues with `only_missing`.
    """
    model = table_model_id()
    if model is None:
        return
    rows = memories.vectors.missing(model) if only_missing else memories.listed()
    for start in range(0, len(rows), _BATCH):
        batch = memories.load(rows[start : start + _BATCH])
        with memories.writer.transaction():
            for row, memory in batch.items():
                memories.writer.vectors.put(row, memory.scope, embed_memory(memory.text, memory.when))
        yield min(start + _BATCH, len(rows)), len(rows)
