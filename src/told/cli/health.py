"""`told health`, `told agents` and `told schema-check`: check that told works."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import Any

from told.agents import all_agents, installed_agents
from told.agents.base import Agent, find_roots
from told.agents.reading import find_missing_columns
from told.app import agent_name, match_agent
from told.app.call_log import read_calls
from told.app.similarity import embedder_of
from told.cli.arguments import Arguments
from told.cli.config import config_notes
from told.cli.context import Context, count, iso, when
from told.cli.health_checks import (
    NEW,
    Dimension,
    Verdict,
    find_all_damage,
    judge,
    judge_home,
    open_existing_memories,
    print_damage,
    score_agent,
    score_dimensions,
)
from told.cli.projects import project_notes
from told.cli.retention import disk_json, disk_line
from told.cli.server.jobs import describe_failed_jobs
from told.cli.service import describe_problem, problem_json, recent_problems
from told.cli.terminal.blocks import DIM, WARN, Cell, Column, Span, Table, zone_style
from told.errors import MissingError, ToldError
from told.files import check_writable, is_utf8
from told.hook.dispatch import read_last_failure
from told.ingest.checkpoint_files import find_unreadable
from told.ingest.leftovers import list_abandoned_files, read_forgetting
from told.search.vectors import table as vector_table
from told.search.vectors.model_folder import Reranker
from told.store.database import FORGETTING
from told.store.foreign import ForeignDatabase, ForeignError
from told.store.memories.read import SqliteMemories
from told.store.sessions.match import TurnVectors
from told.store.sessions.sources import Inventory, Sources, StoreStatus
from told.text import clean, relative_time

_WEEK_MS = 7 * 86_400_000
_FILES_SHOWN = 3  # unreadable checkpoints


def health(context: Context, arguments: Arguments) -> None:
    """Print the score, what to do, the nine dimensions, and each agent."""
    agent = arguments.text("agent") or arguments.text("provider")
    if agent:
        _agent_health(context, agent)
        return
    deep: dict[str, Any] = {}
    if arguments.flag("deep"):
        deep = find_all_damage(context)
        if not deep["sound"]:
            print_damage(context, deep)
            context.exit_code = MissingError.exit_code
            return
    status = StoreStatus(context.connection)
    scores = score_dimensions(context, status, read_calls(context.home), _list_drift(context))
    verdict = judge_home(context, scores)
    stored = status.inventory()
    rows = [_agent_json(context, agent, stored.get(agent.name)) for agent in all_agents().values()]
    problems = status.problems(10)
    notes = config_notes(context.settings, context.cwd, context.environ)
    notes += _model_notes(context) + vector_notes(context.home) + _forgetting_notes(context.home, deep)
    notes += _path_notes(rows) + describe_failed_jobs(context)
    wrong = context.settings.problem or check_writable(context.home)
    if wrong:  # then nothing is learned any more
        verdict = Verdict("RED", 0.0, str(wrong))
    places = [{"root": clean(root), "says": why} for root, why in project_notes(context.home)]
    unreadable = [
        {"file": context.name(path), "reason": reason} for path, reason in find_unreadable(context.home)
    ]
    unfinished = [context.name(path) for path in list_abandoned_files(context.home)]
    hook_problems = recent_problems(context)
    failed = _failed_hook(context)
    disk = disk_json(context)
    if context.as_json:
        optional = {
            "config": notes, "deep": deep, "places": places, "failed_hook": failed,
            "hook_problems": list(map(problem_json, hook_problems)), "checkpoints": unreadable,
            "unfinished": unfinished, "forgetting": list(read_forgetting(context.home).memories),
        }  # fmt: skip
        context.print_json({
            **_verdict_json(verdict, scores), **{name: value for name, value in optional.items() if value},
            **disk, "agents": rows,
            "problems": [
                {"agent": agent, "file": context.fence.inline(path), "line": line,
                 "reason": context.fence.inline(reason), "trust": "agent"}
                for agent, path, line, reason in problems
            ],
        })  # fmt: skip
        return
    if not verdict.do and (
        failed or hook_problems or notes or places or unreadable or unfinished or disk["disk"]["over"]
    ):
        verdict = replace(verdict, do="See the notes below.")
    context.print(str(verdict))
    if verdict.zone != NEW:
        _print_dimensions(context, scores, 22)
    context.print(f"\n{disk_line(context)}")
    if deep:
        context.print("\nBoth databases, the journal and the archive are undamaged.")
    if failed:
        context.print(f"\n{failed}")
    for problem in hook_problems:
        context.print(describe_problem(context, problem))
    notes = notes[bool(context.settings.problem) :] + _unfinished_notes(unfinished)
    notes += [f"{place['root']}: {place['says']}" for place in places] + _unreadable_notes(unreadable)
    for sentence in notes:
        context.print(f"\n{sentence}")
    context.print()
    _print_agents(context, [row for row in rows if row["found"]])
    if problems:
        _print_problems(context, sum(row["problems"] for row in rows), problems[:5])


def _print_problems(context: Context, total: int, latest: list[tuple[str, str, int, str]]) -> None:
    context.print(f"\n{count(total, 'item')} could not be read; the latest:")
    lines = [f"  {path}:{line} {reason}" for _, path, line, reason in latest]
    context.print(context.fence.block("\n".join(lines)))


def _agent_health(context: Context, name: str) -> None:
    """Print the four dimensions of one agent."""
    agent = match_agent(name, installed_agents())
    stored = StoreStatus(context.connection).inventory().get(agent.name)
    drift = _schema_drift(context, agent.name).get(agent.name, ([], ""))
    scores = score_agent(context, agent, stored, drift)
    verdict = judge(scores)
    if context.as_json:
        context.print_json({"agent": agent.name, "title": agent.title, **_verdict_json(verdict, scores)})
        return
    context.print(f"{agent.title}: {verdict}")
    _print_dimensions(context, scores, 8)


def _verdict_json(verdict: Verdict, scores: list[Dimension]) -> dict[str, Any]:
    rows = [{"name": one.name, "zone": one.zone, "score": one.score, "says": one.says} for one in scores]
    return {"zone": verdict.zone, "score": verdict.score, "do": verdict.do or None, "dimensions": rows}


def _print_dimensions(context: Context, scores: list[Dimension], width: int) -> None:
    if context.is_at_terminal:
        columns = (Column("SCORE", right=True), Column("CHECK"), Column("STATE", wraps=True))
        context.show(Table(columns, [(_score_span(one), one.name, one.says) for one in scores]))
        return
    for one in scores:
        score = "  - " if one.score is None else f"{one.score:4.1f}"
        context.print(f"  {score}  {one.name:{width}} {one.says}")


def _score_span(one: Dimension) -> Span:
    return Span("-" if one.score is None else f"{one.score:.1f}", zone_style(one.zone))


def _unreadable_notes(checkpoints: list[dict[str, str]]) -> list[str]:
    notes = [
        f"The checkpoint {row['file']} cannot be read: {row['reason']}. Fix or delete the file."
        for row in checkpoints[:_FILES_SHOWN]
    ]
    more = len(checkpoints) - _FILES_SHOWN
    if more > 0:
        notes.append(f"{more} more checkpoints cannot be read: `told health --json` lists them.")
    return notes


def _forgetting_notes(home: str, deep: dict[str, Any]) -> list[str]:
    notes = [
        f"The index of {file} still has {count(many, 'word')} of deleted or replaced text:"
        " `told rebuild` removes them."
        for file, many in deep.get("leftover_words", {}).items()
    ]
    if os.path.exists(os.path.join(home, FORGETTING)):
        notes.append("An interrupted `told forget` is not finished: `told index` finishes it.")
    return notes


def _path_notes(agents: list[dict[str, Any]]) -> list[str]:
    skipped = [row["title"] for row in agents if not all(map(is_utf8, row["paths"]))]
    if not skipped:
        return []
    return [f"Sessions of {', '.join(skipped)} are not imported: the folder's path is not valid UTF-8."]


def _unfinished_notes(paths: list[str]) -> list[str]:
    if not paths:
        return []
    more = f" (and {len(paths) - 1:,} more)" if len(paths) > 1 else ""
    return [f"A killed process left the unfinished file {paths[0]}{more}: `told index` removes it."]


def _model_notes(context: Context) -> list[str]:
    """Return problems with the user's own models; no model is loaded."""
    notes = []
    if context.settings.model:
        try:
            embedder = embedder_of(context)
        except ToldError as error:
            notes.append(f"The setting `model` does not work, so only words are searched: {error}")
        else:
            done, total = TurnVectors(context.connection, embedder.model).counts() if embedder else (0, 0)
            if embedder and done < total:
                missing = f"{count(total - done, 'turn')} of {total:,} without vectors of {embedder.model}"
                notes.append(f"{missing}: `told re-embed --only-missing` makes them.")
    if context.settings.reranker:
        try:
            Reranker(context.settings.reranker)
        except ToldError as error:
            notes.append(f"The setting `reranker` does not work: {error}")
    return notes


