"""Archive the redacted text of sessions, for when their agent deletes its files.

Each session is one compressed JSON Lines file in `archive/<agent>/`.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import IO, Any

import apsw

from told.agents.values import as_dict, as_text
from told.files import replace_private
from told.ingest.batch import ARCHIVE_LAYOUT, Batch, Portion
from told.ingest.complete_sessions import CompleteSessions, Texts
from told.ingest.fold import Origin, SessionDraft
from told.ingest.forgotten import Forgotten, Tombstones
from told.ingest.projects import write_places
from told.ingest.scan import QUIET_MS
from told.model import AGENT, Checkpoint, Cursor, Facts, Ref, Source, Touch
from told.redact.names import redact_path
from told.search.index_text import make_extra_words, make_near_words
from told.store.database import make_private_folder, public_id, transaction
from told.store.memories.read import UNREADABLE
from told.store.sessions.checkpoints import Projects
from told.store.sessions.read import CheckpointRow, Filter, SessionReader, TurnText
from told.store.sessions.schema import find_damage
from told.store.sessions.sources import Sources
from told.store.sessions.write import SessionState, SessionWriter

_MAX_LINE = 16 * 1024 * 1024  # longer than any stored turn
_MAX_TIME = 1 << 53
_MAX_KEY = 1 << 63
_ORIGIN = "origin"  # the field with the machine that a session comes from


def restore_texts(writer: SessionWriter, reader: CompleteSessions, session: SessionState) -> None:
    """Put the texts of a trimmed session back, if they can be found."""
    turns = reader.archive_turns(session.id)
    with writer.transaction():
        writer.put_turns(session, turns, replace=True)


def read_archived_texts(home: str, agent: str, native: str) -> Texts:
    """Read a session's texts from the archive; {} if missing or damaged."""
    path = archive_path(home, agent, native)
    draft = read_draft(path, str) if os.path.exists(path) else None
    return {turn.n: turn.texts for turn in draft.turns} if draft else {}


def archive_path(home: str, agent: str, native: str) -> str:
    """Return the path of a session's archive file."""
    name = public_id("s", agent, native, length=16)
    return os.path.join(home, "archive", agent, name[1:3], f"{name}.jsonl.gz")


def write_lines(path: str, lines: Iterable[list[Any]]) -> None:
    """Replace an archive file atomically."""
    make_private_folder(os.path.dirname(path))
    with replace_private(path, sync=False) as file:  # the caller syncs many files at once
        _pack_lines(file, lines)


def _pack_lines(file: IO[bytes], lines: Iterable[list[Any]]) -> None:
    with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=1, mtime=0) as packed:
        for line in lines:
            packed.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n")


def pack_draft(draft: SessionDraft) -> bytes:
    """Return the content of the archive file of a session."""
    content = io.BytesIO()
    _pack_lines(content, format_draft(draft))
    return content.getvalue()


def cut_forgotten(path: str, agent: str, forgotten: Forgotten) -> bool:
    """Cut forgotten text out of an archive file; return False to delete the file."""
    draft = read_draft(path, str)
    if draft is None or forgotten.has(agent, draft.native, draft.facts.parent):
        return False
    forgotten.cut(agent, draft)
    write_lines(path, format_draft(draft))
    return True


def format_draft(draft: SessionDraft) -> Iterator[list[Any]]:
    """Yield the lines of an archive file."""
    facts = draft.facts
    yield ["session", {
        "native": draft.native, "cwd": facts.cwd, "branch": facts.branch, "repository": facts.repository,
        "title": facts.title, "title_by": facts.title_by, "summary": draft.about, "started": facts.started,
        "ended": draft.last_at, "parent": facts.parent, "kind": facts.kind, "archived": int(facts.archived),
        "model": facts.model, "next_n": draft.next_n,
    } | ({_ORIGIN: [*draft.origin]} if draft.origin else {})]  # fmt: skip
    for turn in draft.turns:
        yield _format_turn(turn)
    for touch in draft.touches.values():
        yield ["touch", touch.path, touch.how, touch.at]
    for ref in draft.refs.values():
        yield ["ref", ref.kind, ref.value, ref.at]
    for note in draft.notes.values():
        yield _format_note(note)


def _format_turn(turn: TurnText) -> list[Any]:
    return ["turn", turn.n, turn.at, None if turn.key == "" else turn.key, *turn.texts]


def _format_note(note: Checkpoint | CheckpointRow) -> list[Any]:
    return [
        "checkpoint", note.number, note.title, note.overview, note.at, note.work_done,
        note.technical_details, note.important_files, note.next_steps, note.history,
    ]  # fmt: skip


