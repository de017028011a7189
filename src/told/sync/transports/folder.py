"""Carry series in a folder that other machines see: a network drive, Syncthing, Dropbox."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections.abc import Iterator, Mapping, Sequence

from told.errors import BusyError, DiskFullError, MissingError, ToldError
from told.files import describe_error, sync_folder
from told.sync.transports.names import HEAD, MAX_FILE, MAX_HEAD, check_space, check_write, is_file, is_series

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_TOP = "told-sync"
# Dropbox leaves out names that start with "~" and end with ".tmp".
_TEMPORARY = ("~told-", ".tmp")
_LOCK = "~told-lock.tmp"
_ABANDONED_SECONDS = 3600.0  # after which nobody is still writing a temporary file
_LOCK_SECONDS = 10.0
_REPLACE_SECONDS = 2.0  # in which a program that reads a file closes it
_PRIVATE = 0o700
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_READ = os.O_RDONLY | _NO_LINK | getattr(os, "O_NONBLOCK", 0)  # opening a pipe must not wait
_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
_REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG)


class FolderTransport:
    """Keep each series in `<path>/told-sync/<space>/<series>`.

    The mode of `path` decides who may read: a folder of a group stays one of the group.
    """

    def __init__(self, path: str, space: str, *, known: bool = False) -> None:
        """Name the place; nothing is read or created yet.

        Args:
            path: The shared folder.
            space: The id of what is shared.
            known: Series were there before: if all are gone, the drive is away.
        """
        self._path = path
        self._above = os.path.join(path, _TOP)
        self._folder = os.path.join(self._above, check_space(space))
        self._known = known

    def heads(self) -> dict[str, bytes]:
        """Return the head of each series, by its name."""
        found = {}
        with self._errors("read"):
            for name in self._list():
                try:
                    head = _read(os.path.join(self._folder, name, HEAD), MAX_HEAD)
                except PermissionError:
                    continue  # one colleague's files must not stop the others'
                if head is not None:
                    found[name] = head
        return found

    def read(self, series: str, names: Sequence[str]) -> dict[str, bytes]:
        """Return some files of a series; those that are not there are left out."""
        found = {}
        with self._errors("read"):
            folder = os.path.join(self._folder, series)
            if not is_series(series) or not self._is_reachable() or not _is_folder(folder):
                return {}
            for name in filter(is_file, names):
                data = _read(os.path.join(folder, name), MAX_FILE)
                if data is not None:
                    found[name] = data
        return found

    def write(
        self, series: str, files: Mapping[str, bytes | None], head: bytes, *, before: bytes | None
    ) -> bool:
        """Write and delete (None) files of a series, then its head; False if that changed.

        All content is on disk before the first name changes, and the head changes last.
        """
        check_write(series, files, head)
        with self._errors("write to"):
            folder = os.path.join(self._folder, series)
            if self._read_head(folder) != before:
                return False
            mode = self._make_folders(folder)
            with _locked(folder, mode):
                return self._read_head(folder) == before and _replace_all(folder, files, head, before, mode)

    def close(self) -> None:
        """Do nothing: no connection is kept."""

    def _list(self) -> list[str]:
        if not self._is_reachable():
            return []
        with os.scandir(self._folder) as entries:
            named = [entry for entry in entries if is_series(entry.name)]
            return sorted(entry.name for entry in named if entry.is_dir(follow_symlinks=False))

    def _is_reachable(self) -> bool:
        """Return whether the folder of the space exists; a link to one does not count.

        Raises:
            BusyError: the drive is away.
        """
        if _is_folder(self._above) and _is_folder(self._folder):
            return True
        try:
            is_there = stat.S_ISDIR(os.stat(self._path).st_mode)
        except FileNotFoundError:
            if self._known or not os.path.isdir(os.path.dirname(os.path.abspath(self._path))):
                why = f"The folder {self._path} is not there. Connect its drive, then retry."
                raise BusyError(why) from None
            return False
        if not is_there:
            raise MissingError(f"{self._path} is not a folder. Name another one.")
        if self._known:
            raise BusyError(
                f"{self._folder} is gone. Connect its drive, or wait until it has synced. If you deleted it,"
                f" run `told sync remove folder {self._path}`, then add it again."
            )
        return False

    def _read_head(self, folder: str) -> bytes | None:
        if not self._is_reachable() or not _is_folder(folder):
            return None
        return _read(os.path.join(folder, HEAD), MAX_HEAD)

    def _make_folders(self, folder: str) -> int:
        """Create what is missing, but no folder above the shared one; return its mode."""
        if not os.path.isdir(self._path):
            with contextlib.suppress(FileExistsError):  # another writer was faster
                os.mkdir(self._path, _PRIVATE)
        mode = stat.S_IMODE(os.stat(self._path).st_mode)
        for path in (self._above, self._folder, folder):
            if _is_folder(path):
                continue
            try:
                os.mkdir(path, _PRIVATE)
            except FileExistsError:
                if not _is_folder(path):
                    raise MissingError(f"{path} is not a folder. Remove it, then retry.") from None
            else:
                _set_mode(path, mode)
                sync_folder(os.path.dirname(path))
        return mode

    @contextlib.contextmanager
    def _errors(self, do: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self._describe(do, error) from None

    def _describe(self, do: str, error: OSError) -> ToldError:
        why = describe_error(error)
        if error.errno in _FULL:
            return DiskFullError(f"The disk of {self._path} is full. Free some space, then retry.")
        if error.errno in _REFUSED:
            return MissingError(f"told cannot {do} {self._path} ({why}). Check its permissions.")
        return BusyError(f"told cannot {do} {self._path} ({why}). Check its drive, then retry.")


def _replace_all(
    folder: str, files: Mapping[str, bytes | None], head: bytes, before: bytes | None, mode: int
) -> bool:
    """Stage everything, then rename; False if the head changed meanwhile."""
    _remove_abandoned(folder)
    staged: dict[str, str] = {}
    try:
        for name, data in files.items():
            if data is not None:
                staged[name] = _stage(folder, data, mode)
        staged[HEAD] = _stage(folder, head, mode)
        # Some drives do not lock: look again after what took long.
        if _read(os.path.join(folder, HEAD), MAX_HEAD) != before:
            return False
        for name in files:
            if name in staged:
                _replace(staged.pop(name), os.path.join(folder, name))
            else:
                with contextlib.suppress(FileNotFoundError):
                    os.remove(os.path.join(folder, name))
        if files:
            sync_folder(folder)
        _replace(staged.pop(HEAD), os.path.join(folder, HEAD))
        sync_folder(folder)
    finally:
        for path in staged.values():
            with contextlib.suppress(OSError):
                os.remove(path)
    return True


def _is_folder(path: str) -> bool:
    """Return whether the path is a folder and not a link to one; raise if the drive does not say."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def _read(path: str, limit: int) -> bytes | None:
    """Read a regular file; None if it is missing, a link, something else or too large."""
    try:
        descriptor = os.open(path, _READ)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        # ELOOP: a link; EMLINK: one on FreeBSD; ENXIO: a socket or a pipe.
        if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENXIO) or os.path.isdir(path):
            return None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(limit + 1)
    return data if len(data) <= limit else None


