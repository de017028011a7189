"""Forgets memories and sessions for good: nothing of what they said stays, only where something was said."""

from __future__ import annotations

from told.ingest.echoes import Echoes, said_by
from told.ingest.forgetting import Forgetting
from told.ingest.forgotten import SESSION_TOPIC, TURN_TOPIC, Forgotten
from told.ingest.spans import words_of
from told.ingest.tombstones import Tombstones
from told.journal.append import MAKES_MEMORY
from told.journal.apply import leave_nothing
from told.journal.erase import erase
from told.journal.files import journal_folder
from told.journal.model import SET
from told.journal.read import operations_like, operations_of
from told.journal.steps import born
from told.memory.pen import ACT
from told.record import record
from told.store.memory_records import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from told.ingest.forgetting import Loss
    from told.memory.pen import Pen
    from told.store.memories import Memories
    from told.store.memory_records import Evidence

    Name = tuple[str, str]  # of a session: agent, native

_MOST = 32  # places that one operation may name
_MOST_TURNS = 2000
_LONG = 3  # words that say the same wherever they stand


@record
class Plan:
    """What there is to forget."""

    memories: tuple[Memory, ...]
    sessions: tuple[Name, ...]  # as a whole
    places: dict[str, list[Evidence]]  # by memory
    turns: dict[int, str]  # turns that lose text, by the number of their own ids: "agent/native"
    losses: tuple[Loss, ...]

    @property
    def names(self) -> set[Name]:
        """Every session that loses something."""
        found = {(one.agent, one.session) for places in self.places.values() for one in places if one.mark}
        return found | set(self.sessions)


def plan(
    connection: apsw.Connection, key: bytes, home: str, memories: Sequence[Memory],
    sessions: Sequence[Name] = (),
) -> Plan:  # fmt: skip
    """Find everything that says what some memories say, and what sessions would lose by forgetting it."""
    echoes = Echoes(connection, key, home)
    places = {one.id: [*filter(_is_marked, one.evidence), *echoes.places(one)] for one in memories}
    every = [place for found in places.values() for place in found]
    forgotten = Forgotten(key, every, [f"{agent}/{native}" for agent, native in sessions])
    names = {(one.agent, one.session) for one in every} | set(sessions)
    forgetting = Forgetting(connection, home, forgotten)
    return Plan(
        tuple(memories), tuple(sessions), places, forgetting.turns_losing(names),
        tuple(forgetting.losses(names)),
    )  # fmt: skip


def forget(pen: Pen, connection: apsw.Connection, found: Plan) -> None:
    """Erase what a plan found from the journal, both databases and the archive, to the last byte.

    What remains is where it was said, and marks by which the words are known again: so they are not read in
    again. What was interrupted is finished by forgetting the same once more.

    Raises:
        BusyError: another told is reading or writing; it is forgotten, but not all bytes are gone.
    """
    if found.sessions:
        notes = {f"{agent}/{native}": 1 for agent, native in found.sessions}
        pen.note(SET, "", **{SET: {SESSION_TOPIC: notes}})
    turns = sorted(found.turns.items())
    for at in range(0, len(turns), _MOST_TURNS):
        few = {str(number): name for number, name in turns[at : at + _MOST_TURNS]}
        pen.note(SET, "", **{SET: {TURN_TOPIC: few}})
    # What the user named comes last: as long as it is there, all the others can be found by its words.
    for memory in reversed(found.memories):
        places = [_place(one) for one in found.places[memory.id]]
        named = {(one["agent"], one["session"], one["turn"]) for one in places}
        places += [
            {"agent": one.agent, "session": one.session, "turn": one.turn, "at": one.at}
            for one in memory.evidence
            if (one.agent, one.session, one.turn) not in named
        ]
        for at in range(0, max(1, len(places)), _MOST):
            pen.note("forget", memory.id, evidence=places[at : at + _MOST])
    pen.write()
    erase(pen.home, [memory.id for memory in found.memories])
    leave_nothing(pen.home, pen.memories)
    Forgetting(connection, pen.home, Tombstones(pen.home).now()).erase(found.names)


def _is_marked(place: Evidence) -> bool:
    return bool(place.mark)


def _place(one: Evidence) -> dict[str, str | int]:
    return {
        "agent": one.agent, "session": one.session, "turn": one.turn, "at": one.at, "mark": one.mark,
        "words": one.words,
    }  # fmt: skip


def in_journal(home: str, beginning: str) -> list[Memory]:
    """Return the memories that only the journal knows, by the beginning of their ids: undone ones."""
    made: dict[str, Memory] = {}
    for one in operations_of(journal_folder(home), [beginning]):
        if one.memory.startswith(beginning):
            made.setdefault(one.memory, Memory(one.memory))
            if one.kind in MAKES_MEMORY and not made[one.memory].text:
                made[one.memory] = born(one.memory, one, (one.at, one.machine, one.number))
    return [made[name] for name in sorted(made)]


def of_sessions(memories: Memories, sessions: Sequence[str]) -> list[Memory]:
    """Return the memories that come from sessions, given by any of their ids."""
    rows = [row for session in sessions for row in memories.of_session(session)]
    return [one for one in memories.load(dict.fromkeys(rows)).values() if one.text]


def with_all(home: str, memories: Memories, forgotten: Sequence[Memory]) -> list[Memory]:
    """Return memories with the others that have to go with them, and with what was not finished before."""
    every = [*forgotten, *the_same(memories, forgotten)]
    ids = {memory.id for memory in every}
    done = [one for one in operations_like(journal_folder(home), ("forget",)) if one.payload]
    acts = {one.payload.get(ACT) for one in done if one.payload and one.memory in ids} - {None}
    before = {one.memory for one in done if one.payload and one.payload.get(ACT) in acts} - ids
    return [*every, *memories.get(sorted(before)).values()]


def the_same(memories: Memories, forgotten: Sequence[Memory]) -> list[Memory]:
    """Return other memories that have the very words of those to be forgotten, in their text or as a quote.

    With these left, the words would still be there.
    """
    known = {memory.id: memory for memory in forgotten}
    found: dict[str, Memory] = {}
    waiting = list(forgotten)
    while waiting:
        one = waiting.pop()
        statements = list(map(_words, said_by(one)))
        for other in _candidates(memories, one, statements):
            if other.id not in known and _has_any(other, statements):
                known[other.id] = found[other.id] = other
                waiting.append(other)
    return list(found.values())


def _candidates(memories: Memories, memory: Memory, statements: Sequence[str]) -> list[Memory]:
    rows = [row for place in memory.evidence if place.session for row in memories.of_session(place.session)]
    for words in statements:
        phrase = '"' + words.strip() + '"'
        rows += [row for row, _ in memories.match(f"{{text}}:{phrase}", (1.0, 0.0, 0.0), 50)]
        rows += [row for row, _ in memories.match(f"{{text}}:{phrase}", (1.0, 0.0, 0.0), 50, ended=True)]
    return list(memories.load(dict.fromkeys(rows)).values())


def _words(text: str) -> str:
    """Return a text as its words alone, each between spaces."""
    return "".join(f" {word.text}" for word in words_of(text)) + " "


def _has_any(memory: Memory, statements: Sequence[str]) -> bool:
    texts = [_words(one) for one in (memory.text, *(place.quote for place in memory.evidence))]
    return any(
        words == text or (len(words.split()) >= _LONG and words in text)
        for words in statements
        for text in texts
    )
