"""`told memories` and `told remember`: what is known, and one thing more."""

from __future__ import annotations

from told.cli.memory_desk import Desk, joined, memory_count, memory_json
from told.cli.output import count, to_json
from told.errors import NotFoundError, UsageError
from told.memory.finding import Wanted, checked_kind, listed, scope_name
from told.memory.scopes import holding_in
from told.store.memory_records import ACTIVE, ARCHIVED, FORGOTTEN, PROJECT, QUARANTINED, SUPERSEDED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.cli.arguments import Arguments
    from told.cli.context import Context
    from told.memory.remember import Remembered, Said

_STATUSES = (ACTIVE, SUPERSEDED, QUARANTINED, ARCHIVED, FORGOTTEN)


def memories(context: Context, arguments: Arguments) -> int:
    """List memories of this project and the global ones, the newest first."""
    status = arguments.text("status") or ACTIVE
    if status not in _STATUSES:
        raise UsageError(f"There is no status {status!r}. It is one of: {', '.join(_STATUSES)}.")
    limit = arguments.number("limit", 20)
    with Desk(context) as desk:
        scopes, words = _scopes(desk, arguments), joined(arguments)
        asked_for = [words, *(arguments.text(name) for name in ("kind", "source", "status"))]
        deeds = arguments.flag("all") or any(asked_for)
        wanted = Wanted(
            scopes, checked_kind(arguments.text("kind")), status,
            source_name(arguments.text("source")), arguments.flag("locked"), words, deeds=deeds,
        )  # fmt: skip
        found = listed(desk.memories, wanted, context.now, limit)
        context.rows = len(found)
        left_out = 0 if deeds else desk.memories.deeds(scopes)
        if arguments.flag("json"):
            rows = [memory_json(desk, one) for one in found]
            context.print(to_json({"count": len(rows), "left_out": left_out, "memories": rows}))
            return 0 if found else 1
        if not found:
            hint = "" if arguments.flag("all-projects") else " Try --all-projects."
            raise NotFoundError(f"No memory fits.{hint} `told remember TEXT` makes one.")
        more = f", the first {limit}" if len(found) == limit else ""
        context.print(f"{memory_count(len(found))}{more}")
        for one in found:
            context.print(desk.row(one))
        if left_out:
            context.print(f"Not listed: {count(left_out, 'note')} on what agents did (--all).")
    return 0


def _scopes(desk: Desk, arguments: Arguments) -> tuple[str, ...]:
    named = arguments.text("scope")
    project = desk.project
    if arguments.text("project") or arguments.flag("all-projects"):
        chosen = desk.context.scope(arguments).project
        if chosen is None:
            return ()
        project = PROJECT + chosen.key
    if named:
        return (desk.named_scope(named, project),)
    return holding_in(desk.memories, project)


def source_name(name: str) -> str:
    """Return the name that evidence has for an agent, for the terminal, or for a project's files."""
    from told.cli.context import agent_name

    return name if name in ("", "terminal", "file") else agent_name(name)


def remember(context: Context, arguments: Arguments) -> int:
    """Remember a statement, and say what that did to others."""
    from told.memory.change import LOCK, change
    from told.memory.remember import remember as write

    with Desk(context) as desk:
        said = statement(desk, arguments, joined(arguments))
        done = write(desk.pen, said)
        asked = ""
        if said.locked and not desk.caller.is_user and not done.memory.locked:
            asked = change(desk.pen, LOCK, done.memory).proposal
        report(desk, arguments, done, asked)
    return 0


def statement(desk: Desk, arguments: Arguments, text: str) -> Said:
    """Return what is to be remembered, without secrets, with the trust that its evidence earns."""
    from told.memory.compare import stands_in
    from told.memory.remember import Said, checked
    from told.record import replaced

    redact = desk.context.redactor().redact
    said = Said(
        checked(redact(text)), desk.named_scope(arguments.text("scope"), desk.project),
        checked_kind(arguments.text("kind")), arguments.flag("lock"),
    )  # fmt: skip
    quote = " ".join(redact(arguments.text("quote")).split())
    if desk.caller.is_user:
        return said
    from told.cli.memory_quote import quoted

    caller = desk.caller
    said = replaced(said, trust="agent", agent=caller.agent, session=caller.session, quote=quote)
    place = quoted(desk.context, caller, quote) if quote else None
    if place is None:
        return said
    trust = "user" if stands_in(place.sentence, said.text) else "agent"
    return replaced(said, trust=trust, session=place.session, turn=place.turn)


def report(desk: Desk, arguments: Arguments, done: Remembered, asked: str) -> None:
    """Say what became of a statement."""
    context, memory = desk.context, done.memory
    context.rows = 1
    proposals = [*done.proposals, *([asked] if asked else [])]
    if arguments.flag("json"):
        context.print(to_json(memory_json(desk, memory) | {
            "again": done.again,
            "supersedes": [memory_json(desk, old) | {"why": why} for old, why in done.ended],
            "conflicts": [memory_json(desk, old) | {"why": why} for old, why in done.kept],
            "proposals": proposals,
        }))  # fmt: skip
        return
    scope = memory.scope.removeprefix(PROJECT) if memory.scope == desk.project else scope_name(memory.scope)
    about = ", ".join([memory.kind, context.name(scope), *(["locked"] if memory.locked else [])])
    if done.again:
        counted = ", and counted" if done.counted else ""
        context.print(f"Known already{counted}: {desk.row(memory)}")
    else:
        trust = "" if memory.trust == "user" else ", as an agent's word"
        context.print(f"Remembered {memory.id} ({about}{trust}).")
    for old, why in done.ended:
        context.print(f"It ends {old.id} ({why}): {desk.text(old, 200)}")
    for old, _ in done.kept:
        reason = "locked" if old.locked else f"of another scope ({desk.scope(old)})"
        context.print(
            f"It contradicts {old.id}, which is {reason} and stays: {desk.text(old, 200)}\n"
            f"To put it in its place: `told correct {old.id} NEW`."
        )
    if proposals:
        context.print(waits(proposals))


def waits(proposals: list[str]) -> str:
    """Say that something is for the user to decide."""
    return f"Only the user can do the rest; it waits as {', '.join(proposals)} in `told proposals`."
