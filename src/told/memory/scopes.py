"""Shared scopes: what holds in several projects, for those that subscribed to it."""

from __future__ import annotations

from told.errors import NotFoundError, UsageError
from told.journal.model import SET
from told.record import record
from told.store.memory_records import ACTIVE, GLOBAL, SHARED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.memory.pen import Pen
    from told.store.memories import Memories
    from told.store.memory_records import Memory

SCOPE, SUBSCRIPTION = "scope", "subscription"  # topics of notes
_BETWEEN = "\n"  # a scope's name and a project's, in the name of a note
_TAKEN = frozenset(("project", "global", "unknown"))
_LONGEST = 40


@record
class Scope:
    """A shared scope."""

    name: str
    memories: int  # active ones
    projects: tuple[str, ...]  # the scopes of those that subscribed


def holding_in(memories: Memories, project: str) -> tuple[str, ...]:
    """Return the scopes that hold in a project: its own, the global one, and those it subscribed to."""
    shared = sorted(SHARED + name for name, own in _subscriptions(memories) if own == project)
    return tuple(dict.fromkeys((project, GLOBAL, *shared)))


def shared_scopes(memories: Memories) -> list[Scope]:
    """Return all shared scopes, by name."""
    counts: dict[str, int] = {}
    for status, _, scope, many, _ in memories.counts():
        if status == ACTIVE and scope.startswith(SHARED):
            name = scope.removeprefix(SHARED)
            counts[name] = counts.get(name, 0) + many
    pairs = _subscriptions(memories)
    names = sorted({*memories.noted(SCOPE), *counts})
    return [
        Scope(name, counts.get(name, 0), tuple(sorted(own for other, own in pairs if other == name)))
        for name in names
    ]


def checked_name(name: str) -> str:
    """Return a name that a shared scope can have.

    Raises:
        UsageError: it cannot.
    """
    bare = name.replace("-", "").replace("_", "")
    if not bare.isalnum() or len(name) > _LONGEST:
        raise UsageError(
            f"{name[:60]!r} is no name for a scope. Use up to {_LONGEST} letters, digits, - and _."
        )
    if name in _TAKEN:
        raise UsageError(f"{name!r} has a meaning of its own. Choose another name.")
    return name


def existing(memories: Memories, name: str) -> str:
    """Return the name of a shared scope that is there.

    Raises:
        NotFoundError: it is not.
    """
    if name not in {one.name for one in shared_scopes(memories)}:
        raise NotFoundError(f"There is no shared scope {name!r}. `told scopes create {name}` makes it.")
    return name


def create(pen: Pen, name: str) -> bool:
    """Make a shared scope; False if it was there."""
    if checked_name(name) in pen.memories.noted(SCOPE):
        return False
    pen.note(SET, "", **{SET: {SCOPE: {name: "1"}}})
    pen.write()
    return True


def subscribe(pen: Pen, name: str, project: str, *, on: bool = True) -> bool:
    """Let a shared scope hold in a project, or no longer; False if that was so."""
    changed = _note_subscription(pen, existing(pen.memories, name), project, on=on)
    pen.write()
    return changed


def share(pen: Pen, memory: Memory, name: str, project: str) -> None:
    """Move a memory to a shared scope; where it held before, it goes on to hold."""
    existing(pen.memories, name)
    if memory.scope == project:  # before the memory moves: cut off in between, it holds as it did
        _note_subscription(pen, name, project, on=True)
    pen.note("share", memory.id, scope=SHARED + name)
    pen.write()


def rename_project(pen: Pen, old: str, new: str) -> None:
    """Let the subscriptions of a project follow it to another scope."""
    for name, project in _subscriptions(pen.memories):
        if project == old:
            notes = {f"{name}{_BETWEEN}{old}": "", f"{name}{_BETWEEN}{new}": "1"}
            pen.note(SET, "", **{SET: {SUBSCRIPTION: notes}})


def _note_subscription(pen: Pen, name: str, project: str, *, on: bool) -> bool:
    if ((name, project) in _subscriptions(pen.memories)) == on:
        return False
    pen.note(SET, "", **{SET: {SUBSCRIPTION: {f"{name}{_BETWEEN}{project}": "1" if on else ""}}})
    return True


def _subscriptions(memories: Memories) -> list[tuple[str, str]]:
    """Return the (scope's name, project's scope) of every subscription."""
    pairs = (note.partition(_BETWEEN) for note in memories.noted(SUBSCRIPTION))
    return sorted((name, project) for name, _, project in pairs)
