"""Looks whether the checkpoints of a project, or all, are as they were taken in: every query does this."""

from __future__ import annotations

import os

from told.ingest.checkpoint_places import ENDING, folder_of, folders, home_folder_of, listed
from told.store.checkpoints import OwnCheckpoints

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

    from told.store.projects import Project

# The others are looked at by the sweep.
_RECENT = 100


def changed_folders(connection: apsw.Connection, home: str, project: Project | None) -> list[str]:
    """Return the folders with checkpoints in which something has changed.

    Args:
        connection: The open store.
        home: The folder of everything told writes for itself.
        project: Of which they are; None for all.
    """
    if project is not None:
        own = OwnCheckpoints(connection)
        before = home_folder_of(home, project.key, project.name)
        there = dict.fromkeys((folder_of(home, project.key, project.name, project.root), before))
        return [folder for folder in there if _differs(folder, own.states(folder))]
    known: dict[str, list[tuple[str, int, int]]] = {}
    for path, size, changed in OwnCheckpoints(connection).states():
        known.setdefault(os.path.dirname(path), []).append((path, size, changed))
    there = dict.fromkeys((*folders(home), *known))
    return [folder for folder in there if _differs(folder, known.get(folder, []))]


def _differs(folder: str, known: list[tuple[str, int, int]]) -> bool:
    """Tell whether files came, went or changed; of many files, the latest are looked at for changes."""
    try:
        names = {name for name in os.listdir(folder) if name.endswith(ENDING) and not name.startswith(".")}
        if names == {path[len(folder) + 1 :] for path, _, _ in known}:
            return any(_state(path) != (size, changed) for path, size, changed in known[:_RECENT])
        return listed(folder) != {path: (size, changed) for path, size, changed in known}
    except (FileNotFoundError, NotADirectoryError):
        return bool(known)
    except OSError:
        return False


def _state(path: str) -> tuple[int, int]:
    found = os.lstat(path)
    return found.st_size, found.st_mtime_ns
