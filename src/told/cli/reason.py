"""`told reason` and `told wonder`: answer questions and explore topics from memories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from told.agents import label
from told.cli.arguments import Arguments
from told.cli.context import UNDO_HINT, Context, MemoryView, count, cut, day_of, iso, short_path
from told.cli.sessions import select_sessions
from told.errors import NotFoundError
from told.memories.remember import NewMemory, validate_text
from told.memories.scopes import parse_scope
from told.reasoning.answer import CONTESTED, DEPENDS, NO, SAID, UNKNOWN, YES, Answer, Argument
from told.reasoning.reason import reason as answer_question
from told.reasoning.turns import SearchScope, turn_id
from told.reasoning.wonder import DAYS, TopicReport, save_guess
from told.reasoning.wonder import wonder as explore_topic
from told.store.memories.records import SUPERSEDED, Memory
from told.store.sessions.match import TurnIndex
from told.store.sessions.schema import project_token
from told.text import fit_lines

_ANSWER_BYTES = 1600  # 400 tokens
_ROOMS = (160, 110, 80, 60, 45)  # bytes of a text; the widest that fits is used
# How many of each an answer shows.
_PIECES, _HISTORY, _PLACES = 3, 3, 2
_KNOWN, _CHANGES, _CONFLICTS, _PROPOSALS, _GUESSES, _SESSIONS = 6, 3, 3, 3, 2, 3
_PATH_BYTES = 48
_UNCLEAR = {
    UNKNOWN: "No clear answer",
    DEPENDS: "No clear answer, it depends",
    CONTESTED: "No clear answer, the evidence contradicts itself",
}


def reason(context: Context, arguments: Arguments) -> None:
    """Answer a question from memories."""
    question = arguments.phrase
    with MemoryView(context) as view:
        where = _search_scope(view, arguments)
        found = answer_question(
            view.memories, context.reading, TurnIndex(context.connection), question, where
        )
        if context.as_json:
            context.print_json(_answer_json(view, found), found=not found.nothing)
            return
        if found.nothing:
            raise NotFoundError(_nothing(view, found))
        for line in fit_lines(lambda room: _answer_lines(view, found, room), _ROOMS, _ANSWER_BYTES):
            context.print(line)


def _search_scope(view: MemoryView, arguments: Arguments) -> SearchScope:
    project = select_sessions(view.context, arguments).project
    return SearchScope(view.scopes, project_token(project.id) if project else "", view.context.now)


def _nothing(view: MemoryView, found: Answer) -> str:
    said = [f"No memory answers {cut(found.question.text, 60)!r}: {'; '.join(found.missing)}."]
    if found.places:
        said.append(f"Sessions mention it: `told show {view.context.name(found.places[0])}`.")
    said.append("`told remember TEXT` adds one.")
    rows = [f"before: {_ended_line(view, one, _ROOMS[0])}" for one in found.history[:_HISTORY]]
    return "\n".join([" ".join(said), *rows])


def _answer_lines(view: MemoryView, found: Answer, room: int) -> list[str]:
    context = view.context
    lines = [f"{cut(found.question.text, 60)!r}: {_verdict(found)}"]
    for side in found.sides:
        if not side.pieces:
            continue
        more = f" (+{len(side.pieces) - _PIECES}: --json)" if len(side.pieces) > _PIECES else ""
        lines.append(f"{side.name} {side.worth:.2f}{more}")
        for piece in side.pieces[:_PIECES]:
            lines += _piece(view, piece, room)
    for old, new, why in found.conflicts[:_PIECES]:
        lines.append(f"conflict: {old.id} / {new.id}: {why}")
    lines += [f"before: {_ended_line(view, one, room)}" for one in found.history[:_HISTORY]]
    lines += [f"missing: {one}" for one in found.missing]
    if found.places and found.verdict not in (YES, NO):
        lines.append(f"see: {', '.join(map(context.name, found.places))}")
    return lines


def _verdict(found: Answer) -> str:
    if found.verdict in _UNCLEAR:
        return _UNCLEAR[found.verdict]
    best = found.sides[0].pieces[:1] if found.verdict == SAID else ()
    said = f"see {best[0].memory.id}" if best else found.verdict.capitalize()
    return f"{said} (confidence {found.worth:.2f})"


def _piece(view: MemoryView, piece: Argument, room: int) -> list[str]:
    why = f" ({piece.via or piece.why})" if piece.via or piece.why else ""
    first = f"  {piece.worth:.2f} {_memory_line(view, piece.memory, room)}{why}"
    places = [_place(view, one.agent, one.session, one.turn, one.at) for one in piece.memory.evidence]
    places = list(dict.fromkeys(places))
    more = f" and {len(places) - _PLACES} more" if len(places) > _PLACES else ""
    return [first, f"    said {', '.join(places[:_PLACES])}{more}"] if places else [first]


def _memory_line(view: MemoryView, memory: Memory, room: int) -> str:
    marks = [memory.kind_name, *(["locked"] if memory.locked else [])]
    if memory.scope != view.project:
        marks.append(view.scope(memory))
    return f"{memory.id} {' '.join(marks)}: {view.text(memory, room)}"


def _ended_line(view: MemoryView, memory: Memory, room: int) -> str:
    """Return a superseded memory with its dates and what superseded it."""
    now = view.context.now
    by = f" by {memory.superseded_by}" if memory.superseded_by else ""
    ended = f" (superseded {day_of(memory.updated, now)}{by})" if memory.status == SUPERSEDED else ""
    return f"{day_of(memory.created, now)} {_memory_line(view, memory, room)}{ended}"


def _place(view: MemoryView, agent: str, session: str, turn: int, at: int) -> str:
    context = view.context
    day = day_of(at, context.now)
    if session:
        return f"{day} {context.name(label(agent))} {context.name(turn_id(context.reading, session, turn))}"
    return f"{day} at the terminal" if agent == "terminal" else f"{day} {context.name(label(agent))}"


def _answer_json(view: MemoryView, found: Answer) -> dict[str, Any]:
    context = view.context
    return {
        "question": found.question.text, "form": found.question.form, "verdict": found.verdict,
        "sure": found.worth, "count": sum(len(side.pieces) for side in found.sides),
        "sides": [
            {"name": side.name, "sure": side.worth,
             "evidence": [_piece_json(view, one) for one in side.pieces]}
            for side in found.sides
        ],
        "before": view.json_rows(found.history),
        "conflicts": _conflicts_json(view, found.conflicts),
        "edges": [{"from": one, "kind": kind, "to": other} for one, kind, other in found.edges],
        "missing": list(found.missing), "look": [context.name(one) for one in found.places],
    }  # fmt: skip


def _piece_json(view: MemoryView, piece: Argument) -> dict[str, Any]:
    context = view.context
    said = [
        {"agent": one.agent, "turn": context.name(turn_id(context.reading, one.session, one.turn)) or None,
         "at": iso(one.at)}
        for one in piece.memory.evidence
    ]  # fmt: skip
    return view.json(piece.memory) | {
        "worth": piece.worth, "why": piece.why or None, "via": piece.via or None, "said": said,
    }  # fmt: skip


def wonder(context: Context, arguments: Arguments) -> None:
    """Explore a topic, or save a guess about it."""
    topic = arguments.phrase
    with MemoryView(context) as view:
        if arguments["note"] is not None:
            _save_guess(view, arguments, topic)
            return
        where = _search_scope(view, arguments)
        found = explore_topic(
            view.memories,
            view.writer.journal,
            context.reading,
            TurnIndex(context.connection),
            topic,
            where=where,
        )
        if context.as_json:
            context.print_json(_topic_json(view, found), found=not found.nothing)
            return
        if found.nothing:
            raise NotFoundError(
                f"No memory or session is about {cut(topic, 60)!r}; `told remember TEXT` adds a memory."
            )
        for line in fit_lines(lambda room: _topic_lines(view, found, room), _ROOMS, _ANSWER_BYTES):
            context.print(line)


def _save_guess(view: MemoryView, arguments: Arguments, topic: str) -> None:
    context, caller, redact = view.context, view.caller, view.context.redact
    said = NewMemory(validate_text(redact(arguments.text("note"))), parse_scope("", view.project))
    if not caller.is_user:
        said = NewMemory(said.text, said.scope, trust="agent", agent=caller.agent, session=caller.session)
    made, again = save_guess(view.writer, redact(topic), said)
    what = "Extended" if again else "Saved"
    day = day_of(made.expires, context.now)
    hint = f" {UNDO_HINT}" if caller.is_user else ""
    context.report(
        f"{what} {made.id} as a guess for {DAYS} days, until {day}. No brief contains it.{hint}",
        view.json(made) | {"again": again, "expires": iso(made.expires)},
    )


def _topic_lines(view: MemoryView, found: TopicReport, room: int) -> list[str]:
    context = view.context
    now, sessions, files = context.now, found.spoken.sessions, found.spoken.files
    head = f"{cut(found.topic, 60)!r}: {len(found.known)} known"
    lines = [f"{head}, {count(len(sessions), 'session')}, {count(len(files), 'file')}"]
    lines += [f"  {day_of(one.created, now)} {_memory_line(view, one, room)}" for one in found.known[:_KNOWN]]
    if len(found.known) > _KNOWN:
        lines.append(f"  (+{len(found.known) - _KNOWN}: --json)")
    for change in found.changes[:_CHANGES]:
        times = f" {len(change.before)} times" if len(change.before) > 1 else ""
        back = ", and back" if change.back else ""
        lines.append(f"changed{times}{back}: {change.memory.id} (`told evolution {change.memory.id}`)")
        lines.append(f"  before: {_ended_line(view, change.before[-1], room)}")
    lines += [f"conflict: {old.id} / {new.id}: {why}" for old, new, why in found.conflicts[:_CONFLICTS]]
    for one in found.proposals[:_PROPOSALS]:
        lines.append(f"open: proposal {one.id} to {one.action} {one.memory}")
    if found.candidates:
        lines.append(f"open: {count(found.candidates, 'candidate')} to review (`told review`)")
    for guess in found.guesses[:_GUESSES]:
        lines.append(f"guess until {day_of(guess.expires, now)}: {guess.id} {view.text(guess, room)}")
    if sessions:
        lines.append(f"sessions: {', '.join(map(context.name, found.spoken.turns[:_SESSIONS]))}")
    if files:
        lines.append(f"touched: {', '.join(_path(context, one.path, one.folder) for one in files[:3])}")
    return lines


def _path(context: Context, path: str, folder: str) -> str:
    return context.name(short_path(path, folder, _PATH_BYTES))


def _topic_json(view: MemoryView, found: TopicReport) -> dict[str, Any]:
    context = view.context
    return {
        "topic": found.topic,
        "count": len(found.around.nodes),
        "known": view.json_rows(found.known),
        "edges": [{"from": one, "kind": kind, "to": other} for one, kind, other in found.around.edges],
        "conflicts": _conflicts_json(view, found.conflicts),
        "changed": [
            {"memory": view.json(one.memory), "back": one.back, "before": view.json_rows(one.before)}
            for one in found.changes
        ],
        "proposals": [
            {"id": one.id, "action": one.action, "memory": one.memory, "at": iso(one.at)}
            for one in found.proposals
        ],
        "candidates": found.candidates,
        "guesses": [view.json(one) | {"expires": iso(one.expires)} for one in found.guesses],
        "sessions": list(found.spoken.sessions),
        "turns": list(found.spoken.turns),
        "files": [
            {"path": context.name(one.path), "sessions": list(one.sessions), "trust": "agent"}
            for one in found.spoken.files
        ],
    }


def _conflicts_json(view: MemoryView, pairs: Sequence[tuple[Memory, Memory, str]]) -> list[dict[str, Any]]:
    return [{"old": view.json(old), "new": view.json(new), "why": why} for old, new, why in pairs]
