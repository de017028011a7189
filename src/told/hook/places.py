"""Which project's memories hold in a folder, remembered from the start of a session for its prompts.

Finding it out needs the large database; a prompt only reads one small file. It is a cache: it may be deleted.
"""

from __future__ import annotations

import os

from told.record import record
from told.store.memory_records import GLOBAL, PROJECT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

_MOST = 100  # folders


@record
class Here:
    """Where an agent works."""

    scope: str = GLOBAL
    root: str = ""  # of the project; empty where there is none


def here(home: str, folder: str, hide: Callable[[str], str] = str) -> Here:
    """Return where a folder is, from the cache if it knows; `hide` takes secrets out of names."""
    line = next((one for one in _lines(home) if one.startswith(f"{folder}\t")), "")
    if line:
        _, scope, root = line.split("\t")
        return Here(scope, root)
    from told.hook.catching_up import open_sessions

    connection = open_sessions(home)
    place = found_out(connection, home, folder, hide)
    if connection is not None:
        connection.close()
    return place


def found_out(
    connection: apsw.Connection | None, home: str, folder: str, hide: Callable[[str], str] = str
) -> Here:
    """Find out where a folder is, and keep that for the prompts to come."""
    place = _looked_up(connection, folder, hide)
    if hide(folder) != folder:  # it is found out again each time
        return place
    entry = f"{folder}\t{place.scope}\t{place.root}"
    known = _lines(home)
    others = [one for one in known if not one.startswith(f"{folder}\t")]
    if "\n" not in entry and entry.count("\t") == 2 and [*others, entry] != known:
        from told.hook.lines import write_lines  # most prompts find theirs noted

        write_lines(home, "places", [*others[-_MOST + 1 :], entry])
    return place


def _looked_up(connection: apsw.Connection | None, folder: str, hide: Callable[[str], str]) -> Here:
    from told.ingest.identity import identify, project_at
    from told.store.projects import Projects

    if not folder or not os.path.isdir(folder) or folder == os.path.realpath(os.path.expanduser("~")):
        return Here()
    known = project_at(Projects(connection, hide), folder) if connection else None
    if known is not None:
        return Here(PROJECT + known.key, known.root)
    found = identify(folder, ask_git=False)
    return Here(PROJECT + hide(found.key), hide(found.root))


def _lines(home: str) -> list[str]:
    try:
        with open(os.path.join(home, "places"), encoding="utf-8", errors="replace") as file:
            return [one for one in file.read().splitlines() if one.count("\t") == 2]
    except OSError:
        return []
