"""Paths and ids that others gave, as they may be stored: without a secret, and still each its own."""

from __future__ import annotations

from told.guard.text import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_ODD = frozenset("@=<>%?&;`\"'\n")
_HEX = frozenset("0123456789abcdefABCDEF")
_DIGITS = frozenset("0123456789")
_PREFIXES = 2  # words that a token may begin with: sk_live_…
_SHORT = 12  # letters and digits; every token has more of them in a row


def is_plain(name: str) -> bool:
    """Tell whether the words of a name or a path are too simple for a secret; this is cheap."""
    if not _ODD.isdisjoint(name):
        return False
    words = "".join([sign if sign.isalnum() else " " for sign in name]).split()
    return all(len(word) < _SHORT or _DIGITS.isdisjoint(word) or _HEX.issuperset(word) for word in words)


def plain_path(path: str, redact: Callable[[str], str]) -> str:
    """Return a path, or the name of a project, with a placeholder for each secret in it."""
    if is_plain(path):
        return path
    redacted = redact(path)
    return path if redacted == clean(path) else redacted


def spelled(path: str, redact: Callable[[str], str]) -> str:
    """Return a path without secrets that are spelled with `-` for other signs, as agents name folders."""
    parts = path.replace("\\", "/").replace("/", "-").split("-")
    for at, part in enumerate(parts):
        for begin in range(max(0, at - _PREFIXES), at) if not is_plain(part) else ():
            told = "_".join(parts[begin : at + 1])
            if redact(told) != told:
                path = path.replace("-".join(parts[begin : at + 1]), "[secret]")
    return path


def tells(path: str, redact: Callable[[str], str]) -> bool:
    """Tell whether there is a secret in a path that has to be kept as it is."""
    return plain_path(path, redact) != path


def plain_id(name: str, redact: Callable[[str], str], key: Callable[[], bytes]) -> str:
    """Return an agent's own id, or a keyed hash of it if it holds a secret: no other id has the same.

    Args:
        name: The id.
        redact: Takes secrets out of text.
        key: Returns told's own secret; asked only where there is something to hide.
    """
    if plain_path(name, redact) == name:
        return name
    from _blake2 import blake2s

    return f"hidden-{blake2s(name.encode('utf-8', 'replace'), key=key(), digest_size=12).hexdigest()}"
