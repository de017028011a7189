"""Keeps the redacted text of quiet sessions, for when an agent has deleted its own files.

One compressed file a session, below `archive/<agent>/`. It is what a session is made from again after its
source is gone.
"""

from __future__ import annotations

import gzip
import json
import os

from told.ingest.batch import Batch, Portion
from told.ingest.fold import Fold
from told.model import AGENT, USER, Begin, Checkpoint, Cursor, Facts, Ref, Said, Source, Touch
from told.search.index_text import extra_words, near_words
from told.store.database import Transaction, make_private_folder
from told.store.ids import public_id
from told.store.projects import Projects
from told.store.reading import Filter, Reading
from told.store.sources import Sources
from told.store.writing import Writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    import apsw

    from told.model import Event
    from told.store.reading import SessionRow

_QUIET_MS = 86_400_000
_MAX_TEXT = 256 * 1024 * 1024
_KINDS: dict[str, Any] = {"facts": Facts, "said": Said, "touch": Touch, "ref": Ref, "checkpoint": Checkpoint}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def archive_path(home: str, agent: str, native: str) -> str:
    """Return where a session's text is kept."""
    name = public_id("s", agent, native, length=16)
    return os.path.join(home, "archive", agent, name[1:3], f"{name}.jsonl.gz")


def keep(connection: apsw.Connection, home: str, now: int, *, everything: bool = False) -> int:
    """Keep the sessions that have been quiet for a day; with `everything` also those whose source is gone.

    Returns:
        How many were written.
    """
    reading = Reading(connection)
    kept = []
    for session_id in reading.to_keep(now - _QUIET_MS, gone=everything):
        row = reading.session(session_id)
        _write(archive_path(home, row.agent, row.native), _events(reading, row))
        kept.append(session_id)
    sources = Sources(connection)
    if kept:
        if hasattr(os, "sync"):
            os.sync()  # one for all: a session counts as kept only once its file is on the disk
        with Transaction(connection):
            sources.kept(kept)
    return len(kept)


def _events(reading: Reading, row: SessionRow) -> Iterator[Event]:
    native = row.native
    yield Facts(
        native, row.cwd, row.branch, "", row.title, row.title_by or AGENT, row.started, row.parent, row.kind,
        bool(row.archived), row.model,
    )  # fmt: skip
    for turn in reading.turns(row.id):
        if turn.asked:
            yield Said(native, USER, turn.asked, turn.at)
        if turn.steps:
            yield Said(native, AGENT, turn.steps, turn.at, form="step")
        if turn.answered:
            yield Said(native, AGENT, turn.answered, turn.at)
    for path, how, at in reading.files_of(row.id):
        yield Touch(native, path, how, at)
    for kind, value, at in reading.refs_of(row.id):
        yield Ref(native, kind, value, at)
    for note in reading.checkpoints(Filter(), -1, session_id=row.id):
        yield Checkpoint(
            native, note.number, note.title, note.overview, note.at, note.work_done, note.technical_details,
            note.important_files, note.next_steps, note.history,
        )  # fmt: skip


def _write(path: str, events: Iterator[Event]) -> None:
    make_private_folder(os.path.dirname(path))
    temporary = f"{path}.{os.getpid()}"
    descriptor = os.open(temporary, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    with (
        os.fdopen(descriptor, "wb") as file,
        gzip.GzipFile(fileobj=file, mode="wb", compresslevel=1, mtime=0) as packed,
    ):
        for event in events:
            line = [_NAMES[type(event)], *tuple(event)]  # type: ignore[arg-type]
            packed.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
    os.replace(temporary, path)


def restore(connection: apsw.Connection, home: str, redact: Callable[[str], str]) -> int:
    """Bring back the sessions that no agent's file holds any more. Returns how many there were."""
    writer, sources, projects = (
        Writer(connection, extra_words, near_words),
        Sources(connection),
        Projects(connection),
    )
    batch = Batch(writer, sources, projects, lambda: 0)
    restored = 0
    for agent, path in _kept(os.path.join(home, "archive")):
        fold = Fold(fresh=True, redact=redact, open_turn=lambda _: (0, None))
        for event in read(path):
            fold.add(event)
        drafts = tuple(draft for draft in fold.finished() if not sources.has_turns(agent, draft.native))
        if not drafts:
            continue
        with writer.transaction():
            sources.add([Source(agent, path, "archive", home)])
            sources.mark_gone([path])  # it is not an agent's file: no sweep looks at it
        known = sources.get(path)
        assert known is not None
        size = os.path.getsize(path)
        batch.add(fold, Portion(known, drafts, (), known.cursor, Cursor(size), size, 1, True, True))
        batch.commit()
        with writer.transaction():
            sources.mark_gone([path])
            sources.kept(sources.sessions_of(known.id))
        restored += 1
    return restored


def _kept(folder: str) -> Iterator[tuple[str, str]]:
    for parent, _, names in sorted(os.walk(folder)):
        agent = os.path.basename(os.path.dirname(parent))
        for name in sorted(names):
            if name.endswith(".jsonl.gz"):
                yield agent, os.path.join(parent, name)


def read(path: str) -> Iterator[Event]:
    """Yield the events of a kept session; a damaged file yields what can be read of it."""
    try:
        with gzip.open(path, "rb") as file:
            begun = False
            for line in iter(lambda: file.readline(_MAX_TEXT), b""):
                kind, *fields = json.loads(line)
                event = _KINDS[kind](*fields)
                if not begun:
                    begun = True
                    yield Begin(event.session)
                yield event
    except (OSError, EOFError, ValueError, KeyError, TypeError):
        return
