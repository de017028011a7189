"""The command `told`: finds the command, opens the store, catches up, prints, and leaves quickly."""

from __future__ import annotations

import gc
import os
import sys
import time

from told.cli.commands import COMMANDS, command_named
from told.errors import BusyError, MissingError, ToldError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import NoReturn

    from told.cli.arguments import Arguments, Command
    from told.cli.context import Context, Visit

_TRIES = 2  # one for each database
_SHOW_ANY = ("show", "checkpoint", "checkpoints", "timeline")  # what an id stands for, in whatever project


def run() -> NoReturn:
    """Run the command line and leave the process, without the interpreter's own tidying up (2 ms)."""
    gc.disable()  # a command makes no garbage worth looking for, and looking costs 5 % of an index run
    code = main(sys.argv[1:], os.environ)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, AttributeError):
        pass  # nobody reads it, or it was never open
    os._exit(code)


def main(words: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run one command and return its exit code."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
    try:
        return _main(list(words), environ)
    except ToldError as error:
        _complain(str(error))
        return error.exit_code
    except BrokenPipeError:
        # Whoever read the output has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except KeyboardInterrupt:
        _complain("Stopped.")
        return 130


def _main(words: list[str], environ: Mapping[str, str]) -> int:
    if not words or words[0] in ("help", "--help", "-h"):
        from told.cli.help import help_text

        sys.stdout.write(help_text(words[1] if len(words) > 1 else ""))
        return 0
    if words[0] in ("--version", "-V", "version"):
        from told import __version__

        sys.stdout.write(f"told {__version__}\n")
        return 0
    if words[0].startswith("-"):
        words = _command_first(words)
    command = command_named(words[0])
    if command is None:
        from told.cli.arguments import nearest_command

        raise UsageError(f"There is no command {words[0]!r}.{nearest_command(words[0], COMMANDS)}")
    if "--help" in words[1:] or "-h" in words[1:]:
        from told.cli.help import help_text

        sys.stdout.write(help_text(command.name))
        return 0
    if command.bare:
        return _function(command)(words[1:], environ)
    from told.cli.arguments import parse

    return run_command(command, parse(command, words[1:]), environ, _write)


def _command_first(words: list[str]) -> list[str]:
    """Allow options before the command: `told --json list` is `told list --json`."""
    for place, word in enumerate(words):
        if command_named(word) is not None:
            return [word, *words[:place], *words[place + 1 :]]
    return words


def _is_about_others(command: Command, arguments: Arguments, visit: Visit | None) -> bool:
    """Tell whether a command may show checkpoints of other projects than the current one."""
    is_named = arguments["project"] or (visit is not None and visit.project)
    return bool(is_named or arguments.flag("all-projects") or command.name in _SHOW_ANY)


def run_command(
    command: Command, arguments: Arguments, environ: Mapping[str, str], write: Callable[[Context], None],
    visit: Visit | None = None, *, again: int = 0,
) -> int:  # fmt: skip
    """Run a command that needs the store, and return its exit code.

    Args:
        command: What to run.
        arguments: What it is given.
        environ: The variables of who asks.
        write: Takes what was printed.
        visit: Who asks and where, if that is not as the environment and the current folder say.
        again: How often the store was made anew for it.

    Raises:
        ToldError: it could not be done; the message says what to do.
    """
    import apsw

    from told.cli.session import Session

    began = time.perf_counter()
    code, rows = 1, 0
    session = Session(environ, whatever=command.name == "health", visit=visit)
    try:
        context = session.open(
            catch_up=command.tier > 0 or command.learns,
            any_version=command.mends,
            as_it_is=command.name == "health" and arguments.flag("deep"),
            elsewhere=_is_about_others(command, arguments, visit),
        )
        if visit is not None and visit.project:
            _enter(context, command, arguments, visit.project)
        code = _function(command)(context, arguments)
        rows = context.rows
        write(context)
    except ToldError as error:
        code = error.exit_code
        raise
    except (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError) as error:
        if again == _TRIES:
            raise MissingError(
                "The store is damaged and cannot be made anew. Delete it and try again."
            ) from None
        session.mend(error)
        return run_command(command, arguments, environ, write, visit, again=again + 1)
    except apsw.BusyError:
        code = BusyError.exit_code
        raise BusyError from None
    except (apsw.FullError, apsw.ReadOnlyError, apsw.IOError, apsw.CantOpenError) as error:
        code = MissingError.exit_code
        raise MissingError(
            f"told cannot write its store: {error}. Free some space, or set TOLD_HOME."
        ) from None
    finally:
        session.close(command, code, rows, (time.perf_counter() - began) * 1000)
        if visit is not None:  # the process goes on
            session.let_go()
    return code


def _write(context: Context) -> None:
    sys.stdout.write(context.take())
    sys.stdout.flush()


def _enter(context: Context, command: Command, arguments: Arguments, name: str) -> None:
    """Go to the project that was named; no other one is asked where it has nothing."""
    known = context.enter(name)
    if known is not None and any(option.name == "project" for option in command.options):
        arguments.set("project", known.key)


def _function(command: Command) -> Callable[..., int]:
    __import__(command.module)  # importlib's own import would be twice as slow as what it imports
    function: Callable[..., int] = getattr(sys.modules[command.module], command.function)
    return function


def _complain(sentence: str) -> None:
    from contextlib import suppress

    with suppress(OSError):
        sys.stderr.write(f"told: {sentence}\n")
