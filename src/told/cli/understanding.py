"""Has told work out what turns mean, and lets a search know it."""

from __future__ import annotations

import os
import sys

import apsw

from told.errors import ToldError
from told.store.vectors import TurnVectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.cli.context import Context
    from told.ingest.understanding import Understood
    from told.search.embedder import Embedder
    from told.search.near import Meaning

_SECONDS = 0.1  # that a search waits for what is new; the background does the rest


def embedder_of(context: Context) -> Embedder | None:
    """Return what turns texts into vectors; None if nothing should, or can.

    Raises:
        MissingError: what the user chose needs something that is not there.
        UsageError: the setting is not understood.
    """
    from told.search.embedder import chosen

    return chosen(context.settings.model, context.environ, context.redactor().redact)


def meaning_of(context: Context, *, notes: bool = False) -> Meaning | None:
    """Return what a search asks for nearness in meaning; None where no turn has a vector."""
    try:
        embedder = embedder_of(context)
        if embedder is None:
            return None
        if embedder.is_quick and TurnVectors(context.connection, "").waiting(1):
            _understand(context, embedder, _SECONDS if context.settings.background else None)
        store = TurnVectors(context.connection, embedder.model, notes=notes)
        if store.is_empty():
            return None
        from told.search.near import Meaning

        return Meaning(store, embedder)
    except ToldError as error:
        say_words_alone(str(error))
        return None


def say_words_alone(why: str) -> None:
    """Say why nothing is found by its meaning."""
    sys.stderr.write(f"told: {why} Until then, words alone are searched.\n")


def understand_everything(context: Context) -> Understood | None:
    """Make the vectors of all turns that have none; None if another told is at it, or it cannot be done."""
    if not TurnVectors(context.connection, "").waiting(1) and not context.settings.model:
        return None
    try:
        embedder = embedder_of(context)
    except ToldError:
        return None  # `told health` says what is missing; the next sweep tries again
    return _understand(context, embedder) if embedder else None


def _understand(context: Context, embedder: Embedder, seconds: float | None = None) -> Understood | None:
    from told.ingest.understanding import understand
    from told.store.locks import UNDERSTAND, hold_lock

    lock = hold_lock(context.settings.home, UNDERSTAND)
    if lock is None:
        return None
    try:
        return understand(context.connection, embedder, seconds=seconds)
    except (ToldError, apsw.ReadOnlyError, apsw.FullError, apsw.IOError):
        return None  # the next sweep tries again
    finally:
        if lock:
            os.close(lock)
