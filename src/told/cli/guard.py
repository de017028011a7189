"""Say what the guard does with a locked rule."""

from __future__ import annotations

from typing import Any

from told.agents.wiring import FULL
from told.cli.context import Context, count
from told.hook.guard.verdict import Coverage, describe_rule
from told.install.ledger import Ledger
from told.store.memories.records import Memory

_OFF, _DENY = "off", "deny"
_CANNOT = (
    "The guard cannot act on this rule. Name a command or a path in backticks:"
    " Never run `make deploy`. Never edit `src/gen/`."
)


def guard_note(context: Context, memory: Memory) -> str:
    """Return one line about a locked rule; empty if it forbids no command and no path."""
    found = describe_rule(memory.text) if memory.locked else None
    if found is None:
        return ""
    if not found.matches:
        return _CANNOT
    what = f"{', '.join(found.matches)}{_more(found)}{f' {found.where}' if found.where else ''}"
    if not _is_installed(context):
        return f"The guard can enforce it after `told install --profile full`: {what}."
    if context.settings.guard == _OFF:
        return f"The guard is off; `told config set guard ask` enforces it: {what}."
    is_denied = context.settings.guard == _DENY and not found.is_conditional
    return f"The guard {'denies' if is_denied else 'asks before'} {what}."


def guard_json(context: Context, memory: Memory) -> dict[str, Any] | None:
    """Return what the guard does with a locked rule; None if it forbids no command and no path."""
    found = describe_rule(memory.text) if memory.locked else None
    if found is None:
        return None
    chosen = context.settings.guard
    return {
        "acts": bool(found.matches), "matches": [one.replace("`", "") for one in found.matches],
        "more": found.more, "where": found.where or None,
        "decision": "ask" if found.is_conditional and chosen == _DENY else chosen,
        "installed": _is_installed(context), "hint": None if found.matches else _CANNOT,
    }  # fmt: skip


def _is_installed(context: Context) -> bool:
    ledger = Ledger(context.home)
    return any(ledger.profiles.get(owner) == FULL for owner in ledger.owners())


def _more(found: Coverage) -> str:
    return f" and {count(found.more, 'more command')}" if found.more else ""
