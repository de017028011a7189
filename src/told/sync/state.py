"""What this machine knows of a space: the heads it accepted, and digests of its files."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields
from typing import Any

from told.files import read_text, write_private
from told.hashing import blake2b
from told.journal.files import list_segments, peek_line
from told.jsontext import dump_json, load_json
from told.sync.heads import FileEntry
from told.sync.spaces import Space, own_space

_FILE = "state.json"
_SAVE_MS = 60_000


@dataclass(slots=True)
class Known:
    """A series of another machine, as last accepted."""

    key: str
    person: str
    name: str = ""
    number: int = 0
    hash: str = ""
    files: dict[str, str] = field(default_factory=dict)  # digests of what was fetched, by name
    seen: dict[str, int] = field(default_factory=dict)  # how far that machine has read, by series
    first: int = 0  # when it was first seen, in ms since 1970
    revoked: bool = False


@dataclass(slots=True)
class State:
    """All that is known of a space; a cache, except for keys of first use and revocations."""

    series: dict[str, Known] = field(default_factory=dict)
    heads: dict[str, str] = field(default_factory=dict)  # digest of the last head, by place and series
    digests: dict[str, list[Any]] = field(default_factory=dict)  # by series/file: size, time, digest, last
    published: int = 0  # the last operation of this machine that lies at a place
    forgetting: list[str] = field(default_factory=list)  # fetched, but not yet forgotten here
    synced: int = 0  # when it was last exchanged without a problem, in ms since 1970

    def was_at(self, place: str) -> bool:
        """Tell whether series were at a place before."""
        return any(one.rpartition(" ")[0] == place for one in self.heads)

    def forget_place(self, place: str) -> None:
        """Forget what was at a place that is no longer used."""
        self.heads = {one: of for one, of in self.heads.items() if one.rpartition(" ")[0] != place}


def place_mark(place: str, series: str) -> str:
    """Return the key of a head: its place and its series."""
    return f"{place} {series}"


def digest(data: bytes) -> str:
    """Return the digest of a file."""
    return blake2b(data, digest_size=16).hexdigest()


def load_state(home: str, space: Space) -> State:
    """Load what is known of a space."""
    try:
        found = load_json(read_text(_path(home, space)))
        series = {str(name): Known(**row) for name, row in found.pop("series").items()}
        return State(series=series, **found)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return State()


def save_state(home: str, space: Space, state: State) -> None:
    """Save what is known of a space; if only the time is new, once a minute."""
    path = _path(home, space)
    value: dict[str, Any] = {one.name: getattr(state, one.name) for one in fields(State)}
    value["series"] = {
        name: {one.name: getattr(known, one.name) for one in fields(Known)}
        for name, known in state.series.items()
    }
    try:
        saved = load_json(read_text(path))
        is_recent = 0 <= state.synced - saved["synced"] < _SAVE_MS
        if is_recent and saved | {"synced": state.synced} == value:
            return
    except (OSError, ValueError, TypeError, KeyError):
        pass
    write_private(path, dump_json(value).encode(), sync=False)


def machine_names(home: str) -> dict[str, str]:
    """Return what the user's other machines are called, by their ids."""
    space = own_space(home)
    return {name: one.name for name, one in load_state(home, space).series.items()} if space else {}


def _path(home: str, space: Space) -> str:
    return os.path.join(space.folder(home), _FILE)


def list_files(home: str, space: Space, machine: str, state: State) -> tuple[FileEntry, ...]:
    """Return the files of a series on this machine; digests are cached by size and time."""
    folder = space.series_folder(home, machine)
    found = []
    for name in list_segments(folder):
        path, key = os.path.join(folder, name), f"{machine}/{name}"
        stat = os.stat(path)
        cached = state.digests.get(key)
        if not cached or cached[:2] != [stat.st_size, stat.st_mtime_ns]:
            data = read_file(path)
            last = peek_line(data[:-1].rpartition(b"\n")[2]) if data.endswith(b"\n") else None
            cached = [stat.st_size, stat.st_mtime_ns, digest(data), last[0] if last else 0]
            state.digests[key] = cached
        found.append(FileEntry(name, cached[2], cached[3], cached[0]))
    return tuple(found)


def read_file(path: str) -> bytes:
    """Read a file of a series; empty if it is missing."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
