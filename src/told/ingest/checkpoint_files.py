"""Name, list, read and write the Markdown files of checkpoints."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator
from dataclasses import replace
from errno import ENOTDIR
from unicodedata import normalize as normalize_unicode

from told.files import NotReadableError, create_private, is_folder, make_folder, read_document, write_private
from told.hashing import blake2s
from told.ingest.checkpoint_markdown import (
    find_front_matter,
    format_checkpoint,
    format_time,
    parse_checkpoint,
)
from told.journal.registry import ProjectJournal, list_projects
from told.model import Handover
from told.store.memories.records import PROJECT
from told.text import remove_placeholders

FOLDER = "checkpoints"
SUFFIX = ".md"
MAX_FILE = 1 << 20  # bytes
_MAX_SLUG = 48
_MAX_NAME = 40
_DAY_MS = 86_400_000  # tolerance for wrong clocks and time zones
# Windows reserves these names, with any suffix.
_DEVICES = {"con", "prn", "aux", "nul", *(f"{one}{n}" for one in ("com", "lpt") for n in range(10))}


class UnreadableError(Exception):
    """A file cannot be read; the message says why."""


def project_folder(home: str, key: str, name: str, root: str) -> str:
    """Return the folder of a project's checkpoints; it may not exist."""
    project = find_project_journal(home, key, root)
    return os.path.join(project.folder, FOLDER) if project else home_folder(home, key, name)


def home_folder(home: str, key: str, name: str) -> str:
    """Return the folder of a project's checkpoints in told's home."""
    return os.path.join(home, FOLDER, f"{make_slug(name, _MAX_NAME, 'project')}-{_hash(key)}")


def is_home_folder(folder: str, key: str) -> bool:
    """Return whether a folder in told's home belongs to a project."""
    return folder.endswith(f"-{_hash(key)}")


def _hash(key: str) -> str:
    return blake2s(key.encode("utf-8", "replace"), digest_size=4).hexdigest()


def find_project_journal(home: str, key: str, root: str) -> ProjectJournal | None:
    """Find the project's own journal, preferably in this folder."""
    found = [one for one in list_projects(home) if one.root == root or one.scope == PROJECT + key]
    return min(found, key=lambda one: one.root != root, default=None)


def make_slug(text: str, limit: int = _MAX_SLUG, default: str = "checkpoint") -> str:
    """Make a part of a file name: lower case letters, digits and hyphens."""
    text = normalize_unicode("NFKD", remove_placeholders(text).lower())
    text = "".join(char for char in text if char.isascii() or char.isalnum())
    slug = ""
    for word in re.findall("[a-z0-9]+", text):
        if slug and len(slug) + len(word) >= limit:
            break
        slug = f"{slug}-{word}" if slug else word[:limit]
    return f"{default}-{slug}" if slug in _DEVICES else slug or default


def list_checkpoints(home: str) -> Iterator[str]:
    """Yield the paths of all checkpoints, in told's home and in projects."""
    for folder in list_folders(home):
        yield from sorted(list_files(folder))


def list_folders(home: str) -> Iterator[str]:
    """Yield every folder that may contain checkpoints."""
    top = os.path.join(home, FOLDER)
    if is_folder(top):
        yield top
        yield from sorted(entry.path for entry in os.scandir(top) if entry.is_dir(follow_symlinks=False))
    for project in list_projects(home):
        folder = os.path.join(project.folder, FOLDER)
        if not os.path.islink(folder):
            yield folder


def list_files(folder: str) -> dict[str, tuple[int, int]]:
    """Return size and change time (ns) of each checkpoint in a folder, by path."""
    found = {}
    try:
        with os.scandir(folder) as entries:
            if not is_folder(folder):
                return {}
            for entry in entries:
                if entry.name.endswith(SUFFIX) and not entry.name.startswith("."):
                    try:
                        state = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue  # deleted meanwhile
                    if stat.S_ISREG(state.st_mode):
                        found[entry.path] = (state.st_size, state.st_mtime_ns)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    return found


