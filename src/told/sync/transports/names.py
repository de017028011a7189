"""Check names and sizes: what else lies in a shared place is ignored."""

from __future__ import annotations

from collections.abc import Mapping

from told.errors import UsageError
from told.pattern import lazy_pattern

HEAD = "head"
MAX_HEAD = 1024 * 1024  # bytes; ten times what a head needs
MAX_FILE = 4 * 1024 * 1024
_SERIES = lazy_pattern(r"[a-z0-9]{8}")
_FILE = lazy_pattern(r"[0-9]{6}\.[a-z]{1,8}|[0-9a-f]{32}\.(list|session)")
# Letters that every file system, git and every shell take as they are.
_SPACE = lazy_pattern(r"[a-z0-9][a-z0-9-]{0,63}")


def is_series(name: str) -> bool:
    """Return whether a name is that of a series."""
    return _SERIES.fullmatch(name) is not None


def is_file(name: str) -> bool:
    """Return whether a name is that of a file of a series."""
    return _FILE.fullmatch(name) is not None


def check_space(space: str) -> str:
    """Return the name of a space.

    Raises:
        UsageError: it is not one.
    """
    if not _SPACE.fullmatch(space):
        raise UsageError(f'{space[:80]!a} is not the id of a space. Use lower-case letters, digits and "-".')
    return space


def check_write(series: str, files: Mapping[str, bytes | None], head: bytes) -> None:
    """Check what is about to be written.

    Raises:
        ValueError: a name or a size that readers would ignore.
    """
    if not is_series(series):
        raise ValueError(f"not the name of a series: {series[:80]!r}")
    if len(head) > MAX_HEAD:
        raise ValueError(f"a head of {len(head)} bytes is too large")
    for name, data in files.items():
        if not is_file(name):
            raise ValueError(f"not the name of a file: {name[:80]!r}")
        if data is not None and len(data) > MAX_FILE:
            raise ValueError(f"{name} is too large: {len(data)} bytes")