def vector_notes(home: str) -> list[str]:
    """Return problems with the vectors of memories."""
    if not vector_table.is_intact():
        damage = f"The table {vector_table.TABLE_PATH} is missing or damaged"
        return [f"{damage}: memories are searched by words only. Install told again."]
    database = open_existing_memories(home)
    if database is None:
        return []
    try:
        vectors = SqliteMemories(database).vectors
        counts = vectors.counts()
        others = any(model != vector_table.table_model_id() and number for model, number in counts.items())
        none = not counts and vectors.missing("", 1)
    finally:
        database.close()
    if not others and not none:
        return []
    return ["The vectors of memories are of another version of told. Run `told re-embed`."]


def _failed_hook(context: Context) -> str:
    """Return a note on the last hook that failed, for a week."""
    at, why = read_last_failure(context.home)
    if not at or context.now - at > _WEEK_MS:
        return ""
    return f"A hook failed {when(at, context.now)}: {context.name(why)}"


def agents(context: Context, _: Arguments) -> None:
    """Print the agents that are found, and where told searches for others."""
    stored = StoreStatus(context.connection).inventory()
    rows = [_agent_json(context, agent, stored.get(agent.name)) for agent in all_agents().values()]
    if context.as_json:
        context.print_json({"agents": rows})
        return
    found = [row for row in rows if row["found"]]
    _print_agents(context, found)
    absent = [row for row in rows if not row["found"]]
    if absent:
        context.print("\nnot found:")
    for row in absent:
        off = " (turned off)" if not row["enabled"] else ""
        places = row["looked_in"] or ["project folders"]
        context.print(
            f"  {row['agent']:18} {places[0]}{f' +{len(places) - 1}' if len(places) > 1 else ''}{off}"
        )
    for row in rows:
        if row["advice"]:
            context.print(f"\n{row['title']}: {row['advice']}")