def new_path(folder: str, handover: Handover, slug: str = "") -> str:
    """Return the path of a new checkpoint, named by time, title and id."""
    at = format_time(handover.at)
    name = f"{at[:10]}-{at[11:13]}{at[14:16]}-{slug or make_slug(handover.title)}-{handover.id}{SUFFIX}"
    return os.path.join(folder, name)


def create_checkpoint(path: str, handover: Handover) -> None:
    """Write a new file atomically; FileExistsError if the name is taken."""
    folder = os.path.dirname(path)
    for one in (folder, os.path.dirname(folder)):  # told's home itself may be a link
        if os.path.islink(one):
            raise NotADirectoryError(ENOTDIR, "it is a link", one)
    make_folder(folder)
    create_private(path, format_checkpoint(handover).encode("utf-8", "replace"))


def hash_content(content: bytes) -> str:
    """Return a hash by which an unchanged file is recognised."""
    return str(blake2s(content, digest_size=8).hexdigest())


def remove_unchanged(home: str, name: str, content: str) -> None:
    """Remove a file below the checkpoints of told's home, if its content has a hash."""
    path = os.path.join(home, FOLDER, *name.split("/"))
    try:
        if hash_content(read_document(path, MAX_FILE, follow_links=False)) == content:
            os.remove(path)
    except (NotReadableError, OSError):
        return


def set_status(path: str, status: str) -> None:
    """Change only the status in a file."""
    with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
        old = file.read().decode("utf-8", "surrogateescape")
    new = _replace_status(old, status)
    if new != old:
        rewrite_checkpoint(path, new)


def rewrite_checkpoint(path: str, text: str) -> None:
    """Replace a file atomically; one without a time in its text keeps its file time."""
    state = os.lstat(path)
    write_private(path, text.encode("utf-8", "surrogateescape"))
    if not parse_checkpoint(text).at:
        # Change only the nanoseconds, so that the change is noticed.
        milliseconds, rest = divmod(state.st_mtime_ns, 1_000_000)
        os.utime(path, ns=(state.st_atime_ns, milliseconds * 1_000_000 + (rest + 1) % 1_000_000))


def _replace_status(text: str, status: str) -> str:
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    lines = text.removeprefix(mark).split("\n")
    end = "\r" if lines[0].endswith("\r") else ""
    begin, last = find_front_matter(lines)
    for at in range(begin, last):
        name, _, value = lines[at].partition(":")
        if name.strip().lower() == "status":
            trailing = value[len(value.rstrip()) :]
            lines[at] = f"{name}: {status}{trailing}"
            break
    else:
        new = [f"status: {status}{end}"]
        lines[last:last] = new if begin else [f"---{end}", *new, f"---{end}", end]
    return mark + "\n".join(lines)


def read_checkpoint(path: str) -> Handover:
    """Read the checkpoint in a file."""
    try:
        changed = os.lstat(path).st_mtime_ns // 1_000_000
    except OSError:
        changed = 0
    found = parse_checkpoint(_read_text(path), path, changed)
    now = time.time_ns() // 1_000_000
    # A time in the future would make it the latest checkpoint for ever.
    return replace(found, at=min(changed, now)) if found.at > now + _DAY_MS else found


def find_unreadable(home: str) -> Iterator[tuple[str, str]]:
    """Yield path and reason of each file that cannot be read."""
    for path in list_checkpoints(home):
        try:
            _read_text(path)
        except UnreadableError as error:
            yield path, str(error)


def _read_text(path: str) -> str:
    if os.path.islink(path):
        raise UnreadableError("it is a link")
    try:
        content = read_document(path, MAX_FILE)
    except NotReadableError as error:
        raise UnreadableError(str(error)) from None
    if b"\0" in content:
        raise UnreadableError("it is no text")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UnreadableError("it is not written in UTF-8") from None
