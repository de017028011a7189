"""Read and replace other programs' files atomically; refuse unsafe ones."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from dataclasses import dataclass

from told.errors import BusyError, MissingError, UsageError
from told.files import sync_folder

LARGEST = 10_000_000
_BOM = b"\xef\xbb\xbf"
_CLOSE = getattr(os, "O_CLOEXEC", 0)


@dataclass(frozen=True, slots=True)
class ForeignFile:
    """Another program's file, or where it would be."""

    path: str  # as the agent names it
    real: str  # with links resolved
    raw: bytes | None  # None: it does not exist
    mode: int = 0
    text: str = ""  # without the byte order mark

    @property
    def hash(self) -> str:
        """Return a short hash of the bytes; empty without a file."""
        return short_hash(self.raw)

    def bytes_of(self, text: str) -> bytes:
        """Return the file's bytes for a text."""
        mark = _BOM if self.raw and self.raw.startswith(_BOM) else b""
        return mark + text.encode("utf-8")


def short_hash(raw: bytes | None) -> str:
    """Return half of the SHA-256 of some bytes; empty without a file."""
    return "" if raw is None else hashlib.sha256(raw).hexdigest()[:32]


def read_foreign(path: str) -> ForeignFile:
    """Read a file."""
    real = _real(path)
    try:
        status = os.stat(real)
    except FileNotFoundError:
        return ForeignFile(path, real, None)
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
    return ForeignFile(path, real, raw, stat.S_IMODE(status.st_mode), text)


def check_writable(file: ForeignFile) -> None:
    """Check that a file may be replaced."""
    folder = os.path.dirname(file.real)
    while not os.path.lexists(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    if file.raw is not None and not (file.mode & 0o222 and os.access(file.real, os.W_OK)):
        raise MissingError(f"{file.path} is read-only. Make it writable, then try again.")
    try:
        mode = os.stat(folder).st_mode
    except OSError as error:
        raise _cannot("write", file.path, error) from None
    if not stat.S_ISDIR(mode):
        raise UsageError(f"A folder on the way to {file.path} is a file. Move that file away first.")
    if not (mode & 0o222 and os.access(folder, os.W_OK | os.X_OK)):
        raise MissingError(f"The folder {folder} is read-only. Make it writable, then try again.")


def missing_folders(real: str) -> list[str]:
    """Return the missing parent folders of a file, outermost first."""
    missing: list[str] = []
    folder = os.path.dirname(real)
    while not os.path.lexists(folder) and os.path.dirname(folder) != folder:
        missing.insert(0, folder)
        folder = os.path.dirname(folder)
    return missing


def write_foreign(file: ForeignFile, raw: bytes, *, executable: bool = False) -> None:
    """Replace a file atomically."""
    try:
        for folder in missing_folders(file.real):
            os.mkdir(folder)
        _put(file, raw, executable)
    except OSError as error:
        _discard(temporary_path(file.real))
        raise _cannot("write", file.path, error) from None
    sync_folder(os.path.dirname(file.real))


def delete_foreign(file: ForeignFile) -> None:
    """Remove a file."""
    _check_unchanged(file)
    try:
        os.remove(file.real)
    except FileNotFoundError:
        return
    except OSError as error:
        raise _cannot("remove", file.path, error) from None
    sync_folder(os.path.dirname(file.real))


def temporary_path(real: str) -> str:
    """Return the path of the temporary file; always the same for a file."""
    return os.path.join(os.path.dirname(real), f".{os.path.basename(real)}.told-new")


def remove_temporary(real: str) -> None:
    """Remove what a killed told left beside a file."""
    _discard(temporary_path(real))


def remove_empty_folder(path: str) -> bool:
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
        with open(real, "rb") as opened:
            return opened.read(LARGEST + 1)
    except OSError as error:
        raise _cannot("read", path, error) from None


def _put(file: ForeignFile, raw: bytes, executable: bool) -> None:
    temporary = temporary_path(file.real)
    _discard(temporary)
    mode = file.mode if file.raw is not None else _new_mode(executable)
    # It may contain keys: private until it has the mode of the file it replaces.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _CLOSE | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o600)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(raw)
        opened.flush()
        if file.raw is not None:
            status = os.stat(file.real)
            mine = os.fstat(descriptor)
            if (status.st_uid, status.st_gid) != (mine.st_uid, mine.st_gid) and hasattr(os, "fchown"):
                with contextlib.suppress(PermissionError):
                    os.fchown(descriptor, status.st_uid, status.st_gid)
        if hasattr(os, "fchmod"):
            os.fchmod(descriptor, mode)
        os.fsync(descriptor)
    try:
        _check_unchanged(file)
    except BusyError:
        _discard(temporary)
        raise
    os.replace(temporary, file.real)


def _new_mode(executable: bool) -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return (0o777 if executable else 0o666) & ~mask


def _check_unchanged(file: ForeignFile) -> None:
    now = _read(file.path, file.real) if os.path.lexists(file.real) else None
    if now != file.raw:
        raise BusyError(f"{file.path} was changed by another program just now. Try again.")


def _discard(path: str) -> None:
    with contextlib.suppress(OSError):
        os.remove(path)


def _cannot(what: str, path: str, error: OSError) -> MissingError:
    why = (error.strerror or "error").lower()
    return MissingError(f"told cannot {what} {path} ({why}). Check its permissions, then try again.")
