"""What told put into other programs' files, and where: enough to take it out, never a copy of such a file."""

from __future__ import annotations

import contextlib
import json
import os

from told.errors import MissingError
from told.journal.files import SeriesLock, cannot_write, make_folder, write_whole
from told.record import record, replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

NAME = "installed.json"
ENTRY, BLOCK, OWN_FILE = "entry", "block", "file"


@record
class Installed:
    """One change as it was made."""

    owners: tuple[str, ...]  # who wants it; the first one says what it says
    kind: str
    path: str
    value: Any  # told's own value or text
    keys: tuple[str, ...] = ()
    item: bool = False
    mark: str = ""
    executable: bool = False
    made: tuple[tuple[str, ...], ...] = ()  # objects and lists that were made for it
    pieces: tuple[tuple[int, str], ...] | None = None  # what was put in, and where; None: not known exactly
    before: str = ""  # short hash of the file; empty: there was none
    after: str = ""

    @property
    def identity(self) -> tuple[Any, ...]:
        """Return what makes it the same change as another in the same file."""
        return self.kind, self.keys, self.item, self.mark

    def is_of(self, prefix: str) -> bool:
        """Tell whether an owner wants it, by the first words of the owner's name."""
        return any(owns(prefix, owner) for owner in self.owners)


@record
class Pending:
    """A step that was begun: which it was can be seen from the file."""

    changes: tuple[Installed, ...]
    was: str  # hash of the file before the step
    becomes: str  # and after it


@record
class Touched:
    """A file that told changed."""

    path: str  # as the agent names it
    changes: tuple[Installed, ...] = ()
    created: bool = False
    pending: Pending | None = None


def owns(prefix: str, owner: str) -> bool:
    """Tell whether an owner's name starts with these words; no words are in every name."""
    return not prefix or owner == prefix or owner.startswith(prefix + " ")


class Ledger:
    """The file `installed.json` in told's folder."""

    def __init__(self, home: str) -> None:
        self._home = home
        self.path = os.path.join(home, NAME)
        self.files: dict[str, Touched] = {}  # by the real path
        self.folders: list[str] = []  # that told made
        self.profiles: dict[str, str] = {}  # which hooks each owner is to have
        self._held = False
        self._damaged = False
        self._load()

    def installed(self, owner_prefix: str = "") -> list[Installed]:
        """Return what is installed, in the order it was made."""
        changes = [change for touched in self.files.values() for change in _of(touched)]
        return [change for change in changes if change.is_of(owner_prefix)]

    def owners(self) -> list[str]:
        """Return everyone for whom something is installed."""
        return sorted({owner for change in self.installed() for owner in change.owners})

    def wish(self, profiles: Mapping[str, str]) -> None:
        """Write down which hooks owners are to have, as long as anything is installed for them."""
        with self.hold():
            known = self.owners()
            kept = {one: which for one, which in {**self.profiles, **profiles}.items() if one in known}
            if kept != self.profiles:
                self.profiles = kept
                self.save()

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Keep other tolds from changing it, and read what they wrote before.

        Raises:
            BusyError: another told kept it for too long.
            MissingError: told's folder cannot be written.
        """
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

    def plan(self, real: str, touched: Touched, pending: Pending, folders: list[str]) -> None:
        """Write down a step before it is made."""
        self.folders += [folder for folder in folders if folder not in self.folders]
        self.files[real] = replaced(touched, pending=pending)
        self.save()

    def settle(self, real: str, touched: Touched) -> None:
        """Write down what is true of a file now."""
        settled = replaced(touched, pending=None)
        if self.files.get(real) == settled or (real not in self.files and not settled.changes):
            return
        if settled.changes:
            self.files[real] = settled
        else:
            self.files.pop(real, None)
        self.save()

    def save(self) -> None:
        """Put it on disk.

        Raises:
            MissingError: told's folder cannot be written.
        """
        files = {real: _file_as_json(touched) for real, touched in self.files.items()}
        text = json.dumps(
            {"version": 1, "files": files, "folders": self.folders, "profiles": self.profiles},
            ensure_ascii=False, indent=1,
        )  # fmt: skip
        try:
            if self._damaged:
                os.replace(self.path, self.path + ".damaged")
                self._damaged = False
            write_whole(self.path, text.encode())
        except OSError as error:
            raise cannot_write(self.path, error) from None

    def _load(self) -> None:
        self.files, self.folders, self.profiles = {}, [], {}
        try:
            with open(self.path, encoding="utf-8") as file:
                data = json.load(file)
            self.files = {real: _file_from_json(each) for real, each in data["files"].items()}
            self.folders = [str(folder) for folder in data["folders"]]
            self.profiles = {str(one): str(which) for one, which in data.get("profiles", {}).items()}
        except FileNotFoundError:
            return
        except OSError as error:
            why = (error.strerror or "error").lower()
            raise MissingError(f"told cannot read {self.path} ({why}). Check its permissions.") from None
        except (ValueError, KeyError, TypeError, AttributeError, IndexError):
            # What it said can still be found in the files themselves, by told's own marks.
            self.files, self.folders, self.profiles, self._damaged = {}, [], {}, True


def _of(touched: Touched) -> list[Installed]:
    known = {change.identity for change in touched.changes}
    new = touched.pending.changes if touched.pending else ()
    return [*touched.changes, *(change for change in new if change.identity not in known)]


def _file_as_json(touched: Touched) -> dict[str, Any]:
    data: dict[str, Any] = {
        "path": touched.path,
        "created": touched.created,
        "changes": [_change_as_json(change) for change in touched.changes],
    }
    if touched.pending:
        data["pending"] = {
            "changes": [_change_as_json(change) for change in touched.pending.changes],
            "was": touched.pending.was,
            "becomes": touched.pending.becomes,
        }
    return data


def _file_from_json(data: dict[str, Any]) -> Touched:
    pending = data.get("pending")
    step = None
    if pending:
        changes = tuple(_change_from_json(each) for each in pending["changes"])
        step = Pending(changes, pending["was"], pending["becomes"])
    return Touched(data["path"], tuple(_change_from_json(e) for e in data["changes"]), data["created"], step)


def _change_as_json(change: Installed) -> dict[str, Any]:
    fields: tuple[str, ...] = Installed._fields  # type: ignore[attr-defined]
    return dict(zip(fields, change, strict=True))  # type: ignore[call-overload]


def _change_from_json(data: dict[str, Any]) -> Installed:
    pieces = data["pieces"]
    return Installed(
        owners=tuple(data["owners"]),
        kind=data["kind"],
        path=data["path"],
        value=data["value"],
        keys=tuple(data["keys"]),
        item=data["item"],
        mark=data["mark"],
        executable=data["executable"],
        made=tuple(tuple(keys) for keys in data["made"]),
        pieces=None if pieces is None else tuple((int(at), str(piece)) for at, piece in pieces),
        before=data["before"],
        after=data["after"],
    )
