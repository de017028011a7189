"""Search turns by meaning, with the embedder that the user chose."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import apsw

from told.app import App
from told.errors import ToldError
from told.search.sessions import TurnSimilarity
from told.search.vectors.embedder import Embedder, load_embedder
from told.store.database import EMBED_LOCK, acquire_lock
from told.store.sessions.match import TurnVectors

if TYPE_CHECKING:
    from collections.abc import Callable

    from told.ingest.embed_job import EmbedResult

# A search waits this long; the background does the rest, or `told index` where there is none.
_EMBED_SECONDS, _EMBED_ALONE_SECONDS = 0.1, 1.0


def embedder_of(app: App) -> Embedder | None:
    """Return the configured embedder; None if there is none."""
    return load_embedder(app.settings.model, app.environ, app.redact)


def similarity_search(app: App, *, notes: bool = False) -> TurnSimilarity | None:
    """Return the search by meaning; None if no turn has a vector."""
    try:
        embedder = embedder_of(app)
        if embedder is None:
            return None
        if embedder.is_quick and TurnVectors(app.connection, "").waiting(1):
            embed_waiting(app, embedder, _EMBED_SECONDS if app.settings.background else _EMBED_ALONE_SECONDS)
        store = TurnVectors(app.connection, embedder.model, notes=notes)
        return None if store.is_empty() else TurnSimilarity(store, embedder)
    except ToldError as error:
        warn_words_only(str(error))
        return None


def warn_words_only(why: str) -> None:
    """Warn that search by meaning does not work."""
    sys.stderr.write(f"told: {why} Until then, only words are searched.\n")


def embed_waiting(
    app: App, embedder: Embedder, seconds: float | None = None, report: Callable[[int], None] | None = None
) -> EmbedResult | None:
    """Embed turns without vectors; None if another told does so already."""
    from told.ingest.embed_job import embed_turns  # noqa: PLC0415 - mostly none is waiting

    lock = acquire_lock(app.home, EMBED_LOCK, patient=seconds is None)
    if lock is None:
        return None
    try:
        return embed_turns(app.connection, embedder, seconds=seconds, report=report)
    except (ToldError, apsw.ReadOnlyError, apsw.FullError, apsw.IOError):
        return None  # the next sweep retries
    finally:
        if lock:
            os.close(lock)
