"""`told show ID`: one session, turn or checkpoint; short by default, whole when asked."""

from __future__ import annotations

from told.agents.labels import label
from told.cli.checkpoints import checkpoint_json, in_one_line, print_checkpoint
from told.cli.output import count, cut, iso, short_path, to_json, when
from told.cli.sessions import session_head, session_json, summary
from told.errors import NotFoundError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.cli.arguments import Arguments
    from told.cli.context import Context
    from told.store.reading import SessionRow, TurnRow

# Bytes of a short session: 500 tokens.
_SHOW_BYTES = 1900
_CANDIDATES = 8
_SHORT_TURNS = 3
_SHORT_FILES = 6
_DIGITS = 9  # of a number of a turn
_LOST = "(What was said in it is gone: its agent deleted the file, and there was no room for a copy.)"


def show(context: Context, arguments: Arguments) -> int:
    """Print what an id stands for."""
    wanted = arguments.operands[0].strip()
    base, _, number = wanted.partition(".")
    if wanted.startswith("c") and (notes := context.reading.checkpoints_like(wanted, _CANDIDATES)):
        exact = [note for note in notes if note.public == wanted]
        others = [row.native for row in context.reading.sessions_like(wanted, 1)]
        if not exact and len(notes) + len(others) > 1:
            several = ", ".join([*(note.public for note in notes), *map(context.name, others)])
            raise UsageError(f"{wanted!r} could be {several}. Give more of it.")
        context.rows = 1
        print_checkpoint(context, (exact or notes)[0], arguments)
        return 0
    if wanted.startswith("m"):
        from told.cli.memory_history import is_memory, why

        if is_memory(context, wanted):
            return why(context, arguments)
    session = session_named(context, base, wanted)
    if not arguments.flag("json") and context.reading.is_lost(session.id):
        context.print(_LOST)
    if number:
        return _show_turn(context, session, number, arguments)
    context.rows = 1
    if arguments.flag("json"):
        context.print(to_json(_session_json(context, session, arguments)))
    elif arguments.flag("turns") or arguments.flag("full"):
        _print_all_turns(context, session, whole=arguments.flag("full"))
    else:
        _print_short(context, session)
    return 0


def session_named(context: Context, wanted: str, given: str) -> SessionRow:
    """Return the one session that an id, or the beginning of one, stands for.

    Raises:
        NotFoundError: there is none.
        UsageError: there are several, or it is too short to tell.
    """
    if len(wanted) < 3:
        raise UsageError(f"{given!r} is too short for an id. Give at least three letters of it.")
    found = context.reading.sessions_like(wanted, _CANDIDATES + 1)
    if not found:
        found = context.reading.sessions_like(wanted.lower(), _CANDIDATES + 1)
    exact = [row for row in found if wanted in (row.public, row.native)]
    parents = {row.native for row in found}
    # The agent's own id of a helper begins with that of the session it helped.
    found = exact or [row for row in found if row.parent not in parents]
    if not found:
        raise NotFoundError(f"There is no {given!r}. Ids come from `told list` and `told search`.")
    if len(found) > 1:
        lines = [f"{session_head(context, row)} {cut(summary(row), 40)}" for row in found[:_CANDIDATES]]
        context.print(context.fence.block("\n".join(lines)))
        listed = context.take().rstrip()
        many = str(len(found)) if len(found) <= _CANDIDATES else f"more than {_CANDIDATES}"
        raise UsageError(f"{given!r} could be {many} sessions. Give more of the id.\n{listed}")
    return found[0]


