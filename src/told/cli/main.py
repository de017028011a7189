"""The entry point of `told`: parse, open the store, run, print."""

from __future__ import annotations

import gc
import importlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn

import apsw

from told import __version__
from told.app import CallSite, load_checked_settings
from told.app.call_log import Call, log_call
from told.app.stores import open_store, set_store_aside
from told.cli.arguments import REFUSED, Arguments, Command, command_named, parse
from told.cli.context import Context
from told.errors import BusyError, DiskFullError, MissingError, ToldError, UsageError
from told.fence import defuse_tags
from told.files import check_writable
from told.ingest.scan import has_checkpoints, scan
from told.store.database import FORGETTING, UNWRITABLE, WAIT_MS, acquire_lock, load_key, set_mmap_size
from told.store.opening import can_write, open_database
from told.store.sessions.source_states import SourceStates

if TYPE_CHECKING:
    import subprocess

_IMPORT_SECONDS = 0.1  # spent on new data before a query is answered
_CHECKPOINT_SECONDS = 1.0
_IMPORT_WAIT_MS = 50
_SWEEP_EVERY_MS = 60_000
_COLOURS = ("auto", "always", "never")
_MOST_REPAIRS = 2  # one for each database
_ANY_PROJECT = ("show", "checkpoint", "checkpoints", "timeline")  # they take ids of any project
_NEVER_FINISH = ("health", "sweep")  # they report an interrupted `told forget`, or finish it at their end
WhenBehind = Callable[[str, Mapping[str, str]], None]  # takes told's home and the variables


def run_command(
    command: Command, arguments: Arguments, environ: Mapping[str, str], write: Callable[[Context], None],
    site: CallSite | None = None, *, repairs: int = 0, when_behind: WhenBehind | None = None,
) -> int:  # fmt: skip
    """Run a command that needs the store, hand its output to `write`, and return its exit code.

    A process that goes on afterwards says in `site` who calls and from where. `when_behind` starts the
    import of what is left; by default, that is a sweep in the background.
    """
    began = time.perf_counter()
    code, rows = 1, 0
    run = _Run(command, arguments, environ, site)
    try:
        context = run.open()
        _load_function(command)(context, arguments)
        code, rows = context.exit_code, context.rows
        write(context)
        if context.is_read_only:
            sys.stderr.write(f"told: {run.describe_limit()} What is new may be missing here.\n")
    except ToldError as error:
        # In the log, 3 is a busy store.
        code = MissingError.exit_code if isinstance(error, DiskFullError) else error.exit_code
        raise
    except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, UnicodeDecodeError) as error:
        if repairs == _MOST_REPAIRS:
            raise MissingError("The store is damaged and cannot be rebuilt. Delete it, then retry.") from None
        run.repair(error)
        return run_command(
            command, arguments, environ, write, site, repairs=repairs + 1, when_behind=when_behind
        )
    except apsw.BusyError:
        code = BusyError.exit_code
        raise BusyError from None
    except UNWRITABLE as error:
        code = MissingError.exit_code
        busy = BusyError(f"told cannot write its store: {error}. Try again.")
        raise (check_writable(run.home) or busy) from None
    finally:
        run.close(code, rows, (time.perf_counter() - began) * 1000, when_behind or start_sweep)
    return code


def _load_function(command: Command) -> Callable[..., Any]:
    module, _, name = command.run.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function


