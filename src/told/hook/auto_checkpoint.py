"""Write a checkpoint when a session is compacted or ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace

import apsw

from told.agents.base import Call
from told.agents.wiring import COMPACT, END
from told.checkpoints.counter import CheckpointState, hash_file, list_pending, read_state, write_state
from told.checkpoints.from_session import build_from_session, last_work_time, list_changes
from told.checkpoints.progress import is_offer
from told.checkpoints.save import SYNC_LIMIT, save_checkpoint, update_checkpoint
from told.errors import ToldError
from told.files import get_change_time
from told.hook.context import HookContext, Runtime, is_ingested
from told.ingest.checkpoint_files import UnreadableError, project_folder, read_checkpoint
from told.ingest.checkpoint_markdown import read_id_from_name
from told.ingest.checkpoint_sync import sync_checkpoints
from told.ingest.complete_sessions import CompleteSessions
from told.ingest.projects import find_git_root, find_project
from told.model import CLOSED, OPEN, TOOL, Handover
from told.settings import Settings, apply_project_settings
from told.store.memories.protocol import Memories
from told.store.sessions.checkpoints import Project, Projects
from told.store.sessions.read import CheckpointRow, Filter, SessionRow

# Seconds after the call began, after which a step is not started.
_ASK_GIT_UNTIL, _WRITE_UNTIL, _WRITE_PENDING_UNTIL = 0.1, 0.18, 0.1
_WITHOUT_LIMIT = 60.0  # seconds more where no agent waits
_MOST_PENDING = 50
_RESCAN = "look"  # in the state file: the last answer may come after the end; wait for a sweep
_AUTO = "auto"  # source of a compaction in the middle of the work
_SIMILAR_SESSIONS = 8
_NOTES = 8


def write_checkpoint(connection: apsw.Connection | None, memories: Memories, context: HookContext) -> None:
    """Write the checkpoint of a session that is compacted or ends.

    Without time for it, or without the sessions' database, the next session's start does it.
    """
    call = context.call
    if call.event not in (COMPACT, END) or not call.session or not _is_allowed(context):
        return
    session = context.stored_session()
    known = read_state(context.home, call.agent, session) or CheckpointState(context.now, call.agent, session)
    known = replace(known, at=context.now, waits=call.event)
    # Noted first, so that a killed process leaves it pending.
    write_state(context.home, known)
    if connection is None or time.monotonic() > context.began + _WRITE_UNTIL:
        return
    under_way = call.event == COMPACT and call.source == _AUTO
    done = _try_write(connection, memories, context, known, under_way=under_way)
    if not call.transcript and call.event == END:
        done = replace(done, waits=_RESCAN)
    if not call.transcript or is_ingested(connection, call.transcript):
        write_state(context.home, done)


def write_pending_checkpoint(connection: apsw.Connection, memories: Memories, context: HookContext) -> None:
    """Write one checkpoint for which there was no time at the session's end."""
    if time.monotonic() < context.began + _WRITE_PENDING_UNTIL:
        _write_pending(connection, memories, context, most=1)


def write_all_pending_checkpoints(
    connection: apsw.Connection, memories: Memories, settings: Settings, environ: Mapping[str, str], now: int
) -> None:
    """Write all pending checkpoints, outside any hook."""
    if not list_pending(settings.home):
        return

    began = time.monotonic() + _WITHOUT_LIMIT
    _write_pending(
        connection,
        memories,
        HookContext(Call("", END), settings.home, environ, now, began, settings, Runtime()),
        most=_MOST_PENDING,
    )


def _write_pending(
    connection: apsw.Connection, memories: Memories, context: HookContext, *, most: int
) -> None:
    found = [one for one in list_pending(context.home) if most > 1 or one.waits != _RESCAN]
    for one in found[:most] if _is_allowed(context) else ():
        then = replace(context, now=one.at)  # the checkpoint gets the session's time
        done = _try_write(connection, memories, then, one, under_way=False)
        write_state(context.home, replace(done, waits=""))


def _is_allowed(context: HookContext) -> bool:
    return context.settings.learn and not context.settings.problem


def _try_write(
    connection: apsw.Connection,
    memories: Memories,
    context: HookContext,
    known: CheckpointState,
    *,
    under_way: bool,
) -> CheckpointState:
    """Write or update the checkpoint of a session; return the new state, or the old one."""
    one = _Writer(connection, memories, context)
    try:
        session = one.session(known)
        if session is None:
            return known  # not ingested yet
        path = one.write(known, session, under_way=under_way)
        if not path:
            return replace(known, waits="")
        # If the store was locked, it stays pending.
        public = read_id_from_name(path)
        waits = "" if one.find_path(session, public) else known.waits
        return replace(known, waits=waits, id=public, digest=hash_file(path))
    except (ToldError, OSError, apsw.Error):
        return known  # full, locked or read-only: the next start tries again