def _stage(folder: str, data: bytes, mode: int) -> str:
    """Write a temporary file to disk; return its path."""
    path = os.path.join(folder, os.urandom(8).hex().join(_TEMPORARY))
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, 0o600), "wb") as file:
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        except OSError:
            with contextlib.suppress(OSError):
                os.remove(path)
            raise
    _set_mode(path, mode & 0o666)
    return path


def _replace(source: str, target: str) -> None:
    """Rename over a file; wait for a program that has it open where that matters."""
    deadline = time.monotonic() + _REPLACE_SECONDS
    while True:
        try:
            os.replace(source, target)
        except (PermissionError, FileExistsError):
            if time.monotonic() > deadline:
                raise BusyError(
                    f"told cannot replace {target}. Close what has it open, then retry."
                ) from None
            time.sleep(0.05)
        else:
            return


def _remove_abandoned(folder: str) -> None:
    """Remove temporary files of killed writers; the lock is held."""
    start, end = _TEMPORARY
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(start) and entry.name.endswith(end) and entry.name != _LOCK:
                with contextlib.suppress(OSError):
                    # A drive's clock may be far off in both directions.
                    if abs(time.time() - entry.stat(follow_symlinks=False).st_mtime) > _ABANDONED_SECONDS:
                        os.remove(entry.path)


def _set_mode(path: str, mode: int) -> None:
    """Let others read what they may read in the shared folder."""
    if mode & 0o077:
        with contextlib.suppress(OSError):  # a file system without permissions
            os.chmod(path, mode)


@contextlib.contextmanager
def _locked(folder: str, mode: int) -> Iterator[None]:
    """Lock a series where the drive can; a killed writer releases it."""
    if fcntl is None:
        yield
        return
    path = os.path.join(folder, _LOCK)
    is_new = not os.path.lexists(path)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o600)
    try:
        if is_new:
            _set_mode(path, mode & 0o666)
        deadline = time.monotonic() + _LOCK_SECONDS
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise BusyError(f"Another program is writing to {folder}. Retry in a moment.") from None
                time.sleep(0.005)
                continue
            except OSError:
                pass  # this drive has no locks; the head is compared again before it is replaced
            break
        yield
    finally:
        os.close(descriptor)
