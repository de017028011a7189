"""Names projects in told's registry, and finds out which of them an act is written to."""

from __future__ import annotations

import os

from told.errors import UsageError
from told.guard.files import is_folder
from told.journal.append import MAKES_MEMORY
from told.journal.files import (
    REGISTRY,
    SeriesLock,
    cannot_write,
    journal_folder,
    machines,
    make_folder,
    write_whole,
)  # fmt: skip
from told.journal.machine import is_machine, machine_of
from told.journal.model import SET, STRANGER
from told.journal.registry import BETWEEN, Place, places, registered
from told.record import replaced
from told.store.ids import public_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from told.journal.append import Draft
    from told.store.memory_records import Memory

# What only counts, or is a matter of this user alone, or has to outlive the folder: what was forgotten must
# not be read in again.
_STAYS_HOME = frozenset(("show", "follow", "forget", "archive", "restore", SET))


def own_series(place: Place) -> str:
    """Return the series that this machine writes to a place; another one where the folder is copied to."""
    return public_id("", machine_of(place.home), place.root, length=8)


def series_in(place: Place) -> list[str]:
    """Return the names of all series that stand in a place, whoever put them there."""
    return [
        name
        for name in (machines(place.journal) if is_folder(place.journal) else ())
        if is_machine(name) and is_folder(os.path.join(place.journal, name))
    ]


def register(place: Place) -> None:
    """Write a place down, instead of what was known of its folder.

    Raises:
        MissingError: the registry cannot be written.
        UsageError: the folder's name cannot be written down.
    """
    if any(char < " " for char in place.root + place.scope):
        raise UsageError("The path of this folder has a line break or tab in it. Give it another name.")
    _rewrite(place.home, place.root, place)


def unregister(home: str, root: str) -> None:
    """Take a place out of the registry; its folder stays as it is.

    Raises:
        MissingError: the registry cannot be written.
    """
    if any(place.root == root for place in registered(home)):
        _rewrite(home, root, None)


def rename(home: str, old: str, new: str) -> None:
    """Let a place follow its project to another scope."""
    for place in registered(home):
        if place.scope == old:
            register(replaced(place, scope=new))


def place_of(home: str, drafts: Sequence[Draft], known: Mapping[str, Memory]) -> Place | None:
    """Return where the operations of one act are written; None is told's home.

    They are never torn apart: they all go to a project's place if all memories they are about were made
    there, or are made by them and belong there. Otherwise they all go home.

    Args:
        home: The folder of everything told writes for itself.
        drafts: The operations.
        known: The memories they are about that are not made by them.
    """
    living = places(home)
    made: dict[str, Place | None] = {}
    for draft in drafts:
        if draft.kind in MAKES_MEMORY:
            scope = (draft.payload or {}).get("scope")
            made[draft.memory] = next((one for one in living if one.scope == scope), None)
    touched = {draft.memory for draft in drafts}
    found = {made[name] if name in made else _holding(living, known.get(name)) for name in touched}
    return found.pop() if len(found) == 1 else None


def stays_home(draft: Draft) -> bool:
    """Tell whether an operation is never written to a project's place."""
    return draft.kind in _STAYS_HOME or not draft.memory


def _holding(living: Sequence[Place], memory: Memory | None) -> Place | None:
    """Return the place whose journal made a memory."""
    if memory is None:
        return None
    machine = memory.machine.removeprefix(STRANGER)
    held = [one for one in living if machine in one.series and is_folder(os.path.join(one.journal, machine))]
    return min(held, key=lambda one: one.scope != memory.scope, default=None)


def _rewrite(home: str, root: str, place: Place | None) -> None:
    path = os.path.join(home, REGISTRY)
    folder = journal_folder(home)
    try:
        make_folder(folder)
        with SeriesLock(folder):
            kept = [one for one in registered(home) if one.root != root] + ([place] if place else [])
            lines = [
                BETWEEN.join((one.root, one.scope, one.ignored, ",".join(one.series))) + "\n"
                for one in sorted(kept, key=lambda one: one.root)
            ]
            write_whole(path, "".join(lines).encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise cannot_write(path, error) from None
