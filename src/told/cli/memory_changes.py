"""`told correct`, `lock`, `unlock`, `confirm`, `reject`, `undo` and `proposals`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from told.agents import label
from told.cli.arguments import Arguments
from told.cli.context import UNDO_HINT, Context, MemoryView, count, cut, iso, memory_count, when
from told.cli.guard import guard_json, print_guard
from told.cli.memories import describe_refusal, remember, waiting_note
from told.errors import NotFoundError, UsageError
from told.journal.files import SET, Operation
from told.memories.change import (
    CONFIRM,
    LOCK,
    OPEN,
    REJECT,
    UNLOCK,
    Changed,
    Proposal,
    accept,
    change,
    decide,
    find_proposal,
    read_proposals,
)
from told.memories.change import correct as correct_memory
from told.memories.forget import forget, include_duplicates, plan_forget
from told.memories.journal_writer import DECIDE, IMPORT
from told.memories.remember import remember as store_memory
from told.memories.scopes import SCOPE, find_memories
from told.memories.undo import undo as undo_last
from told.store.memories.records import (
    ACTIVE,
    ARCHIVED,
    CANDIDATE,
    CAPTURE,
    DISMISSED,
    QUARANTINED,
    READER,
    SHARED_WITH,
    UNCONFIRMED,
)

_DONE = {LOCK: "Locked", UNLOCK: "Unlocked", CONFIRM: "Confirmed", REJECT: "Dismissed"}
_MAY_REJECT = (CANDIDATE, QUARANTINED, ARCHIVED)  # besides active memories
_MIN_SURE_ID = 6  # letters that no word of a phrase has by chance
_STATEMENT_WORDS = 3  # fewer words can only be a search for a memory


def correct(context: Context, arguments: Arguments) -> None:
    """Replace a memory with a new statement."""
    if len(arguments.operands) < 2:
        raise UsageError("Give the old and the new one: `told correct ID 'the new statement'`.")
    with MemoryView(context) as view:
        old = view.find_one(arguments.operands[0])
        text = " ".join(arguments.operands[1:])
        draft = view.new_memory(
            text, kind=arguments.text("kind"), quote=arguments.text("quote"), replaces=(old.id,)
        )
        said = draft.new._replace(scope=old.scope, kind=draft.new.kind or old.kind)
        if draft.why_not or view.caller.is_user or old.locked or not old.is_decided_by_user:
            done = correct_memory(view.writer, old, said._replace(candidate=False, replaces=()))
        else:
            done = Changed(store_memory(view.writer, said).memory, old)
        if context.as_json:
            context.print_json(_changed_json(view, done) | {"supersedes": [view.json(old)]})
        elif not view.caller.is_user and describe_refusal(done.memory):
            context.print(describe_refusal(done.memory))
        elif done.proposal:
            context.print(f"Only you can correct your memories. {waiting_note([done.proposal])}")
        else:
            locked = ", locked as before" if done.memory.locked else ""
            context.print(f"Replaced {old.id} with {done.memory.id}{locked}. {UNDO_HINT}")


def lock(context: Context, arguments: Arguments) -> None:
    """Lock a memory, or remember a statement and lock it."""
    given = arguments.phrase
    with MemoryView(context) as view:
        found = find_memories(view.memories, given, view.scopes, context.now)
        by_id = bool(found) and found[0].id.startswith(given)
        if by_id or (len(given.split()) < _STATEMENT_WORDS and given.isascii()):
            _set_lock(view, arguments.phrase, LOCK)
            return
    arguments.set("lock", True)
    remember(context, arguments)


def unlock(context: Context, arguments: Arguments) -> None:
    """Unlock a memory."""
    with MemoryView(context) as view:
        _set_lock(view, arguments.phrase, UNLOCK)


def _set_lock(view: MemoryView, given: str, action: str) -> None:
    context, memory = view.context, view.find_one(given)
    is_done = memory.locked == (action == LOCK)
    done = Changed(memory, memory) if is_done else change(view.writer, action, memory)
    if context.as_json:
        guard = {"guard": guard_json(context, done.memory)} if action == LOCK else {}
        context.print_json(_changed_json(view, done) | guard)
        return
    if is_done:
        context.print(f"{memory.id} is already {'locked' if memory.locked else 'unlocked'}.")
    elif done.proposal:
        context.print(f"Only you can {action} memories. {waiting_note([done.proposal])}")
    else:
        context.print(f"{_DONE[action]} {done.memory.id}: {view.text(done.memory, 200)}")
        print_guard(context, done.memory)
        view.print_undo()


def judge(context: Context, arguments: Arguments) -> None:
    """Confirm or reject the memories with some ids, or the one with some words; one undo reverts all."""
    with MemoryView(context) as view:
        _judge(view, arguments, CONFIRM if arguments.command.name == CONFIRM else REJECT)


def _judge(view: MemoryView, arguments: Arguments, action: str) -> None:
    context = view.context
    also = UNCONFIRMED if action == CONFIRM else _MAY_REJECT
    given = list(dict.fromkeys(arguments.operands))
    known = [_is_id(view, one) for one in given]
    has_id = any(is_id and len(one) >= _MIN_SURE_ID for one, is_id in zip(given, known, strict=True))
    if not all(known) and not has_id:
        given = [arguments.phrase]
    found = list({one.id: one for one in (view.find_one(name, also=also) for name in given)}.values())
    done = [change(view.writer, action, one) for one in found]
    proposals = [one.proposal for one in done if one.proposal]
    if context.as_json:
        rows = [_changed_json(view, one) for one in done]
        context.print_json(rows[0] if len(rows) == 1 else {"count": len(rows), "memories": rows})
        return
    if proposals:
        context.print(f"Only you can {action} memories. {waiting_note(proposals)}")
        return
    for one in done:
        verb = "Restored" if one.before.is_rejected else _DONE[action]
        context.print(f"{verb} {one.memory.id}: {view.text(one.memory, 200)}")
        if action == CONFIRM and one.before.status == ACTIVE:
            context.print(f"Confidence {one.before.confidence:.2f}, now {one.memory.confidence:.2f}.")
        elif one.memory.status == QUARANTINED:
            context.print("It contradicts a locked memory: `told proposals` asks which is right.")
    if action == REJECT:
        context.print("Out of briefs and searches, and never learned again.")
    view.print_undo()


def _is_id(view: MemoryView, given: str) -> bool:
    found = find_memories(view.memories, given, view.scopes, view.context.now)
    return bool(found) and all(one.id.startswith(given) for one in found)


def _changed_json(view: MemoryView, done: Changed) -> dict[str, Any]:
    return view.json(done.memory) | {"proposals": [done.proposal] if done.proposal else []}


_UNDONE = {
    "remember": "remembered", "correct": "corrected it to", "lock": "locked", "unlock": "unlocked",
    "confirm": "confirmed", "reject": "rejected", "share": "shared", "archive": "archived",
    "restore": "restored", "repeat": "counted", "revise": "reworded", "expire": "extended", "move": "moved",
    "quarantine": "quarantined", "release": "released",
}  # fmt: skip
_UNDONE_SHOWN = 8  # lines


def undo(context: Context, arguments: Arguments) -> None:
    """Undo the user's last change to memories, or to one memory."""
    with MemoryView(context) as view:
        given = arguments.text("of")
        done = undo_last(view.writer, view.find_one(given, any_status=True).id if given else "")
        if not done:
            raise NotFoundError("There is nothing to undo.")
        if done[0].kind == IMPORT:
            context.report(*_describe_import(done))
            return
        rows = [{"id": one.memory, "what": one.kind, "at": iso(one.at)} for one in done]
        context.report("\n".join(_undone_lines(view, done)), {"count": len(rows), "undone": rows})


