"""Learn from new sessions: capture statements, observe agents, check compliance.

How far each session was processed is noted in the journal together with the results, so nothing is learned
twice: not after a crash, when the session is read again, or after it was forgotten.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import apsw

from told.capture.retractions import find_retractions
from told.capture.statements import Description, Statement, capture
from told.ingest.agent_prompts import TOPIC as PROMPTED
from told.ingest.agent_prompts import is_said_by_agent
from told.ingest.complete_sessions import CompleteSessions
from told.journal.file_journal import FileJournal
from told.journal.files import SET
from told.journal.registry import rename_scope
from told.learning.compliance import is_followed
from told.learning.observe import MAX_OBSERVATIONS, find_observations
from told.learning.programs import Programs
from told.memories.caller import Caller
from told.memories.journal_writer import JournalWriter
from told.memories.lookup import find_put_away
from told.memories.remember import NewMemory, add_memory, remember
from told.memories.retract import TakenBack, retract
from told.memories.scopes import rename_project
from told.settings import Settings, apply_project_settings
from told.store.database import LEARN_LOCK, acquire_lock
from told.store.memories.protocol import Memories
from told.store.memories.records import (
    ACTIVE,
    AGENT,
    CANDIDATE,
    CAPTURE,
    FORGOTTEN,
    GLOBAL,
    OBSERVATION,
    PRIVATE,
    PROJECT,
)
from told.store.sessions.checkpoints import Projects
from told.store.sessions.facts import QUIET_MS, TO_CAPTURE, TO_OBSERVE, QueuedSession, WorkQueue
from told.store.sessions.read import SessionReader, TurnRow

CAPTURED, OBSERVED = "captured", "observed"  # journal topics: how far each session was processed
_ANSWER_BEFORE = 600  # characters of the agent's answer that capture sees before a message
_BATCH = 32  # sessions; what a kill undoes
_HURRY_STATEMENTS = 20  # that are compared with what is known at once, while a command waits
_MAX_OBSERVATION_AGE = 90 * 86_400_000  # ms; older sessions can still be searched
_CLOCK_SLACK = 60_000  # ms; agents date prompts, told dates what it showed


@dataclass(slots=True)
class LearnResult:
    """What was learned so far."""

    sessions: int = 0
    statements: int = 0  # new memories, also candidates that were confirmed
    candidates: int = 0  # new ones
    again: int = 0  # repeats of known statements
    observations: int = 0
    followed: int = 0


def learn(
    home: str,
    memories: Memories,
    connection: apsw.Connection,
    settings: Settings,
    now: int,
    *,
    seconds: float | None = None,
    report: Callable[[float], None] = lambda _: None,
) -> LearnResult | None:
    """Learn from new sessions, within a time budget if given; `report` gets how many were done just now.

    None if learning is off, nothing is queued, or another process is learning.
    """
    queue = WorkQueue(connection)
    # A run with a time budget is only started by new turns: observations can wait for the background.
    is_due = queue.is_waiting() or (seconds is None and queue.has_quiet_session(now))
    if not settings.learn or not is_due:
        return None
    lock = acquire_lock(home, LEARN_LOCK, patient=seconds is None)
    if lock is None:
        return None
    try:
        writer = JournalWriter(FileJournal(home), memories, now, Caller(CAPTURE))
        is_excluded = exclude_projects(connection, settings)
        reading = CompleteSessions(connection, home)
        return Learner(writer, queue, reading, is_excluded, report).run(seconds)
    finally:
        if lock:
            os.close(lock)


def exclude_projects(connection: apsw.Connection, settings: Settings) -> Callable[[str], bool]:
    """Return a function that tells whether a project key is excluded from learning."""
    projects = Projects(connection)

    @cache
    def is_excluded(key: str) -> bool:
        found = projects.by_key(key) if key else None
        return found is not None and not apply_project_settings(settings, found.root).learn

    return is_excluded


class Learner:
    """Process the sessions in the work queue."""

    def __init__(
        self,
        writer: JournalWriter,
        queue: WorkQueue,
        reading: SessionReader,
        is_excluded: Callable[[str], bool],
        report: Callable[[float], None] = lambda _: None,
    ) -> None:
        self._writer = writer
        self._queue = queue
        self._reading = reading
        self._programs = Programs(reading)
        self._is_excluded = is_excluded
        self._report = report
        self._result = LearnResult()
        self._candidates: set[str] = set()  # new ones

    def run(self, seconds: float | None = None) -> LearnResult:
        """Process queued sessions until done or out of time."""
        deadline = float("inf") if seconds is None else time.monotonic() + seconds
        self._follow_renamed_projects()
        while time.monotonic() < deadline:
            sessions = self._queue.waiting(TO_CAPTURE, limit=_BATCH)
            if not sessions:
                break
            self._capture_batch(sessions, deadline)
        while time.monotonic() < deadline:
            sessions = self._queue.waiting(TO_OBSERVE, self._writer.now - QUIET_MS, _BATCH)
            if not sessions:
                break
            self._observe_batch(sessions, deadline)
        return replace(self._result, candidates=len(self._candidates))

    def _follow_renamed_projects(self) -> None:
        """Move memories and subscriptions to a project's new key."""
        renamed = self._queue.renamed()
        writer = self._writer
        for old, new in renamed:
            for scope in (PROJECT, f"{PRIVATE}:"):
                for one in writer.memories.load(writer.memories.of_scope(scope + old)).values():
                    writer.add("move", one.id, scope=scope + new)
            rename_project(writer, PROJECT + old, PROJECT + new)
            rename_scope(writer.home, PROJECT + old, PROJECT + new)
        writer.write()
        if renamed:
            self._queue.clear_renamed(renamed)

    def _capture_batch(self, sessions: Sequence[QueuedSession], deadline: float) -> None:
        known = self._writer.memories.noted(CAPTURED)
        statements: list[NewMemory | TakenBack] = []
        done: list[QueuedSession] = []
        marks: dict[str, int] = {}
        most = math.inf if math.isinf(deadline) else _HURRY_STATEMENTS
        for session in sessions:
            if done and (time.monotonic() > deadline or len(statements) > most):
                break
            start = int(known.get(session.name, "0"))
            if not session.kind and not self._is_excluded(session.project):  # else an agent's words
                statements += self._capture_session(session, start)
            if start < session.next_n:
                marks[session.name] = session.next_n
            done.append(session)
            self._report(0.5)  # the other half is comparing its statements
        for statement in sorted(statements, key=lambda one: (one.at, one.session, one.turn)):
            self._report(0.5 * len(done) / len(statements))
            if isinstance(statement, TakenBack):
                retract(self._writer, statement)
                continue
            result = remember(self._writer, statement, sync=False)
            if result.again and not result.confirmed:
                self._result.again += 1
            elif result.memory.status == CANDIDATE:
                self._candidates.add(result.memory.id)
            else:
                self._result.statements += 1
                self._candidates.discard(result.memory.id)
        if not statements:
            self._report(0.5 * len(done))
        if marks:
            self._writer.add(SET, "", **{SET: {CAPTURED: marks}})
            self._writer.write()  # flushes the statements, too
        self._queue.done(TO_CAPTURE, done)
        self._result.sessions += len(done)

    def _capture_session(self, session: QueuedSession, start: int) -> list[NewMemory | TakenBack]:
        """Return what the user said and took back in new turns."""
        found: list[NewMemory | TakenBack] = []
        heard: list[str] = []
        before = ""
        is_agents = is_said_by_agent(self._writer.memories.noted(PROMPTED).get(session.name, ""))
        turns = self._reading.turns(session.id)
        for turn in turns:
            if turn.n >= start and not is_agents(turn.at):
                statements = capture(turn.asked, before)
                found += _make_memories(session, turn, statements, self._writer.now)
                found += _list_taken_back(session, turn, heard)
            heard.append(turn.asked)
            before = turn.answered[-_ANSWER_BEFORE:]
        if found and self._programs.prompt(session, turns):
            return []
        forgotten = forgotten_turns(self._writer.memories, session) if found else ()
        kept = [new for new in found if new.turn not in forgotten]
        memories = self._writer.memories
        known = memories.load(memories.of_session(session.native)).values() if start else ()
        return _limit_candidates(kept, has_one=any(one.status == CANDIDATE for one in known))

    def _observe_batch(self, sessions: Sequence[QueuedSession], deadline: float) -> None:
        known = self._writer.memories.noted(OBSERVED)
        marks = {}
        done: list[QueuedSession] = []
        for session in sessions:
            if done and time.monotonic() > deadline:
                break
            done.append(session)
            start = int(known.get(session.name, "0"))
            if start < session.next_n:
                marks[session.name] = session.next_n
                if not session.kind and not self._is_excluded(session.project):
                    self._observe_session(session, start)
        if marks:
            self._writer.begin_group()
            self._writer.add(SET, "", **{SET: {OBSERVED: marks}})
        self._writer.write()
        self._queue.done(TO_OBSERVE, done)

    def _observe_session(self, session: QueuedSession, start: int) -> None:
        turns = self._reading.turns(session.id)
        if not turns:
            return
        if session.project and turns[-1].at > self._writer.now - _MAX_OBSERVATION_AGE:
            self._add_observations(session, turns)
        self._check_compliance(session.native, [turn for turn in turns if turn.n >= start])

    def _add_observations(self, session: QueuedSession, turns: Sequence[TurnRow]) -> None:
        memories = self._writer.memories
        root = self._reading.session(session.id).cwd
        known = list(memories.load(memories.of_session(session.native)).values())
        quotes = {place.quote for one in known for place in one.evidence}
        forgotten = {place.turn for one in known if one.status == FORGOTTEN for place in one.evidence}
        scope, now, key = PROJECT + session.project, self._writer.now, self._writer.journal.key
        room = MAX_OBSERVATIONS - sum(1 for one in known if one.kind == OBSERVATION and one.trust == AGENT)
        new = [
            one
            for one in find_observations(turns, root)
            if one.quote not in quotes
            and one.turn not in forgotten
            and find_put_away(memories, one.text, scope, now, key) is None
        ]
        for number, one in enumerate(new[-room:] if room > 0 else ()):
            self._writer.begin_group()
            add_memory(
                self._writer,
                NewMemory(
                    one.text, scope, OBSERVATION, trust=AGENT, quote=one.quote, agent=session.agent,
                    session=session.native, turn=one.turn, at=one.at, label=one.label,
                    about=Description(OBSERVATION, (), one.paths),
                    seed=f"{session.name}.{one.turn}.deed.{number}",
                ),
            )  # fmt: skip
            self._result.observations += 1

    def _check_compliance(self, session: str, turns: Sequence[TurnRow]) -> None:
        """Count the memories that were shown and then followed."""
        shown = self._writer.memories.shown_in(session)
        for one in self._writer.memories.get(shown).values() if shown else ():
            later = (turn for turn in turns if turn.at >= shown[one.id] - _CLOCK_SLACK)
            steps = [step for turn in later for step in turn.steps.splitlines()]
            if one.status == ACTIVE and is_followed(one, steps):
                self._writer.add("follow", one.id, session=session)
                self._result.followed += 1


