"""Whether the told that runs is still the one that is installed."""

from __future__ import annotations

import os
import sys


class Freshness:
    """Remembers the files of what was loaded."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[int, int, int] | None] = {}
        self.changed()

    def changed(self) -> bool:
        """Tell whether a file of what is loaded was changed, replaced or removed since the last look."""
        changed = False
        for name, module in list(sys.modules.items()):
            path = getattr(module, "__file__", None)
            if path and name.partition(".")[0] == "told":
                state = _state(path)
                changed = self._seen.get(path, state) != state or changed
                self._seen[path] = state
        return changed


def _state(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
