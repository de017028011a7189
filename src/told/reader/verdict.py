"""Apply a reader's answer: prove each item by what the user typed, then remember, reword, end or drop.

The verdict is above what told captured by itself and what agents saved, and below the user's: what the user
locked, confirmed, edited or typed as a command is never reworded or dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from told.capture.statements import Description, describe_statement
from told.learning.learn import forgotten_turns, project_scope
from told.memories import proof
from told.memories.candidates import confirm_candidate
from told.memories.change import REJECT
from told.memories.journal_writer import JournalWriter
from told.memories.lookup import find_put_away, find_same
from told.memories.payload import evidence_of
from told.memories.remember import NewMemory, add_memory, propose_replacement, remember
from told.reader.answer import Answer, Item
from told.reader.base import Stores
from told.reader.question import Batch, Message, Part
from told.search.query import find_keywords
from told.search.vectors.arithmetic import similarity
from told.search.vectors.table import make_vector
from told.store.memories.records import (
    ACTIVE,
    AGENT,
    ALWAYS,
    CANDIDATE,
    GLOBAL,
    READER,
    WHEN,
    Memory,
    Trigger,
)

_CERTAINTY = 0.9
_WHY = "the reader found that it is said again or confirmed"
_WHY_NOT = "the reader found nothing lasting in it"
_REPLACED, _TAKEN_BACK, _REWORDED = "replaced by what you said later", "taken back by the user", "said better"
_SOME_MEANING = 0.3  # similarity of a memory and what is said of it in other words
_SAME_TEXT = 0.6  # share of words by which a reader's text names a known one


@dataclass(slots=True)
class Counts:
    """What a reader's answers led to."""

    new: int = 0
    again: int = 0  # already known
    reworded: int = 0  # what told had kept, in better words
    confirmed: int = 0
    dismissed: int = 0
    ended: int = 0  # replaced or taken back
    proposals: int = 0
    unproven: int = 0  # items whose quote the user did not type
    own_words: int = 0  # items kept in the user's own words, because theirs were not proven
    invalid: int = 0  # items of a wrong form
    summaries: int = 0
    faults: dict[str, int] = field(default_factory=dict)  # reason -> items that were not proven
    learned: list[str] = field(default_factory=list)  # ids of new and reworded memories


@dataclass(frozen=True, slots=True)
class _Proven:
    """An item with the place where the user typed its quote."""

    item: Item
    part: Part
    message: Message
    text: str  # the item's, or the user's own words


