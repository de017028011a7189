"""Looks whether anything changed since the last sweep, without loading a reader: every query does this."""

from __future__ import annotations

import os
from _blake2 import blake2s

from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from told.store.watch import Watch

# More than anyone works on in a day; each costs about a microsecond to look at.
_RECENT = 100
_FOLDERS = 1024
# A session that has been quiet for a day is kept in the archive.
QUIET_MS = 86_400_000


@record
class Look:
    """What a look found changed."""

    files: tuple[str, ...] = ()  # paths of known sources
    agents: tuple[str, ...] = ()  # agents with a folder that changed
    moved: bool = False  # the environment says that agents keep their files elsewhere

    @property
    def nothing(self) -> bool:
        """Whether all is as it was."""
        return not (self.files or self.agents or self.moved)


def look(watch: Watch, environ: Mapping[str, str], chosen: str, *, everything: bool = False) -> Look:
    """Compare folders and recently active files (or all of them) with what is known."""
    is_first = everything and not watch.last_sweep()[0]
    if is_first or not same_surroundings(watch.surroundings(), environ, chosen):
        return Look(moved=True)
    files = _changed_files(watch.files(-1 if everything else _RECENT))
    agents = {
        agent for path, agent, changed in watch.folders(-1 if everything else _FOLDERS)
        if _changed(path) != changed
    }  # fmt: skip
    return Look(tuple(files), tuple(sorted(agents)))


def has_checkpoints(home: str) -> bool:
    """Tell whether there may be checkpoints that told keeps as files: in its home, or in projects' own."""
    return os.path.isdir(os.path.join(home, "checkpoints")) or os.path.exists(os.path.join(home, "registry"))


def _changed_files(known: list[tuple[str, int, int]]) -> list[str]:
    """Return the files that are no longer as they were; thousands are looked at, so it is one plain loop."""
    changed_files = []
    for path, size, changed in known:
        try:
            found = os.stat(path)
            if found.st_size == size and found.st_mtime_ns == changed:
                continue
        except (OSError, ValueError):
            pass
        if state_of(path) != (size, changed):  # a database counts with its log
            changed_files.append(path)
    return changed_files


def state_of(path: str) -> tuple[int, int] | None:
    """Return the (size, time of change) of a file, a database's with its log; None if it is gone."""
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


def _changed(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except (OSError, ValueError):
        return 0


def surroundings(environ: Mapping[str, str], names: Iterable[str], chosen: str) -> str:
    """Write down the part of the environment and settings that decides where agents keep their files."""
    lines = [f"{name}={_hashed(environ.get(name, ''))}" for name in sorted(names)]
    return "\n".join([_hashed(chosen), *lines])


def same_surroundings(noted: str, environ: Mapping[str, str], chosen: str) -> bool:
    """Whether agents would be looked for in the same places as when that was written down."""
    first, *lines = noted.split("\n")
    if not lines or first != _hashed(chosen):
        return False
    pairs = (line.partition("=") for line in lines)
    return all(_hashed(environ.get(name, "")) == value for name, _, value in pairs)


def _hashed(value: str) -> str:
    """Return what tells whether a value is the same, without the value: anything may stand in a variable."""
    return blake2s(value.encode("utf-8", "replace"), digest_size=8).hexdigest() if value else ""
