"""Reads another program's file and puts a new one in its place in one step; refuses what is not safe."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat

from told.errors import BusyError, MissingError, UsageError
from told.record import record

LARGEST = 10_000_000
_BOM = b"\xef\xbb\xbf"
_CLOSE = getattr(os, "O_CLOEXEC", 0)


@record
class Found:
    """A file as it is now, or the place where it would be."""

    path: str  # as the agent names it
    real: str  # where it really is, links followed
    raw: bytes | None  # None: there is no such file
    mode: int = 0
    text: str = ""  # without the byte order mark

    @property
    def hash(self) -> str:
        """Return a short hash of the bytes; empty where there is no file."""
        return short_hash(self.raw)

    def bytes_of(self, text: str) -> bytes:
        """Return what the file holds when its text is this one."""
        mark = _BOM if self.raw and self.raw.startswith(_BOM) else b""
        return mark + text.encode("utf-8")


def short_hash(raw: bytes | None) -> str:
    """Return the first half of the SHA-256 of some bytes; empty for no file at all."""
    return "" if raw is None else hashlib.sha256(raw).hexdigest()[:32]


def find(path: str) -> Found:
    """Read a file.

    Raises:
        UsageError: it is something that told does not change.
        MissingError: it cannot be read.
    """
    real = _real(path)
    try:
        status = os.stat(real)
    except FileNotFoundError:
        return Found(path, real, None)
    except NotADirectoryError:
        raise UsageError(f"A folder on the way to {path} is a file. Move that file away first.") from None
    except OSError as error:
        raise _cannot("read", path, error) from None
    if stat.S_ISDIR(status.st_mode):
        raise UsageError(f"{path} is a folder where a file should be. Move it away first.")
    if not stat.S_ISREG(status.st_mode):
        raise UsageError(f"{path} is not a regular file. told leaves it alone.")
    if status.st_size > LARGEST:
        raise UsageError(f"{path} is larger than 10 MB. told does not change files of that size.")
    raw = _read(path, real)
    try:
        text = raw.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{path} is not UTF-8 at line {line}. Save it as UTF-8, then try again.") from None
    return Found(path, real, raw, stat.S_IMODE(status.st_mode), text)


def check_writable(found: Found) -> None:
    """Know that a file may be replaced, before anything is written.

    Raises:
        MissingError: the file or its folder is read-only.
    """
    folder = os.path.dirname(found.real)
    while not os.path.lexists(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    if found.raw is not None and not (found.mode & 0o222 and os.access(found.real, os.W_OK)):
        raise MissingError(f"{found.path} is read-only. Make it writable, then try again.")
    try:
        mode = os.stat(folder).st_mode
    except OSError as error:
        raise _cannot("write", found.path, error) from None
    if not stat.S_ISDIR(mode):
        raise UsageError(f"A folder on the way to {found.path} is a file. Move that file away first.")
    if not (mode & 0o222 and os.access(folder, os.W_OK | os.X_OK)):
        raise MissingError(f"The folder {folder} is read-only. Make it writable, then try again.")


def missing_folders(real: str) -> list[str]:
    """Return the folders that a file needs and that are not there, the outermost first."""
    missing: list[str] = []
    folder = os.path.dirname(real)
    while not os.path.lexists(folder) and os.path.dirname(folder) != folder:
        missing.insert(0, folder)
        folder = os.path.dirname(folder)
    return missing


def put(found: Found, raw: bytes, *, executable: bool = False) -> None:
    """Put new bytes in a file's place: at every moment it is the old file or the new one.

    Raises:
        BusyError: somebody else changed it meanwhile.
        MissingError: it cannot be written.
    """
    try:
        for folder in missing_folders(found.real):
            os.mkdir(folder)
        _put(found, raw, executable)
    except OSError as error:
        _discard(unfinished(found.real))
        raise _cannot("write", found.path, error) from None
    _sync_folder(os.path.dirname(found.real))


def delete(found: Found) -> None:
    """Remove a file.

    Raises:
        BusyError: somebody else changed it meanwhile.
        MissingError: it cannot be removed.
    """
    _check_unchanged(found)
    try:
        os.remove(found.real)
    except FileNotFoundError:
        return
    except OSError as error:
        raise _cannot("remove", found.path, error) from None
    _sync_folder(os.path.dirname(found.real))


def unfinished(real: str) -> str:
    """Return where a file is made ready; the same name each time, so that one a kill left there is found."""
    return os.path.join(os.path.dirname(real), f".{os.path.basename(real)}.told-new")


def clear_unfinished(real: str) -> None:
    """Remove what a killed told left beside a file."""
    _discard(unfinished(real))


def remove_folder(path: str) -> bool:
    """Remove a folder if it is empty; return whether it is away."""
    try:
        os.rmdir(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _real(path: str) -> str:
    try:
        real = os.path.realpath(path, strict=True)
    except FileNotFoundError:
        if os.path.islink(path):
            raise UsageError(
                f"{path} is a link to a file that is not there. Correct the link first."
            ) from None
        real = os.path.realpath(path)
    except NotADirectoryError:
        raise UsageError(f"A folder on the way to {path} is a file. Move that file away first.") from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UsageError(f"{path} is a link that leads back to itself. Correct the link first.") from None
        raise _cannot("read", path, error) from None
    return real


def _read(path: str, real: str) -> bytes:
    try:
        with open(real, "rb") as file:
            return file.read(LARGEST + 1)
    except OSError as error:
        raise _cannot("read", path, error) from None


def _put(found: Found, raw: bytes, executable: bool) -> None:
    temporary = unfinished(found.real)
    _discard(temporary)
    mode = found.mode if found.raw is not None else _new_mode(executable)
    # It may hold somebody's keys: nobody else reads it before it has the mode of the file it replaces.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _CLOSE | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(raw)
        file.flush()
        if found.raw is not None:
            _keep_owner(found.real, descriptor)
        if hasattr(os, "fchmod"):
            os.fchmod(descriptor, mode)
        os.fsync(descriptor)
    try:
        _check_unchanged(found)
    except BusyError:
        _discard(temporary)
        raise
    os.replace(temporary, found.real)


def _new_mode(executable: bool) -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return (0o777 if executable else 0o666) & ~mask


def _keep_owner(real: str, descriptor: int) -> None:
    status = os.stat(real)
    mine = os.fstat(descriptor)
    if (status.st_uid, status.st_gid) != (mine.st_uid, mine.st_gid) and hasattr(os, "fchown"):
        with contextlib.suppress(PermissionError):
            os.fchown(descriptor, status.st_uid, status.st_gid)


def _check_unchanged(found: Found) -> None:
    now = _read(found.path, found.real) if os.path.lexists(found.real) else None
    if now != found.raw:
        raise BusyError(f"{found.path} was changed by another program just now. Try again.")


def _discard(path: str) -> None:
    with contextlib.suppress(OSError):
        os.remove(path)


def _sync_folder(path: str) -> None:
    from told.journal.files import sync_folder

    sync_folder(path)


def _cannot(what: str, path: str, error: OSError) -> MissingError:
    why = (error.strerror or "error").lower()
    return MissingError(f"told cannot {what} {path} ({why}). Check its permissions, then try again.")
