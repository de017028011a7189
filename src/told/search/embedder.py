"""What turns texts into vectors: the table that comes with told, or what the user chose instead.

All vectors are signed bytes of a common length, so whoever compares them need not know where they come from;
those of different models cannot be compared, so the model's name stands with each.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Protocol

    class Embedder(Protocol):
        """Turns texts into vectors."""

        @property
        def model(self) -> str:
            """Its name and the beginning of the hash of its files; it stands with every vector."""

        @property
        def is_quick(self) -> bool:
            """Whether a text costs so little that it can be asked wherever one comes in."""

        @property
        def floor(self) -> float:
            """How near a text must be to a question to answer it although they share no word."""

        def vectors(self, texts: Sequence[str], *, asking: bool = False) -> list[bytes | None]:
            """Return the vectors of texts, in order; None for a text that says nothing to the model.

            Args:
                texts: Without secrets.
                asking: The texts are questions; some models want to be told.

            Raises:
                BusyError: it does not answer now.
                MissingError: something that it needs is not there.
            """


class Table:
    """The table that comes with told."""

    is_quick = True
    floor = 0.3

    def __init__(self, model: str) -> None:
        self.model = model

    def vectors(self, texts: Sequence[str], *, asking: bool = False) -> list[bytes | None]:
        """Return the vectors of texts, in order; None for one without a word that the table knows."""
        from told.search import meaning

        return meaning.vectors(texts, asking=asking)


def default() -> Embedder | None:
    """Return the table that comes with told; None if it cannot be read."""
    from told.search.meaning import model_id

    model = model_id()
    return Table(model) if model else None


def chosen(
    setting: str, environ: Mapping[str, str] | None = None, redact: Callable[[str], str] | None = None
) -> Embedder | None:
    """Return what the user chose to turn texts into vectors; None if nothing should, or can.

    Args:
        setting: The value of `model`: empty for the table, `off`, a folder, or an address.
        environ: The variables that told runs with; one of them may hold the key for an address.
        redact: Takes secrets out of what is sent to an address.

    Raises:
        MissingError: something that it needs is not there; the sentence says what.
        UsageError: the setting is not understood.
    """
    if not setting:
        return default()
    from told.settings.models import OFF, endpoint_of, is_address

    if setting == OFF:
        return None
    if is_address(setting):
        from told.search._embedder_endpoint import Remote

        return Remote(endpoint_of(setting), environ or {}, redact)
    from told.search._embedder_folder import local

    return local(setting)
