"""Commit what was read: sessions, turns and cursors in one transaction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from told.agents.headless import is_scratch_folder
from told.files import NotReadableError, open_regular
from told.hashing import blake2s
from told.ingest import agent_prompts, repository_files
from told.ingest.fold import Origin, SessionDraft, is_informative
from told.ingest.forgotten import Tombstones
from told.ingest.projects import Locator
from told.ingest.scan import file_state
from told.model import Cursor, Facts, Problem
from told.store.sessions.checkpoints import Projects
from told.store.sessions.sources import KnownSource, Sources
from told.store.sessions.write import SessionState, SessionWriter

ARCHIVE_LAYOUT = "archive"  # of sources that are archive files
_SAMPLE = 512  # bytes


@dataclass(frozen=True, slots=True)
class Portion:
    """A part of one source, from one cursor to the next."""

    known: KnownSource
    drafts: tuple[SessionDraft, ...]
    problems: tuple[Problem, ...]
    start: Cursor
    cursor: Cursor
    size: int
    changed: int
    finished: bool
    fresh: bool


class Batch:
    """Collect portions and commit them together."""

    def __init__(
        self, writer: SessionWriter, sources: Sources, projects: Projects, now: Callable[[], int],
        tombstones: Tombstones,
    ) -> None:  # fmt: skip
        self._writer = writer
        self._sources = sources
        self._projects = projects
        self._now = now
        self._tombstones = tombstones
        self._repository_files = repository_files.RepositoryFiles()
        self._portions: list[Portion] = []
        # Sources that grew while another source owns their session: read again from the start.
        self._outgrown: set[int] = set()
        self._refused: set[tuple[int, str]] = set()
        self._again: list[int] = []
        self._has_placed = False
        self.weight = 0  # characters

    def add(self, portion: Portion, weight: int = 0) -> None:
        """Add a portion of so many characters."""
        if portion.drafts and self._repository_files.has(portion.known.source):
            for draft in portion.drafts:
                draft.facts = replace(draft.facts, kind=draft.facts.kind or repository_files.KIND)
        self._portions.append(portion)
        self.weight += weight

    def commit(self) -> None:
        """Write all portions in one transaction."""
        if not self._portions:
            return
        with self._writer.transaction():
            # Read inside the transaction, so that a later forget finds what is written now.
            forgotten = self._tombstones.current()
            locator = Locator(self._projects, self._writer)
            for portion in self._portions:
                source_id = portion.known.id
                current = self._sources.by_id(source_id)
                if current is None or (current.cursor != portion.start and not portion.fresh):
                    continue  # another process read it meanwhile
                if portion.fresh:
                    self._sources.clear_problems(source_id)
                drafts, cursor = forgotten.cut_drafts(
                    portion.known.source.agent, portion.drafts, portion.cursor
                )
                for draft in drafts:
                    if is_scratch_folder(draft.place or draft.facts.cwd):
                        continue  # an agent that worked for told
                    if f"{portion.known.source.agent}/{draft.native}" in forgotten.agent_sessions:
                        draft.facts = replace(draft.facts, kind=draft.facts.kind or agent_prompts.KIND)
                    self._write(portion, draft, locator)
                self._sources.put_problems(source_id, portion.problems, self._now())
                if source_id in self._outgrown:
                    self._outgrown.remove(source_id)
                    self._sources.advance(source_id, Cursor(), "")
                    self._again.append(source_id)
                    continue
                printed = fingerprint(portion.known.source.path, portion.cursor.offset)
                self._sources.advance(source_id, cursor, printed)
                if portion.finished:
                    self._sources.finish(source_id, portion.size, portion.changed)
            for helper, project_id in self._projects.unplaced_helpers() if self._has_placed else ():
                self._writer.place_session(helper, project_id, "")
            self._has_placed = False
        self._portions.clear()
        self.weight = 0

    def take_again(self) -> list[int]:
        """Return the sources to read again from their start, once."""
        again, self._again = self._again, []
        return again

    def _write(self, portion: Portion, draft: SessionDraft, locator: Locator) -> None:
        writer, agent, source_id = self._writer, portion.known.source.agent, portion.known.id
        session = before = writer.session(agent, draft.native) or writer.new_session(agent, draft.native)
        owns = bool(draft.turns or draft.touches) and self._owns(portion, draft, session)
        if owns and session.source_id != source_id:
            self._take_over(session, source_id)
        writer.facts.put(session.id, source_id, _dated(draft, session), draft.last_at, replace=draft.begin)
        writer.facts.update_session(session.id)
        session = self._place(writer.session(agent, draft.native) or session, locator, draft)
        if draft.begin:
            writer.clear_source(session, source_id)
        is_new = owns and not self._is_unchanged(draft, session)
        if owns:
            if draft.begin:
                writer.clear_touches(session.id)
            writer.put_touches(session.id, draft.touches.values())
        if is_new:
            writer.put_turns(session, draft.turns, replace=draft.begin)
        if is_new and draft.turns and draft.origin is None:  # another machine learns from its own
            writer.fresh.add(session.id)
        writer.put_refs(session.id, source_id, draft.refs.values())
        for note in draft.notes.values():
            writer.put_checkpoint(session, source_id, note)
        if draft.begin or (session.title, session.started) != (before.title, before.started):
            writer.put_title(session)
        next_n = draft.next_n if owns else session.next_n
        writer.close_session(session.id, next_n, _summary(draft, session) if owns else session.summary)

    def _is_unchanged(self, draft: SessionDraft, session: SessionState) -> bool:
        """Return whether exactly the trimmed texts of a session were read again."""
        if not draft.begin or draft.next_n != session.next_n:
            return False
        return self._writer.trimmed.is_unchanged(session.id, ((one.n, *one.texts) for one in draft.turns))

    def _place(self, session: SessionState, locator: Locator, draft: SessionDraft) -> SessionState:
        place = draft.place if draft.facts.cwd == session.cwd else session.cwd
        if draft.origin is None:
            project_id, part = locator.locate(place, session.repository)
        else:  # by identity: the same path may be another project here
            project_id, part = self._find_project(draft.origin), draft.origin.part
        if not project_id and session.parent:
            parent = self._writer.session(session.agent, session.parent)
            project_id = parent.project_id if parent is not None else 0
        if not project_id or project_id == session.project_id:
            return session
        self._writer.place_session(session.id, project_id, self._projects.hide(part))
        self._has_placed = True
        return self._writer.session(session.agent, session.native) or session

    def _find_project(self, origin: Origin) -> int:
        return self._projects.put(origin.key, origin.name, "").id if origin.key else 0

    def _owns(self, portion: Portion, draft: SessionDraft, session: SessionState) -> bool:
        """Return whether this source provides the session's turns.

        Two files can contain the same session: a copy, or a file that was moved. The larger one counts.
        """
        known = portion.known
        if session.source_id in (0, known.id) or known.source.layout == ARCHIVE_LAYOUT:
            return True
        if not draft.begin:
            if (known.id, draft.native) not in self._refused:
                self._outgrown.add(known.id)
            return False
        owner = self._sources.by_id(session.source_id)
        if owner is None:
            return True
        if owner.source.layout == ARCHIVE_LAYOUT:
            owns = not portion.finished or draft.next_n >= session.next_n
        else:
            other = file_state(owner.source.path)
            mine, theirs = (portion.size, owner.source.path), (other or (owner.size,))[0]
            owns = mine > (theirs, known.source.path) if other else portion.size >= theirs
        if not owns:
            self._refused.add((known.id, draft.native))
        return owns

    def _take_over(self, session: SessionState, source_id: int) -> None:
        """Make a source the owner of a session; drop what a deleted owner said."""
        owner = self._sources.by_id(session.source_id) if session.source_id else None
        if owner is not None and (
            owner.source.layout == ARCHIVE_LAYOUT or file_state(owner.source.path) is None
        ):
            self._writer.clear_source(session, owner.id)
            self._writer.facts.forget(session.id, owner.id)
        self._writer.set_source(session.id, source_id)


def _dated(draft: SessionDraft, session: SessionState) -> Facts:
    """Return a draft's facts; the first turn's time is the default start."""
    facts = draft.facts
    if facts.started or (session.started and not draft.begin):
        return facts
    first = next((turn.at for turn in draft.turns if turn.at), 0)
    return replace(facts, started=first)


def _summary(draft: SessionDraft, session: SessionState) -> str:
    """Return the summary a session has, whether it was read at once or in parts."""
    new, old = draft.summary, session.summary
    if draft.begin or not old:
        return new
    return new if is_informative(new) and not is_informative(old) else old


def fingerprint(path: str, offset: int) -> str:
    """Hash a file's first bytes and those before an offset; "" for databases."""
    size = min(_SAMPLE, offset)
    try:
        with open_regular(path) as file:
            start = file.read(size)
            if start.startswith(b"SQLite format 3"):
                return ""
            file.seek(max(0, offset - _SAMPLE))
            end = file.read(size)
    except (NotReadableError, OSError):
        return ""
    return blake2s(start + end, digest_size=8).hexdigest()
