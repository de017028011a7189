"""The checks of `told health`: damage to files, and nine scored dimensions."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import apsw

from told.agents import wired_agents
from told.agents.base import Agent, find_agent_sign, find_roots, find_sources
from told.app.call_log import Call, read_calls
from told.cli.context import Context, count, short_home
from told.errors import ToldError
from told.ingest.forgotten import SESSION_TOPIC
from told.ingest.scan import oldest_change, pending_since
from told.install.ledger import Ledger
from told.journal.apply import find_memory_damage
from told.journal.files import journal_folder
from told.journal.read import verify
from told.search.query import find_keywords
from told.search.sessions import search_sessions
from told.store.database import UNWRITABLE
from told.store.index_words import find_leftover_words
from told.store.memories.names import FORGOTTEN
from told.store.memories.read import SqliteMemories, memory_path, open_memory_database
from told.store.opening import read_version
from told.store.sessions.match import TurnIndex
from told.store.sessions.schema import VERSION, find_damage
from told.store.sessions.source_states import SourceStates
from told.store.sessions.sources import Inventory, Sources, StoreStatus

_REBUILD = "Run `told rebuild`: it rebuilds both databases from the journal, the archive and agents' files."
_LOST = "The content of damaged journal lines is lost; all other lines are used."
_ARCHIVE = "Damaged archive files are rewritten while told's database still has the session."
_MOST_LINES = 5
_HOUR_MS = 3_600_000
_FEWEST_CALLS, _FEWEST_SESSIONS = 10, 10
_PROBE_HITS = 10
_NO_SESSION = "no session yet"
_TOO_FEW_CALLS = "fewer than ten calls so far"


def find_all_damage(context: Context) -> dict[str, Any]:
    """Verify every byte of told's files; return the damage."""
    from told.ingest.archive import find_damaged_files  # noqa: PLC0415 - loads what imports

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
    sound = not any(found.values())
    return {"sound": sound, **found, "leftover_words": _count_leftover_words(context) if sound else {}}


def _count_leftover_words(context: Context) -> dict[str, int]:
    """Count the words of deleted text in the indexes, by file; {} if nothing was ever forgotten.

    Ordinary changes leave such words in `sessions.db`, too; `told forget` removes them.
    """
    path = memory_path(context.home)
    database = open_memory_database(path) if os.path.exists(path) else None
    if database is None:
        return {}
    with closing(database):
        memories = SqliteMemories(database)
        if not memories.listed(status=FORGOTTEN, limit=1) and not memories.noted(SESSION_TOPIC):
            return {}
        found = {
            "sessions.db": find_leftover_words(context.connection, "turn_words", "turn_vocabulary"),
            "memory.db": find_leftover_words(database, "memory_words", "memory_vocabulary"),
        }
    return {file: len(words) for file, words in found.items() if words}


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


@dataclass(frozen=True, slots=True)
class Verdict:
    """The worst dimension, and what to do about it."""

    zone: str
    score: float | None  # None: nothing to score yet
    do: str = ""

    def __str__(self) -> str:
        """Return the verdict as a line."""
        if self.score is None:
            return f"Nothing yet. {self.do}".rstrip()
        return f"{self.zone} {self.score:.1f} of 10. {self.do or 'Nothing to do.'}"


NEW = "NEW"  # the zone of a home or an agent without any session


def judge(scores: list[Dimension]) -> Verdict:
    """Return the verdict on dimensions: as good as the worst one."""
    scored = [one for one in scores if one.score is not None]
    worst = min(scored, key=lambda one: (one.score, one.name), default=None)
    to_begin = next((one.do for one in scores if one.score is None and one.do), "")
    if worst is None:
        return Verdict(NEW, None, to_begin)
    return Verdict(worst.zone, worst.score, to_begin if worst.zone == "GREEN" else worst.do)


def health_sentence(context: Context) -> str:
    """Return the score and what to do in one line."""
    status = StoreStatus(context.connection)
    verdict = judge_home(context, score_dimensions(context, status, read_calls(context.home), []))
    return str(verdict)


