"""Keeps what told writes below the user's cap: derived data goes first, and only at the user's word the rest.

In this order: leftovers; the texts of the oldest sessions in `sessions.db`, which the archive has; files of
the archive whose agent's file says the same. What is left is there only once, and stays unless the user says
so.
"""

from __future__ import annotations

import os
import time

from told.ingest.archive_file import archive_path
from told.ingest.checkpoint_places import FOLDER as CHECKPOINTS
from told.ingest.checkpoint_places import LARGEST, listed
from told.ingest.leftovers import clear
from told.ingest.trimming import drop_copies, drop_sessions, trim
from told.journal.apply import leave_nothing
from told.journal.erase import erase
from told.journal.registry import places
from told.memory.retention import archived_oldest_first
from told.record import record
from told.store.trimming import compact, orphans, space

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

    from told.memory.pen import Pen
    from told.store.memories import Memories
    from told.store.memory_records import Memory
    from told.store.trimming import Orphan

MB = 1024 * 1024
_PARTS = {"sessions.db": "sessions", "memory.db": "memories", "journal": "journal", "archive": "archive"}
_OTHER = "other"
# What told writes into its folder; what else lies there is somebody else's.
FILES = (
    "sessions.db", "memory.db", "key", "machine", "registry", "calls", "installed.json", "config.toml",
    "lock", "service.", "hook.", "places", "snapshot.", "settings",
)  # fmt: skip
FOLDERS = ("journal", "archive", "checkpoints", "shown", "counts", "places")
_LOW = 0.9  # of the cap: how far it is brought down once it is over
_MUCH = 0.2  # of a database that is free: worth making the file anew
_ROUNDS = 3
_WITH_WORDS = 2  # bytes that a byte of text takes in a database, with its words in the index
_MOST_PLACES = 32  # of a memory that one operation may name


@record
class Use:
    """How much disk everything told writes takes."""

    parts: dict[str, int]  # bytes, by what it is
    cap: int  # bytes; 0: none

    @property
    def total(self) -> int:
        """All of it."""
        return sum(self.parts.values())

    @property
    def over(self) -> int:
        """How many bytes it is over the cap."""
        return max(0, self.total - self.cap) if self.cap else 0


@record
class Relief:
    """What was done to come below the cap."""

    before: int
    after: int
    trimmed: int = 0  # sessions that lost their texts
    copies: int = 0  # sessions that the agent's file alone has now


@record
class Cut:
    """What would have to go for the rest to fit: what is there only once."""

    over: int
    sessions: tuple[Orphan, ...] = ()  # of the archive; their agents have deleted them
    memories: tuple[Memory, ...] = ()  # archived ones
    fits: bool = True  # whether that would be enough


def use(home: str, cap_mb: int) -> Use:
    """Return how much disk told takes: its own folder, and those of projects that have one."""
    parts = dict.fromkeys((*_PARTS.values(), _OTHER), 0)
    try:
        with os.scandir(home) as entries:
            for entry in entries:
                name = entry.name.removesuffix("-wal").removesuffix("-shm")
                if entry.name in FOLDERS or entry.name.startswith(FILES) or name.endswith(".lock"):
                    parts[_PARTS.get(name, _OTHER)] += _size(entry)
    except FileNotFoundError:
        pass
    for place in places(home):
        parts["journal"] += _below(place.journal)
        parts[_OTHER] += _notes(os.path.join(place.folder, CHECKPOINTS))
    return Use(parts, cap_mb * MB)


def _notes(folder: str) -> int:
    """Return the size of a project's checkpoints; what is none of these may come from anybody."""
    try:
        return sum(size for size, _ in listed(folder).values() if size <= LARGEST)
    except OSError:
        return 0


def _size(entry: os.DirEntry[str]) -> int:
    if entry.is_dir(follow_symlinks=False):
        return _below(entry.path)
    try:
        return entry.stat(follow_symlinks=False).st_size
    except OSError:
        return 0  # it is gone


def _below(folder: str) -> int:
    try:
        with os.scandir(folder) as entries:
            return sum(map(_size, entries))
    except OSError:
        return 0


def relieve(connection: apsw.Connection, home: str, cap_mb: int, *, learned: bool) -> Relief | None:
    """Drop what can be had again, until told is below its cap or nothing of that kind is left.

    Args:
        connection: The open store of sessions.
        home: The folder of everything told writes for itself.
        cap_mb: The cap; 0: none.
        learned: Spare the sessions that nobody has learned from yet.

    Returns:
        What was done; None if told is below its cap.
    """
    before = use(home, cap_mb)
    if not before.over:
        return None
    clear(home, time.time())
    trimmed = copies = 0
    # While another told reads, or the disk is full, no file gets smaller: nothing more is dropped then.
    is_small = compact(connection, words=False, when=_MUCH)
    for _ in range(_ROUNDS):
        if not is_small or not use(home, cap_mb).over:
            break
        some = trim(connection, home, _wanted(connection, home, cap_mb), learned=learned)
        trimmed += some
        if not some:
            copies = drop_copies(connection, home, _wanted(connection, home, cap_mb))
            break
        is_small = compact(connection, words=True)
    return Relief(before.total, use(home, cap_mb).total, trimmed, copies)


def _wanted(connection: apsw.Connection, home: str, cap_mb: int) -> int:
    """Return how many bytes should go; what is free in the database goes by itself."""
    return use(home, cap_mb).total - space(connection)[1] - int(_LOW * cap_mb * MB)


def plan(connection: apsw.Connection, home: str, memories: Memories, cap_mb: int, *, learned: bool) -> Cut:
    """Say what would have to go that is there only once; before that, all that can be had again goes."""
    relieve(connection, home, cap_mb, learned=learned)
    over = use(home, cap_mb).over
    if not over:
        return Cut(0)
    left = over
    sessions: list[Orphan] = []
    for one in orphans(connection):
        if left <= 0:
            break
        if not os.path.exists(one.path):
            left -= _file_size(archive_path(home, one.agent, one.native)) + _WITH_WORDS * one.bytes
            sessions.append(one)
    cut: list[Memory] = []
    for memory in archived_oldest_first(memories) if left > 0 else ():
        if left <= 0:
            break
        left -= _weight(memory)
        cut.append(memory)
    return Cut(over, tuple(sessions), tuple(cut), left <= 0)


def cut(pen: Pen, connection: apsw.Connection, found: Cut) -> None:
    """Delete what a plan named, for good: only at the user's own word.

    The journal keeps that there were such memories, and where they came from, and nothing of what they said.

    Raises:
        BusyError: another told is reading or writing; the same again finishes it.
    """
    drop_sessions(connection, pen.home, found.sessions)
    for memory in found.memories:
        where = [
            {"agent": one.agent, "session": one.session, "turn": one.turn, "at": one.at}
            for one in memory.evidence
        ]
        for at in range(0, max(1, len(where)), _MOST_PLACES):
            pen.note("forget", memory.id, evidence=where[at : at + _MOST_PLACES])
    pen.write()
    if found.memories:
        erase(pen.home, [memory.id for memory in found.memories])
        leave_nothing(pen.home, pen.memories)
    if found.sessions:
        compact(connection, words=True)


def _weight(memory: Memory) -> int:
    """Return about how many bytes the journal and the database give back with a memory."""
    texts = (memory.text, *(one.quote for one in memory.evidence))
    return _WITH_WORDS * sum(len(text.encode("utf-8", "replace")) for text in texts)


def _file_size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0
