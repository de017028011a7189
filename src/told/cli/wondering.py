"""`told wonder`: what is known around a topic, what conflicts, what is missing, what to look into."""

from __future__ import annotations

from told.cli.memory_desk import Desk, joined, memory_json
from told.cli.output import count, cut, fitted, iso, short_path, to_json, when
from told.errors import NotFoundError
from told.guard.text import clean
from told.memory._graph_walk import BY_WORDS
from told.memory.wonder import DAYS, Where, Wonder, note
from told.memory.wonder import wonder as gather
from told.store.ids import project_token
from told.store.matching import Matching

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.cli.arguments import Arguments
    from told.cli.context import Context
    from told.memory._wonder_axes import Axis
    from told.store.memory_records import Memory

# Bytes of an answer: 400 tokens.
_BYTES = 1600
_ROOMS = (100, 80, 60, 45)  # bytes of a text, the widest that fits
_KNOWN, _CONFLICTS, _MISSING, _GUESSES = 5, 3, 4, 2
_PATH = 48


def wonder(context: Context, arguments: Arguments) -> int:
    """Walk around a topic, or note a guess about it."""
    topic = joined(arguments)
    with Desk(context) as desk:
        if arguments["note"] is not None:
            return _note(desk, arguments, topic)
        scope = context.scope(arguments)
        token = project_token(scope.project.id) if scope.project else ""
        where = Where(desk.scopes, token, context.now)
        found = gather(desk.memories, context.reading, Matching(context.connection), topic, where)
        context.rows = len(found.around.nodes)
        if arguments.flag("json"):
            context.print(to_json(_as_json(desk, found)))
            return 1 if found.nothing else 0
        if found.nothing:
            raise NotFoundError(
                f"Neither memories nor sessions have anything of {cut(topic, 60)!r}."
                " `told wonder` takes a few plain words; `told remember TEXT` makes a memory."
            )
        for line in fitted(lambda room: _lines(desk, found, room), _ROOMS, _BYTES):
            context.print(line)
    return 0


def _note(desk: Desk, arguments: Arguments, topic: str) -> int:
    from told.memory.finding import scope_named
    from told.memory.remember import Said, checked

    context, caller = desk.context, desk.caller
    redact = context.redactor().redact
    said = Said(checked(redact(arguments.text("note"))), scope_named("", desk.project))
    if not caller.is_user:
        said = Said(said.text, said.scope, trust="agent", agent=caller.agent, session=caller.session)
    made, again = note(desk.pen, redact(topic), said)
    context.rows = 1
    if arguments.flag("json"):
        context.print(to_json(memory_json(desk, made) | {"again": again, "expires": iso(made.expires)}))
        return 0
    what = "Kept on" if again else "Noted"
    day = when(made.expires, context.now).rpartition(" ")[0]
    context.print(f"{what} {made.id} as a guess for {DAYS} days, until {day}. No brief has it.")
    return 0


def _lines(desk: Desk, found: Wonder, room: int) -> list[str]:
    context = desk.context
    sessions, files = found.spoken.sessions, found.spoken.files
    more = "+" if len(found.around.nodes) >= BY_WORDS else ""
    head = f"{cut(found.topic, 60)!r}: {len(found.known)}{more} known"
    head += f", {count(len(sessions), 'session')}, {count(len(files), 'file')}"
    lines = [head, *(_memory(desk, one, room) for one in found.known[:_KNOWN])]
    if len(found.known) > _KNOWN:
        lines.append(f"  (+{len(found.known) - _KNOWN}: --json)")
    if files:
        lines.append(f"touched: {', '.join(_path(context, one.path, one.folder) for one in files[:3])}")
    pairs = found.conflicts[:_CONFLICTS]
    lines += [f"conflict: {pair.old.id} / {pair.new.id}: {pair.why}" for pair in pairs]
    for flip in found.flips[:_CONFLICTS]:
        back = ", back again" if flip.back else ""
        lines.append(f"changed {len(flip.before)} times{back}: {flip.memory.id} (`told evolution`)")
    lines += _missing(desk, found, room)
    for guess in found.guesses[:_GUESSES]:
        day = when(guess.expires, context.now).rpartition(" ")[0]
        lines.append(f"guess until {day}: {guess.id} {desk.text(guess, room)}")
    lines.append("look into:")
    for number, axis in enumerate(found.axes, 1):
        places = [context.name(one) for one in axis.look]
        places += [_path(context, one, _folder(found, one)) for one in axis.files]
        lines.append(f"{number}. {_question(context, axis, room)} ({axis.why}) {', '.join(places)}")
    return lines


def _memory(desk: Desk, memory: Memory, room: int) -> str:
    marks = [memory.kind, *(["locked"] if memory.locked else [])]
    if memory.scope != desk.project:
        marks.append(desk.scope(memory))
    day = when(memory.created, desk.context.now).rpartition(" ")[0]
    return f"  {day} {memory.id} {' '.join(marks)}: {desk.text(memory, room)}"


def _missing(desk: Desk, found: Wonder, room: int) -> list[str]:
    lines = [f"not answered: {one.place} {cut(one.text, room)}" for one in found.questions[:_MISSING]]
    if found.names:
        names = [f"{desk.context.name(one.name)} ({one.turns[0]})" for one in found.names[:_MISSING]]
        lines.append(f"in no memory: {', '.join(names)}")
    if found.weak:
        weak = [f"{one.memory.id} ({one.why})" for one in found.weak[:_MISSING]]
        lines.append(f"weak: {', '.join(weak)}")
    return lines


def _question(context: Context, axis: Axis, room: int) -> str:
    if axis.files and axis.subject == axis.files[0]:
        return axis.ask.replace("{}", _path(context, axis.subject, ""))
    subject = cut(clean(axis.subject), room) if axis.by_user else context.name(axis.subject)
    return axis.ask.replace("{}", subject)


def _path(context: Context, path: str, folder: str) -> str:
    return context.name(short_path(path, folder, _PATH))


def _folder(found: Wonder, path: str) -> str:
    return next((one.folder for one in found.spoken.files if one.path == path), "")


def _as_json(desk: Desk, found: Wonder) -> dict[str, Any]:
    context = desk.context
    return {
        "topic": found.topic,
        "count": len(found.around.nodes),
        "known": [memory_json(desk, one) for one in found.known],
        "edges": [{"from": one, "kind": kind, "to": other} for one, kind, other in found.around.edges],
        "conflicts": [
            {"old": memory_json(desk, one.old), "new": memory_json(desk, one.new), "why": one.why}
            for one in found.conflicts
        ],
        "flips": [
            {"memory": memory_json(desk, one.memory), "back": one.back,
             "before": [memory_json(desk, old) for old in one.before]}
            for one in found.flips
        ],
        "names": [{"name": context.name(one.name), "turns": list(one.turns)} for one in found.names],
        "questions": [
            {"text": one.text, "id": one.place, "at": iso(one.at), "trust": "user"} for one in found.questions
        ],
        "weak": [{"id": one.memory.id, "why": one.why} for one in found.weak],
        "guesses": [memory_json(desk, one) | {"expires": iso(one.expires)} for one in found.guesses],
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
