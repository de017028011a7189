"""Collect what an export contains: redacted again, and without what is private unless that is wanted."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import apsw

from told.files import NotReadableError, read_document
from told.ingest.archive import archive_quiet_sessions, format_draft, list_archive_files, read_draft
from told.ingest.checkpoint_files import (
    FOLDER,
    UnreadableError,
    home_folder,
    list_checkpoints,
    new_path,
    read_checkpoint,
)
from told.ingest.checkpoint_markdown import format_checkpoint
from told.ingest.checkpoint_rows import redact_checkpoint, remove_forgotten
from told.ingest.forget import MentionFinder
from told.ingest.forgotten import Forgotten
from told.journal.erase import redact_values
from told.journal.files import SET, Operation
from told.journal.registry import list_projects
from told.journal.transfer import Copy, copy_operations, read_own_operations, seal_copies
from told.jsontext import as_text
from told.memories.forget import find_duplicates
from told.memories.journal_writer import IMPORT
from told.redact.rescan import Rescanner
from told.store.memories.names import is_private
from told.store.memories.protocol import Memories
from told.store.memories.records import Memory
from told.store.sessions.checkpoints import Projects
from told.sync.formats.native import FORMAT, VERSION, describe_memory, format_copies

_MACHINE_TOPICS = frozenset(("lived",))  # notes that count a machine's own operations and days


@dataclass(frozen=True, slots=True)
class Source:
    """A home to export from."""

    home: str
    memories: Memories
    connection: apsw.Connection
    key: bytes
    redact: Callable[[str], str]
    now: int


def collect(
    source: Source, *, version: str, made: str, private: bool, sessions: bool
) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Collect the head and the lists of an export.

    If private, it has private memories, told's key and the registered projects.
    """
    operations = read_own_operations(source.home)
    hidden = frozenset() if private else find_private(source.memories, operations)
    shown = list(_publish(operations, hidden))
    rescanner = Rescanner(source.redact, source.key)
    copies, order = copy_operations(shown)
    copies = [redact_copy(one, rescanner) for one in copies]
    hide = hide_private(source, [one for one in operations if one.memory in hidden])
    head = {
        "format": FORMAT, "version": VERSION, "made": made, "told": version, "complete": private,
        "seal": seal_copies(copies, source.key), "series": order,
    }  # fmt: skip
    head |= {"key": source.key.hex()} if private else {}
    lists: dict[str, list[Any]] = {
        "memories": [
            rescanner.redact_value(_without(describe_memory(one), hidden))
            for one in list_exported(source.memories, hidden)
        ],
        "operations": format_copies(copies),
        "checkpoints": list(_collect_checkpoints(source, hide)),
    }
    if private:
        lists["projects"] = [
            {"root": one.root, "scope": one.scope, "series": list(one.series)}
            for one in list_projects(source.home)
        ]
    if sessions:
        archive_quiet_sessions(source.connection, source.home, source.now, everything=True)
        lists["places"] = [list(one) for one in Projects(source.connection).places()]
        lists["sessions"] = list(_collect_sessions(source, hide))
    return head, lists


def list_exported(memories: Memories, hidden: Collection[str] = ()) -> list[Memory]:
    """Return all memories but the hidden ones, oldest first."""
    return [one for one in memories.load_ids(memories.ids()).values() if one.id not in hidden]


def find_private(memories: Memories, operations: Sequence[Operation]) -> frozenset[str]:
    """Return the ids of memories that are or ever were private, and of others with the words of those."""
    scopes = ((one, as_text((one.payload or {}).get("scope"))) for one in operations)
    named = {name for one, scope in scopes if is_private(scope) for name in one.touched}
    named |= {one.id for one in memories.get(memories.ids()).values() if is_private(one)}
    said = _list_said(memories, [one for one in operations if one.memory in named])
    return frozenset(named | {one.id for one in find_duplicates(memories, said)})


