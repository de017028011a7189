"""Find what waits for the user's review, the best first, and decide it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from told.capture.grammar import leans_back
from told.capture.sentences import count_words
from told.errors import UsageError
from told.journal.protocol import Journal
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
    correct,
    decide,
    read_proposals,
)
from told.memories.concurrent import Sides, find_sides, use_all, use_side
from told.memories.journal_writer import JournalWriter
from told.memories.move import move_to_scope
from told.memories.remember import NewMemory
from told.memories.undo import undo_supersede
from told.store.memories.protocol import Memories
from told.store.memories.records import (
    ACTIVE,
    AGENT,
    CANDIDATE,
    CAPTURE,
    DECISION,
    FACT,
    PRIVATE,
    QUARANTINED,
    RULE,
    UNCONFIRMED,
    USER,
    Memory,
    is_private,
)

CONFLICT, PROPOSAL, LEARNED = "conflict", "proposal", "learned"
STATES = (CONFLICT, PROPOSAL, LEARNED, CANDIDATE)
_CORRECT, _FORGET, _CONTRADICTS = "correct", "forget", "contradicts"
_KIND_WEIGHTS = {RULE: 1.0, DECISION: 0.75, FACT: 0.6}
_OTHER_WEIGHT = 0.4
_MAX_SESSIONS = 4  # that count as repetition
_MIN_WORDS, _MAX_WORDS = 4, 60  # of a statement that is worth the user's time
_AT_TERMINAL = "terminal"


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """One thing that waits for the user's decision."""

    state: str
    memory: Memory  # what would be kept or dismissed
    other: Memory | None = None  # the memory that it contradicts or would replace
    proposal: Proposal | None = None
    sides: Sides | None = None  # what the user's machines made of it without knowing of each other
    ended: tuple[Memory, ...] = ()  # what it replaced when it was learned

    @property
    def id(self) -> str:
        """Return the id of its proposal, or of its memory."""
        return self.proposal.id if self.proposal else self.memory.id

    @property
    def score(self) -> float:
        """Return how much it is worth: confidence by repetition by kind."""
        sessions = {place.session for place in self.memory.evidence if place.session}
        times = min(_MAX_SESSIONS, max(1, len(sessions)))
        return self.memory.confidence * times * _KIND_WEIGHTS.get(self.memory.kind, _OTHER_WEIGHT)

    @property
    def replaces(self) -> bool:
        """Return whether keeping it replaces the other memory."""
        return self.proposal is not None and self.proposal.action == _CORRECT

    @property
    def is_request(self) -> bool:
        """Return whether an agent asks for something else than another text."""
        return self.proposal is not None and not self.replaces

    @property
    def deletes(self) -> bool:
        """Return whether keeping it would delete the memory for good."""
        return self.proposal is not None and self.proposal.action == _FORGET


def find_review_items(
    memories: Memories, journal: Journal, scopes: Sequence[str] = (), kind: str = ""
) -> list[ReviewItem]:
    """Return what waits for the user in some or all scopes, of some or all kinds and marks, the best first.

    First conflicts, also between the user's machines, and proposals; then learned memories that the user has
    not looked at, and candidates, each by their score; statements that cannot stand alone come last.
    """
    diverged = find_sides(memories, journal)  # what two machines changed without knowing of each other
    proposed = [ReviewItem(CONFLICT, one.kept.memory, one.others[0].memory, sides=one) for one in diverged]
    proposed += _find_proposed(memories, journal)
    seen = {name for one in proposed for name in (one.memory.id, one.other.id if one.other else "")}
    learned = memories.load(memories.unreviewed(scopes)).values()
    waiting = [one for one in learned if all(place.agent != _AT_TERMINAL for place in one.evidence)]
    candidates = memories.load(memories.listed(status=CANDIDATE, scopes=scopes)).values()
    items = [*proposed, *_find_learned(memories, waiting)]
    items += [ReviewItem(CANDIDATE, one) for one in candidates]
    chosen = [
        one
        for one in items
        if (one.proposal is not None or one.sides is not None or one.memory.id not in seen)
        and (not scopes or one.memory.scope in scopes)
        and kind in ("", one.memory.kind, *one.memory.marks)
    ]
    return sorted(chosen, key=_rank)


def _rank(item: ReviewItem) -> tuple[int, float, int, str]:
    if item.state in (CONFLICT, PROPOSAL):
        return STATES.index(item.state), 0.0, -item.memory.created, item.id
    needs_conversation = bool(item.memory.context) or _is_unclear(item.memory.text)
    group = len(STATES) if needs_conversation else STATES.index(item.state)
    return group, -item.score, -item.memory.created, item.id


@lru_cache(maxsize=8192)  # a review sorts again after each decision
def _is_unclear(text: str) -> bool:
    fits = not text.isascii() or _MIN_WORDS <= count_words(text) <= _MAX_WORDS
    return not fits or text.rstrip().endswith("?") or leans_back(text)


def _find_proposed(memories: Memories, journal: Journal) -> Iterable[ReviewItem]:
    """Yield open proposals that can still be done, one for each change."""
    waiting = [one for one in read_proposals(journal) if one.decided == OPEN]
    waiting = list({(one.action, one.memory, one.by): one for one in waiting}.values())
    known = memories.get({name for one in waiting for name in (one.memory, one.by) if name})
    for one in waiting:
        memory, draft = known.get(one.memory), known.get(one.by)
        if memory is None or not _can_be_done(one, memory, draft):
            continue
        if draft is None:
            yield ReviewItem(PROPOSAL, memory, proposal=one)
        else:
            yield ReviewItem(PROPOSAL if one.asked_by == AGENT else CONFLICT, draft, memory, one)


