"""Describe one hook call: who calls, where, when, and with which settings."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

import apsw

from told.agents.base import Call
from told.agents.headless_signs import is_headless
from told.agents.processes import NESTED, USER, find_speaker, this_machine
from told.agents.wiring import START
from told.errors import DiskFullError, MissingError, ToldError
from told.fence import wrap_in_tags
from told.files import read_table, write_table
from told.ingest import agent_prompts
from told.ingest.agent_prompts import change_speaker
from told.ingest.projects import find_project, identify
from told.ingest.scan import file_state
from told.journal.apply import open_memories
from told.journal.file_journal import FileJournal
from told.journal.files import SET
from told.memories.caller import Caller
from told.memories.journal_writer import JournalWriter
from told.memories.session_notes import note_running
from told.recall.shown_log import ShownLog
from told.redact.custom_rules import check_rule
from told.redact.engine import Redactor
from told.redact.names import is_plain_name, redact_id, redact_path
from told.settings import Settings, load_safe_settings
from told.store.database import load_key
from told.store.memories.protocol import Memories
from told.store.memories.records import CAPTURE, GLOBAL, PROJECT
from told.store.opening import open_database, read_version
from told.store.sessions.checkpoints import Projects
from told.store.sessions.forgets import is_behind, note_erased
from told.store.sessions.schema import is_current, migrate
from told.store.sessions.sources import Sources

_WAIT_MS = 20
COMMAND = "/mem:"  # begins a prompt that is a command
_LOCATIONS = "places"
_RESUME = "resume"  # source of a start
_MOST_LOCATIONS = 100


@dataclass(frozen=True, slots=True)
class Runtime:
    """The process that answers a call: the service, or one of the hook's own."""

    ends: Callable[[], float] = lambda: math.inf  # when the agent stops waiting, on the monotonic clock
    open_memories: Callable[..., Memories] = open_memories


@dataclass(frozen=True, slots=True)
class Location:
    """The project that an agent works in."""

    scope: str = GLOBAL
    root: str = ""  # empty without a project


@dataclass(frozen=True, slots=True)
class HookContext:
    """One hook call."""

    call: Call
    home: str  # told's own folder
    environ: Mapping[str, str]
    now: int  # in ms since 1970
    began: float  # on the monotonic clock
    settings: Settings
    runtime: Runtime
    pid: int = 0  # of the hook; 0 if unknown

    def find_speaker(self) -> str:
        """Return whose word the call is: the user's, or an agent's that called the hook or its agent."""
        processes = this_machine() if self.pid else None
        return find_speaker(self.pid, processes) if processes else USER

    def note_speaker(self, memories: Memories) -> None:
        """Note in the journal when an agent begins or ends to prompt the session."""
        call = self.call
        name = f"{call.agent}/{self.stored_session()}"
        spans = memories.noted(agent_prompts.TOPIC).get(name, "")
        is_new = call.event == START and call.source != _RESUME
        new = change_speaker(spans, self.now, by_agent=call.helper == NESTED, is_new=is_new)
        if call.session and new != spans:
            writer = JournalWriter(FileJournal(self.home), memories, self.now, Caller(CAPTURE), hurry=True)
            writer.add(SET, "", **{SET: {agent_prompts.TOPIC: {name: new}}})
            with suppress(DiskFullError, MissingError):  # the brief is needed all the same
                writer.write()

    @property
    def is_headless(self) -> bool:
        """Whether a program started the session, and nobody types its prompts."""
        return is_headless(self.call.agent, self.call.transcript, self.environ)

    @property
    def is_late(self) -> bool:
        """Whether the agent no longer waits for the answer."""
        return time.monotonic() > self.runtime.ends()

    @property
    def shown_log(self) -> ShownLog:
        """The notes of what the session was shown."""
        return ShownLog(self.home, self.call.agent, self.call.session, self.stored_session())

    def open_memories(self, *, hurry: bool = True) -> Memories:
        """Return the memories up to date with the journal."""
        return self.runtime.open_memories(self.home, hurry=hurry)

    def redactor(self) -> Redactor:
        """Return what removes secrets from texts."""
        return Redactor(load_key(self.home), self.settings.redaction)

    def redact_name(self, name: str) -> str:
        """Return a path or a name without secrets."""
        return name if is_plain_name(name) else redact_path(name, self.redactor().redact)

    def stored_session(self) -> str:
        """Return the session's id as it may be stored."""
        session = self.call.session
        if is_plain_name(session):
            return session
        return redact_id(session, self.redactor().redact, lambda: load_key(self.home))