def _print_agents(context: Context, rows: list[dict[str, Any]]) -> None:
    if context.is_at_terminal and rows:
        columns = (
            Column("AGENT"), Column("SESSIONS", right=True), Column("FILES", right=True),
            Column("LAST", DIM), Column("", WARN, wraps=True, least=60),
        )  # fmt: skip
        context.show(Table(columns, [_agent_cells(context, row) for row in rows]))
        return
    context.print(f"{count(len(rows), 'agent')} found{':' if rows else '.'}")
    for row in rows:
        last = when(row["last_ms"], context.now) if row["last_ms"] else "never"
        problems = f", {count(row['problems'], 'problem')}" if row["problems"] else ""
        off = ", turned off" if not row["enabled"] else ""
        context.print(
            f"  {row['agent']:18} {count(row['sessions'], 'session')}, {count(row['files'], 'file')},"
            f" last {last}{problems}{off}"
        )


def _agent_cells(context: Context, row: dict[str, Any]) -> list[Cell]:
    notes = [count(row["problems"], "problem")] * bool(row["problems"]) + ["turned off"] * (
        not row["enabled"]
    )
    last = relative_time(row["last_ms"], context.now) if row["last_ms"] else "never"
    return [row["agent"], f"{row['sessions']:,}", f"{row['files']:,}", last, ", ".join(notes)]


