"""Registry of projects that keep their own journal, and what told accepts from it.

Each registry line has the project's folder, its memory scope, the former state of its `.gitignore` and the
series to read. Unlisted folders and series are never read: anybody can create them.

Anybody who can write to a project can also write to a listed series. Operations of this machine carry a seal
made with the key of told's home. All others count as a colleague's: never the user's word, never locked, only
for this project, and without effect on memories made here.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from told.errors import UsageError
from told.files import cannot_write, is_folder, make_folder, read_text, write_private
from told.hashing import blake2s
from told.journal.copies import OWN, Copy, limit_payload, list_copies, sync_folder
from told.journal.files import (
    ARCHIVE,
    FORGET,
    MAKES_MEMORY,
    RESTORE,
    SET,
    STRANGER,
    UNDO,
    Draft,
    Operation,
    SeriesLock,
    get_machine_id,
    head_of,
    is_machine_id,
    journal_folder,
    list_machines,
    list_segments,
    read_key,
    split_line,
)
from told.store.database import public_id
from told.store.memories.records import CANDIDATE, TEAM, Memory

FOLDER = ".told"
COLLEAGUE = f"{TEAM}project"
_MAX_SEGMENT = 16 * 1024 * 1024  # bytes; told starts a new segment at 1 MB
_SEAL_LENGTH = 16  # of the 32 characters of the salt; the others are random
_PAYLOAD_END = b'"}'
# Counters and personal choices stay in told's home; a forget must outlive the project's folder.
_HOME_ONLY = frozenset(("show", "follow", FORGET, ARCHIVE, RESTORE, SET))
_MEMORY_FIELDS = (
    "text", "kind", "marks", "context", "label", "status", "triggers", "entities", "evidence", "importance",
    "created",
)  # fmt: skip
# The operations and payload fields that are accepted from others.
_ACCEPTED_FIELDS = {
    "remember": _MEMORY_FIELDS,
    "correct": _MEMORY_FIELDS,
    "supersede": ("by", "why"),
    "edge": ("kind", "target", "remove", "why"),
    FORGET: (),
    UNDO: ("machine", "number"),
}


class ProjectJournal(NamedTuple):
    """A project that keeps its own journal."""

    home: str  # told's
    root: str
    scope: str
    ignored: str = ""  # the `.gitignore` before told changed it; "" if unchanged
    series: tuple[str, ...] = ()  # this machine's, and those the user accepted

    @property
    def folder(self) -> str:
        """The project's `.told` folder."""
        return os.path.join(self.root, FOLDER)

    @property
    def journal(self) -> str:
        """The folder of its series."""
        return os.path.join(self.root, FOLDER, "journal")

    @property
    def exists(self) -> bool:
        """Whether the `.told` folder still exists."""
        return is_folder(self.folder)


class Series(NamedTuple):
    """The operations of one machine in one folder."""

    folder: str
    machine: str
    project: ProjectJournal | None = None  # None: told's home, or a copy
    copy: Copy | None = None  # of another machine's series

    @property
    def name(self) -> str:
        """A unique name, also among copies of the same series in several folders."""
        if self.copy:
            return f"{self.machine}@sync/{self.copy.folder}"
        return f"{self.machine}@{self.project.root}" if self.project else self.machine

    def segments(self) -> list[str]:
        """List the names of its segments, in order."""
        names = list_segments(self.folder)
        return filter_readable(self.folder, names) if self.project else names

    def accept(self, operation: Operation, line: bytes) -> Operation | None:
        """Return the operation with the trust its origin deserves, or None."""
        if self.copy:
            return self.copy.accept(operation)
        if self.project is None:
            return operation
        head = head_of(operation)
        payload = split_line(line, head)[0]
        key = read_key(self.project.home)
        if key and operation.payload and payload == _sealed(payload, head, operation.machine, key):
            return operation
        if operation.kind not in _ACCEPTED_FIELDS:
            return None
        return operation._replace(
            machine=STRANGER + operation.machine,
            by=COLLEAGUE,
            payload=None if operation.payload is None else _accepted_payload(operation, self.project),
        )


def list_series(folder: str) -> list[Series]:
    """List all series: of told's home, of registered projects, and copies of other machines'."""
    home = os.path.dirname(folder)
    return [*list_local_series(home), *(Series(one.path, one.machine, copy=one) for one in list_copies(home))]


def list_local_series(home: str) -> list[Series]:
    """List the series that are not copies of another machine's."""
    folder = journal_folder(home)
    found = [Series(os.path.join(folder, name), name) for name in list_machines(folder)]
    return found + list_project_series(home)


def list_shared_series(home: str) -> list[Series]:
    """List every series below `sync/`: copies of other machines', and what this machine shares."""
    root = sync_folder(home)
    known = {one.folder: one for one in list_copies(home)}
    found = []
    for space in list_machines(root):
        for machine in filter(is_machine_id, list_machines(os.path.join(root, space))):
            folder = f"{space}/{machine}"
            copy = known.get(folder) or Copy(home, folder, machine, OWN)
            found.append(Series(copy.path, machine, copy=copy))
    return found


def list_project_series(home: str) -> list[Series]:
    """List the accepted series of all registered projects."""
    return [
        Series(os.path.join(project.journal, name), name, project)
        for project in list_projects(home)
        if is_folder(project.journal)
        for name in sorted(project.series)
        if is_folder(os.path.join(project.journal, name))
    ]


