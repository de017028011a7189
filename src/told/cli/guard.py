"""Say what the guard does with a locked rule."""

from __future__ import annotations

from typing import Any

from told.cli.context import Context
from told.hook.guard.describe import CANNOT_ACT, describe_rule, guard_note, is_installed
from told.store.memories.records import Memory


def print_guard(context: Context, memory: Memory) -> None:
    """Print one line about a locked rule that forbids a command or a path."""
    note = guard_note(memory.text, context.settings.guard, context.home) if memory.locked else ""
    if note:
        context.print(note)


def guard_json(context: Context, memory: Memory) -> dict[str, Any] | None:
    """Return what the guard does with a locked rule; None if it forbids no command and no path."""
    found = describe_rule(memory.text) if memory.locked else None
    if found is None:
        return None
    return {
        "acts": found.acts, "commands": list(found.commands), "paths": list(found.paths),
        "where": found.where or None, "decision": found.decide(context.settings.guard),
        "installed": is_installed(context.home), "hint": None if found.acts else CANNOT_ACT,
    }  # fmt: skip
