"""The public Python interface: `Told(home).remember(...)`, `.search(...)`, `.brief(...)` and more."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from told.app import App, CallSite, MemorySession, load_checked_settings
from told.app.stores import open_store
from told.checkpoints.save import SavedCheckpoint, save_checkpoint
from told.errors import NotFoundError, UsageError
from told.ingest.checkpoint_approval import is_approved
from told.ingest.checkpoint_rows import clean_checkpoint
from told.memories.change import LOCK, UNLOCK, change
from told.memories.change import correct as correct_memory
from told.memories.forget import forget, include_duplicates, plan_forget
from told.memories.remember import Remembered
from told.memories.remember import remember as store_memory
from told.memories.scopes import MemoryFilter, find_memories, list_memories
from told.model import AGENT, OPEN, USER, Handover
from told.recall.brief import Brief, make_prompt_brief
from told.recall.prompt import RecallRequest, relative_folder
from told.recall.search import MemoryMatch, MemoryQuestion, join_rankings, search_memories
from told.recall.start_brief import StartedSession, make_start_brief
from told.search.query import parse_query
from told.search.sessions import search_sessions
from told.settings import apply_project_settings
from told.store.database import load_key, public_id
from told.store.memories.records import ACTIVE, Memory
from told.store.sessions.match import TurnIndex
from told.store.sessions.read import Filter, SessionRow
from told.store.sessions.schema import project_token

__all__ = ["Brief", "FoundSession", "Memory", "Remembered", "SavedCheckpoint", "SearchAnswer", "Told"]


@dataclass(frozen=True, slots=True)
class FoundSession:
    """A session that answers a question, with its best turns."""

    session: SessionRow
    turns: tuple[int, ...]
    score: float


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The memories and sessions that answer a question, best first."""

    memories: tuple[Memory, ...]
    sessions: tuple[FoundSession, ...]
    ranking: tuple[Memory | FoundSession, ...] = ()  # both in one order


