"""`told reason`: evidence for and against with its chains, how sure it is, and a verdict."""

from __future__ import annotations

from told.agents.labels import label
from told.cli.memory_desk import Desk, joined, memory_json
from told.cli.output import count, cut, fitted, iso, to_json, when
from told.errors import NotFoundError
from told.memory._graph_turns import place_of
from told.memory._reason_answer import CONTESTED, DEPENDS, REASONS, SAID, UNKNOWN, Reasoned
from told.memory._reason_question import WHY
from told.memory.reason import reason as answer
from told.memory.wonder import Where
from told.store.ids import project_token
from told.store.matching import Matching

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.cli.arguments import Arguments
    from told.cli.context import Context
    from told.memory._reason_causes import Cause
    from told.memory._reason_weigh import Piece
    from told.store.memory_records import Memory

# Bytes of an answer: 400 tokens.
_BYTES = 1600
_ROOMS = (160, 110, 70, 45)  # bytes of a text, the widest that fits
_PIECES, _CAUSES, _HISTORY, _PLACES = 3, 4, 3, 2


def reason(context: Context, arguments: Arguments) -> int:
    """Answer a question from memories."""
    question = joined(arguments)
    with Desk(context) as desk:
        scope = context.scope(arguments)
        token = project_token(scope.project.id) if scope.project else ""
        where = Where(desk.scopes, token, context.now)
        found = answer(desk.memories, context.reading, Matching(context.connection), question, where)
        context.rows = sum(len(side.pieces) for side in found.sides)
        if arguments.flag("json"):
            context.print(to_json(_as_json(desk, found)))
            return 1 if found.nothing else 0
        if found.nothing:
            raise NotFoundError(_nothing(desk, found))
        for line in fitted(lambda room: _lines(desk, found, room), _ROOMS, _BYTES):
            context.print(line)
    return 0


def _nothing(desk: Desk, found: Reasoned) -> str:
    said = [f"No memory answers {cut(found.question.text, 60)!r}: {'; '.join(found.missing)}."]
    if found.history:
        said.append(f"It was so once: {found.history[0].id} (`told why` says more).")
    if found.related:
        said.append(f"Nearest: {', '.join(one.id for one in found.related)}.")
    if found.places:
        said.append(f"Sessions speak of it: `told show {desk.context.name(found.places[0])}`.")
    said.append("`told remember TEXT` makes a memory.")
    return " ".join(said)


def _lines(desk: Desk, found: Reasoned, room: int) -> list[str]:
    context = desk.context
    lines = [f"{cut(found.question.text, 60)!r}: {_verdict(context, found)}"]
    lines += [_cause(desk, cause, room) for cause in found.causes[:_CAUSES]]
    for side in found.sides:
        if not side.pieces:
            continue
        name = "about it" if found.question.form == WHY else side.name
        more = f" (+{len(side.pieces) - _PIECES}: --json)" if len(side.pieces) > _PIECES else ""
        lines.append(f"{context.name(name) if ' ' not in name else name} {side.worth:.2f}{more}")
        for piece in side.pieces[:_PIECES]:
            lines += _piece(desk, piece, room)
    for old, new, why in found.conflicts[:_PIECES]:
        lines.append(f"conflict: {old.id} / {new.id}: {why}")
    lines += [f"before: {_short(desk, one, room)}" for one in found.history[:_HISTORY]]
    lines += [f"missing: {one}" for one in found.missing]
    if found.places:
        lines.append(f"look: {', '.join(map(context.name, found.places))}")
    return lines


def _verdict(context: Context, found: Reasoned) -> str:
    if found.verdict == UNKNOWN:
        return "not known"
    said = found.verdict
    if said == SAID:
        said = f"{found.sides[0].pieces[0].memory.id} says it"
    elif said == REASONS:
        said = count(len(found.causes), "reason")
    elif any(said in (name, f"not {name}") for name, _ in found.question.sides):
        word = said.removeprefix("not ")  # of the question, not one of told's own
        said = said.removesuffix(word) + context.name(word)
    return said if said in (DEPENDS, CONTESTED) else f"{said}, sure to {found.worth:.2f}"


def _piece(desk: Desk, piece: Piece, room: int) -> list[str]:
    why = f" ({piece.via or piece.why})" if piece.via or piece.why else ""
    first = f"  {piece.worth:.2f} {_short(desk, piece.memory, room)}{why}"
    places = [_place(desk, one.agent, one.session, one.turn, one.at) for one in piece.memory.evidence]
    places = list(dict.fromkeys(places))
    more = f" and {len(places) - _PLACES} more" if len(places) > _PLACES else ""
    return [first, f"    said {', '.join(places[:_PLACES])}{more}"] if places else [first]


def _short(desk: Desk, memory: Memory, room: int) -> str:
    marks = [memory.kind, *(["locked"] if memory.locked else [])]
    if memory.scope != desk.project:
        marks.append(desk.scope(memory))
    return f"{memory.id} {' '.join(marks)}: {desk.text(memory, room)}"


def _place(desk: Desk, agent: str, session: str, turn: int, at: int) -> str:
    context = desk.context
    day = when(at, context.now).rpartition(" ")[0]
    if session:
        return f"{day} {context.name(label(agent))} {context.name(place_of(context.reading, session, turn))}"
    return f"{day} at the terminal" if agent == "terminal" else f"{day} {context.name(label(agent))}"


def _cause(desk: Desk, cause: Cause, room: int) -> str:
    context = desk.context
    text = cut(cause.text, room)
    shown = text if cause.trust == "user" else context.fence.inline(text, cause.trust)
    where = [one for one in (cause.memory.id if cause.memory else "", context.name(cause.place)) if one]
    return f"  {cause.worth:.2f} {shown} ({', '.join(where)})"


def _as_json(desk: Desk, found: Reasoned) -> dict[str, Any]:
    context = desk.context
    return {
        "question": found.question.text, "form": found.question.form, "verdict": found.verdict,
        "sure": found.worth, "count": context.rows,
        "sides": [
            {"name": side.name, "sure": side.worth,
             "evidence": [_piece_json(desk, one) for one in side.pieces]}
            for side in found.sides
        ],
        "reasons": [
            {"text": one.text if one.trust == "user" else context.fence.inline(one.text, one.trust),
             "trust": one.trust, "worth": one.worth, "memory": one.memory.id if one.memory else None,
             "turn": context.name(one.place) or None, "at": iso(one.at)}
            for one in found.causes
        ],
        "before": [memory_json(desk, one) for one in found.history],
        "conflicts": [
            {"old": memory_json(desk, old), "new": memory_json(desk, new), "why": why}
            for old, new, why in found.conflicts
        ],
        "edges": [{"from": one, "kind": kind, "to": other} for one, kind, other in found.edges],
        "missing": list(found.missing), "look": [context.name(one) for one in found.places],
        "nearest": [memory_json(desk, one) for one in found.related],
    }  # fmt: skip


def _piece_json(desk: Desk, piece: Piece) -> dict[str, Any]:
    context = desk.context
    said = [
        {"agent": one.agent, "turn": context.name(place_of(context.reading, one.session, one.turn)) or None,
         "at": iso(one.at)}
        for one in piece.memory.evidence
    ]  # fmt: skip
    return memory_json(desk, piece.memory) | {
        "worth": piece.worth, "why": piece.why or None, "via": piece.via or None, "limited": piece.limited,
        "said": said,
    }  # fmt: skip
