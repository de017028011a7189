"""Let the judge read sessions: within the budget, resumable, one question at a time."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from told.agents.wiring import own_command
from told.errors import BusyError, MissingError, ToldError
from told.files import cannot_write
from told.journal.file_journal import FileJournal
from told.journal.files import SET
from told.judge.apply import Counts, apply_answer, find_own_checkpoint, word_checkpoint
from told.judge.base import NONE, Answer, Judge, NoAnswerError, Stores, parse_answer
from told.judge.ledger import Entry, Ledger
from told.judge.models import open_judge
from told.judge.plan import Planner, Portion
from told.learning.learn import exclude_projects
from told.memories.caller import Caller
from told.memories.journal_writer import JournalWriter
from told.settings import Settings
from told.store.database import acquire_lock
from told.store.memories.records import CAPTURE
from told.store.sessions.facts import QUIET_MS, QueuedSession, WorkQueue
from told.text import count_tokens

JUDGED = "judged"  # journal topic: how far each session was read
_LOCK = "judge"
_RECENT_MS = 7 * 86_400_000  # the background reads nothing older; `told learn` does
_MAX_FAILURES = 2  # of one session in the background
_MARKS = 200  # that are written together
_MAX_IN_A_ROW = 3  # failures after which a run stops


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run would take."""

    sessions: int = 0  # with something to ask
    calls: int = 0
    tokens: int = 0


@dataclass(slots=True)
class ReviewResult:
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


class Reviewer:
    """Reads sessions with a judge."""

    def __init__(self, stores: Stores, ledger: Ledger, is_excluded: Callable[[str], bool]) -> None:
        self._stores = stores
        self._ledger = ledger
        self._is_excluded = is_excluded
        self._planner = Planner(stores)
        self._marks: dict[str, int] = {}  # not written yet

    def find_unread(self, since: int = 0, before: int = 1 << 62) -> list[QueuedSession]:
        """Return the sessions of a period with turns that no judge has read, the latest first."""
        known = self._stores.memories.noted(JUDGED)
        return [
            one
            for one in WorkQueue(self._stores.connection).ended_between(since, before)
            if not one.kind
            and int(known.get(one.name, "0")) < one.next_n
            and not self._is_excluded(one.project)
        ]

    def find_recent(self, ended: Sequence[str] = ()) -> list[QueuedSession]:
        """Return recent sessions that are quiet or named as ended, for the background."""
        now = self._stores.now
        found = self.find_unread(now - _RECENT_MS)
        quiet = {one.id for one in self.find_unread(now - _RECENT_MS, now - QUIET_MS)}
        failures = self._ledger.failures()
        return [
            one for one in found
            if (one.id in quiet or one.name in ended) and failures[one.name] < _MAX_FAILURES
        ]  # fmt: skip

    def estimate(self, sessions: Sequence[QueuedSession]) -> Estimate:
        """Estimate what reading the sessions takes."""
        portions = [one for session in sessions for one in self._divide(session) if not one.is_empty]
        return Estimate(
            len({one.session.id for one in portions}),
            len(portions),
            sum(one.estimate_tokens() for one in portions),
        )

    def run(
        self,
        judge: Judge,
        sessions: Sequence[QueuedSession],
        report: Callable[[int, ReviewResult], None] | None = None,
    ) -> ReviewResult:
        """Read sessions one after another; what was read is noted, so a stopped run continues."""
        lock = acquire_lock(self._stores.home, _LOCK)
        if lock is None:
            raise BusyError("Another told is running the judge. Try again when it is done.")
        result = ReviewResult()
        try:
            in_a_row = 0
            for number, session in enumerate(sessions, 1):
                failed = result.failed
                self._read(judge, session, result)
                in_a_row = in_a_row + 1 if result.failed > failed else 0
                if in_a_row == _MAX_IN_A_ROW:
                    result.stopped = f"Stopped after {in_a_row} failures in a row. {result.error}"
                if result.stopped:
                    result.left = len(sessions) - number + (result.failed > failed or result.out_of_budget)
                    break
                result.sessions += 1
                if report is not None:
                    report(number, result)
        finally:
            self._write_marks()
            if lock:
                os.close(lock)
        return result

    def _make_writer(self) -> JournalWriter:
        return JournalWriter(
            FileJournal(self._stores.home), self._stores.memories, self._stores.now, Caller(CAPTURE)
        )

    def _write_marks(self, writer: JournalWriter | None = None) -> None:
        if not self._marks:
            return
        writer = writer or self._make_writer()
        writer.begin_group()
        writer.add(SET, "", **{SET: {JUDGED: self._marks}})
        self._marks = {}
        writer.write()

    def _divide(self, session: QueuedSession) -> Iterator[Portion]:
        start = int(self._stores.memories.noted(JUDGED).get(session.name, "0"))
        wanted = find_own_checkpoint(self._stores, session) is not None
        return self._planner.divide(session, start, summarise=wanted)

    def _read(self, judge: Judge, session: QueuedSession, result: ReviewResult) -> None:
        """Read one session; note each part that was read."""
        for portion in self._divide(session):
            answer = Answer()
            if not portion.is_empty:
                left = self._ledger.left_today(self._stores.now)
                if portion.estimate_tokens() > left:
                    result.out_of_budget = True
                    result.stopped = f"The daily budget is used up ({self._ledger.daily_tokens:,} tokens)."
                    return
                asked = self._ask(judge, portion, result)
                if asked is None:
                    return
                answer = asked
            self._apply(portion, answer, result)

    def _ask(self, judge: Judge, portion: Portion, result: ReviewResult) -> Answer | None:
        """Ask one question and record what it cost; None if there is no valid answer."""
        question = portion.question()
        sent, received, failed = 0, 0, ""
        answer: Answer | None = None
        result.calls += 1
        try:
            reply = judge.ask(question)
            sent = reply.tokens_in or count_tokens(question.system) + count_tokens(question.prompt)
            received = reply.tokens_out or count_tokens(reply.text)
            turns = {one.turn for one in portion.messages}
            answer = parse_answer(
                reply.text, turns, {one.id for one in portion.candidates}, {one.id for one in portion.known}
            )
        except MissingError as error:
            failed, result.error, result.stopped = "missing", str(error), str(error)
        except NoAnswerError as error:
            failed, result.error = "no answer", str(error)
        finally:
            result.failed += bool(failed)
            result.tokens_in += sent
            result.tokens_out += received
            self._record(judge, portion, sent, received, failed)
        return answer

    def _record(self, judge: Judge, portion: Portion, sent: int, received: int, failed: str) -> None:
        title = self._stores.redact(judge.title)
        entry = Entry(self._stores.now, judge.mode, title, portion.session.name, sent, received, failed)
        try:
            self._ledger.add(entry)
        except OSError as error:  # without a record there is no budget
            raise cannot_write(self._stores.home, error) from None

    def _apply(self, portion: Portion, answer: Answer, result: ReviewResult) -> None:
        """Write what was learned together with how far the session was read."""
        stores = self._stores
        self._marks[portion.session.name] = portion.until
        if portion.is_empty and len(self._marks) < _MARKS:
            return
        writer = self._make_writer()
        apply_answer(writer, stores, portion, answer, result.counts)
        self._write_marks(writer)
        if answer.summary is not None and portion.outline:
            try:
                result.counts.summaries += word_checkpoint(stores, portion.session, answer.summary)
            except ToldError:
                return  # the checkpoint stays as it was made offline


