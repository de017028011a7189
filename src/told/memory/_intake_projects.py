"""Which projects are not learned from, because their own config says so."""

from __future__ import annotations

from told.settings import in_project
from told.store.projects import Projects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from told.settings import Settings


def left_out(connection: apsw.Connection, settings: Settings) -> Callable[[str], bool]:
    """Return what tells of a project's key whether the sessions in it are not learned from."""
    projects = Projects(connection)
    known: dict[str, bool] = {"": False}

    def is_left_out(key: str) -> bool:
        if key not in known:
            found = projects.by_key(key)
            known[key] = found is not None and not in_project(settings, found.root).learn
        return known[key]

    return is_left_out
