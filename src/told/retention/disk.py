"""Keep told's disk use below the user's cap.

Derived data goes first: leftovers, then the texts of the oldest archived sessions in `sessions.db`, then
archive files whose agent still has the original. Everything else exists only once and stays unless the user
deletes it. Texts are removed only after the archive was compared with them. Each step is a transaction:
after a kill, every session is either unchanged or trimmed completely.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import apsw

from told.ingest.archive import archive_path, archive_sessions, read_archived_texts
from told.ingest.checkpoint_files import FOLDER as CHECKPOINTS
from told.ingest.checkpoint_files import MAX_FILE, list_files
from told.ingest.complete_sessions import CompleteSessions
from told.ingest.leftovers import list_damaged_copies, remove_abandoned_files, remove_traces
from told.ingest.scan import file_state
from told.journal.registry import list_projects
from told.memories.forget import add_forget, erase_memories
from told.memories.journal_writer import JournalWriter
from told.retention.retention import list_archived
from told.search.index_text import make_extra_words, make_near_words
from told.store.database import FORGETS, FORGETTING
from told.store.memories.protocol import Memories
from told.store.memories.records import Memory
from told.store.sessions.erase import (
    Orphan,
    SessionEraser,
    TrimCandidate,
    can_trim,
    compact,
    count_text_bytes,
    find_orphans,
    find_trim_candidates,
    measure_space,
)
from told.store.sessions.facts import TrimmedSessions, hash_turns
from told.store.sessions.write import SessionWriter

MB = 1024 * 1024
_PARTS = {"sessions.db": "sessions", "memory.db": "memories", "journal": "journal", "archive": "archive"}
_OTHER = "other"
# What told writes into its folder; other files are not counted.
FILES = (
    "sessions.db", "memory.db", "key", "machine", "registry", "calls", "installed.json", "config.toml",
    "lock", "service.", "hook.", "places", "snapshot.", "settings", "re-embed",
    "approved", FORGETS, FORGETTING,
)  # fmt: skip
FOLDERS = ("journal", "archive", "checkpoints", "shown", "prompts", "counts", "places", "run")
_TARGET = 0.9  # share of the cap to get down to
_COMPACT_SHARE = 0.2  # free share of a database that makes compaction worthwhile
_ROUNDS = 3
_INDEX_FACTOR = 2  # bytes that a byte of text takes with its index
_BATCH = 4_000_000  # bytes of text in one transaction
_DEBUG_LOGS = ("hook.log", "hook.log.old")


@dataclass(frozen=True, slots=True)
class DiskUse:
    """Disk use of everything told writes."""

    parts: dict[str, int]  # bytes by part
    cap: int  # bytes; 0 for none

    @property
    def total(self) -> int:
        """Return the bytes in all."""
        return sum(self.parts.values())

    @property
    def over(self) -> int:
        """Return the bytes above the cap."""
        return max(0, self.total - self.cap) if self.cap else 0


@dataclass(frozen=True, slots=True)
class Relief:
    """The result of reducing disk use."""

    before: int
    after: int
    trimmed: int = 0  # sessions that lost their texts
    copies: int = 0  # sessions that are now only in the agent's file


@dataclass(frozen=True, slots=True)
class DeletionPlan:
    """What must be deleted, although it exists only once, to get below the cap."""

    over: int
    sessions: tuple[Orphan, ...] = ()  # archived; their agents deleted them
    memories: tuple[Memory, ...] = ()  # archived ones
    fits: bool = True  # whether that is enough


def measure_disk_use(home: str, cap_mb: int) -> DiskUse:
    """Measure told's folder and its folders in projects."""
    parts = dict.fromkeys((*_PARTS.values(), _OTHER), 0)
    with suppress(FileNotFoundError), os.scandir(home) as entries:
        for entry in entries:
            name = entry.name.removesuffix("-wal").removesuffix("-shm")
            if entry.name in FOLDERS or entry.name.startswith(FILES) or name.endswith(".lock"):
                parts[_PARTS.get(name, _OTHER)] += _entry_size(entry)
    for place in list_projects(home):
        parts["journal"] += _folder_size(place.journal)
        parts[_OTHER] += _checkpoints_size(os.path.join(place.folder, CHECKPOINTS))
    return DiskUse(parts, cap_mb * MB)


def _checkpoints_size(folder: str) -> int:
    """Return the size of a project's checkpoints, without other files."""
    try:
        return sum(size for size, _ in list_files(folder).values() if size <= MAX_FILE)
    except OSError:
        return 0


def _entry_size(entry: os.DirEntry[str]) -> int:
    if entry.is_dir(follow_symlinks=False):
        return _folder_size(entry.path)
    try:
        return entry.stat(follow_symlinks=False).st_size
    except OSError:
        return 0  # it is gone


def _folder_size(folder: str) -> int:
    try:
        with os.scandir(folder) as entries:
            return sum(map(_entry_size, entries))
    except OSError:
        return 0


def reduce_disk_use(connection: apsw.Connection, home: str, cap_mb: int, *, learned: bool) -> Relief | None:
    """Drop derived data until told is below its cap; None if it was.

    `learned`: spare sessions that were not learned from yet.
    """
    before = measure_disk_use(home, cap_mb)
    if not before.over:
        return None
    remove_leftovers(home)
    trimmed = copies = 0
    # While another process reads, or the disk is full, files do not shrink: then drop nothing more.
    is_small = compact(connection, words=False, when=_COMPACT_SHARE)
    for _ in range(_ROUNDS):
        if not is_small or not measure_disk_use(home, cap_mb).over:
            break
        some = trim_sessions(connection, home, _bytes_to_drop(connection, home, cap_mb), learned=learned)
        trimmed += some
        if not some:
            copies = drop_copies(connection, home, _bytes_to_drop(connection, home, cap_mb))
            break
        is_small = compact(connection, words=True)
    return Relief(before.total, measure_disk_use(home, cap_mb).total, trimmed, copies)


