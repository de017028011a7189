"""Vectors of turns for search by meaning, and `told re-embed`."""

from __future__ import annotations

import os
import time
from contextlib import closing, suppress

from told.app.similarity import embed_waiting, embedder_of
from told.app.stores import open_store
from told.checkpoints.counter import list_pending
from told.cli.arguments import Arguments
from told.cli.context import Context, count, memory_count
from told.cli.terminal.progress import ProgressBar
from told.errors import BusyError, ToldError, UsageError
from told.files import cannot_write, check_writable, read_text, write_private
from told.hook.auto_checkpoint import write_all_pending_checkpoints
from told.ingest.archive import archive_quiet_sessions, restore_sessions
from told.ingest.checkpoint_sync import sync_checkpoints
from told.ingest.embed_job import EmbedResult, embed_turns
from told.ingest.leftovers import release_locks, remove_abandoned_files
from told.ingest.scan import QUIET_MS, has_checkpoints, scan
from told.ingest.sweep import Progress, Sweep
from told.journal.apply import open_memories
from told.journal.apply import rebuild as rebuild_memories
from told.journal.copies import has_spaces
from told.learning.learn import LearnResult
from told.memories.embed import embed_memories
from told.memories.forget import finish_forgetting
from told.reader.base import Stores
from told.reader.run import read_recent
from told.redact.engine import Redactor
from told.retention.disk import reduce_disk_use
from told.retention.retention import is_archive_due, run_archive_job
from told.search.vectors.embedder import Embedder
from told.store.database import (
    EMBED_LOCK,
    FORGETTING,
    WAIT_MS,
    acquire_lock,
    drop_database,
    prepare_for_bulk,
)
from told.store.memories.protocol import Memories
from told.store.sessions.checkpoints import OwnCheckpoints
from told.store.sessions.facts import TO_CAPTURE, WorkQueue
from told.store.sessions.match import TurnVectors
from told.store.sessions.read import Filter
from told.store.sessions.source_states import SourceStates
from told.store.sessions.sources import Sources

_UNFINISHED = "re-embed"  # names the model of a run that was stopped
_STOPPED = 130  # exit code of shells for Ctrl-C


def _embed_new_turns(context: Context) -> EmbedResult | None:
    """Embed all turns without vectors; None if that is not possible now."""
    if not TurnVectors(context.connection, "").waiting(1) and not context.settings.model:
        return None
    try:
        embedder = embedder_of(context)
    except ToldError:
        return None  # `told health` says what is missing; the next sweep retries
    if embedder is None:
        return None
    done, total = TurnVectors(context.connection, embedder.model).counts()
    bar = ProgressBar()

    def draw(more: int) -> None:
        nonlocal done
        done += more
        bar.draw(done, total, f"embedded {done:,} of {count(total, 'turn')}")

    result = embed_waiting(context, embedder, report=draw)
    bar.end()
    return result


def re_embed(context: Context, arguments: Arguments) -> None:
    """Rebuild all vectors, or only the missing ones."""
    embedder = embedder_of(context)
    if embedder is None:
        raise UsageError(
            "`model` is off, so there are no vectors. `told config unset model` uses the table that comes"
            " with told; docs/models.md has the others."
        )
    _require_space(context)
    lock = acquire_lock(context.home, EMBED_LOCK)
    if lock is None:
        raise BusyError("Another told is making vectors. Try again when it is done.")
    try:
        _re_embed(context, embedder, only_missing=arguments.flag("only-missing"))
    finally:
        if lock:
            os.close(lock)


def _re_embed(context: Context, embedder: Embedder, *, only_missing: bool) -> None:
    embedder.vectors(["told"])  # fail before vectors are dropped if the model does not work
    vectors = TurnVectors(context.connection, embedder.model)
    if not only_missing and _unfinished_model(context) != embedder.model:
        _set_unfinished(context, embedder.model)
        vectors.queue(drop=True)
    before, total = vectors.counts()
    bar, made = ProgressBar(), before
    stopped, memories = False, 0

    def draw(more: int) -> None:
        nonlocal made
        made += more
        bar.draw(made, total, f"{made:,} of {count(total, 'turn')}")

    try:
        embed_turns(context.connection, embedder, report=draw)
        memories = _embed_memories(context, only_missing=only_missing)
        _set_unfinished(context, "")
    except KeyboardInterrupt:
        stopped = True
    finally:
        bar.end()
    done, total = TurnVectors(context.connection, embedder.model).counts()  # the model may be new
    if context.as_json:
        context.print_json({
            "model": embedder.model, "made": done - before, "turns": total, "with_vectors": done,
            "memories": memories, "stopped": stopped,
        })  # fmt: skip
    elif stopped:
        context.print(f"Stopped: {done:,} of {count(total, 'turn')} have vectors. `told re-embed` continues.")
    else:
        context.print(
            f"Embedded {count(done - before, 'turn')} and {memory_count(memories)}."
            f" {done:,} of {total:,} turns have vectors of {embedder.model}."
        )
    context.exit_code = _STOPPED if stopped else 0


