"""Open the database of the team that this machine serves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from told.store.postgres.database import Database, Viewer


@contextmanager
def open_team(home: str, url: str) -> Iterator[tuple[Database, Viewer]]:
    """Open the migrated database for a block, with its team; create the team on first use."""
    from told.server.opening import open_database  # noqa: PLC0415 - loads psycopg
    from told.server.people import ensure_team  # noqa: PLC0415
    from told.store.postgres.migrate import migrate  # noqa: PLC0415

    with open_database(home, url) as database:
        migrate(database)
        yield database, ensure_team(database, "team")
