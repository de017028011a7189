"""`told correct`, `lock`, `unlock`, `confirm`, `reject`, `undo` and `proposals`: what the user decides."""

from __future__ import annotations

from told.agents.labels import label
from told.cli.memories import remember, statement, waits
from told.cli.memory_desk import Desk, joined, memory_json
from told.cli.output import count, iso, to_json, when
from told.errors import NotFoundError, UsageError
from told.memory.change import CONFIRM, LOCK, REJECT, UNLOCK, change
from told.memory.change import accept as accept_proposal
from told.memory.change import correct as put_in_place
from told.memory.finding import meant
from told.memory.proposals import OPEN, Proposal, decide, proposal_like
from told.memory.proposals import proposals as all_proposals
from told.record import replaced
from told.store.memory_records import CAPTURE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.cli.arguments import Arguments
    from told.cli.context import Context
    from told.memory.change import Changed

_DONE = {LOCK: "Locked", UNLOCK: "Unlocked", CONFIRM: "Confirmed", REJECT: "Rejected"}
_STATEMENT = 3  # words; what has fewer can only be words to find a memory by


def correct(context: Context, arguments: Arguments) -> int:
    """Put a new statement in the place of an old one."""
    if len(arguments.operands) < 2:
        raise UsageError("Give the old one and the new one: `told correct ID 'the new statement'`.")
    with Desk(context) as desk:
        old = desk.one(arguments.operands[0])
        said = statement(desk, arguments, " ".join(arguments.operands[1:]))
        said = replaced(said, scope=old.scope, kind=said.kind or old.kind)
        done = put_in_place(desk.pen, old, said)
        context.rows = 1
        if arguments.flag("json"):
            context.print(to_json(_changed_json(desk, done) | {"supersedes": [memory_json(desk, old)]}))
        elif done.proposal:
            context.print(f"{old.id} is the user's. {waits([done.proposal])}")
        else:
            locked = ", locked as before" if done.memory.locked else ""
            context.print(
                f"{done.memory.id} stands in the place of {old.id}{locked}. `told undo` takes it back."
            )
    return 0


def lock(context: Context, arguments: Arguments) -> int:
    """Lock a memory, or remember a statement and lock it."""
    given = joined(arguments)
    with Desk(context) as desk:
        found = meant(desk.memories, given, desk.scopes, context.now)
        by_id = bool(found) and found[0].id.startswith(given)
        if by_id or (len(given.split()) < _STATEMENT and given.isascii()):
            return _change(desk, arguments, LOCK, given)
    arguments.set("lock", True)
    return remember(context, arguments)


def unlock(context: Context, arguments: Arguments) -> int:
    """Let others change a memory again."""
    with Desk(context) as desk:
        return _change(desk, arguments, UNLOCK, joined(arguments))


def confirm(context: Context, arguments: Arguments) -> int:
    """Say that a memory is right."""
    with Desk(context) as desk:
        return _change(desk, arguments, CONFIRM, joined(arguments))


def reject(context: Context, arguments: Arguments) -> int:
    """Say that a memory is not right, or not of use."""
    with Desk(context) as desk:
        return _change(desk, arguments, REJECT, joined(arguments))


def _change(desk: Desk, arguments: Arguments, action: str, given: str) -> int:
    memory = desk.one(given)
    context = desk.context
    context.rows = 1
    if action in (LOCK, UNLOCK) and memory.locked == (action == LOCK):
        context.print(
            to_json(memory_json(desk, memory) | {"proposals": []})
            if arguments.flag("json")
            else f"{memory.id} is {'locked' if memory.locked else 'not locked'} as it is."
        )
        return 0
    done = change(desk.pen, action, memory)
    if arguments.flag("json"):
        context.print(to_json(_changed_json(desk, done)))
    elif done.proposal:
        context.print(f"Only the user can {action} {memory.id}. {waits([done.proposal])}")
    else:
        context.print(f"{_DONE[action]} {_said(desk, action, done)}")
    return 0


def _said(desk: Desk, action: str, done: Changed) -> str:
    text = f"{done.memory.id}: {desk.text(done.memory, 200)}"
    if action not in (CONFIRM, REJECT):
        return text
    return f"{text}\nConfidence {done.before.confidence:.2f}, now {done.memory.confidence:.2f}."


