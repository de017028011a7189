"""`told timeline --around ID`: what was asked before and after a turn, a session, a memory, a checkpoint."""

from __future__ import annotations

from told.agents.labels import label
from told.cli.output import count, cut, is_plain, iso, to_json, when
from told.cli.sessions import about, summary, summary_trust, unread
from told.errors import UsageError
from told.record import record, replaced
from told.store.memory_records import PROJECT, USER
from told.store.nearby import Moment, Nearby

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.cli.arguments import Arguments
    from told.cli.context import Context
    from told.store.projects import Project
    from told.store.reading import CheckpointRow, SessionRow, TurnRow

_ROWS = 5  # before, and as many after
_TEXT = 300
_CANDIDATES = 8
_MEMORY = "memory"
_LAST = "\U0010ffff"  # behind the turns of the same moment: it was made of them


@record
class _Centre:
    """What was asked about: where it stands in time, and its row."""

    id: str
    what: str
    moment: Moment
    project: Project | None
    head: str
    text: str
    trust: str
    session: int = 0  # whose own turns are not around it


def around(context: Context, arguments: Arguments) -> int:
    """Print the rows before and after something, and between them the thing itself."""
    if arguments.text("since") or arguments["days"] is not None:
        raise UsageError("--around says when it was: leave out --since and --days.")
    centre = _centre(context, arguments.text("around").strip())
    scope = context.scope(arguments)
    if not arguments.text("project") and not arguments.flag("all-projects"):
        name = context.name(centre.project.name) if centre.project else "all projects"
        wanted = replaced(scope.filter, project=centre.project.id if centre.project else 0)
        scope = replaced(scope, filter=wanted, project=centre.project, name=name)
    limit = arguments.number("limit", _ROWS)
    nearby = Nearby(context.connection)
    own = limit + context.reading.session(centre.session).turns if centre.session else limit
    sides = [
        [turn for turn in side if turn.session_id != centre.session]
        for side in (
            nearby.before(centre.moment, scope.filter, limit),
            nearby.after(centre.moment, scope.filter, own),
        )
    ]
    before, after = sides[0], sides[1][:limit]
    context.rows = len(before) + len(after) + 1
    sessions = {turn.session_id: context.reading.session(turn.session_id) for turn in (*before, *after)}
    if arguments.flag("json"):
        shown = {
            "around": {"id": centre.id, "kind": centre.what, "at": iso(centre.moment.at),
                       "text": _text(context, centre, plain=True), "trust": centre.trust},
            "before": [_row_json(context, sessions[turn.session_id], turn) for turn in before],
            "after": [_row_json(context, sessions[turn.session_id], turn) for turn in after],
        }  # fmt: skip
        context.print(to_json(about(context, scope, widened=False) | shown))
        return 0
    sums = f"{count(len(before), 'turn')} before and {len(after)} after"
    context.print(f"{sums} {centre.id}, {scope.name}")
    everywhere = scope.project is None
    _print(context, before, sessions, everywhere=everywhere)
    context.print(f"> {when(centre.moment.at, context.now)} {centre.head} {_text(context, centre)}")
    _print(context, after, sessions, everywhere=everywhere)
    unread(context)
    return 0


def _print(
    context: Context, turns: list[TurnRow], sessions: dict[int, SessionRow], *, everywhere: bool
) -> None:
    lines = []
    for turn in turns:
        session = sessions[turn.session_id]
        # A name that could be more than a name has no place in what the user said.
        place = f" {session.project}" if everywhere and is_plain(session.project) and session.project else ""
        head = f"{when(turn.at, context.now)} {session.public}.{turn.n} {label(session.agent)}{place}"
        lines.append(f"{head} {cut(' '.join(turn.asked.split()), max(30, context.width - len(head)))}")
    if lines:
        context.print(context.fence.block("\n".join(lines), "user"))


def _row_json(context: Context, session: SessionRow, turn: TurnRow) -> dict[str, Any]:
    return {
        "id": f"{session.public}.{turn.n}", "at": iso(turn.at), "agent": session.agent,
        "project": context.name(session.project) or None,
        "asked": cut(" ".join(turn.asked.split()), _TEXT), "trust": "user",
    }  # fmt: skip


def _text(context: Context, centre: _Centre, *, plain: bool = False) -> str:
    """Return the thing's own words; a prompt may quote others, so it is fenced where people read."""
    text = cut(" ".join(centre.text.split()), _TEXT)
    plain = centre.trust == USER and (plain or centre.what == _MEMORY)
    return text if plain else context.fence.inline(text, centre.trust)


def _centre(context: Context, given: str) -> _Centre:
    """Return what an id stands for.

    Raises:
        NotFoundError: there is nothing like it.
        UsageError: it could be several things.
    """
    if given.startswith("c") and (notes := context.reading.checkpoints_like(given, _CANDIDATES)):
        exact = [note for note in notes if note.public == given] or notes
        if len(exact) > 1:
            several = ", ".join(note.public for note in exact)
            raise UsageError(f"{given!r} could be {several}. Give more of it.")
        return _of_checkpoint(context, exact[0])
    if given.startswith("m"):
        from told.cli.memory_history import is_memory

        if is_memory(context, given):
            return _of_memory(context, given)
    from told.cli.showing import session_named

    base, _, number = given.partition(".")
    session = session_named(context, base, given)
    return _of_turn(context, session, number) if number else _of_session(context, session)


def _of_turn(context: Context, session: SessionRow, number: str) -> _Centre:
    from told.cli.showing import turn_numbered

    turn = turn_numbered(context, session, number)
    name = f"{session.public}.{turn.n}"
    project = Nearby(context.connection).project_of(session.id)
    return _Centre(
        name, "turn", Moment(turn.at, session.public, turn.n), project,
        f"{name} {label(session.agent)}", turn.asked or turn.answered,
        "agent" if session.kind or not turn.asked else "user",
    )  # fmt: skip


def _of_session(context: Context, session: SessionRow) -> _Centre:
    trust = "agent" if session.kind else summary_trust(session)
    return _Centre(
        session.public, "session", Moment(session.started), Nearby(context.connection).project_of(session.id),
        f"{session.public} {label(session.agent)} {session.turns}t", summary(session), trust, session.id,
    )  # fmt: skip


def _of_checkpoint(context: Context, note: CheckpointRow) -> _Centre:
    session = context.reading.sessions_like(note.session, 1)[0]
    return _Centre(
        note.public, "checkpoint", Moment(note.at, _LAST), Nearby(context.connection).project_of(session.id),
        f"{note.public} {label(note.agent)} checkpoint", note.title or note.overview, "agent",
    )  # fmt: skip


def _of_memory(context: Context, given: str) -> _Centre:
    from told.cli.memory_desk import Desk

    with Desk(context) as desk:
        memory = desk.one(given, ended=True)
        scope = desk.scope(memory)
    # It was said when its first evidence was; it may have been written down much later.
    at = min((one.at for one in memory.evidence if one.session and one.at), default=memory.created)
    key = memory.scope.removeprefix(PROJECT) if memory.scope.startswith(PROJECT) else ""
    return _Centre(
        memory.id, _MEMORY, Moment(at, _LAST), context.projects().by_key(key) if key else None,
        f"{memory.id} {memory.kind} {scope}", memory.text, memory.trust,
    )  # fmt: skip
