"""Commits what was read: sessions, turns and the cursors behind them, all or nothing."""

from __future__ import annotations

import os
from _blake2 import blake2s

from told.guard.files import NotReadableError, open_regular
from told.ingest.locate import Locator
from told.model import Cursor
from told.record import record, replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from told.ingest.fold import Draft, Fold
    from told.model import Facts, Problem
    from told.store.projects import Projects
    from told.store.sources import Known, Sources
    from told.store.writing import SessionState, TurnText, Writer

_SAMPLE = 512


@record
class Portion:
    """A part of one source, from one cursor to the next."""

    known: Known
    drafts: tuple[Draft, ...]
    problems: tuple[Problem, ...]
    start: Cursor
    cursor: Cursor
    size: int
    changed: int
    finished: bool
    fresh: bool


class Batch:
    """Portions that are committed together."""

    def __init__(
        self, writer: Writer, sources: Sources, projects: Projects, now: Callable[[], int],
        told: Callable[[str, str, tuple[TurnText, ...]], None] | None = None,
    ) -> None:  # fmt: skip
        """Take the store's parts, a clock, and a function that is handed each session's new turns."""
        self._writer = writer
        self._sources = sources
        self._projects = projects
        self._now = now
        self._told = told
        self._portions: list[Portion] = []
        # Sources that have outgrown the one their session was taken from: to be read again from their start.
        self._outgrown: set[int] = set()
        self.weight = 0

    def add(self, fold: Fold, portion: Portion) -> None:
        """Hold a portion until the commit."""
        self._portions.append(portion)
        self.weight += fold.weight

    def commit(self) -> None:
        """Write everything held, in one transaction."""
        if not self._portions:
            return
        new_turns: list[tuple[str, str, tuple[TurnText, ...]]] = []
        with self._writer.transaction():
            locator = Locator(self._projects, self._writer)
            for portion in self._portions:
                current = self._sources.by_id(portion.known.id)
                if current is None or (current.cursor != portion.start and not portion.fresh):
                    continue  # another told has read it meanwhile
                if portion.fresh:
                    self._sources.clear_problems(portion.known.id)
                new_turns += [self._write(portion, draft, locator) for draft in portion.drafts]
                self._sources.put_problems(portion.known.id, portion.problems, self._now())
                if portion.known.id in self._outgrown:
                    self._outgrown.remove(portion.known.id)
                    self._sources.advance(portion.known.id, Cursor(), "")
                    continue
                printed = fingerprint(portion.known.source.path, portion.cursor.offset)
                self._sources.advance(portion.known.id, portion.cursor, printed)
                if portion.finished:
                    self._sources.finish(portion.known.id, portion.size, portion.changed)
        self._portions.clear()
        self.weight = 0
        if self._told is not None:
            for agent, native, turns in new_turns:
                self._told(agent, native, turns)

    def _write(
        self, portion: Portion, draft: Draft, locator: Locator
    ) -> tuple[str, str, tuple[TurnText, ...]]:
        writer, agent = self._writer, portion.known.source.agent
        session = writer.session(agent, draft.native) or writer.new_session(agent, draft.native)
        writer.merge(session.id, _dated(draft))
        session = self._placed(writer.session(agent, draft.native) or session, locator)
        owns = bool(draft.turns or draft.touches) and self._owns(portion, draft, session)
        if owns:
            if draft.begin:
                writer.clear_session(session.id)
            if session.source_id != portion.known.id:
                writer.own(session.id, portion.known.id)
            writer.put_turns(session, draft.turns, replace=draft.begin)
            writer.put_touches(session.id, draft.touches.values())
        writer.put_refs(session.id, draft.refs.values())
        for note in draft.notes.values():
            writer.put_checkpoint(session, note)
        if draft.facts.title:
            writer.put_title(session, draft.facts.title, session.started)
        next_n = draft.next_n if owns else session.next_n
        summary = draft.summary if owns and (draft.begin or session.next_n == 0) else ""
        writer.close_session(session.id, next_n, summary, draft.last_at)
        return agent, draft.native, tuple(draft.turns) if owns else ()

    def _placed(self, session: SessionState, locator: Locator) -> SessionState:
        project_id, part = locator.locate(session.cwd, session.repository)
        if not project_id and session.parent:
            parent = self._writer.session(session.agent, session.parent)
            project_id = parent.project_id if parent is not None else 0
        if not project_id or project_id == session.project_id:
            return session
        self._writer.place_session(session.id, project_id, part)
        return self._writer.session(session.agent, session.native) or session

    def _owns(self, portion: Portion, draft: Draft, session: SessionState) -> bool:
        """Whether this source is the one that the session's turns are taken from.

        The same session can lie in two files: a copy, or a file that was moved. The larger one counts.
        """
        if session.source_id in (0, portion.known.id):
            return True
        owner = self._sources.by_id(session.source_id)
        try:
            other = os.stat(owner.source.path).st_size if owner is not None else -1
        except OSError:
            return draft.begin
        larger = owner is None or (portion.size, owner.source.path) > (other, portion.known.source.path)
        if larger and not draft.begin:
            self._outgrown.add(portion.known.id)
        return larger and draft.begin


def _dated(draft: Draft) -> Facts:
    """Return a draft's facts, with the time of its first turn as the start when the agent wrote none."""
    facts = draft.facts
    if facts.started or not draft.begin:
        return facts
    first = next((turn.at for turn in draft.turns if turn.at), 0)
    return replaced(facts, started=first)


def fingerprint(path: str, offset: int) -> str:
    """Return a hash of a file's first bytes and of those before an offset; a database has none."""
    head = min(_SAMPLE, offset)
    try:
        with open_regular(path) as file:
            start = file.read(head)
            if start.startswith(b"SQLite format 3"):
                return ""
            file.seek(max(0, offset - _SAMPLE))
            end = file.read(min(_SAMPLE, offset))
    except (NotReadableError, OSError):
        return ""
    return blake2s(start + end, digest_size=8).hexdigest()
