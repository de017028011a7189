"""What config files say, kept in a small file, so that a hook need not read TOML at every prompt.

It is only a cache, and read only if nobody but the user could have written it. Each entry holds as long as
its config file is the same: the same file, of the same size and time.
"""

from __future__ import annotations

import os

from told import __version__
from told.errors import UsageError
from told.snapshot import digest_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from told.settings import OwnRule

NAME = "settings"
_HEAD = f"told settings 1 {__version__} ".encode()
_DIGEST = 8  # bytes
_LARGEST = 1_000_000
_MOST = 100  # config files
_OTHERS_MAY_WRITE = 0o022


def of_user(
    home: str, path: str, state: os.stat_result, check: Callable[[OwnRule], None] | None
) -> tuple[Mapping[str, Any], str]:
    """Return what the user's config sets, by field of the settings, and what is wrong with it.

    Raises:
        MissingError: it cannot be read.
    """
    entry = entry_of(home, path, state)
    if entry is None or (check is not None and not entry[2]):
        entry = _read(home, path, check)
    return entry[0], entry[1]


def entry_of(home: str, path: str, state: os.stat_result) -> Any:
    """Return what is kept of a config file; None if that is nothing, or the file has changed."""
    kept = _all(home).get(path)
    return kept[1] if kept is not None and kept[0] == stamp_of(state) else None


def stamp_of(state: os.stat_result) -> tuple[int, ...]:
    """Return what tells a file from what it was before."""
    return state.st_mtime_ns, state.st_ctime_ns, state.st_size, state.st_ino


def keep(home: str, path: str, stamp: tuple[int, ...], entry: Any) -> None:
    """Keep what a config file says; where that cannot be written, it is read again."""
    import marshal

    others = {name: one for name, one in _all(home).items() if name != path}
    for name in list(others)[: max(0, len(others) - _MOST + 1)]:
        del others[name]
    content = marshal.dumps({**others, path: (stamp, entry)})
    target = os.path.join(home, NAME)
    temporary = f"{target}.{os.getpid()}"
    flags = os.O_CREAT | os.O_WRONLY | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(temporary, flags, 0o600)
        try:
            os.write(descriptor, _HEAD + digest_of(content) + content)
        finally:
            os.close(descriptor)
        os.replace(temporary, target)
    except OSError:
        return


def _all(home: str) -> dict[str, Any]:
    flags = (
        os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    )
    try:
        descriptor = os.open(os.path.join(home, NAME), flags)
    except OSError:
        return {}
    try:
        state = os.fstat(descriptor)
        mine = not hasattr(os, "geteuid") or state.st_uid == os.geteuid()
        if not mine or state.st_mode & _OTHERS_MAY_WRITE:
            return {}
        content = os.read(descriptor, _LARGEST)
    except OSError:
        return {}
    finally:
        os.close(descriptor)
    start = len(_HEAD) + _DIGEST
    if not content.startswith(_HEAD) or digest_of(content[start:]) != content[start - _DIGEST : start]:
        return {}
    import marshal

    found: dict[str, Any] = marshal.loads(content[start:])  # noqa: S302 - checked, and nobody else could write it
    return found


def _read(home: str, path: str, check: Callable[[OwnRule], None] | None) -> tuple[dict[str, Any], str, bool]:
    """Read TOML; return the fields, what is wrong, and whether the user's own rules were looked at."""
    from told.settings import OwnRule
    from told.settings.reading import content_of, fields_of, parsed, values_of

    content, state = content_of(path)
    entry: tuple[dict[str, Any], str, bool]
    try:
        fields = fields_of(values_of(parsed(content, path), path))
        rules = fields["redaction"][2] if "redaction" in fields else ()
        if check is not None:
            for rule in rules:
                check(OwnRule(*rule))
        entry = fields, "", check is not None or not rules
    except UsageError as error:
        why = str(error)
        entry = {}, why if path in why else f"{why} It stands in {path}.", True
    keep(home, path, stamp_of(state), entry)
    return entry
