"""`told show`, `told why`, `told evolution` and `told diff`."""

from __future__ import annotations

from typing import Any

from told.agents import label
from told.cli.arguments import Arguments
from told.cli.checkpoint_lines import join_lines
from told.cli.checkpoint_show import checkpoint_json, print_checkpoint
from told.cli.context import MOST_MATCHES, Context, MemoryView, count, cut, cut_line, iso, short_path, when
from told.cli.guard import guard_json, print_guard
from told.cli.moving.machines import divergence_json, divergence_notes
from told.cli.sessions import (
    file_json,
    find_session,
    find_turn,
    is_memory_id,
    session_head,
    session_json,
    session_summary,
)
from told.cli.terminal.blocks import Heading
from told.cli.terminal.pages import history_table, memory_page, session_page, session_title, turn_blocks
from told.errors import NotFoundError, UsageError
from told.memories.history import (
    Step,
    changes_since,
    find_lineage,
    find_predecessors,
    find_successors,
    read_history,
)
from told.memories.quotes import find_text_before
from told.memories.scopes import MemoryFilter, find_memories, list_memories
from told.store.memories.records import ARCHIVED, CANDIDATE, SUPERSEDED, UNCONFIRMED, Evidence, Memory
from told.store.sessions.read import Filter, SessionRow, TurnRow

_SHOW_BYTES = 1900  # of a short session: 500 tokens
_SHORT_TURNS = 3
_EXCERPT = 600  # bytes of a text at a terminal
_SHORT_FILES = 6
_LOST = "(Its text is gone: the agent deleted the file, and there was no space for a copy.)"
# Who wrote the prompts of a session, by its kind; others are of helpers.
_ASKED_BY = {"": "you", "agent": "another agent", "repository": "the repository"}


def show(context: Context, arguments: Arguments) -> None:
    """Print the session, turn, checkpoint or memory with an id."""
    wanted = arguments.operands[0].strip()
    base, _, number = wanted.partition(".")
    if wanted.startswith("c") and (notes := context.reading.checkpoints_like(wanted, MOST_MATCHES)):
        exact = [note for note in notes if note.public == wanted]
        others = [row.native for row in context.reading.sessions_like(wanted, 1)]
        if not exact and len(notes) + len(others) > 1:
            choices = ", ".join([*(note.public for note in notes), *map(context.name, others)])
            raise UsageError(f"{wanted!r} matches {choices}. Give more of it.")
        print_checkpoint(context, (exact or notes)[0], arguments)
        return
    if is_memory_id(context, wanted):
        why(context, arguments)
        return
    session = find_session(context, base, wanted)
    if not context.as_json and context.reading.is_lost(session.id):
        context.print(_LOST)
    if number:
        _show_turn(context, session, number, arguments)
        return
    if context.as_json:
        context.print_json(_session_json(context, session, arguments))
    elif arguments.flag("turns") or arguments.flag("full"):
        _print_all_turns(context, session, full=arguments.flag("full"))
    else:
        _print_short(context, session)


