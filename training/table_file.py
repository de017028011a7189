"""Write a table of word pieces in the format told reads."""

from __future__ import annotations

from collections.abc import Sequence

from told.search.vectors.table import (
    DIMENSIONS,
    HEADER_BYTES,
    MAGIC,
    MAX_PROBES,
    NAME_BYTES,
    SLOTS,
    WEIGHT_BYTES,
    compute_digest,
    hash_piece,
)

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
        if len(name) > NAME_BYTES or len(values) != DIMENSIONS:
            raise ValueError(f"The piece {piece!r} does not fit into a record.")
        first, mark = hash_piece(name)
        free = [place for step in range(MAX_PROBES) if not slots[place := (first + step) % SLOTS]]
        if not free:
            raise ValueError(f"There is no place for the piece {piece!r}.")
        place = free[0]
        slots[place] = mark << 16 | (number + 1)
        records.append(name.ljust(NAME_BYTES, b"\0") + weight.to_bytes(WEIGHT_BYTES, "little") + values)
    body = b"".join(slot.to_bytes(4, "little") for slot in slots) + b"".join(records)
    head = (
        f"{MAGIC} model={model} pieces={len(rows)} dimensions={DIMENSIONS} "
        f"slots={SLOTS} digest={compute_digest(body)}"
    )
    return head.ljust(HEADER_BYTES - 1).encode("ascii") + b"\n" + body
