"""Vectors from a model in a folder of the user's, on this machine."""

from __future__ import annotations

from told.errors import MissingError
from told.search._model_folder import CLS, Loaded, about, identity, stamp_of
from told.search._vector_bytes import signed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Stamp = tuple[tuple[str, int, int], ...]

_kept: dict[str, tuple[Stamp, Local]] = {}
_LONGEST_TOKEN = 20  # characters; what is behind the last token that fits need not be read


def local(path: str) -> Local:
    """Return the model in a folder. A process that lives on loads it once, as long as its files are the same.

    Raises:
        MissingError: it is not a folder with a model.
    """
    stamp = stamp_of(path)
    if path not in _kept or _kept[path][0] != stamp:
        _kept.clear()  # of a large one there is only room for one
        _kept[path] = stamp, Local(path)
    return _kept[path][1]


class Local:
    """A model that runs here. It is loaded when the first text comes."""

    is_quick = False

    def __init__(self, path: str) -> None:
        """Look at the folder.

        Raises:
            MissingError: it is not a folder with a model.
        """
        self._folder = about(path)
        self.model = identity(self._folder)
        self.floor = float(self._folder.floor)
        self._loaded: Loaded | None = None

    def vectors(self, texts: Sequence[str], *, asking: bool = False) -> list[bytes | None]:
        """Return the vectors of texts, in order; None for an empty one."""
        prefix = self._folder.query_prefix if asking else self._folder.text_prefix
        return [self._vector(prefix, text) if text.strip() else None for text in texts]

    def _vector(self, prefix: str, text: str) -> bytes | None:
        model = self._loaded = self._loaded or Loaded(self._folder)
        whole = f"{prefix}{text[: self._folder.max_len * _LONGEST_TOKEN]}"
        found, count = model.run(model.encode(whole))
        if found.ndim == 3:
            found = found[:, 0] if self._folder.pool == CLS else found[:, :count].mean(axis=1)
        if found.ndim != 2 or len(found) != 1:
            raise MissingError(
                f"The model in {self._folder.path} gives no vector for a text, but {found.ndim} dimensions."
                " Take one that is made for embeddings."
            )
        return signed(found[0].tolist())
