"""Embed texts with the table of word pieces that comes with told.

A vector is the weighted mean of the rows of a text's word pieces, in whole numbers: a text has the same
vector in every process and on every machine.

The file is a header, slots that find a piece by its hash, and a record for each piece. The header is text:
`told meaning 1`, then `name=value` words, padded to 256 bytes. A slot has four bytes: a record's number + 1,
and 16 bits of the piece's hash. A record has the piece (UTF-8, padded with NUL), its weight, and its row,
each number with 128 added. Many pieces have a second record with a `?` prefix, for use in questions.
"""

from __future__ import annotations

import mmap
import os
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any
from unicodedata import category, normalize

from told.hashing import blake2s
from told.search.vectors.arithmetic import (
    normalize_vector,
    spread_lanes,
    sum_rows,
)
from told.store.memories.records import Embedding
from told.words import split_identifier

MAGIC = "told meaning 1"
QUESTION_PREFIX = "?"
HEADER_BYTES = 256
NAME_BYTES = 24
WEIGHT_BYTES = 2
SLOTS = 65521  # a prime, about twice the number of pieces
DIMENSIONS = 256
RECORD_BYTES = NAME_BYTES + WEIGHT_BYTES + DIMENSIONS
MAX_PROBES = 512  # slots read for a piece
MAX_WEIGHT = 0x7FFF  # 512 rows with such a weight fit into the lanes of the arithmetic
MAX_CHARACTERS = 8192  # later text hardly moves the mean
MAX_PIECES = 512
TABLE_PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "meaning.bin")

_RECORDS_START = HEADER_BYTES + 4 * SLOTS
_MIXER, _MERSENNE = 0x9E3779B97F4A7C15, 2**61 - 1  # spread similar words over the slots
_MAX_CACHED_ROWS = 4096  # 1 KB each
_MAX_CACHED_WORDS = 20_000
_MAX_WORD = 64  # a longer one is a key, a hash or noise
_MAX_PIECE = 24
_SPACED = {code: " " for code in range(128) if not chr(code).isalnum()}
# Characters that are words by themselves: Chinese and Japanese.
_IDEOGRAPHS = ((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0xF900, 0xFAFF), (0x20000, 0x2FA1F), (0x3040, 0x30FF))


_MANY_LOOKUPS = 50_000  # more than a command needs


class Table:
    """An open table; reads records on demand."""

    def __init__(self, memory: Any, model: str, digest: str, count: int) -> None:
        self._memory = memory
        self.model = model
        self.digest = digest
        self.count = count
        self.seen: dict[str, list[int]] = {}  # rows of the pieces of words
        self._lookups = 0
        self._rows: dict[str, int] | None = None  # of all pieces, after many lookups
        self._weighted: dict[int, tuple[int, int]] = {}
        self._in_questions: dict[int, int] = {}
        self._slots = memoryview(memory)[HEADER_BYTES : HEADER_BYTES + 4 * SLOTS].cast("I")

    def find_row(self, piece: str) -> int:
        """Return the number of a piece's record, or -1."""
        if self._rows is None:
            self._lookups += 1
            if self._lookups < _MANY_LOOKUPS:
                return self._find_row(piece.encode("utf-8", "replace"))
            self._rows = self.list_rows()
        return self._rows.get(piece, -1)

    def list_rows(self) -> dict[str, int]:
        """Return the rows of all pieces; worth it for a whole history."""
        starts = range(_RECORDS_START, _RECORDS_START + RECORD_BYTES * self.count, RECORD_BYTES)
        names = (self._memory[at : at + NAME_BYTES].rstrip(b"\0").decode() for at in starts)
        return {name: row for row, name in enumerate(names)}

    def find_question_row(self, row: int) -> int:
        """Return the record that replaces another in questions, mostly itself."""
        found = self._in_questions.get(row)
        if found is None:
            if len(self._in_questions) >= _MAX_CACHED_ROWS:
                self._in_questions.clear()
            at = _RECORDS_START + RECORD_BYTES * row
            own = self._find_row(QUESTION_PREFIX.encode() + self._memory[at : at + NAME_BYTES].rstrip(b"\0"))
            found = self._in_questions[row] = own if own >= 0 else row
        return found

    def _find_row(self, name: bytes) -> int:
        place, mark = hash_piece(name)
        for _ in range(MAX_PROBES):
            slot = self._slots[place]
            if not slot:
                break
            if slot >> 16 == mark:
                at = _RECORDS_START + RECORD_BYTES * ((slot & 0xFFFF) - 1)
                if self._memory[at : at + NAME_BYTES].rstrip(b"\0") == name:
                    return (slot & 0xFFFF) - 1
            place = (place + 1) % SLOTS
        return -1

    def read_row(self, row: int) -> tuple[int, int]:
        """Return a piece's weight, and its row as one number with lanes."""
        found = self._weighted.get(row)
        if found is None:
            if len(self._weighted) >= _MAX_CACHED_ROWS:
                self._weighted.clear()
            at = _RECORDS_START + RECORD_BYTES * row + NAME_BYTES
            weight = int.from_bytes(self._memory[at : at + WEIGHT_BYTES], "little") & MAX_WEIGHT
            values = self._memory[at + WEIGHT_BYTES : at + WEIGHT_BYTES + DIMENSIONS]
            found = self._weighted[row] = weight, spread_lanes(values)
        return found

    def find_rows(self, text: str, *, asking: bool) -> list[int]:
        """Return the rows of a text's pieces."""
        rows = find_pieces(text, self.find_row, self.seen)
        return [self.find_question_row(row) for row in rows] if asking else rows

    def is_intact(self) -> bool:
        """Tell whether the file matches its digest; reads all of it."""
        return compute_digest(self._memory[HEADER_BYTES:]) == self.digest


