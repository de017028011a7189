"""`told list`, `told repos` and `told timeline`: orientation in a few lines."""

from __future__ import annotations

from told.agents.labels import label
from told.cli.output import count, cut, is_plain, iso, to_json, when
from told.record import replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from told.cli.arguments import Arguments
    from told.cli.context import Context, Scope
    from told.store.reading import Filter, SessionRow

    T = TypeVar("T")

NO_HISTORY = "{what}: no agent has any history here. `told agents` says where told looks."

# Bytes of a whole list: what five rows may cost an agent is 150 tokens.
_LIST_BYTES = 585
_LEAST_SUMMARY = 24
_MOST_SUMMARY = 70


def list_sessions(context: Context, arguments: Arguments) -> int:
    """Print sessions, the latest first: of this project, or of all where it has none."""
    limit = arguments.number("limit", 10)
    scope, found, widened = here_or_everywhere(
        context, arguments, lambda wanted: context.reading.sessions(replaced(wanted, helpers=False), limit)
    )
    total = context.reading.count(replaced(scope.filter, helpers=False))
    if arguments.flag("json"):
        rows = [session_json(context, row) for row in found]
        context.print(to_json(about(context, scope, widened) | {"total": total, "sessions": rows}))
        return 0 if found else 1
    if not found:
        return nothing(context, "No sessions", scope)
    header = f"{len(found)} of {count(total, 'session')}, {scope.name}{beyond(widened)}"
    room = max(_LEAST_SUMMARY, min(_MOST_SUMMARY, context.width - 50))
    heads = [session_head(context, row) for row in found]
    if limit <= 5:
        spare = (_LIST_BYTES - len(header) - 40 - sum(len(head.encode()) + 2 for head in heads)) // len(found)
        room = max(_LEAST_SUMMARY, min(room, spare))
    rows_text = [f"{head} {cut(summary(row), room)}".rstrip() for head, row in zip(heads, found, strict=True)]
    context.print(header)
    context.print(context.fence.block("\n".join(rows_text)))
    unread(context)
    return 0


def repos(context: Context, arguments: Arguments) -> int:
    """Print projects with what happened in them, the latest first."""
    scope = context.scope(arguments)
    found = context.reading.projects(replaced(scope.filter, project=0), arguments.number("limit", 20))
    context.rows = len(found)
    if arguments.flag("json"):
        rows = [
            {"project": context.name(name) or None, "key": context.name(key) or None,
             "sessions": sessions, "turns": turns, "last": iso(last),
             "agents": sorted(agents.split(",")), "trust": "agent"}
            for name, key, sessions, turns, last, agents in found
        ]  # fmt: skip
        context.print(to_json({"count": len(rows), "projects": rows}))
        return 0 if found else 1
    if not found:
        return nothing(context, "No projects", widen(scope))
    lines = [
        f"{when(last, context.now)} {name or '(no project)'} {sessions}s {turns}t "
        + ",".join(sorted(label(agent) for agent in agents.split(",")))
        for name, _, sessions, turns, last, agents in found
    ]
    context.print(f"{count(len(found), 'project')} (s: sessions, t: turns)")
    context.print(context.fence.block("\n".join(lines)))
    unread(context)
    return 0


def timeline(context: Context, arguments: Arguments) -> int:
    """Print what the user asked, across sessions, the latest first."""
    if arguments.text("around"):
        from told.cli.around import around

        return around(context, arguments)
    limit = arguments.number("limit", 20)
    scope, found, widened = here_or_everywhere(
        context, arguments, lambda wanted: context.reading.timeline(replaced(wanted, helpers=False), limit)
    )
    sessions = {turn.session_id: context.reading.session(turn.session_id) for turn in found}
    if arguments.flag("json"):
        rows = [
            {"id": f"{sessions[turn.session_id].public}.{turn.n}", "at": iso(turn.at),
             "agent": sessions[turn.session_id].agent,
             "project": context.name(sessions[turn.session_id].project) or None,
             "asked": cut(" ".join(turn.asked.split()), 300), "trust": "user"}
            for turn in found
        ]  # fmt: skip
        less = not_searched_json(context, scope) if len(found) < limit else {}
        context.print(to_json(about(context, scope, widened) | less | {"turns": rows}))
        return 0 if found else 1
    if not found:
        return nothing(context, "Nothing was asked", scope)
    lines = []
    for turn in found:
        session = sessions[turn.session_id]
        # A name that could be more than a name has no place in what the user said.
        shown = scope.project is None and session.project and is_plain(session.project)
        place = f" {session.project}" if shown else ""
        head = f"{when(turn.at, context.now)} {session.public}.{turn.n} {label(session.agent)}{place}"
        lines.append(f"{head} {cut(' '.join(turn.asked.split()), max(30, context.width - len(head)))}")
    context.print(f"{count(len(found), 'turn')}, {scope.name}{beyond(widened)}")
    context.print(context.fence.block("\n".join(lines), "user"))
    unread(context)
    if len(found) < limit and (missing := not_searched(context, scope)):
        context.print(missing)
    return 0


