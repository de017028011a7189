"""`told forget`: shows what would go, and with --force leaves no byte of it in told's own files."""

from __future__ import annotations

from told.cli.checkpoint_forget import forget_checkpoints, means_checkpoints
from told.cli.memories import source_name, waits
from told.cli.memory_desk import Desk, memory_count, memory_json, moment_of
from told.cli.output import count, to_json
from told.errors import NotFoundError, UsageError
from told.hook.debugging import drop as drop_log
from told.ingest.forgotten import SESSION_TOPIC
from told.memory.finding import Wanted, listed
from told.memory.forget import forget as erase
from told.memory.forget import in_journal, of_sessions, plan, with_all
from told.memory.proposals import propose
from told.record import record
from told.store.erasing import Erasing
from told.store.ids import public_id
from told.store.memory_records import ACTIVE, ARCHIVED, QUARANTINED, SUPERSEDED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.cli.arguments import Arguments
    from told.cli.context import Context
    from told.memory.forget import Plan
    from told.store.memory_records import Memory

_NOWHERE = "As far as told knows, no agent's own files hold it."
_ELSEWHERE = "told changes no agent's own files. They still hold it:"
_CHOICES = ("session", "since", "source")
_MOST_FILES = 10


@record
class _Meant:
    """What the user wants forgotten."""

    memories: tuple[Memory, ...]
    sessions: tuple[tuple[str, str], ...] = ()


def forget(context: Context, arguments: Arguments) -> int:
    """Forget memories by id, session, time or source; without --force only say what would go."""
    given = [name for name in _CHOICES if arguments.text(name)]
    if bool(arguments.operands) + len(given) != 1:
        raise UsageError("Say what to forget: ids, or one of --session ID, --since WHEN, --source NAME.")
    if means_checkpoints(arguments):
        return forget_checkpoints(context, arguments)
    with Desk(context) as desk:
        meant = _meant(desk, arguments)
        context.rows = len(meant.memories)
        if not meant.memories and not meant.sessions:
            raise NotFoundError("There is no memory like that. `told memories` lists them.")
        from told.cli.upkeep import take_checkpoints

        take_checkpoints(context)  # what is to be forgotten may stand in a file that nobody has read yet
        every = with_all(desk.home, desk.memories, meant.memories)
        others = every[len(meant.memories) :]
        found = plan(context.connection, context.key, desk.home, every, meant.sessions)
        force = arguments.flag("force")
        asked = []
        if force and not desk.caller.is_user:
            asked = [propose(desk.pen, "forget", memory.id) for memory in meant.memories]
            desk.pen.write()
        elif force:
            erase(desk.pen, context.connection, found)
            take_checkpoints(context)
            drop_log(context.settings.home)
        done = force and desk.caller.is_user
        if arguments.flag("json"):
            rows = [{"id": one.id} if done else memory_json(desk, one) for one in found.memories]
            context.print(to_json({
                "count": len(rows), "forgotten": done, "memories": rows, "sessions": _sessions_json(found),
                "same_words": [one.id for one in others], "proposals": asked,
                "elsewhere": _files(found),
            }))  # fmt: skip
        elif force and not done:
            context.print(f"Only the user can make told forget.{' ' + waits(asked) if asked else ''}")
        else:
            _print(desk, found, others, done=done)
    return 0


def _sessions_json(found: Plan) -> list[dict[str, Any]]:
    return [
        {"id": one.public, "agent": one.agent, "native_id": one.native, "turns": one.turns,
         "whole": one.whole}
        for one in found.losses
    ]  # fmt: skip


def _files(found: Plan) -> list[str]:
    return sorted({path for one in found.losses for path in one.files})


def _print(desk: Desk, found: Plan, others: list[Memory], *, done: bool) -> None:
    context = desk.context
    many = memory_count(len(found.memories)) if found.memories or not found.sessions else ""
    whole = count(len(found.sessions), "session") if found.sessions else ""
    what = " and ".join(filter(None, (many, whole)))
    if done:
        ids = ", ".join(one.id for one in found.memories)
        context.print(f"Forgot {what}{': ' if ids else ''}{ids}.")
    else:
        context.print(f"Would forget {what} for good; add --force to do it.")
        for one in found.memories:
            context.print(desk.row(one))
    if others:
        context.print(f"With the same words: {', '.join(one.id for one in others)}.")
    verb = "lost" if done else "would lose"
    for loss in found.losses:
        lost = "all of its text" if loss.whole else f"text in {count(loss.turns, 'turn')}"
        context.print(f"Session {loss.public} {verb} {lost}.")
    files = _files(found)
    context.print("\n".join([_ELSEWHERE, *(f"  {context.name(path)}" for path in files[:_MOST_FILES])])
                  if files else _NOWHERE)  # fmt: skip
    if len(files) > _MOST_FILES:
        context.print(f"  and {count(len(files) - _MOST_FILES, 'more file')}")


def _meant(desk: Desk, arguments: Arguments) -> _Meant:
    if arguments.operands:
        named = [_named(desk, given) for given in arguments.operands]
        return _Meant(tuple(dict.fromkeys(named)))
    session = arguments.text("session")
    if session:
        return _of_session(desk, session)
    source = source_name(arguments.text("source"))
    since = moment_of(desk.context, arguments.text("since")) if arguments.text("since") else 0
    return _Meant(tuple(
        one
        for status in (ACTIVE, SUPERSEDED, QUARANTINED, ARCHIVED)
        for one in listed(desk.memories, Wanted((), "", status, source, since=since), desk.context.now, -1)
    ))  # fmt: skip


def _of_session(desk: Desk, given: str) -> _Meant:
    """Return a session with the helpers it started, and the memories that come from them.

    One that is forgotten already may still have to be finished.
    """
    known = {(row.agent, row.native): row.public for row in desk.context.reading.sessions_like(given, 99)}
    for name in desk.memories.noted(SESSION_TOPIC):
        agent, _, native = name.partition("/")
        public = public_id("s", agent, native)
        if native.startswith(given) or public.startswith(given):
            known.setdefault((agent, native), public)
    exact = [name for name, public in known.items() if given in (name[1], public)]
    exact = exact or [name for name in known if not any(name[1].startswith(f"{one[1]}/") for one in known)]
    if len(exact) > 1:
        raise UsageError(f"{given!r} could be {count(len(exact), 'session')}. Give more of the id.")
    if not exact:
        return _Meant(tuple(of_sessions(desk.memories, [given])))
    agent, native = exact[0]
    helpers = Erasing(desk.context.connection).helpers(agent, native)
    sessions = tuple((agent, one) for one in (native, *helpers))
    return _Meant(tuple(of_sessions(desk.memories, [name for _, name in sessions])), sessions)


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