# Starts a program and exits, so that the program is nobody's child.
_DETACH = (
    "import subprocess,sys;n=subprocess.DEVNULL;"
    "subprocess.Popen(sys.argv[1:],stdin=n,stdout=n,stderr=n,start_new_session=True)"
)
_START_SECONDS = 10.0


def is_on(settings: Settings) -> bool:
    """Tell whether the settings let the judge read sessions."""
    return settings.judge_mode != NONE and settings.learn and not settings.problem


def start_review(settings: Settings, environ: Mapping[str, str], session: str) -> None:
    """Start a background sweep that reads a session which has just ended."""
    if not is_on(settings) or not settings.background or not settings.judge_daily_tokens:
        return
    words = own_command("sweep", "--ended", session)
    null = subprocess.DEVNULL
    try:
        subprocess.run(  # noqa: S603 - told's own command
            [sys.executable, "-I", "-S", "-c", _DETACH, *words],
            stdin=null, stdout=null, stderr=null, env=dict(environ), timeout=_START_SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return


def review_recent(
    stores: Stores, settings: Settings, environ: Mapping[str, str], ended: Sequence[str] = ()
) -> ReviewResult | None:
    """Let the judge read recent sessions; None if it is off or cannot be reached.

    Whatever fails, what told learned offline stays as it is.
    """
    if not is_on(settings):
        return None
    ledger = Ledger(stores.home, settings.judge_daily_tokens)
    reviewer = Reviewer(stores, ledger, exclude_projects(stores.connection, settings))
    sessions = reviewer.find_recent(ended)
    if not sessions:
        return None
    try:
        judge = open_judge(settings, environ)
        return reviewer.run(judge, sessions) if judge else None
    except ToldError:
        return None  # `told learn` says what is missing; the next sweep tries again
