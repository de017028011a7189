"""Let the reader read sessions: oldest first, within the budget, resumable, one question at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

from told.errors import BusyError, MissingError, ToldError
from told.files import cannot_write
from told.journal.file_journal import FileJournal
from told.journal.files import SET
from told.learning.learn import exclude_projects
from told.memories.caller import Caller
from told.memories.journal_writer import JournalWriter
from told.reader.answer import Answer, parse_answer, parse_summary
from told.reader.base import NoAnswerError, Question, Reader, Stores
from told.reader.ledger import Entry, Ledger
from told.reader.models import open_reader
from told.reader.question import Part, Planner, estimate_tokens, fits
from told.reader.summary import find_own_checkpoint, word_checkpoint
from told.reader.verdict import Counts, Verdict
from told.settings import Settings
from told.store.database import acquire_lock
from told.store.memories.records import READ, READER
from told.store.sessions.facts import QueuedSession, WorkQueue
from told.text import count_tokens

QUIET_MS = 10 * 60_000  # after which the background reads a session that did not end
_LOCK = "reader"
_RECENT_MS = 7 * 86_400_000  # the background reads nothing older; `told learn` does
_MAX_FAILURES = 2  # of one session in the background
_MAX_IN_A_ROW = 3  # failures after which a run stops


_Parsed = TypeVar("_Parsed")


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run would take."""

    sessions: int = 0  # with something to ask
    calls: int = 0
    tokens: int = 0


@dataclass(slots=True)
class ReadResult:
    """What a run did."""

    sessions: int = 0
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    failed: int = 0  # calls
    left: int = 0  # sessions that were not read
    stopped: str = ""  # why the run ended early
    error: str = ""  # the last failure
    out_of_budget: bool = False
    counts: Counts = field(default_factory=Counts)

    @property
    def tokens(self) -> int:
        """Tokens sent and received."""
        return self.tokens_in + self.tokens_out