def list_series_names(project: ProjectJournal) -> list[str]:
    """List all series in a project's folder, accepted or not."""
    names = list_machines(project.journal) if is_folder(project.journal) else []
    return [name for name in names if is_machine_id(name) and is_folder(os.path.join(project.journal, name))]


def own_series_name(project: ProjectJournal) -> str:
    """Return the series this machine writes; a copied folder gets another one."""
    return public_id("", get_machine_id(project.home), project.root, length=8)


def filter_readable(folder: str, names: Iterable[str]) -> list[str]:
    """Drop links, special files and files too large for told to have written."""
    found = []
    for name in names:
        try:
            state = os.lstat(os.path.join(folder, name))
        except OSError:
            continue
        if stat.S_ISREG(state.st_mode) and state.st_size <= _MAX_SEGMENT:
            found.append(name)
    return found


def read_registry(home: str) -> list[ProjectJournal]:
    """Read all registered projects, including deleted ones."""
    try:
        lines = read_text(_registry_path(home), errors="surrogateescape").split("\n")
    except OSError:
        return []
    found = {}
    for line in lines:
        root, scope, ignored, names, *_ = (*line.split("\t"), "", "", "", "")
        if os.path.isabs(root) and scope:
            series = tuple(name for name in names.split(",") if name.isalnum())
            found[root] = ProjectJournal(home, root, scope, ignored, series)
    return list(found.values())


def list_projects(home: str) -> list[ProjectJournal]:
    """List the registered projects that exist."""
    return [project for project in read_registry(home) if project.exists]


def has_projects(home: str) -> bool:
    """Return whether any project is registered."""
    try:
        return os.stat(_registry_path(home)).st_size > 0
    except OSError:
        return False


def register(project: ProjectJournal) -> None:
    """Add a project to the registry or update it."""
    if any(char < " " for char in project.root + project.scope):
        raise UsageError("The path of this folder has a line break or tab in it. Give it another name.")
    _update_registry(project.home, project.root, project)


def unregister(home: str, root: str) -> None:
    """Remove a project from the registry; keep its folder."""
    if any(project.root == root for project in read_registry(home)):
        _update_registry(home, root, None)


def rename_scope(home: str, old: str, new: str) -> None:
    """Change the scope of registered projects."""
    for project in read_registry(home):
        if project.scope == old:
            register(project._replace(scope=new))


def _update_registry(home: str, root: str, project: ProjectJournal | None) -> None:
    path, folder = _registry_path(home), journal_folder(home)
    try:
        make_folder(folder)
        with SeriesLock(folder):
            projects = [one for one in read_registry(home) if one.root != root]
            projects += [project] if project else []
            lines = [
                "\t".join((one.root, one.scope, one.ignored, ",".join(one.series))) + "\n"
                for one in sorted(projects, key=lambda one: one.root)
            ]
            write_private(path, "".join(lines).encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise cannot_write(path, error) from None


def _registry_path(home: str) -> str:
    return os.path.join(home, "registry")


def choose_project(home: str, drafts: Sequence[Draft], known: Mapping[str, Memory]) -> ProjectJournal | None:
    """Choose the project whose journal takes a batch; None for told's home.

    A batch goes to a project only if all memories it touches belong there.
    """
    projects = list_projects(home)
    made: dict[str, ProjectJournal | None] = {}
    for draft in drafts:
        if draft.kind in MAKES_MEMORY:
            scope = (draft.payload or {}).get("scope")
            made[draft.memory] = next((one for one in projects if one.scope == scope), None)
    touched = {draft.memory for draft in drafts}
    found = {made[name] if name in made else _project_of(projects, known.get(name)) for name in touched}
    return found.pop() if len(found) == 1 else None


def is_home_only(draft: Draft) -> bool:
    """Return whether an operation is never written to a project."""
    is_candidate = (draft.payload or {}).get("status") == CANDIDATE  # nobody stands for it yet
    return draft.kind in _HOME_ONLY or not draft.memory or is_candidate


def find_project_journal(home: str, memory: Memory) -> ProjectJournal | None:
    """Return the project whose journal has the text of a memory; None for told's home."""
    return _project_of(list_projects(home), memory)


def _project_of(projects: Sequence[ProjectJournal], memory: Memory | None) -> ProjectJournal | None:
    if memory is None:
        return None
    machine = memory.machine.removeprefix(STRANGER)
    found = [
        one for one in projects if machine in one.series and is_folder(os.path.join(one.journal, machine))
    ]
    return min(found, key=lambda one: one.scope != memory.scope, default=None)


def seal_payload(payload: bytes, head: bytes, machine: str, key: bytes) -> bytes:
    """Replace half of a payload's salt with a seal; without a key, do nothing."""
    return _sealed(payload, head, machine, key) if key else payload


def _sealed(payload: bytes, head: bytes, machine: str, key: bytes) -> bytes:
    body = payload[: -_SEAL_LENGTH - len(_PAYLOAD_END)]
    seal = blake2s(machine.encode() + b"\0" + head + body, key=key[:32], digest_size=_SEAL_LENGTH // 2)
    return body + seal.hexdigest().encode() + _PAYLOAD_END


def _accepted_payload(operation: Operation, project: ProjectJournal) -> dict[str, Any]:
    given = operation.payload or {}
    payload = {name: given[name] for name in _ACCEPTED_FIELDS[operation.kind] if name in given}
    limit_payload(payload, operation.at)
    if operation.kind == UNDO:
        payload["machine"] = f"{STRANGER}{payload.get('machine')}"
    if operation.kind in MAKES_MEMORY:
        payload |= {"scope": project.scope, "trust": COLLEAGUE}
    return payload
