"""Remove the bytes of what people deleted, behind the answers."""

from __future__ import annotations

from typing import Any

from told.server.context import Server
from told.server.jobs import Write
from told.store.postgres.database import Connection, Viewer, connect, translated
from told.store.postgres.purge import purge_deleted_rows


def purge_deleted(server: Server, viewer: Viewer, payload: dict[str, Any]) -> Write:  # noqa: ARG001
    """Rewrite the tables that an item names, unless that was done since."""
    with connect(server.database.url) as connection, translated():
        purge_deleted_rows(connection, payload)
    return _do_nothing


def _do_nothing(_: Connection) -> None:
    """Leave it: a table is rewritten in a transaction of its own."""
