"""Save checkpoints as files and close the session's earlier ones."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

import apsw

from told.checkpoints.counter import reset_count
from told.errors import BusyError, NotFoundError, ToldError, UsageError
from told.files import cannot_write, write_private
from told.ingest.checkpoint_approval import approve, keep_approval
from told.ingest.checkpoint_files import (
    UnreadableError,
    create_checkpoint,
    list_files,
    list_folders,
    make_slug,
    new_path,
    project_folder,
    read_checkpoint,
    set_status,
)
from told.ingest.checkpoint_markdown import format_checkpoint, normalize
from told.ingest.checkpoint_rows import LISTS, foreign_session_id, redact_checkpoint, remove_forgotten
from told.ingest.checkpoint_sync import sync_checkpoints
from told.ingest.forgotten import Tombstones
from told.model import CLOSED, OPEN, USER, Handover
from told.redact.names import redact_dashed_path, redact_id
from told.store.database import load_key, public_id, transaction
from told.store.sessions.checkpoints import OwnCheckpoints
from told.store.sessions.read import SessionReader
from told.store.sessions.schema import is_checkpoint_id

MAX_ITEMS = 200
# In characters.
MAX_TEXT = 20_000  # of an item, a text or a section
_MAX_TOTAL = 200_000
_MAX_TITLE = 500
_MAX_NAME = 4096  # of a path or an id
_MAX_TRIES = 100
SYNC_LIMIT = 50  # files read while an agent waits; the sweep reads more


@dataclass(frozen=True, slots=True)
class SavedCheckpoint:
    """A checkpoint on disk."""

    handover: Handover
    path: str
    again: bool = False  # it existed, and nothing was written


def save_checkpoint(
    connection: apsw.Connection | None, home: str, handover: Handover, redact: Callable[[str], str], *,
    name: str, root: str,
) -> SavedCheckpoint:  # fmt: skip
    """Save a checkpoint; close what the same session left open.

    Missing id, title and time are generated. Without a database the next command reads the file.
    """
    one = _prepare(home, _resolve_session(connection, handover), redact)
    folder = project_folder(home, one.project, name, root)
    before = list(_find_open(connection, home, folder, one, redact))
    for old, path in before:
        if _content(old) == _content(one):
            reset_count(home, one.agent, one.session)
            return SavedCheckpoint(old, path, again=True)
    try:
        one, path = _create(folder, one, redact)
        approve(home, path)
        for old, old_path in before:
            # Only the user closes what the user left open.
            if (old.at, old.id) < (one.at, one.id) and (old.by != USER or one.by == USER):
                set_status(old_path, CLOSED)
    except OSError as error:
        raise cannot_write(folder, error) from None
    _sync(connection, home, redact, folder)
    reset_count(home, one.agent, one.session)
    return SavedCheckpoint(one, path)


def close_checkpoint(connection: apsw.Connection, home: str, public: str) -> str:
    """Close a checkpoint by its full id; return the path of its file."""
    found = [one for one in SessionReader(connection).checkpoints_like(public, 2) if one.public == public]
    if not found:
        raise NotFoundError(f"There is no checkpoint {public}. `told checkpoints` lists them.")
    path = found[0].path
    if not path:
        raise UsageError(f"The agent itself keeps {public}: told does not change it.")
    if os.path.dirname(path) not in list_folders(home) or not os.path.isfile(path):
        raise NotFoundError(f"The file of {public} is gone: {path}")
    try:
        set_status(path, CLOSED)
    except OSError as error:
        raise cannot_write(path, error) from None
    with suppress(BusyError), transaction(connection):  # or the next command reads the file
        OwnCheckpoints(connection).put_status(public, CLOSED)
    return path


def update_checkpoint(
    connection: apsw.Connection, home: str, path: str, handover: Handover, redact: Callable[[str], str]
) -> bool:
    """Replace the content of a checkpoint's file, keep its id; False if nothing changed."""
    forgotten = Tombstones(home).current()
    if forgotten.has(handover.agent, handover.session):
        return False
    try:
        old = read_checkpoint(path)
    except UnreadableError:
        return False
    new = normalize(remove_forgotten(redact_checkpoint(replace(handover, id=old.id), redact), forgotten))
    has_changed = replace(new, at=old.at) != old
    if has_changed:
        try:
            with keep_approval(home, path):
                write_private(path, format_checkpoint(new).encode("utf-8", "replace"))
        except OSError as error:
            raise cannot_write(path, error) from None
    _sync(connection, home, redact, os.path.dirname(path))
    return has_changed


