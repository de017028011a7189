"""Told's own secret, made once: it marks fences and placeholders."""

from __future__ import annotations

import os

from told.errors import MissingError
from told.store.database import make_private_folder


def own_key(home: str) -> bytes:
    """Return the secret; make it if there is none.

    Raises:
        MissingError: it cannot be read.
    """
    path = os.path.join(home, "key")
    try:
        with open(path, "rb") as file:
            key = file.read(32)
        if len(key) == 32:
            return key
    except FileNotFoundError:
        pass
    except OSError as error:
        raise MissingError(f"{path} cannot be read ({(error.strerror or 'error').lower()}).") from None
    make_private_folder(home)
    return _new_key(path)


def _new_key(path: str) -> bytes:
    """Make the secret whole or not at all: a reader never sees a part of it, whoever is killed."""
    key = os.urandom(32)
    temporary = f"{path}.{os.getpid()}"
    try:
        with os.fdopen(os.open(temporary, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as file:
            file.write(key)
        if os.path.exists(path) and os.path.getsize(path) == len(key):  # another told was quicker
            os.remove(temporary)
        else:
            os.replace(temporary, path)
        with open(path, "rb") as file:
            return file.read(32) or key
    except OSError:
        return key  # read-only: a mark that lasts for this call is as good
