"""Opens told's store for one command, catches up with the agents before it, and sweeps after it."""

from __future__ import annotations

import os
import sys
import time

from told.cli.context import Context
from told.cli.wishes import settings_for
from told.errors import MissingError
from told.ingest.look import has_checkpoints, look
from told.store.database import WAIT_MS, open_database
from told.store.key import own_key
from told.store.schema import VERSION, migrate, version
from told.store.watch import Watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    import apsw

    from told.cli.arguments import Command
    from told.cli.context import Visit

# What a query may spend on reading new data before it answers.
_CATCH_UP_SECONDS = 0.1
_TAKING_SECONDS = 1.0  # files of checkpoints, which are few
_CATCH_UP_WAIT_MS = 50
_SWEEP_EVERY_MS = 60_000


class Session:
    """The life of one command."""

    def __init__(
        self, environ: Mapping[str, str], *, whatever: bool = False, visit: Visit | None = None
    ) -> None:
        """Read the settings; with `whatever`, safe ones where the user's are not understood."""
        self._visit = visit
        self._environ = environ
        self._retried = _retries()
        self._settings = settings_for(environ, whatever=whatever)
        self._context: Context | None = None
        self.connection: apsw.Connection | None = None

    def open(
        self, *, catch_up: bool, any_version: bool = False, as_it_is: bool = False, elsewhere: bool = False
    ) -> Context:  # fmt: skip
        """Open the store, making it if need be, and take in what is new if the command asks for it.

        Args:
            catch_up: Take in what is new.
            any_version: Also open a store that told does not understand.
            as_it_is: Only open a store that is there, also if it is damaged or from another time.
            elsewhere: What is new in the checkpoints of other projects counts as well.
        """
        settings = self._settings
        if as_it_is and os.path.exists(settings.sessions_path):
            connection = open_database(settings.sessions_path, create=False)
        else:
            connection = open_store(settings.sessions_path, any_version=any_version)
        self.connection = connection
        key = own_key(settings.home)
        context = self._context = Context(settings, self._environ, connection, key, self._visit)
        if catch_up:
            changed = look(Watch(connection), self._environ, settings.chosen)
            if not changed.nothing:
                context.left = self._catch_up(connection, changed, key, context.cwd)
            last, left = Watch(connection).last_sweep()
            if has_checkpoints(settings.home):
                self._take_checkpoints(context, elsewhere=elsewhere or not last)
            context.left = context.left or left
            context.behind = bool(context.left) or context.now - last > _SWEEP_EVERY_MS
        return context

    def _catch_up(self, connection: apsw.Connection, changed: object, key: bytes, cwd: str) -> int:
        import apsw

        from told.errors import BusyError
        from told.guard.redact import Redactor
        from told.ingest.sweep import Sweep

        connection.set_busy_timeout(_CATCH_UP_WAIT_MS)
        try:
            redact = Redactor(key, self._settings.redaction).redact
            sweep = Sweep(connection, self._settings, self._environ, redact)
            return sweep.some(changed, cwd, _CATCH_UP_SECONDS)  # type: ignore[arg-type]
        except (BusyError, apsw.BusyError, apsw.ReadOnlyError, apsw.FullError, apsw.IOError):
            return 0  # the answer is given from what is known; `told health` says what is wrong
        finally:
            connection.set_busy_timeout(WAIT_MS)

    def _take_checkpoints(self, context: Context, *, elsewhere: bool) -> None:
        """Take in what was written or edited in the folder of this project's checkpoints, or in any."""
        from told.ingest.checkpoint_catching_up import changed_folders

        connection, home = context.connection, self._settings.home
        folders = changed_folders(connection, home, None if elsewhere else context.project())
        if not folders:
            return
        import apsw

        from told.errors import BusyError
        from told.ingest.checkpoint_sync import sync

        connection.set_busy_timeout(_CATCH_UP_WAIT_MS)
        try:
            folder = folders[0] if len(folders) == 1 else ""
            sync(connection, home, context.redactor().redact, folder=folder, seconds=_TAKING_SECONDS)
        except (BusyError, apsw.BusyError, apsw.ReadOnlyError, apsw.FullError, apsw.IOError):
            return
        finally:
            connection.set_busy_timeout(WAIT_MS)

    def mend(self, error: Exception) -> None:
        """Make anew what is damaged: the memories, from the journal, or else the store of sessions.

        Raises:
            Exception: the error itself, where nothing is damaged.
        """
        from told.journal.apply import rebuild
        from told.journal.check import memory_damage

        if memory_damage(self._settings.home):
            rebuild(self._settings.home).close()
            sys.stderr.write("told: the memories were damaged; they were made anew from the journal.\n")
            return
        if isinstance(error, UnicodeDecodeError):
            from told.store.condition import damaged

            if self.connection is None or not damaged(self.connection):
                raise error
        self.begin_anew()

    def begin_anew(self) -> None:
        """Put a damaged store aside: it is derived, and is made again from the agents' files."""
        if self.connection is not None:
            self.connection.close()
        set_aside(self._settings.sessions_path)

    def let_go(self) -> None:
        """Close the store: other commands follow in this process."""
        if self._context is not None and self._context.connection is not self.connection:
            self._context.connection.close()
        if self.connection is not None:
            self.connection.close()

    def close(self, command: Command, code: int, rows: int, milliseconds: float) -> None:
        """Note the call, and start a sweep in the background if one is due."""
        from told.cli.calls import Call, note

        now = time.time_ns() // 1_000_000
        retries = _retries() - self._retried
        took = round(milliseconds, 1)
        note(self._settings.home, Call(now, command.name, took, rows, code, command.tier, retries))
        if self._context is not None and self._context.behind and self._settings.background:
            from told.cli.detached import start_sweep

            start_sweep(self._settings.home, self._environ)


def open_store(path: str, *, any_version: bool = False) -> apsw.Connection:
    """Open `sessions.db`; make it, migrate it, or begin it anew when it is from another time or damaged.

    A store that a newer told made is only put aside when the caller says that any version will do.
    """
    import apsw

    fresh = not os.path.exists(path)
    connection = open_database(path, create=fresh)
    try:
        found = version(connection)  # read once: another told may be making the store at this moment
        if found == VERSION:
            return connection
        if found < VERSION:
            open_database(path, create=True).close()
            if migrate(connection):
                return connection
        newer = found > VERSION
    except (apsw.NotADBError, apsw.CorruptError):
        newer = False
    connection.close()
    if newer and not any_version:
        raise MissingError("The store was made by a newer told. Update told, or run `told rebuild`.")
    set_aside(path)
    return open_store(path)


def set_aside(path: str) -> None:
    """Move a database that cannot be used out of the way; it is derived and will be made anew."""
    for suffix in ("-wal", "-shm"):
        if os.path.exists(path + suffix):
            os.replace(path + suffix, f"{path}.damaged{suffix}")
    os.replace(path, f"{path}.damaged")
    sys.stderr.write("told: the store was damaged; it is being made anew from the agents' files.\n")


def _retries() -> int:
    foreign = sys.modules.get("told.store.foreign")
    return foreign.RETRIES if foreign else 0