def _bytes_to_drop(connection: apsw.Connection, home: str, cap_mb: int) -> int:
    """Return the bytes to drop, without free space in the database."""
    return measure_disk_use(home, cap_mb).total - measure_space(connection)[1] - int(_TARGET * cap_mb * MB)


def plan_deletion(
    connection: apsw.Connection, home: str, memories: Memories, cap_mb: int, *, learned: bool
) -> DeletionPlan:
    """Reduce disk use, then plan what else must be deleted."""
    reduce_disk_use(connection, home, cap_mb, learned=learned)
    over = measure_disk_use(home, cap_mb).over
    if not over:
        return DeletionPlan(0)
    left = over
    sessions: list[Orphan] = []
    for one in find_orphans(connection):
        if left <= 0:
            break
        if not os.path.exists(one.path):
            left -= _file_size(archive_path(home, one.agent, one.native)) + _INDEX_FACTOR * one.bytes
            sessions.append(one)
    chosen: list[Memory] = []
    for memory in list_archived(memories) if left > 0 else ():
        if left <= 0:
            break
        left -= _estimate_bytes(memory)
        chosen.append(memory)
    return DeletionPlan(over, tuple(sessions), tuple(chosen), left <= 0)


def delete_planned(writer: JournalWriter, connection: apsw.Connection, found: DeletionPlan) -> None:
    """Delete what a plan named, for good; only the user may ask for it.

    The journal keeps ids and sources of the memories, but none of their words. It can be repeated.
    """
    drop_sessions(connection, writer.home, found.sessions)
    for memory in found.memories:
        add_forget(writer, memory)
    if found.memories:
        erase_memories(writer, found.memories)
    remove_traces(writer.home)
    if found.sessions:
        compact(connection, words=True)


def _estimate_bytes(memory: Memory) -> int:
    texts = (memory.text, *(one.quote for one in memory.evidence))
    return _INDEX_FACTOR * sum(len(text.encode("utf-8", "replace")) for text in texts)


def _file_size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def trim_sessions(connection: apsw.Connection, home: str, room: int, *, learned: bool) -> int:
    """Trim the oldest sessions until about `room` bytes are free; return how many.

    With `learned` only sessions that were learned from.
    """
    size, free = measure_space(connection)
    bytes_per_text_byte = max(1.0, (size - free) / max(1, count_text_bytes(connection)))
    chosen: list[TrimCandidate] = []
    for one in find_trim_candidates(connection, learned=learned):
        if room <= 0:
            break
        chosen.append(one)
        room -= int(one.bytes * bytes_per_text_byte)
    return sum(_trim_batch(connection, home, batch, learned) for batch in _split(chosen))


def _split(sessions: Sequence[TrimCandidate]) -> Iterator[list[TrimCandidate]]:
    batch: list[TrimCandidate] = []
    size = 0
    for one in sessions:
        batch.append(one)
        size += one.bytes
        if size > _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _trim_batch(
    connection: apsw.Connection, home: str, sessions: Sequence[TrimCandidate], learned: bool
) -> int:
    reader = CompleteSessions(connection, home)
    archive_sessions(connection, home, [one.id for one in sessions if not _is_archived(reader, home, one)])
    writer = SessionWriter(connection, make_extra_words, make_near_words)
    count = 0
    with writer.transaction():
        for one in sessions:
            if can_trim(connection, one.id, learned=learned):
                writer.trimmed.add(one.id, hash_turns(_read_texts(reader, one.id)))
                writer.empty_turns(one.id)
                count += 1
    return count


def _is_archived(reader: CompleteSessions, home: str, session: TrimCandidate) -> bool:
    """Return whether the archive has exactly the texts of the database."""
    row = reader.session(session.id)
    archived = read_archived_texts(home, row.agent, row.native) if session.is_archived else {}
    return [(n, *texts) for n, texts in archived.items()] == _read_texts(reader, session.id)


def _read_texts(reader: CompleteSessions, session_id: int) -> list[tuple[int, str, str, str]]:
    return [(turn.n, *turn.texts) for turn in reader.archive_turns(session_id)]


def drop_copies(connection: apsw.Connection, home: str, room: int) -> int:
    """Delete archive files whose text the agent's file still has, newest first; return how many.

    Agents delete their oldest files first, so the newest stay longest.
    """
    count = 0
    for one in TrimmedSessions(connection).all():
        path = archive_path(home, one.agent, one.native)
        # A database has no fingerprint: whether it still has this session is unknown.
        if room <= 0 or not one.print or file_state(one.path) != (one.size, one.changed):
            continue
        try:
            size = os.path.getsize(path)
            os.remove(path)
        except OSError:
            continue
        room -= size
        count += 1
    return count


def drop_sessions(connection: apsw.Connection, home: str, sessions: Sequence[Orphan]) -> None:
    """Delete sessions from the archive and the database; can be repeated."""
    writer = SessionWriter(connection, make_extra_words, make_near_words)
    eraser = SessionEraser(connection)
    for one in sessions:
        path = archive_path(home, one.agent, one.native)
        if os.path.exists(path):
            os.remove(path)
        session = writer.session(one.agent, one.native)
        if session is not None:
            with writer.transaction():
                eraser.drop_session(writer, session)


def remove_leftovers(home: str) -> None:
    """Remove debug logs, damaged databases and the unfinished files of killed processes."""
    for name in (*_DEBUG_LOGS, *list_damaged_copies(home)):
        with suppress(OSError):  # missing, or not removable
            os.remove(os.path.join(home, name))
    remove_abandoned_files(home)