def _list_said(memories: Memories, operations: Sequence[Operation]) -> list[Memory]:
    """Return memories with each text that they have or ever had."""
    known = memories.get({one.memory for one in operations})
    said = {one: None for one in known.values() if one.text}
    for one in operations:
        text = (one.payload or {}).get("text")
        if isinstance(text, str) and text:
            said[known.get(one.memory, Memory(one.memory))._replace(text=text)] = None
    return list(said)


def _publish(operations: Sequence[Operation], hidden: Collection[str]) -> Iterator[Operation]:
    """Yield operations without what is hidden or belongs to one machine."""
    for one in operations:
        if one.memory in hidden or one.kind == IMPORT:
            continue
        if one.payload is None:
            yield one
            continue
        payload = {**_without(one.payload, hidden)}
        topics = payload.get(SET) if one.kind == SET else None
        if isinstance(topics, dict):
            payload[SET] = {name: topics[name] for name in topics if name not in _MACHINE_TOPICS}
        published = one._replace(payload=payload)
        has_target = one.kind != "edge" or payload.get("target")
        if has_target and (published.touched or payload.get(SET)):
            yield published


def _without(value: Any, hidden: Collection[str]) -> Any:
    """Return a JSON value without the ids of hidden memories."""
    if not hidden:
        return value
    if isinstance(value, str):
        return "" if value in hidden else value
    if isinstance(value, dict):
        return {
            name: _without(of, hidden) for name, of in value.items() if not _names_hidden(name, of, hidden)
        }
    if isinstance(value, (list, tuple)):
        return [_without(one, hidden) for one in value if not _names_hidden("", one, hidden)]
    return value


def _names_hidden(name: str, value: Any, hidden: Collection[str]) -> bool:
    """Tell whether an entry is only about a hidden memory."""
    if isinstance(value, dict):
        return value.get("target") in hidden
    return name in hidden or (not name and isinstance(value, str) and value in hidden)


def redact_copy(one: Copy, rescanner: Rescanner) -> Copy:
    """Return a copy of an operation whose payload is redacted."""
    if one.payload is None:
        return one
    return one._replace(payload=redact_values(one.kind, one.payload, rescanner)[1])


def hide_private(source: Source, private: Sequence[Operation]) -> Forgotten | None:
    """Return what cuts all that private memories ever said out of sessions and checkpoints."""
    said = _list_said(source.memories, private)
    if not said:
        return None
    finder = MentionFinder(source.connection, source.key, source.home)
    return Forgotten(source.key, [place for one in said for place in finder.find(one)])


def _collect_checkpoints(source: Source, hide: Forgotten | None) -> Iterator[dict[str, Any]]:
    top = os.path.join(source.home, FOLDER)
    for path in list_checkpoints(source.home):
        try:
            text, found = read_document(path).decode("utf-8-sig", "replace"), read_checkpoint(path)
        except (UnreadableError, NotReadableError):
            continue
        clean = redact_checkpoint(found, source.redact)
        clean = remove_forgotten(replace(clean, by="agent"), hide) if hide else clean
        name, folder = os.path.basename(path), os.path.dirname(path)
        if replace(clean, by=found.by) != found:
            text = format_checkpoint(replace(clean, by=found.by))
            name = os.path.basename(new_path(folder, clean))  # a name is made of the title
        if os.path.dirname(folder) != top:  # in a project, or loose
            folder = home_folder(source.home, found.project, found.project.rpartition("/")[2])
        yield {
            "folder": os.path.basename(folder), "name": name, "text": text,
            "changed": os.lstat(path).st_mtime_ns // 1_000_000,
        }  # fmt: skip


def _collect_sessions(source: Source, hide: Forgotten | None) -> Iterator[dict[str, Any]]:
    for agent, path in list_archive_files(source.home):
        draft = read_draft(path, source.redact)
        if draft is None:
            continue
        if hide:
            hide.cut(agent, draft)
        yield {"agent": agent, "lines": list(format_draft(draft))}