def _print_short(context: Context, session: SessionRow) -> None:
    head = _head(context, session)
    refs = context.reading.refs_of(session.id)
    files = context.reading.files_of(session.id)
    notes = context.reading.checkpoints(Filter(), 1, session_id=session.id)
    turns = context.reading.turns(session.id, _SHORT_TURNS, newest=True)
    if context.is_at_terminal:
        note = notes[0] if notes else None
        steps = join_lines(note.next_steps or note.overview) or note.title if note else ""
        context.show(*session_page(context, session, note, steps))
        if session.turns > len(turns):
            context.print(
                f"({count(session.turns - len(turns), 'earlier turn')}: `told show {session.public} --turns`)"
            )
        for turn in turns:
            _show_exchange(context, session, turn, most=_EXCERPT)
        return
    lines = []
    title = session_summary(session)
    if title:
        lines.append(f"about: {cut(title, 200)}")
    if files:
        shown = [f"{short_path(path, session.cwd, 40)} ({how})" for path, how, _ in files[:_SHORT_FILES]]
        more = f" +{len(files) - _SHORT_FILES}" if len(files) > _SHORT_FILES else ""
        lines.append(f"files: {', '.join(shown)}{more}")
    if refs:
        lines.append("refs: " + ", ".join(f"{kind} {cut(value, 40)}" for kind, value, _ in refs[-5:]))
    if notes:
        next_steps = join_lines(notes[0].next_steps or notes[0].overview) or notes[0].title
        status = f" {notes[0].status}" if notes[0].status else ""
        lines.append(f"checkpoint {notes[0].public}{status}: {cut(next_steps, 240)}")
    skipped = session.turns - len(turns)
    if skipped > 0:
        lines.append(f"({count(skipped, 'earlier turn')}: --turns)")
    used = len(head.encode()) + sum(len(line.encode()) + 1 for line in lines) + 60
    room = max(120, (_SHOW_BYTES - used) // max(1, len(turns)) - 40)
    for turn in turns:
        lines += _turn_lines(context, session, turn, asked=room // 3, answered=room - room // 3)
    context.print(context.fence.block("\n".join([head, *lines])))


def _show_exchange(
    context: Context, session: SessionRow, turn: TurnRow, *, most: int = 0, steps: bool = False
) -> None:
    """Show one exchange at a terminal, its texts cut to `most` characters if given."""
    texts = [(_ASKED_BY.get(session.kind, "helper task"), turn.asked)] if turn.asked else []
    if turn.steps and (steps or not turn.answered):
        texts.append(("", turn.steps))
    if turn.answered:
        texts.append((label(session.agent), turn.answered))
    if most:
        texts = [(who, _both_ends(text, most)) for who, text in texts]
    context.show(*turn_blocks(context, session, turn, texts))


def _turn_lines(context: Context, session: SessionRow, turn: TurnRow, asked: int, answered: int) -> list[str]:
    lines = [f".{turn.n} {when(turn.at, context.now)}"]
    if turn.asked:
        by = _ASKED_BY.get(session.kind, "helper task")
        lines.append(f"  {by}: {cut_line(turn.asked, asked)}")
    text = turn.answered or turn.steps
    if text:
        # The end of an answer has the outcome.
        lines.append(f"  {label(session.agent)}: {_both_ends(text, answered)}")
    return lines


def _both_ends(text: str, room: int) -> str:
    text = " ".join(text.split())
    if len(text.encode()) <= room:
        return text
    end = text.encode()[-(room // 2) :].decode("utf-8", "ignore")
    return f"{cut(text, room - room // 2)} {end[end.find(' ') + 1 :]}"


def _print_all_turns(context: Context, session: SessionRow, *, full: bool) -> None:
    turns = context.reading.turns(session.id)
    if context.is_at_terminal:
        context.show(*session_title(context, session))
        for turn in turns:
            _show_exchange(context, session, turn, most=0 if full else _EXCERPT, steps=full)
        return
    if not full:
        lines = [_head(context, session)]
        for turn in turns:
            lines += _turn_lines(context, session, turn, 160, 240)
        context.print(context.fence.block("\n".join(lines)))
        return
    context.print(context.fence.block(_head(context, session)))
    for turn in turns:
        _print_turn(context, session, turn, steps=True)


def _print_turn(context: Context, session: SessionRow, turn: TurnRow, *, steps: bool) -> None:
    context.print(f".{turn.n} {when(turn.at, context.now)}")
    if turn.asked:
        context.print(context.fence.block(turn.asked, "agent" if session.kind else "user"))
    if turn.steps and steps:
        context.print(context.fence.block(turn.steps))
    if turn.answered:
        context.print(context.fence.block(turn.answered))


def _show_turn(context: Context, session: SessionRow, number: str, arguments: Arguments) -> None:
    turn = find_turn(context, session, number)
    if context.as_json:
        context.print_json(_turn_json(context, session, turn, full=True) | {"session": session.public})
        return
    if context.is_at_terminal:
        context.show(*session_title(context, session))
        _show_exchange(context, session, turn, steps=arguments.flag("full"))
        return
    context.print(context.fence.block(_head(context, session)))
    _print_turn(context, session, turn, steps=arguments.flag("full"))


def _head(context: Context, session: SessionRow) -> str:
    kind = f" {session.kind}" if session.kind else ""
    archived = " archived" if session.archived else ""
    return f"{session_head(context, session)}{kind}{archived} ({session.native})"


def _session_json(context: Context, session: SessionRow, arguments: Arguments) -> dict[str, Any]:
    fence = context.fence.inline
    full = arguments.flag("full")
    turns = context.reading.turns(
        session.id, -1 if full or arguments.flag("turns") else _SHORT_TURNS, newest=True
    )
    return session_json(context, session) | {
        **({"lost": True} if context.reading.is_lost(session.id) else {}),
        "turns_shown": [_turn_json(context, session, turn, full=full) for turn in turns],
        "files": [
            file_json(context, path, session.cwd) | {"how": how, "at": iso(at), "trust": "agent"}
            for path, how, at in context.reading.files_of(session.id)[: None if full else 20]
        ],
        "refs": [
            {"kind": kind, "value": fence(value), "at": iso(at), "trust": "agent"}
            for kind, value, at in context.reading.refs_of(session.id)
        ],
        "checkpoints": [
            checkpoint_json(context, note, full=full)
            for note in context.reading.checkpoints(Filter(), 20, session_id=session.id)
        ],
    }


def _turn_json(context: Context, session: SessionRow, turn: TurnRow, *, full: bool) -> dict[str, Any]:
    fence = context.fence
    asked = turn.asked if full else cut_line(turn.asked, 300)
    answered = turn.answered if full else _both_ends(turn.answered, 400)
    shown: dict[str, Any] = {"id": f"{session.public}.{turn.n}", "at": iso(turn.at)}
    if asked:
        trust = "agent" if session.kind else "user"
        shown["asked"] = {
            "text": fence.defuse(asked) if trust == "user" else fence.block(asked),
            "trust": trust,
        }
    if answered:
        shown["answered"] = {"text": fence.block(answered), "trust": "agent"}
    if full and turn.steps:
        shown["steps"] = {"text": fence.block(turn.steps), "trust": "agent"}
    return shown


_STEPS_SHOWN = 40
_BEFORE_ROOM = 300  # characters of the agent's text before a quote


def why(context: Context, arguments: Arguments) -> None:
    """Print a memory's evidence, what it replaced, and its history."""
    with MemoryView(context) as view:
        memory = view.find_one(arguments.phrase, any_status=True)
        earlier, later = find_predecessors(view.memories, memory.id), find_successors(view.memories, memory)
        steps = read_history(view.writer.journal, memory.id)
        before = find_text_before(context.reading, memory, _BEFORE_ROOM)
        if context.as_json:
            shown = view.memories.sessions_showing(memory.id)
            context.print_json(view.json(memory) | {
                "evidence": [_evidence_json(view, memory, one) for one in memory.evidence],
                "supersedes": view.json_rows(earlier), "superseded_by_all": view.json_rows(later),
                "shown_in": [{"session": name, "at": iso(at)} for name, at in shown.items()],
                "followed": memory.followed, "guard": guard_json(context, memory),
                "history": [_step_json(one) for one in steps],
                "machines": divergence_json(view, memory),
                "said_after": context.fence.inline(before) if before else None,
            })  # fmt: skip
            return
        notes = [*_status_notes(memory), *divergence_notes(view, memory)]
        notes += [f"Said after: {context.fence.inline(before)}"] if before else []
        if context.is_at_terminal:
            context.show(*memory_page(view, memory, earlier, later, notes))
            print_guard(context, memory)
            context.show(Heading("History"), history_table(view, steps[-_STEPS_SHOWN:]))
            return
        locked = ", locked" if memory.locked else ""
        context.print(
            f"{memory.id} {memory.kind_name}, {view.scope(memory)}, {memory.status}{locked},"
            f" said by {memory.trust}, confidence {memory.confidence:.2f}"
        )
        context.print(view.text(memory))
        print_guard(context, memory)
        for note in notes:
            context.print(note)
        for place in memory.evidence:
            context.print(_evidence_row(view, memory, place))
        for head, chain in (("replaced", earlier), ("replaced by", later)):
            for one in chain:
                context.print(f"{head}: {view.row(one)}")
        times = f"{memory.shown}, last {when(memory.shown_last, context.now)}" if memory.shown else "never"
        context.print(f"shown: {times}")
        if len(steps) > _STEPS_SHOWN:
            context.print(f"({len(steps) - _STEPS_SHOWN} earlier operations: --json)")
        for step in steps[-_STEPS_SHOWN:]:
            context.print(_step_row(context, step))


def _status_notes(memory: Memory) -> list[str]:
    """Return what to do about a memory that agents do not see."""
    if memory.status == ARCHIVED:
        return [f"It was archived as unused; `told retention restore {memory.id}` restores it."]
    if memory.status not in UNCONFIRMED:
        return []
    hint = f"`told confirm {memory.id}` makes it a memory"
    hint += f", `told reject {memory.id}` dismisses it" if memory.status == CANDIDATE else ""
    return [f"Agents do not see it. {hint}."]


def _evidence_row(view: MemoryView, memory: Memory, one: Evidence) -> str:
    context = view.context
    where = context.name(label(one.agent)) if one.agent else "unknown"
    where = "typed at the terminal" if one.agent == "terminal" else where
    place = f" {context.name(f'{one.session}.{one.turn}')}" if one.session else ""
    if one.agent == "file":
        path = one.session.partition("#")[0]  # what follows tells apart statements of one file
        place = f" {context.name(f'{path}:{one.turn}')}"
    quote = view.context.fenced(cut(one.quote, 200), memory.trust)
    return f"evidence: {when(one.at, context.now)} {where}{place}: {quote}"


def _evidence_json(view: MemoryView, memory: Memory, one: Evidence) -> dict[str, Any]:
    return {
        "agent": one.agent, "session": one.session or None, "turn": one.turn if one.session else None,
        "quote": view.context.fenced(one.quote, memory.trust), "at": iso(one.at), "trust": memory.trust,
    }  # fmt: skip


def _step_row(context: Context, step: Step) -> str:
    one = step.operation
    payload = one.payload or {}
    other = str(payload.get("by") or "") if one.kind == "supersede" else ""
    reason = str(payload.get("why") or "")
    detail = (f" by {other}" if other else "") + (f" ({reason})" if reason else "")
    undone = ", undone" if step.undone else ""
    head = f"{when(one.at, context.now)} {one.kind} by {one.by}"
    return f"{head}, confidence {step.confidence:.2f}{undone}{detail}"


def _step_json(step: Step) -> dict[str, Any]:
    one = step.operation
    return {
        "at": iso(one.at), "what": one.kind, "by": one.by, "confidence": step.confidence,
        "undone": step.undone,
    }  # fmt: skip


def evolution(context: Context, arguments: Arguments) -> None:
    """Print how the memories on a topic changed, oldest first."""
    given = arguments.phrase
    with MemoryView(context) as view:
        found = [one for one in find_memories(view.memories, given, view.scopes, context.now) if one.text]
        if not (len(found) == 1 and found[0].id.startswith(given)):
            wanted = MemoryFilter(view.scopes, "", SUPERSEDED, words=given)
            found += list_memories(view.memories, wanted, context.now, 20)
        lineage = find_lineage(view.memories, found)
        if context.as_json:
            context.print_json({"count": len(lineage), "memories": view.json_rows(lineage)}, found=lineage)
            return
        if not lineage:
            raise NotFoundError(f"No memory matches {cut(given, 60)!r}. `told memories` lists them.")
        for one in lineage:
            successor = f" -> {one.superseded_by}" if one.superseded_by else ""
            context.print(f"{view.row(one)}{successor}")


def diff(context: Context, arguments: Arguments) -> None:
    """Print changes to memories since a time."""
    since = context.parse_time(arguments.phrase)
    with MemoryView(context) as view:
        changes = changes_since(view.writer.journal, since)
        known = view.memories.get(change.memory for change in changes)
        known = {name: one for name, one in known.items() if one.status not in UNCONFIRMED}
        wanted = [one for one in changes if one.memory in known]
        if not arguments.flag("all-projects"):
            scopes = view.scopes
            wanted = [
                one for one in wanted if known[one.memory].scope in scopes or not known[one.memory].text
            ]
        if context.as_json:
            rows = [view.json(known[one.memory]) | {"what": list(one.what), "at": iso(one.at)}
                    for one in wanted]  # fmt: skip
            context.print_json({"count": len(rows), "since": iso(since), "changes": rows}, found=rows)
            return
        if not wanted:
            raise NotFoundError(f"No memory has changed since {when(since, context.now)}.")
        for one in wanted:
            context.print(f"{', '.join(one.what)}: {view.row(known[one.memory])}")
