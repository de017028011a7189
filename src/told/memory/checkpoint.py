"""Keeps a checkpoint: cleans it, gives it an id, writes its file, and closes the one before it."""

from __future__ import annotations

import os
import time

from told.errors import BusyError, NotFoundError, ToldError, UsageError
from told.guard.names import plain_id, spelled
from told.ingest.checkpoint_files import folder_of, folders, listed, new_path, put_status, slug_of, write
from told.ingest.checkpoint_reading import NotTextError, read_file
from told.ingest.checkpoint_rows import LISTS, redacted, session_elsewhere, without_forgotten
from told.ingest.checkpoint_sync import sync
from told.ingest.checkpoint_text import normal, text_of
from told.ingest.tombstones import Tombstones
from told.journal.files import cannot_write
from told.model import CLOSED, OPEN, USER, Handover
from told.record import record, replaced
from told.store.checkpoints import OwnCheckpoints
from told.store.database import Transaction
from told.store.ids import is_checkpoint_id, public_id
from told.store.key import own_key
from told.store.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import apsw

MOST_ITEMS = 200
LONGEST = 20_000  # characters of an item, a text or a section
MOST = 200_000  # characters in all
_TITLE = 500
_NAME = 4096  # characters of a path, an id or the like
_TRIES = 100
AT_ONCE = 50  # files that are read while an agent waits; the sweep reads more


@record
class Kept:
    """A checkpoint that is on disk."""

    handover: Handover
    path: str
    again: bool = False  # it was there before, and nothing was written


def keep(
    connection: apsw.Connection | None, home: str, handover: Handover, redact: Callable[[str], str], *,
    name: str, root: str,
) -> Kept:  # fmt: skip
    """Write a checkpoint down; what the same session left open before it is closed.

    Args:
        connection: The open store of sessions; without one the file is taken in by the next command.
        home: The folder of everything told writes for itself.
        handover: What is to be kept. Its id, title and time are made where it has none.
        redact: Takes secrets out of text.
        name: Of the project, whose key the checkpoint has.
        root: The project's folder.

    Raises:
        UsageError: there is nothing in it, or too much.
        NotFoundError: its session was forgotten.
        MissingError: the file cannot be written.
    """
    one = _fit_to_keep(home, _known_session(connection, handover), redact)
    folder = folder_of(home, one.project, name, root)
    before = list(_open_ones(connection, home, folder, one, redact))
    same = next(((old, path) for old, path in before if _content(old) == _content(one)), None)
    if same is not None:
        _counted(home, one)
        return Kept(*same, again=True)
    try:
        one, path = _written(folder, one, redact)
        for old, where in before:
            # What the user left open is not for others to close in passing.
            if (old.at, old.id) < (one.at, one.id) and (old.by != USER or one.by == USER):
                put_status(where, CLOSED)
    except OSError as error:
        raise cannot_write(folder, error) from None
    _taken_in(connection, home, redact, folder)
    _counted(home, one)
    return Kept(one, path)


def close(connection: apsw.Connection, home: str, public: str) -> str:
    """Close a checkpoint, given by its whole id; return the path of its file.

    Raises:
        NotFoundError: there is none, or its file is gone.
        UsageError: it is not told's own.
        MissingError: the file cannot be written.
    """
    found = [one for one in Reading(connection).checkpoints_like(public, 2) if one.public == public]
    if not found:
        raise NotFoundError(f"There is no checkpoint {public}. `told checkpoints` lists them.")
    path = found[0].path
    if not path:
        raise UsageError(f"The agent itself keeps {public}: told does not change it.")
    if os.path.dirname(path) not in folders(home) or not os.path.isfile(path):
        raise NotFoundError(f"The file of {public} is gone: {path}")
    try:
        put_status(path, CLOSED)
    except OSError as error:
        raise cannot_write(path, error) from None
    try:
        with Transaction(connection):
            OwnCheckpoints(connection).put_status(public, CLOSED)
    except BusyError:
        pass  # the file says it, and the next command takes that in
    return path


