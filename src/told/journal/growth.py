"""Whether the journals have anything that was not applied, by the sizes of their files alone."""

from __future__ import annotations

import os

from told.journal.files import machines, segments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.store.memory_records import Position

    Positions = dict[tuple[str, str], Position]


def has_grown(folder: str, positions: Positions) -> bool:
    """Tell whether a segment is new, or not as long as it was when it was applied."""
    for machine in machines(folder):
        place = os.path.join(folder, machine)
        for name in segments(place):
            position = positions.get((machine, name))
            try:
                if position is None or os.stat(os.path.join(place, name)).st_size != position.size:
                    return True
            except OSError:
                continue  # it was removed just now
    return False