def _describe_import(done: Sequence[Operation]) -> tuple[str, dict[str, Any]]:
    made = {one.memory for one in done if one.memory}
    text = f"Undone: the import of {memory_count(len(made))}. Checkpoints you changed since stay."
    return text, {"count": len(done), "undone": [{"id": one, "what": IMPORT} for one in sorted(made)]}


def _undone_lines(view: MemoryView, done: Sequence[Operation]) -> list[str]:
    """Say what was undone: the changes, then the memories that are active again."""
    known = view.memories.get({one.memory for one in done if one.memory})
    lines, again = [], []
    for one in done:
        payload = one.payload or {}
        memory = known.get(one.memory)
        text = view.text(memory, 200) if memory else ""
        if not memory and isinstance(payload.get("text"), str):  # its creation was undone
            text = view.context.fenced(cut(payload["text"], 200), str(payload.get("trust")))
        if one.kind == "revise" and any(other.memory == one.memory and other is not one for other in done):
            continue
        if one.kind in _UNDONE:
            lines.append(f"{_UNDONE[one.kind]} {one.memory}: {text}")
        elif one.kind == "edge" and payload.get("kind") == SHARED_WITH:
            lines.append(f"{'took back' if payload.get('remove') else 'shared'} {one.memory}: {text}")
        elif one.kind == DECIDE:
            verb = "accepted" if payload.get("accept") is True else "declined"
            lines.append(f"{verb} the proposal {view.context.name(str(payload.get('proposal')))}")
        elif one.kind == SET:
            lines += [
                _undone_note(view, topic, *note)
                for topic in payload[SET]
                for note in payload[SET][topic].items()
            ]
        elif one.kind == "supersede" and memory and memory.status == ACTIVE:
            again.append(f"Active again: {one.memory}: {text}")
    more = [f"and {len(lines) - _UNDONE_SHOWN:,} more"] if len(lines) > _UNDONE_SHOWN else []
    shown = lines[:_UNDONE_SHOWN] or [f"{done[0].kind} {done[0].memory}"]
    return [f"Undone: {shown[0]}", *shown[1:], *more, *again[:_UNDONE_SHOWN]]


