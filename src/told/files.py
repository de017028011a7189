"""Read other programs' files safely and write private files atomically."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from told.errors import DiskFullError, MissingError, ToldError

# Larger documents are not conversations.
MAX_DOCUMENT = 64 * 1024 * 1024
# Suffix of a file that is still being written, after the ids of its process and thread.
UNFINISHED = ".new"
_WRITE_SECONDS = 2.0  # that a running process needs at most to finish a file
_ABANDONED_SECONDS = 3600.0  # after which a process with the same id is another one
_CLOSE_ON_EXEC = getattr(os, "O_CLOEXEC", 0)
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # opening a pipe must not wait for its other end
_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
_PROBE = 65_536  # bytes; SQLite needs 32 kB beside a database to open it


class NotReadableError(OSError):
    """A file cannot be read; the message says why."""


def open_regular(path: str, *, follow_links: bool = True) -> BinaryIO:
    """Open a regular file for reading; refuse pipes, devices and folders.

    Raises:
        NotReadableError: the file is missing, not regular or not readable.
    """
    flags = os.O_RDONLY | _NO_WAIT | _CLOSE_ON_EXEC | _BINARY
    if not follow_links:
        flags |= _NO_FOLLOW
    try:
        descriptor = _require_regular(os.open(path, flags))
    except NotReadableError:
        raise
    except (OSError, ValueError) as error:
        raise NotReadableError(describe_error(error)) from None
    return os.fdopen(descriptor, "rb")


def _require_regular(descriptor: int) -> int:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotReadableError("not a regular file")
    return descriptor


def read_document(path: str, limit: int = MAX_DOCUMENT, *, follow_links: bool = True) -> bytes:
    """Read a file of at most `limit` bytes.

    Raises:
        NotReadableError: the file cannot be read or is larger.
    """
    with open_regular(path, follow_links=follow_links) as file:
        try:
            content = file.read(limit + 1)
        except OSError as error:
            raise NotReadableError(describe_error(error)) from None
    if len(content) > limit:
        megabyte = 1024 * 1024
        size = f"{limit // megabyte} MB" if limit >= megabyte else f"{limit // 1000} kB"
        raise NotReadableError(f"larger than {size}")
    return content


def read_text(path: str, limit: int = -1, *, encoding: str = "utf-8", errors: str = "replace") -> str:
    """Read up to `limit` bytes of a file of told's as text.

    Raises:
        OSError: it is missing, not a regular file or not readable.
    """
    with open_regular(path) as file:
        return file.read(limit).decode(encoding, errors)


def describe_error(error: Exception) -> str:
    """Describe an error in lower case, without the path."""
    if isinstance(error, NotReadableError):
        return str(error)
    return (getattr(error, "strerror", None) or type(error).__name__).lower()


_ELSEWHERE = "Check it, or set TOLD_HOME to another folder."


def cannot_write(path: str, error: OSError, advice: str = _ELSEWHERE) -> ToldError:
    """Build the error for a file that cannot be written; the advice is for files of told's own."""
    if error.errno in _FULL:
        return DiskFullError(f"The disk is full: told cannot write to {path}. Free some space, then retry.")
    why = describe_error(error)
    if error.errno == errno.EFBIG:  # a limit of the shell's
        return DiskFullError(f"told cannot write to {path} ({why}). Raise the limit, then retry.")
    return MissingError(f"told cannot write to {path} ({why}). {advice}")


def check_writable(folder: str) -> ToldError | None:
    """Try to write a file in a folder; return the error, None if that works."""
    path = os.path.join(folder, "probe")
    try:
        make_folder(folder)
        with _temporary_file(path, sync=False) as (_, file):
            file.write(bytes(_PROBE))
            file.flush()
    except OSError as error:
        return cannot_write(folder, error)
    return None


def is_utf8(path: str) -> bool:
    """Tell whether a path is valid UTF-8, so that a database can store it."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def get_change_time(path: str) -> int:
    """Return when a file was last changed, in ms; 0 without one."""
    try:
        return os.stat(path).st_mtime_ns // 1_000_000
    except OSError:
        return 0


def is_folder(path: str) -> bool:
    """Return whether the path is a folder and not a link to one."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def make_folder(path: str, *, parents: bool = True) -> None:
    """Create a folder with mode 0700 and sync it to disk.

    Raises:
        OSError: it cannot be created, or is a file.
    """
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path)
    if parents and parent != path:
        make_folder(parent)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if os.path.isdir(path):
            return  # another process created it
        raise
    sync_folder(parent)


def open_private(path: str, flags: int, *, make_parent: bool = False) -> int:
    """Open or create a regular file with mode 0600, but no link; return its descriptor.

    `make_parent` creates the folder of the file, but no folder above it.
    """
    flags |= os.O_CREAT | _CLOSE_ON_EXEC | _NO_FOLLOW | _NO_WAIT | _BINARY
    try:
        return _require_regular(os.open(path, flags, 0o600))
    except FileNotFoundError:
        if not make_parent:
            raise
    make_folder(os.path.dirname(path), parents=False)
    return _require_regular(os.open(path, flags, 0o600))


def sync_folder(path: str) -> None:
    """Sync the names in a folder to disk, where the system can."""
    try:
        descriptor = os.open(path or ".", os.O_RDONLY | _CLOSE_ON_EXEC)
    except OSError:
        return  # folders cannot be opened here
    try:
        os.fsync(descriptor)
    except OSError:
        pass  # some file systems refuse; the data itself was synced
    finally:
        os.close(descriptor)


