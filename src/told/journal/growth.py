"""Whether the journals have anything that was not applied, by the sizes of their files alone."""

from __future__ import annotations

import os

from told.journal.files import every_series

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.store.memory_records import Position

    Positions = dict[tuple[str, str], Position]


def has_grown(folder: str, positions: Positions) -> bool:
    """Tell whether a segment is new, or not as long as it was when it was applied."""
    for series in every_series(folder):
        for name in series.segments():
            position = positions.get((series.name, name))
            try:
                if position is None or os.stat(os.path.join(series.folder, name)).st_size != position.size:
                    return True
            except OSError:
                continue  # it was removed just now
    return False
