"""Opens files that other programs wrote: regular ones only, and never waits for one."""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

# A whole-file document larger than this is not a conversation.
MAX_DOCUMENT = 64 * 1024 * 1024


class NotReadableError(Exception):
    """The file cannot be read; the text says why."""


def open_regular(path: str) -> BinaryIO:
    """Open a regular file for reading. A pipe, device or folder is refused without waiting for it."""
    flags = (
        os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    )
    try:
        descriptor = os.open(path, flags)
    except (OSError, ValueError) as error:
        raise NotReadableError(reason(error)) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotReadableError("not a regular file")
    return os.fdopen(descriptor, "rb")


def read_document(path: str, limit: int = MAX_DOCUMENT) -> bytes:
    """Read a whole file of at most `limit` bytes."""
    with open_regular(path) as file:
        try:
            content = file.read(limit + 1)
        except OSError as error:
            raise NotReadableError(reason(error)) from None
    if len(content) > limit:
        raise NotReadableError(f"larger than {limit // (1024 * 1024)} MB")
    return content


def reason(error: Exception) -> str:
    """Say in a few words why a file could not be read, without its path."""
    return (getattr(error, "strerror", None) or type(error).__name__).lower()


def is_folder(path: str) -> bool:
    """Tell whether there is a folder, and not a link to one: it might lead anywhere."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False
