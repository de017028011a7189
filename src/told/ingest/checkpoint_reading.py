"""Reads the files of checkpoints: whatever somebody put there, it is a checkpoint or a reason why not."""

from __future__ import annotations

import os
import time

from told.guard.files import NotReadableError, read_document
from told.ingest.checkpoint_places import LARGEST, every
from told.ingest.checkpoint_text import parsed
from told.record import replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from told.model import Handover


_DAY = 86_400_000  # a clock may be that wrong, or in another zone


class NotTextError(Exception):
    """The file cannot be read; the text says why."""


def read_file(path: str) -> Handover:
    """Return the checkpoint that a file says.

    Raises:
        NotTextError: it cannot be read, or is no text.
    """
    changed = _changed(path)
    found = parsed(_text(path), path, changed)
    now = time.time_ns() // 1_000_000
    # What says that it was written in days to come would be the latest for ever.
    return replaced(found, at=min(changed, now)) if found.at > now + _DAY else found


def unreadable(home: str) -> Iterator[tuple[str, str]]:
    """Yield the path of each file that cannot be read, and why."""
    for path in every(home):
        try:
            _text(path)
        except NotTextError as error:
            yield path, str(error)


def _text(path: str) -> str:
    if os.path.islink(path):
        raise NotTextError("it is a link")
    try:
        content = read_document(path, LARGEST)
    except NotReadableError as error:
        raise NotTextError(str(error)) from None
    if b"\0" in content:
        raise NotTextError("it is no text")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise NotTextError("it is not written in UTF-8") from None


def _changed(path: str) -> int:
    try:
        return os.lstat(path).st_mtime_ns // 1_000_000
    except OSError:
        return 0
