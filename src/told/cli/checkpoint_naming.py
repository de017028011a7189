"""Finds a checkpoint by its id or the beginning of it."""

from __future__ import annotations

from told.cli.output import cut
from told.errors import NotFoundError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.cli.context import Context
    from told.store.reading import CheckpointRow

_CANDIDATES = 8
_SHORTEST = 3


def checkpoint_named(context: Context, given: str) -> CheckpointRow:
    """Return the one checkpoint that an id stands for, an agent's own or one of told's.

    Raises:
        NotFoundError: there is none.
        UsageError: there are several, or too little of the id was given.
    """
    if len(given) < _SHORTEST:
        raise UsageError(f"{given!r} is too short for an id. Give at least three letters of it.")
    found = context.reading.checkpoints_like(given, _CANDIDATES)
    found = [note for note in found if note.public == given] or found
    if not found:
        raise NotFoundError(f"No checkpoint has the id {cut(given, 60)!r}. `told checkpoints` lists them.")
    if len(found) > 1:
        raise UsageError(f"{given!r} could be {', '.join(note.public for note in found)}. Give more of it.")
    return found[0]


def own_checkpoint(context: Context, given: str) -> CheckpointRow:
    """Return one of told's own checkpoints, which it may change.

    Raises:
        NotFoundError: there is none.
        UsageError: there are several, or it is an agent's own.
    """
    note = checkpoint_named(context, given)
    if not note.path:
        raise UsageError(f"{note.public} stands in the agent's own files, and told does not change those.")
    return note
