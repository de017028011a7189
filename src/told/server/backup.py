"""Back up the server's database into one file, and restore it, with PostgreSQL's own programs."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator

from told.errors import MissingError, ToldError, UsageError
from told.files import cannot_write, create_private
from told.server.embedded import find_binary
from told.store.postgres.database import SCHEMA, Database
from told.store.postgres.memories.bm25 import INDEX
from told.store.postgres.migrate import (
    bring_back,
    check_server,
    drop_aside,
    has_schema,
    has_table,
    prepare_database,
    set_aside,
)
from told.store.postgres.people import find_team
from told.store.postgres.server_series import drop_server_heads


def back_up(url: str, path: str) -> int:
    """Write all of told's tables to a new file that only the user can read; return its size.

    The server may run meanwhile: the file has one moment of it.

    Raises:
        UsageError: the file exists.
        MissingError: pg_dump is not installed, or refuses.
    """
    part = f"{path}.part"
    try:
        create_private(part, b"")
    except FileExistsError:
        os.remove(part)  # of a backup that was interrupted
        create_private(part, b"")
    except OSError as error:
        raise cannot_write(path, error, "Choose another place.") from None
    try:
        if os.path.lexists(path):
            raise UsageError(f"{path} exists already. Name a new file.")
        _run("pg_dump", "--format=custom", f"--schema={SCHEMA}", "--no-owner", f"--file={part}", url)
        os.rename(part, path)
    finally:
        if os.path.exists(part):
            os.remove(part)
    return os.path.getsize(path)


def restore(database: Database, path: str, *, replace: bool) -> None:
    """Restore a backup into a database, in one transaction.

    Args:
        database: Where to.
        path: The file.
        replace: Delete what told has in the database.

    Raises:
        UsageError: the database is in use, and `replace` was not given.
        MissingError: the file or pg_restore is missing, or it refuses.
    """
    if not os.path.isfile(path):
        raise MissingError(f"{path} is not a file. Name a file that `told server backup` wrote.")
    with database.owning() as connection:
        check_server(connection)
        has_old = has_schema(connection)
        if has_old and find_team(connection) and not replace:
            raise UsageError("This database has a team already. `--force` replaces all of it.")
        if has_old:
            set_aside(connection)
        prepare_database(connection)
    try:
        with _without_bm25(path) as wanted:
            _run(
                "pg_restore", "--single-transaction", "--exit-on-error", "--no-owner", f"--use-list={wanted}",
                f"--dbname={database.url}", path,
            )  # fmt: skip
    except ToldError:
        with database.owning() as connection:
            if has_old:
                bring_back(connection)
        raise
    with database.owning() as connection:
        drop_aside(connection)
        if has_table(connection, "server_series"):  # not in a backup of an older version
            drop_server_heads(connection)


@contextlib.contextmanager
def _without_bm25(path: str) -> Iterator[str]:
    """List what a backup has, but for an index that needs an extension; the server makes it again."""
    lines = _run("pg_restore", "--list", path).splitlines(keepends=True)
    with tempfile.NamedTemporaryFile("w", prefix="told-", encoding="utf-8") as file:
        file.writelines(line for line in lines if f" INDEX told {INDEX} " not in line)
        file.flush()
        yield file.name


def _run(name: str, *words: str) -> str:
    """Run a program of PostgreSQL; return what it prints."""
    program = find_binary(name) or shutil.which(name)
    if not program:
        raise MissingError(f"{name} is not installed. Install PostgreSQL's client programs.")
    done = subprocess.run((program, *words), capture_output=True, check=False)  # noqa: S603 - no shell
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or [
            f"exit code {done.returncode}"
        ]
        raise MissingError(f"{name} refuses: {lines[0].removeprefix(f'{name}: ')[:200]}.")
    return done.stdout.decode("utf-8", "replace")
