"""The ids that users see: short, the same on every machine, with a letter that says what they are."""

from __future__ import annotations

from _blake2 import blake2s

# Notes are kept as turns before the first: the title at TITLE, checkpoint number k at NOTE - k.
TITLE = -1
NOTE = -2
_PROJECT = "toldproject"
_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"
_CHECKPOINT = 9  # letters of a checkpoint's id
# The numbers of agents' own checkpoints are below; those of told's own say which id they have.
OWN = 1 << 5 * _CHECKPOINT


def project_token(project_id: int) -> str:
    """Return the word that stands for a project in the full-text index; nobody says it."""
    return f"{_PROJECT}{project_id}"


def project_of_token(token: str) -> int:
    """Return the project that a word stands for; 0 for none."""
    return int(token.removeprefix(_PROJECT) or 0)


def public_id(letter: str, *parts: str, length: int = 7) -> str:
    """Return an id made of a letter and a hash of what it stands for."""
    number = int.from_bytes(blake2s("\0".join(parts).encode(), digest_size=10).digest(), "big")
    return letter + "".join(_LETTERS[(number >> (5 * place)) & 31] for place in range(length))


def is_checkpoint_id(text: str) -> bool:
    """Tell whether a text looks like the id of a checkpoint."""
    return len(text) == _CHECKPOINT + 1 and text[0] == "c" and all(letter in _LETTERS for letter in text[1:])


def checkpoint_number(public: str) -> int:
    """Return the number of a checkpoint that told keeps as a file, made of its id."""
    return OWN + sum(_LETTERS.index(letter) << 5 * place for place, letter in enumerate(public[1:]))


def checkpoint_id(agent: str, native: str, number: int) -> str:
    """Return the id of a session's checkpoint by its number, whoever keeps it."""
    if number < OWN:
        return public_id("c", agent, native, str(number), length=_CHECKPOINT)
    return "c" + "".join(_LETTERS[(number >> 5 * place) & 31] for place in range(_CHECKPOINT))
