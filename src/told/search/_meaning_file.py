"""The file with a table of word pieces: a head, slots to find a piece by its hash, and a record for each.

The head is text: `told meaning 1`, then `name=value` words, filled with spaces to 256 bytes. A slot has four
bytes: a record's number + 1, and 16 bits of the piece's hash that tell most others apart. A record has the
piece (UTF-8, filled with NUL), its weight, and its row, each number with 128 added. Many pieces have a second
record, with a `?` before them, for where somebody asks with them.
"""

from __future__ import annotations

import os
import sys

from told.search._meaning_arithmetic import spread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAGIC = "told meaning 1"
ASKED = "?"
HEAD = 256  # bytes
NAME = 24  # bytes of a record for the piece
WEIGHT = 2
SLOTS = 65521  # a prime, about twice the number of pieces
DIMENSIONS = 256
RECORD = NAME + WEIGHT + DIMENSIONS
MOST_PLACES = 512  # to look at for a piece, at most
HEAVIEST = 0x7FFF  # 512 rows with such a weight fit into the lanes of the arithmetic
_ROWS = HEAD + 4 * SLOTS  # where the records begin
_MIXER, _MERSENNE = 0x9E3779B97F4A7C15, 2**61 - 1  # without them, words that look alike stand together
_MOST_KEPT = 4096  # rows; each takes 1 KB


class Table:
    """An open table. It reads what it needs, when it is needed."""

    def __init__(self, memory: Any, model: str, digest: str, count: int) -> None:
        self._memory = memory
        self.model = model
        self.digest = digest
        self.count = count
        self.seen: dict[str, list[int]] = {}  # words with the rows of their pieces
        self._kept: dict[int, tuple[int, int]] = {}
        self._asked: dict[int, int] = {}
        self._slots = memoryview(memory)[HEAD : HEAD + 4 * SLOTS].cast("I")

    def row_of(self, piece: str) -> int:
        """Return the number of a piece's record, or -1."""
        return self._row_of(piece.encode("utf-8", "replace"))

    def asked(self, row: int) -> int:
        """Return the number of the record that stands for another one where somebody asks: mostly itself."""
        found = self._asked.get(row)
        if found is None:
            if len(self._asked) >= _MOST_KEPT:
                self._asked.clear()
            at = _ROWS + RECORD * row
            own = self._row_of(ASKED.encode() + self._memory[at : at + NAME].rstrip(b"\0"))
            found = self._asked[row] = own if own >= 0 else row
        return found

    def _row_of(self, name: bytes) -> int:
        place, mark = place_of(name)
        for _ in range(MOST_PLACES):
            slot = self._slots[place]
            if not slot:
                break
            if slot >> 16 == mark:
                at = _ROWS + RECORD * ((slot & 0xFFFF) - 1)
                if self._memory[at : at + NAME].rstrip(b"\0") == name:
                    return (slot & 0xFFFF) - 1
            place = (place + 1) % SLOTS
        return -1

    def weighted(self, row: int) -> tuple[int, int]:
        """Return how much a piece counts, and its row as one number, spread over lanes."""
        found = self._kept.get(row)
        if found is None:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            at = _ROWS + RECORD * row + NAME
            weight = int.from_bytes(self._memory[at : at + WEIGHT], "little") & HEAVIEST
            found = self._kept[row] = weight, spread(self._memory[at + WEIGHT : at + WEIGHT + DIMENSIONS])
        return found

    def records(self) -> memoryview:
        """Return all records, one after the other."""
        return memoryview(self._memory)[_ROWS:]

    def is_whole(self) -> bool:
        """Tell whether the file is what its head says. Reads all of it."""
        return digest_of(self._memory[HEAD:]) == self.digest


def opened(path: str) -> Table | None:
    """Open a table; None if there is none, or if it is not one."""
    if sys.byteorder != "little":  # the slots are read as this machine's own numbers
        return None
    try:
        import mmap

        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        try:
            memory = mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
        finally:
            os.close(descriptor)
    except (OSError, ValueError, ImportError):
        return None
    about = head_of(memory[:HEAD])
    count = about.get("pieces", "")
    if not count.isdecimal() or len(memory) != _ROWS + RECORD * int(count):
        return None
    if about.get("dimensions") != str(DIMENSIONS) or about.get("slots") != str(SLOTS):
        return None
    return Table(memory, about.get("model", ""), about.get("digest", ""), int(count))


def head_of(data: bytes) -> dict[str, str]:
    """Return what a head says, nothing if it is not the head of a table."""
    text = data.decode("ascii", "replace")
    if not text.startswith(MAGIC + " "):
        return {}
    return {name: value for name, _, value in (word.partition("=") for word in text.split())}


def place_of(name: bytes) -> tuple[int, int]:
    """Return where to look for a piece first, and the mark that its slot has."""
    rest, place = divmod(int.from_bytes(name, "little") * _MIXER % _MERSENNE, SLOTS)
    return place, rest % 65519


def digest_of(data: bytes) -> str:
    """Return the hash of all that follows the head."""
    from _blake2 import blake2s

    return blake2s(data, digest_size=16).hexdigest()
