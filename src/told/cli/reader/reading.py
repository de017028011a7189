"""Let the reader read sessions: with an estimate, progress and what was learned; offer to turn it on."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict
from typing import Any

from told.agents import installed_agents
from told.cli.arguments import Arguments
from told.cli.config import change_setting
from told.cli.context import Context, MemoryView, confirm_yes, count, may_ask, memory_count
from told.cli.index import open_stores
from told.cli.reader.status import READER_HINT
from told.cli.terminal.progress import ProgressBar
from told.errors import ToldError
from told.journal.apply import open_memories
from told.learning.learn import exclude_projects
from told.reader.base import AGENT, Reader
from told.reader.ledger import Ledger
from told.reader.models import open_reader
from told.reader.run import Estimate, ReadingRun, ReadResult
from told.reader.verdict import Counts
from told.settings.keys import OFF
from told.store.memories.protocol import Memories

_STOPPED = 130  # exit code of shells for Ctrl-C
_BUSY = 3
_LINE_SECONDS = 10.0  # between lines of progress without a terminal
_MONTH_MS = 30 * 86_400_000
_LISTED = 30  # memories


def read_sessions(
    context: Context,
    arguments: Arguments,
    memories: Memories,
    reader: Reader,
    since: int,
    *,
    ask: bool = True,
) -> None:
    """Read the sessions of a period that were not read yet, after an estimate."""
    is_dry, as_json = arguments.flag("dry-run"), context.as_json
    if not is_dry:
        context.learn(memories)  # first, so that the reader sees what told kept by itself
    ledger = Ledger(context.home, context.settings.reader_daily_tokens)
    run = _open_run(context, memories, ledger)
    sessions = run.find_unread(since)
    estimate = run.estimate(sessions)
    left = ledger.left_today(context.now)
    if not as_json:
        _print_estimate(context, reader, len(sessions), estimate, left)
    if is_dry or not sessions:
        if as_json:
            context.print_json(_to_json(reader, estimate, left, None))
        return
    if ask and estimate.calls and may_ask(arguments) and not confirm_yes(context, "Start?"):
        context.print("Nothing was sent.")
        return
    if not as_json:
        sys.stdout.write(context.take())
        sys.stdout.flush()
    stopped = False
    result = ReadResult()

    def report(number: int, so_far: ReadResult) -> None:
        nonlocal result
        result = so_far
        draw(number, so_far)

    bar = ProgressBar()
    draw = _make_progress(bar, len(sessions))
    try:
        result = run.run(reader, sessions, report)
    except KeyboardInterrupt:
        stopped = True
    finally:
        bar.end()
    if as_json:
        context.print_json(
            _to_json(reader, estimate, ledger.left_today(context.now), result, stopped=stopped)
        )
    else:
        _print_result(context, result, stopped=stopped)
    is_unread = bool(result.stopped) or (result.failed > 0 and not result.sessions)
    context.exit_code = _STOPPED if stopped else _BUSY if is_unread else 0


def _open_run(context: Context, memories: Memories, ledger: Ledger) -> ReadingRun:
    is_excluded = exclude_projects(context.connection, context.settings)
    return ReadingRun(open_stores(context, memories), ledger, is_excluded)


def _make_progress(bar: ProgressBar, total: int) -> Callable[[int, ReadResult], None]:
    """Draw a bar at a terminal; print a line now and then elsewhere."""
    printed = time.monotonic()

    def draw(number: int, so_far: ReadResult) -> None:
        nonlocal printed
        so_far_read = f"{number:,} of {count(total, 'session')}"
        text = f"{so_far_read}, {so_far.counts.new:,} learned, {so_far.tokens:,} tokens"
        bar.draw(number, total, text)
        now = time.monotonic()
        if not sys.stderr.isatty() and (now - printed >= _LINE_SECONDS or number == total):
            printed = now
            sys.stderr.write(f"told: {text}\n")
            sys.stderr.flush()

    return draw


def _print_estimate(context: Context, reader: Reader, sessions: int, estimate: Estimate, left: int) -> None:
    if not sessions:
        context.print("The reader has read all sessions.")
        return
    context.print(
        f"{count(sessions, 'session')} to read; {estimate.sessions:,} with something to ask."
        f" About {estimate.tokens:,} tokens in {count(estimate.calls, 'call')} to {reader.title}."
    )
    context.print(f"What you typed in them is sent {reader.sends}, without secrets.")
    if estimate.tokens > left:
        context.print(
            f"Today's budget has {left:,} tokens left (reader.daily_tokens); told stops there."
            " Run it again tomorrow to continue."
        )


def _print_result(context: Context, result: ReadResult, *, stopped: bool) -> None:
    done = result.counts
    if stopped:
        context.print("Stopped. `told learn` continues there.")
    context.print(
        f"Read {count(result.sessions, 'session')} with {count(result.calls, 'call')} and"
        f" {result.tokens:,} tokens: {_describe_counts(done)}."
    )
    if done.unproven or done.invalid:
        why = f" ({', '.join(done.faults)})" if done.faults else ""
        context.print(f"Refused {count(done.unproven + done.invalid, 'item')} without proof{why}.")
    if done.learned:
        _print_learned(context, done.learned)
    if result.failed and not result.stopped:
        context.print(f"{count(result.failed, 'call')} failed: {result.error}")
    if result.stopped:
        context.print(f"{result.stopped} {count(result.left, 'session')} left: run `told learn` again later.")


def _describe_counts(done: Counts) -> str:
    """Return what became of the answers, without what did not happen."""
    parts = {
        "reworded": done.reworded, "known before": done.again, "confirmed": done.confirmed,
        "dropped": done.dismissed, "ended": done.ended, "to decide on in `told review`": done.proposals,
    }  # fmt: skip
    return ", ".join(
        [f"{memory_count(done.new)} new", *(f"{many:,} {what}" for what, many in parts.items() if many)]
    )


def _print_learned(context: Context, learned: list[str]) -> None:
    """List what was learned, the latest first."""
    with MemoryView(context) as view:
        found = view.memories.get(list(dict.fromkeys(learned)))
        rows = sorted(found.values(), key=lambda one: -one.created)
        for one in rows[:_LISTED]:
            context.print(f"  {view.row(one)}")
    if len(rows) > _LISTED:
        context.print(f"  {len(rows) - _LISTED:,} more: `told memories --all-projects`.")
    context.print("`told review` shows each with your words; `told undo --of ID` reverts one.")


def _to_json(
    reader: Reader, estimate: Estimate, left: int, result: ReadResult | None, *, stopped: bool = False
) -> dict[str, Any]:
    found: dict[str, Any] = {
        "reader": reader.mode, "model": reader.title, "dry_run": result is None,
        "estimate": asdict(estimate), "budget_left": left,
    }  # fmt: skip
    if result is not None:
        found |= {
            "sessions": result.sessions, "calls": result.calls, "tokens_in": result.tokens_in,
            "tokens_out": result.tokens_out, "failed": result.failed, "left": result.left,
            "error": result.error or None, "stopped": result.stopped or ("interrupted" if stopped else None),
            **asdict(result.counts),
        }  # fmt: skip
    return found


def offer_reader(context: Context, arguments: Arguments) -> None:
    """Ask at a terminal whether an agent may read finished sessions; elsewhere say how to turn it on."""
    settings = context.settings
    if settings.reader_mode != OFF or not settings.learn or settings.problem:
        return
    able = [
        one
        for one in installed_agents().values()
        if one.headless is not None
        and any(shutil.which(name, path=context.environ.get("PATH")) for name in one.programs)
    ]
    if not able or not may_ask(arguments) or not context.caller.is_user:
        context.print(READER_HINT)
        return
    question = (
        f"Let {able[0].title} read finished sessions for what you taught it? About 1,000 tokens a session of"
        " your plan; it sees nothing it has not seen before."
    )
    if not confirm_yes(context, question):
        context.print("`told config set reader.mode agent` turns it on later.")
        return
    context.settings = change_setting(context.environ, "reader.mode", AGENT)


def offer_reading(context: Context, arguments: Arguments) -> None:
    """Offer to read the last 30 days, with what that costs, if a reader is on."""
    if not context.settings.reads_sessions or not may_ask(arguments):
        return
    try:
        reader = open_reader(context.settings, context.environ)
    except ToldError as error:
        context.print(str(error))
        return
    with closing(open_memories(context.home)) as memories:
        ledger = Ledger(context.home, context.settings.reader_daily_tokens)
        run = _open_run(context, memories, ledger)
        since = context.now - _MONTH_MS
        sessions = run.find_unread(since)
        estimate = run.estimate(sessions)
        if reader is None or not estimate.calls:
            return
        question = (
            f"Read the last 30 days now? {count(estimate.sessions, 'session')},"
            f" about {estimate.tokens:,} tokens."
        )
        if confirm_yes(context, question):
            read_sessions(context, arguments, memories, reader, since, ask=False)
        else:
            context.print("`told learn` reads them later.")
