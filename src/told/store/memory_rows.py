"""A memory as a row of `memory.db`, and back."""

from __future__ import annotations

from _blake2 import blake2s

from told.store.ids import public_id
from told.store.memory_json import decoded, encoded
from told.store.memory_records import ACTIVE, ARCHIVED, Edge, Evidence, Memory, Trigger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

# As they are read; `written` adds what only the index and the check need.
COLUMNS = (
    "id", "machine", "number", "text", "kind", "label", "scope", "status", "locked", "trust", "importance",
    "alpha", "beta", "created", "updated", "expires", "superseded_by", "shown", "shown_last", "followed",
    "repeated", "confirmed", "was", "detail", "last_at", "last_machine", "last_number",
)  # fmt: skip
INDEXED = ("scope_word", "text", "words", "extra")
WRITTEN = ("row", *COLUMNS, "scope_word", "words", "extra", "about", "hash")
# The tables that lead to a memory, and the columns that tell their rows apart.
PATHS = {
    "trigger_of": ("kind", "value", "scope", "row"),
    "topic_of": ("name", "scope", "row"),
    "entity_of": ("name", "scope", "row"),
    "evidence_of": ("session", "agent", "turn", "row"),
    "edge": ("source", "kind", "target", "at", "by"),
}
_LOCKED = COLUMNS.index("locked")
_DETAIL = COLUMNS.index("detail")

# A row id counts seconds since 2015 in its upper part, so that the index's own order is time.
_EPOCH = 1_420_070_400
_LAST_SECOND = (1 << 40) - 1
_LOW = (1 << 20) - 1


ACTIVE_SCOPE = "toldscope"
_AWAY = "toldarchived"  # what every archived memory has beside the word of its scope
AWAY = f"{{scope_word}}:{_AWAY}"  # as the index is asked for it
_BEGINNINGS = {ACTIVE: ACTIVE_SCOPE, ARCHIVED: "toldaway"}
_scope_words: dict[tuple[str, str], str] = {}


def scope_word(scope: str, status: str = ACTIVE) -> str:
    """Return the word that stands for a scope in the full-text index; nobody says it.

    There is one for what is active, one for what is archived, and one for all else.
    """
    beginning = _BEGINNINGS.get(status, "toldended")
    word = _scope_words.get((scope, beginning))
    if word is None:
        word = _scope_words[scope, beginning] = public_id(beginning, scope, length=10)
    return word


def row_of(memory: Memory) -> int:
    """Return the row id of a memory: the same whenever and wherever it is stored."""
    second = min(max(memory.created // 1000 - _EPOCH, 0), _LAST_SECOND)
    seed = int.from_bytes(blake2s(memory.machine.encode(), digest_size=4).digest(), "big")
    return second << 20 | (memory.number + seed) & _LOW


def written(row: int, memory: Memory, extra: str, about: str) -> tuple[Any, ...]:
    """Return the values of a row, in the order of WRITTEN."""
    detail = encoded([memory.evidence, memory.triggers, memory.entities, memory.edges])
    values: tuple[Any, ...] = (*memory[:_DETAIL], detail, *memory.last)  # type: ignore[index]
    values = (*values[:_LOCKED], int(memory.locked), *values[_LOCKED + 1 :])
    word = scope_word(memory.scope, memory.status) if memory.text else ""
    if word and memory.status == ARCHIVED:
        word = f"{_AWAY} {word}"
    words = " ".join([*memory.entities, *(trigger.value for trigger in memory.triggers)])
    values = (row, *values, word, words, extra, about)
    return (*values, hash_of_row(values))


def hash_of_row(values: Sequence[Any]) -> bytes:
    """Return the check of a row's other values."""
    return blake2s("\x1f".join(map(str, values)).encode("utf-8", "replace"), digest_size=8).digest()


def memory_of(values: Sequence[Any]) -> Memory:
    """Return the memory of a row, read in the order of COLUMNS."""
    evidence, triggers, entities, edges = decoded(values[_DETAIL])
    fields = (
        *values[:_LOCKED],
        bool(values[_LOCKED]),
        *values[_LOCKED + 1 : _DETAIL],
        tuple([Evidence(*one) for one in evidence]),
        tuple([Trigger(*one) for one in triggers]),
        tuple(entities),
        tuple([Edge(*one) for one in edges]),
        tuple(values[_DETAIL + 1 :]),
    )
    return Memory(*fields)


def paths(row: int, memory: Memory, about: str) -> set[tuple[Any, ...]]:
    """Return the ways that lead to a memory: (table, its columns …).

    Args:
        row: Where it is stored.
        memory: The memory.
        about: What was worked out about it; its topics stand first, each with a figure behind a colon.
    """
    found: set[tuple[Any, ...]] = {
        ("evidence_of", one.session, one.agent, one.turn, row) for one in memory.evidence if one.session
    }
    found |= {("edge", memory.id, edge.kind, edge.target, edge.at, edge.by) for edge in memory.edges}
    if memory.status == ACTIVE:
        found |= {("trigger_of", one.kind, one.value, memory.scope, row) for one in memory.triggers}
        found |= {("entity_of", name.lower(), memory.scope, row) for name in memory.entities}
        topics = [one.rpartition(":")[0] for one in about.partition("\t")[0].split()]
        found |= {("topic_of", name, memory.scope, row) for name in topics}
    return found
