"""Start the background process that reads sessions."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

from told.agents.wiring import own_command
from told.settings import Settings

# Starts a program and exits, so that the program is nobody's child.
_DETACH = (
    "import subprocess,sys;n=subprocess.DEVNULL;"
    "subprocess.Popen(sys.argv[1:],stdin=n,stdout=n,stderr=n,start_new_session=True)"
)
_START_SECONDS = 10.0


def start_reading(settings: Settings, environ: Mapping[str, str], session: str = "") -> None:
    """Start a background sweep that reads quiet sessions, and one which has just ended."""
    if not settings.reads_sessions or not settings.background or not settings.reader_daily_tokens:
        return
    words = own_command("sweep", *(["--ended", session] if session else []))
    null = subprocess.DEVNULL
    try:
        subprocess.run(  # noqa: S603 - told's own command
            [sys.executable, "-I", "-S", "-c", _DETACH, *words],
            stdin=null, stdout=null, stderr=null, env=dict(environ), timeout=_START_SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return
