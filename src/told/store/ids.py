"""The ids that users see: short, the same on every machine, with a letter that says what they are."""

from __future__ import annotations

from _blake2 import blake2s

# Notes are kept as turns before the first: the title at TITLE, checkpoint number k at NOTE - k.
TITLE = -1
NOTE = -2
_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"


def project_token(project_id: int) -> str:
    """Return the word that stands for a project in the full-text index; nobody says it."""
    return f"toldproject{project_id}"


def public_id(letter: str, *parts: str, length: int = 7) -> str:
    """Return an id made of a letter and a hash of what it stands for."""
    number = int.from_bytes(blake2s("\0".join(parts).encode(), digest_size=10).digest(), "big")
    return letter + "".join(_LETTERS[(number >> (5 * place)) & 31] for place in range(length))