def _format_session(
    reader: SessionReader, session_id: int, origin: Origin | None
) -> Iterator[list[Any]]:  # fmt: skip
    yield ["session", reader.archive_facts(session_id) | ({_ORIGIN: [*origin]} if origin else {})]
    for turn in reader.archive_turns(session_id):
        yield _format_turn(turn)
    for touch in reader.files_of(session_id):
        yield ["touch", *touch]
    for ref in reader.refs_of(session_id):
        yield ["ref", *ref]
    for note in reader.checkpoints(Filter(), -1, session_id=session_id):
        if not note.path:  # told's own checkpoints have their own files
            yield _format_note(note)


def is_intact(path: str) -> bool:
    """Return whether an archive file matches its checksum."""
    try:
        with gzip.open(path, "rb") as file:
            while file.read(1 << 20):
                pass
    except (OSError, EOFError, zlib.error):
        return False
    return True


def read_origin(path: str) -> Origin | None:
    """Read which other machine a session comes from; None for one of this machine."""
    for kind, *fields in read_lines(path):
        return _parse_origin(as_dict(fields[0])) if kind == "session" and fields else None
    return None


def _parse_origin(facts: dict[str, Any]) -> Origin | None:
    found = facts.get(_ORIGIN)
    if not isinstance(found, list) or len(found) != len(Origin._fields) or not as_text(found[0]):
        return None
    return Origin(*map(as_text, found))


def read_head(path: str) -> tuple[str, int]:
    """Read a session's native id and turn count; ("", 0) if unreadable."""
    for kind, *fields in read_lines(path):
        facts = as_dict(fields[0]) if fields else {}
        return (as_text(facts.get("native")), _number(facts.get("next_n"))) if kind == "session" else ("", 0)
    return "", 0


def read_draft(path: str | IO[bytes], redact: Callable[[str], str]) -> SessionDraft | None:
    """Read a session from its archive file; None without a valid head."""
    draft: SessionDraft | None = None
    turns: list[TurnText] = []
    for kind, *fields in read_lines(path):
        if kind == "session" and fields and draft is None:
            draft = _parse_head(as_dict(fields[0]), redact)
        elif draft is None:
            return None
        elif kind == "turn" and len(fields) == 6:
            n, at, key, *texts = fields
            has_key = isinstance(key, int) and not isinstance(key, bool) and -_MAX_KEY <= key < _MAX_KEY
            asked, answered, steps = (redact(as_text(one)) for one in texts)
            turns.append(TurnText(_number(n), _number(at), key if has_key else "", asked, answered, steps))
        elif kind == "touch" and len(fields) == 3:
            touched = redact(as_text(fields[0]))
            draft.touches[touched] = Touch("", touched, as_text(fields[1]), _number(fields[2]))
        elif kind == "ref" and len(fields) == 3:
            named, value = as_text(fields[0]), redact(as_text(fields[1]))
            draft.refs[named, value] = Ref("", named, value, _number(fields[2]))
        elif kind == "checkpoint" and len(fields) == 9:
            number, title, overview, at, *notes = fields
            texts = [redact(as_text(one)) for one in notes]
            draft.notes[_number(number)] = Checkpoint(
                "", _number(number), redact(as_text(title)), redact(as_text(overview)), _number(at), *texts
            )
    if draft is not None:
        draft.turns = tuple({turn.n: turn for turn in sorted(turns, key=lambda turn: turn.n)}.values())
        draft.next_n = max(draft.next_n, turns[-1].n + 1 if turns else 0)
    return draft


def _parse_head(facts: dict[str, Any], redact: Callable[[str], str]) -> SessionDraft | None:
    native = as_text(facts.get("native"))
    if not native:
        return None
    draft = SessionDraft(native, begin=True)
    given = {
        name: redact(as_text(facts.get(name))) for name in ("cwd", "branch", "repository", "title", "model")
    }
    draft.facts = Facts(
        native, **given, title_by=as_text(facts.get("title_by")) or AGENT,
        started=_number(facts.get("started")), parent=as_text(facts.get("parent")),
        kind=as_text(facts.get("kind")), archived=bool(facts.get("archived")),
    )  # fmt: skip
    draft.place = draft.facts.cwd
    draft.about = redact(as_text(facts.get("summary")))
    draft.last_at = _number(facts.get("ended"))
    draft.next_n = _number(facts.get("next_n"))
    draft.origin = _parse_origin(facts)
    return draft


def _number(value: Any) -> int:
    return value if isinstance(value, int) and 0 <= value < _MAX_TIME else 0


def read_lines(path: str | IO[bytes]) -> Iterator[list[Any]]:
    """Yield the valid lines of an archive file up to the first damage."""
    try:
        with gzip.open(path, "rb") as file:
            for raw in iter(lambda: file.readline(_MAX_LINE), b""):
                try:
                    line = json.loads(raw)
                except (ValueError, RecursionError):
                    continue
                if isinstance(line, list) and line:
                    yield line
    except (OSError, EOFError, zlib.error):
        return


