"""The checks of `told health`: damage to files, and nine scored dimensions."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from told.app.call_log import Call
from told.cli.context import Context, count
from told.ingest.archive import find_damaged_files
from told.journal.apply import find_memory_damage
from told.journal.files import journal_folder
from told.journal.read import verify
from told.search.sessions import search_sessions
from told.store.sessions.match import TurnIndex
from told.store.sessions.schema import VERSION, find_damage, read_version
from told.store.sessions.sources import StoreStatus

_REBUILD = "Run `told rebuild`: it rebuilds both databases from the journal, the archive and agents' files."
_LOST = "The content of damaged journal lines is lost; all other lines are used."
_ARCHIVE = "Damaged archive files are rewritten while told's database still has the session."
_MOST_LINES = 5
_HOUR_MS = 3_600_000
_FEWEST_CALLS = 10
_TOO_FEW_CALLS = "fewer than ten calls so far"


def find_all_damage(context: Context) -> dict[str, Any]:
    """Verify every byte of told's files; return the damage."""
    home = context.home
    found: dict[str, Any] = {
        "sessions": find_damage(context.connection),
        "memories": find_memory_damage(home),
        "journal": [
            # A project's own journal has its full path.
            {"file": one.file.removeprefix(home.rstrip(os.sep) + os.sep), "line": one.line, "what": one.what}
            for one in verify(journal_folder(home))
        ],
        "archive": [os.path.relpath(path, home) for path in find_damaged_files(home)],
    }
    return {"sound": not any(found.values()), **found}


def print_damage(context: Context, found: dict[str, Any]) -> None:
    """Print the damage and what to do."""
    advice = [_REBUILD] if found["sessions"] or found["memories"] else []
    advice += [_LOST] if found["journal"] else []
    advice += [_ARCHIVE] if found["archive"] else []
    if context.as_json:
        context.print_json({"zone": "RED", "score": 0, "do": advice[0], "deep": found})
        return
    context.print(f"RED 0 of 10. {advice[0]}")
    for name, file in (("sessions", "sessions.db"), ("memories", "memory.db")):
        if found[name]:
            context.print(f"  {file} is damaged: {context.name(_some(found[name]))}")
    for one in found["journal"][:_MOST_LINES]:
        context.print(f"  {one['file']}, line {one['line']} is damaged: {one['what']}")
    if len(found["journal"]) > _MOST_LINES:
        context.print(f"  and {count(len(found['journal']) - _MOST_LINES, 'more line')}")
    if found["archive"]:
        context.print(f"  damaged in the archive: {_some(found['archive'])}")
    for sentence in advice[1:]:
        context.print(sentence)


def _some(found: list[str]) -> str:
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return " ".join(found[0].split())[:300] + more


@dataclass(frozen=True, slots=True)
class Dimension:
    """One scored aspect of health."""

    name: str
    score: float | None  # None: too little data
    says: str
    do: str = ""

    @property
    def zone(self) -> str:
        """Return GREEN, AMBER or RED; CALIBRATING without a score."""
        if self.score is None:
            return "CALIBRATING"
        return "GREEN" if self.score >= 7 else "AMBER" if self.score >= 4 else "RED"


def score_dimensions(
    context: Context, status: StoreStatus, calls: list[Call], missing: list[str]
) -> list[Dimension]:
    """Score all nine dimensions."""
    sessions, summarised, placed, turns, last = status.totals()
    return [
        _freshness(context.now, last),
        _schema(context, missing),
        _latency(calls),
        _corpus(sessions, turns),
        _coverage("summary coverage", summarised, sessions, "Sessions without a prompt have no summary."),
        _coverage("project coverage", placed, sessions, "Start agents inside the project's folder."),
        _concurrency(calls),
        _probe(context, status),
        _disclosure(calls),
    ]


def _graded(value: float, green: float, amber: float) -> float:
    """Return a score from 10 down to 0; less is better."""
    if value <= green:
        return 10 - 3 * value / green
    if value <= amber:
        return 7 - 3 * (value - green) / (amber - green)
    return max(0.0, 4 - 4 * (value - amber) / amber)


