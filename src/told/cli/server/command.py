"""`told server`: run the team server, its people and its database."""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
from importlib.util import find_spec
from typing import TYPE_CHECKING

from told.cli.arguments import Arguments
from told.cli.context import Context
from told.cli.server.jobs import jobs, work
from told.cli.server.people import members, token
from told.errors import BusyError, MissingError, NotFoundError, UsageError

if TYPE_CHECKING:
    from told.reader.base import Reader
    from told.server.run import StartOptions

_USAGE = (
    "Use `told server start`, `stop`, `status`, `token create NAME`, `token list`, `token revoke ID`,"
    " `members`, `migrate`, `backup FILE`, `restore FILE`, `jobs` or `jobs retry`."
)
_NEEDED = ("fastapi", "psycopg", "uvicorn")
_STOP_SECONDS = 10
WORKER = "worker"  # the action of the processes that the server starts
_MOST_WORKERS = 64


def server(context: Context, arguments: Arguments) -> None:
    """Run one action of `told server`."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise MissingError(f"The server needs {', '.join(missing)}. Run `pip install 'told[server]'`.")
    word, *rest = arguments.operands or [""]
    if word == "start" and not rest:
        _start(context, arguments)
    elif word == "stop" and not rest:
        _stop(context)
    elif word == "status" and not rest:
        _status(context)
    elif word == "token":
        token(context, arguments, rest, _database_url(context))
    elif word == "members":
        members(context, rest, _database_url(context))
    elif word == "migrate" and not rest:
        _migrate(context, arguments)
    elif word in ("backup", "restore") and len(rest) == 1:
        _copy(context, arguments, word, rest[0])
    elif word == "jobs":
        jobs(context, rest, _database_url(context))
    elif word == WORKER and len(rest) == 1:
        gc.enable()  # this process lives as long as the server
        work(context, _options(context, arguments), rest[0])
    else:
        raise UsageError(f"`told server` does not know {word!r}. {_USAGE}" if word else _USAGE)


def _options(context: Context, arguments: Arguments) -> StartOptions:
    from told.server.context import ServerSettings  # noqa: PLC0415 - loads FastAPI
    from told.server.run import PORT, StartOptions  # noqa: PLC0415
    from told.server.workers import WorkerCommand  # noqa: PLC0415

    compat = context.environ.get("TOLD_SERVER_COMPAT") or context.settings.server_compat
    if compat not in ("off", "agent-memory"):
        raise UsageError(f"Unknown value {compat!r} of TOLD_SERVER_COMPAT. Use agent-memory or off.")
    hosts = tuple(one.lower() for one in arguments["public-host"] or ())
    settings = ServerSettings(
        context.home, context.key, context.redactor().redact, compat=compat != "off", public_hosts=hosts,
        reader=_open_reader(context) if arguments.flag("reader") else None,
        reader_daily_tokens=context.settings.reader_daily_tokens,
    )  # fmt: skip
    url = "" if arguments.flag("embedded") else context.environ.get("TOLD_DATABASE_URL", "")
    if not url and not arguments.flag("embedded"):
        raise UsageError(
            "Which database? Set TOLD_DATABASE_URL to your PostgreSQL, or let told run one: --embedded."
        )
    workers = arguments.number("workers", 1)
    if not 0 <= workers <= _MOST_WORKERS:
        raise UsageError(f"{workers} workers are too many. Give --workers a number up to {_MOST_WORKERS}.")
    words = [sys.executable, "-m", "told", "server", *(["--reader"] if settings.reader else []), WORKER]
    command = WorkerCommand(words, context.environ)
    return StartOptions(
        settings, url, arguments.text("host") or "127.0.0.1", arguments.number("port", PORT),
        token_file=arguments.text("token-file"), team=arguments.text("team") or "team",
        certificate=arguments.text("certificate"), certificate_key=arguments.text("certificate-key"),
        workers=workers, worker_command=command,
    )  # fmt: skip


def _open_reader(context: Context) -> Reader:
    from told.reader.models import open_reader  # noqa: PLC0415 - loads what reads sessions

    reader = open_reader(context.settings, context.environ)
    if reader is None:
        raise UsageError("--reader needs one: `told config set reader.mode endpoint`. See docs/reader.md.")
    return reader


def _start(context: Context, arguments: Arguments) -> None:
    from told.server.run import run_server  # noqa: PLC0415 - loads FastAPI

    def say(text: str) -> None:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()

    gc.enable()  # this process does not end by itself
    run_server(_options(context, arguments), say)


def _running(context: Context) -> dict[str, str]:
    from told.server.opening import read_state  # noqa: PLC0415 - loads psycopg

    state = read_state(context.home)
    if not state:
        raise NotFoundError("No server runs here. `told server start` starts one.")
    return state


def _stop(context: Context) -> None:
    pid = int(_running(context)["pid"])
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + _STOP_SECONDS
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except OSError:
            context.print(f"Stopped the server (pid {pid}).")
            return
        time.sleep(0.05)
    raise BusyError(f"The server does not end (pid {pid}). Try again, or kill it.")


def _status(context: Context) -> None:
    state = _running(context)
    shown = {name: state[name] for name in ("pid", "host", "port")}
    text = f"The server runs on {state['host']}:{state['port']} (pid {state['pid']})."
    context.report(text, {"running": True, **shown})


def _database_url(context: Context) -> str:
    from told.server.opening import read_state  # noqa: PLC0415 - loads psycopg

    return read_state(context.home).get("database", "") or context.environ.get("TOLD_DATABASE_URL", "")


def _copy(context: Context, arguments: Arguments, word: str, path: str) -> None:
    from told.server.backup import back_up, restore  # noqa: PLC0415
    from told.server.opening import open_database, read_state  # noqa: PLC0415 - loads psycopg

    path = os.path.realpath(os.path.expanduser(path))
    if word == "restore" and read_state(context.home):
        raise UsageError("Stop the server first: `told server stop`.")
    with open_database(context.home, _database_url(context)) as database:
        if word == "backup":
            size = back_up(database.url, path)
            context.report(f"Wrote {path} ({size / 1e6:.1f} MB).", {"path": path, "bytes": size})
        else:
            restore(database, path, replace=arguments.flag("force"))
            context.report(f"Restored {path}.", {"path": path})


def _migrate(context: Context, arguments: Arguments) -> None:
    from told.server.backup import back_up  # noqa: PLC0415
    from told.server.opening import open_database  # noqa: PLC0415 - loads psycopg
    from told.store.postgres.migrate import list_pending, migrate  # noqa: PLC0415

    with open_database(context.home, _database_url(context)) as database:
        if arguments.flag("dry-run"):
            with database.owning() as connection:
                found = list_pending(connection)
            done = "Would apply"
        else:
            if backup := arguments.text("backup"):
                back_up(database.url, os.path.realpath(os.path.expanduser(backup)))
            found, done = migrate(database), "Applied"
    names = [f"{one.number:04} {one.name}" for one in found]
    context.report(
        f"{done}: {', '.join(names)}." if names else "The database is up to date.", {"migrations": names}
    )
