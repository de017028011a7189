"""Writes a table of word pieces in the form that told reads. Needs nothing but Python."""

from __future__ import annotations

from told.search._meaning_file import (
    DIMENSIONS,
    HEAD,
    MAGIC,
    MOST_PLACES,
    NAME,
    SLOTS,
    WEIGHT,
    digest_of,
    place_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Row = tuple[str, int, bytes]  # a piece, its weight, and its numbers with 128 added


def packed(model: str, rows: Sequence[Row]) -> bytes:
    """Return the file with these rows.

    Args:
        model: The name of the table, without spaces.
        rows: The pieces, most frequent first: those are found soonest.
    """
    slots = [0] * SLOTS
    records = []
    for number, (piece, weight, values) in enumerate(rows):
        name = piece.encode()
        if len(name) > NAME or len(values) != DIMENSIONS:
            raise ValueError(f"The piece {piece!r} does not fit into a record.")
        first, mark = place_of(name)
        free = [place for step in range(MOST_PLACES) if not slots[place := (first + step) % SLOTS]]
        if not free:
            raise ValueError(f"There is no place for the piece {piece!r}.")
        place = free[0]
        slots[place] = mark << 16 | (number + 1)
        records.append(name.ljust(NAME, b"\0") + weight.to_bytes(WEIGHT, "little") + values)
    body = b"".join(slot.to_bytes(4, "little") for slot in slots) + b"".join(records)
    head = (
        f"{MAGIC} model={model} pieces={len(rows)} dimensions={DIMENSIONS} "
        f"slots={SLOTS} digest={digest_of(body)}"
    )
    return head.ljust(HEAD - 1).encode("ascii") + b"\n" + body
