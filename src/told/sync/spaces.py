"""The spaces this machine takes part in: the user's own machines, and teams."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from told.errors import MissingError, UsageError
from told.files import cannot_write, make_folder, read_text, write_private
from told.journal.copies import SPACES, sync_folder
from told.journal.files import SeriesLock
from told.jsontext import dump_json, load_json

FOLDER, GIT, SSH, SERVER = "folder", "git", "ssh", "server"
PLACES = (FOLDER, GIT, SSH, SERVER)


@dataclass(frozen=True, slots=True)
class Space:
    """A log that several machines share."""

    id: str
    places: tuple[str, ...] = ()  # KIND:WHERE
    name: str = ""  # of the team; empty for the user's own machines
    author: str = ""  # this user's name in the team
    key: str = ""  # that encrypts it, in hexadecimal; empty: not encrypted
    has_passphrase: bool = False  # the key is made of one, and the invitation does not contain it
    creator: str = ""  # the public key of the person who created the team
    projects: tuple[str, ...] = ()  # keys of the projects that the team shares here
    checkpoints: bool = False  # whether checkpoints are exchanged as well
    sessions: bool = False  # whether archived sessions are exchanged as well
    policy: str = ""  # the team's policy that the user accepted, by its hash

    @property
    def is_team(self) -> bool:
        """Whether it belongs to a team."""
        return self.id.startswith("t")

    @property
    def secret(self) -> bytes:
        """The key as bytes."""
        return bytes.fromhex(self.key)

    def folder(self, home: str) -> str:
        """Return the folder of its series on this machine."""
        return os.path.join(sync_folder(home), self.id)

    def series_folder(self, home: str, machine: str) -> str:
        """Return the folder of one series."""
        return os.path.join(sync_folder(home), self.id, machine)


def load_spaces(home: str) -> list[Space]:
    """Return the spaces of this machine, the user's own machines first.

    Raises:
        MissingError: the file is damaged.
    """
    path = os.path.join(sync_folder(home), SPACES)
    try:
        rows = load_json(read_text(path))
    except OSError:
        return []
    except ValueError:
        rows = None
    if not isinstance(rows, list):
        raise MissingError(f"{path} is damaged. Delete it, then join again with `told sync` or `told team`.")
    return sorted(filter(None, map(_parse, rows)), key=lambda one: (one.is_team, one.name))


def _parse(row: Any) -> Space | None:
    if not isinstance(row, dict) or not isinstance(row.get("id"), str) or not row["id"].isalnum():
        return None
    given: dict[str, Any] = {}
    for one in fields(Space):
        value = row.get(one.name, one.default)
        given[one.name] = tuple(map(str, value)) if isinstance(value, list) else value
    return Space(**given)


def save_space(home: str, space: Space) -> None:
    """Add a space, or replace it."""
    _save(home, [*(one for one in load_spaces(home) if one.id != space.id), space])


def remove_space(home: str, space: Space) -> None:
    """Take part in a space no longer; its copies stay until they are deleted."""
    _save(home, [one for one in load_spaces(home) if one.id != space.id])


def _save(home: str, spaces: Sequence[Space]) -> None:
    path = os.path.join(sync_folder(home), SPACES)
    try:
        make_folder(sync_folder(home))
        write_private(path, dump_json([asdict(one) for one in spaces]).encode() + b"\n")
    except OSError as error:
        raise cannot_write(path, error) from None


def own_space(home: str) -> Space | None:
    """Return the space of the user's own machines; None if there is none yet."""
    return next((one for one in load_spaces(home) if not one.is_team), None)


def find_team(home: str, name: str = "") -> Space:
    """Return a team by its name; the only one without a name.

    Raises:
        UsageError: there is none, or there are several.
    """
    teams = [one for one in load_spaces(home) if one.is_team]
    found = [one for one in teams if name in ("", one.name, one.id)]
    if len(found) == 1:
        return found[0]
    names = ", ".join(one.name for one in teams)
    if not teams:
        raise UsageError("You are in no team. `told team create NAME` or `told team join CODE` starts.")
    raise UsageError(f"Unknown team {name!r}. Your teams: {names}." if name else f"Name the team: {names}.")


def add_place(space: Space, place: str) -> Space:
    """Return a space that is also exchanged at another place."""
    return replace(space, places=tuple(dict.fromkeys((*space.places, place))))


@contextmanager
def lock_sync(home: str, wait_ms: int = 10_000) -> Iterator[None]:
    """Keep other syncs of this machine out.

    Raises:
        BusyError: another one runs.
    """
    try:
        make_folder(sync_folder(home))
    except OSError as error:
        raise cannot_write(sync_folder(home), error) from None
    with SeriesLock(sync_folder(home), wait_ms):
        yield