def open_table(path: str) -> Table | None:
    """Open a table; None if it is missing or invalid."""
    if sys.byteorder != "little":  # slots are read as native numbers
        return None
    try:
        with open(path, "rb") as file:
            memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):
        return None
    header = parse_header(memory[:HEADER_BYTES])
    count = header.get("pieces", "")
    if not count.isdecimal() or len(memory) != _RECORDS_START + RECORD_BYTES * int(count):
        return None
    if header.get("dimensions") != str(DIMENSIONS) or header.get("slots") != str(SLOTS):
        return None
    return Table(memory, header.get("model", ""), header.get("digest", ""), int(count))


def parse_header(data: bytes) -> dict[str, str]:
    """Return the fields of a table's header; empty if it is none."""
    text = data.decode("ascii", "replace")
    if not text.startswith(MAGIC + " "):
        return {}
    return {name: value for name, _, value in (word.partition("=") for word in text.split())}


def hash_piece(name: bytes) -> tuple[int, int]:
    """Return the first slot of a piece and the mark in it."""
    rest, place = divmod(int.from_bytes(name, "little") * _MIXER % _MERSENNE, SLOTS)
    return place, rest % 65519


def compute_digest(data: bytes) -> str:
    """Return the hash of everything after the header."""
    return blake2s(data, digest_size=16).hexdigest()


def find_pieces(
    text: str, find_row: Callable[[str], int], seen: dict[str, list[int]] | None = None
) -> list[int]:
    """Return the rows of a text's word pieces in order, the first 512.

    `find_row` returns the row of a piece, or -1. A continued word's piece starts with `##`.
    """
    found: list[int] = []
    if seen is None:
        seen = {}
    elif len(seen) >= _MAX_CACHED_WORDS:
        seen.clear()
    for word in split_table_words(text[:MAX_CHARACTERS]):
        rows = seen.get(word)
        if rows is None:
            rows = seen[word] = _find_word_rows(word, find_row)
        found += rows
        if len(found) >= MAX_PIECES:
            return found[:MAX_PIECES]
    return found


def split_table_words(text: str) -> list[str]:
    """Return the words of a text without signs and accents."""
    return (text if text.isascii() else _strip_accents(text)).translate(_SPACED).split()


def _strip_accents(text: str) -> str:
    """Remove accents; replace everything but letters and digits by spaces."""
    chars = []
    for char in normalize("NFD", text):
        if char.isascii():
            chars.append(char)
        elif any(low <= ord(char) <= high for low, high in _IDEOGRAPHS):
            chars.append(f" {char} ")
        elif char.isalnum():
            chars.append(char)
        elif category(char) not in ("Mn", "Cf"):
            chars.append(" ")
    return "".join(chars)


def _find_word_rows(word: str, find_row: Callable[[str], int]) -> list[int]:
    """Return the rows of a word, of its identifier parts, or of its pieces."""
    if len(word) > _MAX_WORD:
        return []
    lower = word.lower()
    row = find_row(lower)
    if row >= 0:
        return [row]
    if not (word.islower() or word.isupper() or word[1:].islower()):
        parts = split_identifier(word)
        if len(parts) > 1:
            return [row for part in parts for row in _find_word_rows(part.lower(), find_row)]
    return _cut_word(lower, find_row)


def _cut_word(word: str, find_row: Callable[[str], int]) -> list[int]:
    """Cut a word into the longest known pieces, up to an unknown part."""
    found: list[int] = []
    start = 0
    while start < len(word):
        end = min(len(word), start + _MAX_PIECE)
        prefix = "##" if start else ""
        while end > start:
            row = find_row(prefix + word[start:end])
            if row >= 0:
                break
            end -= 1
        else:
            return found
        found.append(row)
        start = end
    return found


@cache
def _load_table(path: str) -> Table | None:
    return open_table(path)


def table_model_id() -> str | None:
    """Return the table's name and short hash; None if there is no table."""
    table = _load_table(TABLE_PATH)
    return f"{table.model}:{table.digest[:12]}" if table else None


def is_intact() -> bool:
    """Tell whether the table is there and undamaged; takes about 10 ms."""
    table = _load_table(TABLE_PATH)
    return table is not None and table.is_intact()


def embed(text: str) -> Embedding:
    """Embed a text; empty if there is no table or no known word."""
    found = make_vector(text)
    return Embedding(table_model_id() or "", found) if found else Embedding()


def make_vector(text: str, *, asking: bool = False) -> bytes | None:
    """Return the vector of a text; None if no word is known."""
    table = _load_table(TABLE_PATH)
    if table is None:
        return None
    rows = table.find_rows(text, asking=asking)
    counted = ((count, *table.read_row(row)) for row, count in Counter(rows).items())
    weighted = ((count * weight, values) for count, weight, values in counted)
    return normalize_vector(sum_rows(weighted, DIMENSIONS))