def _fit_to_keep(home: str, handover: Handover, redact: Callable[[str], str]) -> Handover:
    """Return a checkpoint as it may be written: cleaned, redacted, of a reasonable size."""
    _check_size(handover)
    now = time.time_ns() // 1_000_000
    one = redacted(replaced(normal(handover), at=handover.at or now), redact)
    one = replaced(one, session=plain_id(one.session, redact, lambda: own_key(home)))
    forgotten = Tombstones(home).now()
    if forgotten.has(one.agent, one.session):
        raise NotFoundError("This session was forgotten, so told keeps nothing more of it.")
    one = normal(without_forgotten(one, forgotten))
    if not (one.goal or one.notes or one.more or any(getattr(one, field) for field in LISTS)):
        raise UsageError("There is nothing in this checkpoint. Say at least its goal.")
    return one


def _check_size(handover: Handover) -> None:
    items = [item for field in LISTS for item in getattr(handover, field)]
    texts = [handover.goal, handover.notes, *(part for section in handover.more for part in section)]
    count = len(items) + len(handover.more)
    if count > MOST_ITEMS:
        raise UsageError(f"A checkpoint has at most {MOST_ITEMS} items, and this has {count:,}. Say less.")
    longest = max(map(len, (*items, *texts)))
    if longest > LONGEST:
        raise UsageError(
            f"A text of a checkpoint has at most {LONGEST:,} characters, and this has {longest:,}. Say less."
        )
    total = sum(map(len, (*items, *texts)))
    if total > MOST:
        raise UsageError(f"A checkpoint has at most {MOST:,} characters, and this has {total:,}. Say less.")
    if len(handover.title) > _TITLE:
        raise UsageError(f"A title has at most {_TITLE} characters. Give a shorter one.")
    names = (handover.agent, handover.session, handover.project, handover.folder, handover.branch)
    if max(map(len, names)) > _NAME:
        raise UsageError(f"A path or an id has at most {_NAME:,} characters. Give a shorter one.")


def _known_session(connection: apsw.Connection | None, handover: Handover) -> Handover:
    """Return a checkpoint with the agent's own id of its session, where told's was given."""
    if connection is None or not handover.session:
        return handover
    named = OwnCheckpoints(connection).session_called(handover.session)
    if named is None:
        return handover
    return replaced(handover, agent=named[0], session=named[1])


def _content(handover: Handover) -> Handover:
    """Return what makes two checkpoints the same."""
    return replaced(handover, id="", at=0, status=OPEN, branch="", folder="")


def _open_ones(
    connection: apsw.Connection | None, home: str, folder: str, one: Handover, redact: Callable[[str], str]
) -> Iterator[tuple[Handover, str]]:
    """Yield the session's checkpoints that are open, the latest first."""
    if not one.session:
        return
    if _taken_in(connection, home, redact, folder):
        assert connection is not None
        own = OwnCheckpoints(connection)
        natives = (one.session, session_elsewhere(one.session, folder))
        known = [found for native in natives for found in own.of_session(one.agent, native)]
        paths = [path for _, status, path in known if status == OPEN]
    else:
        try:
            paths = sorted(listed(folder), reverse=True)[:AT_ONCE]  # their names begin with the time
        except OSError:
            return
    for path in paths:
        try:
            old = read_file(path)
        except NotTextError:
            continue
        if old.status == OPEN and (old.agent, old.session) == (one.agent, one.session):
            yield old, path


def _written(folder: str, one: Handover, redact: Callable[[str], str]) -> tuple[Handover, str]:
    """Write the file under an id that no other has."""
    slug = slug_of(one.title)
    if spelled(slug, redact) != slug or redact(slug) != slug:
        slug = slug_of("")
    text = text_of(replaced(one, id=""))
    if is_checkpoint_id(one.id):
        try:
            path = new_path(folder, one, slug)
            write(path, one)
        except FileExistsError:
            pass
        else:
            return one, path
    for attempt in range(_TRIES):
        one = replaced(one, id=public_id("c", one.agent, one.session, text, str(attempt), length=9))
        path = new_path(folder, one, slug)
        try:
            write(path, one)
        except FileExistsError:
            continue
        return one, path
    raise FileExistsError(17, "file exists", folder)


def _taken_in(
    connection: apsw.Connection | None, home: str, redact: Callable[[str], str], folder: str
) -> bool:
    """Bring the store in line with a folder; False if that has to wait for the next command."""
    if connection is None:
        return False
    import apsw

    try:
        return sync(connection, home, redact, folder=folder, most=AT_ONCE) >= 0
    except (ToldError, apsw.Error):
        return False


def _counted(home: str, one: Handover) -> None:
    """Begin to count anew how much was done since the last checkpoint."""
    from told.memory.checkpoint_count import reset

    reset(home, one.agent, one.session)
