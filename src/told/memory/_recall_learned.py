"""What use has taught about a memory: whether sessions that were shown it went by it.

A memory of a project is only shown there, so this is learned by project. It moves a score by a tenth at most
and lifts nothing above the floor: what is never used falls behind, what is used comes first among what fits.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.store.memory_records import Memory

MOST = 0.1  # of a score
# Before anything happened: as if shown four times and used once. Few uses say little, many say more.
_USED, _SHOWN = 1.0, 4.0


def learned(memory: Memory) -> float:
    """Return by what share a score is moved, from -MOST to MOST; 0 for what was not shown yet.

    What the user had to say again was needed too, whatever that says about how well it is followed.
    """
    if not memory.shown:
        return 0.0
    used = memory.followed + memory.repeated
    share = (used + _USED) / (max(memory.shown, used) + _SHOWN)
    usual = _USED / _SHOWN
    moved = (share - usual) / (1.0 - usual) if share > usual else (share - usual) / usual
    return round(MOST * moved, 4)


def in_words(memory: Memory) -> str:
    """Say what was learned; empty if nothing was."""
    moved = learned(memory)
    if not moved:
        return ""
    again = f", said again {_times(memory.repeated)}" if memory.repeated else ""
    return f"use {moved:+.0%} (shown {_times(memory.shown)}, followed {_times(memory.followed)}{again})"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times" if count else "never"