def _freshness(now: int, last: int) -> Dimension:
    if not last:
        return Dimension("freshness", 0, "no session yet", "Use a coding agent, or see `told agents`.")
    hours = max(0, now - last) / _HOUR_MS
    age = f"{hours:.0f} h" if hours < 72 else f"{hours / 24:.0f} days"
    return Dimension("freshness", _graded(hours, 24, 72), f"last activity {age} ago",
                     "If you used an agent since, see `told agents` for where told looks.")  # fmt: skip


def _schema(context: Context, missing: list[str]) -> Dimension:
    found = read_version(context.connection)
    if found != VERSION:
        return Dimension("schema", 1, f"store version {found}, expected {VERSION}", "Run `told rebuild`.")
    if missing:
        return Dimension(
            "schema", 5, f"missing: {', '.join(missing[:3])}", "See `told schema-check`; update told."
        )
    return Dimension("schema", 10, "as expected")


def _latency(calls: list[Call]) -> Dimension:
    took = sorted(call.milliseconds for call in calls if call.tier)
    if len(took) < _FEWEST_CALLS:
        return Dimension("latency", None, _TOO_FEW_CALLS)
    middle = took[len(took) // 2]
    says = f"median {middle:.0f} ms of the last {len(took)} calls"
    return Dimension("latency", _graded(middle, 500, 1500), says,
                     "The disk or machine is slow; `told rebuild` compacts the index.")  # fmt: skip


def _corpus(sessions: int, turns: int) -> Dimension:
    if not sessions:
        return Dimension("corpus", 0, "no session yet", "Use a coding agent, or see `told agents`.")
    if sessions >= 50:
        score = 10.0
    else:
        score = 7 + 3 * (sessions - 10) / 40 if sessions >= 10 else 4 + 3 * sessions / 10
    return Dimension("corpus", score, f"{sessions:,} sessions, {turns:,} turns",
                     "Few sessions so far; `told agents` lists the agents that are read.")  # fmt: skip


def _coverage(name: str, part: int, total: int, do: str) -> Dimension:
    if not total:
        return Dimension(name, None, "no session yet")
    share = part / total
    score = 10 * share
    if share >= 0.8:
        score = 7 + 3 * (share - 0.8) / 0.2
    elif share >= 0.4:
        score = 4 + 3 * (share - 0.4) / 0.4
    return Dimension(name, score, f"{share:.0%} of sessions", do)


def _concurrency(calls: list[Call]) -> Dimension:
    if len(calls) < _FEWEST_CALLS:
        return Dimension("concurrency", None, _TOO_FEW_CALLS)
    share = 100 * sum(1 for call in calls if call.retries or call.code == 3) / len(calls)
    says = f"{share:.0f} % of calls waited for a busy database"
    return Dimension("concurrency", _graded(share, 5, 20), says,
                     "Another program locks an agent's database; close it.")  # fmt: skip


def _probe(context: Context, status: StoreStatus) -> Dimension:
    latest = status.latest_question()
    if latest is None:
        return Dimension("end-to-end probe", None, "no session yet")
    session, text = latest
    words = " ".join(text.split()[:12])
    found = search_sessions(TurnIndex(context.connection), words, now=context.now, limit=10)
    hits = [context.reading.session(group.session).public for group in found.sessions]
    if session in hits:
        return Dimension("end-to-end probe", 10, "search finds the latest prompt")
    return Dimension("end-to-end probe", 3, "search does not find the latest prompt", "Run `told rebuild`.")


def _disclosure(calls: list[Call]) -> Dimension:
    tiers = [call.tier for call in calls if call.tier]
    if len(tiers) < _FEWEST_CALLS:
        return Dimension("progressive disclosure", None, _TOO_FEW_CALLS)
    share = 100 * sum(1 for tier in tiers if tier == 3) / len(tiers)
    says = f"{share:.0f} % of calls asked for complete sessions"
    return Dimension("progressive disclosure", _graded(share, 50, 80), says,
                     "Use `told list` or `told search` first, then `told show`.")  # fmt: skip
