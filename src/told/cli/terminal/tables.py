"""The tables of sessions, prompts, files and memories at a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from told.agents import bundled_names, label
from told.cli.context import Context, MemoryView, short_path
from told.cli.sessions import session_summary
from told.cli.terminal.blocks import (
    DIM,
    ID,
    PROJECT_STYLE,
    Cell,
    Column,
    Span,
    Table,
    kind_style,
)
from told.store.memories.names import ACTIVE, USER
from told.store.sessions.read import CheckpointRow, SessionRow, TouchRow, TurnRow
from told.text import relative_time, shorten

if TYPE_CHECKING:
    from told.store.memories.records import Memory

_ID = Column("ID", ID)
_AGENT = Column("AGENT", least=50)
_PROJECT = Column("PROJECT", PROJECT_STYLE, least=60)


def agent_span(agent: str) -> Span:
    """Return an agent's short name in its colour."""
    known, package = bundled_names(), agent.replace("-", "_")
    return Span(label(agent), f"agent.{known.index(package)}" if package in known else "")


def session_table(context: Context, rows: Sequence[SessionRow], *, with_project: bool) -> Table:
    """Return a table of sessions."""
    columns = [Column("WHEN", DIM), _ID, _AGENT, *([_PROJECT] if with_project else [])]
    columns += [
        Column("BRANCH", DIM, least=120),
        Column("TURNS", right=True, least=100 if with_project else 70),
    ]
    shown = []
    for row in rows:
        cells: list[str | Span] = [relative_time(row.ended, context.now), row.public, agent_span(row.agent)]
        cells += [row.project or "-"] if with_project else []
        shown.append([*cells, row.branch, f"{row.turns:,}", session_summary(row)])
    return Table((*columns, Column("TOPIC", wraps=True)), shown)


def prompt_table(
    context: Context, turns: Sequence[TurnRow], sessions: dict[int, SessionRow], *, with_project: bool
) -> Table:
    """Return a table of the user's prompts."""
    columns = [Column("WHEN", DIM), _ID, _AGENT, *([_PROJECT] if with_project else [])]
    shown = []
    for turn in turns:
        session = sessions[turn.session_id]
        cells: list[str | Span] = [
            relative_time(turn.at, context.now), f"{session.public}.{turn.n}", agent_span(session.agent),
        ]  # fmt: skip
        cells += [session.project or "-"] if with_project else []
        shown.append([*cells, shorten(turn.asked, 300)])
    return Table((*columns, Column("PROMPT", wraps=True)), shown)


def file_table(context: Context, rows: Sequence[TouchRow], *, with_project: bool) -> Table:
    """Return a table of touched files."""
    columns = [Column("WHEN", DIM), Column("DONE"), Column("FILE", wraps=True)]
    columns += [_PROJECT] if with_project else []
    shown = []
    for row in rows:
        path = short_path(row.path, row.root, 200)
        project = [row.project or "-"] if with_project else []
        shown.append([relative_time(row.at, context.now), row.how, path, *project, row.session])
    return Table((*columns, Column("SESSION", ID, least=60)), shown)


def checkpoint_table(context: Context, notes: Sequence[CheckpointRow], next_steps: Sequence[str]) -> Table:
    """Return a table of checkpoints, each with its next step."""
    columns = (
        Column("WHEN", DIM), _ID, _AGENT, Column("STATUS", least=60), Column("CHECKPOINT", wraps=True),
    )  # fmt: skip
    shown: list[list[Cell]] = []
    for note, step in zip(notes, next_steps, strict=True):
        what: Cell = [Span(note.title or "(empty)")] + ([Span(f"\n{step}", DIM)] if step else [])
        when = relative_time(note.at, context.now)
        shown.append([when, note.public, agent_span(note.agent), note.status, what])
    return Table(columns, shown)


def memory_table(view: MemoryView, memories: Sequence[Memory]) -> Table:
    """Return a table of memories."""
    columns = (
        Column("SAID", DIM), _ID, Column("KIND"), Column("SCOPE", DIM, least=70),
        Column("MEMORY", wraps=True),
    )  # fmt: skip
    return Table(columns, [_memory_row(view, one) for one in memories])


def _memory_row(view: MemoryView, memory: Memory) -> list[str | Span | list[Span]]:
    text = [Span(view.text(memory, 400))]
    marks = ["locked"] * memory.locked + [memory.status] * (memory.status != ACTIVE)
    marks += [f"said by {memory.trust}"] * (memory.trust != USER)
    text += [Span(f"  ({', '.join(marks)})", DIM)] if marks else []
    when = relative_time(memory.created, view.context.now)
    kind = Span(memory.kind_name, kind_style(memory.kind))
    return [when, memory.id, kind, _short_scope(view.scope(memory)), text]


def _short_scope(name: str) -> str:
    """Return a scope's name without the host of its repository."""
    host, slash, rest = name.partition("/")
    return rest if slash and "." in host else name


def print_memories(view: MemoryView, found: list[Memory]) -> None:
    """Print memories as rows, or as a table at a terminal."""
    if view.context.is_at_terminal and found:
        view.context.show(memory_table(view, found))
        return
    for one in found:
        view.context.print(view.row(one))
