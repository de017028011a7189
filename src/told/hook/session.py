"""Answer the start of a session, and save it when it stops, ends or is compacted."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace

import apsw

from told.agents.base import Call
from told.agents.dialects import has_lost_briefs, replaces_start_brief
from told.agents.processes import NESTED
from told.agents.wiring import END, HELPER, STOP
from told.checkpoints.counter import remove_old_counts, reset_count
from told.errors import ToldError
from told.fence import Fence
from told.files import remove_unfinished
from told.hook.asking import add_standing_request
from told.hook.auto_checkpoint import write_checkpoint, write_pending_checkpoint
from told.hook.context import HookContext, is_ingested, note_current, open_sessions, update_location
from told.hook.prompt_notes import note_start
from told.hook.reading import add_unread, read_cleared, start_reader
from told.hook.sync import START_SECONDS, start_sync
from told.ingest.checkpoint_approval import is_approved
from told.ingest.checkpoint_rows import clean_checkpoint
from told.ingest.complete_sessions import CompleteSessions
from told.ingest.scan import Changes, scan
from told.ingest.sweep import Sweep
from told.journal.file_journal import FileJournal
from told.learning.learn import learn
from told.memories.caller import Caller
from told.memories.journal_writer import JournalWriter
from told.memories.scopes import active_scopes
from told.memories.session_notes import KEPT_MS, remove_notes
from told.model import Handover
from told.recall.brief import format_for_agent
from told.recall.shown_log import move_shown_to_journal
from told.recall.start_brief import StartedSession, make_start_brief
from told.retention.retention import archive_in_hook
from told.settings import apply_project_settings
from told.store.database import UNWRITABLE, load_key
from told.store.memories.protocol import Memories
from told.store.memories.records import CAPTURE, PROJECT
from told.store.sessions.checkpoints import Projects
from told.store.sessions.read import Filter
from told.store.sessions.source_states import SourceStates
from told.text import count_tokens

_COMPACT, _RESUME = "compact", "resume"  # sources of a start
_HELPER_SHARE = 2  # a subagent gets half of a start's budget: it does one task


def answer_start(context: HookContext) -> str:
    """Return the brief for a new, resumed or compacted session, or a subagent."""
    call, now = context.call, context.now
    if call.event != HELPER:
        start_sync(context, START_SECONDS)
    connection = open_sessions(context.home)
    memories = context.open_memories()
    if call.event != HELPER:
        context.note_speaker(memories)
        if call.helper != NESTED:
            read_cleared(context)
            note_current(context)
        _tidy(JournalWriter(FileJournal(context.home), memories, now, Caller(CAPTURE)), now)
        if connection is not None:
            ingest_new(connection, replace(context, call=replace(call, transcript="")))
            write_pending_checkpoint(connection, memories, context)
            learn_new(connection, memories, context)
    if has_lost_briefs(call):
        context.shown_log.add_compaction(now)
    location = update_location(context, connection)
    settings = apply_project_settings(context.settings, location.root)
    session = _describe_session(context, memories)
    sessions, fence = _filter_sessions(connection, location.scope, context), Fence(load_key(context.home))
    budget = settings.brief_start_tokens // (_HELPER_SHARE if call.event == HELPER else 1)
    brief = make_start_brief(
        memories, CompleteSessions(connection, context.home) if connection else None, sessions,
        active_scopes(memories, location.scope), fence, now=now, budget=budget, session=session,
        redact=lambda one, path: _redact_checkpoint(context, one, path),
    )  # fmt: skip
    if not session.continued:
        brief = add_unread(
            context, brief, connection, memories, sessions=sessions, fence=fence, budget=budget
        )
    if call.event != HELPER and call.helper != NESTED:
        note_start(context, is_new=not session.continued)
    if call.session and brief.memories and call.event != HELPER and not context.is_late:
        context.shown_log.add(now, brief.memories, count_tokens(brief.text))
    text = format_for_agent(brief)
    return text if call.event == HELPER or session.known else add_standing_request(context, text)


def save_session(context: HookContext) -> None:
    """Ingest new turns, learn from them and write a checkpoint; let a model read what ended."""
    call, home, now = context.call, context.home, context.now
    memories = context.open_memories()
    writer = JournalWriter(FileJournal(home), memories, now, Caller(CAPTURE))
    with suppress(ToldError, OSError):  # full, locked or read-only: the next start tries again
        move_shown_to_journal(writer, now, session=call.session)
    if call.event not in (STOP, END):
        context.shown_log.add_compaction(now)
    if call.event == END:
        reset_count(home, call.agent, context.stored_session())
    connection = open_sessions(home, create=True)
    if connection is not None:
        ingest_new(connection, context)
    write_checkpoint(connection, memories, context)
    if connection is None:
        return
    learn_new(connection, memories, context)
    if call.cwd:
        update_location(context, connection)
    if call.event == END:
        archive_in_hook(memories, context.settings, now, context.began)
        start_sync(context)
    if call.event != STOP:  # it ended, or is compacted
        start_reader(context)


def _tidy(writer: JournalWriter, now: int) -> None:
    """Journal what sessions were shown, and delete what killed hooks left."""
    try:
        move_shown_to_journal(writer, now)
        remove_unfinished(writer.home, subfolders=False)
        remove_old_counts(writer.home, now)
        remove_notes(writer.home, before=now - KEPT_MS)
    except (ToldError, OSError):
        return  # full, locked or read-only: the session starts anyway


def _describe_session(context: HookContext, memories: Memories) -> StartedSession:
    """Return whether a session is new, and the memories that it still has."""
    call = context.call
    if call.event == HELPER or not call.session:
        return StartedSession()
    native = context.stored_session()
    is_compacted = call.source == _COMPACT
    if is_compacted or has_lost_briefs(call):
        return StartedSession(call.agent, native, True, is_compacted, has_lost_briefs=True)
    noted = context.shown_log.read()
    known = memories.shown_in(native) | noted.memories
    still = {name: at for name, at in known.items() if at >= noted.since}
    # An agent that does not say how a session starts may call one that it resumes a new one.
    is_resumed = _is_resumed(call) or bool(still and not call.source)
    if not is_resumed or replaces_start_brief(call):
        return StartedSession(call.agent, native, is_resumed)
    return StartedSession(call.agent, native, True, known=still)


def _is_resumed(call: Call) -> bool:
    return call.source == _RESUME or call.name.lower().endswith(_RESUME)


def _redact_checkpoint(context: HookContext, one: Handover, path: str) -> Handover | None:
    """Return a checkpoint without secrets; users edit these files."""
    if context.settings.problem or not is_approved(context.home, path):
        return None  # the invalid settings may contain a redaction rule
    return clean_checkpoint(one, context.home, context.redactor().redact)


def _filter_sessions(connection: apsw.Connection | None, scope: str, context: HookContext) -> Filter:
    """Return which sessions may show where work stopped: those of the project."""
    call = context.call
    if connection is None or call.event == HELPER:
        return Filter()
    project = Projects(connection).by_key(scope.removeprefix(PROJECT))
    return Filter(project.id if project else 0, helpers=False)


# Seconds after the call began; the background sweep does the rest.
_INGEST_UNTIL, _LEARN_UNTIL = 0.14, 0.22


def ingest_new(connection: apsw.Connection, context: HookContext) -> None:
    """Ingest the new part of the transcript, or of changed files without one."""
    call, environ, settings = context.call, context.environ, context.settings
    if settings.problem:
        return  # the invalid settings may contain a redaction rule

    def find_changed() -> Changes:
        found = scan(SourceStates(connection), environ, settings.chosen)
        own = tuple(name for name in found.agents if name == call.agent)
        return Changes() if found.moved else Changes(found.files, own)

    if is_ingested(connection, call.transcript) if call.transcript else find_changed().is_empty:
        return
    seconds = context.began + _INGEST_UNTIL - time.monotonic()
    sweep = Sweep(connection, settings, environ, context.redactor().redact)
    try:
        if not (call.transcript and sweep.read_file(call.agent, call.transcript, call.cwd, seconds)):
            sweep.read_some(find_changed(), call.cwd, seconds)
    except (ToldError, apsw.BusyError, *UNWRITABLE):
        return  # the next sweep tries again


def learn_new(connection: apsw.Connection, memories: Memories, context: HookContext) -> None:
    """Learn from ingested turns while there is time."""
    seconds = context.began + _LEARN_UNTIL - time.monotonic()
    if seconds <= 0:
        return
    try:
        learn(context.home, memories, connection, context.settings, context.now, seconds=seconds)
    except (ToldError, *UNWRITABLE):
        return  # busy or full: the next run learns it
