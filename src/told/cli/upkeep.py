"""`told index`, `told rebuild` and the background `told sweep`."""

from __future__ import annotations

import os
import sys

from told.cli.learning import learn_everything
from told.cli.output import count, to_json
from told.cli.understanding import understand_everything
from told.errors import ToldError
from told.ingest.look import QUIET_MS, has_checkpoints, look
from told.store.database import WAIT_MS, prepare_for_bulk
from told.store.fresh import Fresh
from told.store.watch import Watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from told.cli.arguments import Arguments
    from told.cli.context import Context
    from told.ingest.sweep import Progress
    from told.memory.intake import Learned


_MOST_FADING = 2000  # in one go; the next sweep goes on


def index(context: Context, arguments: Arguments) -> int:
    """Read everything that is new, with a bar on a terminal."""
    files = _sweep_all(context)
    take_checkpoints(context)
    learned = None
    if not context.settings.background:
        learned = learn_everything(context)
        _hand_over(context)
        understand_everything(context)
        _archive(context, files)
        _relieve(context)
    elif files or Fresh(context.connection).is_waiting():
        context.behind = True  # what is new is learned from, and archived, in the background
    _report(context, arguments, files, learned)
    return 0


def sweep(context: Context, arguments: Arguments) -> int:  # noqa: ARG001
    """Read everything that is new, quietly: what the other commands start behind them."""
    from told.store.locks import hold_lock

    if hold_lock(context.settings.home) is None:
        return 0
    if hasattr(os, "nice"):
        os.nice(19)
    files = _sweep_all(context)
    take_checkpoints(context)
    learn_everything(context)
    _hand_over(context)
    _archive(context, files)
    _fade(context)
    understand_everything(context)
    _relieve(context)
    from told.setup.snapshots import refresh

    refresh(context.settings.home)
    return 0


def rebuild(context: Context, arguments: Arguments) -> int:
    """Make both databases anew: from the agents' files and the archive, and from the journal."""
    from told.cli.session import open_store
    from told.ingest.archive import keep, restore
    from told.store.database import drop_database

    keep(context.connection, context.settings.home, context.now, everything=True)
    context.connection.close()
    drop_database(context.settings.sessions_path)
    fresh = open_store(context.settings.sessions_path)
    context.use(fresh)
    files = _sweep_all(context)
    files += restore(fresh, context.settings.home, _redact(context))
    take_checkpoints(context)
    from told.journal.apply import rebuild as rebuild_memories

    rebuild_memories(context.settings.home).close()
    learned = learn_everything(context)
    understand_everything(context)
    _relieve(context)
    _report(context, arguments, files, learned)
    return 0


def _sweep_all(context: Context) -> int:
    prepare_for_bulk(context.connection)
    watch = Watch(context.connection)
    changed = look(watch, context.environ, context.settings.chosen, everything=True)
    files = 0
    if not changed.nothing:
        from told.ingest.sweep import Sweep

        run = Sweep(context.connection, context.settings, context.environ, _redact(context))
        files = run.everything(changed, context.cwd, _bar() if sys.stderr.isatty() else None)
    from told.store.sources import Sources

    Sources(context.connection).swept(context.now, 0)
    return files


def take_checkpoints(context: Context) -> None:
    """Take in the files of checkpoints that are new, changed or gone, once all their sessions are there."""
    if has_checkpoints(context.settings.home):
        from told.ingest.checkpoint_sync import sync

        sync(context.connection, context.settings.home, _redact(context))


def _hand_over(context: Context) -> None:
    """Write the checkpoints for which a hook had no time."""
    from told.hook.handed import waiting

    if waiting(context.settings.home):
        from told.hook.handing_over import make_up_for_all
        from told.journal.apply import open_memories

        try:
            memories = open_memories(context.settings.home)
        except ToldError:
            return  # the next sweep
        make_up_for_all(context.connection, memories, context.settings, context.environ, context.now)
        memories.close()


def _archive(context: Context, files: int) -> None:
    if files or context.reading.to_keep(context.now - QUIET_MS):
        from told.ingest.archive import keep

        keep(context.connection, context.settings.home, context.now)


def _relieve(context: Context) -> None:
    """Keep all that told writes below the user's cap."""
    settings = context.settings
    if settings.retention_cap_mb and not settings.problem:
        from told.memory.disk import relieve

        context.connection.set_busy_timeout(WAIT_MS)  # another time will do as well
        relieve(context.connection, settings.home, settings.retention_cap_mb, learned=settings.learn)


def _fade(context: Context) -> None:
    """Let memories fade that nobody needs, once a day."""
    from told.hook.fading import fade, is_due

    settings, now = context.settings, context.now
    if settings.retention_days and not settings.problem and is_due(settings.home, now):
        from told.journal.apply import open_memories

        try:
            memories = open_memories(settings.home)
            fade(settings.home, memories, now, settings.retention_days, most=_MOST_FADING)
            memories.close()
        except ToldError:
            return  # somebody else writes, or nobody can: another day


def _redact(context: Context) -> Callable[[str], str]:
    return context.redactor().redact


def _report(context: Context, arguments: Arguments, files: int, learned: Learned | None) -> None:
    from told.store.checkpoints import OwnCheckpoints
    from told.store.reading import Filter

    sessions = context.reading.count(Filter())
    # A file without an id cannot be read: `told health` names it.
    checkpoints = sum(bool(one.id) for one in OwnCheckpoints(context.connection).known().values())
    context.rows = files
    new = learned.statements if learned else 0
    if arguments.flag("json"):
        facts = {"files_read": files, "sessions": sessions, "checkpoints": checkpoints, "learned": new}
        context.print(to_json(facts))
        return
    kept = f" and {count(checkpoints, 'checkpoint')}" if checkpoints else ""
    context.print(f"Read {count(files, 'changed file')}. {count(sessions, 'session')}{kept} in all.")
    if context.behind and context.settings.learn:
        context.print("What you taught in them is learned in the background: `told memories`.")
    elif new:
        context.print(f"Learned {count(new, 'thing')} that you said: `told memories --all-projects`.")


def _bar() -> Callable[[Progress], None]:
    def draw(progress: Progress) -> None:
        share = progress.bytes / progress.bytes_total if progress.bytes_total else 1.0
        filled = int(share * 30)
        bar = "█" * filled + "·" * (30 - filled)
        megabytes = f"{progress.bytes / 1e6:,.0f} of {progress.bytes_total / 1e6:,.0f} MB"
        end = "\n" if progress.files == progress.files_total else ""
        sys.stderr.write(
            f"\r{bar} {share:4.0%}  {progress.files:,} of {progress.files_total:,} files, {megabytes}{end}"
        )
        sys.stderr.flush()

    return draw
