"""What agents asked for and only the user may do: noted, listed, accepted or declined."""

from __future__ import annotations

import os

from told.errors import NotFoundError, UsageError
from told.journal.files import journal_folder
from told.journal.read import operations_like
from told.record import record, replaced
from told.store.ids import public_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from told.memory.pen import Pen

PROPOSE, DECIDE = "propose", "decide"
ACTIONS = ("lock", "unlock", "correct", "forget", "confirm", "reject")
OPEN, ACCEPTED, DECLINED = "open", "accepted", "declined"


@record
class Proposal:
    """Something an agent asked for."""

    id: str
    action: str
    memory: str
    by: str  # the memory that is to take its place, if it is a correction
    agent: str
    session: str
    at: int
    decided: str
    asked_by: str  # an agent, or told itself for what the user said in a session against a locked memory


def propose(pen: Pen, action: str, memory: str, *, by: str = "", place: tuple[str, str] | None = None) -> str:
    """Note that something is asked for; it says no text, so that forgetting the memory is enough.

    Args:
        pen: Of who asks.
        action: What is to be done.
        memory: To which memory.
        by: The memory that is to take its place.
        place: The agent and session in which it was said, if that is not where the command is given.
    """
    agent, session = place or (pen.caller.agent, pen.caller.session)
    made = public_id("p", os.urandom(16).hex())
    pen.note(
        PROPOSE, memory, proposal=made, action=action, by=by,
        agent=agent, session=session,
    )  # fmt: skip
    return made


def proposals(home: str) -> list[Proposal]:
    """Return every proposal that was not erased, the oldest first."""
    found: dict[str, Proposal] = {}
    decided: dict[str, str] = {}
    operations = operations_like(journal_folder(home), (PROPOSE, DECIDE))
    for one in sorted(operations, key=lambda one: (one.at, one.machine, one.number)):
        payload = one.payload or {}
        name = _text(payload, "proposal")
        if one.kind == DECIDE and one.by == "user":
            decided[name] = ACCEPTED if payload.get("accept") is True else DECLINED
        elif one.kind == PROPOSE and name and payload.get("action") in ACTIONS:
            found[name] = Proposal(
                name, _text(payload, "action"), one.memory, _text(payload, "by"), _text(payload, "agent"),
                _text(payload, "session"), one.at, OPEN, one.by,
            )  # fmt: skip
    return [replaced(one, decided=decided.get(one.id, OPEN)) for one in found.values()]


def proposal_like(home: str, beginning: str) -> Proposal:
    """Return the one open proposal whose id begins so.

    Raises:
        NotFoundError: there is none.
        UsageError: there are several.
    """
    found = [one for one in proposals(home) if one.id.startswith(beginning) and one.decided == OPEN]
    if not found:
        raise NotFoundError(f"No proposal {beginning!r} is open. `told proposals` lists them.")
    if len(found) > 1:
        raise UsageError(f"{beginning!r} could be {', '.join(one.id for one in found)}. Give more of it.")
    return found[0]


def decide(pen: Pen, proposal: Proposal, *, accept: bool) -> None:
    """Note what the user decided."""
    pen.note(DECIDE, proposal.memory, proposal=proposal.id, accept=accept)


def _text(payload: Mapping[str, object], name: str) -> str:
    value = payload.get(name)
    return value if isinstance(value, str) else ""
