"""Find what two of the user's machines changed in one memory without knowing of each other.

All machines have the same operations and so find the same. Which change counts is decided by the fold: the
last one, but a memory that one of them replaced stays replaced.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from told.journal.files import SEEN, UNDO, Operation
from told.journal.fold import name_operation, sort_operations
from told.journal.protocol import Journal
from told.jsontext import as_text
from told.memories.change import correct
from told.memories.journal_writer import JournalWriter
from told.memories.remember import NewMemory, add_memory
from told.memories.undo import find_cancelled
from told.store.memories.protocol import Memories
from told.store.memories.records import ACTIVE, USER, Memory

TEXT = "text"
_REPLACED, _REWORDED = "supersede", "revise"
# What each operation changes: two of one row are about the same thing.
_FIELDS = {
    _REWORDED: TEXT, _REPLACED: TEXT, "lock": "lock", "unlock": "lock", "confirm": "use", "reject": "use",
    "share": "scope",
}  # fmt: skip
_WORDS = {"lock": "locked", "unlock": "unlocked", "confirm": "confirmed", "reject": "rejected"}
_WHY = "chosen by the user"


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of a memory on one machine."""

    operation: Operation
    machine: str
    key: tuple[int, str, int]  # its place in the order that all machines agree on
    value: str  # the new text or scope, the id of the memory that replaces it, or what was done

    @property
    def replaces(self) -> bool:
        """Whether another memory replaces it."""
        return self.operation.kind == _REPLACED

    def saw(self, other: Edit) -> bool:
        """Tell whether its machine knew of another change."""
        if self.machine == other.machine:
            return self.key > other.key
        seen = (self.operation.payload or {}).get(SEEN)
        at = seen.get(other.machine) if isinstance(seen, dict) else None
        return isinstance(at, int) and at >= other.operation.order


@dataclass(frozen=True, slots=True)
class Divergence:
    """What machines made of one memory without knowing of each other."""

    memory: str
    field: str
    kept: Edit
    lost: tuple[Edit, ...]  # the latest first
    waiting: tuple[Edit, ...]  # those of `lost` that nobody has decided on since


def find_divergences(journal: Journal, memory: str = "") -> list[Divergence]:
    """Return where machines diverged, in one memory or in all."""
    groups: dict[tuple[str, str], list[Edit]] = {}
    for edit in _read_edits(journal, memory):
        field = _FIELDS[edit.operation.kind]
        groups.setdefault((edit.operation.memory, field), []).append(edit)
    found = (_compare(name, field, edits) for (name, field), edits in groups.items())
    return [one for one in found if one]


def _read_edits(journal: Journal, memory: str) -> Iterator[Edit]:
    """Yield the changes that were not undone, in order."""
    found = journal.find_edits((*_FIELDS, UNDO), memory)
    origins = {name_operation(one): origin for origin, one in found}
    operations = [one for _, one in found]
    cancelled = find_cancelled(operations)
    for key, one in sort_operations(operations):
        name = name_operation(one)
        if (value := _value(one)) and one.memory and name not in cancelled:
            yield Edit(one, origins[name], key, value)


def _value(operation: Operation) -> str:
    payload = operation.payload
    if payload is None or operation.kind == UNDO:
        return ""
    if operation.kind in _WORDS:
        return _WORDS[operation.kind] if operation.by == USER else ""
    return as_text(payload.get({_REWORDED: "text", _REPLACED: "by"}.get(operation.kind, "scope")))


def _compare(memory: str, field: str, edits: list[Edit]) -> Divergence | None:
    if len({one.machine for one in edits}) < 2:
        return None
    apart = [
        one
        for one in edits
        if any(other.value != one.value and not one.saw(other) and not other.saw(one) for other in edits)
    ]
    if not apart:
        return None
    last = [one for one in edits if not any(other.saw(one) for other in edits)]
    kept = ([one for one in last if one.replaces] or last)[-1]
    lost = {one.value: one for one in apart if one.value != kept.value}
    newest = sorted(lost.values(), key=lambda one: one.key, reverse=True)
    waiting = tuple(one for one in newest if one in last)
    return Divergence(memory, field, kept, tuple(newest), waiting) if newest else None


class Side(NamedTuple):
    """What one machine made of a memory."""

    memory: Memory  # with the id of the memory that was changed: only another text of it
    edit: Edit


@dataclass(frozen=True, slots=True)
class Sides:
    """The texts that a divergence left, for the user to choose from."""

    changed: str  # the memory that was changed
    kept: Side
    others: tuple[Side, ...]  # the latest first


def find_sides(memories: Memories, journal: Journal) -> list[Sides]:
    """Return what waits for the user's choice."""
    diverged = [one for one in find_divergences(journal) if one.field == TEXT and one.waiting]
    known = memories.get({one.memory for one in diverged})
    found = []
    for one in diverged:
        memory = known.get(one.memory)
        kept = find_side(memories, memory, one.kept) if memory else None
        if memory is None or kept is None or kept.status != ACTIVE:
            continue
        others: dict[str, Side] = {}
        for edit in one.waiting:
            side = find_side(memories, memory, edit)
            if side and (side.id != kept.id or not edit.replaces):
                others.setdefault(side.text.casefold(), Side(side, edit))
        others.pop(kept.text.casefold(), None)
        if others:
            found.append(Sides(memory.id, Side(kept, one.kept), tuple(others.values())))
    return found


def find_side(memories: Memories, memory: Memory, edit: Edit) -> Memory | None:
    """Return what a change made of a memory: other words, or the memory that replaces it today."""
    if not memory.text:
        return None
    if not edit.replaces:
        return memory._replace(text=edit.value)
    passed = {memory.id}
    name = edit.value
    while name and name not in passed:
        passed.add(name)
        found = memories.get([name]).get(name)
        if found is None or not found.text:
            return None
        if found.status == ACTIVE:
            return found
        name = found.superseded_by
    return None


def use_side(writer: JournalWriter, sides: Sides, chosen: Side) -> Memory:
    """Make one side count on all machines; the others are replaced by it."""
    memory, kept = chosen.memory, sides.kept.memory
    made = memory.id
    ended = {one.memory.id for one in (sides.kept, *sides.others)} | {sides.changed}
    if chosen == sides.kept:
        ended.discard(sides.changed)
        _settle(writer, sides)
    elif memory.id == sides.changed:  # only a text, of a memory that says something else now
        made = correct(
            writer, kept, NewMemory(memory.text, kept.scope, memory.kind, marks=memory.marks)
        ).memory.id
        ended.discard(kept.id)
    for name in sorted(ended - {made}):
        writer.add(_REPLACED, name, by=made, why=_WHY)
    writer.write()
    return writer.read(made)


def use_all(writer: JournalWriter, sides: Sides) -> Memory:
    """Keep every side as a memory of its own."""
    _settle(writer, sides)
    for one, _ in sides.others:
        if one.id == sides.changed:
            add_memory(writer, NewMemory(one.text, one.scope, one.kind, marks=one.marks))
    writer.write()
    return writer.read(sides.kept.memory.id)


def _settle(writer: JournalWriter, sides: Sides) -> None:
    """Say again what counts, now that the other side is known."""
    kept = sides.kept.memory
    if kept.id == sides.changed:
        writer.add(_REWORDED, kept.id, text=kept.text)
    else:
        writer.add(_REPLACED, sides.changed, by=kept.id, why=_WHY)
