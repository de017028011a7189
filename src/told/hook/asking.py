"""Ask the agent to save what its user teaches: when a session starts, and once at its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from told.agents import find_agent
from told.agents.base import Answer
from told.agents.dialects import find_stop_question
from told.fence import wrap_in_tags
from told.hook.context import HookContext, locate
from told.memories.session_notes import NotesFile
from told.settings import AUTO, OFF, apply_project_settings
from told.store.memories.protocol import Memories
from told.store.memories.records import ACTIVE, USER

# Agents read this in many sessions: every word costs tokens.
STANDING = "When the user teaches something lasting, save it with told's `remember`, quoting their words."
QUESTION = (
    "Did the user teach anything lasting in this session? If so, save it with told's `remember`, quoting"
    " their words. Otherwise stop, without a word about this."
)
_FEWEST_TYPED = 5  # messages of a session that is asked about


def add_standing_request(context: HookContext, brief: str) -> str:
    """Add the request to remember what lasts to a session's first brief."""
    may_ask = (
        brief and context.settings.nudge and context.settings.learn and _can_remember(context.call.agent)
    )
    return f"{brief}\n{wrap_in_tags(STANDING)}" if may_ask else brief


def ask_at_stop(context: HookContext, payload: Mapping[str, Any]) -> Answer:
    """Return the answer that asks once what a session taught; empty if nothing is to be asked.

    Nobody is asked in a run without a user, in a subagent, while a model reads the sessions, or after the
    session taught something.
    """
    call, settings = context.call, context.settings
    question = find_stop_question(call)
    if question is None or not call.session or call.helper or payload.get("stop_hook_active"):
        return {}
    is_off = settings.ask_at_end == OFF or (settings.ask_at_end == AUTO and question.shows_as_error)
    if is_off or not settings.learn or settings.problem or settings.reads_sessions:
        return {}
    if not _can_remember(call.agent) or not question.is_attended(call, payload, context.environ):
        return {}
    file = NotesFile(context.home, call.agent, context.stored_session())
    notes = file.read()
    if notes.is_asked or notes.typed < _FEWEST_TYPED or context.is_late:
        return {}
    if not apply_project_settings(settings, locate(context).root).learn:
        return {}
    taught = _has_taught(context.open_memories(), context)
    file.write(replace(notes, is_asked=True))  # nor is it looked up again what the session taught
    return question.answer(call, QUESTION) if not taught and file.read().is_asked else {}  # never twice


def _has_taught(memories: Memories, context: HookContext) -> bool:
    """Tell whether a memory comes from what the user said in the session."""
    found = memories.load(memories.of_session(context.stored_session())).values()
    return any(one.trust == USER and one.status == ACTIVE for one in found)


def _can_remember(agent: str) -> bool:
    """Tell whether told is installed into an agent with its tools or its command."""
    found = find_agent(agent)
    return found is not None and found.wire is not None
