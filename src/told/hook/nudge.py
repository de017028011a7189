"""Note prompts as proof, and now and then ask the agent to remember."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from told.agents import find_agent
from told.capture.sentences import count_words
from told.capture.statements import Statement
from told.fence import wrap_in_tags
from told.hook.context import HookContext, note_current
from told.memories.session_notes import NotesFile, find_running_session, is_reader

# Agents read this in many sessions: every word costs tokens.
NUDGE = (
    "If this or an earlier message teaches something lasting, save it with told's `remember`,"
    " quoting the user's words."
)
STANDING = "When the user teaches something lasting, save it with told's `remember`, quoting their words."
_EVERY = 3  # at most one nudge in so many prompts
_LONG = 30  # words of a prompt that an agent is asked to read
_FEWEST_WORDS = 3  # a shorter prompt proves nothing
_LONGEST = 40_000  # characters of a prompt that are redacted


@dataclass(frozen=True, slots=True)
class Noted:
    """What a session's notes say about a prompt."""

    nudge: str = ""  # for the agent; empty if none is due
    is_read: bool = False  # the agent saves what its user teaches


def note_prompt(context: HookContext, taught: Sequence[Statement]) -> Noted:
    """Note a prompt of the user, and decide whether a nudge is due.

    Args:
        context: The hook call.
        taught: What told itself found in the prompt.
    """
    call, settings = context.call, context.settings
    if not call.session or call.helper or settings.problem:
        return (
            Noted()
        )  # a subagent's prompt was written by an agent; invalid settings may have a redaction rule
    prompt = call.prompt[:_LONGEST]
    if len(prompt.split()) < _FEWEST_WORDS and prompt.isascii():
        return Noted()
    session = context.stored_session()
    if find_running_session(context.home, call.agent, call.cwd, context.environ.get("HOME", "")) != session:
        note_current(context)  # it started before told was installed, or another one ran here meanwhile
    file = NotesFile(context.home, call.agent, session)
    notes = file.read().add_prompt(context.now, context.redactor().redact(prompt))
    if not notes.is_read and is_reader(context.home, call.agent):
        notes = replace(notes, is_read=True)
    may_nudge = settings.nudge and settings.learn and _can_remember(call.agent)
    is_due = (
        may_nudge
        and not 0 <= notes.since_nudge < _EVERY - 1
        and not any(one.explicit for one in taught)  # what is kept already needs no reader
        and count_words(prompt) >= _LONG
    )
    if is_due or notes.since_nudge >= 0:
        notes = replace(notes, since_nudge=0 if is_due else notes.since_nudge + 1)
    file.write(notes)
    return Noted(wrap_in_tags(NUDGE) if is_due else "", notes.is_read)


def add_standing_request(context: HookContext, brief: str) -> str:
    """Add the request to remember what lasts to a session's first brief."""
    may_ask = (
        brief and context.settings.nudge and context.settings.learn and _can_remember(context.call.agent)
    )
    return f"{brief}\n{wrap_in_tags(STANDING)}" if may_ask else brief


def _can_remember(agent: str) -> bool:
    """Tell whether told is installed into an agent with its tools or its command."""
    found = find_agent(agent)
    return found is not None and found.wire is not None
