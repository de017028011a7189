"""Show the results of a search: rows within a size, and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

from told.agents import label
from told.cli.checkpoint_lines import checkpoint_line
from told.cli.context import Context, cut, iso, short_home, when
from told.cli.sessions import session_json, session_row, session_summary
from told.cli.terminal.blocks import BOLD, DIM, ID, Cell, Column, Span, Table, kind_style, marked
from told.cli.terminal.tables import agent_span
from told.recall.search import MemoryMatch
from told.recall.unconfirmed import is_unconfirmed
from told.search.excerpt import highlight, make_excerpt
from told.search.rank import RankedTurn, SessionGroup
from told.store.memories.names import ACTIVE, describe_scope, format_scope, project_key
from told.store.sessions.read import CheckpointRow, Filter, SessionRow
from told.store.sessions.schema import FIRST_NOTE, TITLE
from told.text import relative_time

Found = MemoryMatch | SessionGroup
SEARCH_BYTES = 1380  # of five results: 350 tokens
_LEAST_EXCERPT, MOST_EXCERPT = 30, 200
_LEAST_MEMORY, _MOST_MEMORY = 70, 300


class _Hit(NamedTuple):
    """What is shown of a session."""

    place: str
    who: str
    excerpt: str
    ranges: Sequence[tuple[int, int]] = ()  # of the words in it
    trust: str = "agent"
    note: CheckpointRow | None = None

    @property
    def text(self) -> str:
        """The excerpt with the words marked."""
        return highlight(self.excerpt, self.ranges, "*", "*")


class ResultRows:
    """Shows memories and sessions for one question."""

    def __init__(self, context: Context, words: tuple[str, ...], here: str) -> None:
        """Take the words to mark, and the scope of the current project."""
        self._context = context
        self._words = words
        self._here = here

    def format(self, found: Sequence[Found], most: int) -> list[str]:
        """Return the results in order, sessions fenced, in about `most` bytes; 0 for any size."""
        room = _MOST_MEMORY
        lines = self._format(found, room)
        for _ in range(4):  # marks and letters of several bytes make a text longer than its room
            size = sum(len(line.encode()) + 1 for line in lines)
            if not most or size <= most or room == _LEAST_EXCERPT:
                break
            shown = len(found) * min(room, MOST_EXCERPT)
            room = max(_LEAST_EXCERPT, min(room, MOST_EXCERPT) * max(0, shown - size + most) // shown - 2)
            lines = self._format(found, room)
        return lines

    def _format(self, found: Sequence[Found], room: int) -> list[str]:
        lines = []
        for is_memory, some in groupby(found, lambda one: isinstance(one, MemoryMatch)):
            if is_memory:
                lines += [self.memory_row(one, room) for one in some if isinstance(one, MemoryMatch)]
            else:
                rows = [self._session_rows(one, room) for one in some if isinstance(one, SessionGroup)]
                lines.append(self._context.fence.block("\n".join(rows)))
        return lines

    def table(self, found: Sequence[Found]) -> Table:
        """Return the results as a table for a terminal, with the words highlighted."""
        columns = (
            Column("WHEN", DIM), Column("ID", ID), Column("FROM"), Column("FOUND", wraps=True),
        )  # fmt: skip
        rows = [
            self._memory_cells(one) if isinstance(one, MemoryMatch) else self._session_cells(one)
            for one in found
        ]
        return Table(columns, rows)

    def _memory_cells(self, one: MemoryMatch) -> list[Cell]:
        memory = one.memory
        marks = ["locked"] * memory.locked + [memory.status] * (memory.status != ACTIVE)
        excerpt, ranges = make_excerpt(self._context.memory_text(memory), self._words, _MOST_MEMORY)
        end = [Span(f"  ({', '.join(marks)})", DIM)] if marks else []
        when = relative_time(memory.created, self._context.now)
        kind = Span(memory.kind_name, kind_style(memory.kind))
        return [when, memory.id, kind, [*marked(excerpt, ranges), *end]]

    def _session_cells(self, group: SessionGroup) -> list[Cell]:
        row = self._context.reading.session(group.session)
        hit = self._make_hit(row, group.turns[0], MOST_EXCERPT)
        more = f"  +{len(group.turns) - 1} more" if len(group.turns) > 1 else ""
        topic = cut(session_summary(row), 100)
        text = [*marked(hit.excerpt, hit.ranges), Span(more, DIM)]
        if topic and topic[:40] not in hit.excerpt:
            text = [Span(f"{topic}\n", BOLD), *text]
        place = f"{row.public}{hit.place}" if hit.place.startswith(".") else row.public
        when = relative_time(group.turns[0].at or row.ended, self._context.now)
        return [when, place, agent_span(row.agent), text]

    def memory_row(self, one: MemoryMatch, room: int = _MOST_MEMORY) -> str:
        """Return a memory in one line, others' words fenced."""
        context, memory = self._context, one.memory
        room = max(_LEAST_MEMORY, room)
        marks = [memory.kind_name, context.name(describe_scope(memory.scope, self._here))]
        marks += ["locked"] if memory.locked else []
        marks += [memory.status] if memory.status != ACTIVE else []
        marks += [f"by {memory.superseded_by}"] if memory.superseded_by else []
        head = f"{when(memory.created, context.now)} {memory.id} {' '.join(marks)}"
        is_marked = is_unconfirmed(memory) and not context.caller.is_user
        end = " (saved by an agent, unconfirmed)" if is_marked else ""
        return f"{head}: {context.memory_text(memory._replace(context=cut(memory.context, room)), room)}{end}"

    def _session_rows(self, group: SessionGroup, room: int) -> str:
        context = self._context
        row = context.reading.session(group.session)
        head = session_row(context, row, 40)
        hit = self._make_hit(row, group.turns[0], min(room, MOST_EXCERPT))
        more = f" (+{len(group.turns) - 1})" if len(group.turns) > 1 else ""
        if hit.note is not None and hit.note.path:
            more = f" {short_home(context, hit.note.path)}{more}"
        return f"{head}\n  {hit.place} {hit.who}: {hit.text}{more}"

    def memory_json(self, one: MemoryMatch, rank: int) -> dict[str, Any]:
        """Return a memory for JSON."""
        context, memory = self._context, one.memory
        project = project_key(memory.scope)
        return {
            "rank": rank, "id": memory.id, "text": context.fenced(memory.text, memory.trust),
            "trust": memory.trust, "kind": memory.kind, "marks": list(memory.marks),
            "context": memory.context or None,
            "scope": format_scope(memory.scope),
            "project": context.name(project) or None, "status": memory.status, "locked": memory.locked,
            "created": iso(memory.created), "superseded_by": memory.superseded_by or None,
            "score": one.score, **({"unconfirmed": True} if is_unconfirmed(memory) else {}),
        }  # fmt: skip

    def session_json(self, group: SessionGroup, rank: int) -> dict[str, Any]:
        """Return a session with its hits for JSON."""
        context = self._context
        row = context.reading.session(group.session)
        hits = []
        for turn in group.turns:
            hit = self._make_hit(row, turn, MOST_EXCERPT)
            where = f"{row.public}{hit.place}" if hit.place.startswith(".") else row.public
            shown = context.fenced(hit.text, hit.trust)
            one = {"id": where, "who": hit.who, "at": iso(turn.at), "excerpt": shown, "trust": hit.trust}
            if hit.note is not None:
                one |= {"id": hit.note.public, "who": "checkpoint"}
                one |= {"status": hit.note.status, "path": hit.note.path} if hit.note.path else {}
            hits.append(one)
        return {"rank": rank} | session_json(context, row) | {"score": group.score, "hits": hits}

    def _make_hit(self, row: SessionRow, hit: RankedTurn, room: int) -> _Hit:
        context, words = self._context, self._words
        turn = context.reading.turn(row.id, hit.n)
        if turn is None:
            return _Hit("", "", "")
        if hit.n == TITLE:
            who = "you" if row.title_by == "user" else label(row.agent)
            return _Hit("title", who, *make_excerpt(turn.answered, words, room), row.title_by)
        if hit.n <= FIRST_NOTE:
            notes = context.reading.checkpoints(Filter(), -1, session_id=row.id)
            note = next((one for one in notes if one.number == FIRST_NOTE - hit.n), None)
            if note is None:
                return _Hit("", "checkpoint", *make_excerpt(turn.answered, words, room))
            excerpt, ranges = make_excerpt(checkpoint_line(note), words, room)
            return _Hit(note.public, f"{note.status} checkpoint".strip(), excerpt, ranges, note=note)
        asked_by = "agent" if row.kind else "user"
        texts = [(turn.asked, asked_by), (turn.answered, "agent"), (turn.steps, "agent")]
        shown = [(*make_excerpt(text, words, room), trust) for text, trust in texts if text]
        part, ranges, trust = max(
            shown, key=lambda option: len({option[0][a:b].lower() for a, b in option[1]})
        )
        who = "you" if trust == "user" else label(row.agent)
        return _Hit(f".{hit.n}", who, part, ranges, trust)
