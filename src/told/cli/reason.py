"""`told reason` and `told wonder`: answer questions and explore topics from memories."""

from __future__ import annotations

from typing import Any

from told.agents import label
from told.cli.arguments import Arguments
from told.cli.context import UNDO_HINT, Context, MemoryView, count, cut, day_of, iso, short_path
from told.cli.sessions import select_sessions
from told.errors import NotFoundError
from told.memories.remember import NewMemory, validate_text
from told.memories.scopes import parse_scope
from told.reasoning.answer import CONTESTED, DEPENDS, NO, REASONS, SAID, UNKNOWN, YES, Answer, Argument, Cause
from told.reasoning.graph import MAX_WORD_MATCHES, SearchScope, turn_id
from told.reasoning.question import WHY
from told.reasoning.reason import reason as answer_question
from told.reasoning.wonder import DAYS, NextQuestion, TopicReport, save_guess
from told.reasoning.wonder import wonder as explore_topic
from told.store.memories.records import SUPERSEDED, Memory
from told.store.sessions.match import TurnIndex
from told.store.sessions.schema import project_token
from told.text import clean, fit_lines

_ANSWER_BYTES = 1600  # 400 tokens
_REASON_ROOMS = (160, 110, 70, 45)  # bytes of a text; the widest that fits is used
_WONDER_ROOMS = (100, 80, 60, 45)
# How many of each an answer shows.
_PIECES, _CAUSES, _HISTORY, _PLACES = 3, 4, 3, 2
_KNOWN, _CONFLICTS, _MISSING, _GUESSES = 5, 3, 4, 2
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
        for line in fit_lines(lambda room: _answer_lines(view, found, room), _REASON_ROOMS, _ANSWER_BYTES):
            context.print(line)


def _search_scope(view: MemoryView, arguments: Arguments) -> SearchScope:
    project = select_sessions(view.context, arguments).project
    return SearchScope(view.scopes, project_token(project.id) if project else "", view.context.now)


def _nothing(view: MemoryView, found: Answer) -> str:
    said = [f"No memory answers {cut(found.question.text, 60)!r}: {'; '.join(found.missing)}."]
    if found.places:
        said.append(f"Sessions mention it: `told show {view.context.name(found.places[0])}`.")
    said.append("`told remember TEXT` adds one.")
    rows = [f"before: {_ended_line(view, one, _REASON_ROOMS[0])}" for one in found.history[:_HISTORY]]
    rows += [f"mentioned: {view.row(one)}" for one in found.related]
    return "\n".join([" ".join(said), *rows])


def _answer_lines(view: MemoryView, found: Answer, room: int) -> list[str]:
    context = view.context
    lines = [f"{cut(found.question.text, 60)!r}: {_verdict(context, found)}"]
    lines += [_cause(view, cause, room) for cause in found.causes[:_CAUSES]]
    for side in found.sides:
        if not side.pieces:
            continue
        name = "about it" if found.question.form == WHY else side.name
        more = f" (+{len(side.pieces) - _PIECES}: --json)" if len(side.pieces) > _PIECES else ""
        lines.append(f"{context.name(name) if ' ' not in name else name} {side.worth:.2f}{more}")
        for piece in side.pieces[:_PIECES]:
            lines += _piece(view, piece, room)
    for old, new, why in found.conflicts[:_PIECES]:
        lines.append(f"conflict: {old.id} / {new.id}: {why}")
    lines += [f"before: {_ended_line(view, one, room)}" for one in found.history[:_HISTORY]]
    lines += [f"missing: {one}" for one in found.missing]
    if found.places:
        lines.append(f"see: {', '.join(map(context.name, found.places))}")
    return lines


def _verdict(context: Context, found: Answer) -> str:
    said = found.verdict
    if said in _UNCLEAR:
        return _UNCLEAR[said]
    if said == SAID:
        said = f"{found.sides[0].pieces[0].memory.id} says it"
    elif said == REASONS:
        said = count(len(found.causes), "reason")
    elif any(said in (name, f"not {name}") for name, _ in found.question.sides):
        word = said.removeprefix("not ")  # from the question
        said = said.removesuffix(word) + context.name(word)
    said = said.capitalize() if said in (YES, NO) else said
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


def _cause(view: MemoryView, cause: Cause, room: int) -> str:
    context = view.context
    shown = view.context.fenced(cut(cause.text, room), cause.trust)
    where = [one for one in (cause.memory.id if cause.memory else "", context.name(cause.place)) if one]
    return f"  {cause.worth:.2f} {shown} ({', '.join(where)})"


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
        "reasons": [
            {"text": view.context.fenced(one.text, one.trust),
             "trust": one.trust, "worth": one.worth, "memory": one.memory.id if one.memory else None,
             "turn": context.name(one.place) or None, "at": iso(one.at)}
            for one in found.causes
        ],
        "before": view.json_rows(found.history),
        "conflicts": [
            {"old": view.json(old), "new": view.json(new), "why": why}
            for old, new, why in found.conflicts
        ],
        "edges": [{"from": one, "kind": kind, "to": other} for one, kind, other in found.edges],
        "missing": list(found.missing), "look": [context.name(one) for one in found.places],
        "nearest": view.json_rows(found.related),
    }  # fmt: skip