class _Writer:
    """Builds one checkpoint and writes its file."""

    def __init__(self, connection: apsw.Connection, memories: Memories, context: HookContext) -> None:
        self._db = connection
        self._memories = memories
        self._context = context
        self._reading = CompleteSessions(connection, context.home)

    def write(self, known: CheckpointState, session: SessionRow, *, under_way: bool) -> str:
        """Write or update the file; return its path, empty if nothing is written."""
        context = self._context
        if session.kind:
            return ""
        project = find_project(Projects(self._db, context.redact_name), session.cwd) if session.cwd else None
        root = _work_tree(session, project)
        others = self._find_notes_by_others(session, known)
        own = apply_project_settings(context.settings, project.root if project else "")
        if not own.learn or self._is_covered(session, others):
            return ""
        made = self._build(session, project, under_way=under_way)
        if made is None:
            return ""
        is_open = known.waits == COMPACT or bool(made.pending) or _waits_for_user(made)
        if not is_open and any(one.status == OPEN for one in others):
            return ""  # its author knows better what is left to do
        made = replace(made, status=OPEN if is_open else CLOSED)
        redact = context.redactor().redact
        name = project.name if project else ""
        if known.id:
            old = self._find_unchanged(
                known, session, project_folder(context.home, made.project, name, root), redact
            )
            if old:
                update_checkpoint(self._db, context.home, old, made, redact)
                return old
        return save_checkpoint(self._db, context.home, made, redact, name=name, root=root).path

    def session(self, known: CheckpointState) -> SessionRow | None:
        """Return the stored session."""
        found = self._reading.sessions_like(known.session, _SIMILAR_SESSIONS)
        return next((one for one in found if (one.agent, one.native) == (known.agent, known.session)), None)

    def find_path(self, session: SessionRow, public: str) -> str:
        """Return the path of a session's checkpoint; empty if it is not stored."""
        found = self._reading.checkpoints(Filter(), _NOTES, session_id=session.id)
        return next((one.path for one in found if one.public == public), "")

    def _find_unchanged(
        self, known: CheckpointState, session: SessionRow, folder: str, redact: Callable[[str], str]
    ) -> str:
        """Return told's own file of a session; empty if somebody changed it."""
        path = self.find_path(session, known.id)
        if not path and sync_checkpoints(
            self._db, self._context.home, redact, folder=folder, most=SYNC_LIMIT
        ):
            path = self.find_path(session, known.id)
        return path if path and hash_file(path) == known.digest else ""

    def _find_notes_by_others(self, session: SessionRow, known: CheckpointState) -> list[CheckpointRow]:
        """Return notes on a session that its agent or the user wrote or edited."""
        found = []
        for one in self._reading.checkpoints(Filter(), _NOTES, session_id=session.id):
            if one.path and one.public == known.id and hash_file(one.path) not in ("", known.digest):
                found.append(one._replace(at=max(one.at, get_change_time(one.path))))
            elif one.path and _is_written_by_others(one.path):
                found.append(one)
        return found

    def _is_covered(self, session: SessionRow, notes: list[CheckpointRow]) -> bool:
        """Tell whether a note was written after the last work."""
        since = last_work_time(self._reading, session)
        return any(one.at >= since > 0 for one in notes)

    def _build(self, session: SessionRow, project: Project | None, *, under_way: bool) -> Handover | None:
        context = self._context
        root = _work_tree(session, project)

        def changed() -> tuple[str, ...]:
            if not root or time.monotonic() > context.began + _ASK_GIT_UNTIL:
                return ()

            return list_changes(root, context.environ, session.started)

        return build_from_session(
            self._reading, self._memories, session, context.now, project=project.key if project else "",
            root=root, under_way=under_way, changed=changed,
        )  # fmt: skip


def _work_tree(session: SessionRow, project: Project | None) -> str:
    """Return the git work tree of a session; a project may have several."""
    return (find_git_root(session.cwd) or project.root) if project else ""


def _is_written_by_others(path: str) -> bool:
    try:
        return read_checkpoint(path).by != TOOL
    except UnreadableError:
        return False


def _waits_for_user(made: Handover) -> bool:
    """Tell whether the agent needs an answer, rather than offers more work."""
    return any(not is_offer(one) for one in made.questions)
