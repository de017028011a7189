"""Find sessions by id, and show them in rows and JSON."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from told.agents import label
from told.app import agent_name, is_bare_name
from told.cli.arguments import Arguments
from told.cli.context import (
    MOST_MATCHES,
    SHORTEST_ID,
    Context,
    MemoryView,
    count,
    cut,
    cut_line,
    iso,
    relative_path,
    when,
)
from told.cli.terminal.blocks import DIM, Paragraph, Span, Table
from told.errors import NotFoundError, UsageError
from told.ingest.projects import find_git_root, identify
from told.store.sessions.checkpoints import Project
from told.store.sessions.read import CheckpointRow, Filter, SessionRow, TurnRow

T = TypeVar("T")
NOT_HERE = " (none in this project)"
NO_HISTORY = "{what}: no agent has any history here. `told agents` shows where told looks."
_PROMPT_BYTES = 300
_ROW_BYTES = 100
_NO_SESSIONS = 1 << 40  # the number of a project that told has no sessions of


class SessionScope(NamedTuple):
    """Which sessions a command covers, and what that is called."""

    filter: Filter
    project: Project | None
    name: str
    widened: bool = False  # to all projects, because this one has nothing

    def widen(self) -> SessionScope:
        """Return the same scope for all projects."""
        everywhere = self.filter._replace(project=0)
        return SessionScope(everywhere, project=None, name="all projects", widened=True)

    @property
    def title(self) -> str:
        """Return its name, and why other projects are shown."""
        return self.name + (NOT_HERE if self.widened else "")


def session_head(context: Context, row: SessionRow) -> str:
    """Return the fixed part of a session's row."""
    place = row.project or "-"
    if row.branch:
        place += f"@{cut(row.branch, 24)}"
    return f"{when(row.ended, context.now)} {row.public} {label(row.agent)} {place} {row.turns}t"


def session_row(context: Context, row: SessionRow, room: int) -> str:
    """Return a session in one line, its topic cut to `room` bytes."""
    return f"{session_head(context, row)} {cut(session_summary(row), room)}".rstrip()


def session_summary(row: SessionRow) -> str:
    """Return a session's title, or its first prompt if it has none."""
    return row.title if _has_title(row) else row.summary or row.title


def _has_title(row: SessionRow) -> bool:
    """Tell whether a session has a title that is more than its first prompt, cut."""
    if row.title_by == "user" or not row.title:
        return bool(row.title)
    # A subagent's title is its name.
    start = row.title.rstrip("….").rstrip()
    return not row.kind and not " ".join(row.summary.split()).startswith(" ".join(start.split()))


def summary_trust(row: SessionRow) -> str:
    """Return who wrote a session's summary."""
    by_user = row.title_by == "user" if _has_title(row) else row.summary
    return "user" if by_user and not row.kind else "agent"


def file_json(context: Context, path: str, root: str) -> dict[str, str | None]:
    """Return a file for JSON: below its project's root if it is there, and in full."""
    absolute = path if not root or os.path.isabs(path) else os.path.join(root, path)
    return {"path": context.path(relative_path(path, root)), "absolute": context.path(absolute)}


def session_json(context: Context, row: SessionRow) -> dict[str, Any]:
    """Return a session for JSON."""
    text, trust = session_summary(row), summary_trust(row)
    shown: dict[str, Any] = {
        "id": row.public, "agent": row.agent, "native_id": context.name(row.native),
        "project": context.name(row.project) or None, "branch": context.name(row.branch) or None,
        "cwd": context.path(row.cwd) if row.cwd else None, "turns": row.turns,
        "summary": context.fenced(text, trust), "trust": trust,
        "started": iso(row.started), "ended": iso(row.ended),
    }  # fmt: skip
    optional = {"folder": row.part, "kind": row.kind, "parent": row.parent}
    shown |= {name: context.name(value) for name, value in optional.items() if value}
    return shown | ({"archived": True} if row.archived else {})


def prompt_row(context: Context, session: SessionRow, turn: TurnRow, *, with_project: bool) -> str:
    """Return a prompt in one line."""
    # A name that could be more than a name has no place beside the user's words.
    shown = with_project and session.project and is_bare_name(session.project)
    place = f" {session.project}" if shown else ""
    head = f"{when(turn.at, context.now)} {session.public}.{turn.n} {label(session.agent)}{place}"
    return f"{head} {cut_line(turn.asked, max(30, _ROW_BYTES - len(head)))}"