def _piece_json(view: MemoryView, piece: Argument) -> dict[str, Any]:
    context = view.context
    said = [
        {"agent": one.agent, "turn": context.name(turn_id(context.reading, one.session, one.turn)) or None,
         "at": iso(one.at)}
        for one in piece.memory.evidence
    ]  # fmt: skip
    return view.json(piece.memory) | {
        "worth": piece.worth, "why": piece.why or None, "via": piece.via or None, "limited": piece.limited,
        "said": said,
    }  # fmt: skip


def wonder(context: Context, arguments: Arguments) -> None:
    """Explore a topic, or save a guess about it."""
    topic = arguments.phrase
    with MemoryView(context) as view:
        if arguments["note"] is not None:
            _save_guess(view, arguments, topic)
            return
        where = _search_scope(view, arguments)
        found = explore_topic(view.memories, context.reading, TurnIndex(context.connection), topic, where)
        if context.as_json:
            context.print_json(_topic_json(view, found), found=not found.nothing)
            return
        if found.nothing:
            raise NotFoundError(
                f"No memory or session is about {cut(topic, 60)!r}; `told remember TEXT` adds a memory."
            )
        for line in fit_lines(lambda room: _topic_lines(view, found, room), _WONDER_ROOMS, _ANSWER_BYTES):
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
    sessions, files = found.spoken.sessions, found.spoken.files
    more = "+" if len(found.around.nodes) >= MAX_WORD_MATCHES else ""
    head = f"{cut(found.topic, 60)!r}: {len(found.known)}{more} known"
    head += f", {count(len(sessions), 'session')}, {count(len(files), 'file')}"
    lines = [
        head,
        *(
            f"  {day_of(one.created, context.now)} {_memory_line(view, one, room)}"
            for one in found.known[:_KNOWN]
        ),
    ]
    if len(found.known) > _KNOWN:
        lines.append(f"  (+{len(found.known) - _KNOWN}: --json)")
    if files:
        lines.append(f"touched: {', '.join(_path(context, one.path, one.folder) for one in files[:3])}")
    pairs = found.conflicts[:_CONFLICTS]
    lines += [f"conflict: {pair.old.id} / {pair.new.id}: {pair.why}" for pair in pairs]
    for flip in found.flips[:_CONFLICTS]:
        back = ", and back" if flip.back else ""
        lines.append(f"changed {len(flip.before)} times{back}: {flip.memory.id} (`told evolution`)")
    lines += _missing(view, found, room)
    for guess in found.guesses[:_GUESSES]:
        day = day_of(guess.expires, context.now)
        lines.append(f"guess until {day}: {guess.id} {view.text(guess, room)}")
    lines.append("look into:")
    folders = {one.path: one.folder for one in files}
    for number, axis in enumerate(found.axes, 1):
        places = [context.name(one) for one in axis.look]
        places += [_path(context, one, folders.get(one, "")) for one in axis.files]
        lines.append(f"{number}. {_question(context, axis, room)} ({axis.why}) {', '.join(places)}")
    return lines


def _missing(view: MemoryView, found: TopicReport, room: int) -> list[str]:
    lines = [f"not answered: {one.place} {cut(one.text, room)}" for one in found.questions[:_MISSING]]
    if found.names:
        names = [f"{view.context.name(one.name)} ({one.turns[0]})" for one in found.names[:_MISSING]]
        lines.append(f"in no memory: {', '.join(names)}")
    if found.weak:
        weak = [f"{one.memory.id} ({one.why})" for one in found.weak[:_MISSING]]
        lines.append(f"weak: {', '.join(weak)}")
    return lines


def _question(context: Context, axis: NextQuestion, room: int) -> str:
    if axis.files and axis.subject == axis.files[0]:
        return axis.ask.replace("{}", _path(context, axis.subject, ""))
    subject = cut(clean(axis.subject), room) if axis.by_user else context.name(axis.subject)
    return axis.ask.replace("{}", subject)


def _path(context: Context, path: str, folder: str) -> str:
    return context.name(short_path(path, folder, _PATH_BYTES))


def _topic_json(view: MemoryView, found: TopicReport) -> dict[str, Any]:
    context = view.context
    return {
        "topic": found.topic,
        "count": len(found.around.nodes),
        "known": view.json_rows(found.known),
        "edges": [{"from": one, "kind": kind, "to": other} for one, kind, other in found.around.edges],
        "conflicts": [
            {"old": view.json(one.old), "new": view.json(one.new), "why": one.why}
            for one in found.conflicts
        ],
        "flips": [
            {"memory": view.json(one.memory), "back": one.back,
             "before": view.json_rows(one.before)}
            for one in found.flips
        ],
        "names": [{"name": context.name(one.name), "turns": list(one.turns)} for one in found.names],
        "questions": [
            {"text": one.text, "id": one.place, "at": iso(one.at), "trust": "user"} for one in found.questions
        ],
        "weak": [{"id": one.memory.id, "why": one.why} for one in found.weak],
        "guesses": [view.json(one) | {"expires": iso(one.expires)} for one in found.guesses],
        "sessions": list(found.spoken.sessions),
        "files": [
            {"path": context.name(one.path), "sessions": list(one.sessions), "trust": "agent"}
            for one in found.spoken.files
        ],
        "axes": [
            {"question": _question(context, one, 400), "why": one.why,
             "look": [*map(context.name, one.look), *map(context.name, one.files)]}
            for one in found.axes
        ],
    }  # fmt: skip
