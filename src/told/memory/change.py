"""What a user does to a memory: lock, unlock, confirm, reject, correct. An agent only asks for it."""

from __future__ import annotations

from told.journal.model import STRANGER
from told.memory.compare import by_user
from told.memory.proposals import Proposal, decide, propose
from told.memory.remember import Said, write_down
from told.record import record, replaced
from told.store.memory_records import QUARANTINED, USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.memory.pen import Pen
    from told.store.memory_records import Memory

LOCK, UNLOCK, CONFIRM, REJECT = "lock", "unlock", "confirm", "reject"
# A rejection says more than one confirmation: it takes away what the user's word begins with.
_WEIGHTS = {CONFIRM: 1.0, REJECT: 2.0}


@record
class Changed:
    """What came of a change."""

    memory: Memory
    before: Memory
    proposal: str = ""  # an agent asked for it, and nothing else happened


def change(pen: Pen, action: str, memory: Memory) -> Changed:
    """Lock, unlock, confirm or reject a memory."""
    if not pen.caller.is_user:
        return _asked(pen, action, memory)
    if action == LOCK and memory.machine.startswith(STRANGER):
        # It stands in a folder where others can change it, so the user's own words are made of it.
        return correct(pen, memory, Said(memory.text, memory.scope, memory.kind, locked=True))
    weight = _WEIGHTS.get(action)
    pen.note(action, memory.id, **({} if weight is None else {"weight": weight}))
    pen.write()
    return Changed(pen.read(memory.id), memory)


def correct(pen: Pen, old: Memory, said: Said, draft: str = "") -> Changed:
    """Put a new statement in the place of an old one; a locked one stays locked under its new words.

    The user can do so with every memory. An agent can with what agents said; for the user's own it asks.
    """
    if not pen.caller.is_user and by_user(old):
        made = write_down(pen, replaced(said, locked=False), status=QUARANTINED, kind="correct")
        asked = propose(pen, "correct", old.id, by=made)
        pen.write()
        return Changed(pen.read(made), old, asked)
    made = write_down(pen, replaced(said, locked=old.locked or said.locked), kind="correct")
    pen.note("supersede", old.id, by=made, why="corrected")
    if draft:  # an agent had written it down before
        pen.note("supersede", draft, by=made, why="accepted")
    pen.write()
    return Changed(pen.read(made), old)


def accept(pen: Pen, proposal: Proposal, memory: Memory) -> Changed:
    """Do what an agent asked for, as the user's own command. Forgetting is done by its own command."""
    decide(pen, proposal, accept=True)
    if proposal.action != "correct":
        return change(pen, proposal.action, memory)
    draft = pen.read(proposal.by)
    said = Said(
        draft.text, memory.scope, draft.kind, trust=USER, agent=proposal.agent, session=proposal.session,
        quote=draft.text,
    )  # fmt: skip
    return correct(pen, memory, said, draft.id)


def _asked(pen: Pen, action: str, memory: Memory) -> Changed:
    asked = propose(pen, action, memory.id)
    pen.write()
    return Changed(memory, memory, asked)
