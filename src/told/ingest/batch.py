"""Commits what was read: sessions, turns and the cursors behind them, all or nothing."""

from __future__ import annotations

from _blake2 import blake2s

from told.guard.files import NotReadableError, open_regular
from told.ingest.fold import is_telling
from told.ingest.locate import Locator
from told.ingest.look import state_of
from told.model import Cursor
from told.record import record, replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from told.ingest.fold import Draft
    from told.ingest.tombstones import Tombstones
    from told.model import Facts, Problem
    from told.store.projects import Projects
    from told.store.sources import Known, Sources
    from told.store.writing import SessionState, Writer

ARCHIVE = "archive"  # the layout of what told itself keeps of sessions whose source is gone
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
        tombstones: Tombstones,
    ) -> None:  # fmt: skip
        """Take the store's parts, a clock, and what was forgotten."""
        self._writer = writer
        self._sources = sources
        self._projects = projects
        self._now = now
        self._tombstones = tombstones
        self._portions: list[Portion] = []
        # Sources that grow while their session was taken from another: to be read again from their start.
        self._outgrown: set[int] = set()
        self._refused: set[tuple[int, str]] = set()
        self._again: list[int] = []
        self._has_placed = False
        self.weight = 0

    def add(self, portion: Portion, weight: int = 0) -> None:
        """Hold a portion, of so many characters, until the commit."""
        self._portions.append(portion)
        self.weight += weight

    def commit(self) -> None:
        """Write everything held, in one transaction."""
        if not self._portions:
            return
        with self._writer.transaction():
            # Looked up in here: what is forgotten from now on finds what is written now.
            forgotten = self._tombstones.now()
            locator = Locator(self._projects, self._writer)
            for portion in self._portions:
                current = self._sources.by_id(portion.known.id)
                if current is None or (current.cursor != portion.start and not portion.fresh):
                    continue  # another told has read it meanwhile
                if portion.fresh:
                    self._sources.clear_problems(portion.known.id)
                drafts, cursor = forgotten.take(portion.known.source.agent, portion.drafts, portion.cursor)
                for draft in drafts:
                    self._write(portion, draft, locator)
                self._sources.put_problems(portion.known.id, portion.problems, self._now())
                if portion.known.id in self._outgrown:
                    self._outgrown.remove(portion.known.id)
                    self._sources.advance(portion.known.id, Cursor(), "")
                    self._again.append(portion.known.id)
                    continue
                printed = fingerprint(portion.known.source.path, portion.cursor.offset)
                self._sources.advance(portion.known.id, cursor, printed)
                if portion.finished:
                    self._sources.finish(portion.known.id, portion.size, portion.changed)
            for helper, project_id in self._projects.helpers_behind() if self._has_placed else ():
                self._writer.place_session(helper, project_id, "")
            self._has_placed = False
        self._portions.clear()
        self.weight = 0

    def take_again(self) -> list[int]:
        """Return the sources that have to be read again, from their start."""
        again, self._again = self._again, []
        return again

    def _write(self, portion: Portion, draft: Draft, locator: Locator) -> None:
        writer, agent, source_id = self._writer, portion.known.source.agent, portion.known.id
        session = before = writer.session(agent, draft.native) or writer.new_session(agent, draft.native)
        owns = bool(draft.turns or draft.touches) and self._owns(portion, draft, session)
        if owns and session.source_id != source_id:
            self._take_over(session, source_id)
        writer.facts.put(session.id, source_id, _dated(draft, session), draft.last_at, replace=draft.begin)
        writer.facts.settle(session.id)
        session = self._placed(writer.session(agent, draft.native) or session, locator, draft)
        if draft.begin:
            writer.clear_source(session, source_id)
        is_new = owns and not self._is_as_before(draft, session)
        if owns:
            if draft.begin:
                writer.clear_touches(session.id)
            writer.put_touches(session.id, draft.touches.values())
        if is_new:
            writer.put_turns(session, draft.turns, replace=draft.begin)
        if is_new and draft.turns:
            writer.fresh.add(session.id)
        writer.put_refs(session.id, source_id, draft.refs.values())
        for note in draft.notes.values():
            writer.put_checkpoint(session, source_id, note)
        if draft.begin or (session.title, session.started) != (before.title, before.started):
            writer.put_title(session)
        next_n = draft.next_n if owns else session.next_n
        writer.close_session(session.id, next_n, _summary(draft, session) if owns else session.summary)

    def _is_as_before(self, draft: Draft, session: SessionState) -> bool:
        """Tell whether a session lost its texts for lack of room, and just these were read again."""
        if not draft.begin or draft.next_n != session.next_n:
            return False
        texts = ((one.n, one.asked, one.answered, one.steps) for one in draft.turns)
        return self._writer.trimmed.is_as_before(session.id, texts)

    def _placed(self, session: SessionState, locator: Locator, draft: Draft) -> SessionState:
        place = draft.place if draft.facts.cwd == session.cwd else session.cwd
        project_id, part = locator.locate(place, session.repository)
        if not project_id and session.parent:
            parent = self._writer.session(session.agent, session.parent)
            project_id = parent.project_id if parent is not None else 0
        if not project_id or project_id == session.project_id:
            return session
        self._writer.place_session(session.id, project_id, self._projects.hide(part))
        self._has_placed = True
        return self._writer.session(session.agent, session.native) or session

    def _owns(self, portion: Portion, draft: Draft, session: SessionState) -> bool:
        """Whether this source is the one that the session's turns are taken from.

        The same session can lie in two files: a copy, or a file that was moved. The larger one counts.
        """
        known = portion.known
        if session.source_id in (0, known.id) or known.source.layout == ARCHIVE:
            return True
        if not draft.begin:
            if (known.id, draft.native) not in self._refused:
                self._outgrown.add(known.id)
            return False
        owner = self._sources.by_id(session.source_id)
        if owner is None:
            return True
        if owner.source.layout == ARCHIVE:
            owns = not portion.finished or draft.next_n >= session.next_n
        else:
            other = state_of(owner.source.path)
            mine, theirs = (portion.size, owner.source.path), (other or (owner.size,))[0]
            owns = mine > (theirs, known.source.path) if other else portion.size >= theirs
        if not owns:
            self._refused.add((known.id, draft.native))
        return owns

    def _take_over(self, session: SessionState, source_id: int) -> None:
        """Make a source the one a session's turns come from; what is no longer there has no say any more."""
        owner = self._sources.by_id(session.source_id) if session.source_id else None
        if owner is not None and (owner.source.layout == ARCHIVE or state_of(owner.source.path) is None):
            self._writer.clear_source(session, owner.id)
            self._writer.facts.forget(session.id, owner.id)
        self._writer.own(session.id, source_id)


def _dated(draft: Draft, session: SessionState) -> Facts:
    """Return a draft's facts, with the time of its first turn as the start when the agent wrote none."""
    facts = draft.facts
    if facts.started or (session.started and not draft.begin):
        return facts
    first = next((turn.at for turn in draft.turns if turn.at), 0)
    return replaced(facts, started=first)


def _summary(draft: Draft, session: SessionState) -> str:
    """Return what the session is about: the same whether it was read at once or bit by bit."""
    new, old = draft.summary, session.summary
    if draft.begin or not old:
        return new
    return new if is_telling(new) and not is_telling(old) else old


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