def _print_short(context: Context, session: SessionRow) -> None:
    head = _head(context, session)
    refs = context.reading.refs_of(session.id)
    files = context.reading.files_of(session.id)
    notes = context.reading.checkpoints(_any(), 1, session_id=session.id)
    turns = context.reading.turns(session.id, _SHORT_TURNS, newest=True)
    lines = []
    title = summary(session)
    if title:
        lines.append(f"about: {cut(title, 200)}")
    if files:
        root = session.cwd
        shown = [f"{short_path(path, root, 40)} ({how})" for path, how, _ in files[:_SHORT_FILES]]
        more = f" +{len(files) - _SHORT_FILES}" if len(files) > _SHORT_FILES else ""
        lines.append(f"files: {', '.join(shown)}{more}")
    if refs:
        lines.append("refs: " + ", ".join(f"{kind} {cut(value, 40)}" for kind, value, _ in refs[-5:]))
    if notes:
        next_steps = notes[0].next_steps or notes[0].overview
        status = f" {notes[0].status}" if notes[0].status else ""
        lines.append(
            f"checkpoint {notes[0].public}{status}: {cut(in_one_line(next_steps) or notes[0].title, 240)}"
        )
    skipped = session.turns - len(turns)
    if skipped > 0:
        lines.append(f"({count(skipped, 'earlier turn')}: --turns)")
    used = len(head.encode()) + sum(len(line.encode()) + 1 for line in lines) + 60
    room = max(120, (_SHOW_BYTES - used) // max(1, len(turns)) - 40)
    for turn in turns:
        lines += _turn_lines(context, session, turn, asked=room // 3, answered=room - room // 3)
    context.print(context.fence.block("\n".join([head, *lines])))


def _turn_lines(context: Context, session: SessionRow, turn: TurnRow, asked: int, answered: int) -> list[str]:
    lines = [f".{turn.n} {when(turn.at, context.now)}"]
    if turn.asked:
        by = "helper task" if session.kind else "you"
        lines.append(f"  {by}: {cut(' '.join(turn.asked.split()), asked)}")
    text = turn.answered or turn.steps
    if text:
        # The end of an answer says how it came out.
        lines.append(f"  {label(session.agent)}: {_both_ends(' '.join(text.split()), answered)}")
    return lines


def _both_ends(text: str, room: int) -> str:
    if len(text.encode()) <= room:
        return text
    end = text.encode()[-(room // 2) :].decode("utf-8", "ignore")
    return f"{cut(text, room - room // 2)} {end[end.find(' ') + 1 :]}"


def _print_all_turns(context: Context, session: SessionRow, *, whole: bool) -> None:
    turns = context.reading.turns(session.id)
    context.rows = session.turns
    if not whole:
        lines = [_head(context, session)]
        for turn in turns:
            lines += _turn_lines(context, session, turn, 160, 240)
        context.print(context.fence.block("\n".join(lines)))
        return
    context.print(context.fence.block(_head(context, session)))
    for turn in turns:
        context.print(f".{turn.n} {when(turn.at, context.now)}")
        if turn.asked:
            context.print(context.fence.block(turn.asked, "agent" if session.kind else "user"))
        if turn.steps:
            context.print(context.fence.block(turn.steps))
        if turn.answered:
            context.print(context.fence.block(turn.answered))


def turn_numbered(context: Context, session: SessionRow, number: str) -> TurnRow:
    """Return a turn of a session by its number, as somebody wrote it.

    Raises:
        NotFoundError: there is none.
    """
    is_number = number.isascii() and number.isdigit() and len(number) <= _DIGITS
    turn = context.reading.turn(session.id, int(number)) if is_number else None
    if turn is None:
        raise NotFoundError(
            f"{session.public} has no turn {cut(number, 20)!r}."
            f" `told show {session.public} --turns` lists them."
        )
    return turn


def _show_turn(context: Context, session: SessionRow, number: str, arguments: Arguments) -> int:
    turn = turn_numbered(context, session, number)
    context.rows = 1
    if arguments.flag("json"):
        context.print(to_json(_turn_json(context, session, turn, whole=True) | {"session": session.public}))
        return 0
    context.print(context.fence.block(_head(context, session)))
    context.print(f".{turn.n} {when(turn.at, context.now)}")
    if turn.asked:
        context.print(context.fence.block(turn.asked, "agent" if session.kind else "user"))
    if turn.steps and arguments.flag("full"):
        context.print(context.fence.block(turn.steps))
    if turn.answered:
        context.print(context.fence.block(turn.answered))
    return 0


def _head(context: Context, session: SessionRow) -> str:
    kind = f" {session.kind}" if session.kind else ""
    archived = " archived" if session.archived else ""
    return f"{session_head(context, session)}{kind}{archived} ({session.native})"


def _session_json(context: Context, session: SessionRow, arguments: Arguments) -> dict[str, Any]:
    fence = context.fence.inline
    whole = arguments.flag("full")
    turns = context.reading.turns(
        session.id, -1 if whole or arguments.flag("turns") else _SHORT_TURNS, newest=True
    )
    return session_json(context, session) | {
        **({"lost": True} if context.reading.is_lost(session.id) else {}),
        "cwd": context.name(session.cwd) or None,
        "turns_shown": [_turn_json(context, session, turn, whole=whole) for turn in turns],
        "files": [
            {"path": fence(path), "how": how, "at": iso(at), "trust": "agent"}
            for path, how, at in context.reading.files_of(session.id)[: None if whole else 20]
        ],
        "refs": [
            {"kind": kind, "value": fence(value), "at": iso(at), "trust": "agent"}
            for kind, value, at in context.reading.refs_of(session.id)
        ],
        "checkpoints": [
            checkpoint_json(context, note, whole=whole)
            for note in context.reading.checkpoints(_any(), 20, session_id=session.id)
        ],
    }


def _turn_json(context: Context, session: SessionRow, turn: TurnRow, *, whole: bool) -> dict[str, Any]:
    asked = turn.asked if whole else cut(" ".join(turn.asked.split()), 300)
    answered = turn.answered if whole else _both_ends(" ".join(turn.answered.split()), 400)
    shown: dict[str, Any] = {"id": f"{session.public}.{turn.n}", "at": iso(turn.at)}
    if asked:
        trust = "agent" if session.kind else "user"
        shown["asked"] = {"text": asked if trust == "user" else context.fence.block(asked), "trust": trust}
    if answered:
        shown["answered"] = {"text": context.fence.block(answered), "trust": "agent"}
    if whole and turn.steps:
        shown["steps"] = {"text": context.fence.block(turn.steps), "trust": "agent"}
    return shown


def _any() -> Any:
    from told.store.reading import Filter

    return Filter()