def judge_home(context: Context, scores: list[Dimension]) -> Verdict:
    """Return the verdict on told as a whole; a home without sessions and memories is new."""
    verdict = judge(scores)
    has_sessions = any(one.name == "corpus" and one.score is not None for one in scores)
    if verdict.zone != "GREEN" or has_sessions or _has_memories(context.home):
        return verdict
    signs = (find_agent_sign(one, context.environ) for one in wired_agents().values())
    if not any(signs):
        return Verdict(NEW, None, "No agent was found: `told agents` shows where told looks.")
    if Ledger(context.home).owners():
        is_imported = SourceStates(context.connection).last_sweep()[0]
        next_step = "Use one of them: told learns from it." if is_imported else "Run `told index`."
        return Verdict(NEW, None, f"Your agents are connected. {next_step}")
    return Verdict(NEW, None, "Run `told install` to connect your agents and import their history.")


def open_existing_memories(home: str) -> apsw.Connection | None:
    """Open the database of memories as it is; None if it is missing, damaged or cannot be opened."""
    path = memory_path(home)
    try:
        return open_memory_database(path) if os.path.exists(path) else None
    except (ToldError, *UNWRITABLE):
        return None


def _has_memories(home: str) -> bool:
    database = open_existing_memories(home)
    if database is None:
        return False
    with closing(database):
        return bool(SqliteMemories(database).listed(limit=1))


