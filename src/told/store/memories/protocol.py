"""What every store of memories offers; SQLite's is in `read.py`, PostgreSQL's in `told.store.postgres`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import ClassVar, Protocol

from told.store.memories.records import ACTIVE, Embedding, IdleMemory, MakeFields, Memory, Position


class MemoryVectors(Protocol):
    """Reads vectors and signs."""

    def signs(self, scopes: Sequence[str], model: str, most: int) -> list[tuple[memoryview[int], bytes]]:
        """Return blocks of (rows, signs by columns) of each scope's newest memories."""

    def vectors(self, numbers: Sequence[int], model: str) -> dict[int, bytes]:
        """Return the vectors of a model by row: the one of a text, then those of its phrases."""

    def counts(self) -> dict[str, int]:
        """Return how many vectors each model has."""

    def missing(self, model: str, most: int = -1) -> list[int]:
        """Return the rows of active memories without a vector, the oldest first."""


class VectorWriter(Protocol):
    """Writes vectors and signs, all at the end of a transaction."""

    def put(self, row: int, scope: str, embedding: Embedding) -> None:
        """Replace the vector of a memory."""


class MemoryWriter(Protocol):
    """Writes what the journal folds; the index follows at the end of the transaction."""

    @property
    def vectors(self) -> VectorWriter:
        """Writes vectors and signs."""

    def transaction(self) -> AbstractContextManager[None]:
        """Start a transaction that also updates the full-text index."""

    def put(self, memory: Memory, make_fields: MakeFields, *, fresh: bool = False) -> None:
        """Store a memory; `make_fields` is only called for a new text, `fresh` ones are not stored yet."""

    def drop(self, memory_id: str) -> None:
        """Remove a memory that was never created."""

    def put_shown(self, memory_id: str, shown: Iterable[tuple[str, int]]) -> None:
        """Store the sessions a memory was shown in, with the last time."""

    def clear_shown(self, memory_id: str) -> None:
        """Delete where a memory was shown."""

    def put_noted(self, topic: str, name: str, value: str, key: tuple[int, str, int]) -> None:
        """Store a note; the latest by key wins."""

    def is_orphan(self, memory_id: str) -> bool:
        """Tell whether a memory has operations but no creation yet."""

    def set_orphan(self, memory_id: str, *, orphan: bool) -> None:
        """Mark whether a memory has operations but no creation yet."""


