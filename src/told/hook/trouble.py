"""Notes that a hook failed, for `told health` to say: an agent is never bothered with it."""

from __future__ import annotations

import os
import time

from told.errors import ToldError
from told.guard.names import is_plain
from told.settings import home_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

TROUBLE = "hook.trouble"
_LONGEST = 300


def note(error: BaseException, environ: Mapping[str, str]) -> None:
    """Note the last thing that went wrong; where not even that can be written, nothing."""
    try:
        home = home_of(environ)
        text = " ".join(f"{type(error).__name__}: {_without_secrets(str(error), home)}".split())[:_LONGEST]
        path = os.path.join(home, TROUBLE)
        with os.fdopen(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
            file.write(f"{time.time_ns() // 1_000_000} {text}\n")
    except (OSError, ValueError, ToldError):
        return  # a hook ends quietly, whatever happens


def _without_secrets(text: str, home: str) -> str:
    if is_plain(text):
        return text
    from told.guard.redact import Redactor
    from told.store.key import own_key

    return Redactor(own_key(home)).redact(text)


def last(home: str) -> tuple[int, str]:
    """Return when a hook last failed, and why; (0, "") if none did."""
    try:
        with open(os.path.join(home, TROUBLE), encoding="utf-8", errors="replace") as file:
            at, _, text = file.read(1000).strip().partition(" ")
    except OSError:
        return 0, ""
    return (int(at), text) if at.isdigit() else (0, "")