def session_head(context: Context, row: SessionRow) -> str:
    """Return the fixed part of a session's row: time, id, agent, project, branch, turns."""
    place = row.project or "-"
    if row.branch:
        place += f"@{cut(row.branch, 24)}"
    return f"{when(row.ended, context.now)} {row.public} {label(row.agent)} {place} {row.turns}t"


def summary(row: SessionRow) -> str:
    """Return what a session was about: the user's title, the user's first request, or the agent's title."""
    if row.title and row.title_by == "user":
        return row.title
    return row.summary or row.title


def summary_trust(row: SessionRow) -> str:
    """Return who wrote a session's summary."""
    return "user" if (row.title and row.title_by == "user") or row.summary else "agent"


def session_json(context: Context, row: SessionRow) -> dict[str, Any]:
    """Return a session as JSON shows it."""
    text, trust = summary(row), summary_trust(row)
    if row.kind:
        trust = "agent"  # a helper is asked by an agent
    shown: dict[str, Any] = {
        "id": row.public, "agent": row.agent, "native_id": context.name(row.native),
        "project": context.name(row.project) or None, "branch": context.name(row.branch) or None,
        "turns": row.turns,
        "summary": text if trust == "user" else context.fence.inline(text), "trust": trust,
        "started": iso(row.started), "ended": iso(row.ended),
    }  # fmt: skip
    optional = {"folder": row.part, "kind": row.kind, "parent": row.parent, "archived": bool(row.archived)}
    return shown | {
        name: context.name(value) if isinstance(value, str) else value
        for name, value in optional.items()
        if value
    }


def about(context: Context, scope: Scope, widened: bool) -> dict[str, Any]:
    """Return what every JSON answer says about what it covers."""
    head: dict[str, Any] = {"project": scope.name if scope.project else None, "count": context.rows}
    if scope.project and not is_plain(scope.project.name):
        head["trust"] = "agent"
    if widened:
        head["widened"] = True
    if context.left:
        head["unread_files"] = context.left
    return head


def not_searched_json(context: Context, scope: Scope) -> dict[str, int]:
    """Return how many sessions are left out for lack of room, as JSON says it; nothing if none is."""
    many = context.reading.count_trimmed(scope.filter)
    return {"not_searched": many} if many else {}


def here_or_everywhere(
    context: Context, arguments: Arguments, query: Callable[[Filter], list[T]]
) -> tuple[Scope, list[T], bool]:
    """Ask for this project first; where it has nothing and none was named, for all. Says whether it did."""
    scope = context.scope(arguments)
    found = query(scope.filter)
    widened = not found and scope.project is not None and not arguments.text("project")
    if widened:
        scope = widen(scope)
        found = query(scope.filter)
    context.rows = len(found)
    return scope, found, widened


def beyond(widened: bool) -> str:
    """Say that this project has nothing of the kind, if that is why others are shown."""
    return " (none in this project)" if widened else ""


def widen(scope: Scope) -> Scope:
    """Return the same scope for all projects."""
    return replaced(scope, filter=replaced(scope.filter, project=0), project=None, name="all projects")


def unread(context: Context) -> None:
    """Say how much history is still to be read, if any."""
    if context.left:
        context.print(f"({count(context.left, 'file')} of history still being read; ask again in a moment)")


def not_searched(context: Context, scope: Scope) -> str:
    """Say how many sessions are left out for lack of room, and what to do about it; empty if none is."""
    many = context.reading.count_trimmed(scope.filter)
    cap = context.settings.retention_cap_mb
    more = f"`told config set retention.cap_mb {2 * cap}`, then `told rebuild`" if cap else "`told rebuild`"
    return f"({count(many, 'older session')} not searched for lack of room: {more})" if many else ""


def nothing(context: Context, what: str, scope: Scope, *, elsewhere: bool = False) -> int:
    """Say that nothing was found, and what to do; return the exit code.

    Args:
        context: The command.
        what: The beginning of the sentence.
        scope: Where it was looked for.
        elsewhere: There is something of the kind, with which no agent's history has to do.
    """
    from told.errors import NotFoundError

    if context.left:
        raise NotFoundError(
            f"{what} yet: {count(context.left, 'file')} of history still being read. Ask again."
        )
    if not elsewhere and not context.reading.count(replaced(scope.filter, project=0, agent="", since=0)):
        raise NotFoundError(NO_HISTORY.format(what=what))
    hint = " Try --all-projects." if scope.project is not None else ""
    narrow = " with these limits" if scope.filter.agent or scope.filter.since else ""
    where = f" in {scope.name}" if scope.project is not None else " in any project" if not narrow else ""
    raise NotFoundError(f"{what}{where}{narrow}.{hint}")