def archive_quiet_sessions(
    connection: apsw.Connection, home: str, now: int, *, everything: bool = False
) -> int:
    """Archive sessions that were quiet for a day, or all, and the project folders; return how many."""
    reader = CompleteSessions(connection, home)
    kept = []
    if everything and find_damage(connection):
        return _rescue_sessions(reader, home)
    for session_id, revision in reader.to_archive(1 << 62 if everything else now - QUIET_MS):
        if not reader.is_lost(session_id):  # otherwise only the agent's file has its text
            _write_session(reader, home, session_id)
            kept.append((session_id, revision))
    write_places(Projects(connection), home)
    _mark_archived(connection, kept)
    return len(kept)


def _rescue_sessions(reader: CompleteSessions, home: str) -> int:
    """Archive what a damaged database has and the archive has not; return how many."""
    try:
        waiting = reader.to_archive(1 << 62)
    except UNREADABLE:
        return 0
    count = 0
    for session_id, _ in waiting:
        with suppress(*UNREADABLE):
            row = reader.session(session_id)
            if not os.path.exists(archive_path(home, row.agent, row.native)):
                _write_session(reader, home, session_id)
            count += 1
    return count


def _write_session(reader: SessionReader, home: str, session_id: int) -> None:
    row = reader.session(session_id)
    path = archive_path(home, row.agent, row.native)
    write_lines(path, _format_session(reader, session_id, read_origin(path)))


def archive_sessions(connection: apsw.Connection, home: str, sessions: Iterable[int]) -> None:
    """Archive some sessions now, quiet or not."""
    reader = CompleteSessions(connection, home)
    kept = []
    for session_id in sessions:
        kept.append((session_id, reader.revision(session_id)))
        _write_session(reader, home, session_id)
    _mark_archived(connection, kept)


def _mark_archived(connection: apsw.Connection, sessions: list[tuple[int, int]]) -> None:
    if not sessions:
        return
    sync_disk()
    with transaction(connection):
        Sources(connection).mark_archived(sessions)


def sync_disk() -> None:
    """Flush all archive files at once, where the system can."""
    if hasattr(os, "sync"):
        os.sync()


def rewrite_sessions(connection: apsw.Connection, home: str, sessions: Iterable[int]) -> None:
    """Rewrite the archive files that some sessions have."""
    reader = CompleteSessions(connection, home)
    for session_id in sessions:
        row = reader.session(session_id)
        if os.path.exists(archive_path(home, row.agent, row.native)):
            _write_session(reader, home, session_id)
    sync_disk()


def restore_sessions(
    connection: apsw.Connection, home: str, redact: Callable[[str], str],
    replaced: Sequence[tuple[str, str]] | None = None,
) -> int:  # fmt: skip
    """Restore sessions whose agents' files are gone; return how many.

    Args:
        connection: The sessions.
        home: told's folder.
        redact: Removes secrets.
        replaced: Only these (agent, path), whose texts count even if the sessions are known.
    """
    writer = SessionWriter(connection, make_extra_words, make_near_words)
    sources = Sources(connection)
    projects = Projects(connection, lambda name: redact_path(name, redact))
    batch = Batch(writer, sources, projects, lambda: 0, Tombstones(home))
    restored = 0
    for agent, path in list_archive_files(home) if replaced is None else replaced:
        native, next_n = read_head(path)
        session = writer.session(agent, native) if native and replaced is None else None
        if not native or (session is not None and session.next_n >= max(1, next_n)):
            continue
        draft = read_draft(path, redact)
        if draft is None or not draft.turns:
            continue
        with writer.transaction():
            sources.add([Source(agent, path, ARCHIVE_LAYOUT, home)])
            sources.mark_gone([path])  # not an agent's file: sweeps skip it
        known = sources.get(path)
        assert known is not None
        size = os.path.getsize(path)
        batch.add(Portion(known, (draft,), (), known.cursor, Cursor(size), size, 1, False, True))
        batch.commit()
        with writer.transaction():
            sources.mark_archived(sources.sessions_of(known.id))
        restored += 1
    return restored


def find_damaged_files(home: str) -> list[str]:
    """Return the archive files that are damaged."""
    return [path for _, path in list_archive_files(home) if not is_intact(path)]


def list_archive_files(home: str) -> Iterator[tuple[str, str]]:
    """Yield agent and path of each archive file."""
    for parent, _, names in sorted(os.walk(os.path.join(home, "archive"))):
        agent = os.path.basename(os.path.dirname(parent))
        for name in sorted(names):
            if name.endswith(".jsonl.gz"):
                yield agent, os.path.join(parent, name)