def forgotten_turns(memories: Memories, session: QueuedSession) -> set[int]:
    """Return the turns of which the user had something forgotten."""
    return {
        place.turn
        for one in memories.load(memories.of_session(session.native)).values()
        if one.status == FORGOTTEN
        for place in one.evidence
        if (place.agent, place.session) == (session.agent, session.native)
    }


def project_scope(session: QueuedSession) -> str:
    """Return the scope of what is said in a session."""
    return PROJECT + (session.project or "unknown")


def _make_memories(
    session: QueuedSession, turn: TurnRow, statements: Iterable[Statement], now: int
) -> list[NewMemory]:
    is_dated = 0 < turn.at < now
    if not is_dated:  # a copy without times must not pass for a new request
        statements = [replace(one, requested=False) for one in statements]
    return [
        NewMemory(
            " ".join(one.text.split()), GLOBAL if one.scope == GLOBAL else project_scope(session), one.kind,
            quote=one.quote, agent=session.agent, session=session.native, turn=turn.n,
            at=turn.at if is_dated else now, about=one, seed=f"{session.name}.{turn.n}.{number}",
            certainty=one.certainty, candidate=not one.sure, marks=one.marks,
        )
        for number, one in enumerate(statements)
    ]  # fmt: skip


def _limit_candidates(found: list[NewMemory | TakenBack], *, has_one: bool) -> list[NewMemory | TakenBack]:
    """Keep one candidate of a session at most: the first that is not pasted, else the first."""
    candidates = [one for one in found if isinstance(one, NewMemory) and one.candidate]
    typed = [one for one in candidates if isinstance(one.about, Statement) and not one.about.pasted]
    best = next(iter((*typed, *candidates)), None) if not has_one else None
    return [one for one in found if one is best or one not in candidates]


def _list_taken_back(session: QueuedSession, turn: TurnRow, heard: Sequence[str]) -> list[TakenBack]:
    if turn.at <= 0:  # it is not known what was said before it
        return []
    where = (project_scope(session), session.agent, session.native, turn.n, turn.at, tuple(heard))
    return [TakenBack(one, *where) for one in find_retractions(turn.asked)]
