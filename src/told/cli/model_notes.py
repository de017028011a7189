"""What `told health` says of a model of the user's: why it cannot be used, and what has no vectors yet."""

from __future__ import annotations

from told.cli.output import count
from told.cli.understanding import embedder_of
from told.errors import ToldError
from told.store.vectors import TurnVectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.cli.context import Context


def model_notes(context: Context) -> list[str]:
    """Return what is to be said; nothing where the user chose none. No model is loaded, and none is asked."""
    notes = []
    if context.settings.model:
        try:
            embedder = embedder_of(context)
        except ToldError as error:
            notes.append(f"The setting `model` cannot be followed, and words alone are searched: {error}")
        else:
            notes += _missing(context, embedder.model) if embedder else []
    if context.settings.reranker:
        from told.search.reranker import Reranker

        try:
            Reranker(context.settings.reranker)
        except ToldError as error:
            notes.append(f"The setting `reranker` cannot be followed: {error}")
    return notes


def _missing(context: Context, model: str) -> list[str]:
    done, every = TurnVectors(context.connection, model).counts()
    if done >= every:
        return []
    without = count(every - done, "turn")
    return [f"{without} of {every:,} without vectors of {model}: `told re-embed --only-missing` makes them."]