def write_private(path: str, data: bytes, *, sync: bool = True) -> None:
    """Replace a file atomically with mode 0600; `sync=False` suits caches."""
    with replace_private(path, sync=sync) as file:
        file.write(data)


@contextlib.contextmanager
def replace_private(path: str, *, sync: bool = True) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces `path` when the block ends."""
    with _temporary_file(path, sync=sync) as (temporary, file):
        yield file
        _close(file, sync=sync)
        os.replace(temporary, path)


def create_private(path: str, data: bytes) -> None:
    """Create a file atomically with mode 0600.

    Raises:
        FileExistsError: the name is taken; that file is not changed.
        OSError: it cannot be written.
    """
    with _temporary_file(path, sync=True) as (temporary, file):
        file.write(data)
        _close(file, sync=True)
        try:
            os.link(temporary, path)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links: reserve the name first
            os.close(open_private(path, os.O_WRONLY | os.O_EXCL))
            os.replace(temporary, path)


def read_table(path: str, fields: int, limit: int = -1) -> list[list[str]]:
    """Read tab-separated rows that have `fields` fields; [] if missing.

    `limit` is the number of bytes to read.
    """
    try:
        lines = read_text(path, limit).split("\n")
    except OSError:
        return []
    rows = (line.split("\t") for line in lines)
    return [row for row in rows if len(row) == fields]


def write_table(path: str, lines: Iterable[str]) -> None:
    """Replace a table that is only a cache; ignore errors."""
    with contextlib.suppress(OSError, UnicodeError):
        write_private(path, "".join(f"{line}\n" for line in lines).encode(), sync=False)


def append_lines(path: str, lines: str, keep: int, trim_at: int) -> None:
    """Append lines to a log, and cut it to its last `keep` lines beyond `trim_at` bytes.

    Raises:
        OSError: It cannot be written.
    """
    descriptor = open_private(path, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(descriptor, lines.encode("utf-8", "replace"))
        size = os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)
    if size > trim_at:
        with open_regular(path) as file:
            recent = file.read().splitlines(keepends=True)[-keep:]
        write_private(path, b"".join(recent), sync=False)


def read_last_lines(path: str, keep: int) -> list[str]:
    """Return the last `keep` lines of a log, oldest first; [] if it is missing."""
    try:
        return read_text(path).splitlines()[-keep:]
    except OSError:
        return []


def is_timestamp(field: str) -> bool:
    """Return whether a field of a table is a time in milliseconds."""
    return field.isascii() and field.isdigit() and len(field) < 20


def find_unfinished(folder: str, *, subfolders: bool = True) -> Iterator[str]:
    """Yield the files below a folder that killed processes did not finish."""
    return (path for path, process in _list_unfinished(folder, subfolders) if not _may_finish(path, process))


def remove_unfinished(folder: str, *, subfolders: bool = True, at_once: bool = False) -> None:
    """Remove the files below a folder that killed processes did not finish.

    With `at_once` no such file is left: running processes get two seconds to finish theirs.
    """
    deadline = time.monotonic() + _WRITE_SECONDS
    for path, process in _list_unfinished(folder, subfolders):
        while at_once and os.path.exists(path) and _is_running(process) and time.monotonic() < deadline:
            time.sleep(0.01)
        if at_once or not _may_finish(path, process):
            with contextlib.suppress(FileNotFoundError):
                os.remove(path)


def _list_unfinished(folder: str, subfolders: bool) -> Iterator[tuple[str, int]]:
    """Yield path and process of each temporary file; the process is 0 in names of older versions."""
    for parent, folders, names in os.walk(folder):
        if not subfolders:
            folders.clear()
        for name in names:
            if name.endswith(UNFINISHED):
                writer = name.removesuffix(UNFINISHED).rpartition(".")[2]
                process, dash, thread = writer.partition("-")
                if process.isdecimal() and (thread.isdecimal() or not dash):
                    yield os.path.join(parent, name), int(process) if dash else 0


def _may_finish(path: str, process: int) -> bool:
    if process and os.name != "nt" and not _is_running(process):
        return False
    try:
        return time.time() - os.lstat(path).st_mtime < _ABANDONED_SECONDS
    except OSError:
        return True  # it is gone


def _is_running(process: int) -> bool:
    """Tell whether a process exists; unknown on Windows, where asking would end it."""
    if not process or os.name == "nt":
        return False
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True  # of another user
    return True


@contextlib.contextmanager
def _temporary_file(path: str, *, sync: bool) -> Iterator[tuple[str, BinaryIO]]:
    """Create a temporary file next to `path`; remove it if it is still there."""
    import threading  # noqa: PLC0415 - many processes only read

    temporary = f"{path}.{os.getpid()}-{threading.get_native_id()}{UNFINISHED}"
    descriptor = open_private(temporary, os.O_WRONLY | os.O_TRUNC)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield temporary, file
    finally:
        if os.path.lexists(temporary):
            os.remove(temporary)
    if sync:
        sync_folder(os.path.dirname(path))


def _close(file: BinaryIO, *, sync: bool) -> None:
    file.flush()
    if sync:
        os.fsync(file.fileno())
    file.close()  # Windows cannot rename an open file
