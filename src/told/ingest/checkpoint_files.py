"""The Markdown files of checkpoints: what they are called, and how they are written and changed."""

from __future__ import annotations

import os
from errno import ENOTDIR

from told.ingest.checkpoint_moment import written
from told.ingest.checkpoint_places import ENDING, every, folder_of, folders, listed, slug_of
from told.ingest.checkpoint_text import front_lines, parsed, text_of
from told.journal.files import UNFINISHED, make_folder, open_private, sync_folder, write_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.model import Handover

__all__ = ("every", "folder_of", "folders", "listed", "new_path", "put_status", "slug_of", "write")


def new_path(folder: str, handover: Handover, slug: str = "") -> str:
    """Return the path of a new checkpoint: when it was written, what it is about, and its id."""
    at = written(handover.at)
    name = f"{at[:10]}-{at[11:13]}{at[14:16]}-{slug or slug_of(handover.title)}-{handover.id}{ENDING}"
    return os.path.join(folder, name)


def write(path: str, handover: Handover) -> None:
    """Write a new file, whole or not at all.

    Raises:
        FileExistsError: something has that name; it stays as it is.
        OSError: the folder is a link, or cannot be written.
    """
    folder = os.path.dirname(path)
    _no_link(folder)
    make_folder(folder)
    temporary = f"{path}.{os.getpid()}{UNFINISHED}"
    descriptor = open_private(temporary, os.O_WRONLY | os.O_TRUNC)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text_of(handover).encode("utf-8", "replace"))
            file.flush()
            os.fsync(descriptor)
        _take_name(temporary, path)
    finally:
        if os.path.lexists(temporary):
            os.remove(temporary)
    sync_folder(folder)


def _take_name(temporary: str, path: str) -> None:
    """Give a file its name, unless something has it."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:  # no second names here: keep the name with an empty file first
        os.close(open_private(path, os.O_WRONLY | os.O_EXCL))
        os.replace(temporary, path)


def _no_link(folder: str) -> None:
    """Make sure that told's own folders lead nowhere else; told's home itself may be a link."""
    for one in (folder, os.path.dirname(folder)):
        if os.path.islink(one):
            raise NotADirectoryError(ENOTDIR, "it is a link", one)


def put_status(path: str, status: str) -> None:
    """Change the status in a file, and nothing else of it.

    Raises:
        OSError: it cannot be read or written.
    """
    with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
        old = file.read().decode("utf-8", "surrogateescape")
    new = with_status(old, status)
    if new != old:
        write_again(path, new)


def write_again(path: str, text: str) -> None:
    """Write a file anew, whole or not at all; one that does not say when it was written keeps its time.

    Raises:
        OSError: it cannot be written.
    """
    state = os.lstat(path)
    write_whole(path, text.encode("utf-8", "surrogateescape"))
    if not parsed(text).at:
        # It is another time nevertheless, by which a change is noticed.
        milliseconds, rest = divmod(state.st_mtime_ns, 1_000_000)
        os.utime(path, ns=(state.st_atime_ns, milliseconds * 1_000_000 + (rest + 1) % 1_000_000))


def with_status(text: str, status: str) -> str:
    """Return the text of a file with another status."""
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    lines = text.removeprefix(mark).split("\n")
    end = "\r" if lines[0].endswith("\r") else ""
    begin, last = front_lines(lines)
    for at in range(begin, last):
        name, _, value = lines[at].partition(":")
        if name.strip().lower() == "status":
            kept = value[len(value.rstrip()) :]
            lines[at] = f"{name}: {status}{kept}"
            break
    else:
        new = [f"status: {status}{end}"]
        lines[last:last] = new if begin else [f"---{end}", *new, f"---{end}", end]
    return mark + "\n".join(lines)
