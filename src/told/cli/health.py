"""`told health`, `told schema-check` and `told agents`: whether told sees what it should."""

from __future__ import annotations

import os
import sys

from told.agents import all_agents
from told.agents.base import roots_of
from told.cli.calls import recent
from told.cli.model_notes import model_notes
from told.cli.output import count, iso, to_json, when
from told.cli.wishes import config_notes
from told.errors import MissingError
from told.guard.text import clean
from told.store.condition import Condition
from told.store.foreign import ForeignError, missing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.agents.base import Agent
    from told.cli.arguments import Arguments
    from told.cli.context import Context
    from told.store.condition import Inventory


_WEEK_MS = 7 * 86_400_000
_MEND = "Mend or delete the file."
_NAMED = 3  # files that cannot be read


def health(context: Context, arguments: Arguments) -> int:
    """Print the score, the one thing to do, the nine dimensions, and each agent."""
    from told.cli.dimensions import dimensions

    deep: dict[str, Any] = {}
    if arguments.flag("deep"):
        from told.cli.health_deep import look_at_everything, print_damage

        deep = look_at_everything(context)
        if not deep["sound"]:
            print_damage(context, deep, as_json=arguments.flag("json"))
            return MissingError.exit_code
    condition = Condition(context.connection)
    drift = _drift(context, "")
    lacking = [f"{name} {column}" for name, (columns, _) in drift.items() for column in columns]
    lacking += [f"{name} database" for name, (_, reason) in drift.items() if reason]
    judged = dimensions(context, condition, recent(context.settings.home), lacking)
    scored = [one for one in judged if one.score is not None]
    worst = min(scored, key=lambda one: (one.score, one.name))
    stored = condition.inventory()
    agents = [_agent_json(context, agent, stored.get(agent.name)) for agent in all_agents().values()]
    problems = condition.problems(10)
    context.rows = len(judged)
    zone, points, advice = worst.zone, worst.score, "" if worst.zone == "GREEN" else worst.do
    settings = _notes(context)
    if context.settings.problem:  # then nothing is learned any more
        zone, points, advice = "RED", 0.0, context.settings.problem
    noted = _places(context)
    unread = _unread_checkpoints(context)
    from told.cli.disk import disk_json, disk_line

    if arguments.flag("json"):
        context.print(to_json({
            "zone": zone, "score": points, "do": advice or None, **({"config": settings} if settings else {}),
            **({"deep": deep} if deep else {}), **({"places": noted} if noted else {}),
            **({"failed_hook": failed} if (failed := _failed_hook(context)) else {}),
            **({"checkpoints": unread} if unread else {}),
            "dimensions": [
                {"name": one.name, "zone": one.zone, "score": one.score, "says": one.says} for one in judged
            ],
            **disk_json(context), "agents": agents,
            "problems": [
                {"agent": agent, "file": context.fence.inline(path), "line": line,
                 "reason": context.fence.inline(reason),
                 "trust": "agent"}
                for agent, path, line, reason in problems
            ],
        }))  # fmt: skip
        return 0
    context.print(f"{zone} {points:.1f} of 10. {advice or 'Nothing to do.'}")
    for one in judged:
        score = "  - " if one.score is None else f"{one.score:4.1f}"
        context.print(f"  {score}  {one.name:22} {one.says}")
    context.print(f"\n{disk_line(context)}")
    if deep:
        context.print("\nBoth databases, the journal and the archive are as told wrote them.")
    failed = _failed_hook(context)
    if failed:
        context.print(f"\n{failed}")
    for sentence in settings[bool(context.settings.problem) :]:
        context.print(f"\n{sentence}")
    for place in noted:
        context.print(f"\n{place['root']}: {place['says']}")
    for row in unread[:_NAMED]:
        context.print(f"\nThe checkpoint {row['file']} cannot be read: {row['reason']}. {_MEND}")
    if len(unread) > _NAMED:
        context.print(
            f"\n{len(unread) - _NAMED} more checkpoints cannot be read: `told health --json` names them."
        )
    context.print()
    _print_agents(context, [row for row in agents if row["found"]])
    if problems:
        total = sum(row["problems"] for row in agents)
        context.print(f"\n{count(total, 'thing')} could not be read; the latest:")
        lines = [f"  {path}:{line} {reason}" for _, path, line, reason in problems[:5]]
        context.print(context.fence.block("\n".join(lines)))
    return 0


def _notes(context: Context) -> list[str]:
    """Return what is to be said of settings, of a model of the user's, and of what memories mean."""
    from told.cli.health_meaning import meaning_notes

    notes = config_notes(context.settings, context.cwd, context.environ)
    return notes + model_notes(context) + meaning_notes(context.settings.home)


def _failed_hook(context: Context) -> str:
    """Return what to say of the last hook that failed, for a week."""
    from told.hook.trouble import last

    at, why = last(context.settings.home)
    if not at or context.now - at > _WEEK_MS:
        return ""
    return f"A hook failed {when(at, context.now)}: {context.name(why)}"


