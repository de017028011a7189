"""Detect changed agent files, without loading any reader."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from told.hashing import blake2s
from told.store.sessions.source_states import SourceStates

_RECENT_FILES = 100  # more than anyone works on in a day
_MAX_FOLDERS = 1024
QUIET_MS = 86_400_000  # a session that was quiet for so long is archived


class Changes(NamedTuple):
    """What changed since the last sweep."""

    files: tuple[str, ...] = ()  # paths of known sources
    agents: tuple[str, ...] = ()  # agents with a changed folder
    moved: bool = False  # the environment points agents to other folders

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed."""
        return not (self.files or self.agents or self.moved)


def scan(
    states: SourceStates, environ: Mapping[str, str], chosen: str, *, everything: bool = False
) -> Changes:
    """Compare folders and recent files, or all, with their known states."""
    is_first = everything and not states.last_sweep()[0]
    if is_first or not is_same_environment(states.surroundings(), environ, chosen):
        return Changes(moved=True)
    files = states.files(-1 if everything else _RECENT_FILES)
    folders = states.folders(-1 if everything else _MAX_FOLDERS)
    return Changes(
        tuple(path for path, size, changed in files if _has_changed(path, size, changed)),
        tuple(sorted({agent for path, agent, changed in folders if _change_time(path) != changed})),
    )


def pending_since(states: SourceStates) -> int:
    """Return when the oldest change happened that is not imported, in ms; 0 if there is none."""
    folders = ((path, changed) for path, _, changed in states.folders(_MAX_FOLDERS))
    return oldest_change(states.files(_RECENT_FILES), folders)


def oldest_change(files: Iterable[tuple[str, int, int]], folders: Iterable[tuple[str, int]] = ()) -> int:
    """Return the oldest time at which one of these changed since it was read, in ms; 0 if none did.

    Files that were never read do not count: nobody knows how long told has seen them.
    """
    times = [
        _change_time(path) for path, size, changed in files if changed and _has_changed(path, size, changed)
    ]
    times += [time for path, changed in folders if (time := _change_time(path)) != changed]
    return min((time // 1_000_000 for time in times if time), default=0)


def has_checkpoints(home: str) -> bool:
    """Return whether told may keep checkpoint files, at home or in projects."""
    return os.path.isdir(os.path.join(home, "checkpoints")) or os.path.exists(os.path.join(home, "registry"))


def _has_changed(path: str, size: int, changed: int) -> bool:
    try:
        found = os.stat(path)
        if (found.st_size, found.st_mtime_ns) == (size, changed):  # also a database with a new, unread log
            return False
    except (OSError, ValueError):
        pass
    return file_state(path) != (size, changed)


def file_state(path: str) -> tuple[int, int] | None:
    """Return size and change time of a file, for databases with their log."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    size, changed = found.st_size, found.st_mtime_ns
    if path.endswith(("db", "sqlite")):
        try:
            log = os.stat(path + "-wal")
        except OSError:
            return size, changed
        return size + log.st_size, max(changed, log.st_mtime_ns)
    return size, changed


def _change_time(path: str) -> int:
    """Return when a file or folder changed; 0 if it is gone."""
    try:
        return os.stat(path).st_mtime_ns
    except (OSError, ValueError):
        return 0


def hash_environment(environ: Mapping[str, str], names: Iterable[str], chosen: str) -> str:
    """Hash the variables and settings that decide where agents keep their files."""
    lines = [f"{name}={_hash(environ.get(name, ''))}" for name in sorted(names)]
    return "\n".join([_hash(chosen), *lines])


def is_same_environment(hashed: str, environ: Mapping[str, str], chosen: str) -> bool:
    """Return whether variables and settings still have the hashed values."""
    first, *lines = hashed.split("\n")
    if not lines or first != _hash(chosen):
        return False
    pairs = (line.partition("=") for line in lines)
    return all(_hash(environ.get(name, "")) == value for name, _, value in pairs)


def _hash(value: str) -> str:
    # Variables may contain secrets: only their hash is stored.
    return blake2s(value.encode("utf-8", "replace"), digest_size=8).hexdigest() if value else ""
