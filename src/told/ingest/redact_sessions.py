"""Redact stored sessions and archive files with rules that are newer than they are.

Each session is changed in one transaction, so an interrupted run can be repeated.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import apsw

from told.files import NotReadableError, read_document, write_private
from told.ingest.archive import (
    archive_path,
    list_archive_files,
    read_lines,
    sync_disk,
    write_lines,
)
from told.ingest.fold import SessionDraft, change_state, change_summary
from told.ingest.projects import places_path
from told.jsontext import parse_json
from told.model import Ref, Touch
from told.redact.rescan import Rescanner, changed_texts, find_removed, make_excerpt, remove_cut_secret
from told.search.index_text import make_extra_words, make_near_words
from told.store.database import set_mmap_size, transaction
from told.store.sessions.erase import SessionEraser
from told.store.sessions.facts import TrimmedSessions
from told.store.sessions.read import SessionReader, TurnText
from told.store.sessions.write import NOTE_TEXTS, SessionState, SessionWriter

_REPORT_EVERY = 500  # rows
_TURN_FIELDS = 7  # of an archive line: kind, number, time, key, and three texts
# Facts of an archived session that are ids and folders instead of text.
_NAMES = frozenset(("native", "cwd", "parent", "kind", "title_by", "summary"))


@dataclass(frozen=True, slots=True)
class Finding:
    """A text that current rules redact."""

    kind: str
    id: str
    shown: str  # the redacted text around it
    session: int = 0
    file: str = ""  # of the agent, which still contains it


class SessionRescanner:
    """Find and redact secrets in all stored sessions."""

    def __init__(self, connection: apsw.Connection, rescanner: Rescanner) -> None:
        self._connection = connection
        self._rescanner = rescanner
        self._store = SessionEraser(connection)
        self._reader = SessionReader(connection)
        self._writer = SessionWriter(connection, make_extra_words, make_near_words)

    def find(self, report: Callable[[int, int], None] | None = None) -> Iterator[Finding]:
        """Yield all texts to redact; `report` gets the rows done and in total."""
        set_mmap_size(self._connection, 0)  # or the whole file counts as used memory
        total = self._store.size() if report else 0
        for done, stored in enumerate(self._store.texts()):
            if report and not done % _REPORT_EVERY:
                report(done, total)
            new = self._rescanner.redact_texts(stored.texts)
            for old, other in zip(stored.texts, new, strict=True):
                if old != other:
                    yield Finding(stored.kind, stored.name, make_excerpt(old, other), stored.session_id)
                    break
        for _, path, state in self._store.states():
            if self._redact_state(state) != state:
                yield Finding("state", self._rescanner.redact_path(path), "", 0, path)
        for _, _, reason, _, path in self._store.problems():
            new_reason = self._rescanner.redact_text(reason)
            if new_reason != reason:
                excerpt = make_excerpt(reason, new_reason)
                yield Finding("problem", self._rescanner.redact_path(path), excerpt, 0, path)
        if report:
            report(total, total)
        names = [(name, self._rescanner.redact_id(name)) for name in self._store.ids()]
        names += [(name, self._rescanner.redact_path(name)) for name in self._store.places()]
        for name, redacted in names:
            if redacted != name:
                yield Finding("name", "", "")

    def files_of(self, session_id: int) -> list[str]:
        """List the existing files of agents that contain a session."""
        return [path for path in self._store.files(session_id) if os.path.exists(path)]

    def redact(self, sessions: Sequence[int]) -> None:
        """Redact sessions and the notes about sources; free pages are not purged."""
        for session_id in sessions:
            with self._writer.transaction():
                session = self._writer.session(*self._store.names(session_id))
                if session is not None:
                    self._redact_session(session)
        with transaction(self._connection):
            for source_id, _, state in list(self._store.states()):
                new_state = self._redact_state(state)
                if new_state != state:
                    self._store.put_state(source_id, new_state)
            for source_id, line, reason, at, _ in list(self._store.problems()):
                new_reason = self._rescanner.redact_text(reason)
                if new_reason != reason:
                    self._store.put_problem(source_id, line, reason, new_reason, at)

    def _redact_session(self, session: SessionState) -> None:
        store, writer, rescanner = self._store, self._writer, self._rescanner
        before = self._reader.archive_turns(session.id)
        after = tuple(self._redact_turn(turn) for turn in before)
        secrets = _find_secrets(before, after)
        for source_id, *facts, state in store.facts(session.id):
            new_facts = [remove_cut_secret(rescanner.redact_text(one), secrets) for one in facts]
            if new_facts != facts:
                store.put_facts(session.id, source_id, new_facts, state)
        writer.facts.update_session(session.id)
        session = writer.session(session.agent, session.native) or session
        if after != before:
            writer.put_turns(session, after, replace=True)
            writer.fresh.add(session.id)  # learn from the redacted text again
        for source_id, note in self._store.notes(session.id):
            texts = self._rescanner.redact_texts([getattr(note, name) for name in NOTE_TEXTS])
            changed: dict[str, Any] = {
                name: remove_cut_secret(text, secrets) for name, text in zip(NOTE_TEXTS, texts, strict=True)
            }
            writer.put_checkpoint(session, source_id, replace(note, **changed))
        self._redact_names(session.id)
        writer.put_title(session)
        writer.close_session(session.id, session.next_n, self._make_summary(session, before, after))

    def _redact_names(self, session_id: int) -> None:
        for path, how, at in self._reader.files_of(session_id):
            new = self._rescanner.redact_text(path)
            if new != path:
                self._store.drop_touch(session_id, path)
                self._writer.put_touches(session_id, [Touch("", new, how, at)])
        for kind, value, source_id, at in self._store.refs(session_id):
            new = self._rescanner.redact_text(value)
            if new != value:
                self._store.drop_ref(session_id, value)
                self._writer.put_refs(session_id, source_id, [Ref("", kind, new, at)])

    def _redact_turn(self, turn: TurnText) -> TurnText:
        asked, answered, steps = self._rescanner.redact_texts(turn.texts)
        return turn._replace(asked=asked, answered=answered, steps=steps)

    def _make_summary(
        self, session: SessionState, before: Sequence[TurnText], after: tuple[TurnText, ...]
    ) -> str:
        summary = change_summary(session.summary, before, after, self._rescanner.redact_text)
        if summary == session.summary or len(after) != session.next_n:
            return summary
        draft = SessionDraft(session.native, begin=True)
        draft.turns = after
        return draft.summary or summary  # a trimmed session has no texts

    def _redact_state(self, state: str) -> str:
        """Redact every value in a reader's state."""
        redact = self._rescanner.redact_text
        return state if redact(state) == state else change_state(state, redact)


