"""Record what told wrote into other programs' files."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from told.errors import MissingError
from told.files import cannot_write, describe_error, make_folder, read_text, write_private
from told.journal.files import SeriesLock

NAME = "installed.json"
ENTRY, BLOCK, OWN_FILE = "entry", "block", "file"


@dataclass(frozen=True, slots=True)
class InstalledChange:
    """One change as it was made."""

    owners: tuple[str, ...]  # the first one defines the content
    kind: str
    path: str
    value: Any  # told's own value or text
    keys: tuple[str, ...] = ()
    item: bool = False
    mark: str = ""
    executable: bool = False
    made: tuple[tuple[str, ...], ...] = ()  # objects and lists created for it
    pieces: tuple[tuple[int, str], ...] | None = None  # inserted text and offsets; None: unknown
    before: str = ""  # short hash of the file; empty: no file
    after: str = ""

    @property
    def identity(self) -> tuple[Any, ...]:
        """Return what identifies the change in its file."""
        return self.kind, self.keys, self.item, self.mark

    def is_owned_by(self, prefix: str) -> bool:
        """Tell whether an owner with this prefix wants it."""
        return any(owner_matches(prefix, owner) for owner in self.owners)


@dataclass(frozen=True, slots=True)
class Pending:
    """A step that was begun; the file shows whether it was done."""

    changes: tuple[InstalledChange, ...]
    was: str  # hash of the file before the step
    becomes: str  # and after it


@dataclass(frozen=True, slots=True)
class FileRecord:
    """A file that told changed."""

    path: str  # as the agent names it
    created: bool = False
    changes: tuple[InstalledChange, ...] = ()
    pending: Pending | None = None


def owner_matches(prefix: str, owner: str) -> bool:
    """Tell whether an owner's name starts with these words."""
    return not prefix or owner == prefix or owner.startswith(prefix + " ")


class Ledger:
    """The file `installed.json` in told's folder."""

    def __init__(self, home: str) -> None:
        self._home = home
        self.path = os.path.join(home, NAME)
        self.files: dict[str, FileRecord] = {}  # by the real path
        self.folders: list[str] = []  # that told made
        self.profiles: dict[str, str] = {}  # by owner
        self._held = False
        self._damaged = False
        self._load()

    def installed(self, owner_prefix: str = "") -> list[InstalledChange]:
        """Return the installed changes in the order they were made."""
        changes = [change for record in self.files.values() for change in _changes_of(record)]
        return [change for change in changes if change.is_owned_by(owner_prefix)]

    def owners(self) -> list[str]:
        """Return all owners of installed changes."""
        return sorted({owner for change in self.installed() for owner in change.owners})

    def set_profiles(self, profiles: Mapping[str, str]) -> None:
        """Record the hook profiles of owners with installed changes."""
        with self.lock():
            known = self.owners()
            kept = {one: which for one, which in {**self.profiles, **profiles}.items() if one in known}
            if kept != self.profiles:
                self.profiles = kept
                self.save()

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the ledger against other tolds, and reload it."""
        if self._held:
            yield
            return
        try:
            make_folder(self._home)
            lock = SeriesLock(self._home)
            lock.__enter__()
        except OSError as error:
            raise cannot_write(self.path, error) from None
        self._held = True
        try:
            self._load()
            yield
        finally:
            self._held = False
            lock.__exit__(None, None, None)

    def record_plan(self, real: str, record: FileRecord, pending: Pending, folders: list[str]) -> None:
        """Record a step before it is made."""
        self.folders += [folder for folder in folders if folder not in self.folders]
        self.files[real] = replace(record, pending=pending)
        self.save()

    def record(self, real: str, record: FileRecord) -> None:
        """Record the present state of a file."""
        settled = replace(record, pending=None)
        if self.files.get(real) == settled or (real not in self.files and not settled.changes):
            return
        if settled.changes:
            self.files[real] = settled
        else:
            self.files.pop(real, None)
        self.save()

    def save(self) -> None:
        """Write the ledger to disk."""
        files = {real: _file_as_json(record) for real, record in self.files.items()}
        text = json.dumps(
            {"version": 1, "files": files, "folders": self.folders, "profiles": self.profiles},
            ensure_ascii=False, indent=1,
        )  # fmt: skip
        try:
            if self._damaged:
                os.replace(self.path, self.path + ".damaged")
                self._damaged = False
            write_private(self.path, text.encode())
        except OSError as error:
            raise cannot_write(self.path, error) from None

    def _load(self) -> None:
        self.files, self.folders, self.profiles = {}, [], {}
        try:
            if not os.path.lexists(self.path):
                return
            data = json.loads(read_text(self.path, errors="strict"))
            self.files = {real: _file_from_json(each) for real, each in data["files"].items()}
            self.folders = [str(folder) for folder in data["folders"]]
            self.profiles = {str(one): str(which) for one, which in data.get("profiles", {}).items()}
        except OSError as error:
            raise MissingError(
                f"told cannot read {self.path} ({describe_error(error)}). Check its permissions."
            ) from None
        except (ValueError, KeyError, TypeError, AttributeError, IndexError):
            # told's changes can still be found by their marks.
            self.files, self.folders, self.profiles, self._damaged = {}, [], {}, True


def _changes_of(record: FileRecord) -> list[InstalledChange]:
    known = {change.identity for change in record.changes}
    new = record.pending.changes if record.pending else ()
    return [*record.changes, *(change for change in new if change.identity not in known)]


def _file_as_json(record: FileRecord) -> dict[str, Any]:
    data = asdict(record)
    if record.pending is None:
        del data["pending"]
    return data


def _file_from_json(data: dict[str, Any]) -> FileRecord:
    pending = data.get("pending")
    step = Pending(_changes_from_json(pending), pending["was"], pending["becomes"]) if pending else None
    return FileRecord(data["path"], data["created"], _changes_from_json(data), step)


def _changes_from_json(data: dict[str, Any]) -> tuple[InstalledChange, ...]:
    return tuple(map(_change_from_json, data["changes"]))


def _change_from_json(data: dict[str, Any]) -> InstalledChange:
    pieces = data["pieces"]
    return InstalledChange(**data | {
        "owners": tuple(data["owners"]), "keys": tuple(data["keys"]), "made": tuple(map(tuple, data["made"])),
        "pieces": None if pieces is None else tuple((int(at), str(piece)) for at, piece in pieces),
    })  # fmt: skip