def _changed_json(desk: Desk, done: Changed) -> dict[str, Any]:
    return memory_json(desk, done.memory) | {"proposals": [done.proposal] if done.proposal else []}


def undo(context: Context, arguments: Arguments) -> int:
    """Take back the user's last command about memories, or the last one about one memory."""
    from told.memory.undo import undo as take_back

    with Desk(context) as desk:
        only_user(desk, "undo what the user did")
        given = arguments.text("of")
        done = take_back(desk.pen, desk.one(given, ended=True).id if given else "")
        if done is None:
            raise NotFoundError("There is nothing to take back.")
        context.rows = len(done.operations)
        if arguments.flag("json"):
            rows = [{"id": one.memory, "what": one.kind, "at": iso(one.at)} for one in done.operations]
            context.print(to_json({"count": len(rows), "undone": rows}))
            return 0
        what = ", ".join(f"{one.kind} {one.memory}" for one in done.operations)
        context.print(f"Taken back: {what}.")
    return 0


def only_user(desk: Desk, what: str) -> None:
    """Stop an agent.

    Raises:
        UsageError: this command is given in an agent's shell.
    """
    if not desk.caller.is_user:
        raise UsageError(f"An agent cannot {what}, and {desk.caller.sign} is set here. Use another terminal.")


def proposals(context: Context, arguments: Arguments) -> int:
    """List what agents asked for, or decide one."""
    words = arguments.operands
    with Desk(context) as desk:
        if not words:
            return _list(desk, arguments)
        if words[0] not in ("accept", "decline") or len(words) != 2:
            raise UsageError("Decide one: `told proposals accept ID` or `told proposals decline ID`.")
        only_user(desk, "decide what it asked for")
        return _decide(desk, arguments, proposal_like(desk.home, words[1]), accept=words[0] == "accept")


def _decide(desk: Desk, arguments: Arguments, proposal: Proposal, *, accept: bool) -> int:
    context = desk.context
    memory = desk.one(proposal.memory, ended=not accept)
    context.rows = 1
    if not accept:
        decide(desk.pen, proposal, accept=False)
        desk.pen.write()
        said = f"Declined: {proposal.action} {memory.id}. It stays as it is."
    elif proposal.action == "forget":
        from told.memory.forget import forget, plan, with_all

        decide(desk.pen, proposal, accept=True)
        every = with_all(desk.home, desk.memories, [memory])
        forget(desk.pen, context.connection, plan(context.connection, context.key, desk.home, every))
        said = f"Forgot {memory.id}."
    else:
        done = accept_proposal(desk.pen, proposal, memory)
        said = f"Accepted: {proposal.action} {memory.id}. {desk.row(done.memory)}"
    if arguments.flag("json"):
        decided = "accepted" if accept else "declined"
        context.print(to_json({"id": proposal.id, "action": proposal.action, "memory": memory.id,
                               "decided": decided}))  # fmt: skip
    else:
        context.print(said)
    return 0


def _list(desk: Desk, arguments: Arguments) -> int:
    context = desk.context
    waiting = [one for one in all_proposals(desk.home) if one.decided == OPEN]
    known = desk.memories.get({name for one in waiting for name in (one.memory, one.by) if name})
    waiting = [one for one in waiting if one.memory in known and known[one.memory].text]
    context.rows = len(waiting)
    if arguments.flag("json"):
        rows = [
            {"id": one.id, "action": one.action, "agent": one.agent, "session": one.session or None,
             "at": iso(one.at), "memory": memory_json(desk, known[one.memory]),
             "new": memory_json(desk, known[one.by]) if one.by in known else None}
            for one in waiting
        ]  # fmt: skip
        context.print(to_json({"count": len(rows), "proposals": rows}))
        return 0 if rows else 1
    if not waiting:
        raise NotFoundError("Nothing waits for you to decide.")
    context.print(f"{count(len(waiting), 'proposal')}; `told proposals accept ID` or `decline ID` decides.")
    for one in waiting:
        asks = f"in {label(one.agent)} you said otherwise: {one.action}?"
        if one.asked_by != CAPTURE:
            asks = f"{context.name(one.agent)} asks: {one.action}"
        context.print(f"{when(one.at, context.now)} {one.id} {asks}")
        context.print(f"  {desk.row(known[one.memory])}")
        if one.by in known:
            context.print(f"  new: {desk.row(known[one.by])}")
    return 0