def prompt_json(context: Context, session: SessionRow, turn: TurnRow) -> dict[str, Any]:
    """Return a prompt for JSON."""
    return {
        "id": f"{session.public}.{turn.n}", "at": iso(turn.at), "agent": session.agent,
        "project": context.name(session.project) or None,
        "asked": cut_line(turn.asked, _PROMPT_BYTES), "trust": "user",
    }  # fmt: skip


def coverage_json(context: Context, scope: SessionScope, count: int) -> dict[str, Any]:
    """Return what every JSON answer says about what it covers."""
    head: dict[str, Any] = {"project": scope.name if scope.project else None, "count": count}
    if scope.project and not is_bare_name(scope.project.name):
        head["trust"] = "agent"
    if scope.widened:
        head["widened"] = True
    if context.left:
        head["unread_files"] = context.left
    return head


def select_sessions(context: Context, arguments: Arguments) -> SessionScope:
    """Return the sessions that --project, --agent, --days, --since and the folder select."""
    since = _since(context, arguments)
    agent = agent_name(arguments.text("agent"))
    project: Project | None = None
    name = arguments.text("project")
    if name and arguments.flag("all-projects"):
        raise UsageError("Give --project or --all-projects, not both.")
    if name:
        project = context.entered or context.find_project(name)
    elif not arguments.flag("all-projects"):
        project = context.project() or _new_project(context)
    wanted = Filter(project.id if project else 0, agent, since)
    return SessionScope(wanted, project, context.name(project.name) if project else "all projects")


def _since(context: Context, arguments: Arguments) -> int:
    days, since = arguments["days"], arguments.text("since")
    if days is not None and since:
        raise UsageError("Give --days or --since, not both.")
    if days is not None:
        return max(1, context.now - int(days) * 86_400_000)
    return context.parse_time(since) if since else 0


def _new_project(context: Context) -> Project | None:
    """Return the repository that an agent works in, if told has no sessions of it."""
    if not context.cwd or not find_git_root(context.cwd) or context.caller.is_user:
        return None
    found = identify(context.cwd, ask_git=True)
    return Project(_NO_SESSIONS, context.hide_secrets(found.key), found.name, found.root)


def may_widen(context: Context, arguments: Arguments) -> bool:
    """Tell whether a project without a result may be left: by you, unless you named it; never by an agent."""
    return not arguments.text("project") and context.caller.is_user


def query_here_or_everywhere(
    context: Context, arguments: Arguments, query: Callable[[Filter], list[T]]
) -> tuple[SessionScope, list[T]]:
    """Query this project, or all if it has nothing."""
    scope = select_sessions(context, arguments)
    found = query(scope.filter)
    if not found and scope.project is not None and may_widen(context, arguments):
        scope = scope.widen()
        found = query(scope.filter)
    return scope, found


def print_summary(context: Context, text: str) -> None:
    """Print the line above a list, dimmed at a terminal."""
    if context.is_at_terminal:
        context.show(Paragraph(Span(text, DIM)))
    else:
        context.print(text)


def print_table(context: Context, header: str, table: Table) -> None:
    """Show a table at a terminal, and what is still to be imported."""
    print_summary(context, header)
    context.show(table)
    print_unread(context)


def print_rows(context: Context, header: str, lines: list[str]) -> None:
    """Print rows that quote sessions, and what is still to be imported."""
    context.print(header)
    context.print(context.fence.block("\n".join(lines)))
    print_unread(context)


def print_unread(context: Context) -> None:
    """Print how much history is still to be imported, if any."""
    if context.left:
        then = "ask again soon" if context.settings.background else "`told index` imports them"
        context.print(f"({count(context.left, 'file')} of history not imported yet; {then})")


def not_searched(context: Context, scope: SessionScope) -> str:
    """Return a note on sessions left out for lack of space."""
    many = context.reading.count_trimmed(scope.filter)
    cap = context.settings.retention_cap_mb
    more = f"`told config set retention.cap_mb {2 * cap}`, then `told rebuild`" if cap else "`told rebuild`"
    return f"({count(many, 'older session')} not searched for lack of space: {more})" if many else ""


