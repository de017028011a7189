"""The backup file: a zip with a manifest of digests, and a digest of all its bytes at the end.

Nothing in such a file is trusted before it was checked: names, kinds and sizes of entries, and every digest.
"""

from __future__ import annotations

import hashlib
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Self

from told.errors import UsageError
from told.files import NotReadableError, open_regular
from told.journal.files import BadLineError, drop_partial_batch, first_hash, parse_line
from told.jsontext import load_json
from told.pattern import lazy_pattern

FORMAT, VERSION = "told-backup", 1
MANIFEST = "manifest.json"
PROJECTS = "projects"
# What told cannot derive. Databases, caches and logs are left out, and so is what belongs to the machine: the
# changes of `told install`, and its key for sync.
FILES = ("key", "machine", "registry", "config.toml", "approved", "forgets")
FOLDERS = ("journal", "archive", "checkpoints", "sync")
LEFT_OUT = ("sync/machine.key",)
DIGEST_BYTES = 64  # hexadecimal, in the comment at the end of the zip
_MAX_ENTRIES = 1_000_000
_MAX_ENTRY = 2 << 30  # bytes
_MAX_MANIFEST = 256 << 20
_BLOCK = 1 << 20
_PART = lazy_pattern(r"[^\x00-\x1f\x7f/\\:]{1,255}")
_UNREADABLE = (zipfile.BadZipFile, zlib.error, ValueError, RuntimeError, OSError, EOFError)
_DIGEST = lazy_pattern(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup has."""

    told: str
    created: int  # ms since 1970
    operations: int
    damaged: int  # lines of the journal that were damaged when it was made
    files: dict[str, tuple[int, str]] = field(default_factory=dict)  # size and digest by name
    projects: tuple[dict[str, Any], ...] = ()  # lines of the registry, with the number of their folder

    @property
    def bytes(self) -> int:
        """Return the size of all files."""
        return sum(size for size, _ in self.files.values())

    def count(self, folder: str) -> int:
        """Return how many files a folder has."""
        return sum(name.startswith(f"{folder}/") for name in self.files)


class BackupReader:
    """Read a backup whose digest, manifest and entry names were checked."""

    def __init__(self, path: str) -> None:
        """Open a backup.

        Raises:
            UsageError: it is no backup, damaged, or has entries that told never writes.
        """
        self._path = path
        try:
            self._file = open_regular(path)
        except NotReadableError as error:
            raise UsageError(f"told cannot read {path} ({error}). Give the path of a backup.") from None
        try:
            self._check_digest()
            self._zip = zipfile.ZipFile(self._file)
            self.manifest = self._read_manifest()
        except (*_UNREADABLE, KeyError, TypeError, AttributeError):
            self._file.close()
            raise self._damaged("it is damaged or no backup") from None
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()
        self._file.close()

    def read(self, name: str) -> Iterator[bytes]:
        """Yield the bytes of a file in blocks; they are checked at the end."""
        size, digest = self.manifest.files[name]
        found, length = hashlib.sha256(), 0
        try:
            with self._zip.open(name) as entry:
                while block := entry.read(_BLOCK):
                    length += len(block)
                    if length > size:
                        break
                    found.update(block)
                    yield block
        except _UNREADABLE:
            length = -1
        if length != size or found.hexdigest() != digest:
            raise self._damaged(f"{name} is damaged")

    def check(self) -> None:
        """Read every file.

        Raises:
            UsageError: one is damaged, or the journal has other damage than the manifest says.
        """
        series: dict[str, list[bytes]] = {}
        for name in sorted(self.manifest.files):
            is_segment = name.startswith("journal/") and name.endswith(".jsonl") and name.count("/") == 2
            blocks = list(self.read(name)) if is_segment else [b"" for _ in self.read(name)]
            if is_segment:
                series.setdefault(name.split("/")[1], []).append(b"".join(blocks))
        counts = [count_operations(machine, segments) for machine, segments in series.items()]
        found = sum(one for one, _ in counts), sum(bad for _, bad in counts)
        if found != (self.manifest.operations, self.manifest.damaged):
            raise self._damaged("its journal is damaged")

    def _check_digest(self) -> None:
        size = os.fstat(self._file.fileno()).st_size
        if size <= DIGEST_BYTES or hash_file(self._file, size - DIGEST_BYTES) != self._file.read():
            raise ValueError(self._path)
        self._file.seek(0)

    def _read_manifest(self) -> Manifest:
        entries = self._zip.infolist()
        if len(entries) > _MAX_ENTRIES or self._zip.getinfo(MANIFEST).file_size > _MAX_MANIFEST:
            raise self._damaged("it is too large")
        found = load_json(self._zip.read(MANIFEST).decode())
        if found["format"] != FORMAT:
            raise ValueError(FORMAT)
        if found["version"] != VERSION:
            raise UsageError(f"{self._path} is of a newer told. Update told, then retry.")
        files = {str(name): (int(size), str(digest)) for name, (size, digest) in found["files"].items()}
        names = [entry.filename for entry in entries]
        is_unique = len({name.casefold() for name in names}) == len(names)
        if sorted(names) != sorted([*files, MANIFEST]) or not is_unique:
            raise self._damaged("its entries are not those of its manifest")
        for entry in entries:
            self._check_entry(entry, files)
        projects = tuple(found["projects"])
        for one in projects:
            _check_project(one)
        return Manifest(
            str(found["told"]), int(found["created"]), int(found["operations"]), int(found["damaged"]), files,
            projects,
        )  # fmt: skip

    def _check_entry(self, entry: zipfile.ZipInfo, files: dict[str, tuple[int, str]]) -> None:
        name, mode = entry.filename, entry.external_attr >> 16
        if name != MANIFEST and not is_known_name(name):
            raise self._damaged(f"it has the entry {name[:80]!r}, which no backup of told has")
        if mode and not stat.S_ISREG(mode):
            raise self._damaged(f"{name} is no regular file")
        size, digest = files.get(name, (entry.file_size, "0" * 64))
        if not 0 <= size == entry.file_size <= _MAX_ENTRY or not _DIGEST.fullmatch(digest):
            raise self._damaged(f"{name} has an impossible size")

    def _damaged(self, why: str) -> UsageError:
        return UsageError(f"told cannot restore {self._path}: {why}. Nothing was changed.")


def is_known_name(name: str) -> bool:
    """Tell whether told writes a file of this name into backups."""
    parts = name.split("/")
    if name in LEFT_OUT or not all(_PART.fullmatch(part) and part.strip(". ") for part in parts):
        return False
    if len(parts) == 1:
        return name in FILES
    if parts[0] == PROJECTS:
        return len(parts) >= 4 and parts[1].isdecimal() and parts[2] in ("journal", "checkpoints")
    return parts[0] in FOLDERS


def _check_project(found: dict[str, Any]) -> None:
    texts = [found["root"], found["scope"], found["ignored"], *found["series"]]
    if not isinstance(found["number"], int) or not all(isinstance(one, str) for one in texts):
        raise ValueError(found)
    if any(char < " " for text in texts for char in text):
        raise ValueError(found)


def hash_file(file: BinaryIO, size: int) -> bytes:
    """Return the digest of the first bytes of a file as text, and stop behind them."""
    file.seek(0)
    found = hashlib.sha256()
    while size > 0:
        block = file.read(min(_BLOCK, size))
        if not block:
            break
        found.update(block)
        size -= len(block)
    return found.hexdigest().encode()


def count_operations(machine: str, segments: list[bytes]) -> tuple[int, int]:
    """Return how many operations a series has, and how many lines are damaged or do not continue it."""
    count = damaged = 0
    expected, previous = 1, first_hash(machine)
    for data in segments:
        for line in drop_partial_batch(data.split(b"\n")[:-1]):
            try:
                found = parse_line(line, machine)
            except BadLineError:
                damaged += 1
                expected, previous = expected + 1, ""
                continue
            count += 1
            continues = found.number == expected and previous in ("", found.previous)
            damaged += not continues
            expected, previous = found.number + 1, found.hash
    return count, damaged