def _embed_memories(context: Context, *, only_missing: bool) -> int:
    """Embed memories, always with told's own table; return how many."""
    if not os.path.exists(os.path.join(context.home, "memory.db")):
        return 0
    with closing(open_memories(context.home)) as memories:
        return max((done for done, _ in embed_memories(memories, only_missing=only_missing)), default=0)


def _unfinished_model(context: Context) -> str:
    try:
        return read_text(os.path.join(context.home, _UNFINISHED), 1000).strip()
    except OSError:
        return ""


def _set_unfinished(context: Context, model: str) -> None:
    path = os.path.join(context.home, _UNFINISHED)
    if not model:
        with suppress(OSError):
            os.unlink(path)
        return
    try:
        write_private(path, f"{model}\n".encode())
    except OSError as error:
        raise cannot_write(path, error) from None


_WAIT_SECONDS = 60.0  # for another sweep, before one that reads a session which has just ended
_MOST_ARCHIVED = 2000  # memories in one sweep; the next one continues


def index(context: Context, _: Arguments) -> None:
    """Import all new history, with a progress bar on a terminal."""
    index_history(context, read=True)


def index_history(context: Context, *, read: bool) -> None:
    """Import all new history, and let the reader read it if it is on and the user agreed."""
    _require_space(context)
    remove_abandoned_files(context.home)
    files = import_all(context)
    import_checkpoints(context)
    learned = None
    if not context.settings.background:
        learned = _learn_all(context)
        _write_missed_checkpoints(context)
        if read:
            _run_reader(context, everything=True)
        _embed_new_turns(context)
        _archive_sessions(context, files)
        _enforce_cap(context)
        _sync(context)
    elif files or WorkQueue(context.connection).is_waiting():
        context.behind = True  # learning and archiving follow in the background
    _report(context, files, learned)


def _sync(context: Context) -> None:
    """Sync, as the background would at the next start of a session."""
    if has_spaces(context.home):
        from told.cli.moving.sync import sync_quietly  # noqa: PLC0415 - few users sync

        sync_quietly(context)


def sweep(context: Context, arguments: Arguments) -> None:
    """Import all new history quietly; other commands start this in the background."""
    ended = bool(arguments.text("ended"))
    lock = acquire_lock(context.home)
    waits_until = time.monotonic() + _WAIT_SECONDS
    while lock is None and ended and time.monotonic() < waits_until:  # another sweep does not know of the end
        time.sleep(0.5)
        lock = acquire_lock(context.home)
    if lock is None or context.is_read_only:
        return
    try:
        _sweep(context, arguments)
    finally:
        release_locks([lock])


def _sweep(context: Context, arguments: Arguments) -> None:
    if hasattr(os, "nice"):
        os.nice(19)
    remove_abandoned_files(context.home)
    files = import_all(context)
    import_checkpoints(context)
    _learn_all(context)
    _write_missed_checkpoints(context)
    _run_reader(context, arguments.text("ended"))  # first: agents wait for it
    _archive_sessions(context, files)
    _archive_memories(context)
    _embed_new_turns(context)
    _enforce_cap(context)
    if os.path.exists(os.path.join(context.home, FORGETTING)):
        finish_forgetting(context.home, context.connection, sweeps=True)


def rebuild(context: Context, _: Arguments) -> None:
    """Rebuild both databases from the agents' files, the archive and the journal."""
    _require_space(context)
    remove_abandoned_files(context.home)
    archive_quiet_sessions(context.connection, context.home, context.now, everything=True)
    context.connection.close()
    drop_database(context.settings.sessions_path)
    context.use_connection(open_store(context.settings.sessions_path))
    files = import_all(context)
    files += restore_sessions(context.connection, context.home, context.redact)
    import_checkpoints(context)
    rebuild_memories(context.home).close()
    learned = _learn_all(context)
    _embed_new_turns(context)
    _enforce_cap(context)
    _report(context, files, learned)


def _require_space(context: Context) -> None:
    if unwritable := check_writable(context.home):
        raise unwritable