def not_searched_json(context: Context, scope: SessionScope) -> dict[str, int]:
    """Return the number of left-out sessions for JSON."""
    many = context.reading.count_trimmed(scope.filter)
    return {"not_searched": many} if many else {}


def nothing_found(
    context: Context, what: str, scope: SessionScope, *, elsewhere: bool = False
) -> NotFoundError:
    """Return the error that nothing was found; `elsewhere` is what needs no agent's history."""
    if context.left:
        left = count(context.left, "file")
        then = "Ask again soon." if context.settings.background else "Run `told index`."
        return NotFoundError(f"{what} yet: {left} of history not imported. {then}")
    if not elsewhere and not context.reading.count(scope.filter._replace(project=0, agent="", since=0)):
        return NotFoundError(NO_HISTORY.format(what=what))
    hint = " Try --all-projects." if scope.project is not None else ""
    narrow = " with these limits" if scope.filter.agent or scope.filter.since else ""
    where = f" in {scope.name}" if scope.project is not None else " in any project" if not narrow else ""
    return NotFoundError(f"{what}{where}{narrow}.{hint}")


_DIGITS = 9  # of a turn's number


def _check_length(wanted: str, given: str) -> None:
    if len(wanted) < SHORTEST_ID:
        raise UsageError(f"{given!r} is too short for an id. Give at least three letters of it.")


def find_session(context: Context, wanted: str, given: str) -> SessionRow:
    """Return the one session with an id or the beginning of one."""
    _check_length(wanted, given)
    found = context.reading.sessions_like(wanted, MOST_MATCHES + 1)
    found = found or context.reading.sessions_like(wanted.lower(), MOST_MATCHES + 1)
    exact = [row for row in found if wanted in (row.public, row.native)]
    found = exact or without_helpers(found)
    if not found:
        raise NotFoundError(f"No session has the id {given!r}. Ids come from `told list` and `told search`.")
    if len(found) > 1:
        lines = [session_row(context, row, 40) for row in found[:MOST_MATCHES]]
        choices = context.fence.block("\n".join(lines))
        many = str(len(found)) if len(found) <= MOST_MATCHES else f"more than {MOST_MATCHES}"
        raise UsageError(f"{given!r} matches {many} sessions. Give more of the id.\n{choices}")
    return found[0]


def without_helpers(found: list[SessionRow]) -> list[SessionRow]:
    """Return sessions without helpers of others among them, whose ids begin alike."""
    parents = {row.native for row in found}
    return [row for row in found if row.parent not in parents]


def find_turn(context: Context, session: SessionRow, number: str) -> TurnRow:
    """Return a turn of a session by its number."""
    is_number = number.isascii() and number.isdigit() and len(number) <= _DIGITS
    turn = context.reading.turn(session.id, int(number)) if is_number else None
    if turn is None:
        raise NotFoundError(
            f"{session.public} has no turn {cut(number, 20)!r}."
            f" `told show {session.public} --turns` lists them."
        )
    return turn


def find_checkpoint(context: Context, given: str) -> CheckpointRow:
    """Return the one checkpoint with an id."""
    _check_length(given, given)
    found = context.reading.checkpoints_like(given, MOST_MATCHES)
    if not found:
        raise NotFoundError(f"No checkpoint has the id {cut(given, 60)!r}. `told checkpoints` lists them.")
    return only_checkpoint(given, found)


def only_checkpoint(given: str, found: list[CheckpointRow]) -> CheckpointRow:
    """Return the checkpoint with exactly this id, or the only one found."""
    found = [note for note in found if note.public == given] or found
    if len(found) > 1:
        choices = ", ".join(note.public for note in found)
        raise UsageError(f"{given!r} matches {choices}. Give more of it.")
    return found[0]


def find_own_checkpoint(context: Context, given: str) -> CheckpointRow:
    """Return one of told's own checkpoints, which it may change."""
    note = find_checkpoint(context, given)
    if not note.path:
        raise UsageError(f"{note.public} is in the agent's own files, which told does not change.")
    return note


def is_memory_id(context: Context, given: str) -> bool:
    """Tell whether an id is a memory's, or its beginning."""
    if len(given) < SHORTEST_ID or not (given.startswith("m") and given.isascii() and given.isalnum()):
        return False
    with MemoryView(context) as view:
        return bool(view.memories.ids_with_prefix(given, 1))
