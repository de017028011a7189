"""Takes in one statement that a user made in a session: a new memory, or one that is known was said again."""

from __future__ import annotations

from told.memory.compare import compare
from told.memory.remember import place_of, write_down
from told.store.memory_records import ARCHIVED, QUARANTINED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.memory.pen import Pen
    from told.memory.remember import Said
    from told.store.memory_records import Memory


def take(pen: Pen, said: Said, *, sync: bool) -> tuple[str, bool]:
    """Write a statement down, or count it for what is known; and end what it replaces.

    Args:
        pen: The pen of told itself.
        said: The statement.
        sync: Whether it is on disk when this returns.

    Returns:
        The id of the memory that says it, and whether it is a new one.
    """
    pen.begin_act()
    found = compare(pen.memories, said.text, said.scope, said.at, said.at)
    if found.repeats:
        _again(pen, said, found.repeats[0])
        pen.write(sync=sync)
        return found.repeats[0].id, False
    against_locked = any(old.locked for old, _ in found.kept)
    made = write_down(pen, said, status=QUARANTINED if against_locked else "")
    for old, why in found.replaces:
        pen.note("supersede", old.id, by=made, why=why)
    for later, why in found.outdated_by[:1]:
        pen.note("supersede", made, by=later.id, why=why)
    for old, why in found.kept:
        pen.note("edge", made, kind="contradicts", target=old.id, why=why)
        if old.locked:
            from told.memory.proposals import propose

            propose(pen, "correct", old.id, by=made, place=(said.agent, said.session))
    pen.write(sync=sync)
    return made, True


def _again(pen: Pen, said: Said, old: Memory) -> None:
    """Count that the user had to say something again: against it only if it was shown before."""
    if old.status == ARCHIVED:
        pen.note("restore", old.id, why="said again")
    shown = pen.memories.shown_in(said.session).get(old.id, 0)
    helped_not = 0 < shown <= said.at
    if any(place.session == said.session for place in old.evidence) and not helped_not:
        return
    weight = 1.0 if helped_not else 0.0
    pen.note("repeat", old.id, weight=weight, evidence=[place_of(said, pen.now)])
