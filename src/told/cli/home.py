"""`told` alone: the latest sessions, open work, what was learned, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from told.agents import all_agents
from told.cli.arguments import Arguments
from told.cli.checkpoint_lines import next_line
from told.cli.context import Context, MemoryView, count, memory_count
from told.cli.health_checks import health_sentence
from told.cli.reader.status import READER_HINT
from told.cli.sessions import (
    SessionScope,
    print_unread,
    query_here_or_everywhere,
    session_json,
    session_row,
    session_summary,
)
from told.cli.terminal.blocks import BOLD, COMMAND, Column, Heading, Paragraph, Span, Table, zone_style
from told.cli.terminal.tables import checkpoint_table, print_memories, session_table
from told.ingest.checkpoint_approval import UNAPPROVED
from told.install.ledger import Ledger
from told.memories.review import find_review_items
from told.memories.scopes import MemoryFilter, active_scopes, list_memories
from told.pattern import lazy_pattern
from told.search.query import find_keywords
from told.store.memories.records import ACTIVE, Memory
from told.store.sessions.read import CheckpointRow, Filter, SessionRow
from told.store.sessions.sources import Inventory, StoreStatus

_SESSIONS, _NOTES, _LEARNED = 5, 3, 5
_WEEK_MS = 7 * 86_400_000
_QUERY_FROM, _QUERY_WORDS = 30, 3  # sessions, words
_WORD = lazy_pattern(r"\b[^\W\d_]{3,}\b")


class _Page(NamedTuple):
    """Everything the page shows."""

    scope: SessionScope
    sessions: list[SessionRow]
    total: int
    today: int
    open_work: list[CheckpointRow]
    learned: list[Memory]
    waiting: int
    unapproved: int  # checkpoints that came with a repository
    health: str
    agents: list[Inventory]
    is_connected: bool
    query: str  # finds one of the user's own sessions

    @property
    def next_steps(self) -> list[tuple[str, str]]:
        """Commands to try, and what they do."""
        steps = [] if self.is_connected else [("told install", "connect these agents")]
        if self.waiting:
            steps.append(("told review", "decide on what told learned"))
        if self.unapproved:
            many = count(self.unapproved, "checkpoint")
            steps.append(("told checkpoints", f"approve {many} from the repository"))
        if self.query:
            steps.append((f'told search "{self.query}"', "search your past sessions"))
        return [*steps, ("told help", "list all commands")]


def home(context: Context, arguments: Arguments) -> None:
    """Print the page."""
    with MemoryView(context) as view:
        page = _collect(view, arguments)
        if context.as_json:
            context.print_json(_json(view, page))
        elif not page.total and not context.left:
            _print_nothing_yet(context, page)
        else:
            _print(view, page)


def _collect(view: MemoryView, arguments: Arguments) -> _Page:
    context = view.context
    mine = Filter(helpers=False)
    scope, sessions = query_here_or_everywhere(
        context, arguments,
        lambda wanted: context.reading.sessions(wanted._replace(helpers=False), _QUERY_FROM),
    )  # fmt: skip
    notes = context.reading.checkpoints(scope.filter._replace(since=0), 20)
    scopes = active_scopes(view.memories, view.project)
    found = list_memories(
        view.memories, MemoryFilter(scopes, "", ACTIVE, observations=False), context.now, 50
    )
    learned = [one for one in found if context.now - one.updated < _WEEK_MS and _is_learned(one)]
    stored = StoreStatus(context.connection).inventory().values()
    today = scope.filter._replace(since=context.parse_time("today"), helpers=False)
    return _Page(
        scope, sessions[:_SESSIONS], context.reading.count(mine), context.reading.count(today),
        [note for note in notes if note.status == "open"][:_NOTES], learned[:_LEARNED],
        len(find_review_items(view.memories, view.writer.journal, scopes)),
        sum(note.status == UNAPPROVED for note in notes), health_sentence(context),
        [one for one in stored if one.files or one.sessions], bool(Ledger(context.home).installed()),
        _suggest_query(sessions[_SESSIONS:] or sessions),
    )  # fmt: skip


def _is_learned(memory: Memory) -> bool:
    return any(one.session for one in memory.evidence)


def _suggest_query(rows: Sequence[SessionRow]) -> str:
    """Return words of one of some sessions that find it again."""
    best = ""
    for row in rows:
        words = [word for word in _WORD.findall(session_summary(row)) if find_keywords(word)]
        if len(words) >= _QUERY_WORDS:
            return " ".join(words[:_QUERY_WORDS])
        best = max(best, " ".join(words), key=len)
    return best


def _json(view: MemoryView, page: _Page) -> dict[str, object]:
    context = view.context
    return {
        "project": page.scope.name if page.scope.project else None, "sessions_total": page.total,
        "sessions_today": page.today, "unread_files": context.left,
        "sessions": [session_json(context, row) for row in page.sessions],
        "open_work": [
            {"id": note.public, "title": context.fence.inline(note.title),
             "next": context.fence.inline(next_line(note)), "trust": "agent"}
            for note in page.open_work
        ],
        "learned": view.json_rows(page.learned), "waiting": page.waiting, "health": page.health,
        "connected": page.is_connected,
        "agents": [
            {"agent": one.agent, "sessions": one.sessions, "turns": one.turns, "files": one.files}
            for one in page.agents
        ],
        "next": [command for command, _ in page.next_steps],
    }  # fmt: skip


def _print(view: MemoryView, page: _Page) -> None:
    context = view.context
    if not page.is_connected:
        _print_agents(context, page)
    today = f"{page.today} today, " if page.today else ""
    _heading(context, "Latest sessions", f"{today}{count(page.total, 'session')} in all; {page.scope.title}")
    if context.is_at_terminal:
        with_project = page.scope.project is None
        context.show(session_table(context, page.sessions, with_project=with_project))
    elif page.sessions:
        rows = [session_row(context, row, 50) for row in page.sessions]
        context.print(context.fence.block("\n".join(rows)))
    print_unread(context)
    if page.open_work:
        _heading(context, "Open work")
        steps = [next_line(note) for note in page.open_work]
        if context.is_at_terminal:
            context.show(checkpoint_table(context, page.open_work, steps))
        else:
            rows = [
                f"{note.public} {note.title}. {step}"
                for note, step in zip(page.open_work, steps, strict=True)
            ]
            context.print(context.fence.block("\n".join(rows)))
    waiting = f"{memory_count(page.waiting)} to decide on: `told review`" if page.waiting else ""
    if page.learned or waiting:
        _heading(context, "Learned this week", waiting)
        print_memories(view, page.learned)
    _heading(context, "Health", page.health)
    if page.is_connected and not context.settings.reads_sessions and context.settings.learn:
        context.print(READER_HINT)
    _print_next(context, page)


def _print_agents(context: Context, page: _Page) -> None:
    known = all_agents()
    _heading(context, "Agents found", "not connected yet: `told install`")
    rows = [
        (known[one.agent].title if one.agent in known else one.agent, f"{one.sessions:,}", f"{one.turns:,}")
        for one in page.agents
    ]
    if context.is_at_terminal:
        columns = (Column("AGENT"), Column("SESSIONS", right=True), Column("TURNS", right=True))
        context.show(Table(columns, rows))
    else:
        for title, sessions, turns in rows:
            context.print(f"{title}: {sessions} sessions, {turns} turns")


def _print_nothing_yet(context: Context, page: _Page) -> None:
    context.print("told remembers what you teach your coding agents, and searches all their sessions.")
    context.print()
    context.print("No agent has any history here yet. `told agents` shows where told looks.")
    if not page.is_connected:
        context.print("`told install` connects the agents on this machine; `told help` lists all commands.")


def _print_next(context: Context, page: _Page) -> None:
    if not context.is_at_terminal:
        context.print(f"Next: {', '.join(f'`{command}`' for command, _ in page.next_steps)}")
        return
    context.show(Heading("Next"))
    rows = [(Span(command, COMMAND), does) for command, does in page.next_steps]
    context.show(Table((Column(""), Column("", wraps=True, least=70)), rows))


def _heading(context: Context, text: str, note: str = "") -> None:
    if not context.is_at_terminal:
        context.print(f"{text}: {note}" if note else text)
    elif text == "Health":
        zone, _, rest = note.partition(" ")
        context.show("", Paragraph([Span("Health  ", BOLD), Span(zone, zone_style(zone)), Span(f" {rest}")]))
    else:
        context.show(Heading(text, note))
