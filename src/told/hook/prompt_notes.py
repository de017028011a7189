"""Note what the user types: as proof for what the agent saves, and to know what a session was told."""

from __future__ import annotations

from told.hook.context import HookContext, note_current
from told.memories.session_notes import NotesFile, SessionNotes, find_running_session

_FEWEST_WORDS = 3  # a shorter prompt proves nothing
_LONGEST = 40_000  # characters of a prompt that are redacted


def note_start(context: HookContext, *, is_new: bool) -> None:
    """Note that a session gets its start brief."""
    if context.call.session:
        file = NotesFile(context.home, context.call.agent, context.stored_session())
        file.write(file.read().begin(context.now, is_new=is_new))


def note_prompt(context: HookContext) -> SessionNotes:
    """Note a prompt of the user; return the session's notes."""
    call = context.call
    if not call.session or call.helper or context.settings.problem:
        # A subagent's prompt was written by an agent; invalid settings may have a redaction rule.
        return SessionNotes()
    prompt = call.prompt[:_LONGEST]
    session = context.stored_session()
    file = NotesFile(context.home, call.agent, session)
    notes = file.read()
    if not notes.briefed:  # it started before told was installed, or long ago
        notes = notes.begin(context.now, is_new=False)
    if len(prompt.split()) < _FEWEST_WORDS and prompt.isascii():
        notes = notes.add_prompt(context.now, "")
    else:
        running = find_running_session(context.home, call.agent, call.cwd, context.environ.get("HOME", ""))
        if running != session:
            note_current(context)  # another one ran here meanwhile
        notes = notes.add_prompt(context.now, context.redactor().redact(prompt))
    file.write(notes)
    return notes
