"""`told list`, `told repos`, `told files` and `told timeline`."""

from __future__ import annotations

from typing import NamedTuple

from told.agents import label
from told.cli.arguments import Arguments
from told.cli.context import (
    MOST_MATCHES,
    Context,
    MemoryView,
    count,
    count_shown,
    cut,
    cut_line,
    iso,
    short_path,
    when,
)
from told.cli.sessions import (
    coverage_json,
    file_json,
    find_session,
    find_turn,
    is_memory_id,
    not_searched,
    not_searched_json,
    nothing_found,
    only_checkpoint,
    print_rows,
    print_summary,
    print_table,
    print_unread,
    prompt_json,
    prompt_row,
    query_here_or_everywhere,
    select_sessions,
    session_head,
    session_json,
    session_summary,
    summary_trust,
)
from told.cli.terminal.blocks import DIM, PROJECT_STYLE, Column, Table
from told.cli.terminal.tables import file_table, prompt_table, session_table
from told.errors import UsageError
from told.store.memories.names import USER, project_key
from told.store.sessions.checkpoints import Project
from told.store.sessions.read import (
    CheckpointRow,
    ProjectRow,
    SessionRow,
    TimelinePosition,
    TimelineReader,
    TurnRow,
)
from told.text import relative_time

_ROWS_AROUND = 5  # before, and as many after
_TEXT_BYTES = 300
_AFTER_TURNS = "\U0010ffff"  # sorts after the turns of the same time, from which it was made


def timeline(context: Context, arguments: Arguments) -> None:
    """Print the user's prompts across sessions, latest first."""
    if arguments.text("around"):
        _print_around(context, arguments)
        return
    limit = arguments.number("limit", 20)
    scope, found = query_here_or_everywhere(
        context, arguments, lambda wanted: context.reading.timeline(wanted._replace(helpers=False), limit)
    )
    sessions = _sessions_of(context, found)
    is_all = len(found) < limit
    total = len(found) if is_all else context.reading.count_prompts(scope.filter._replace(helpers=False))
    if context.as_json:
        rows = [prompt_json(context, sessions[turn.session_id], turn) for turn in found]
        less = not_searched_json(context, scope) if is_all else {}
        head = coverage_json(context, scope, len(found)) | {"total": total} | less
        context.print_json(head | {"turns": rows}, found=found)
        return
    if not found:
        raise nothing_found(context, "No prompts", scope)
    print_summary(context, count_shown(len(found), total, "turn", scope.title))
    _print_prompts(context, found, sessions, with_project=scope.project is None)
    print_unread(context)
    if is_all and (missing := not_searched(context, scope)):
        context.print(missing)


def _sessions_of(context: Context, turns: list[TurnRow]) -> dict[int, SessionRow]:
    return {turn.session_id: context.reading.session(turn.session_id) for turn in turns}


def _print_prompts(
    context: Context, turns: list[TurnRow], sessions: dict[int, SessionRow], *, with_project: bool
) -> None:
    if not turns:
        return
    if context.is_at_terminal:
        context.show(prompt_table(context, turns, sessions, with_project=with_project))
        return
    lines = [
        prompt_row(context, sessions[turn.session_id], turn, with_project=with_project) for turn in turns
    ]
    context.print(context.fence.block("\n".join(lines), "user"))


class _Centre(NamedTuple):
    """The item around which prompts are shown."""

    id: str
    kind: str
    position: TimelinePosition
    project: Project | None
    head: str
    text: str
    trust: str
    session: int = 0  # its own turns are not around it


