"""Writes a checkpoint's file anew, under its id: for one that told itself made, and nobody edited since."""

from __future__ import annotations

import os

from told.errors import ToldError
from told.ingest.checkpoint_reading import NotTextError, read_file
from told.ingest.checkpoint_rows import redacted, without_forgotten
from told.ingest.checkpoint_sync import sync
from told.ingest.checkpoint_text import normal, text_of
from told.ingest.tombstones import Tombstones
from told.journal.files import cannot_write, write_whole
from told.memory.checkpoint import AT_ONCE
from told.record import replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from told.model import Handover


def renew(
    connection: apsw.Connection, home: str, path: str, handover: Handover, redact: Callable[[str], str]
) -> bool:
    """Let a file say what a checkpoint says now, and the store what the file says.

    Args:
        connection: The open store of sessions.
        home: The folder of everything told writes for itself.
        path: The file.
        handover: What it is to say; its id stays.
        redact: Takes secrets out of text.

    Returns:
        False if it said that already, or may say nothing any more.

    Raises:
        MissingError: the file cannot be written.
    """
    forgotten = Tombstones(home).now()
    if forgotten.has(handover.agent, handover.session):
        return False
    try:
        old = read_file(path)
    except NotTextError:
        return False
    new = normal(without_forgotten(redacted(replaced(handover, id=old.id), redact), forgotten))
    is_new = replaced(new, at=old.at) != old
    if is_new:
        try:
            write_whole(path, text_of(new).encode("utf-8", "replace"))
        except OSError as error:
            raise cannot_write(path, error) from None
    _take_in(connection, home, redact, os.path.dirname(path))
    return is_new


def _take_in(connection: apsw.Connection, home: str, redact: Callable[[str], str], folder: str) -> None:
    import apsw

    try:
        sync(connection, home, redact, folder=folder, most=AT_ONCE)
    except (ToldError, apsw.Error):
        return  # the next command does it