def _agent_json(context: Context, agent: Agent, stored: Inventory | None) -> dict[str, Any]:
    roots = find_roots(agent, context.environ, context.settings.folder_of(agent.name))
    present = [root for root in roots if os.path.isdir(root)]
    has_own_folder = bool(present) and len(agent.roots) == 1  # other agents may share several
    files = stored.files if stored else 0
    sessions = stored.sessions if stored else 0
    return {
        "agent": agent.name, "title": agent.title, "found": bool(files or sessions) or has_own_folder,
        "enabled": agent.name not in context.settings.agents_off,
        "paths": present, "looked_in": [root for root in roots if root not in present],
        "files": files, "sessions": sessions, "turns": stored.turns if stored else 0,
        "last": iso(stored.last) if stored else None, "last_ms": stored.last if stored else 0,
        "problems": stored.problems if stored else 0,
        "trust": "what you typed: user; the rest: agent",
        "seen_run": agent.verified,
        "advice": agent.advice if agent.advice and present and not sessions else "",
    }  # fmt: skip


def schema_check(context: Context, arguments: Arguments) -> None:
    """Print the columns that agents' databases lack."""
    drift = _schema_drift(context, agent_name(arguments.text("agent")))
    if context.as_json:
        rows = {
            name: {"ok": not columns and not reason, "missing": columns}
            | ({"unreadable": context.fence.inline(reason), "trust": "agent"} if reason else {})
            for name, (columns, reason) in drift.items()
        }
        context.print_json({"ok": all(row["ok"] for row in rows.values()), "agents": rows})
    elif not drift:
        context.print("There is no agent's database to check.")
    else:
        for name, (columns, reason) in drift.items():
            found = f"missing {', '.join(columns)}" if columns else "as expected"
            context.print(f"{name:18} {context.fence.inline(reason) if reason else found}")
    changed = [name for name, (columns, reason) in drift.items() if columns or reason]
    if changed:
        # A warning, not an error: the rows are still printed.
        sys.stderr.write(
            f"told: The database of {', '.join(changed)} has changed; told reads what it can. Update told.\n"
        )
        context.exit_code = MissingError.exit_code


def _list_drift(context: Context) -> list[str]:
    """Return what agents' databases lack, in words."""
    drift = _schema_drift(context, "")
    lacking = [f"{name} {column}" for name, (columns, _) in drift.items() for column in columns]
    return lacking + [f"{name} database" for name, (_, reason) in drift.items() if reason]


def _schema_drift(context: Context, only: str) -> dict[str, tuple[list[str], str]]:
    """Return the missing columns and the read error of each agent's databases."""
    known = Sources(context.connection).all()
    drift: dict[str, tuple[list[str], str]] = {}
    for agent in all_agents().values():
        if not agent.tables or (only and agent.name != only):
            continue
        for source in (one.source for one in known if one.source.agent == agent.name and not one.gone):
            tables = [table for table in agent.tables if table.layout == source.layout]
            if not tables:
                continue
            columns, reason = drift.get(agent.name, ([], ""))
            try:
                with ForeignDatabase(source.path) as database:
                    columns = list(dict.fromkeys([*columns, *find_missing_columns(database, tables)]))
            except ForeignError as error:
                reason = f"{source.path}: {error}"
            drift[agent.name] = columns, reason
    return drift
