"""Reads what is piped into a command, and never waits for somebody who does not come."""

from __future__ import annotations

import os
import sys
import time

from told.errors import UsageError

SECONDS = 5.0  # that are waited for
_MOST = 1_000_000  # bytes; a checkpoint has a few thousand
_NOTHING = "There is nothing on standard input. Pipe a JSON object into `told checkpoint --stdin`."


def piped() -> str:
    """Return what standard input holds, once whoever writes it is done.

    Raises:
        UsageError: it is a terminal, nothing comes, or it is too much or no text.
    """
    try:
        number = sys.stdin.fileno()
    except (AttributeError, OSError, ValueError):  # closed, or replaced by something that is no file
        raise UsageError(_NOTHING) from None
    if os.isatty(number):
        raise UsageError(_NOTHING)
    content = b""
    until = time.monotonic() + SECONDS
    while _comes(number, until):
        part = os.read(number, 65_536)
        if not part:
            break
        content += part
        if len(content) > _MOST:
            raise UsageError("That is too long for a checkpoint: give it less than a megabyte.")
    else:
        raise UsageError(_NOTHING if not content else "Standard input does not end. Close it after the JSON.")
    if not content.strip():
        raise UsageError(_NOTHING)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError("Standard input is not UTF-8. Give a JSON object as plain text.") from None


def _comes(number: int, until: float) -> bool:
    """Wait until there is something to read, or the end of it; False if that takes too long."""
    import select

    try:
        ready, _, _ = select.select([number], [], [], max(0.0, until - time.monotonic()))
    except (OSError, ValueError):  # where only sockets can be waited for
        return True
    return bool(ready)
