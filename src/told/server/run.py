"""Start the server: the database, the first token, the sockets; end all of it on a signal."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import gc
import os
import signal
import socket
import ssl
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import anyio.to_thread
import uvicorn

from told.errors import BusyError, MissingError, UsageError
from told.server.app import make_app
from told.server.context import Server, ServerSettings
from told.server.hybrid import register_table
from told.server.opening import CONNECTIONS, FOLDER, note_state, open_database, reserve_home
from told.server.people import ensure_team, first_admin, write_token
from told.server.workers import WorkerCommand, Workers
from told.store.postgres.database import Database
from told.store.postgres.memories.bm25 import enable_bm25
from told.store.postgres.migrate import migrate
from told.store.postgres.people import has_tokens

PORT = 3377
DATABASE_VARIABLE = "TOLD_DATABASE_URL"
_PORTS = 65_536
_SOCKET = "told.sock"
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_GRACE_SECONDS = 2  # for requests that are being answered
_MAX_SOCKET_PATH = 100
_MALLOPT_ARENAS, _ARENAS = -8, 2  # the number of glibc's M_ARENA_MAX


@dataclass(frozen=True)
class StartOptions:
    """How to start."""

    settings: ServerSettings
    database_url: str = ""  # empty: the embedded PostgreSQL
    host: str = "127.0.0.1"
    port: int = PORT
    token_file: str = ""
    team: str = "team"
    admin: str = "admin"
    certificate: str = ""
    certificate_key: str = ""
    workers: int = 1
    worker_command: WorkerCommand | None = None


def check_options(options: StartOptions) -> None:
    """Check that the server may listen where it is told to.

    Raises:
        UsageError: it would be reachable without encryption, or the port is none.
        MissingError: the certificate cannot be used.
    """
    if options.port >= _PORTS:
        raise UsageError(f"{options.port} is not a port. Give --port a number below {_PORTS}.")
    if bool(options.certificate) != bool(options.certificate_key):
        raise UsageError("Give both --certificate and --certificate-key.")
    if options.host not in _LOOPBACK and not options.certificate:
        raise UsageError(
            f"{options.host} can be reached by others. Give --certificate and --certificate-key, or keep the"
            " server on 127.0.0.1 behind a proxy with TLS and give --public-host NAME."
        )
    if options.certificate:
        _check_certificate(options.certificate, options.certificate_key)


def _check_certificate(certificate: str, key: str) -> None:
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certificate, key)
    except OSError as error:
        why = str(getattr(error, "reason", "") or error.strerror or error)
        raise MissingError(
            f"The certificate {certificate} with the key {key} cannot be used ({why}). Check both files."
        ) from None


def run_server(options: StartOptions, say: Callable[[str], None]) -> None:
    """Run the server until a signal ends it."""
    check_options(options)
    _share_arenas()
    home = options.settings.home
    folder = os.path.join(home, FOLDER)
    with (
        _end_on_signal(),
        reserve_home(home),
        _bind(options) as bound,
        open_database(home, options.database_url, restart=True) as database,
    ):
        for one in migrate(database):
            say(f"Migrated the database: {one.number:04} {one.name}.")
        register_table(database)
        enable_bm25(database)
        team = ensure_team(database, options.team)
        _hand_out_token(database, team.team, options, say)
        server = Server(database, _open_compat(options), team, time.time())
        with (
            note_state(home, options.host, options.port, database.url),
            _run_workers(server, options),
        ):
            asyncio.run(_serve(server, options, bound, folder, say))


@contextlib.contextmanager
def _end_on_signal() -> Iterator[None]:
    """Let SIGTERM end what was started, also before the server answers."""

    def end(*_: object) -> None:
        raise SystemExit(0)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _share_arenas() -> None:
    """Keep glibc from reserving memory for each thread, which it hardly gives back."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).mallopt(_MALLOPT_ARENAS, _ARENAS)


