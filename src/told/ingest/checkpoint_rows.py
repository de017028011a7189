"""Store checkpoints in `sessions.db`: redacted, and without forgotten text."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import apsw

from told.errors import NotFoundError, UsageError
from told.files import cannot_write, sync_folder, write_private
from told.ingest.checkpoint_approval import keep_approval
from told.ingest.checkpoint_files import (
    UnreadableError,
    list_checkpoints,
    list_folders,
    make_slug,
    new_path,
    read_checkpoint,
)
from told.ingest.checkpoint_markdown import format_checkpoint, format_items, make_title, normalize
from told.ingest.forgotten import Forgotten, Tombstones
from told.ingest.leftovers import Forgetting, note_forgetting, remove_traces
from told.model import USER, Checkpoint, Handover
from told.pattern import lazy_pattern
from told.redact.engine import redact_all
from told.redact.names import redact_path
from told.search.index_text import make_extra_words, make_near_words
from told.store.database import public_id
from told.store.sessions.checkpoints import PLANS, QUESTIONS, OwnCheckpoints
from told.store.sessions.erase import purge_sessions
from told.store.sessions.read import SessionReader
from told.store.sessions.schema import checkpoint_number
from told.store.sessions.write import SessionWriter

LISTS = ("done", "pending", "decisions", "files", "plans", "references", "questions")
_NAMES = ("agent", "project", "folder", "branch")
_MIN_WORDS = 3  # of forgotten text that is cut out of any session's checkpoint
_AGENT_NAME = lazy_pattern(r"[A-Za-z0-9._-]*[A-Za-z0-9][A-Za-z0-9._-]*")


def is_agent_name(name: str) -> bool:
    """Return whether a text may be shown as the name of an agent."""
    return len(name) <= 40 and _AGENT_NAME.fullmatch(name) is not None


def foreign_session_id(native: str, folder: str) -> str:
    """Return the id of a session for its checkpoints in another project."""
    return public_id("", native, folder, length=12)


def to_row(handover: Handover, path: str) -> Checkpoint:
    """Convert a checkpoint to the form in which it is stored."""
    details = [_format_section("Decisions", handover.decisions), handover.notes]
    details += [f"{name}:\n{text}" if name and text else name or text for name, text in handover.more]
    steps = (
        _format_list(handover.pending),
        _format_section(PLANS, handover.plans),
        _format_section(QUESTIONS, handover.questions),
    )
    return Checkpoint(
        session="", number=checkpoint_number(handover.id), title=handover.title, overview=handover.goal,
        at=handover.at, work_done=_format_list(handover.done),
        technical_details="\n\n".join(filter(None, details)), important_files=_format_list(handover.files),
        next_steps="\n\n".join(filter(None, steps)), history=_format_list(handover.references),
        id=handover.id, status=handover.status, path=path,
    )  # fmt: skip


def _format_list(items: tuple[str, ...]) -> str:
    return "\n".join(format_items(items, ""))


def _format_section(name: str, items: tuple[str, ...]) -> str:
    return f"{name}:\n{_format_list(items)}" if items else ""


def redact_checkpoint(handover: Handover, redact: Callable[[str], str]) -> Handover:
    """Redact a checkpoint."""
    names: dict[str, Any] = {name: redact_path(getattr(handover, name), redact) for name in _NAMES}
    return normalize(replace(_map_texts(handover, lambda texts: redact_all(redact, texts)), **names))


def remove_forgotten(handover: Handover, forgotten: Forgotten) -> Handover:
    """Remove forgotten text from a checkpoint.

    Only the user may repeat text that was forgotten in other sessions.
    """
    marks = forgotten.marks(handover.agent, handover.session)
    if handover.by != USER:
        marks += forgotten.long_marks(_MIN_WORDS)
    if not marks:
        return handover
    new = _map_texts(handover, lambda texts: [forgotten.cut_text(text, marks) for text in texts])
    if new.goal != handover.goal and handover.title == make_title(handover.goal):  # it may be shortened
        new = replace(new, title=make_title(new.goal))
    return replace(new, branch=forgotten.cut_text(new.branch, marks))


def clean_checkpoint(handover: Handover, home: str, redact: Callable[[str], str]) -> Handover:
    """Redact a checkpoint and remove forgotten text."""
    return remove_forgotten(redact_checkpoint(handover, redact), Tombstones(home).current())


def _map_texts(handover: Handover, change: Callable[[list[str]], list[str]]) -> Handover:
    texts = [handover.title, handover.goal, handover.notes]
    texts += [item for name in LISTS for item in getattr(handover, name)]
    texts += [part for section in handover.more for part in section]
    new = iter(change(texts))
    values: dict[str, Any] = {name: next(new) for name in ("title", "goal", "notes")}
    values |= {name: tuple(next(new) for _ in getattr(handover, name)) for name in LISTS}
    values["more"] = tuple((next(new), next(new)) for _ in handover.more)
    return replace(handover, **values)


def forget_in_files(connection: apsw.Connection, home: str, forgotten: Forgotten) -> int:
    """Remove the files of forgotten sessions; cut forgotten text out of others.

    The rows of these files are dropped; the next sync reads what is left.
    """
    sessions = OwnCheckpoints(connection).sessions_by_path()
    touched = []
    for path in list_checkpoints(home):
        try:
            one = read_checkpoint(path)
        except UnreadableError:
            continue
        # The store may know the session by another id than the file.
        names = {(one.agent, one.session), sessions.get(path, (one.agent, one.session))}
        try:
            if any(forgotten.has(*name) for name in names):
                _remove(path)
            else:
                with keep_approval(home, path) as paths:
                    rewritten = _cut_forgotten(path, one, forgotten, names)
                    paths.append(rewritten or path)
                if not rewritten:
                    continue
        except OSError as error:
            raise cannot_write(path, error) from None
        touched.append(path)
    drop_rows(connection, touched)
    return len(touched)


def forget_checkpoint(connection: apsw.Connection, home: str, public: str) -> str:
    """Delete a checkpoint of told's by its full id; return its path."""
    rows = [one for one in SessionReader(connection).checkpoints_like(public, 2) if one.public == public]
    unread = (path for path in list_checkpoints(home) if _has_id(path, public))
    path = rows[0].path if rows else next(unread, "")
    if rows and not path:
        raise UsageError(f"The agent itself keeps {public}. Forget its session: --session {rows[0].session}.")
    if not path or os.path.dirname(path) not in list_folders(home):
        raise NotFoundError(f"There is no checkpoint {public}. `told checkpoints` lists them.")
    with note_forgetting(home, Forgetting()):
        if os.path.lexists(path):
            _remove(path)
        remove_traces(home)
        drop_rows(connection, [path])
        purge_sessions(connection)
    return path


