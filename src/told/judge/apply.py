"""Check each statement of a judge by its quote, and keep what is proven."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from told.checkpoints.counter import CheckpointState, hash_file, read_state, write_state
from told.checkpoints.save import update_checkpoint
from told.ingest.checkpoint_files import UnreadableError, read_checkpoint
from told.judge.base import Answer, Item, Stores, Summary
from told.judge.plan import Message, Portion
from told.learning.learn import forgotten_turns, project_scope
from told.memories import proof
from told.memories.candidates import confirm_candidate, dismiss_candidate
from told.memories.journal_writer import JournalWriter
from told.memories.remember import NewMemory, remember
from told.model import OPEN, TOOL
from told.store.memories.records import ACTIVE, CANDIDATE, GLOBAL, Memory
from told.store.sessions.facts import QueuedSession
from told.store.sessions.read import Filter

_CERTAINTY = 0.9
_WHY = "confirmed by the judge"
_WHY_NOT = "dismissed by the judge"


@dataclass(slots=True)
class Counts:
    """What a judge's answers led to."""

    new: int = 0
    again: int = 0  # already known
    confirmed: int = 0
    dismissed: int = 0
    proposals: int = 0
    unproven: int = 0  # items without proof
    invalid: int = 0  # items of a wrong form
    summaries: int = 0
    faults: dict[str, int] = field(default_factory=dict)  # reason -> items without proof


def apply_answer(
    writer: JournalWriter, stores: Stores, portion: Portion, answer: Answer, counts: Counts
) -> None:
    """Remember the proven items, decide on candidates, and propose replacements."""
    counts.invalid += answer.invalid
    session = portion.session
    messages = {one.turn: one for one in portion.messages}
    forgotten = forgotten_turns(stores.memories, session)
    for number, item in enumerate(answer.items):
        message = messages[item.turn]
        said = proof.Message(message.text, message.before, item.turn, session.native)
        why_not = proof.prove(item.text, item.quote, [said]).why_not
        if why_not:
            counts.unproven += 1
            counts.faults[why_not] = counts.faults.get(why_not, 0) + 1
        elif item.turn not in forgotten:
            new = _make_memory(stores, session, message, item, f"{session.name}.{item.turn}.judge.{number}")
            done = remember(writer, new, sync=False)
            counts.confirmed += done.confirmed
            counts.again += done.again and not done.confirmed
            counts.new += not done.again
            ended = {old.id for old, _ in done.superseded}
            counts.proposals += _propose(writer, stores, session, done.memory, set(item.replaces) - ended)
    _decide_candidates(writer, stores, answer, counts)


def _decide_candidates(writer: JournalWriter, stores: Stores, answer: Answer, counts: Counts) -> None:
    """Confirm and dismiss candidates, except for those that an item has confirmed."""
    found = stores.memories.get((*answer.keep, *answer.drop))
    for one in answer.keep:
        if found[one].status == CANDIDATE:
            writer.begin_group()
            confirm_candidate(writer, one, _WHY)
            counts.confirmed += 1
    for one in answer.drop:
        if found[one].status == CANDIDATE:
            writer.begin_group()
            dismiss_candidate(writer, one, _WHY_NOT)
            counts.dismissed += 1


def _make_memory(
    stores: Stores, session: QueuedSession, message: Message, item: Item, seed: str
) -> NewMemory:
    return NewMemory(
        " ".join(stores.redact(item.text).split()),
        GLOBAL if item.scope == GLOBAL else project_scope(session),
        item.kind,
        quote=item.quote,
        agent=session.agent,
        session=session.native,
        turn=item.turn,
        at=message.at if 0 < message.at < stores.now else stores.now,
        seed=seed,
        certainty=_CERTAINTY,
    )


def _propose(
    writer: JournalWriter, stores: Stores, session: QueuedSession, new: Memory, replaces: set[str]
) -> int:
    """Propose to the user that a memory replaces others; return how many."""
    found = stores.memories.get(sorted(replaces - {new.id}))
    wanted = [one for one in found.values() if one.status == ACTIVE]
    for old in wanted:
        writer.propose("correct", old.id, by=new.id, source=(session.agent, session.native))
    return len(wanted)


_NOTES = 8


def find_own_checkpoint(stores: Stores, session: QueuedSession) -> tuple[CheckpointState, str] | None:
    """Return the state and path of told's own checkpoint; None if somebody changed it."""
    state = read_state(stores.home, session.agent, session.native)
    if state is None or not state.id or state.waits:
        return None
    rows = stores.reading.checkpoints(Filter(), _NOTES, session_id=session.id)
    path = next((one.path for one in rows if one.public == state.id), "")
    return (state, path) if path and hash_file(path) == state.digest else None


def word_checkpoint(stores: Stores, session: QueuedSession, summary: Summary) -> bool:
    """Replace what the checkpoint says of goal, work and decisions; return whether it changed.

    Files, plans and references stay as the transcript has them, and an open checkpoint stays open.
    """
    found = find_own_checkpoint(stores, session)
    if found is None:
        return False
    state, path = found
    try:
        old = read_checkpoint(path)
    except UnreadableError:
        return False
    if old.by != TOOL:
        return False
    new = replace(
        old,
        goal=summary.goal,
        done=summary.done or old.done,
        pending=summary.pending,
        decisions=summary.decisions or old.decisions,
        status=OPEN if summary.pending else old.status,
    )
    changed = update_checkpoint(stores.connection, stores.home, path, new, stores.redact)
    if changed:
        write_state(stores.home, replace(state, digest=hash_file(path)))
    return changed
