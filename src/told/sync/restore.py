"""Put a backup in the place of told's folder; the old folder is moved aside.

A restored folder gets its own machine id: the machine that the backup is of may still write to its series.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from told.errors import DiskFullError, MissingError, UsageError
from told.files import cannot_write, make_folder, open_private, sync_folder
from told.journal.append import append
from told.journal.erase import erase
from told.journal.files import FORGET, SET, Draft, get_machine_id, journal_folder, list_machines, read_key
from told.journal.read import find_by_kind
from told.journal.registry import FOLDER, ProjectJournal, own_series_name, register
from told.store.database import FORGETS
from told.store.memories.records import USER
from told.sync.backup_file import PROJECTS, BackupReader, Manifest

_STAGING = ".restoring-"
_ASIDE = ".before-restore-"
_CARRIED = ("installed.json",)  # belongs to the machine: what `told install` changed
_CANONICAL = ("journal", "archive", "checkpoints", "sync", "config.toml", "registry")
_FORGOTTEN_TOPICS = ("forgotten_session", "forgotten_turn")
_SPARE = 64 << 20  # bytes of the disk that stay free
_SWAPS = 5  # attempts while hooks make a new folder
_BATCH = 200  # operations


@dataclass(frozen=True, slots=True)
class Restored:
    """The result of a restore."""

    manifest: Manifest
    aside: str  # the old folder; empty if it had nothing that matters
    forgotten: int  # memories of the backup that were forgotten since
    elsewhere: int  # projects whose folders are not here; their memories are in told's folder


def has_data(home: str) -> bool:
    """Tell whether a folder has anything that told cannot derive."""
    found = [os.path.join(home, name) for name in _CANONICAL]
    return any(
        bool(list_machines(path)) if path.endswith("journal") else os.path.isfile(path) or _has_files(path)
        for path in found
    )


def _has_files(folder: str) -> bool:
    return any(names for _, _, names in os.walk(folder))


def restore_backup(reader: BackupReader, home: str, now: int) -> Restored:
    """Extract and check a backup beside told's folder, then exchange the two.

    Raises:
        ToldError: nothing was changed.
    """
    home = os.path.realpath(home)
    remove_abandoned(home)
    staging = f"{home}{_STAGING}{os.getpid()}"
    try:
        _check_space(home, reader.manifest)
        reader.check()
        make_folder(staging)
        try:
            _extract(reader, staging)
            _register_projects(reader.manifest.projects, staging, staging)
            forgotten = _carry_over(home, staging, now)
            elsewhere = _register_projects(reader.manifest.projects, staging, home)
            sync_folder(staging)
            aside = _exchange(home, staging, now)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
    except OSError as error:
        raise cannot_write(staging, error) from None
    return Restored(reader.manifest, aside, forgotten, elsewhere)


def remove_abandoned(home: str) -> None:
    """Remove what killed restores left beside told's folder."""
    parent, name = os.path.split(os.path.realpath(home))
    with contextlib.suppress(OSError):
        for one in os.listdir(parent):
            process = one.removeprefix(name + _STAGING)
            if one != process and process.isdecimal() and not _is_running(int(process)):
                shutil.rmtree(os.path.join(parent, one), ignore_errors=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def _check_space(home: str, manifest: Manifest) -> None:
    place = os.path.dirname(home)
    while not os.path.isdir(place):
        place = os.path.dirname(place)
    free = shutil.disk_usage(place).free
    if manifest.bytes + _SPARE > free:
        needed, there = ((size >> 20) + 1 for size in (manifest.bytes + _SPARE, free))
        raise DiskFullError(
            f"The backup needs {needed:,} MB, and {place} has {there:,} MB free. Free some space, then retry."
        )


def _extract(reader: BackupReader, staging: str) -> None:
    """Write all files of a backup but the registry and the machine's id and key."""
    for name in reader.manifest.files:
        blocks = reader.read(name)
        if name in ("registry", "machine"):
            continue
        parts = name.split("/")
        if parts[0] == PROJECTS:
            parts.insert(2, FOLDER)
        path = os.path.join(staging, *parts)
        make_folder(os.path.dirname(path))
        with os.fdopen(open_private(path, os.O_WRONLY | os.O_EXCL), "wb") as file:
            for block in blocks:
                file.write(block)
            file.flush()
            os.fsync(file.fileno())
    get_machine_id(staging)


def _register_projects(projects: Sequence[dict[str, Any]], staging: str, home: str) -> int:
    """Register the backup's projects; return how many have no folder here.

    The folder of a project has its memories if it exists. Otherwise their copy in told's folder counts.
    """
    elsewhere = 0
    with contextlib.suppress(FileNotFoundError):
        os.remove(os.path.join(staging, "registry"))
    for one in projects:
        number, root = str(one["number"]), one["root"]
        project = ProjectJournal(staging, root, one["scope"], one["ignored"], tuple(one["series"]))
        copy = os.path.join(PROJECTS, number)
        if project.exists:
            shutil.rmtree(os.path.join(staging, copy), ignore_errors=True)
        elif os.path.isdir(os.path.join(staging, copy)):
            project = project._replace(root=os.path.join(home, copy), ignored="")
            elsewhere += 1
        own = own_series_name(project)
        register(project._replace(series=tuple(sorted({*project.series, own}))))
    return elsewhere


def _carry_over(home: str, staging: str, now: int) -> int:
    """Keep what belongs to this machine, and forget what was forgotten since the backup."""
    for name in _CARRIED:
        with contextlib.suppress(FileNotFoundError):
            shutil.copy2(os.path.join(home, name), os.path.join(staging, name), follow_symlinks=False)
    key = read_key(home)
    if not key or key != read_key(staging):
        return 0  # of another told, which knows none of these memories
    forgotten = {one.memory for one in find_by_kind(journal_folder(staging), (FORGET,)) if one.by == USER}
    drafts = []
    for one in find_by_kind(journal_folder(home), (FORGET, SET)):
        given = one.payload or {}
        if one.kind == FORGET and one.memory not in forgotten and one.by == USER:
            payload: dict[str, Any] = {name: given[name] for name in ("evidence", "scope") if name in given}
            drafts.append(Draft(FORGET, USER, payload, one.memory))
        elif one.kind == SET and one.by == USER and isinstance(given.get(SET), dict):
            topics = {name: given[SET][name] for name in _FORGOTTEN_TOPICS if name in given[SET]}
            drafts += [Draft(SET, USER, {SET: topics})] if topics else []
    for start in range(0, len(drafts), _BATCH):
        append(staging, drafts[start : start + _BATCH], now=now)
    ids = {draft.memory for draft in drafts if draft.memory}
    if drafts:
        erase(staging, ids)
        with contextlib.suppress(FileNotFoundError):
            shutil.copyfile(os.path.join(home, FORGETS), os.path.join(staging, FORGETS))
    return len(ids)


def _exchange(home: str, staging: str, now: int) -> str:
    """Move told's folder aside and the restored one into its place; return where the old one is."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(now / 1000))
    keep, aside = has_data(home), ""
    for number in range(_SWAPS):
        if os.path.isdir(home):
            place = f"{home}{_ASIDE}{stamp}{f'-{number}' if number else ''}"
            while os.path.lexists(place):
                place += "+"
            try:
                os.rename(home, place)
            except OSError as error:
                why = f"told cannot move {home} aside ({error.strerror})"
                raise MissingError(f"{why}. Nothing was changed; check that folder.") from None
            aside = aside or place
        try:
            os.rename(staging, home)
        except OSError:
            if os.path.isdir(home):
                continue  # a hook made it meanwhile
            os.rename(aside, home)
            raise
        sync_folder(os.path.dirname(home))
        if keep or not aside:
            return aside
        shutil.rmtree(aside, ignore_errors=True)
        return ""
    raise UsageError(f"Other programs keep writing to {home}. Stop your agents, then retry.")
