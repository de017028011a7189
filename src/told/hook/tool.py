"""Answer a tool call: deny what a locked rule forbids, remind of checkpoints.

Only `told install --profile full` adds this hook.
"""

from __future__ import annotations

import os
from typing import Any

from told.agents.base import Call
from told.agents.dialects import answer_context, answer_verdict
from told.checkpoints.counter import count_call, count_denial
from told.hook.context import HookContext, locate
from told.hook.guard.script import parse_script, program_name
from told.memories.scopes import active_scopes
from told.settings import ASK
from told.words import WORD

_MOST_DENIALS = 3  # between two checkpoints
_STORE = "sessions.db"
_NAME = "told"
_CHANGING_TOOLS = ("edit", "write", "patch", "replace", "create", "delete")  # in the names of tools
_SERVER_PREFIXES = frozenset(
    ("mcp", "plugin", "functions", "tools")
)  # before the server's name in a tool's name
_READING_TOOLS = ("read", "view", "grep", "glob", "list", "search", "open")
_OFF = "off"


def answer_tool(context: HookContext) -> dict[str, Any]:
    """Return the answer to a tool call; empty to let it pass."""
    return _find_forbidden(context) or _check_checkpoint(context)


def _find_forbidden(context: HookContext) -> dict[str, Any]:
    """Return the verdict of a locked rule; empty if none applies."""
    call = context.call
    decision = context.settings.guard
    if not (call.command or call.file) or decision == _OFF:
        return {}
    memories = context.open_memories()
    location = locate(context)
    locked = memories.load(memories.locked(active_scopes(memories, location.scope)))
    if not locked:
        return {}
    # Loaded only where a rule is locked.
    from told.hook.guard.verdict import DENY, Place, judge_command, list_patched, reader_file  # noqa: PLC0415

    files = [call.file] if call.file else list_patched(call.command)
    files = [one.removeprefix(f"{location.root}/") if location.root else one for one in files]
    name = call.tool.lower()
    reads = any(part in name for part in _READING_TOOLS) and not any(part in name for part in _CHANGING_TOOLS)
    reads = reads or (bool(call.file) and call.command == "view")  # an editor that also reads
    verdicts: dict[str, str] = {}
    for memory in locked.values():
        if files:
            found = max(reader_file(memory.text, one, reads=reads) for one in files)
        else:
            found = judge_command(memory.text, call.command, Place(call.cwd, location.root))
        if found:
            verdicts.setdefault(found, f"A rule you locked ({memory.id}): {memory.text}")
    if DENY in verdicts:
        return answer_verdict(call, decision, verdicts[DENY])
    return answer_verdict(call, ASK, verdicts[ASK]) if verdicts else {}


def _check_checkpoint(context: HookContext) -> dict[str, Any]:
    """Ask for a checkpoint, or remind of it, after some tool calls."""
    call, settings = context.call, context.settings
    after = settings.checkpoint_remind_after
    if not after or not call.session or call.helper or settings.problem or not is_counted(call):
        return {}
    session = context.stored_session()
    now = count_call(context.home, call.agent, session)
    if settings.checkpoint_gate == ASK and now.calls > after and now.denials < _MOST_DENIALS:
        # A denial that cannot be counted is not made: it would never end.
        if _has_store(context.home) and 0 < count_denial(context.home, call.agent, session) <= _MOST_DENIALS:
            return answer_verdict(call, "deny", _format_request(now.calls - now.denials - 1))
        return {}
    made = now.calls - now.denials
    return answer_context(call, _format_reminder(made)) if made > 0 and not made % after else {}


def is_counted(call: Call) -> bool:
    """Tell whether a tool call runs a command or changes a file, and is not told's."""
    name = call.tool.lower()
    if is_own_tool(name) or name.startswith("mcp"):
        return False
    if any(part in name for part in _CHANGING_TOOLS):  # some agents send a patch as the command
        return bool(call.file or "patch" in name)
    return bool(call.command) and not (_NAME in call.command and _runs_told(call.command))


def is_own_tool(name: str) -> bool:
    """Tell whether a tool is told's, in any spelling: `mcp__told__get`, `told-get`."""
    parts = WORD.findall(name.lower())
    return next((part for part in parts if part not in _SERVER_PREFIXES), "") == _NAME


def _runs_told(command: str) -> bool:
    """Tell whether a command runs told rather than mentions it."""
    return any(
        program_name(layer[0]) == _NAME for one in parse_script(command) for layer in one.layers if layer
    )


def _has_store(home: str) -> bool:
    return os.path.isfile(os.path.join(home, _STORE))


def _format_reminder(calls: int) -> str:
    return (
        f"told: {calls} tool calls without a checkpoint. When a step is done, call told's tool `checkpoint`"
        " or run `told checkpoint GOAL`."
    )


def _format_request(calls: int) -> str:
    return (
        f"told asks for a checkpoint first: {calls} tool calls without one. Call told's MCP tool"
        ' `checkpoint`, or run `told checkpoint --goal "…" --done "…" --pending "…"`; both always pass.'
        " Then make this call again."
    )
