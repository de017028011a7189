"""Read the words in the blocks of a full-text index, those of deleted text included.

FTS5 lists only words that a row contains; others may still be in its blocks. The format of a block is
described in SQLite's `fts5_index.c`: a header of four bytes, the words with their places, and behind them the
offsets of the words. Each word but the first leaves out the beginning that it shares with the one before.
"""

from __future__ import annotations

from collections.abc import Iterator

import apsw

_FIRST_BLOCK = 11  # smaller numbers are of the averages and the structure
_PAGE_BITS = 31
_NOT_A_LEAF = 0x3F  # the bits above the page: of inner pages and of lists of rows


def find_leftover_words(connection: apsw.Connection, index: str, vocabulary: str) -> set[str]:
    """Return the words in an index that no row contains."""
    live = {term for (term,) in connection.execute(f"SELECT term FROM {vocabulary}")}
    found: set[str] = set()
    for number, block in connection.execute(
        f"SELECT id, block FROM {index}_data WHERE id >= ?", (_FIRST_BLOCK,)
    ):
        if not number >> _PAGE_BITS & _NOT_A_LEAF:
            found.update(_read_words(block))
    return found - live


def _read_words(block: bytes) -> Iterator[str]:
    """Yield the words that begin in a block."""
    end = int.from_bytes(block[2:4], "big")
    footer, at, word = end, 0, b""
    while footer < len(block):
        step, footer = _read_number(block, footer)
        is_first = not at
        at += step
        shared, start = (0, at) if is_first else _read_number(block, at)
        size, start = _read_number(block, start)
        word = word[:shared] + block[start : start + size]
        yield word[1:].decode("utf-8", "replace")  # the first byte names the index


def _read_number(block: bytes, at: int) -> tuple[int, int]:
    """Return a number of variable length, and where it ends."""
    total = 0
    for place in range(at, len(block)):
        total = total << 7 | block[place] & 0x7F
        if block[place] < 0x80:
            return total, place + 1
    return total, len(block)
