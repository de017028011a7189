"""Takes what was forgotten out of the files of checkpoints, and their rows with them, to the last byte.

A file that loses something is written anew as told writes it; what stood in its name goes, too.
"""

from __future__ import annotations

import os

from told.errors import NotFoundError, UsageError
from told.guard.files import is_folder
from told.ingest.checkpoint_files import new_path, write
from told.ingest.checkpoint_places import every, folders, slug_of
from told.ingest.checkpoint_reading import NotTextError, read_file
from told.ingest.checkpoint_rows import without_forgotten
from told.ingest.checkpoint_text import text_of
from told.journal.files import UNFINISHED, cannot_write, sync_folder, write_whole
from told.record import replaced
from told.search.index_text import extra_words, near_words
from told.store.checkpoints import OwnCheckpoints
from told.store.erasing import leave_nothing
from told.store.reading import Reading
from told.store.writing import Writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    import apsw

    from told.ingest.forgotten import Forgotten
    from told.model import Handover


def forget_in_files(connection: apsw.Connection, home: str, forgotten: Forgotten) -> int:
    """Remove the files of sessions that were forgotten, and cut out of the others what was.

    The rows of all these files go; what is left of the files is taken in by the next look at them.

    Returns:
        How many files were removed or changed.

    Raises:
        MissingError: a file cannot be written or removed.
    """
    own = OwnCheckpoints(connection)
    sessions = own.sessions_by_path()
    touched = []
    for path in every(home):
        try:
            one = read_file(path)
        except NotTextError:
            continue
        # What it names may be known by another id, or be kept under one in the project that it is for.
        about = {(one.agent, one.session), sessions.get(path, (one.agent, one.session))}
        try:
            if any(forgotten.has(*session) for session in about):
                os.remove(path)
                sync_folder(os.path.dirname(path))
            elif not _cut(path, one, forgotten, about):
                continue
        except OSError as error:
            raise cannot_write(path, error) from None
        touched.append(path)
    drop_rows(connection, touched)
    remove_unfinished(home)
    return len(touched)


def forget_checkpoint(connection: apsw.Connection, home: str, public: str) -> str:
    """Delete a checkpoint that told keeps, given by its whole id; nothing of it stays. Returns its path.

    Raises:
        NotFoundError: there is none.
        UsageError: the agent itself keeps it.
        MissingError: its file cannot be removed.
        BusyError: another told is reading or writing; the file is gone, but not all bytes in the database.
    """
    rows = [one for one in Reading(connection).checkpoints_like(public, 2) if one.public == public]
    path = rows[0].path if rows else next((path for path in every(home) if _says(path, public)), "")
    if rows and not path:
        raise UsageError(f"The agent itself keeps {public}. Forget its session: --session {rows[0].session}.")
    if not path or os.path.dirname(path) not in folders(home):
        raise NotFoundError(f"There is no checkpoint {public}. `told checkpoints` lists them.")
    try:
        if os.path.lexists(path):
            os.remove(path)
            sync_folder(os.path.dirname(path))
    except OSError as error:
        raise cannot_write(path, error) from None
    drop_rows(connection, [path])
    leave_nothing(connection)
    return path


def drop_rows(connection: apsw.Connection, paths: Collection[str]) -> None:
    """Take out of the store what some files said."""
    if not paths:
        return
    own = OwnCheckpoints(connection)
    writer = Writer(connection, extra_words, near_words)
    with writer.transaction():
        known = own.known()
        left: set[tuple[str, str]] = set()
        for path in paths:
            if path in known:
                left.update(own.clear(writer, known[path].source_id))
                own.drop_source(known[path].source_id)
        for agent, native in left:
            session = writer.session(agent, native)
            if session is not None:
                writer.close_session(session.id, session.next_n, session.summary)
        own.drop_unfounded(left)


def drop_gone(connection: apsw.Connection) -> None:
    """Take out of the store what files said that are no longer there."""
    known = OwnCheckpoints(connection).known()
    drop_rows(connection, [path for path in known if not os.path.lexists(path)])


def remove_unfinished(home: str) -> None:
    """Remove what killed writers left: it may hold anything."""
    for folder in folders(home):
        for name in os.listdir(folder) if is_folder(folder) else ():
            if name.endswith(UNFINISHED):
                os.remove(os.path.join(folder, name))


def written_anew(path: str, one: Handover, *, other_name: bool) -> str:
    """Write a file anew, under another name where its own may tell what was taken out; return its path."""
    new = new_path(os.path.dirname(path), one) if other_name and one.id else path
    if new == path:
        write_whole(path, text_of(one).encode("utf-8", "replace"))
        return path
    write(new, one)
    os.remove(path)
    sync_folder(os.path.dirname(path))
    return new


def _cut(path: str, one: Handover, forgotten: Forgotten, about: Collection[tuple[str, str]]) -> bool:
    """Cut what was forgotten out of a file; False if it says nothing of it."""
    new = one
    for agent, native in about:
        new = without_forgotten(replaced(new, agent=agent, session=native), forgotten)
    new = replaced(new, agent=one.agent, session=one.session)
    if new == one:
        return False
    # A name that somebody else gave may tell it as well as one that was made of the title.
    is_plain = new.title == one.title and f"-{slug_of(one.title)}-" in os.path.basename(path)
    written_anew(path, new, other_name=not is_plain)
    return True


def _says(path: str, public: str) -> bool:
    try:
        return read_file(path).id == public
    except NotTextError:
        return False