def _find_secrets(before: Sequence[TurnText], after: Sequence[TurnText]) -> dict[str, str]:
    """Return the removed secrets of turns with their placeholders."""
    return {
        secret: marker
        for old, new in zip(before, after, strict=True)
        for one, other in zip(old.texts, new.texts, strict=True)
        if one != other
        for secret, marker in find_removed(one, other).items()
    }


def find_archive_secrets(home: str, rescanner: Rescanner) -> Iterator[Finding]:
    """Yield the archive files that current rules redact."""
    for _, path in list_archive_files(home):
        lines = list(read_lines(path))
        new = _redact_lines(lines, rescanner)
        if new != lines:
            changed = next(changed_texts(lines, new), ("", ""))
            yield Finding("archive", os.path.relpath(path, home), make_excerpt(*changed))
    if _redact_places(home, rescanner):
        yield Finding("archive", os.path.relpath(places_path(home), home), "")


def redact_archive(connection: apsw.Connection, home: str, rescanner: Rescanner) -> None:
    """Rewrite the archive files that current rules redact."""
    has_written = False
    for agent, path in list_archive_files(home):
        lines = list(read_lines(path))
        new = _redact_lines(lines, rescanner)
        if new == lines:
            continue
        native = _read_native(new)
        is_renamed = native not in ("", _read_native(lines))
        new_path = archive_path(home, agent, native) if is_renamed else path
        write_lines(new_path, new)
        if new_path != path:
            os.remove(path)
        session_id = SessionEraser(connection).find(agent, _read_native(new))
        TrimmedSessions(connection).update(session_id, ((one.n, *one.texts) for one in _read_turns(new)))
        has_written = True
    redact_places(home, rescanner)
    if has_written:
        sync_disk()


def redact_places(home: str, rescanner: Rescanner) -> None:
    """Redact the archived list of project folders."""
    content = _redact_places(home, rescanner)
    if content:
        write_private(places_path(home), content)


def _redact_lines(lines: list[list[Any]], rescanner: Rescanner) -> list[list[Any]]:
    new = [
        [*line[:4], *rescanner.redact_texts(line[4:])]
        if _is_turn(line)
        else [line[0], *rescanner.redact_value(line[1:], _NAMES)]
        for line in lines
    ]
    before, after = _read_turns(lines), _read_turns(new)
    secrets = _find_secrets(before, after)
    fields: dict[str, Callable[[str], str]] = {
        "native": rescanner.redact_id,
        "parent": rescanner.redact_id,
        "cwd": rescanner.redact_path,
        "title": lambda title: remove_cut_secret(title, secrets),
        "summary": lambda summary: change_summary(summary, before, after, rescanner.redact_text),
    }
    for line in new:
        if line[0] == "checkpoint":
            line[1:] = [remove_cut_secret(one, secrets) if isinstance(one, str) else one for one in line[1:]]
        elif line[0] == "session" and isinstance(line[-1], dict):
            facts = line[-1]
            facts |= {
                name: redact(facts[name])
                for name, redact in fields.items()
                if isinstance(facts.get(name), str)
            }
    return new


def _read_turns(lines: list[list[Any]]) -> list[TurnText]:
    return [TurnText(line[1], line[2], "", *line[4:]) for line in lines if _is_turn(line)]


def _is_turn(line: list[Any]) -> bool:
    return line[0] == "turn" and len(line) == _TURN_FIELDS and all(isinstance(one, str) for one in line[4:])


def _read_native(lines: list[list[Any]]) -> str:
    found = (line[-1].get("native") for line in lines if line[0] == "session" and isinstance(line[-1], dict))
    return next((native for native in found if isinstance(native, str)), "")


def _redact_places(home: str, rescanner: Rescanner) -> bytes:
    """Return the redacted list of project folders; b"" if nothing changes."""
    try:
        content = read_document(places_path(home))
    except NotReadableError:
        return b""
    lines = []
    for line in content.splitlines():
        place = parse_json(line)
        named = place
        if isinstance(place, list):
            named = [rescanner.redact_path(one) if isinstance(one, str) else one for one in place]
        is_same = named == place
        lines.append(line if is_same else json.dumps(named, ensure_ascii=False).encode("utf-8", "replace"))
    new = b"".join(line + b"\n" for line in lines)
    return new if new != content else b""