def _unread_checkpoints(context: Context) -> list[dict[str, str]]:
    """Return the files of checkpoints that cannot be read, and why."""
    from told.ingest.checkpoint_reading import unreadable

    found = unreadable(context.settings.home)
    return [{"file": context.name(path), "reason": reason} for path, reason in found]


def _places(context: Context) -> list[dict[str, str]]:
    """Return what is to be said of the projects that keep their own memories."""
    from told.journal.files import has_places

    if not has_places(context.settings.home):
        return []
    from told.cli.projects import notes_on_places

    return [{"root": clean(root), "says": why} for root, why in notes_on_places(context.settings.home)]


def agents(context: Context, arguments: Arguments) -> int:
    """Print which agents are found, and where told looks for the others."""
    stored = Condition(context.connection).inventory()
    rows = [_agent_json(context, agent, stored.get(agent.name)) for agent in all_agents().values()]
    context.rows = len(rows)
    if arguments.flag("json"):
        context.print(to_json({"agents": rows}))
        return 0
    found = [row for row in rows if row["found"]]
    _print_agents(context, found)
    absent = [row for row in rows if not row["found"]]
    if absent:
        context.print("\nnot found:")
    for row in absent:
        off = " (switched off)" if not row["enabled"] else ""
        places = row["looked_in"] or ["project folders"]
        context.print(
            f"  {row['agent']:18} {places[0]}{f' +{len(places) - 1}' if len(places) > 1 else ''}{off}"
        )
    for row in rows:
        if row["advice"]:
            context.print(f"\n{row['title']}: {row['advice']}")
    return 0


def _print_agents(context: Context, rows: list[dict[str, Any]]) -> None:
    context.print(f"{count(len(rows), 'agent')} found{':' if rows else '.'}")
    for row in rows:
        last = when(row["last_ms"], context.now) if row["last_ms"] else "never"
        problems = f", {count(row['problems'], 'problem')}" if row["problems"] else ""
        off = ", switched off" if not row["enabled"] else ""
        context.print(
            f"  {row['agent']:18} {count(row['sessions'], 'session')}, {count(row['files'], 'file')},"
            f" last {last}{problems}{off}"
        )


def _agent_json(context: Context, agent: Agent, stored: Inventory | None) -> dict[str, Any]:
    roots = roots_of(agent, context.environ, context.settings.folder_of(agent.name))
    present = [root for root in roots if os.path.isdir(root)]
    files = stored.files if stored else 0
    sessions = stored.sessions if stored else 0
    has_layout = bool(files or sessions)
    return {
        "agent": agent.name, "title": agent.title, "found": has_layout or _is_its_own(agent, present),
        "enabled": agent.name not in context.settings.agents_off,
        "paths": present, "looked_in": [root for root in roots if root not in present],
        "files": files, "sessions": sessions, "turns": stored.turns if stored else 0,
        "last": iso(stored.last) if stored else None, "last_ms": stored.last if stored else 0,
        "problems": stored.problems if stored else 0,
        "trust": "what you typed: user; the rest: agent",
        "seen_run": agent.seen_run,
        "advice": agent.advice if agent.advice and present and not sessions else "",
    }  # fmt: skip


def _is_its_own(agent: Agent, present: list[str]) -> bool:
    """Whether a folder that is there belongs to this agent alone."""
    return bool(present) and len(agent.roots) == 1


def schema_check(context: Context, arguments: Arguments) -> int:
    """Name the columns that a reader needs and an agent's database lacks."""
    from told.cli.context import agent_name

    drift = _drift(context, agent_name(arguments.text("agent")))
    context.rows = len(drift)
    if arguments.flag("json"):
        rows = {
            name: {"ok": not columns and not reason, "missing": columns}
            | ({"unreadable": context.fence.inline(reason), "trust": "agent"} if reason else {})
            for name, (columns, reason) in drift.items()
        }
        context.print(to_json({"ok": all(row["ok"] for row in rows.values()), "agents": rows}))
    elif not drift:
        context.print("No agent's database is there to check.")
    else:
        for name, (columns, reason) in drift.items():
            found = f"missing {', '.join(columns)}" if columns else "as expected"
            context.print(f"{name:18} {context.fence.inline(reason) if reason else found}")
    changed = [name for name, (columns, reason) in drift.items() if columns or reason]
    if changed:
        # The rows above it are an answer as well, so this does not end the command as an error would.
        sys.stderr.write(
            f"told: The database of {', '.join(changed)} is not as told expects; what can be read is read."
            " Update told.\n"
        )
        return MissingError.exit_code
    return 0


def _drift(context: Context, only: str) -> dict[str, tuple[list[str], str]]:
    """Return the (missing columns, why it cannot be read) of each agent's databases."""
    from told.store.sources import Sources

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
                columns = list(dict.fromkeys([*columns, *missing(source.path, tables)]))
            except ForeignError as error:
                reason = f"{source.path}: {error}"
            drift[agent.name] = columns, reason
    return drift
