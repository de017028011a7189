"""With TOLD_DEBUG=1: logs what each hook saw and answered, without secrets, in told's folder."""

from __future__ import annotations

import os
import time

from told.guard.cutting import whole_words
from told.guard.names import is_plain
from told.hook.trouble import TROUBLE
from told.store.memory_json import encoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

_LOG = "hook.log"
_MOST = 5_000_000  # bytes; then it begins anew, and the old one is kept once
_LONGEST = 20_000  # characters of what was seen


def drop(home: str) -> None:
    """Remove what hooks logged, because something of it is to be forgotten."""
    for name in (_LOG, f"{_LOG}.old", TROUBLE):
        path = os.path.join(home, name)
        if os.path.exists(path):
            os.remove(path)


def log(
    words: Sequence[str],
    payload: Mapping[str, Any],
    said: str,
    took: float,
    environ: Mapping[str, str],
) -> None:
    """Add a line to the log; `took` is in milliseconds."""
    from told.guard.redact import Redactor
    from told.hook.wishes import settings_of
    from told.store.key import own_key

    settings = settings_of(environ)
    home = settings.home
    heard: dict[str, Any] = {"ms": round(took, 1)}
    if not settings.problem:  # else there may be a rule that takes something out of it
        redact = Redactor(own_key(home), settings.redaction).redact
        heard |= {"saw": redact(whole_words(encoded(dict(payload)), _LONGEST)), "said": redact(said)}
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    line = encoded({"at": at, "hook": [word for word in words if is_plain(word)], **heard})
    path = os.path.join(home, _LOG)
    if os.path.exists(path) and os.path.getsize(path) > _MOST:
        os.replace(path, f"{path}.old")
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    os.write(descriptor, f"{line}\n".encode("utf-8", "replace"))
    os.close(descriptor)