def _print_around(context: Context, arguments: Arguments) -> None:
    if arguments.text("since") or arguments["days"] is not None:
        raise UsageError("--around sets the time: leave out --since and --days.")
    centre = _find_centre(context, arguments.text("around").strip())
    scope = select_sessions(context, arguments)
    if not arguments.text("project") and not arguments.flag("all-projects"):
        name = context.name(centre.project.name) if centre.project else "all projects"
        wanted = scope.filter._replace(project=centre.project.id if centre.project else 0)
        scope = scope._replace(filter=wanted, project=centre.project, name=name)
    limit = arguments.number("limit", _ROWS_AROUND)
    reader = TimelineReader(context.connection)
    own = context.reading.session(centre.session).turns if centre.session else 0
    before = _without(centre, reader.before(centre.position, scope.filter, limit))
    after = _without(centre, reader.after(centre.position, scope.filter, limit + own))[:limit]
    sessions = _sessions_of(context, [*before, *after])
    if context.as_json:
        context.print_json(coverage_json(context, scope, len(before) + len(after) + 1) | {
            "around": {"id": centre.id, "kind": centre.kind, "at": iso(centre.position.at),
                       "text": _text(context, centre, as_json=True), "trust": centre.trust},
            "before": [prompt_json(context, sessions[turn.session_id], turn) for turn in before],
            "after": [prompt_json(context, sessions[turn.session_id], turn) for turn in after],
        })  # fmt: skip
        return
    context.print(f"{count(len(before), 'turn')} before and {len(after)} after {centre.id}, {scope.name}")
    with_project = scope.project is None
    _print_prompts(context, before, sessions, with_project=with_project)
    context.print(f"> {when(centre.position.at, context.now)} {centre.head} {_text(context, centre)}")
    _print_prompts(context, after, sessions, with_project=with_project)
    print_unread(context)


def _without(centre: _Centre, turns: list[TurnRow]) -> list[TurnRow]:
    return [turn for turn in turns if turn.session_id != centre.session]


def _text(context: Context, centre: _Centre, *, as_json: bool = False) -> str:
    """Return the item's text, fenced if it may quote others."""
    text = cut_line(centre.text, _TEXT_BYTES)
    is_plain = centre.trust == USER and (as_json or centre.kind == "memory")
    return context.fence.plain(text) if is_plain else context.fence.inline(text, centre.trust)


def _find_centre(context: Context, given: str) -> _Centre:
    if given.startswith("c") and (notes := context.reading.checkpoints_like(given, MOST_MATCHES)):
        return _at_checkpoint(context, only_checkpoint(given, notes))
    if is_memory_id(context, given):
        return _at_memory(context, given)
    base, _, number = given.partition(".")
    session = find_session(context, base, given)
    return _at_turn(context, session, number) if number else _at_session(context, session)


def _at_turn(context: Context, session: SessionRow, number: str) -> _Centre:
    turn = find_turn(context, session, number)
    name = f"{session.public}.{turn.n}"
    project = TimelineReader(context.connection).project_of(session.id)
    return _Centre(
        name, "turn", TimelinePosition(turn.at, session.public, turn.n), project,
        f"{name} {label(session.agent)}", turn.asked or turn.answered,
        "agent" if session.kind or not turn.asked else "user",
    )  # fmt: skip


def _at_session(context: Context, session: SessionRow) -> _Centre:
    return _Centre(
        session.public, "session", TimelinePosition(session.started),
        TimelineReader(context.connection).project_of(session.id),
        f"{session.public} {label(session.agent)} {session.turns}t", session_summary(session),
        summary_trust(session), session.id,
    )  # fmt: skip


def _at_checkpoint(context: Context, note: CheckpointRow) -> _Centre:
    session = context.reading.sessions_like(note.session, 1)[0]
    return _Centre(
        note.public, "checkpoint", TimelinePosition(note.at, _AFTER_TURNS),
        TimelineReader(context.connection).project_of(session.id),
        f"{note.public} {label(note.agent)} checkpoint", note.title or note.overview, "agent",
    )  # fmt: skip


def _at_memory(context: Context, given: str) -> _Centre:
    with MemoryView(context) as view:
        memory = view.find_one(given, any_status=True)
        scope = view.scope(memory)
    # It was said when its first evidence was; it may have been stored much later.
    at = min((one.at for one in memory.evidence if one.session and one.at), default=memory.created)
    key = project_key(memory.scope)
    return _Centre(
        memory.id, "memory", TimelinePosition(at, _AFTER_TURNS),
        context.projects().by_key(key) if key else None,
        f"{memory.id} {memory.kind_name} {scope}", memory.text, memory.trust,
    )  # fmt: skip


# A default list costs an agent at most 150 tokens.
_LIST_BYTES = 585
_FILES_BYTES = 565
_LEAST_TEXT = 24
_SUMMARY_BYTES = 50
_PATH_BYTES = 60


