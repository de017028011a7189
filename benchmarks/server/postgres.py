"""A PostgreSQL for a benchmark, on the disk of the temporary folder, with its settings as users have them."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from told.server.embedded import EmbeddedPostgres
from told.store.postgres.database import Database
from told.store.postgres.migrate import migrate


@contextmanager
def migrated_database(*settings: str, size: int = 8) -> Iterator[Database]:
    """Run PostgreSQL for a block, and migrate its database."""
    folder = tempfile.mkdtemp(prefix="told-")
    server = EmbeddedPostgres(os.path.join(folder, "pg"), settings=("max_connections=100", *settings))
    try:
        server.start()
        database = Database(server.url, size=size)
        migrate(database)
        yield database
        database.close()
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
