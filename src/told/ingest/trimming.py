"""Takes the text of the oldest sessions out of `sessions.db` when there is too much, and brings it back.

The archive has every text before it is taken out; it is compared first, not only believed. Each step is a
transaction: whenever a run is killed, every session is either as it was or trimmed as a whole.
"""

from __future__ import annotations

import os

from told.ingest.archive import keep_these
from told.ingest.archive_file import archive_path
from told.ingest.look import state_of
from told.ingest.whole import Whole, archived_texts
from told.search.index_text import extra_words, near_words
from told.store.erasing import Erasing
from told.store.trimming import Trimmed, heaviest, may_be_emptied, print_of, space, text_bytes
from told.store.writing import TurnText, Writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import apsw

    from told.store.trimming import Heavy, Orphan
    from told.store.writing import SessionState

# Bytes of text that one transaction takes out: others wait no longer than a moment.
_BATCH = 4_000_000


def trim(connection: apsw.Connection, home: str, room: int, *, learned: bool) -> int:
    """Take texts out of the oldest sessions until about so many bytes are free; the file stays as large.

    Args:
        connection: The open store.
        home: The folder of everything told writes for itself.
        room: How many bytes.
        learned: Spare the sessions that nobody has learned from yet.

    Returns:
        How many sessions were trimmed.
    """
    size, free = space(connection)
    weight = max(1.0, (size - free) / max(1, text_bytes(connection)))  # of a byte of text, with its words
    chosen: list[Heavy] = []
    for one in heaviest(connection, learned=learned):
        if room <= 0:
            break
        chosen.append(one)
        room -= int(one.bytes * weight)
    return sum(_trim(connection, home, batch, learned) for batch in _batches(chosen))


def _batches(sessions: Sequence[Heavy]) -> Iterator[list[Heavy]]:
    batch: list[Heavy] = []
    weight = 0
    for one in sessions:
        batch.append(one)
        weight += one.bytes
        if weight > _BATCH:
            yield batch
            batch, weight = [], 0
    if batch:
        yield batch


def _trim(connection: apsw.Connection, home: str, sessions: Sequence[Heavy], learned: bool) -> int:
    whole = Whole(connection, home)
    keep_these(connection, home, [one.id for one in sessions if not _is_archived(whole, home, one)])
    writer = Writer(connection, extra_words, near_words)
    count = 0
    with writer.transaction():
        for one in sessions:
            if may_be_emptied(connection, one.id, learned=learned):
                writer.trimmed.add(one.id, print_of(_texts(whole, one.id)))
                writer.empty_turns(one.id)
                count += 1
    return count


def _is_archived(whole: Whole, home: str, session: Heavy) -> bool:
    """Tell whether the archive has just what the store has."""
    row = whole.session(session.id)
    archived = archived_texts(home, row.agent, row.native) if session.is_kept else {}
    return [(n, *texts) for n, texts in archived.items()] == _texts(whole, session.id)


def _texts(whole: Whole, session_id: int) -> list[tuple[int, str, str, str]]:
    return [(row[0], *row[3:]) for row in whole.kept_turns(session_id)]


def bring_back(writer: Writer, whole: Whole, session: SessionState) -> None:
    """Put the texts of a trimmed session back, if anybody has them."""
    turns = [
        TurnText(n, at, "" if key is None else key, *texts)
        for n, at, key, *texts in whole.kept_turns(session.id)
    ]
    with writer.transaction():
        writer.put_turns(session, turns, replace=True)


def drop_copies(connection: apsw.Connection, home: str, room: int) -> int:
    """Delete files of the archive that hold what the agent's own file holds, the newest first.

    Agents delete their oldest files first, so these are the ones that stay for longest.

    Returns:
        How many sessions now are in the agent's file alone.
    """
    count = 0
    for one in Trimmed(connection).all():
        path = archive_path(home, one.agent, one.native)
        # A database has no print: there, nobody knows whether it still has this session.
        if room <= 0 or not one.print or state_of(one.path) != (one.size, one.changed):
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
    """Delete sessions, in the archive and in the store; what is interrupted is finished by the same again."""
    writer = Writer(connection, extra_words, near_words)
    erasing = Erasing(connection)
    for one in sessions:
        path = archive_path(home, one.agent, one.native)
        if os.path.exists(path):
            os.remove(path)
        session = writer.session(one.agent, one.native)
        if session is not None:
            with writer.transaction():
                erasing.drop_session(writer, session)