def list_sessions(context: Context, arguments: Arguments) -> None:
    """Print sessions, latest first."""
    limit = arguments.number("limit", 10)
    scope, found = query_here_or_everywhere(
        context, arguments, lambda wanted: context.reading.sessions(wanted._replace(helpers=False), limit)
    )
    total = context.reading.count(scope.filter._replace(helpers=False))
    if context.as_json:
        rows = [session_json(context, row) for row in found]
        context.print_json(
            coverage_json(context, scope, len(found)) | {"total": total, "sessions": rows}, found=found
        )
        return
    if not found:
        raise nothing_found(context, "No sessions", scope)
    header = f"{len(found)} of {count(total, 'session')}, {scope.title}"
    if context.is_at_terminal:
        print_table(context, header, session_table(context, found, with_project=scope.project is None))
        return
    room = _SUMMARY_BYTES
    heads = [session_head(context, row) for row in found]
    if limit <= 5:
        spare = (_LIST_BYTES - len(header) - 40 - sum(len(head.encode()) + 2 for head in heads)) // len(found)
        room = max(_LEAST_TEXT, min(room, spare))
    lines = [
        f"{head} {cut(session_summary(row), room)}".rstrip() for head, row in zip(heads, found, strict=True)
    ]
    print_rows(context, header, lines)


def repos(context: Context, arguments: Arguments) -> None:
    """Print projects with their activity, latest first."""
    scope = select_sessions(context, arguments)
    everything = context.reading.projects(scope.filter._replace(project=0))
    found = everything[: arguments.number("limit", 20)]
    if context.as_json:
        rows = [
            {"project": context.name(one.name) or None, "key": context.name(one.key) or None,
             "sessions": one.sessions, "helpers": one.helpers, "turns": one.turns, "last": iso(one.last),
             "agents": sorted(one.agents.split(",")), "trust": "agent"}
            for one in found
        ]  # fmt: skip
        context.print_json({"count": len(rows), "total": len(everything), "projects": rows}, found=found)
        return
    if not found:
        raise nothing_found(context, "No projects", scope.widen())
    shown = count_shown(len(found), len(everything), "project")
    if context.is_at_terminal:
        print_table(context, shown, _project_table(context, found))
        return
    lines = []
    for one in found:
        agents = ",".join(sorted(label(agent) for agent in one.agents.split(",")))
        helpers = f" (+{count(one.helpers, 'subagent session')})" if one.helpers else ""
        lines.append(
            f"{when(one.last, context.now)} {one.name or '(no project)'} {one.sessions}s {one.turns}t"
            f" {agents}{helpers}"
        )
    print_rows(context, f"{shown} (s: sessions, t: turns)", lines)


def _project_table(context: Context, found: list[ProjectRow]) -> Table:
    columns = (
        Column("LAST", DIM), Column("PROJECT", PROJECT_STYLE, wraps=True), Column("SESSIONS", right=True),
        Column("TURNS", right=True), Column("AGENTS", wraps=True, least=60),
    )  # fmt: skip
    rows = [
        (relative_time(one.last, context.now), one.name or "(no project)", f"{one.sessions:,}",
         f"{one.turns:,}", ", ".join(sorted(label(agent) for agent in one.agents.split(","))))
        for one in found
    ]  # fmt: skip
    return Table(columns, rows)


def files(context: Context, arguments: Arguments) -> None:
    """Print touched files, each once, latest first."""
    limit = arguments.number("limit", 10)
    scope, found = query_here_or_everywhere(
        context, arguments, lambda wanted: context.reading.touches(wanted, limit)
    )
    total = context.reading.count_touched(scope.filter)
    if context.as_json:
        rows = [
            file_json(context, row.path, row.root)
            | {"how": row.how, "at": iso(row.at), "session": row.session, "agent": row.agent,
               "project": context.name(row.project) or None, "trust": "agent"}
            for row in found
        ]  # fmt: skip
        head = coverage_json(context, scope, len(found)) | {"total": total}
        context.print_json(head | {"files": rows}, found=found)
        return
    if not found:
        raise nothing_found(context, "No files were touched", scope)
    header = count_shown(len(found), total, "file", scope.title)
    if context.is_at_terminal:
        print_table(context, header, file_table(context, found, with_project=scope.project is None))
        return
    room = _PATH_BYTES
    if limit <= 10:
        fixed = sum(len(f"{when(row.at, context.now)} {row.how}  {row.session}\n") for row in found)
        room = max(_LEAST_TEXT, min(room, (_FILES_BYTES - len(header) - fixed) // len(found)))
    lines = []
    for row in found:
        path = short_path(row.path, row.root, room)
        place = f" {cut(row.project, 24)}" if scope.project is None and row.project and limit > 10 else ""
        lines.append(f"{when(row.at, context.now)} {row.how} {path} {row.session}{place}")
    print_rows(context, header, lines)
