"""What an installation changes in a home folder, and whether taking it back leaves anything behind."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

Tree = Mapping[str, bytes | None]  # every file with its bytes, every folder with None

_TOLD = re.compile(rb"\btold\b", re.IGNORECASE)


def tree(folder: str, without: str = "") -> Tree:
    """Return all that is below a folder; links as what they point to."""
    found: dict[str, bytes | None] = {}
    for here, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if os.path.join(here, name) != without and name != ".git"]
        found |= {os.path.relpath(os.path.join(here, name), folder): None for name in folders}
        for name in files:
            path = os.path.join(here, name)
            found[os.path.relpath(path, folder)] = _content(path)
    return found


def _content(path: str) -> bytes:
    if os.path.islink(path):
        return b"-> " + os.readlink(path).encode()
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:  # a socket, or gone meanwhile
        return b""


def changed(before: Tree, after: Tree) -> list[str]:
    """Return the paths that differ."""
    gone = object()
    return sorted(
        path for path in before.keys() | after.keys() if before.get(path, gone) != after.get(path, gone)
    )


def left_behind(before: Tree, installed: Tree, used: Tree, after: Tree) -> list[str]:
    """Return what an uninstall did not give back, of all that the installation touched.

    A file that the agent itself wrote in between cannot be as before; it must hold nothing of told's.

    Args:
        before: Before the installation.
        installed: After it.
        used: After the agent has been used.
        after: After the uninstall.
    """
    problems = []
    for path in changed(before, installed):
        now = after.get(path)
        if path not in before:
            written = path in after and (now is None or used.get(path) == installed[path])
            if written and not (now is None and _in_use(path, after)):
                problems.append(f"{path} is still there")
        elif used.get(path) == installed.get(path) and now != before[path]:
            problems.append(f"{path} is not as it was")
        if now and _TOLD.search(now):
            problems.append(f"{path} still names told")
    return problems


def _in_use(folder: str, after: Tree) -> bool:
    return any(path.startswith(folder + os.sep) for path in after)
