"""Start a sync at the start and the end of a session, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import time

from told.agents.wiring import own_command
from told.hook.context import HookContext
from told.journal.copies import has_spaces, sync_folder

START_SECONDS = 0.3  # a start waits so long at most for what other machines said
_PAUSE_SECONDS = 20.0  # between two automatic syncs
_running: list[subprocess.Popen[bytes]] = []  # polled so that none stays a zombie


def start_sync(context: HookContext, wait: float = 0.0) -> None:
    """Sync in the background if the user set it up; wait a moment for it."""
    _running[:] = [one for one in _running if one.poll() is None]
    if not context.settings.background or not _is_due(context.home):
        return
    words = own_command("sync", "--quiet")
    quiet = subprocess.DEVNULL
    try:
        process = subprocess.Popen(  # noqa: S603 - told's own command
            words, stdin=quiet, stdout=quiet, stderr=quiet, env=dict(context.environ), start_new_session=True
        )
    except OSError:
        return
    _running.append(process)
    try:
        process.wait(wait)
    except subprocess.TimeoutExpired:
        return


def _is_due(home: str) -> bool:
    """Tell whether there is something to sync with, and no sync just now."""
    folder = sync_folder(home)
    if not has_spaces(home):
        return False
    try:
        spaces = [one.path for one in os.scandir(folder) if one.is_dir()]
        last = max(os.stat(os.path.join(one, "state.json")).st_mtime for one in spaces)
    except (OSError, ValueError):
        return True
    return abs(time.time() - last) > _PAUSE_SECONDS