def _prepare(home: str, handover: Handover, redact: Callable[[str], str]) -> Handover:
    """Check the size of a checkpoint; redact it and remove forgotten text."""
    _check_size(handover)
    now = time.time_ns() // 1_000_000
    one = redact_checkpoint(replace(normalize(handover), at=handover.at or now), redact)
    one = replace(one, session=redact_id(one.session, redact, lambda: load_key(home)))
    forgotten = Tombstones(home).current()
    if forgotten.has(one.agent, one.session):
        raise NotFoundError("This session was forgotten, so told keeps nothing more of it.")
    one = normalize(remove_forgotten(one, forgotten))
    if not (one.goal or one.notes or one.more or any(getattr(one, field) for field in LISTS)):
        raise UsageError("There is nothing in this checkpoint. Say at least its goal.")
    return one


def _check_size(handover: Handover) -> None:
    items = [item for field in LISTS for item in getattr(handover, field)]
    texts = [*items, handover.goal, handover.notes]
    texts += [part for section in handover.more for part in section]
    sizes = list(map(len, texts))
    for what, unit, most, found in (
        ("A checkpoint", "items", MAX_ITEMS, len(items) + len(handover.more)),
        ("A text of a checkpoint", "characters", MAX_TEXT, max(sizes)),
        ("A checkpoint", "characters", _MAX_TOTAL, sum(sizes)),
    ):
        if found > most:
            raise UsageError(f"{what} has at most {most:,} {unit}, and this has {found:,}. Say less.")
    if len(handover.title) > _MAX_TITLE:
        raise UsageError(f"A title has at most {_MAX_TITLE} characters. Give a shorter one.")
    names = (handover.agent, handover.session, handover.project, handover.folder, handover.branch)
    if max(map(len, names)) > _MAX_NAME:
        raise UsageError(f"A path or an id has at most {_MAX_NAME:,} characters. Give a shorter one.")


def _resolve_session(connection: apsw.Connection | None, handover: Handover) -> Handover:
    """Replace told's id of a session with the agent's."""
    if connection is None or not handover.session:
        return handover
    named = OwnCheckpoints(connection).find_session(handover.session)
    return replace(handover, agent=named[0], session=named[1]) if named else handover


def _content(handover: Handover) -> Handover:
    """Return a checkpoint without what may differ between equal ones."""
    return replace(handover, id="", at=0, status=OPEN, branch="", folder="")


def _find_open(
    connection: apsw.Connection | None, home: str, folder: str, one: Handover, redact: Callable[[str], str]
) -> Iterator[tuple[Handover, str]]:
    """Yield the session's open checkpoints with their paths, latest first."""
    if not one.session:
        return
    if _sync(connection, home, redact, folder):
        assert connection is not None
        own = OwnCheckpoints(connection)
        natives = (one.session, foreign_session_id(one.session, folder))
        known = [found for native in natives for found in own.of_session(one.agent, native)]
        paths = [path for _, status, path in known if status == OPEN]
    else:
        try:
            paths = sorted(list_files(folder), reverse=True)[:SYNC_LIMIT]  # names start with the time
        except OSError:
            return
    for path in paths:
        try:
            old = read_checkpoint(path)
        except UnreadableError:
            continue
        if old.status == OPEN and (old.agent, old.session) == (one.agent, one.session):
            yield old, path


def _create(folder: str, one: Handover, redact: Callable[[str], str]) -> tuple[Handover, str]:
    """Create the file with its own id, or with a generated one that is free."""
    slug = make_slug(one.title)
    if redact_dashed_path(slug, redact) != slug or redact(slug) != slug:
        slug = make_slug("")
    text = format_checkpoint(replace(one, id=""))
    ids = [one.id] if is_checkpoint_id(one.id) else []
    ids += [
        public_id("c", one.agent, one.session, text, str(attempt), length=9) for attempt in range(_MAX_TRIES)
    ]
    for public in ids:
        one = replace(one, id=public)
        path = new_path(folder, one, slug)
        try:
            create_checkpoint(path, one)
        except FileExistsError:
            continue
        return one, path
    raise FileExistsError(17, "file exists", folder)


def _sync(connection: apsw.Connection | None, home: str, redact: Callable[[str], str], folder: str) -> bool:
    """Sync the database with a folder; return False if the next command must."""
    if connection is None:
        return False
    try:
        return sync_checkpoints(connection, home, redact, folder=folder, most=SYNC_LIMIT) >= 0
    except (ToldError, apsw.Error):
        return False
