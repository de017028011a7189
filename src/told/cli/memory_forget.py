"""`told forget`: shows what would go, and with --force leaves no byte of it in the memories."""

from __future__ import annotations

from told.cli.memories import source_name, waits
from told.cli.memory_desk import Desk, memory_count, memory_json, moment_of
from told.cli.output import count, to_json
from told.errors import NotFoundError, UsageError
from told.memory.finding import Wanted, listed
from told.memory.forget import forget as erase
from told.memory.forget import in_journal, of_sessions, the_same
from told.memory.proposals import propose
from told.store.memory_records import ACTIVE, QUARANTINED, SUPERSEDED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.cli.arguments import Arguments
    from told.cli.context import Context
    from told.store.memory_records import Memory

_ELSEWHERE = (
    "What was said in a session still stands in that agent's own files, and in told's copy of the session"
    " (sessions.db and archive)."
)
_CHOICES = ("session", "since", "source")


def forget(context: Context, arguments: Arguments) -> int:
    """Forget memories by id, session, time or source; without --force only say which."""
    given = [name for name in _CHOICES if arguments.text(name)]
    if bool(arguments.operands) + len(given) != 1:
        raise UsageError("Say what to forget: ids, or one of --session ID, --since WHEN, --source NAME.")
    with Desk(context) as desk:
        found = _found(desk, arguments)
        context.rows = len(found)
        if not found:
            raise NotFoundError("There is no memory like that. `told memories` lists them.")
        others = the_same(desk.memories, found)
        force = arguments.flag("force")
        asked = []
        if force and not desk.caller.is_user:
            asked = [propose(desk.pen, "forget", memory.id) for memory in found]
            desk.pen.write()
        elif force:
            erase(desk.pen, found)
        if arguments.flag("json"):
            rows = [{"id": one.id} if force and not asked else memory_json(desk, one) for one in found]
            context.print(to_json({
                "count": len(rows), "forgotten": force and not asked, "memories": rows,
                "same_words": [one.id for one in others], "proposals": asked, "elsewhere": _ELSEWHERE,
            }))  # fmt: skip
            return 0
        _print(desk, found, others, asked, force=force)
    return 0


def _print(desk: Desk, found: list[Memory], others: list[Memory], asked: list[str], *, force: bool) -> None:
    context = desk.context
    many = memory_count(len(found))
    if asked:
        context.print(f"Only the user can make told forget. {waits(asked)}")
        return
    if force:
        context.print(f"Forgot {many}: {', '.join(one.id for one in found)}. {_ELSEWHERE}")
    else:
        context.print(f"Would forget {many} for good; add --force to do it. {_ELSEWHERE}")
        for one in found:
            context.print(desk.row(one))
    if others:
        context.print(f"The same words stand in {', '.join(one.id for one in others)}.")


def _found(desk: Desk, arguments: Arguments) -> list[Memory]:
    if arguments.operands:
        named = [_named(desk, given) for given in arguments.operands]
        return list(dict.fromkeys(named))
    session = arguments.text("session")
    if session:
        known = desk.context.reading.sessions_like(session, 9)
        exact = [row for row in known if session in (row.public, row.native)] or known
        if len(exact) > 1:
            raise UsageError(f"{session!r} could be {count(len(exact), 'session')}. Give more of the id.")
        names = [name for row in exact for name in (row.native, row.public)]
        return of_sessions(desk.memories, [*names, session])
    source = source_name(arguments.text("source"))
    since = moment_of(desk.context, arguments.text("since")) if arguments.text("since") else 0
    return [
        one
        for status in (ACTIVE, SUPERSEDED, QUARANTINED)
        for one in listed(desk.memories, Wanted((), "", status, source, since=since), desk.context.now, -1)
    ]


def _named(desk: Desk, given: str) -> Memory:
    """Return a memory by its id alone; one that is forgotten already may still have to be finished."""
    found = list(desk.memories.get(desk.memories.like(given, 9)).values()) if len(given) >= 3 else []
    found = found or (in_journal(desk.home, given) if len(given) >= 3 else [])
    found = [one for one in found if one.id == given] or found
    if not found:
        raise NotFoundError(f"No memory has the id {given!r}. `told memories` lists them.")
    if len(found) > 1:
        raise UsageError(f"{given!r} could be {', '.join(one.id for one in found)}. Give more of it.")
    return found[0]