def drop_rows(connection: apsw.Connection, paths: Collection[str]) -> None:
    """Drop what the database has of some files."""
    if not paths:
        return
    own = OwnCheckpoints(connection)
    writer = SessionWriter(connection, make_extra_words, make_near_words)
    with writer.transaction():
        known = own.known()
        touched: set[tuple[str, str]] = set()
        for path in paths:
            if path in known:
                touched.update(own.clear(writer, known[path].source_id))
                own.drop_source(known[path].source_id)
        close_sessions(own, writer, touched)


def close_sessions(own: OwnCheckpoints, writer: SessionWriter, names: Collection[tuple[str, str]]) -> None:
    """Update sessions that lost a checkpoint; drop those without any content."""
    for agent, native in names:
        session = writer.session(agent, native) if native else None
        if session is not None:
            writer.close_session(session.id, session.next_n, session.summary)
    own.drop_empty_sessions(names)


def drop_missing(connection: apsw.Connection) -> None:
    """Drop what the database has of deleted files."""
    known = OwnCheckpoints(connection).known()
    drop_rows(connection, [path for path in known if not os.path.lexists(path)])


def rewrite_file(path: str, one: Handover, *, other_name: bool) -> str:
    """Rewrite a file, under a new name if its own may reveal something; return its path."""
    new = new_path(os.path.dirname(path), one) if other_name and one.id else path
    # A file with the new name has the same id: an interrupted run wrote it.
    write_private(new, format_checkpoint(one).encode("utf-8", "replace"))
    if new != path:
        _remove(path)
    return new


def _remove(path: str) -> None:
    os.remove(path)
    sync_folder(os.path.dirname(path))


def _cut_forgotten(path: str, one: Handover, forgotten: Forgotten, names: Collection[tuple[str, str]]) -> str:
    """Cut forgotten text out of a file; return its path, or "" if it has none."""
    new = one
    for agent, native in names:
        new = remove_forgotten(replace(new, agent=agent, session=native), forgotten)
    new = replace(new, agent=one.agent, session=one.session)
    if new == one:
        return ""
    # A name that told did not make from the title may contain the text, too.
    is_named_by_title = new.title == one.title and f"-{make_slug(one.title)}-" in os.path.basename(path)
    return rewrite_file(path, new, other_name=not is_named_by_title)


def _has_id(path: str, public: str) -> bool:
    try:
        return read_checkpoint(path).id == public
    except UnreadableError:
        return False