class Told:
    """told's memory for one folder.

    The caller is the user, unless the environment shows that an agent runs this process: then changes that
    only the user may make become proposals, as on the command line.

    Args:
        home: told's home folder; by default `TOLD_HOME` or `~/.told`.
        folder: The folder whose project it is about; by default the current one.
        environ: The environment; by default that of this process.
    """

    def __init__(
        self, home: str | None = None, *, folder: str | None = None, environ: Mapping[str, str] | None = None
    ) -> None:
        variables = dict(os.environ if environ is None else environ)
        if home is not None:
            variables["TOLD_HOME"] = os.fspath(home)
        settings = load_checked_settings(variables)
        connection = open_store(settings.sessions_path)
        site = CallSite(folder=None if folder is None else os.path.realpath(folder))
        self._app = App(settings, variables, connection, load_key(settings.home), site)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the session store."""
        self._app.connection.close()

    @contextmanager
    def _memories(self) -> Iterator[MemorySession]:
        with MemorySession(self._app) as session:
            yield session

    def _find(self, session: MemorySession, given: str) -> Memory:
        found = find_memories(session.memories, given, session.scopes, self._app.now)
        found = [one for one in found if one.text]
        if not found:
            raise NotFoundError(f"No memory matches {given!r}.")
        if len(found) > 1:
            raise UsageError(f"{given!r} matches {', '.join(one.id for one in found[:5])}. Give an id.")
        return found[0]

    def remember(
        self, text: str, *, scope: str = "", kind: str = "", lock: bool = False, quote: str = ""
    ) -> Remembered:
        """Save a statement for all later sessions.

        Args:
            text: One self-contained statement.
            scope: `project` (the default), `global`, `private`, `private:project` or a shared scope.
            kind: `rule`, `decision`, `fact` …; guessed if empty.
            lock: Lock it, so that only the user can change it.
            quote: For agents: the user's exact words as evidence.
        """
        with self._memories() as session:
            new = session.new_memory(text, scope=scope, kind=kind, locked=lock, quote=quote).new
            return store_memory(session.writer, new)

    def correct(self, old: str, text: str, *, quote: str = "") -> Memory:
        """Replace a memory, by id or words, with a new statement."""
        with self._memories() as session:
            memory = self._find(session, old)
            new = session.new_memory(text, kind=memory.kind, quote=quote).new
            return correct_memory(session.writer, memory, new).memory

    def lock(self, memory: str) -> Memory:
        """Lock a memory so that only the user can change it."""
        with self._memories() as session:
            return change(session.writer, LOCK, self._find(session, memory)).memory

    def unlock(self, memory: str) -> Memory:
        """Unlock a memory, by id or words."""
        with self._memories() as session:
            return change(session.writer, UNLOCK, self._find(session, memory)).memory

    def memories(
        self,
        words: str = "",
        *,
        kind: str = "",
        status: str = ACTIVE,
        all_projects: bool = False,
        limit: int = 20,
    ) -> list[Memory]:
        """List memories of the project and global ones, newest first."""
        with self._memories() as session:
            scopes = () if all_projects else session.scopes
            wanted = MemoryFilter(scopes, kind, status, words=words)
            return list_memories(session.memories, wanted, self._app.now, limit)

    def forget(self, *ids: str) -> list[Memory]:
        """Delete memories and their duplicates for good; return them.

        Raises:
            UsageError: An agent runs this process.
        """
        app = self._app
        with self._memories() as session:
            if not session.caller.is_user:
                raise UsageError("Only the user can forget memories.")
            chosen = [self._find(session, given) for given in ids]
            every = include_duplicates(session.writer.journal, session.memories, chosen)
            forget(session.writer, app.connection, plan_forget(app.connection, app.key, app.home, every))
            return every

    def search(self, query: str, *, all_projects: bool = False, limit: int = 5) -> SearchAnswer:
        """Search memories and sessions in plain language; `limit` counts both."""
        app = self._app
        project = None if all_projects else app.project()
        found = search_sessions(
            TurnIndex(app.connection), query, now=app.now, limit=limit,
            project=project_token(project.id) if project else None,
        )  # fmt: skip
        folder = relative_folder(project.root, app.cwd) if project else ""
        with self._memories() as session:
            scopes = () if all_projects else session.scopes
            question = MemoryQuestion(parse_query(query, app.now), scopes, app.now, folder)
            matches = search_memories(session.memories, question)
        ranking: list[Memory | FoundSession] = []
        for one in join_rankings(matches, found.sessions, limit):
            if isinstance(one, MemoryMatch):
                ranking.append(one.memory)
            else:
                row = app.reading.session(one.session)
                ranking.append(FoundSession(row, tuple(turn.n for turn in one.turns), one.score))
        return SearchAnswer(
            tuple(one for one in ranking if isinstance(one, Memory)),
            tuple(one for one in ranking if isinstance(one, FoundSession)),
            tuple(ranking),
        )

    def brief(self, prompt: str = "", *, budget: int = 0) -> Brief:
        """Return the brief for a session's start or a prompt."""
        with self._memories() as session:
            return make_brief(session, prompt, budget=budget)

    def checkpoint(
        self, goal: str, *, done: Sequence[str] = (), pending: Sequence[str] = (),
        decisions: Sequence[str] = (), files: Sequence[str] = (), notes: str = "",
    ) -> SavedCheckpoint:  # fmt: skip
        """Write a hand-over note for the next session in the project."""
        app = self._app
        caller, project = app.caller, app.project()
        agent = caller.agent or "terminal"
        day = str(app.now // 86_400_000)
        session = caller.session or public_id("", app.cwd, day, goal, length=12)
        handover = Handover(
            goal, done=tuple(done), pending=tuple(pending), decisions=tuple(decisions), files=tuple(files),
            notes=notes, status=OPEN, agent=agent, session=app.stored_id(session),
            project=project.key if project else "", folder=app.hide_secrets(app.cwd), at=app.now,
            by=USER if caller.is_user else AGENT,
        )  # fmt: skip
        name, root = (project.name, project.root) if project else ("no project", "")
        return save_checkpoint(app.connection, app.home, handover, app.redact, name=name, root=root)


def make_brief(
    session: MemorySession, prompt: str = "", *, budget: int = 0, for_session: str = "", again: bool = False,
    tools: bool = False,
) -> Brief:  # fmt: skip
    """Make the brief for a session's start, or for a prompt.

    Args:
        session: The open memories.
        prompt: The prompt; empty for the start of a session.
        budget: The most tokens; 0 as the settings say.
        for_session: Leave out what this session was shown.
        again: Repeat it: the session was compacted.
        tools: Include what tools and files said.
    """
    app = session.app
    project = None if app.is_user_home else app.project()
    settings = apply_project_settings(app.settings, project.root if project else "")
    if prompt:
        return make_prompt_brief(
            session.memories, recall_request(session, prompt, tools=tools), app.fence,
            budget=budget or settings.brief_tokens, session=for_session, since=app.now + 1 if again else 0,
        )  # fmt: skip
    known = session.memories.shown_in(for_session) if for_session and not again else {}
    caller = session.caller
    started = StartedSession(
        caller.agent, caller.session, continued=bool(known), known=known,
        has_lost_briefs=again and bool(caller.session),
    )  # fmt: skip
    return make_start_brief(
        session.memories, app.reading, Filter(project.id if project else 0, helpers=False), session.scopes,
        app.fence, now=app.now, budget=budget or settings.brief_start_tokens, session=started,
        redact=lambda one, path: (
            clean_checkpoint(one, app.home, app.redact) if is_approved(app.home, path) else None
        ),
    )  # fmt: skip


def recall_request(session: MemorySession, prompt: str, *, tools: bool = False) -> RecallRequest:
    """Return the request for what a prompt needs in the folder."""
    app = session.app
    project = None if app.is_user_home else app.project()
    folder = relative_folder(project.root, app.cwd) if project else ""
    return RecallRequest(prompt, session.scopes, app.now, folder, tools)