def import_all(context: Context) -> int:
    """Import all new history; return how many files were read."""
    prepare_for_bulk(context.connection)
    states = SourceStates(context.connection)
    changed = scan(states, context.environ, context.settings.chosen, everything=True)
    files = 0
    if not changed.is_empty:
        run = Sweep(context.connection, context.settings, context.environ, context.redact)
        bar = ProgressBar()
        files = run.read_all(changed, context.cwd, lambda progress: _draw(bar, progress))
        bar.end()
    Sources(context.connection).put_sweep(context.now, 0)
    return files


def import_checkpoints(context: Context) -> None:
    """Import checkpoint files that are new, changed or gone."""
    if has_checkpoints(context.home):
        sync_checkpoints(context.connection, context.home, context.redact)


def _learn_all(context: Context) -> LearnResult | None:
    queue = WorkQueue(context.connection)
    if not context.settings.learn or not (queue.is_waiting() or queue.has_quiet_session(context.now)):
        return None
    bar, done, total = ProgressBar(), 0.0, queue.count(TO_CAPTURE)

    def draw(more: float) -> None:
        nonlocal done
        done += more
        bar.draw(done, total, f"learned from {round(done):,} of {count(total, 'session')}")

    with closing(open_memories(context.home)) as memories:
        learned = context.learn(memories, report=draw)
    bar.end()
    return learned


def _run_reader(context: Context, ended: str = "", *, everything: bool = False) -> None:
    """Let the reader read recent sessions, or all that it has not read, if the user chose one."""
    if context.settings.reads_sessions:
        # The next sweep retries.
        with suppress(ToldError), closing(open_memories(context.home)) as memories:
            stores = open_stores(context, memories)
            names = [ended] if ended else []
            read_recent(stores, context.settings, context.environ, names, everything=everything)


def open_stores(context: Context, memories: Memories) -> Stores:
    """Return what the reader reads and writes; secrets are removed even where redaction is off."""
    redactor = Redactor(context.key, context.settings.redaction._replace(enabled=True))
    return Stores(context.home, context.connection, context.reading, memories, redactor.redact, context.now)


def _write_missed_checkpoints(context: Context) -> None:
    if list_pending(context.home):
        try:
            memories = open_memories(context.home)
        except ToldError:
            return  # the next sweep retries
        write_all_pending_checkpoints(
            context.connection, memories, context.settings, context.environ, context.now
        )
        memories.close()


def _archive_sessions(context: Context, files: int) -> None:
    if files or context.reading.to_archive(context.now - QUIET_MS):
        archive_quiet_sessions(context.connection, context.home, context.now)


def _enforce_cap(context: Context) -> None:
    """Keep all that told writes below the user's cap."""
    settings = context.settings
    if settings.retention_cap_mb and not settings.problem:
        context.connection.set_busy_timeout(WAIT_MS)  # the next sweep will do
        reduce_disk_use(context.connection, context.home, settings.retention_cap_mb, learned=settings.learn)


def _archive_memories(context: Context) -> None:
    """Archive unused memories and dismiss old candidates, once a day."""
    settings, now = context.settings, context.now
    if not settings.problem and is_archive_due(context.home, now):
        # Somebody else writes, or nobody can: another day.
        with suppress(ToldError), closing(open_memories(context.home)) as memories:
            run_archive_job(context.home, memories, now, settings.retention_days, limit=_MOST_ARCHIVED)


def _report(context: Context, files: int, learned: LearnResult | None) -> None:
    sessions = context.reading.count(Filter())
    # A file without an id cannot be read; `told health` lists it.
    checkpoints = sum(bool(one.id) for one in OwnCheckpoints(context.connection).known().values())
    new, unsure = (learned.statements, learned.candidates) if learned else (0, 0)
    if context.as_json:
        context.print_json({
            "files_read": files, "sessions": sessions, "checkpoints": checkpoints, "learned": new,
            "candidates": unsure,
        })  # fmt: skip
        return
    notes = f" and {count(checkpoints, 'checkpoint')}" if checkpoints else ""
    context.print(f"Imported {count(files, 'changed file')}. {count(sessions, 'session')}{notes} in total.")
    if context.behind and context.settings.learn:
        context.print("Learning from them in the background. See `told memories` in a minute.")
    elif new:
        context.print(f"Learned {count(new, 'statement')} of yours: `told memories --all-projects`.")
    if unsure:
        hint = "`told memories --status candidate --all-projects`"
        context.print(f"Found {count(unsure, 'candidate')} to confirm: {hint}.")
    if not context.settings.background and (left := context.describe_learning()):
        context.print(left)


def _draw(bar: ProgressBar, progress: Progress) -> None:
    megabytes = f"{progress.bytes / 1e6:,.1f} of {progress.bytes_total / 1e6:,.1f} MB"
    text = f"{progress.files:,} of {progress.files_total:,} files, {megabytes}"
    bar.draw(progress.bytes, progress.bytes_total, text)
