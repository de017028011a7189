"""Write everything that told cannot derive into one file, while told runs."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass

import told
from told.errors import UsageError
from told.files import UNFINISHED, cannot_write, open_private, open_regular, sync_folder
from told.journal.files import SEGMENT_SUFFIX, SeriesLock, journal_folder, list_machines, list_segments
from told.journal.registry import FOLDER, ProjectJournal, read_registry
from told.jsontext import dump_json
from told.sync.backup_file import (
    DIGEST_BYTES,
    FILES,
    FOLDERS,
    FORMAT,
    MANIFEST,
    PROJECTS,
    VERSION,
    BackupReader,
    Manifest,
    count_operations,
    hash_file,
    is_known_name,
)

_BLOCK = 1 << 20
_COMPRESSED = "archive/"  # its files are compressed already
_OLDEST = (1980, 1, 1, 0, 0, 0)  # the time of every entry: the same content gives the same bytes


@dataclass(frozen=True, slots=True)
class _Source:
    """A file to back up."""

    name: str  # in the backup
    path: str
    data: bytes | None = None  # if it was read already


def write_backup(home: str, path: str, now: int) -> Manifest:
    """Write a backup of told's folder, check it, and give it its name.

    The journals' last segments are read under their locks, so every operation is in it as a whole; all other
    files are replaced as a whole when they change. A killed run leaves no file of that name.

    Raises:
        UsageError: the name is taken.
        ToldError: it cannot be written.
    """
    temporary = f"{path}.{os.getpid()}-{threading.get_native_id()}{UNFINISHED}"
    try:
        try:
            descriptor = open_private(temporary, os.O_RDWR | os.O_TRUNC)
            with os.fdopen(descriptor, "w+b") as file:
                _write_zip(file, home, now)
                file.flush()
                digest = hash_file(file, os.fstat(file.fileno()).st_size - DIGEST_BYTES)
                file.seek(-DIGEST_BYTES, os.SEEK_END)
                file.write(digest)
                file.flush()
                os.fsync(file.fileno())
            with BackupReader(temporary) as reader:
                reader.check()
                manifest = reader.manifest
            _give_name(temporary, path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.remove(temporary)
    except FileExistsError:
        raise UsageError(f"{path} exists already. Choose another name.") from None
    except OSError as error:
        raise cannot_write(path, error, "Choose another place.") from None
    return manifest


def _give_name(temporary: str, path: str) -> None:
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if os.path.lexists(path):
            raise FileExistsError(path) from None
        os.replace(temporary, path)
    sync_folder(os.path.dirname(path))


def _write_zip(file: object, home: str, now: int) -> None:
    files: dict[str, tuple[int, str]] = {}
    series: dict[str, list[bytes]] = {}
    projects = list(enumerate(read_registry(home), 1))
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[call-overload]
        archive.comment = b"0" * DIGEST_BYTES
        for one in _list_sources(home, projects):
            is_segment = one.name.startswith("journal/") and one.name.endswith(SEGMENT_SUFFIX)
            content = _add(archive, one, files, keep=is_segment)
            if is_segment:
                series.setdefault(one.name.split("/")[1], []).append(content)
        counts = [count_operations(machine, segments) for machine, segments in series.items()]
        manifest = {
            "format": FORMAT, "version": VERSION, "told": told.__version__, "created": now,
            "operations": sum(one for one, _ in counts), "damaged": sum(bad for _, bad in counts),
            "projects": [
                {"number": number, "root": one.root, "scope": one.scope, "ignored": one.ignored,
                 "series": list(one.series)}
                for number, one in projects
            ],
            "files": files,
        }  # fmt: skip
        archive.writestr(_entry(MANIFEST), dump_json(manifest).encode("utf-8", "surrogateescape"))


def _add(
    archive: zipfile.ZipFile, source: _Source, files: dict[str, tuple[int, str]], *, keep: bool
) -> bytes:
    """Add a file unless it is gone or no regular file; return its content if asked for."""
    kept, size, digest = [], 0, hashlib.sha256()
    try:
        blocks = iter([source.data]) if source.data is not None else _read_blocks(source.path)
        first = next(blocks, b"")
    except OSError:
        return b""
    with archive.open(_entry(source.name), "w", force_zip64=True) as entry:
        for block in itertools.chain((first,), blocks):
            entry.write(block)
            size += len(block)
            digest.update(block)
            kept += [block] if keep else []
    files[source.name] = (size, digest.hexdigest())
    return b"".join(kept)


def _entry(name: str) -> zipfile.ZipInfo:
    found = zipfile.ZipInfo(name, _OLDEST)
    found.external_attr = 0o100600 << 16
    found.compress_type = zipfile.ZIP_STORED if name.startswith(_COMPRESSED) else zipfile.ZIP_DEFLATED
    return found


def _read_blocks(path: str) -> Iterator[bytes]:
    with open_regular(path, follow_links=False) as file:
        while block := file.read(_BLOCK):
            yield block


def _list_sources(home: str, projects: list[tuple[int, ProjectJournal]]) -> Iterator[_Source]:
    """Yield the files to back up; only names that a restore accepts."""
    yield from (_Source(name, os.path.join(home, name)) for name in FILES if _is_file(home, name))
    yield from _list_series(journal_folder(home), "journal")
    for folder in FOLDERS:
        if folder != "journal":
            yield from _list_files(os.path.join(home, folder), folder)
    for number, project in projects:
        name = f"{PROJECTS}/{number}"
        if project.exists:
            yield from _list_series(project.journal, f"{name}/journal")
            yield from _list_files(os.path.join(project.root, FOLDER, "checkpoints"), f"{name}/checkpoints")


def _is_file(home: str, name: str) -> bool:
    path = os.path.join(home, name)
    return os.path.isfile(path) and not os.path.islink(path)


def _list_series(folder: str, name: str) -> Iterator[_Source]:
    """Yield the segments of every series; the last one as it is under its lock."""
    for machine in list_machines(folder):
        place = os.path.join(folder, machine)
        with SeriesLock(place):
            names = list_segments(place)
            last = b"".join(_read_blocks(os.path.join(place, names[-1]))) if names else b""
        for one in names:
            found = f"{name}/{machine}/{one}"
            if is_known_name(found):
                yield _Source(found, os.path.join(place, one), last if one == names[-1] else None)


def _list_files(folder: str, name: str) -> Iterator[_Source]:
    for parent, folders, names in os.walk(folder):
        folders.sort()
        below = os.path.relpath(parent, folder).replace(os.sep, "/")
        for one in sorted(names):
            found = f"{name}/{one}" if below == "." else f"{name}/{below}/{one}"
            path = os.path.join(parent, one)
            is_own = not one.endswith((UNFINISHED, "lock")) and not os.path.islink(path)
            if is_own and is_known_name(found) and os.path.isfile(path):
                yield _Source(found, path)