def _undone_note(view: MemoryView, topic: str, name: str, value: str) -> str:
    if topic == SCOPE:
        return f"created the shared scope {name}"
    scope, _, project = name.partition("\n")
    verb = "applied" if value else "stopped applying"
    return f"{verb} the scope {scope} to {view.scope_name(project)}"


def proposals(context: Context, arguments: Arguments) -> None:
    """List what agents proposed, or accept or decline one proposal."""
    words = arguments.operands
    with MemoryView(context) as view:
        if not words:
            return _list_proposals(view)
        if words[0] not in ("accept", "decline") or len(words) != 2:
            raise UsageError("Decide one: `told proposals accept ID` or `told proposals decline ID`.")
        view.require_user("decide proposals")
        return _decide(view, find_proposal(view.writer.journal, words[1]), accepted=words[0] == "accept")


def _decide(view: MemoryView, proposal: Proposal, *, accepted: bool) -> None:
    context = view.context
    also = {CONFIRM: UNCONFIRMED, REJECT: _MAY_REJECT}.get(proposal.action, ())
    memory = view.find_one(proposal.memory, any_status=not accepted, also=also)
    if not accepted:
        decide(view.writer, proposal, accept=False)
        view.writer.write()
        said = f"Declined: {proposal.action} {memory.id}. It is unchanged. {UNDO_HINT}"
    elif proposal.action == "forget":
        decide(view.writer, proposal, accept=True)
        every = include_duplicates(view.writer.journal, view.memories, [memory])
        plan = plan_forget(context.connection, context.key, view.home, every)
        forget(view.writer, context.connection, plan)
        from told.cli.forget import end_service  # noqa: PLC0415 - rarely needed

        end_service(view.home)
        said = f"Forgot {memory.id}. This cannot be undone."
    else:
        done = accept(view.writer, proposal, memory)
        said = f"Accepted: {proposal.action} {memory.id}. {view.row(done.memory)}\n{UNDO_HINT}"
    decided = "accepted" if accepted else "declined"
    found = {"id": proposal.id, "action": proposal.action, "memory": memory.id, "decided": decided}
    context.report(said, found)


def _list_proposals(view: MemoryView) -> None:
    context = view.context
    waiting = [one for one in read_proposals(view.writer.journal) if one.decided == OPEN]
    known = view.memories.get({name for one in waiting for name in (one.memory, one.by) if name})
    dismissed = {one.id for one in known.values() if one.status == DISMISSED}
    waiting = [
        one
        for one in waiting
        if one.memory in known
        and known[one.memory].text
        and one.by not in dismissed
        and not (one.action == REJECT and one.memory in dismissed)
    ]
    if context.as_json:
        rows = [
            {"id": one.id, "action": one.action, "agent": one.agent, "session": one.session or None,
             "at": iso(one.at), "memory": view.json(known[one.memory]),
             "new": view.json(known[one.by]) if one.by in known else None}
            for one in waiting
        ]  # fmt: skip
        context.print_json({"count": len(rows), "proposals": rows}, found=rows)
        return
    if not waiting:
        raise NotFoundError("No proposals are waiting.")
    context.print(f"{count(len(waiting), 'proposal')}; `told proposals accept ID` or `decline ID` decides.")
    for one in waiting:
        asks = f"you said otherwise in {label(one.agent)}: {one.action}?"
        if one.asked_by not in (CAPTURE, READER):
            asks = f"{context.name(one.agent)} asks: {one.action}"
        context.print(f"{when(one.at, context.now)} {one.id} {asks}")
        context.print(f"  {view.row(known[one.memory])}")
        if one.by in known:
            context.print(f"  new: {view.row(known[one.by])}")
    context.print("`told review` decides them one after the other.")