def refuse_command(prompt: str) -> str:
    """Return that a command in an agent's prompt was not run; empty if it is none."""
    words = prompt.split(None, 1)
    if not words or not words[0].startswith(COMMAND):
        return ""
    return wrap_in_tags(f"{words[0]} was not carried out: an agent called this, and only the user can.")


def note_current(context: HookContext) -> None:
    """Note where the session runs, unless the folder's name contains a secret."""
    call = context.call
    if call.session and call.cwd and context.redact_name(call.cwd) == call.cwd:
        note_running(context.home, context.now, call.agent, context.stored_session(), call.cwd)


def load_hook_settings(environ: Mapping[str, str]) -> Settings:
    """Load the settings; settings that store nothing if the file is invalid."""
    return load_safe_settings(environ, check_rule)


def open_sessions(home: str, *, create: bool = False) -> apsw.Connection | None:
    """Open the sessions without waiting; None if missing, locked, of another version or an old copy."""
    path = os.path.join(home, "sessions.db")
    if not os.path.exists(path) and not create:
        return None
    connection = None
    try:
        connection = open_database(path, create=create)
        connection.set_busy_timeout(_WAIT_MS)
        if create and read_version(connection) == 0 and migrate(connection):
            note_erased(connection, home)
        if is_current(connection) and not is_behind(connection, home):
            return connection
    except (apsw.Error, ToldError):
        pass  # a command repairs it; memories work without it
    if connection is not None:
        connection.close()
    return None


def is_ingested(connection: apsw.Connection, path: str) -> bool:
    """Tell whether a transcript was ingested up to its end."""
    known = Sources(connection).get(path)
    return known is not None and file_state(path) == (known.size, known.changed)


def locate(context: HookContext) -> Location:
    """Return the project of the call's folder, from the cache if it is known."""
    for folder, scope, root in _read_locations(context.home):
        if folder == context.call.cwd:
            return Location(scope, root)
    connection = open_sessions(context.home)
    location = update_location(context, connection)
    if connection is not None:
        connection.close()
    return location


def update_location(context: HookContext, connection: apsw.Connection | None) -> Location:
    """Look up the project of the call's folder and cache it."""
    folder = context.call.cwd
    location = _look_up(context, connection)
    if context.redact_name(folder) != folder:
        return location  # the path contains a secret and must not be stored
    row = [folder, location.scope, location.root]
    known = _read_locations(context.home)
    others = [one for one in known if one[0] != folder]
    entry = "\t".join(row)
    if "\n" not in entry and entry.count("\t") == 2 and [*others, row] != known:
        lines = ["\t".join(one) for one in others[-_MOST_LOCATIONS + 1 :]]
        write_table(os.path.join(context.home, _LOCATIONS), [*lines, entry])
    return location


def _look_up(context: HookContext, connection: apsw.Connection | None) -> Location:
    folder, redact = context.call.cwd, context.redact_name
    if not folder or not os.path.isdir(folder) or folder == os.path.realpath(os.path.expanduser("~")):
        return Location()
    known = find_project(Projects(connection, redact), folder) if connection else None
    if known is not None:
        return Location(PROJECT + known.key, known.root)
    found = identify(folder, ask_git=False)
    return Location(PROJECT + redact(found.key), redact(found.root))


def _read_locations(home: str) -> list[list[str]]:
    return read_table(os.path.join(home, _LOCATIONS), 3)