def _can_be_done(proposal: Proposal, memory: Memory, draft: Memory | None) -> bool:
    if not memory.text:
        return False
    if proposal.action == _CORRECT:
        has_draft = draft is not None and draft.status in (ACTIVE, QUARANTINED) and bool(draft.text)
        return has_draft and memory.status == ACTIVE
    statuses = {CONFIRM: (ACTIVE, *UNCONFIRMED), REJECT: (ACTIVE, CANDIDATE)}.get(proposal.action, (ACTIVE,))
    is_done = {
        LOCK: memory.locked, UNLOCK: not memory.locked, CONFIRM: bool(memory.confirmed),
        PRIVATE: is_private(memory),
    }  # fmt: skip
    return memory.status in statuses and not is_done.get(proposal.action)


def _find_learned(memories: Memories, waiting: Sequence[Memory]) -> Iterable[ReviewItem]:
    """Yield learned memories; a conflict if one contradicts a memory of another scope."""
    targets = {
        one.id: [edge.target for edge in one.edges if edge.kind == _CONTRADICTS and edge.by != USER]
        for one in waiting
    }
    replaced = memories.superseded([one.id for one in waiting])
    known = memories.get(
        {name for found in (targets, replaced) for names in found.values() for name in names}
    )
    for one in waiting:
        others = [known[name] for name in targets[one.id] if name in known]
        other = next((other for other in others if other.status == ACTIVE), None)
        ended = [known[name] for name in replaced.get(one.id, ()) if name in known]
        sessions = {place.session for place in one.evidence}
        ended = [  # not if told made both from the same words
            old
            for old in ended
            if old.worded_by != CAPTURE or all(place.session not in sessions for place in old.evidence)
        ]
        yield ReviewItem(CONFLICT if other else LEARNED, one, other, ended=tuple(ended))


def keep(writer: JournalWriter, item: ReviewItem) -> Changed:
    """Keep a memory, or accept a proposal; one to delete a memory is for `told forget`."""
    if item.sides is not None:
        return Changed(use_side(writer, item.sides, item.sides.kept), item.memory)
    if item.proposal is None:
        return change(writer, CONFIRM, item.memory)
    target = item.memory if item.other is None else item.other
    done = accept(writer, item.proposal, target)
    # Otherwise the new memory is one that the user made.
    return change(writer, CONFIRM, done.memory) if item.replaces and item.memory.status == ACTIVE else done


def keep_both(writer: JournalWriter, item: ReviewItem) -> Changed:
    """Keep both sides of a conflict."""
    if item.other is None:
        raise UsageError(f"{item.id} contradicts no other memory. `told review keep {item.id}` keeps it.")
    if item.sides is not None:
        return Changed(use_all(writer, item.sides), item.memory)
    if item.proposal is not None:
        decide(writer, item.proposal, accept=False)
    if item.memory.status == QUARANTINED:
        writer.add("release", item.memory.id)
    return change(writer, CONFIRM, item.memory)


def dismiss(writer: JournalWriter, item: ReviewItem) -> Changed:
    """Dismiss a memory, or decline a proposal and dismiss its new text; of two sides use the other."""
    if item.sides is not None:
        return Changed(use_side(writer, item.sides, item.sides.others[0]), item.memory)
    if item.proposal is not None:
        decide(writer, item.proposal, accept=False)
        if item.is_request:
            writer.write()
            return Changed(item.memory, item.memory)
    for old in item.ended:  # it applies again
        undo_supersede(writer, old.id, item.memory.id)
    return change(writer, REJECT, item.memory)


def edit(writer: JournalWriter, item: ReviewItem, text: str) -> Changed:
    """Keep a memory in other words; they replace what it would have replaced."""
    _require_text(item)
    old = item.other if item.replaces and item.other else item.memory
    if item.proposal is not None:
        decide(writer, item.proposal, accept=True)
    if item.sides is not None:
        use_side(writer, item.sides, item.sides.kept)
    new = NewMemory(text, old.scope, item.memory.kind, marks=item.memory.marks)
    return correct(writer, old, new, draft=item.memory.id if item.replaces else "")


def keep_locked(writer: JournalWriter, item: ReviewItem) -> Changed:
    """Keep a memory and lock it."""
    if not writer.caller.is_user:
        return change(writer, LOCK, item.memory)
    _require_text(item)
    memory = item.memory
    if item.proposal is not None or item.sides is not None or memory.status != ACTIVE:
        memory = keep(writer, item).memory
    if memory.status != ACTIVE or memory.locked:
        return Changed(memory, item.memory)
    return Changed(change(writer, LOCK, memory).memory, item.memory)


def keep_in_scope(writer: JournalWriter, item: ReviewItem, scope: str) -> Changed:
    """Keep a memory in another scope; a conflict ends, since both apply in their own."""
    _require_text(item)
    if item.sides is not None:
        use_all(writer, item.sides)
    moved = move_to_scope(writer, item.memory, scope)
    if item.proposal is not None:
        decide(writer, item.proposal, accept=False)
    if moved.status == QUARANTINED:
        writer.add("release", moved.id)
    writer.write()
    return Changed(change(writer, CONFIRM, writer.read(moved.id)).memory, item.memory)


def _require_text(item: ReviewItem) -> None:
    if item.is_request and item.proposal is not None:
        raise UsageError(
            f"{item.id} asks to {item.proposal.action} {item.memory.id}."
            f" `told review keep {item.id}` accepts it, `told review dismiss {item.id}` declines it."
        )
