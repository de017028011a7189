"""Redact names, ids and paths; most are too simple to contain a secret."""

from __future__ import annotations

import re
from collections.abc import Callable

from told.hashing import blake2s
from told.text import clean

_NOT_IN_NAMES = frozenset("@=<>%?&;`\"'\n")
_HEX = frozenset("0123456789abcdefABCDEF")
_DIGITS = frozenset("0123456789")
_TOKEN_PREFIXES = 2  # words before the random part of a token: sk_live_…
_SHORT = 12  # every token has more letters and digits in a row


def is_plain_name(name: str) -> bool:
    """Return whether a name or path is too simple to contain a secret; cheap."""
    if not _NOT_IN_NAMES.isdisjoint(name):
        return False
    words = re.split(r"[\W_]+", name)
    return all(len(word) < _SHORT or _DIGITS.isdisjoint(word) or _HEX.issuperset(word) for word in words)


def redact_path(path: str, redact: Callable[[str], str]) -> str:
    """Redact a path or the name of a project."""
    if is_plain_name(path):
        return path
    redacted = redact(path)
    return path if redacted == clean(path) else redacted


def redact_dashed_path(path: str, redact: Callable[[str], str]) -> str:
    """Redact a path in which an agent wrote `-` for other characters."""
    parts = path.replace("\\", "/").replace("/", "-").split("-")
    for at, part in enumerate(parts):
        for begin in range(max(0, at - _TOKEN_PREFIXES), at) if not is_plain_name(part) else ():
            token = "_".join(parts[begin : at + 1])
            if redact(token) != token:
                path = path.replace("-".join(parts[begin : at + 1]), "[secret]")
    return path


def has_secret(path: str, redact: Callable[[str], str]) -> bool:
    """Return whether a path contains a secret."""
    return redact_path(path, redact) != path


def redact_id(name: str, redact: Callable[[str], str], key: Callable[[], bytes]) -> str:
    """Return an agent's id, or a keyed hash of it if it contains a secret."""
    if not has_secret(name, redact):
        return name
    return f"hidden-{blake2s(name.encode('utf-8', 'replace'), key=key(), digest_size=12).hexdigest()}"