class _Run:
    """One run of a command with its open store."""

    def __init__(
        self, command: Command, arguments: Arguments, environ: Mapping[str, str], site: CallSite | None
    ) -> None:
        self._command = command
        self._arguments = arguments
        self._environ = environ
        self._site = site
        self._retries = _count_retries()
        self._settings = load_checked_settings(environ, lenient=command.name == "health")
        self.home = self._settings.home
        self._context: Context | None = None
        self._connection: apsw.Connection | None = None

    def open(self) -> Context:
        """Open the store, import new data, and enter the project."""
        settings, command = self._settings, self._command
        only_open = command.name == "health" and self._arguments.flag("deep")  # also a damaged store
        if only_open and os.path.exists(settings.sessions_path):
            connection = open_database(settings.sessions_path, create=False)
        else:
            connection = open_store(settings.sessions_path, any_version=command.repairs)
        self._connection = connection
        set_mmap_size(connection, 0)  # to map pages costs more than to read the few that a command needs
        key = load_key(settings.home)
        as_json = self._arguments.flag("json")
        context = Context(
            settings, self._environ, connection, key, self._site,
            as_json=as_json, colour=self._arguments.text("color") or "auto",
        )  # fmt: skip
        self._context = context
        context.is_read_only = not can_write(connection)
        if command.agents == REFUSED and not context.caller.is_user:
            context.refuse_agent(f"run `told {command.name}`")
        is_interrupted = os.path.exists(os.path.join(settings.home, FORGETTING))
        if is_interrupted and not context.is_read_only and command.name not in _NEVER_FINISH:
            from told.cli.forget import finish_interrupted  # noqa: PLC0415 - rarely needed

            finish_interrupted(context)
        if command.tier or command.catch_up:
            self._import_new(context)
        if self._site is not None and self._site.project:
            known = context.enter_project(self._site.project)
            if known is not None and any(option.name == "project" for option in command.options):
                self._arguments.set("project", known.key)
        return context

    def _import_new(self, context: Context) -> None:
        states = SourceStates(context.connection)
        changed = scan(states, self._environ, self._settings.chosen)
        if not changed.is_empty:
            from told.ingest.sweep import Sweep  # noqa: PLC0415 - loads every reader's needs

            with _hurry(context):
                sweep = Sweep(context.connection, self._settings, self._environ, context.redact)
                context.left = sweep.read_some(changed, context.cwd, _IMPORT_SECONDS)
        last, left = states.last_sweep()
        if has_checkpoints(context.home):
            _import_checkpoints(context, everywhere=self._covers_other_projects() or not last)
        context.left = context.left or left
        # A last sweep in the future is of a clock that was wrong.
        context.behind = bool(context.left) or not 0 <= context.now - last <= _SWEEP_EVERY_MS

    def _covers_other_projects(self) -> bool:
        named = self._arguments["project"] or (self._site is not None and self._site.project)
        return bool(named or self._arguments.flag("all-projects") or self._command.name in _ANY_PROJECT)

    def repair(self, error: Exception) -> None:
        """Rebuild damaged memories from the journal, or start the session store over."""
        from told.journal.apply import find_memory_damage, rebuild  # noqa: PLC0415
        from told.store.sessions.schema import find_damage  # noqa: PLC0415

        if find_memory_damage(self._settings.home):
            rebuild(self._settings.home).close()
            sys.stderr.write("told: The memories were damaged; they were rebuilt from the journal.\n")
            return
        is_damaged = self._connection is not None and find_damage(self._connection)
        if isinstance(error, (UnicodeDecodeError, apsw.SQLError)) and not is_damaged:
            raise error
        if self._connection is not None:
            self._connection.close()
        set_store_aside(self._settings.sessions_path)

    def describe_limit(self) -> str:
        """Say why only what is there can be read."""
        path = self._settings.sessions_path
        return str(check_writable(self.home) or f"told cannot open {path}. Move it away, or check it.")

    def close(self, code: int, rows: int, milliseconds: float, when_behind: WhenBehind) -> None:
        """Log the call, start a background sweep, and close the store."""
        now = time.time_ns() // 1_000_000
        retries = _count_retries() - self._retries
        tier = self._command.tier
        call = Call(now, self._command.name, round(milliseconds, 1), rows, code, tier, retries)
        log_call(self._settings.home, call)
        if self._context is not None and self._context.behind and self._settings.background:
            when_behind(self._settings.home, self._environ)
        if self._site is not None:  # the process goes on
            if self._context is not None:
                self._context.connection.close()
            if self._connection is not None:
                self._connection.close()


def _count_retries() -> int:
    """Return how often this process had to retry reading another program's database."""
    foreign = sys.modules.get("told.store.foreign")
    return foreign.RETRIES if foreign else 0


@contextmanager
def _hurry(context: Context) -> Iterator[None]:
    """Wait only briefly for the store; then answer from what is known."""
    connection = context.connection
    connection.set_busy_timeout(_IMPORT_WAIT_MS)
    try:
        yield
    except (*UNWRITABLE, DiskFullError):
        context.is_read_only = True
    except (BusyError, apsw.BusyError):
        return
    finally:
        connection.set_busy_timeout(WAIT_MS)


def _import_checkpoints(context: Context, *, everywhere: bool) -> None:
    from told.ingest.checkpoint_sync import find_changed_folders, sync_checkpoints  # noqa: PLC0415

    connection, home = context.connection, context.home
    folders = find_changed_folders(connection, home, None if everywhere else context.project())
    if folders:
        folder = folders[0] if len(folders) == 1 else ""
        with _hurry(context):
            sync_checkpoints(connection, home, context.redact, folder=folder, seconds=_CHECKPOINT_SECONDS)


_sweeps: list[subprocess.Popen[bytes]] = []  # started by this process; polled so that none stays a zombie


def start_sweep(home: str, environ: Mapping[str, str]) -> None:
    """Start `told sweep` in the background unless one is running."""
    import subprocess  # noqa: PLC0415 - once a minute at most

    _sweeps[:] = [sweep for sweep in _sweeps if sweep.poll() is None]
    descriptor = acquire_lock(home)
    if descriptor is None:
        return
    if descriptor:
        os.close(descriptor)
    quiet = subprocess.DEVNULL
    with suppress(OSError):
        _sweeps.append(subprocess.Popen(
            [sys.executable, "-I", "-m", "told", "sweep"],
            stdin=quiet, stdout=quiet, stderr=quiet, env=dict(environ), start_new_session=True,
        ))  # fmt: skip


