"""Name the user's machines where two of them changed one memory."""

from __future__ import annotations

from typing import Any

from told.cli.context import Context, MemoryView, iso, when
from told.journal.files import get_machine_id
from told.memories.concurrent import TEXT, Divergence, Edit, Sides, find_divergences, find_side
from told.store.memories.records import Memory


class MachineNames:
    """The names of the user's machines."""

    def __init__(self, context: Context) -> None:
        """Read the names."""
        from told.sync.state import machine_names  # noqa: PLC0415 - few users sync

        self._context = context
        self._own = get_machine_id(context.home)
        self._names = machine_names(context.home)

    def describe(self, edit: Edit) -> str:
        """Return on which machine a change was made, and when."""
        name = self._context.name(self._names.get(edit.machine, "")) or edit.machine
        place = "On this machine" if edit.machine == self._own else f"On another machine ({name})"
        return f"{place}, {when(edit.operation.at, self._context.now)}"

    def json(self, edit: Edit) -> dict[str, Any]:
        """Return the machine and time of a change."""
        return {
            "machine": edit.machine, "name": self._context.name(self._names.get(edit.machine, "")) or None,
            "here": edit.machine == self._own, "at": iso(edit.operation.at),
        }  # fmt: skip


def divergence_notes(view: MemoryView, memory: Memory) -> list[str]:
    """Return what machines made of a memory without knowing of each other, a line each."""
    found = _find_others(view, memory)
    names = MachineNames(view.context) if found else None
    return [f"{names.describe(edit)}: {_shown(view, memory, one, edit)}" for one, edit in found if names]


def divergence_json(view: MemoryView, memory: Memory) -> list[dict[str, Any]]:
    """Return the same for `--json`."""
    found = _find_others(view, memory)
    names = MachineNames(view.context) if found else None
    return [
        names.json(edit) | {
            "changed": one.memory, "field": one.field, "value": _shown(view, memory, one, edit),
            "waiting": bool(one.waiting),
        }
        for one, edit in found if names
    ]  # fmt: skip


def _find_others(view: MemoryView, memory: Memory) -> list[tuple[Divergence, Edit]]:
    """Return the other sides of a memory that was changed, or that is one side itself."""
    return [
        (one, edit)
        for one in find_divergences(view.writer.journal)
        if memory.id in (one.memory, *(edit.value for edit in (one.kept, *one.lost)))
        for edit in (one.lost if memory.id == one.memory else (one.kept, *one.lost))
        if edit.value != memory.id
    ]


def _shown(view: MemoryView, memory: Memory, one: Divergence, edit: Edit) -> str:
    if one.field != TEXT:
        return view.scope_name(edit.value) if one.field == "scope" else edit.value
    changed = view.memories.get([one.memory]).get(one.memory, memory)
    side = find_side(view.memories, changed, edit)
    if side is not None:
        return view.text(side) if side.id == one.memory else view.row(side)
    return (
        f"replaced by {view.context.name(edit.value)}"
        if edit.replaces
        else view.context.fence.inline(edit.value)
    )


def sides_json(view: MemoryView, sides: Sides) -> dict[str, Any]:
    """Return the two sides of a conflict between machines."""
    names = MachineNames(view.context)
    return {
        "changed": sides.changed, "kept": names.json(sides.kept.edit),
        "others": [names.json(edit) | view.json(memory) for memory, edit in sides.others],
    }  # fmt: skip
