"""The projects that keep their own journal, as told's registry names them, and what is read there.

A line of the registry: the folder, the scope of its memories, how its `.gitignore` was before, and the series
that are read there. What stands in a folder that is not named, or in a series that is not, is never read:
anybody may have put it there.
"""

from __future__ import annotations

import os
import stat

from told.guard.files import is_folder
from told.journal.files import REGISTRY, Series
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDER = ".told"
BETWEEN = "\t"
_LARGEST = 16 * 1024 * 1024  # told begins a new segment at 1 MB


@record
class Place:
    """A project that keeps its own journal."""

    home: str  # told's
    root: str
    scope: str
    ignored: str = ""  # how its `.gitignore` was before it was changed; empty if it was not
    series: tuple[str, ...] = ()  # this machine's, and those that the user let in

    @property
    def folder(self) -> str:
        """The folder that is told's alone."""
        return os.path.join(self.root, FOLDER)

    @property
    def journal(self) -> str:
        """Where its journals are."""
        return os.path.join(self.root, FOLDER, "journal")

    @property
    def is_there(self) -> bool:
        """Whether the folder is still there."""
        return is_folder(self.folder)


def registered(home: str) -> list[Place]:
    """Return every place that the registry names, also those that are gone."""
    try:
        with open(os.path.join(home, REGISTRY), encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().split("\n")
    except OSError:
        return []
    found = {}
    for line in lines:
        root, scope, ignored, series, *_ = (*line.split(BETWEEN), "", "", "", "")
        if os.path.isabs(root) and scope:
            found[root] = Place(home, root, scope, ignored, tuple(filter(_is_name, series.split(","))))
    return list(found.values())


def places(home: str) -> list[Place]:
    """Return the places that are there."""
    return [place for place in registered(home) if place.is_there]


def series_of_places(home: str) -> list[Series]:
    """Return the series in all places: this machine's, and those that the user let in."""
    return [
        Series(os.path.join(place.journal, name), name, place)
        for place in places(home)
        if is_folder(place.journal)
        for name in sorted(place.series)
        if is_folder(os.path.join(place.journal, name))
    ]


def fit_to_read(folder: str, names: Iterable[str]) -> list[str]:
    """Leave out what is no regular file, or larger than any that told writes: others can write there."""
    found = []
    for name in names:
        try:
            state = os.lstat(os.path.join(folder, name))
        except OSError:
            continue
        if stat.S_ISREG(state.st_mode) and state.st_size <= _LARGEST:
            found.append(name)
    return found


def _is_name(name: str) -> bool:
    return name.isalnum()
