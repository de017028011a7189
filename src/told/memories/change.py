"""Change memories and decide proposals."""

from __future__ import annotations

from dataclasses import dataclass, replace

from told.errors import NotFoundError, UsageError
from told.journal.files import STRANGER, UNDO
from told.journal.fold import name_operation
from told.journal.protocol import Journal
from told.journal.transitions import confirmed_content
from told.jsontext import as_text
from told.memories.candidates import confirm_candidate
from told.memories.journal_writer import DECIDE, PROPOSE, JournalWriter
from told.memories.lookup import find_refusing, refuse
from told.memories.remember import NewMemory, add_memory
from told.memories.undo import find_cancelled
from told.store.memories.records import (
    ACTIVE,
    AGENT,
    CANDIDATE,
    PRIVATE,
    QUARANTINED,
    SHARED_WITH,
    UNCONFIRMED,
    USER,
    WAS,
    Memory,
    private_scope,
)

LOCK, UNLOCK, CONFIRM, REJECT = "lock", "unlock", "confirm", "reject"
ACTIONS = (LOCK, UNLOCK, CONFIRM, REJECT, PRIVATE, "correct", "forget")
OPEN, ACCEPTED, DECLINED = "open", "accepted", "declined"


@dataclass(frozen=True, slots=True)
class Changed:
    """The result of a change."""

    memory: Memory
    before: Memory
    proposal: str = ""  # set if an agent asked; then the memory is unchanged


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change that an agent asked for and only the user may make."""

    id: str
    action: str
    memory: str
    by: str  # the memory that would replace it, for a correction
    agent: str
    session: str
    at: int
    decided: str
    asked_by: str  # agent, or capture for a statement of the user's against a locked memory


def change(writer: JournalWriter, action: str, memory: Memory) -> Changed:
    """Lock, unlock, confirm, reject a memory or make it private; agents only propose it.

    A rejected memory is dismissed: no brief or search has it, and no session teaches it again.
    """
    if not writer.caller.is_user:
        proposal = writer.propose(action, memory.id)
        writer.write()
        return Changed(memory, memory, proposal)
    if action == REJECT and memory.locked:
        raise UsageError(f"{memory.id} is locked. Unlock it first: `told unlock {memory.id}`.")
    if action == LOCK and memory.machine.startswith(STRANGER):
        # Others can change a memory in a shared folder, so the lock goes on a copy of the user's own.
        return correct(writer, memory, NewMemory(memory.text, memory.scope, memory.kind, locked=True))
    if memory.status in UNCONFIRMED and action == CONFIRM:
        return Changed(confirm_candidate(writer, memory.id, "confirmed by the user").memory, memory)
    if action == PRIVATE:
        writer.add("share", memory.id, scope=private_scope(memory.scope))
    else:
        writer.add(action, memory.id, **(confirmed_content(memory) if action == CONFIRM else {}))
    writer.write()
    return Changed(writer.read(memory.id), memory)


def correct(writer: JournalWriter, old: Memory, new: NewMemory, draft: str = "") -> Changed:
    """Supersede a memory with a new statement; a lock is carried over.

    Agents may correct what agents said, unless the user confirmed it; for other memories they propose it,
    and what they make of a candidate is a candidate. They bring nothing back that the user put away.
    """
    if new.kind == old.kind and not new.marks:
        new = new._replace(marks=old.marks)
    is_user = writer.caller.is_user
    put_away = None if is_user else find_refusing(writer, new)
    if put_away:
        refuse(writer, new, put_away)
        writer.write()
        return Changed(put_away, old)
    if not is_user and (old.is_decided_by_user or (old.trust != AGENT and new.trust != USER)):
        made = add_memory(writer, new._replace(locked=False), status=QUARANTINED, operation="correct")
        proposal = writer.propose("correct", old.id, by=made)
        writer.write()
        return Changed(writer.read(made), old, proposal)
    status = CANDIDATE if old.status in UNCONFIRMED and not is_user else ""
    new = new._replace(locked=old.locked or new.locked)
    made = add_memory(writer, new, status=status, operation="correct")
    writer.add("supersede", old.id, by=made, why="corrected")
    if is_user:  # an edit of what the user shares is shared
        for edge in old.edges:
            if edge.kind == SHARED_WITH:
                writer.add("edge", made, kind=SHARED_WITH, target=edge.target)
    if draft:  # the memory that the agent's proposal made
        writer.add("supersede", draft, by=made, why="accepted")
    writer.write()
    return Changed(writer.read(made), old)


def read_proposals(journal: Journal) -> list[Proposal]:
    """Return all proposals that were not erased, oldest first."""
    found: dict[str, Proposal] = {}
    decided: dict[str, str] = {}
    operations = list(journal.find_by_kind((PROPOSE, DECIDE, UNDO)))
    cancelled = find_cancelled(operations)
    for one in sorted(operations, key=lambda one: (one.at, one.machine, one.number)):
        if name_operation(one) in cancelled:
            continue
        payload = one.payload or {}
        name = as_text(payload.get("proposal"))
        if one.kind == DECIDE and one.by == USER:
            decided[name] = ACCEPTED if payload.get("accept") is True else DECLINED
        elif one.kind == PROPOSE and name and payload.get("action") in ACTIONS:
            found[name] = Proposal(
                name, as_text(payload["action"]), one.memory, as_text(payload.get("by")),
                as_text(payload.get("agent")), as_text(payload.get("session")), one.at, OPEN, one.by,
            )  # fmt: skip
    return [replace(one, decided=decided.get(one.id, OPEN)) for one in found.values()]


def find_proposal(journal: Journal, prefix: str) -> Proposal:
    """Return the one open proposal whose id starts with a prefix.

    Raises:
        NotFoundError: there is none.
        UsageError: there are several.
    """
    found = [one for one in read_proposals(journal) if one.id.startswith(prefix) and one.decided == OPEN]
    if not found:
        raise NotFoundError(f"No proposal {prefix!r} is open. `told proposals` lists them.")
    if len(found) > 1:
        raise UsageError(f"{prefix!r} could be {', '.join(one.id for one in found)}. Give more of it.")
    return found[0]


def decide(writer: JournalWriter, proposal: Proposal, *, accept: bool) -> None:
    """Add the user's decision on a proposal."""
    writer.add(DECIDE, proposal.memory, proposal=proposal.id, accept=accept)
    draft = writer.read(proposal.by) if proposal.by and not accept else None
    if draft and any((edge.kind, edge.target) == (WAS, proposal.memory) for edge in draft.edges):
        writer.add("edge", draft.id, kind=WAS, target=proposal.memory, remove=True)


def accept(writer: JournalWriter, proposal: Proposal, memory: Memory) -> Changed:
    """Accept a proposal and make its change; `told forget` handles forgetting."""
    decide(writer, proposal, accept=True)
    if proposal.action != "correct":
        return change(writer, proposal.action, memory)
    draft = writer.read(proposal.by)
    if draft.status == ACTIVE:  # told asked whether it replaces the other
        writer.add("supersede", memory.id, by=draft.id, why="accepted")
        writer.write()
        return Changed(writer.read(draft.id), memory)
    new = NewMemory(
        draft.text, memory.scope, draft.kind, marks=draft.marks, context=draft.context,
        agent=proposal.agent, session=proposal.session, quote=draft.text,
    )  # fmt: skip
    return correct(writer, memory, new, draft.id)
