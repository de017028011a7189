"""Copies of other machines' series: where they are, and what told accepts from them.

`sync/series` lists them: each line has the folder below `sync/`, the machine, `own` or `team`, the trust that
its operations get, the scope of team memories without a project, and the projects whose team memories are
wanted. Folders that are not listed are not read.

A machine of the user's own counts like this one. A colleague's operations are never the user's word, never
locked, and change only memories of the same author: their ids are made of the author's name and the id that
the author has given, so that nobody can take another one's place.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, NamedTuple

from told.errors import MissingError
from told.files import cannot_write, make_folder, read_table, write_private
from told.journal.files import (
    FORGET,
    IDENTITY,
    MAKES_MEMORY,
    STRANGER,
    Operation,
    is_machine_id,
    list_segments,
)
from told.store.database import public_id
from told.store.memories.names import PROJECT, SHARED

OWN, COLLEAGUE = "own", "team"
SERIES = "series"  # payload field: the series of a project that an operation was copied from
PROJECT_KEY = "project"  # payload field of a team memory: the key of its project
SPACES = "spaces.json"  # with whom is synced
MAX_TEXT = 4000  # characters
_MAX_IMPORTANCE = 8.0
_MAX_ID = 40  # characters
_AUTHOR_LETTERS = 6  # of a colleague's memory, behind the id that its author has given
_MEMORY_FIELDS = (
    "text", "kind", "marks", "context", "label", "triggers", "entities", "importance", "created", IDENTITY,
)  # fmt: skip
# The operations and payload fields that are accepted from colleagues.
_ACCEPTED_FIELDS: dict[str, tuple[str, ...]] = {
    "remember": _MEMORY_FIELDS,
    "revise": _MEMORY_FIELDS,
    "supersede": ("by", IDENTITY),
    FORGET: (IDENTITY,),
}
_MAKES_TEXT = MAKES_MEMORY | {"revise"}  # its payload has everything that the memory says


class Copy(NamedTuple):
    """The copy of another machine's series."""

    home: str
    folder: str  # below `sync/`
    machine: str
    kind: str  # OWN or COLLEAGUE
    trust: str = ""  # of a colleague's memories: team:NAME/AUTHOR
    scope: str = ""  # of a team's memories that belong to no project
    projects: tuple[str, ...] = ()  # keys of the projects whose team memories are wanted

    @property
    def path(self) -> str:
        """The folder of its segments."""
        return os.path.join(sync_folder(self.home), self.folder)

    def segments(self) -> list[str]:
        """List the names of its segments, in order."""
        return list_segments(self.path)

    def accept(self, operation: Operation) -> Operation | None:
        """Return the operation with the trust its origin deserves, or None."""
        payload = operation.payload
        if self.kind == OWN:
            series = (payload or {}).get(SERIES)
            if isinstance(series, str) and is_machine_id(series):
                return operation._replace(machine=series)
            return operation
        if operation.kind not in _ACCEPTED_FIELDS or not _is_memory_id(operation.memory):
            return None
        accepted = None if payload is None else self._accept_payload(operation, payload)
        if accepted is None and payload is not None:
            return None
        machine, memory = STRANGER + operation.machine, self.local_id(operation.memory)
        return operation._replace(machine=machine, memory=memory, by=self.trust, payload=accepted)

    def local_id(self, memory: str) -> str:
        """Return the id that a memory of this series has on this machine."""
        if self.kind == OWN:
            return memory
        return memory + public_id("", self.trust, memory, length=_AUTHOR_LETTERS)

    def is_local_id(self, memory: str) -> bool:
        """Tell whether a memory of this machine has the id that one of a colleague's series gets."""
        return memory == self.local_id(memory[:-_AUTHOR_LETTERS])

    def _accept_payload(self, operation: Operation, given: dict[str, Any]) -> dict[str, Any] | None:
        payload = {name: given[name] for name in _ACCEPTED_FIELDS[operation.kind] if name in given}
        # Nobody can give an operation the name of another one's, which would then count as its copy.
        payload[IDENTITY] = f"{self.trust} {operation.identity or operation.hash}"
        if "by" in payload:
            payload["by"] = self.local_id(payload["by"]) if _is_memory_id(payload["by"]) else ""
        limit_payload(payload, operation.at)
        if operation.kind not in _MAKES_TEXT:
            return payload
        project = given.get(PROJECT_KEY)
        if isinstance(project, str) and project:
            if project not in self.projects:
                return None
            payload["scope"] = PROJECT + project
        else:
            payload["scope"] = self.scope
        return payload | {"trust": self.trust}


def limit_payload(payload: dict[str, Any], at: int) -> None:
    """Limit what a colleague says of a memory: its length, its importance, and a date after `at`."""
    text, importance, created = (payload.get(name) for name in ("text", "importance", "created"))
    if isinstance(text, str):
        payload["text"] = " ".join(text[: 2 * MAX_TEXT].split())[:MAX_TEXT]
    if isinstance(importance, (int, float)) and importance > _MAX_IMPORTANCE:
        payload["importance"] = _MAX_IMPORTANCE
    if isinstance(created, int) and created > at:
        del payload["created"]


def _is_memory_id(name: object) -> bool:
    if not isinstance(name, str) or name[:1] != "m" or len(name) > _MAX_ID:
        return False
    return name.isascii() and name.isalnum()


def sync_folder(home: str) -> str:
    """Return the folder of everything that belongs to sync."""
    return os.path.join(home, "sync")


def has_spaces(home: str) -> bool:
    """Tell whether the user ever set up a sync or a team."""
    return os.path.exists(os.path.join(sync_folder(home), SPACES))


def list_copies(home: str) -> list[Copy]:
    """List the copies that told reads."""
    found = []
    for folder, machine, kind, trust, scope, projects in read_table(_table(home), 6):
        parts = folder.split("/")
        is_valid = len(parts) == 2 and all(part.isalnum() for part in parts) and is_machine_id(machine)
        if is_valid and kind in (OWN, COLLEAGUE) and (kind == OWN or (trust and scope.startswith(SHARED))):
            keys = tuple(filter(None, projects.split(",")))
            found.append(Copy(home, folder, machine, kind, trust, scope, keys))
    return found


def write_copies(home: str, copies: Iterable[Copy]) -> None:
    """Replace the list of copies that told reads.

    Raises:
        ToldError: it cannot be written.
    """
    rows = []
    for one in sorted(copies):
        fields = (one.folder, one.machine, one.kind, one.trust, one.scope, ",".join(one.projects))
        if any(char < " " for field in fields for char in field):
            raise MissingError(f"The name {one.trust!r} has a line break or tab in it. Choose another one.")
        rows.append("\t".join(fields) + "\n")
    path = _table(home)
    try:
        make_folder(sync_folder(home))
        write_private(path, "".join(rows).encode("utf-8", "replace"))
    except OSError as error:
        raise cannot_write(path, error) from None


def _table(home: str) -> str:
    return os.path.join(sync_folder(home), "series")
