"""The project of a file that says nothing of one: that of the others in its folder."""

from __future__ import annotations

import os

from told.ingest.checkpoint_places import is_folder_for, listed
from told.ingest.checkpoint_reading import NotTextError, read_file
from told.ingest.checkpoint_text import id_in_name
from told.record import replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from told.model import Handover

_ASKED = 5  # neighbours that are read; told's own all say the same


def placed_like_neighbours(one: Handover, path: str, hide: Callable[[str], str]) -> Handover:
    """Return a checkpoint with the project that told made its folder for; as it is if it names one itself."""
    folder = os.path.dirname(path)
    if one.project or one.folder or is_folder_for(folder, ""):
        return one
    by_told = [other for other in sorted(listed(folder), reverse=True) if other != path and id_in_name(other)]
    for other in by_told[:_ASKED]:
        try:
            found = read_file(other)
        except NotTextError:
            continue
        if found.project and is_folder_for(folder, hide(found.project)):
            return replaced(one, project=hide(found.project), folder=hide(found.folder))
    return one