class ReadingRun:
    """Reads sessions with a reader."""

    def __init__(self, stores: Stores, ledger: Ledger, is_excluded: Callable[[str], bool]) -> None:
        self._stores = stores
        self._ledger = ledger
        self._is_excluded = is_excluded
        self._planner = Planner(stores)

    def find_unread(self, since: int = 0, before: int = 1 << 62) -> list[QueuedSession]:
        """Return the sessions of a period with turns that no reader has read, the oldest first."""
        known = self._stores.memories.noted(READ)
        found = [
            one
            for one in WorkQueue(self._stores.connection).ended_between(since, before)
            if not one.kind
            and int(known.get(one.name, "0")) < one.next_n
            and not self._is_excluded(one.project)
        ]
        return found[::-1]

    def find_recent(self, ended: Sequence[str] = (), *, everything: bool = False) -> list[QueuedSession]:
        """Return recent sessions that are quiet or named as ended, for the background; or all such."""
        now = self._stores.now
        since = 0 if everything else now - _RECENT_MS
        quiet = {one.id for one in self.find_unread(since, now - QUIET_MS)}
        failures = self._ledger.failures()
        return [
            one
            for one in self.find_unread(since)
            if (one.id in quiet or one.name in ended) and failures[one.name] < _MAX_FAILURES
        ]

    def estimate(self, sessions: Sequence[QueuedSession]) -> Estimate:
        """Estimate what reading the sessions takes."""
        batches = [
            self._planner.make_batch(parts)
            for parts in self._divide(sessions)
            if any(one.messages for one in parts)
        ]
        summaries = [self._planner.make_summary_question(one) for one in sessions if self._needs_summary(one)]
        return Estimate(
            len({part.session.id for batch in batches for part in batch.parts if part.messages}),
            len(batches) + len(summaries),
            sum(one.estimate_tokens() for one in batches) + sum(map(estimate_tokens, summaries)),
        )

    def run(
        self,
        reader: Reader,
        sessions: Sequence[QueuedSession],
        report: Callable[[int, ReadResult], None] | None = None,
    ) -> ReadResult:
        """Read sessions, the oldest first; what was read is noted, so a stopped run continues."""
        lock = acquire_lock(self._stores.home, _LOCK)
        if lock is None:
            raise BusyError("Another told is running the reader. Try again when it is done.")
        result = ReadResult()
        try:
            in_a_row = 0
            done: set[int] = set()
            for parts in self._divide(sessions):
                failed = result.failed
                if self._read(reader, parts, result):
                    done |= {one.session.id for one in parts if one.until >= one.session.next_n}
                in_a_row = in_a_row + 1 if result.failed > failed else 0
                if in_a_row == _MAX_IN_A_ROW:
                    result.stopped = f"Stopped after {in_a_row} failures in a row. {result.error}"
                if result.stopped:
                    break
                result.sessions = len(done)
                if report is not None:
                    report(len(done), result)
            result.sessions = len(done)
            result.left = len(sessions) - len(done) if result.stopped else 0
        finally:
            if lock:
                os.close(lock)
        return result

    def _divide(self, sessions: Sequence[QueuedSession]) -> Iterator[list[Part]]:
        """Yield the parts of each question: sessions of one project together, the oldest first."""
        known = self._stores.memories.noted(READ)
        waiting: dict[str, list[Part]] = {}
        for session in sessions:
            own = waiting.setdefault(session.project, [])
            for part in self._planner.read_parts(session, int(known.get(session.name, "0"))):
                if own and not fits(own, part):
                    yield own
                    own = waiting[session.project] = []
                own.append(part)
        yield from (parts for parts in waiting.values() if parts)

    def _needs_summary(self, session: QueuedSession) -> bool:
        return find_own_checkpoint(self._stores, session) is not None

    def _read(self, reader: Reader, parts: Sequence[Part], result: ReadResult) -> bool:
        """Read some parts and note how far; return whether that was done."""
        answer: Answer | None = Answer()
        batch = self._planner.make_batch(parts)
        if batch.messages:
            messages, kept = {one.id for one in batch.messages}, {one.id for one in batch.kept}
            names = [one.session.name for one in parts]
            answer = self._ask(
                reader, batch.question(), names, result, lambda text: parse_answer(text, messages, kept)
            )
        if answer is None:
            return False
        writer = JournalWriter(
            FileJournal(self._stores.home), self._stores.memories, self._stores.now, Caller(READER)
        )
        Verdict(writer, self._stores, batch, answer, result.counts).apply()
        writer.begin_group()
        writer.add(SET, "", **{SET: {READ: {one.session.name: one.until for one in parts}}})
        writer.write()  # flushes what was learned, too
        for part in parts:
            if part.until >= part.session.next_n and not result.stopped:
                self._summarise(reader, part.session, result)
        return True

    def _summarise(self, reader: Reader, session: QueuedSession, result: ReadResult) -> None:
        """Let the reader word told's own checkpoint of a session; without an answer it stays as it is."""
        if not self._needs_summary(session):
            return
        question = self._planner.make_summary_question(session)
        with suppress(ToldError):
            summary = self._ask(reader, question, [session.name], result, parse_summary)
            if summary is not None:
                result.counts.summaries += word_checkpoint(self._stores, session, summary)

    def _ask(
        self,
        reader: Reader,
        question: Question,
        names: Sequence[str],
        result: ReadResult,
        parse: Callable[[str], _Parsed],
    ) -> _Parsed | None:
        """Ask one question and record what it cost; None if there is no valid answer or no budget."""
        if estimate_tokens(question, len(names)) > self._ledger.left_today(self._stores.now):
            result.out_of_budget = True
            result.stopped = f"The daily budget is used up ({self._ledger.daily_tokens:,} tokens)."
            return None
        sent, received, failed = 0, 0, ""
        found: _Parsed | None = None
        result.calls += 1
        try:
            reply = reader.ask(question)
            sent = reply.tokens_in or count_tokens(question.system) + count_tokens(question.prompt)
            received = reply.tokens_out or count_tokens(reply.text)
            found = parse(reply.text)
        except MissingError as error:
            failed = result.error = result.stopped = str(error)
        except NoAnswerError as error:
            failed = result.error = str(error)
        finally:
            result.failed += bool(failed)
            result.tokens_in += sent
            result.tokens_out += received
            self._record(reader, names, sent, received, failed)
        return found

    def _record(self, reader: Reader, names: Sequence[str], sent: int, received: int, failed: str) -> None:
        """Record a call with the sessions that it was about; without a record there is no budget."""
        redact, now = self._stores.redact, self._stores.now
        title, failed = redact(reader.title), redact(failed)
        first, *others = names
        entries = [Entry(now, reader.mode, title, first, sent, received, failed)]
        entries += [Entry(now, reader.mode, title, one, 0, 0, failed, calls=0) for one in others]
        try:
            for entry in entries:
                self._ledger.add(entry)
        except OSError as error:
            raise cannot_write(self._stores.home, error) from None


def read_recent(
    stores: Stores, settings: Settings, environ: Mapping[str, str], ended: Sequence[str] = (), *,
    everything: bool = False,
) -> ReadResult | None:  # fmt: skip
    """Let the reader read recent sessions, or all; None if it is off or cannot be reached.

    Whatever fails, what told learned offline stays as it is; the ledger has the reason for `told status`.
    """
    if not settings.reads_sessions:
        return None
    ledger = Ledger(stores.home, settings.reader_daily_tokens)
    run = ReadingRun(stores, ledger, exclude_projects(stores.connection, settings))
    sessions = run.find_recent(ended, everything=everything)
    if not sessions:
        return None
    try:
        reader = open_reader(settings, environ)
        return run.run(reader, sessions) if reader else None
    except ToldError as error:
        ledger.note_problem(stores.now, stores.redact(str(error)))
        return None  # the next sweep tries again
