"""Deletes everything told keeps for itself, and nothing that somebody else put beside it."""

from __future__ import annotations

import os
import shutil

from told.errors import MissingError
from told.journal.registry import registered
from told.memory.disk import FILES, FOLDERS
from told.setup.init import take_back


def purge(home: str) -> list[str]:
    """Delete told's folder and those of projects that have their own.

    Returns:
        What is not told's, and was left.

    Raises:
        MissingError: something cannot be deleted.
    """
    try:
        for place in registered(home):
            take_back(home, place.root, purge=True)
        if os.path.islink(home):
            home = os.path.realpath(home)
        left = [name for name in sorted(os.listdir(home)) if not _delete(os.path.join(home, name))]
        if not left:
            os.rmdir(home)
    except FileNotFoundError:
        return []
    except OSError as error:
        why = (error.strerror or "error").lower()
        raise MissingError(f"{home} could not be deleted ({why}). Delete it by hand.") from None
    return left


def _delete(path: str) -> bool:
    name = os.path.basename(path)
    if os.path.isdir(path) and not os.path.islink(path):
        if name not in FOLDERS:
            return False
        shutil.rmtree(path)
        return True
    if not name.startswith(FILES) and not name.endswith(".lock"):
        return False
    os.remove(path)
    return True
