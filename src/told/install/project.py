"""Give a project its own `.told` folder for memories, and undo that."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from told.errors import MissingError, ToldError, UsageError
from told.files import NotReadableError, open_private, read_document
from told.ingest.projects import find_git_root, is_told_home
from told.install import disk
from told.journal.files import MAKES_MEMORY, Operation
from told.journal.read import find_in_series
from told.journal.registry import (
    FOLDER,
    ProjectJournal,
    filter_readable,
    list_project_series,
    list_projects,
    list_series_names,
    own_series_name,
    read_registry,
    register,
    unregister,
)

LINE = f"{FOLDER}/"
# The state of the file before; enough to restore its bytes.
NEW, ENDED, OPEN_END = "new", "ended", "open"
_GIT_SECONDS = 5


def is_git_ignored(root: str, environ: dict[str, str]) -> bool:
    """Tell whether git already ignores the folder."""
    asked = ("-c", "core.fsmonitor=false", "check-ignore", "-q", "--no-index", "--", LINE)
    clean = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(  # noqa: S603 - the only argument that varies is a folder that was looked at
            ["git", "-C", root, *asked],  # noqa: S607 - the user's own git
            capture_output=True, timeout=_GIT_SECONDS, check=False, stdin=subprocess.DEVNULL, env=clean,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return _says_so(root)
    return done.returncode == 0 if done.returncode in (0, 1) else _says_so(root)


def gitignore_state(root: str) -> str:
    """Return the state of a project's `.gitignore`; empty if it is unsafe."""
    path = os.path.join(root, ".gitignore")
    if not os.path.lexists(path):
        return NEW
    raw = _read(path)
    if raw is None:
        return ""
    return ENDED if not raw or raw.endswith(b"\n") else OPEN_END


def add_to_gitignore(root: str) -> bool:
    """Add the folder to `.gitignore`; False if that is impossible."""
    found = _found(root)
    if found is None:
        return False
    raw = found.raw or b""
    end = b"\r\n" if b"\r\n" in raw else b"\n"
    line = LINE.encode()
    try:
        disk.write_foreign(found, raw + end + line if raw and not raw.endswith(b"\n") else raw + line + end)
    except ToldError:
        return False
    return True


def remove_from_gitignore(root: str, was: str) -> bool:
    """Remove the line again, byte for byte; True if it was there."""
    found = _found(root)
    line = LINE.encode()
    if not was or found is None or found.raw is None or line not in _lines(found.raw):
        return False
    raw = found.raw
    if was == NEW and raw.strip() == line:
        disk.delete_foreign(found)
        return True
    for end in (b"\r\n", b"\n"):
        if was == OPEN_END and raw.endswith(end + line):
            disk.write_foreign(found, raw[: -len(end + line)])
            return True
    kept = raw.splitlines(keepends=True)
    place = max(number for number, one in enumerate(kept) if one.rstrip(b"\r\n") == line)
    disk.write_foreign(found, b"".join(kept[:place] + kept[place + 1 :]))
    return True


def _found(root: str) -> disk.ForeignFile | None:
    path = os.path.join(root, ".gitignore")
    if not os.path.lexists(path):
        return disk.ForeignFile(path, path, None)
    raw = _read(path)
    return None if raw is None else disk.ForeignFile(path, path, raw, stat.S_IMODE(os.lstat(path).st_mode))


def _read(path: str) -> bytes | None:
    """Return a regular file's bytes; None if it cannot be read."""
    try:
        return read_document(path, disk.LARGEST, follow_links=False)
    except NotReadableError:
        return None


def _says_so(root: str) -> bool:
    """Tell whether the file has the line, without asking git."""
    lines = set(_lines(_read(os.path.join(root, ".gitignore")) or b""))
    return bool(lines & {b".told", b".told/", b"/.told", b"/.told/"})


def _lines(raw: bytes) -> list[bytes]:
    return [one.strip() for one in raw.splitlines()]


ADDED, ALREADY, BY_HAND, NO_REPOSITORY = "added", "already", "by hand", "no repository"


@dataclass(frozen=True, slots=True)
class InitResult:
    """The result of `told init`."""

    place: ProjectJournal
    is_new: bool
    ignored: str


