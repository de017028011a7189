"""What a text is about, as a vector of 256 small numbers: texts about the same have vectors near each other.

A vector is the weighted mean of the rows of the text's word pieces, from a table that comes with told. All
of it is done with whole numbers, so a text has the same vector in every process and on every machine.
"""

from __future__ import annotations

import os
import sys

from told.search._meaning_arithmetic import LENGTH, dots, sums, unit
from told.search._meaning_file import DIMENSIONS, opened
from told.search._meaning_pieces import pieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from told.search._meaning_file import Table

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "meaning.bin")
_MANY_TEXTS, _SOME_TEXTS = 1000, 50  # from here on, loading numpy pays; and using it, if it is there
_MANY_VECTORS = 20_000

_tables: dict[str, Table | None] = {}


def model_id() -> str | None:
    """Return the name of the table with the beginning of its hash; None if there is no table."""
    table = _table()
    return f"{table.model}:{table.digest[:12]}" if table else None


def vector(text: str, *, asking: bool = False) -> bytes | None:
    """Return the vector of a text: 256 signed bytes, of the same length for all texts.

    None if the table cannot be read, or knows no word of the text.

    Args:
        text: What was said.
        asking: It is a prompt or a question, which is to be compared with what was said.
    """
    table = _table()
    if table is None:
        return None
    return unit(sums(map(table.weighted, _rows(table, text, asking)), DIMENSIONS))


def vectors(texts: Sequence[str], *, asking: bool = False) -> list[bytes | None]:
    """Return the vectors of many texts, in order. Faster with numpy, and the same without."""
    table = _table()
    if table is None:
        return [None] * len(texts)
    if len(texts) < (_SOME_TEXTS if "numpy" in sys.modules else _MANY_TEXTS) or not _has_numpy():
        return [vector(text, asking=asking) for text in texts]
    from told.search._meaning_bulk import Rows

    return Rows(table).units([_rows(table, text, asking) for text in texts])


def similarity(one: bytes, other: bytes) -> float:
    """Return how near two vectors are: about 1 for the same, 0 for nothing in common."""
    return similarities(one, [other])[0]


def similarities(one: bytes, others: Sequence[bytes]) -> list[float]:
    """Return how near each of many vectors is to one. Faster with numpy, and the same without.

    Raises:
        ValueError: If the vectors do not all have the same number of dimensions.
    """
    if len(others) >= _MANY_VECTORS and _has_numpy():
        from told.search._meaning_bulk import dots as products_of
    else:
        products_of = dots
    return [product / (LENGTH * LENGTH) for product in products_of(one, others)]


def is_whole() -> bool:
    """Tell whether the table is there and is what its head says. Reads all of it: about 10 ms."""
    table = _table()
    return table is not None and table.is_whole()


def _rows(table: Table, text: str, asking: bool) -> list[int]:
    rows = pieces(text, table.row_of, table.seen)
    return [table.asked(row) for row in rows] if asking else rows


def _has_numpy() -> bool:
    from importlib.util import find_spec

    return find_spec("numpy") is not None


def _table() -> Table | None:
    """Open the table once."""
    if PATH not in _tables:
        _tables[PATH] = opened(PATH)
    return _tables[PATH]