def _run_workers(server: Server, options: StartOptions) -> contextlib.AbstractContextManager[object]:
    if options.worker_command is None:
        return contextlib.nullcontext()
    words, environ = options.worker_command
    environ = {**environ, DATABASE_VARIABLE: server.database.url}  # a password stays out of the arguments
    return Workers(server, WorkerCommand(words, environ), options.workers)


def _open_compat(options: StartOptions) -> ServerSettings:
    """Let agent-memory's clients in without a token where only this machine reaches the server."""
    settings = options.settings
    is_private = options.host in _LOOPBACK and not settings.public_hosts
    return replace(settings, compat_open=settings.compat and is_private)


def _hand_out_token(database: Database, team: str, options: StartOptions, say: Callable[[str], None]) -> None:
    """Make the first token, print it once, or write it to a file that is not there yet."""
    path = options.token_file
    with database.owning() as connection:
        is_first = not has_tokens(connection, team)
    if path and os.path.exists(path):
        if is_first:
            raise UsageError(f"{path} exists already. Name a new file for the first token.")
        return
    if not path and not is_first:
        return
    make = partial(first_admin, database, team, options.admin)
    if path:
        write_token(path, make)
        say(f"Wrote the token of {options.admin} to {path}.")
    else:
        say(f"First token, of {options.admin}, shown only now:\n{make().secret}")


def _bind(options: StartOptions) -> socket.socket:
    host = "127.0.0.1" if options.host == "localhost" else options.host
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio only sends small answers at once on sockets that name TCP; others wait 40 ms for each one.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, options.port))
        bound.listen()  # two may bind a port, but only one of them listens; requests wait for the start
    except socket.gaierror:
        bound.close()
        raise UsageError(
            f"The host {options.host} is unknown. Give --host an address of this machine."
        ) from None
    except OSError as error:
        bound.close()
        raise BusyError(
            f"Port {options.port} of {host} cannot be used ({error.strerror}). Choose another with --port."
        ) from None
    return bound


def _bind_local(path: str) -> socket.socket | None:
    """Listen on a Unix socket that only this user reaches; None where the path is too long for one."""
    if len(path) > _MAX_SOCKET_PATH or not hasattr(socket, "AF_UNIX"):
        return None
    with contextlib.suppress(FileNotFoundError):
        os.remove(path)
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        bound.bind(path)
    finally:
        os.umask(before)
    return bound


class _Uvicorn(uvicorn.Server):
    """A server without signal handlers of its own: two of them run in one process."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def _serve(
    server: Server, options: StartOptions, remote: socket.socket, folder: str, say: Callable[[str], None]
) -> None:
    path = os.path.join(folder, _SOCKET)
    sockets = [(remote, False), (_bind_local(path), True)]
    servers = []
    for bound, local in sockets:
        config = uvicorn.Config(
            make_app(server, local=local), log_level="warning", access_log=False, server_header=False,
            timeout_graceful_shutdown=_GRACE_SECONDS, lifespan="off", date_header=True,
            ssl_certfile=None if local else options.certificate or None,
            ssl_keyfile=None if local else options.certificate_key or None,
        )  # fmt: skip
        if bound is not None:
            servers.append((_Uvicorn(config), bound))
    # More requests at once than connections to the database would wait for one, and take memory meanwhile.
    anyio.to_thread.current_default_thread_limiter().total_tokens = CONNECTIONS
    gc.collect()
    gc.freeze()  # exempt the loaded modules from garbage collection
    loop = asyncio.get_running_loop()

    def end() -> None:
        for one, _ in servers:
            one.should_exit = True

    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, end)
    scheme = "https" if options.certificate else "http"
    say(f"told server on {scheme}://{options.host}:{options.port}. Stop it with Ctrl-C.")
    await asyncio.gather(*(one.serve(sockets=[bound]) for one, bound in servers))
    with contextlib.suppress(OSError):
        os.remove(path)
