"""One session, turn or memory as a page at a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from told.agents import label
from told.cli.context import Context, MemoryView, count, short_path, when
from told.cli.sessions import session_summary
from told.cli.terminal.blocks import (
    BOLD,
    DIM,
    ID,
    Block,
    Cell,
    Column,
    Heading,
    Paragraph,
    Span,
    Table,
    kind_style,
)
from told.cli.terminal.tables import agent_span
from told.memories.history import Step
from told.store.memories.records import USER, Evidence, Memory
from told.store.sessions.read import CheckpointRow, SessionRow, TurnRow
from told.text import relative_time, shorten

_FIELDS = (Column("", DIM), Column("", wraps=True))
_TOPIC, _NEXT = 200, 400  # characters
_FILES_SHOWN = 8


def session_page(
    context: Context, session: SessionRow, note: CheckpointRow | None, next_steps: str
) -> list[Block]:
    """Return the head of a session: topic, place, files, references, checkpoint."""
    files, refs = context.reading.files_of(session.id), context.reading.refs_of(session.id)
    rows: list[tuple[str, Cell]] = []
    if files:
        shown = [f"{short_path(path, session.cwd, 60)} ({how})" for path, how, _ in files[:_FILES_SHOWN]]
        more = f", {len(files) - _FILES_SHOWN} more" if len(files) > _FILES_SHOWN else ""
        rows.append(("Files", ", ".join(shown) + more))
    if refs:
        rows.append(("References", ", ".join(f"{kind} {value}" for kind, value, _ in refs[-5:])))
    if note is not None:
        status = f" ({note.status})" if note.status else ""
        rows.append(("Checkpoint", [Span(note.public, ID), Span(f"{status} {shorten(next_steps, _NEXT)}")]))
    return [*session_title(context, session), *([Table(_FIELDS, rows)] if rows else [])]


def session_title(context: Context, session: SessionRow) -> list[Block]:
    """Return a session's topic, and below it where and when it was."""
    place = f"{session.project or 'no project'}{f'@{session.branch}' if session.branch else ''}"
    facts = [place, count(session.turns, "turn"), relative_time(session.ended, context.now)]
    facts += [session.kind] if session.kind else []
    facts += ["archived"] if session.archived else []
    head = [Span(session.public, ID), Span("  "), agent_span(session.agent)]
    head += [Span(f"  {' · '.join(facts)}"), Span(f"  {session.native}", DIM)]
    topic = shorten(session_summary(session), _TOPIC)
    return [*([Paragraph(Span(topic, BOLD))] if topic else []), Paragraph(head)]


def turn_blocks(
    context: Context, session: SessionRow, turn: TurnRow, texts: Sequence[tuple[str, str]]
) -> list[Block]:
    """Return one exchange; `texts` are (who, text), with who empty for the agent's steps."""
    blocks: list[Block] = [Heading(f"{session.public}.{turn.n}", when(turn.at, context.now))]
    for who, text in texts:
        style = "hit" if who in ("you", "helper task") else "" if who else DIM
        agent = agent_span(session.agent) if who == label(session.agent) else Span(who, style)
        if who:
            blocks.append(Paragraph(agent))
        lines = text.strip("\n").split("\n")
        blocks += [Paragraph(Span(line, "" if who else DIM), 2, _indent(line)) for line in lines]
    return blocks


def _indent(line: str) -> int:
    return min(12, len(line) - len(line.lstrip(" -*")))


def memory_page(
    view: MemoryView, memory: Memory, earlier: Sequence[Memory], later: Sequence[Memory], notes: Sequence[str]
) -> list[Block]:
    """Return a memory with its evidence and what it replaced."""
    now = view.context.now
    facts = [view.scope(memory), memory.status, *(["locked"] if memory.locked else [])]
    facts += ["said by you" if memory.trust == USER else f"said by {memory.trust}"]
    facts += [f"confidence {memory.confidence:.2f}"]
    head = [Span(memory.id, ID), Span("  "), Span(memory.kind_name, kind_style(memory.kind))]
    rows: list[tuple[str, Cell]] = []
    for one in memory.evidence:
        head_line = f"{relative_time(one.at, now)}, {_evidence_place(one)}"
        rows.append(("Evidence", [Span(f"{head_line}\n", DIM), Span(f"“{shorten(one.quote, 300)}”")]))
    for name, chain in (("Replaced", earlier), ("Replaced by", later)):
        for other in chain:
            text = [
                Span(other.id, ID),
                Span(f" {view.text(other, 300)} "),
                Span(relative_time(other.created, now), DIM),
            ]
            rows.append((name, text))
    times = f"{count(memory.shown, 'time')}, last {relative_time(memory.shown_last, now)}"
    rows.append(("Shown", times if memory.shown else "never"))
    return [
        Paragraph(Span(view.text(memory), BOLD)), Paragraph([*head, Span(f"  {' · '.join(facts)}")]),
        *map(Paragraph, notes), Table(_FIELDS, rows),
    ]  # fmt: skip


def _evidence_place(one: Evidence) -> str:
    """Return where a memory was said."""
    if one.agent == "terminal":
        return "typed at the terminal"
    if one.agent == "file":
        return f"{one.session.partition('#')[0]}:{one.turn}"  # what follows tells apart statements of a file
    where = label(one.agent) if one.agent else "unknown"
    return f"{where} {one.session}.{one.turn}" if one.session else where


def history_table(view: MemoryView, steps: Sequence[Step]) -> Table:
    """Return the operations on a memory."""
    columns = (
        Column("WHEN", DIM),
        Column("CHANGE"),
        Column("BY"),
        Column("CONFIDENCE", right=True, least=50),
    )
    rows = [
        (relative_time(step.operation.at, view.context.now),
         step.operation.kind + (" (undone)" if step.undone else ""), step.operation.by,
         f"{step.confidence:.2f}")
        for step in steps
    ]  # fmt: skip
    return Table(columns, rows)