def score_dimensions(
    context: Context, status: StoreStatus, calls: list[Call], missing: list[str]
) -> list[Dimension]:
    """Score all nine dimensions."""
    sessions, summarised, placed, turns, last = status.totals()
    return [
        _freshness(context, last),
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


def _freshness(context: Context, last: int) -> Dimension:
    if not last:
        return Dimension("freshness", None, _NO_SESSION)
    states = SourceStates(context.connection)
    if not states.last_sweep()[0]:
        return Dimension("freshness", None, "the first import is not finished", "Run `told index`.")
    return _score_import("freshness", context, pending_since(states), last)


def _score_import(name: str, context: Context, pending: int, last: int) -> Dimension:
    """Score how long new history has been waiting; a quiet agent is no fault."""
    activity = f"last activity {_age(context.now - last)} ago"
    if not pending:
        return Dimension(name, 10, f"all imported, {activity}")
    waiting = max(0, context.now - pending)
    # The next query imports it, so this is never a failure.
    score = max(4.0, _graded(waiting / _HOUR_MS, 24, 72))
    says = f"oldest change not imported {_age(waiting)} ago, {activity}"
    return Dimension(name, score, says, "Run `told index`.")


def _age(span: int) -> str:
    hours = max(0, span) / _HOUR_MS
    if hours < 1:
        return count(int(hours * 60), "minute")
    return count(int(hours), "hour") if hours < 72 else count(int(hours / 24), "day")


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
        return Dimension("corpus", None, _NO_SESSION)
    return Dimension("corpus", 10, f"{count(sessions, 'session')}, {count(turns, 'turn')}")


def _coverage(name: str, part: int, total: int, do: str) -> Dimension:
    if total < _FEWEST_SESSIONS:
        return Dimension(name, None, "fewer than ten sessions so far" if total else _NO_SESSION)
    share = part / total
    score = 4 + 3 * share / 0.8  # told works without it, so it is never a failure
    if share >= 0.8:
        score = 7 + 3 * (share - 0.8) / 0.2
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
        return Dimension("end-to-end probe", None, _NO_SESSION)
    session, text = latest
    words = " ".join(text.split()[:12])
    found = search_sessions(TurnIndex(context.connection), words, now=context.now, limit=_PROBE_HITS)
    hits = [context.reading.session(group.session).public for group in found.sessions]
    if session in hits or len(hits) == _PROBE_HITS:  # the same prompt may be in many sessions
        return Dimension("end-to-end probe", 10, "search finds the latest prompt")
    if not find_keywords(words):
        return Dimension("end-to-end probe", None, "the latest prompt has no word to search for")
    return Dimension("end-to-end probe", 3, "search does not find the latest prompt", "Run `told rebuild`.")


def _disclosure(calls: list[Call]) -> Dimension:
    tiers = [call.tier for call in calls if call.tier]
    if len(tiers) < _FEWEST_CALLS:
        return Dimension("progressive disclosure", None, _TOO_FEW_CALLS)
    share = 100 * sum(1 for tier in tiers if tier == 3) / len(tiers)
    says = f"{share:.0f} % of calls asked for complete sessions"
    # How agents use told, not whether it works: never a failure.
    return Dimension("progressive disclosure", max(4.0, _graded(share, 50, 80)), says,
                     "Use `told list` or `told search` first, then `told show`.")  # fmt: skip


def score_agent(
    context: Context, agent: Agent, stored: Inventory | None, drift: tuple[list[str], str]
) -> list[Dimension]:
    """Score the four dimensions of one agent: its files, their import, their format, its wiring."""
    return [
        _agent_files(context, agent, stored),
        _agent_import(context, agent, stored),
        _agent_format(stored, drift),
        _agent_wiring(context, agent),
    ]


def _agent_files(context: Context, agent: Agent, stored: Inventory | None) -> Dimension:
    if not agent.is_readable:
        return Dimension("files", None, "told does not read its sessions")
    if agent.name in context.settings.agents_off:
        return Dimension("files", None, "turned off in config.toml")
    roots = find_roots(agent, context.environ, context.settings.folder_of(agent.name))
    present = [root for root in roots if os.path.isdir(root)]
    closed = [root for root in present if not os.access(root, os.R_OK | os.X_OK)]
    if closed:
        where = short_home(context, closed[0])
        return Dimension("files", 2, f"{where} cannot be read", f"Make {where} readable.")
    where = ", ".join(short_home(context, root) for root in present or roots[:1]) or "project folders"
    if stored and stored.files:
        return Dimension("files", 10, f"{count(stored.files, 'file')} in {where}")
    if not present:
        return Dimension("files", None, f"not found in {where}", agent.advice)
    if any(isinstance(one, tuple) for one in find_sources(agent, present)):
        return Dimension("files", None, f"not imported yet from {where}", "Run `told index`.")
    return Dimension("files", None, f"none in {where}", agent.advice)


def _agent_import(context: Context, agent: Agent, stored: Inventory | None) -> Dimension:
    if stored is None or not stored.sessions:
        return Dimension("import", None, _NO_SESSION)
    known = [one for one in Sources(context.connection).all() if one.source.agent == agent.name]
    files = [(one.source.path, one.size, one.changed) for one in known if not one.gone]
    found = _score_import("import", context, oldest_change(files), stored.last)
    return replace(found, says=f"{count(stored.sessions, 'session')}, {found.says}")


def _agent_format(stored: Inventory | None, drift: tuple[list[str], str]) -> Dimension:
    columns, reason = drift
    if columns or reason:
        lacking = f"missing: {', '.join(columns[:3])}" if columns else "its database cannot be read"
        return Dimension("format", 5, lacking, "See `told schema-check`; update told.")
    if stored is None or not stored.turns:
        return Dimension("format", None, _NO_SESSION)
    if not stored.problems:
        return Dimension("format", 10, "as expected")
    share = 100 * stored.problems / (stored.problems + stored.turns)
    says = f"{count(stored.problems, 'item')} could not be read, {share:.0f} %"
    return Dimension("format", _graded(share, 10, 30), says, "Update told; `told health` lists the items.")


def _agent_wiring(context: Context, agent: Agent) -> Dimension:
    if agent.wire is None:
        return Dimension("wiring", None, "told cannot be connected to it")
    from told.cli.service import agent_rows, recent_waits  # noqa: PLC0415 - loads all of install

    (row,) = agent_rows(context, [agent])
    do = row.todo[0] if row.todo else ""
    if not row.wired:
        return Dimension("wiring", None, "not connected", f"Run `told install --agent {agent.label}`.")
    if not row.works:
        return Dimension("wiring", 2, row.verdict, do)
    if do:
        return Dimension("wiring", 6, row.verdict, do)
    failed = sum(one.late + one.missed + one.failed for one in row.problems)
    if not failed:
        return Dimension("wiring", 10, row.verdict)
    share = 100 * failed / max(failed, len(recent_waits(context)))
    says = f"{row.verdict}; {count(failed, 'hook')} late, missed or failed this week"
    return Dimension("wiring", _graded(share, 5, 20), says, f"See `told status {agent.label}`.")
