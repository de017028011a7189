"""The journal's folders and files: private, locked by one writer at a time, and really on disk."""

from __future__ import annotations

import os
import time

from told.errors import BusyError, MissingError
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from told.journal.registry import Place

try:
    import fcntl
except ImportError:  # no such locks: a second writer at the same moment is found by verify
    fcntl = None  # type: ignore[assignment]

WAIT_MS = 5000
SEGMENT = ".jsonl"
TORN = ".torn"
UNFINISHED = ".new"
REGISTRY = "registry"  # in told's home: the projects that keep their own journal
_CLOSE = getattr(os, "O_CLOEXEC", 0)
_DIGITS = 6


@record
class Series:
    """The operations of one machine in one place."""

    folder: str
    machine: str
    place: Place | None = None  # None: told's home

    @property
    def name(self) -> str:
        """What tells it apart from every other, also from a copy of the same in another folder."""
        return f"{self.machine}@{self.place.root}" if self.place else self.machine

    def segments(self) -> list[str]:
        """Return the names of its segments, in order."""
        if self.place is None:
            return segments(self.folder)
        from told.journal.registry import fit_to_read

        return fit_to_read(self.folder, segments(self.folder))


def journal_folder(home: str) -> str:
    """Return where all journals are, but those that projects keep themselves."""
    return os.path.join(home, "journal")


def every_series(folder: str) -> list[Series]:
    """Return all series, from the folder of journals in told's home: its own, then those of projects."""
    found = [Series(os.path.join(folder, name), name) for name in machines(folder)]
    home = os.path.dirname(folder)
    if has_places(home):
        from told.journal.registry import series_of_places

        found += series_of_places(home)
    return found


def rename_place(home: str, old: str, new: str) -> None:
    """Let a project that keeps its own journal go on to do so under another scope."""
    if has_places(home):
        from told.journal.places import rename

        rename(home, old, new)


def has_places(home: str) -> bool:
    """Tell whether any project keeps its own journal."""
    try:
        return os.stat(os.path.join(home, REGISTRY)).st_size > 0
    except OSError:
        return False


def machines(folder: str) -> list[str]:
    """Return the machines that have a journal here, in order."""
    try:
        return sorted(name for name in os.listdir(folder) if os.path.isdir(os.path.join(folder, name)))
    except OSError:
        return []


def segments(folder: str, ending: str = SEGMENT) -> list[str]:
    """Return the names of the segments in a machine's folder, in order."""
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return sorted(name for name in names if name.endswith(ending) and is_segment(name))


def is_segment(name: str) -> bool:
    """Tell whether a name is of a segment, and not what some program is still writing."""
    return len(name.partition(".")[0]) == _DIGITS and name[:_DIGITS].isdecimal() and name.count(".") == 1


def next_segment(name: str) -> str:
    """Return the name after a segment's; the first when there is none."""
    return f"{int(name[:_DIGITS] or 0) + 1:0{_DIGITS}}{SEGMENT}"


def make_folder(path: str) -> None:
    """Make a folder that only the user may look into, and its parents; know that they are on disk."""
    if os.path.isdir(path):
        return
    above = os.path.dirname(path)
    make_folder(above)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        return  # another told was quicker
    sync_folder(above)


def open_private(path: str, flags: int) -> int:
    """Open a file that only the user may read."""
    return os.open(path, flags | os.O_CREAT | _CLOSE | getattr(os, "O_NOFOLLOW", 0), 0o600)


def sync_folder(path: str) -> None:
    """Know that the names in a folder are on disk."""
    try:
        descriptor = os.open(path, os.O_RDONLY | _CLOSE)
    except OSError:
        return  # folders cannot be opened here
    try:
        os.fsync(descriptor)
    except OSError:
        pass  # some file systems refuse; the data itself was synced
    finally:
        os.close(descriptor)


def write_whole(path: str, content: bytes) -> None:
    """Replace a file in one step: it is the old one or the new one, never between."""
    temporary = f"{path}.{os.getpid()}{UNFINISHED}"
    descriptor = open_private(temporary, os.O_WRONLY | os.O_TRUNC)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        os.replace(temporary, path)
    except OSError:
        if os.path.exists(temporary):
            os.remove(temporary)
        raise
    sync_folder(os.path.dirname(path))


def cannot_write(path: str, error: OSError) -> MissingError:
    """Return the error for a journal that cannot be written."""
    why = (error.strerror or "error").lower()
    return MissingError(f"told cannot write to {path} ({why}). Free some space, or check its permissions.")


class SeriesLock:
    """One writer at a time in a machine's folder; a killed one leaves no lock behind."""

    def __init__(self, folder: str, wait_ms: int = WAIT_MS) -> None:
        self._path = os.path.join(folder, "lock")
        self._wait_ms = wait_ms
        self._descriptor = -1

    def __enter__(self) -> None:
        """Wait for the lock.

        Raises:
            BusyError: another told kept it for too long.
        """
        self._descriptor = open_private(self._path, os.O_RDWR)
        if fcntl is None:
            return
        until = time.monotonic() + self._wait_ms / 1000
        while True:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() < until:
                    time.sleep(0.001)
                    continue
                os.close(self._descriptor)
                raise BusyError from None
            except OSError:
                os.close(self._descriptor)
                raise
            return

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let the next one in."""
        os.close(self._descriptor)