class Memories(Protocol):
    """The memories somebody may read. Newer memories have higher rows; rows are returned newest first."""

    STORE_ERRORS: ClassVar[tuple[type[Exception], ...]]  # the store is damaged, busy or gone
    QUERY_ERRORS: ClassVar[tuple[type[Exception], ...]]  # one query cannot be run
    left_out: Collection[int]  # rows that are not loaded

    @property
    def writer(self) -> MemoryWriter:
        """Writes what the journal folds."""

    @property
    def vectors(self) -> MemoryVectors:
        """Reads vectors and signs."""

    def memory_count(self) -> int:
        """Return how many memories are indexed."""

    def frequency(self, phrase: str, cap: int, *, scopes: Sequence[str] = ()) -> int:
        """Count the memories that match an expression, up to `cap`."""

    def latest(self, expression: str, limit: int, *, scopes: Sequence[str] = ()) -> list[int]:
        """Return the rows of the newest matches, not ranked."""

    def with_term(self, term: str, limit: int, *, scopes: Sequence[str]) -> list[int]:
        """Return the rows of the newest memories that contain a quoted term."""

    def span(self, scopes: Sequence[str], newest: int) -> tuple[int, int]:
        """Return how many of the newest memories scopes have, and the oldest row."""

    def match(
        self, expression: str, weights: Sequence[float], limit: int, *,
        scopes: Sequence[str] = (), ended: bool = False, archived: bool | None = None, newest: int = 0,
        status: str = "",
    ) -> list[tuple[int, float]]:  # fmt: skip
        """Return (row, score) of the best matches; a lower score is better.

        Of scopes only active memories, with `ended` also others. `archived`: only archived ones, or neither
        those nor unconfirmed ones. `newest`: score only so many of the newest matches.
        """

    def noted(self, topic: str) -> dict[str, str]:
        """Return the notes of a topic by name."""

    def close(self) -> None:
        """Close the database."""

    def get(self, ids: Iterable[str]) -> dict[str, Memory]:
        """Return memories by id, skipping damaged rows."""

    def load(self, numbers: Iterable[int]) -> dict[int, Memory]:
        """Return memories by row, skipping damaged rows."""

    def load_ids(self, ids: Iterable[str]) -> dict[int, Memory]:
        """Return memories by row, given their ids."""

    def ids_with_prefix(self, prefix: str, limit: int = 10) -> list[str]:
        """Return the ids that start with a prefix."""

    def ids(self) -> list[str]:
        """Return the id of every memory, the oldest first."""

    def ids_with_trust(self, prefix: str) -> list[str]:
        """Return the ids of memories whose trust has a prefix."""

    def counts(self) -> list[tuple[str, str, str, int, int]]:
        """Return (status, kind, scope, memories, locked ones)."""

    def counts_by_trust(self) -> list[tuple[str, str, str, str, int, int]]:
        """Return (status, kind, scope, trust, memories, locked ones)."""

    def count_since(self, mark: str, at: int) -> tuple[int, int]:
        """Return how many active memories with a mark were made and shown since a time."""

    def count_from_sessions(self) -> int:
        """Return how many active memories users stated in sessions."""

    def count_observations(self, scopes: Sequence[str]) -> int:
        """Return how many active memories only record what an agent did."""

    def count_candidates(self, scopes: Sequence[str] = ()) -> int:
        """Return how many candidates scopes have; all if no scope is given."""

    def repeated(self) -> list[int]:
        """Return the rows of users' memories that were stated more than once, without dismissed ones."""

    def listed(
        self, *, status: str = ACTIVE, scopes: Sequence[str] = (), kinds: Sequence[str] = (),
        limit: int = -1, observations: bool = True,
    ) -> list[int]:  # fmt: skip
        """Return the rows of memories with a status, of the given scopes, kinds or marks.

        Without `observations`, records of what agents did are left out.
        """

    def rejected(self, scopes: Sequence[str] = ()) -> list[int]:
        """Return the rows of memories that the user rejected, of some scopes or of all."""

    def forgotten_with(self, marks: Sequence[str], scopes: Sequence[str] = ()) -> list[int]:
        """Return the rows of forgotten memories with one of some marks, of some scopes or of all."""

    def unreviewed(self, scopes: Sequence[str] = ()) -> list[int]:
        """Return the rows of active statements that the user neither worded, locked nor confirmed."""

    def changed_since(
        self, at: int, scopes: Sequence[str], kinds: Sequence[str], *, session: str = ""
    ) -> list[str]:
        """Return the ids of the users' active statements of some kinds that changed since a time.

        What users said in `session` is left out, unless a reader worded it.
        """

    def idle(self, before: int) -> Iterator[IdleMemory]:
        """Yield unlocked memories unchanged since a time, the longest idle first."""

    def idle_candidates(self, before: int) -> list[IdleMemory]:
        """Return the candidates unchanged since a time, the longest idle first."""

    def of_scope(self, scope: str) -> list[int]:
        """Return the rows of a scope's memories of any status."""

    def private_scopes(self) -> list[str]:
        """Return the private scopes that have active memories."""

    def locked(self, scopes: Sequence[str], limit: int = -1) -> list[int]:
        """Return the rows of locked memories."""

    def by_trigger(
        self, kind: str, values: Sequence[str], scopes: Sequence[str], limit: int = 200
    ) -> list[int]:
        """Return the rows of memories triggered by commands, paths or tasks."""

    def of_session(self, session: str) -> list[int]:
        """Return the rows of memories from a session, forgotten ones included."""

    def positions(self) -> dict[tuple[str, str], Position]:
        """Return how far each (machine, segment) of the journal is applied."""

    def superseded(self, ids: Iterable[str]) -> dict[str, list[str]]:
        """Return for each memory the ids it superseded."""

    def edges(self, ids: Iterable[str]) -> list[tuple[str, str, str, int, str]]:
        """Return (source, kind, target, at, by) of the edges of memories."""

    def shown_in(self, session: str) -> dict[str, int]:
        """Return the memories shown in a session, with the last time."""

    def sessions_showing(self, memory_id: str) -> dict[str, int]:
        """Return the sessions that a memory was shown in, with the last time."""