def run() -> NoReturn:
    """Run the command line, and exit without the interpreter's cleanup."""
    gc.disable()  # a command makes no garbage worth collecting; an index run would lose 5 % to it
    code = main(sys.argv[1:], os.environ)
    with suppress(OSError, AttributeError):  # nobody reads it, or it was never open
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def main(words: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run one command and return its exit code."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
    try:
        return _main(list(words), environ)
    except ToldError as error:
        _print_error(str(error))
        return error.exit_code
    except BrokenPipeError:
        # The reader of the output has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except KeyboardInterrupt:
        _print_error("Stopped.")
        return 130
    except Exception as error:
        if environ.get("TOLD_DEBUG", "") not in ("", "0"):
            raise
        what = f"{type(error).__name__} in `told {words[0] if words else ''}`"
        _print_error(f"This is a bug in told: {what}. Run it again with TOLD_DEBUG=1 for the details.")
        return MissingError.exit_code


def _main(words: list[str], environ: Mapping[str, str]) -> int:
    if not words:
        words = ["home"]
    if words[0] in ("help", "--help", "-h"):
        from told.cli.help import help_text  # noqa: PLC0415 - rarely used

        sys.stdout.write(help_text(words[1] if len(words) > 1 else ""))
        return 0
    if words[0] in ("--version", "-V", "version"):
        sys.stdout.write(f"told {__version__}\n")
        return 0
    if words[0].startswith("-"):
        words = _command_first(words)
    command = command_named(words[0])
    if command is None:
        return _main(_replace_alias(words), environ)
    if "--help" in words[1:] or "-h" in words[1:]:
        from told.cli.help import help_text  # noqa: PLC0415 - rarely used

        sys.stdout.write(help_text(command.name))
        return 0
    words, colour = _take_colour(words)
    if command.standalone:
        return int(_load_function(command)(words[1:], environ))
    arguments = parse(command, words[1:])
    arguments.set("color", colour)
    return run_command(command, arguments, environ, _write)


def _replace_alias(words: list[str]) -> list[str]:
    """Return the words with a command instead of a likely word for it, or raise."""
    from told.cli.help import resolve_alias, unknown_command  # noqa: PLC0415 - rarely used

    resolved = resolve_alias(words[0])
    if not resolved:
        raise UsageError(unknown_command(words[0]))
    sys.stderr.write(f"told: `told {words[0]}` is `told {' '.join(resolved)}`.\n")
    return [*resolved, *words[1:]]


def _take_colour(words: list[str]) -> tuple[list[str], str]:
    """Return the words without --color, and its value; every command takes it."""
    end = words.index("--") if "--" in words else len(words)
    colour = "auto"
    kept = []
    place = 0
    while place < end:
        name, equals, value = words[place].partition("=")
        place += 1
        if name == "--no-color" and not equals:
            colour = "never"
        elif name != "--color":
            kept.append(words[place - 1])
        elif equals and value not in _COLOURS:
            raise UsageError(f"--color is one of {', '.join(_COLOURS)}, not {value!r}.")
        elif equals:
            colour = value
        elif place < end and words[place] in _COLOURS:
            colour = words[place]
            place += 1
        else:
            colour = "always"
    return [*kept, *words[end:]], colour


def _command_first(words: list[str]) -> list[str]:
    """Allow options before the command: `told --json list` is `told list --json`."""
    for place, word in enumerate(words):
        if command_named(word) is not None:
            return [word, *words[:place], *words[place + 1 :]]
    is_page = all(word == "--json" or word.startswith(("--color", "--no-color")) for word in words)
    return ["home", *words] if is_page else words


def _write(context: Context) -> None:
    text = context.take()
    if context.is_at_terminal and sys.stdout.isatty():
        from told.cli.terminal.screen import write_paged  # noqa: PLC0415 - loads rich

        write_paged(text, context.environ)
        return
    sys.stdout.write(text)
    sys.stdout.flush()


def _print_error(sentence: str) -> None:
    with suppress(OSError):
        sys.stderr.write(f"{_wrap_error(f'told: {defuse_tags(sentence)}')}\n")


def _wrap_error(text: str) -> str:
    """Wrap an error by words at a terminal."""
    if not sys.stderr.isatty():
        return text
    import shutil  # noqa: PLC0415 - only for an error at a terminal
    import textwrap  # noqa: PLC0415

    columns = shutil.get_terminal_size().columns
    lines = [
        textwrap.wrap(line, columns, break_long_words=False, break_on_hyphens=False) or [""]
        for line in text.split("\n")
    ]
    return "\n".join(line for several in lines for line in several)
