"""Where the files of checkpoints lie, and which there are: any query looks, so it imports almost nothing.

In told's home, a folder for each project; in the folder `.told` of a project that keeps its own memories.
What is no plain file, or lies behind a link, is never read nor written.
"""

from __future__ import annotations

import os
import stat
from _blake2 import blake2s

from told.guard.files import is_folder
from told.guard.text import without_placeholders
from told.journal.files import has_places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from told.journal.registry import Place

FOLDER = "checkpoints"
ENDING = ".md"
LARGEST = 1 << 20  # bytes of a file that is read
_SLUG = 48
_NAME = 40
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_NOTHING = "checkpoint"  # the slug of a title that has no letter of these
# Windows has devices of these names, whatever the ending.
_DEVICES = {"con", "prn", "aux", "nul", *(f"{one}{n}" for one in ("com", "lpt") for n in range(10))}


def folder_of(home: str, key: str, name: str, root: str) -> str:
    """Return the folder of a project's checkpoints; it may not be there yet.

    Args:
        home: The folder of everything told writes for itself.
        key: What makes the project the same everywhere.
        name: Its name, for people who look into told's folder.
        root: Its folder, where it may keep its own memories.
    """
    place = place_of(home, key, root) if has_places(home) else None
    if place is not None:
        return os.path.join(place.folder, FOLDER)
    return home_folder_of(home, key, name)


def home_folder_of(home: str, key: str, name: str) -> str:
    """Return the folder of a project's checkpoints in told's home, where they lie before it keeps its own."""
    return os.path.join(home, FOLDER, f"{slug_of(name, _NAME, 'project')}-{_hashed(key)}")


def is_folder_for(folder: str, key: str) -> bool:
    """Tell whether a folder in told's home was made for a project."""
    return folder.endswith(f"-{_hashed(key)}")


def _hashed(key: str) -> str:
    return blake2s(key.encode("utf-8", "replace"), digest_size=4).hexdigest()


def place_of(home: str, key: str, root: str) -> Place | None:
    """Return where a project keeps its own memories, if it does."""
    from told.journal.registry import places
    from told.store.memory_records import PROJECT

    there = [one for one in places(home) if one.root == root or one.scope == PROJECT + key]
    return min(there, key=lambda one: one.root != root, default=None)


def slug_of(text: str, most: int = _SLUG, nothing: str = _NOTHING) -> str:
    """Return a text as part of a file's name: small letters, digits and hyphens.

    >>> slug_of("../../Fix the café's CI: 2nd try!")
    'fix-the-cafe-s-ci-2nd-try'
    >>> slug_of("🚀")
    'checkpoint'
    """
    text = without_placeholders(text).lower()
    if not text.isascii():
        from unicodedata import normalize

        text = "".join(sign for sign in normalize("NFKD", text) if sign.isascii() or sign.isalnum())
    words = "".join(sign if sign in _PLAIN else " " for sign in text).split()
    slug = ""
    for word in words:
        if slug and len(slug) + len(word) >= most:
            break
        slug = f"{slug}-{word}" if slug else word[:most]
    return f"{nothing}-{slug}" if slug in _DEVICES else slug or nothing


def every(home: str) -> Iterator[str]:
    """Yield the paths of all checkpoints, of told's home and of projects that keep their own."""
    for folder in folders(home):
        yield from sorted(listed(folder))


def folders(home: str) -> Iterator[str]:
    """Yield every folder in which checkpoints may lie."""
    top = os.path.join(home, FOLDER)
    if is_folder(top):
        yield top
        yield from sorted(entry.path for entry in os.scandir(top) if entry.is_dir(follow_symlinks=False))
    if has_places(home):
        from told.journal.registry import places

        there = (os.path.join(place.folder, FOLDER) for place in places(home))
        yield from (folder for folder in there if not os.path.islink(folder))


def listed(folder: str) -> dict[str, tuple[int, int]]:
    """Return the (size, time of change in ns) of each checkpoint in a folder, by its path.

    Raises:
        OSError: the folder cannot be read; nobody knows what is in it.
    """
    found = {}
    try:
        with os.scandir(folder) as entries:
            if not is_folder(folder):
                return {}
            for entry in entries:
                if entry.name.endswith(ENDING) and not entry.name.startswith("."):
                    try:
                        state = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue  # it was deleted just now
                    if stat.S_ISREG(state.st_mode):
                        found[entry.path] = (state.st_size, state.st_mtime_ns)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    return found
