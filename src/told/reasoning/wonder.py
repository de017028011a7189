"""Report what is known about a topic, what changed and what is open; save guesses about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from told.capture.entities import find_entities
from told.memories.change import OPEN, Proposal, read_proposals
from told.memories.lookup import find_refusing, refuse
from told.reasoning.graph import TopicGraph, find_changes, find_related
from told.reasoning.question import find_keys
from told.reasoning.turns import SearchScope, SessionMatches, covers, search_turns
from told.search.query import parse_query
from told.search.tokens import tokenize
from told.store.memories.records import ACTIVE, CANDIDATE, OBSERVATION, QUARANTINED, Memory

if TYPE_CHECKING:
    from told.journal.protocol import Journal
    from told.memories.journal_writer import JournalWriter
    from told.memories.remember import NewMemory
    from told.store.memories.protocol import Memories
    from told.store.sessions.protocols import SessionReading, TurnMatching

DAYS = 14
_DAY = 86_400_000
_SPECULATION = "speculation"  # label of a guess
_MAX_EDGES = 3  # of a guess to memories
_MAX_TOPIC = 60  # characters


@dataclass(frozen=True, slots=True)
class TopicChange:
    """A memory that replaced others."""

    memory: Memory  # the current one
    before: tuple[Memory, ...]  # oldest first
    back: bool  # it returned to an earlier state


@dataclass(frozen=True, slots=True)
class TopicReport:
    """Everything known about a topic."""

    topic: str
    around: TopicGraph
    known: tuple[Memory, ...]  # active memories, nearest first
    conflicts: tuple[tuple[Memory, Memory, str], ...]
    changes: tuple[TopicChange, ...]
    proposals: tuple[Proposal, ...]  # open ones, about known memories
    candidates: int  # that wait for the user's review
    guesses: tuple[Memory, ...]
    spoken: SessionMatches

    @property
    def nothing(self) -> bool:
        """Return whether neither memories nor sessions mention it."""
        return not self.known and not self.guesses and not self.spoken.turns


def wonder(
    memories: Memories,
    journal: Journal,
    reading: SessionReading,
    matching: TurnMatching,
    topic: str,
    *,
    where: SearchScope,
) -> TopicReport:
    """Collect what memories and sessions contain about a topic."""
    around = find_related(memories, topic, where.scopes, where.now)
    known = tuple(one.memory for one in around.of(ACTIVE))
    ids = {one.id for one in known}
    words = parse_query(topic, where.now).words
    return TopicReport(
        topic,
        around,
        known,
        tuple(around.conflicts()),
        tuple(_find_changes(memories, known)),
        tuple(one for one in read_proposals(journal) if one.decided == OPEN and one.memory in ids),
        len(_find_waiting(memories, CANDIDATE, words, where.scopes, where.now)),
        tuple(_find_guesses(memories, words, where.scopes, where.now)),
        search_turns(reading, matching, topic, where),
    )


def _find_changes(memories: Memories, known: Iterable[Memory]) -> list[TopicChange]:
    """Return the memories that replaced others, the latest change first."""
    found = [(one, tuple(find_changes(memories, one))) for one in known]
    changes = [
        TopicChange(one, before, any(_read_words(old) == _read_words(one) for old in before))
        for one, before in found
        if before
    ]
    return sorted(changes, key=lambda one: (-one.memory.created, one.memory.id))


def _read_words(memory: Memory) -> frozenset[str]:
    return find_keys(tokenize(memory.text.lower()))


def _find_waiting(
    memories: Memories, status: str, words: Sequence[str], scopes: Sequence[str], now: int
) -> list[Memory]:
    """Return the memories of a status outside of search that have most of some words."""
    rows = memories.listed(status=status, scopes=scopes)
    return [
        one
        for one in memories.load(rows).values()
        if not 0 < one.expires <= now and words and covers(" ".join((one.text, *one.entities)), words)
    ]


def _find_guesses(memories: Memories, words: Sequence[str], scopes: Sequence[str], now: int) -> list[Memory]:
    found = _find_waiting(memories, QUARANTINED, words, scopes, now)
    return sorted((one for one in found if one.label == _SPECULATION), key=lambda one: (-one.created, one.id))


def save_guess(writer: JournalWriter, topic: str, said: NewMemory) -> tuple[Memory, bool]:
    """Save a guess about a topic for 14 days; repeating it extends that.

    It is quarantined: no brief shows it and it supersedes nothing. Also tell whether it was known. A guess
    that the user rejected or forgot is not saved.
    """
    put_away = find_refusing(writer, said)
    if put_away:
        refuse(writer, said, put_away)
        writer.write()
        return put_away, True
    words = parse_query(topic, writer.now).words
    expires = writer.now + DAYS * _DAY
    for one in _find_guesses(writer.memories, words, (said.scope,), writer.now):
        if _normalise(one.text) == _normalise(said.text):
            writer.add("expire", one.id, expires=expires)
            writer.write()
            return writer.read(one.id), True
    made = writer.new_id()
    names = dict.fromkeys((*find_entities(said.text), " ".join(topic.split())[:_MAX_TOPIC]))
    place = {
        "agent": said.agent, "session": said.session, "turn": said.turn, "quote": said.text, "at": writer.now,
    }  # fmt: skip
    writer.add(
        "remember", made, text=said.text, kind=OBSERVATION, label=_SPECULATION, scope=said.scope,
        trust=said.trust, importance=1.0, alpha=1.0, beta=1.0, status=QUARANTINED, expires=expires,
        entities=list(names), evidence=[place],
    )  # fmt: skip
    for node in find_related(writer.memories, topic, (said.scope,), writer.now).of(ACTIVE)[:_MAX_EDGES]:
        writer.add("edge", made, kind="about", target=node.memory.id)
    writer.write()
    return writer.read(made), False


def _normalise(text: str) -> str:
    return " ".join(text.lower().split()).strip(" .!")
