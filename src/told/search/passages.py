"""Which texts of a turn get a vector: what was asked as a whole and in pieces, and what was answered.

A long text is about many things, and its one vector about none of them; so its sentences have their own.
"""

from __future__ import annotations

import re

from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ASKED, _ANSWERED = 1500, 600  # characters that the vector of a whole is made of
_ASKED_READ, _ANSWERED_READ = 3000, 2000  # characters whose sentences count
_FEWEST, _MOST = 10, 45  # words of a passage
_PASSAGES = 6  # of each side
_END = re.compile(r"(?<=[.!?])\s+|\n+")


@record
class Passages:
    """The texts of a turn: of each side the whole first, then its pieces if it has several."""

    asked: tuple[str, ...]
    answered: tuple[str, ...]


def passages(asked: str, answered: str) -> Passages:
    """Take the two sides of a turn apart."""
    return Passages(_side(asked, _ASKED, _ASKED_READ), _side(answered, _ANSWERED, _ANSWERED_READ))


def packed(vectors: Sequence[bytes | None], asked: int) -> bytes:
    """Put the vectors of a turn's passages one behind the other, after how many there are of each side."""
    own = [one for one in vectors[:asked] if one]
    others = [one for one in vectors[asked:] if one]
    return bytes([len(own), len(others)]) + b"".join(own + others) if own or others else b""


def unpacked(blob: bytes) -> tuple[list[bytes], list[bytes]]:
    """Return the vectors of what was asked, and those of what was answered."""
    if not blob:
        return [], []
    own, others = blob[:2]
    size = (len(blob) - 2) // (own + others)
    found = [blob[at : at + size] for at in range(2, len(blob), size)]
    return found[:own], found[own:]


def _side(text: str, whole: int, read: int) -> tuple[str, ...]:
    text = text.strip()
    if not text:
        return ()
    parts = list(_parts(text[:read]))
    return (text[:whole], *parts[:_PASSAGES]) if len(parts) > 1 else (text[:whole],)


def _parts(text: str) -> Iterator[str]:
    """Yield whole sentences, short ones together, long ones cut."""
    kept: list[str] = []
    for sentence in _END.split(text):
        words = sentence.split()
        if kept and (len(kept) >= _FEWEST or len(kept) + len(words) > _MOST):
            yield " ".join(kept)
            kept = []
        kept += words
        while len(kept) > _MOST:
            yield " ".join(kept[:_MOST])
            kept = kept[_MOST:]
    if kept:
        yield " ".join(kept)
