"""Keeps the redacted text of quiet sessions, for when an agent has deleted its own files.

One compressed file a session, below `archive/<agent>/`. It is what a session is made from again after its
source is gone.
"""

from __future__ import annotations

import os

from told.guard.names import plain_path
from told.ingest.archive_file import archive_path, draft_of, head, is_whole, write_lines
from told.ingest.batch import ARCHIVE, Batch, Portion
from told.ingest.look import QUIET_MS
from told.ingest.places import keep_places
from told.ingest.tombstones import Tombstones
from told.ingest.whole import Whole
from told.model import Cursor, Source
from told.search.index_text import extra_words, near_words
from told.store.condition import damaged
from told.store.database import Transaction
from told.store.memories import UNREADABLE
from told.store.projects import Projects
from told.store.reading import Filter
from told.store.sources import Sources
from told.store.writing import Writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    import apsw

_EVER = 1 << 62


def keep(connection: apsw.Connection, home: str, now: int, *, everything: bool = False) -> int:
    """Keep the sessions that have been quiet for a day, or all; and which folder belongs to which project.

    Returns:
        How many sessions were written.
    """
    reading = Whole(connection, home)
    kept = []
    is_sound = not everything or not damaged(connection)
    for session_id, revision in _to_keep(reading, _EVER if everything else now - QUIET_MS, is_sound):
        if is_sound and reading.is_lost(session_id):
            continue  # its text is in the agent's file alone
        row = reading.session(session_id)
        path = archive_path(home, row.agent, row.native)
        if is_sound:
            write_lines(path, _kept_lines(reading, session_id))
        elif not os.path.exists(path):  # better a damaged copy than none
            try:
                write_lines(path, _kept_lines(reading, session_id))
            except UNREADABLE:
                continue
        kept.append((session_id, revision))
    if not is_sound:
        return len(kept)
    keep_places(Projects(connection), home)
    _note_kept(connection, kept)
    return len(kept)


def _to_keep(reading: Whole, before: int, is_sound: bool) -> list[tuple[int, int]]:
    try:
        return reading.to_keep(before)
    except UNREADABLE:
        if is_sound:
            raise
        return []


def keep_these(connection: apsw.Connection, home: str, sessions: Iterable[int]) -> None:
    """Keep some sessions now, quiet or not."""
    reading = Whole(connection, home)
    kept = []
    for session_id in sessions:
        row, revision = reading.session(session_id), reading.revision(session_id)
        write_lines(archive_path(home, row.agent, row.native), _kept_lines(reading, session_id))
        kept.append((session_id, revision))
    _note_kept(connection, kept)


def _note_kept(connection: apsw.Connection, kept: list[tuple[int, int]]) -> None:
    if not kept:
        return
    if hasattr(os, "sync"):
        os.sync()  # one for all: a session counts as kept only once its file is on the disk
    with Transaction(connection):
        Sources(connection).kept(kept)


def keep_again(connection: apsw.Connection, home: str, sessions: Iterable[int]) -> None:
    """Write the files of some sessions anew, as far as they have any; nothing of the old ones stays."""
    reading = Whole(connection, home)
    for session_id in sessions:
        row = reading.session(session_id)
        path = archive_path(home, row.agent, row.native)
        if os.path.exists(path):
            write_lines(path, _kept_lines(reading, session_id))
    if hasattr(os, "sync"):
        os.sync()


def _kept_lines(reading: Whole, session_id: int) -> Iterator[list[Any]]:
    yield ["session", reading.kept_facts(session_id)]
    for turn in reading.kept_turns(session_id):
        yield ["turn", *turn]
    for touch in reading.files_of(session_id):
        yield ["touch", *touch]
    for ref in reading.refs_of(session_id):
        yield ["ref", *ref]
    for note in reading.checkpoints(Filter(), -1, session_id=session_id):
        if not note.path:  # told's own come back from their files
            yield [
                "checkpoint", note.number, note.title, note.overview, note.at, note.work_done,
                note.technical_details, note.important_files, note.next_steps, note.history,
            ]  # fmt: skip


def restore(connection: apsw.Connection, home: str, redact: Callable[[str], str]) -> int:
    """Bring back the sessions that no agent's file holds any more. Returns how many there were."""
    writer, sources, projects = (
        Writer(connection, extra_words, near_words),
        Sources(connection),
        Projects(connection, lambda name: plain_path(name, redact)),
    )
    batch = Batch(writer, sources, projects, lambda: 0, Tombstones(home))
    restored = 0
    for agent, path in kept_files(os.path.join(home, "archive")):
        native, next_n = head(path)
        known_session = writer.session(agent, native) if native else None
        if not native or (known_session is not None and known_session.next_n >= max(1, next_n)):
            continue
        draft = draft_of(path, redact)
        if draft is None or not draft.turns:
            continue
        with writer.transaction():
            sources.add([Source(agent, path, ARCHIVE, home)])
            sources.mark_gone([path])  # it is not an agent's file: no sweep looks at it
        known = sources.get(path)
        assert known is not None
        size = os.path.getsize(path)
        batch.add(Portion(known, (draft,), (), known.cursor, Cursor(size), size, 1, False, True))
        batch.commit()
        with writer.transaction():
            sources.kept(sources.sessions_of(known.id))
        restored += 1
    return restored


def damaged_files(home: str) -> list[str]:
    """Return the files of the archive that are not as they were written."""
    return [path for _, path in kept_files(os.path.join(home, "archive")) if not is_whole(path)]


def kept_files(folder: str) -> Iterator[tuple[str, str]]:
    """Yield the agent and the path of each file of the archive."""
    for parent, _, names in sorted(os.walk(folder)):
        agent = os.path.basename(os.path.dirname(parent))
        for name in sorted(names):
            if name.endswith(".jsonl.gz"):
                yield agent, os.path.join(parent, name)
