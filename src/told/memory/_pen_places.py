"""Writes what belongs to projects that keep their own journal there; the rest is left for told's home."""

from __future__ import annotations

from told.errors import MissingError
from told.journal.append import append
from told.journal.origin import key_of
from told.journal.places import place_of, stays_home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from told.journal.append import Draft
    from told.journal.registry import Place
    from told.store.memories import Memories


def to_places(home: str, memories: Memories, drafts: Sequence[Draft], now: int) -> list[Draft]:
    """Write each act that belongs to one project to its own journal; return all others.

    What a place cannot take, since it is read-only or full, is returned as well: nothing is lost. Home comes
    last: what is noted there as done is done. Each write is synced, since no later one of home would do it.
    """
    if not key_of(home):  # what is not sealed would not be known again as the user's
        return list(drafts)
    rest: list[Draft] = []
    acts: dict[object, list[Draft]] = {}
    for draft in drafts:
        if stays_home(draft):
            rest.append(draft)
        else:
            acts.setdefault((draft.payload or {}).get("act"), []).append(draft)
    known = memories.get({draft.memory for act in acts.values() for draft in act})
    taken: dict[Place, list[Draft]] = {}
    at_home: list[Draft] = []
    for act in acts.values():
        place = place_of(home, act, known)
        (taken.setdefault(place, []) if place else at_home).extend(act)
    for place, some in taken.items():
        try:
            append(home, some, now=now, place=place)
        except MissingError:
            at_home += some
    return at_home + rest
