"""The short name of this machine, made once: each machine appends to its own series of operations."""

from __future__ import annotations

import os

from told.journal.files import UNFINISHED, cannot_write, make_folder, open_private
from told.store.ids import public_id

_LENGTH = 8
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz234567")


def machine_of(home: str) -> str:
    """Return the name of this machine; make one if it has none yet.

    Raises:
        MissingError: it cannot be written down.
    """
    path = os.path.join(home, "machine")
    return _read(path) or _made(path)


def _read(path: str) -> str:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            name = file.read(64).strip()
    except OSError:
        return ""
    return name if is_machine(name) else ""


def is_machine(name: str) -> bool:
    """Tell whether a name can be that of a machine."""
    return len(name) == _LENGTH and _LETTERS.issuperset(name)


def _made(path: str) -> str:
    name = public_id("", os.urandom(16).hex(), length=_LENGTH)
    temporary = f"{path}.{os.getpid()}{UNFINISHED}"
    try:
        make_folder(os.path.dirname(path))
        descriptor = open_private(temporary, os.O_WRONLY | os.O_TRUNC)
        os.write(descriptor, f"{name}\n".encode())
        os.fsync(descriptor)
        os.close(descriptor)
        if os.path.exists(path) and not _read(path):
            os.replace(temporary, path)  # what stands there is no name
        else:
            _put_first(temporary, path)
    except OSError as error:
        raise cannot_write(path, error) from None
    return _read(path) or name


def _put_first(temporary: str, path: str) -> None:
    """Give a file its name unless another told was quicker."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        pass
    except OSError:  # a file system without links
        os.replace(temporary, path)
        return
    os.remove(temporary)