def init_project(home: str, root: str, scope: str, environ: Mapping[str, str]) -> InitResult:
    """Give a project its own folder, or complete it; memories by others in it are accepted."""
    known = next((one for one in read_registry(home) if one.root == root), None)
    place = known._replace(scope=scope) if known else ProjectJournal(home, root, scope)
    is_new = known is None or not known.exists
    _make(place)
    place = _without_old_name(place)
    place = place._replace(series=tuple(dict.fromkeys((own_series_name(place), *list_series_names(place)))))
    ignored = _ignored(place, environ)
    if ignored == ADDED:
        place = place._replace(ignored=gitignore_state(root))
    register(place)  # first, so that a killed told can be undone
    if ignored == ADDED and not add_to_gitignore(root):
        ignored = BY_HAND
    return InitResult(place, is_new, ignored)


def restore_gitignore(home: str, root: str, *, purge: bool = False) -> bool:
    """Undo the change to `.gitignore`; with `purge` delete the folder, too."""
    place = next((one for one in read_registry(home) if one.root == root), None)
    if place is None:
        return False
    undone = remove_from_gitignore(root, place.ignored)
    if purge and place.exists:
        shutil.rmtree(place.folder)
    elif undone and place.exists:
        descriptor = open_private(os.path.join(place.folder, ".gitignore"), os.O_WRONLY | os.O_TRUNC)
        os.write(descriptor, b"*\n")
        os.close(descriptor)
    if purge:
        unregister(home, root)
    elif place.ignored:
        register(place._replace(ignored=""))
    return undone


def memory_operations(place: ProjectJournal) -> list[Operation]:
    """Return the operations that created memories in a project's folder."""
    needles = [f'"kind":"{kind}",'.encode() for kind in sorted(MAKES_MEMORY)]
    read = [one for one in list_project_series(place.home) if one.project and one.project.root == place.root]
    return [
        one
        for series in read
        for one in find_in_series(series, needles, lambda one: one.kind in MAKES_MEMORY)
    ]


def has_copy_elsewhere(place: ProjectJournal, machine: str) -> bool:
    """Tell whether another project's folder has the same series."""
    others = [one for one in list_projects(place.home) if one.root != place.root]
    return any(machine in list_series_names(one) for one in others)


def _make(place: ProjectJournal) -> None:
    """Create the folder, private."""
    path = place.folder
    if os.path.islink(path):
        raise UsageError(f"{path} is a link. Remove it: a project's memories stay in its own folder.")
    if os.path.lexists(path) and not os.path.isdir(path):
        raise UsageError(f"{path} is a file. Give it another name: told needs a folder there.")
    if os.path.realpath(path) == os.path.realpath(place.home):
        raise UsageError(f"{path} is where told keeps everything (TOLD_HOME): the project has it already.")
    if is_told_home(path):
        raise UsageError(f"In {path} another told keeps everything. Move it away, or set TOLD_HOME to it.")
    try:
        if not os.path.isdir(path):
            os.mkdir(path, 0o700)
        os.chmod(path, 0o700)
        for name in list_series_names(place):
            folder = os.path.join(place.journal, name)
            for file in filter_readable(folder, os.listdir(folder)):
                os.chmod(os.path.join(folder, file), 0o600)
    except OSError as error:
        why = (error.strerror or "error").lower()
        raise MissingError(f"told cannot write to {place.root} ({why}). Check its permissions.") from None


def _without_old_name(place: ProjectJournal) -> ProjectJournal:
    """Adopt the settings of a folder that was moved."""
    there = list_series_names(place)
    for old in read_registry(place.home):
        if old.root != place.root and not old.exists and own_series_name(old) in there:
            series = tuple(dict.fromkeys((*place.series, *old.series)))
            place = place._replace(ignored=place.ignored or old.ignored, series=series)
            unregister(place.home, old.root)
    return place


def _ignored(place: ProjectJournal, environ: Mapping[str, str]) -> str:
    if find_git_root(place.root) != place.root:
        return NO_REPOSITORY
    if is_git_ignored(place.root, dict(environ)):
        return ALREADY
    return ADDED if gitignore_state(place.root) else BY_HAND