class Verdict:
    """Applies one answer to the memories."""

    def __init__(
        self, writer: JournalWriter, stores: Stores, batch: Batch, answer: Answer, counts: Counts
    ) -> None:
        self._writer = writer
        self._stores = stores
        self._batch = batch
        self._answer = answer
        self._counts = counts
        self._named = {one.id: one.text for one in (*batch.known, *batch.kept)}  # what an item may replace
        self._touched: set[str] = set()  # what told had kept, and an item reworded
        self._asked: set[str] = set()  # what was proposed to end already
        self._made: list[tuple[Item, str]] = []  # with the ids of their memories

    def apply(self) -> None:
        """Apply the items in the order in which they were said, then the decisions on what told kept."""
        self._counts.invalid += self._answer.invalid
        proven = [one for item in self._answer.items if (one := self._prove(item)) is not None]
        sessions = (part.session for part in self._batch.parts)
        forgotten = {one.id: forgotten_turns(self._stores.memories, one) for one in sessions}
        for one in sorted(proven, key=lambda one: one.message.id):
            if one.message.turn in forgotten[one.part.session.id]:
                continue
            memory = self._remember(one) if one.text else None
            if memory is not None:
                self._named[memory.id] = one.item.text
                self._made.append((one.item, memory.id))
            self._replace(one, memory)
        self._decide_kept()

    def _prove(self, item: Item) -> _Proven | None:
        """Find where the user typed the quote: in the named message, its session, or the others."""
        order = sorted(
            ((part, one) for part in self._batch.parts for one in part.messages),
            key=lambda pair: (
                pair[1].id != item.message,
                not self._is_near(pair[0], item.message),
                pair[1].id,
            ),
        )
        messages = [proof.Message(one.text, one.before, one.id, part.session.native) for part, one in order]
        found = proof.prove(item.text or item.quote, item.quote, messages, by=READER)
        if not found.why_not or found.said:
            part, message = next(pair for pair in order if found.message and pair[1].id == found.message.turn)
            text = item.text
            if found.why_not and text:  # a retraction has no text, and its words are no memory
                self._count_fault(found.why_not)
                self._counts.own_words += 1
                text = found.said
            return _Proven(item, part, message, self._stores.redact(text))
        self._count_fault(found.why_not)
        self._counts.unproven += 1
        self._keep_candidate(item)
        return None

    def _is_near(self, part: Part, message: int) -> bool:
        return any(one.id == message for one in part.messages)

    def _count_fault(self, why: str) -> None:
        self._counts.faults[why] = self._counts.faults.get(why, 0) + 1

    def _keep_candidate(self, item: Item) -> None:
        """Keep an item that the user's words do not prove as a candidate, one of a session at most."""
        part = next((one for one in self._batch.parts if self._is_near(one, item.message)), None)
        if part is None or not item.text:
            return
        memories, text = self._writer.memories, " ".join(self._stores.redact(item.text).split())
        scope = project_scope(part.session)
        is_known = bool(find_same(memories, text, (scope,), self._stores.now, CANDIDATE))
        is_full = any(
            one.status == CANDIDATE and one.worded_by == READER
            for one in memories.load(memories.of_session(part.session.native)).values()
        )
        if (
            is_known
            or is_full
            or find_put_away(memories, text, scope, self._stores.now, self._writer.journal.key)
        ):
            return
        self._writer.begin_group()
        message = next(one for one in part.messages if one.id == item.message)
        new = self._make_memory(part, message, item, text)
        with self._writer.lock():
            add_memory(self._writer, new._replace(trust=AGENT), status=CANDIDATE)
            self._writer.write(sync=False)

    def _make_memory(self, part: Part, message: Message, item: Item, text: str) -> NewMemory:
        session, stores = part.session, self._stores
        about = describe_statement(text)
        phrases = tuple(Trigger(WHEN, stores.redact(one)) for one in item.when)
        always = (Trigger(ALWAYS, "start"),) if item.always else ()
        return NewMemory(
            " ".join(text.split()),
            GLOBAL if item.scope == GLOBAL else project_scope(session),
            item.kind,
            quote=stores.redact(item.quote),
            agent=session.agent,
            session=session.native,
            turn=message.turn,
            at=message.at if 0 < message.at < stores.now else stores.now,
            about=Description(item.kind, (*about.triggers, *phrases, *always), about.entities),
            seed=f"{session.name}.{message.turn}.reader.{item.quote}.{text}",
            certainty=_CERTAINTY,
        )

    def _remember(self, one: _Proven) -> Memory:
        counts = self._counts
        done = remember(
            self._writer, self._make_memory(one.part, one.message, one.item, one.text), sync=False
        )
        counts.confirmed += done.confirmed
        counts.reworded += done.refined
        counts.again += done.again and not done.confirmed and not done.refined
        counts.new += not done.again
        counts.ended += len(done.superseded)
        if done.refined or not done.again:
            counts.learned.append(done.memory.id)
        self._touched.add(done.memory.id)
        self._asked |= {old.id for old, _ in done.contradicted} if done.proposals else set()
        return done.memory

    def _replace(self, one: _Proven, new: Memory | None) -> None:
        """End what an item replaces, if that is sure; else ask the user."""
        writer, session = self._writer, one.part.session
        ids = [name for name in self._find_named(one.item.replaces) if new is None or name != new.id]
        found = writer.memories.get(ids)
        source = (session.agent, session.native)
        with writer.lock():
            for old in (found[name] for name in ids if name in found):
                if old.status != ACTIVE or old.id in self._asked:
                    continue
                self._touched.add(old.id)
                if not self._may_end(old, one, new):
                    if new is None:
                        writer.propose(REJECT, old.id, source=source)
                    else:
                        propose_replacement(writer, new.id, old, _REPLACED, source=source)
                    self._counts.proposals += 1
                    continue
                if new is None:
                    said = self._make_memory(one.part, one.message, one.item, one.item.quote)
                    place = evidence_of(said, writer.now)
                    writer.add(REJECT, old.id, retracted=True, why=_TAKEN_BACK, evidence=[place])
                else:
                    writer.add("supersede", old.id, by=new.id, why=_REPLACED)
                self._counts.ended += 1
            writer.write(sync=False)

    def _may_end(self, old: Memory, one: _Proven, new: Memory | None) -> bool:
        """Tell whether something ends: not locked, of the same scope, said before, and spoken of."""
        scope = new.scope if new is not None else project_scope(one.part.session)
        said = max((place.at for place in old.evidence), default=old.created)
        at = one.message.at or self._stores.now
        may_change = not old.locked and old.scope == scope and said <= at
        return may_change and _is_spoken_of(old, f"{one.text}\n{one.message.text}\n{one.message.before}")

    def _find_named(self, given: Iterable[str]) -> list[str]:
        """Return the ids that a reader names, by id or by text, with what this answer made of them."""
        kept = {one.id: one for one in self._batch.kept}
        found: dict[str, None] = {}
        for name in given:
            match = name if name in self._named else find_same_text(name, self._named)
            if match:
                found[match] = None
            if match in kept:
                found |= {made: None for item, made in self._made if _shares_quote(item.quote, kept[match])}
        return list(found)

    def _decide_kept(self) -> None:
        """Confirm, drop or merge what told kept by itself."""
        writer, counts = self._writer, self._counts
        kept = writer.memories.get([one.id for one in self._batch.kept])
        for old in kept.values():
            if old.id in self._touched or old.status not in (ACTIVE, CANDIDATE):
                continue
            better = next((name for item, name in self._made if _shares_quote(item.quote, old)), "")
            if better or old.id in self._answer.drop:
                writer.begin_group()
                with writer.lock():
                    if better:
                        writer.add("supersede", old.id, by=better, why=_REWORDED)
                    else:
                        writer.add(REJECT, old.id, dropped=True, why=_WHY_NOT)
                    writer.write(sync=False)
                counts.reworded += bool(better)
                counts.dismissed += not better
            elif old.status == CANDIDATE and old.id in self._answer.keep and old.trust != AGENT:
                writer.begin_group()
                confirm_candidate(writer, old.id, _WHY)
                counts.confirmed += 1


def _is_spoken_of(memory: Memory, text: str) -> bool:
    """Tell whether a text shares a word or some meaning with a memory."""
    if not set(find_keywords(memory.text)).isdisjoint(find_keywords(text)):
        return True
    first, second = make_vector(memory.text), make_vector(text)
    return first is not None and second is not None and similarity(first, second) >= _SOME_MEANING


def find_same_text(text: str, texts: Mapping[str, str]) -> str:
    """Return the id of the text that another one names by most of its words; empty if none does."""
    wanted = set(find_keywords(text))
    best, found = 0.0, ""
    for name, other in texts.items():
        words = set(find_keywords(other))
        share = len(wanted & words) / max(1, len(wanted | words))
        if share > best:
            best, found = share, name
    return found if best >= _SAME_TEXT else ""


def _shares_quote(quote: str, memory: Memory) -> bool:
    """Tell whether a memory was made from the words of a quote."""
    wanted = " ".join(quote.casefold().split())
    places = (" ".join(place.quote.casefold().split()) for place in memory.evidence)
    return any(wanted in one or one in wanted for one in places if one)
