"""`told sync-serve`: what another machine that syncs over ssh runs here."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from told.errors import UsageError
from told.journal.copies import sync_folder
from told.memories.caller import detect_caller
from told.settings import find_home
from told.sync.transports.serve import serve


def serve_space(words: Sequence[str], environ: Mapping[str, str]) -> int:
    """Answer another machine that syncs over ssh; it runs `told sync-serve SPACE` here."""
    if len(words) != 1:
        raise UsageError("`told sync-serve SPACE` is run by `told sync ssh HOST` of another machine.")
    if not detect_caller(environ).is_user:
        raise UsageError("Agents cannot serve syncs.")
    folder = os.path.join(sync_folder(find_home(environ)), "hub")
    serve(sys.stdin.buffer, sys.stdout.buffer, folder, words[0])
    return 0
