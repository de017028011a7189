"""Forget memories and sessions: erase their words everywhere told keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

import apsw

from told.ingest.forget import MentionFinder, SessionForgetter, SessionLoss, list_statements
from told.ingest.forgotten import SESSION_TOPIC, TURN_TOPIC, Forgotten, Tombstones, split_words
from told.ingest.leftovers import (
    Forgetting,
    SessionName,
    note_forgetting,
    release_locks,
    take_over_forgetting,
    wait_for_lock,
)
from told.journal.apply import open_memories, purge_erased
from told.journal.copies import has_spaces
from told.journal.erase import erase
from told.journal.files import ACT, MAKES_MEMORY, SET, UNDO
from told.journal.protocol import Journal
from told.journal.transitions import create_memory
from told.memories.journal_writer import JournalWriter
from told.memories.lookup import make_value_mark
from told.memories.session_notes import remove_notes
from told.store.database import FORGET_LOCK
from told.store.fts import match_in, quote_phrase
from told.store.memories.protocol import Memories
from told.store.memories.records import FORGOTTEN, Evidence, Memory
from told.store.sessions.forgets import is_behind, note_erased, note_forget

_MAX_PLACES = 32  # in one operation
_MAX_VALUES = 16  # texts of a memory that are refused later
_MAX_TURNS = 2000  # in one operation
_LOCK_WAIT = 1.0  # seconds
_MIN_PHRASE = 3  # words; shorter statements must match as a whole
_NO_PLACES: Mapping[str, Sequence[Evidence]] = {}


@dataclass(frozen=True, slots=True)
class ForgetPlan:
    """What forgetting would erase."""

    memories: tuple[Memory, ...]
    sessions: tuple[SessionName, ...]  # erased completely
    places: dict[str, list[Evidence]]  # by memory
    turns: dict[int, str]  # turns that lose text: number of their id, "agent/native"
    losses: tuple[SessionLoss, ...]

    @property
    def names(self) -> set[SessionName]:
        """Return all sessions that lose something."""
        found = {(one.agent, one.session) for places in self.places.values() for one in places if one.mark}
        return found | set(self.sessions)


def plan_forget(
    connection: apsw.Connection,
    key: bytes,
    home: str,
    memories: Sequence[Memory],
    sessions: Sequence[SessionName] = (),
) -> ForgetPlan:
    """Find all places that say what the memories say."""
    finder = MentionFinder(connection, key, home)
    places = {
        one.id: [*(place for place in one.evidence if place.mark), *finder.find(one)] for one in memories
    }
    every = [place for found in places.values() for place in found]
    names = {(one.agent, one.session) for one in every} | set(sessions)
    forgotten = Forgotten(key, every, [f"{agent}/{native}" for agent, native in sessions])
    forgetter = SessionForgetter(connection, home, forgotten)
    turns, losses = forgetter.find_changed_turns(names), tuple(forgetter.find_losses(names))
    return ForgetPlan(tuple(memories), tuple(sessions), places, turns, losses)


def forget(writer: JournalWriter, connection: apsw.Connection, plan: ForgetPlan) -> None:
    """Erase what a plan found from the journal, both databases and the archive.

    The places and keyed marks of the words remain, so the words are not imported again. Forgetting the same
    again finishes an interrupted run.

    Raises:
        BusyError: another process is reading or writing; some bytes may remain.
    """
    ids = tuple(memory.id for memory in plan.memories)
    with note_forgetting(writer.home, Forgetting(ids, tuple(sorted(plan.names)))):
        _forget(writer, connection, plan)


def _forget(writer: JournalWriter, connection: apsw.Connection, plan: ForgetPlan) -> None:
    is_up_to_date = not is_behind(connection, writer.home)
    note_forget(writer.home)
    if plan.sessions:
        notes = {f"{agent}/{native}": 1 for agent, native in plan.sessions}
        writer.add(SET, "", **{SET: {SESSION_TOPIC: notes}})
    turns = sorted(plan.turns.items())
    for at in range(0, len(turns), _MAX_TURNS):
        batch = {str(number): name for number, name in turns[at : at + _MAX_TURNS]}
        writer.add(SET, "", **{SET: {TURN_TOPIC: batch}})
    key = writer.journal.key
    # The memory that the user named goes last: after an interruption its words still find the others.
    for memory in reversed(plan.memories):
        places = plan.places[memory.id]
        named = {(one.agent, one.session, one.turn) for one in places}
        others = (one for one in memory.evidence if (one.agent, one.session, one.turn) not in named)
        marked = _describe_marked(places)
        is_first = memory is plan.memories[0]
        turns_there = _list_turns(plan, marked) if is_first and has_spaces(writer.home) else ()
        values = _mark_values(memory, key)
        add_forget(writer, memory, [*values, *marked, *turns_there, *map(_describe_place, others)])
    erase_memories(writer, plan.memories)
    erase_sessions(connection, writer.home, plan.names)
    if is_up_to_date:
        note_erased(connection, writer.home)


def finish_forgetting(home: str, connection: apsw.Connection, *, sweeps: bool = False) -> list[str] | None:
    """Erase what an interrupted `told forget` left; return the memories that it had not begun to forget.

    None: another process is still forgetting, importing or learning. `sweeps`: this process imports.
    """
    with take_over_forgetting(home, sweeps=sweeps) as left:
        if left is None:
            return None
        with closing(open_memories(home)) as memories:
            found = memories.get(left.memories)
            begun = [name for name in left.memories if name not in found or found[name].status == FORGOTTEN]
            erase(home, begun)
            purge_erased(home, memories)
        erase_sessions(connection, home, left.sessions)
        return [name for name in left.memories if name not in begun]


def erase_again(home: str, connection: apsw.Connection) -> None:
    """Erase all that was ever forgotten from an old copy of the sessions, unless a `told forget` is running.

    Raises:
        BusyError: another process is reading or writing; some bytes may remain.
    """
    lock = wait_for_lock(home, FORGET_LOCK, _LOCK_WAIT)
    try:
        if lock is not None and is_behind(connection, home):
            erase_sessions(connection, home, Tombstones(home).current().names)
            note_erased(connection, home)
    finally:
        release_locks([lock])


def erase_sessions(connection: apsw.Connection, home: str, names: Iterable[SessionName]) -> None:
    """Erase from sessions, the archive and checkpoints what the journal says is forgotten."""
    remove_notes(home)
    SessionForgetter(connection, home, Tombstones(home).current()).erase(names)


def add_forget(
    writer: JournalWriter, memory: Memory, places: Sequence[dict[str, str | int]] | None = None
) -> None:
    """Add the operations that forget a memory; default places are its evidence."""
    places = [_describe_place(one) for one in memory.evidence] if places is None else places
    for at in range(0, max(1, len(places)), _MAX_PLACES):
        writer.add("forget", memory.id, evidence=list(places[at : at + _MAX_PLACES]), scope=memory.scope)


def _list_turns(plan: ForgetPlan, marked: Sequence[dict[str, str | int]]) -> list[dict[str, str | int]]:
    """Return every turn that loses text as a place: marks tell the user's other machines nothing."""
    known = {(one["agent"], one["session"], one["turn"]) for one in marked}
    if not marked:
        return []
    return [
        {**marked[0], "agent": loss.agent, "session": loss.native, "turn": number, "at": 0}
        for loss in plan.losses
        for number in loss.numbers
        if not loss.whole and (loss.agent, loss.native, number) not in known
    ]


def _mark_values(memory: Memory, key: bytes) -> list[dict[str, str | int]]:
    """Return the marks by which what a memory says is refused later; they belong to no session."""
    said = list_statements(memory)[:_MAX_VALUES] if memory.text and key else []
    return [{"mark": make_value_mark(text, key)} for text in said]


def erase_memories(writer: JournalWriter, memories: Iterable[Memory]) -> None:
    """Write the pending operations and erase the texts of forgotten memories."""
    writer.write()
    ids = [memory.id for memory in memories]
    writer.journal.erase(ids)
    writer.journal.purge(writer.memories)


def forget_statements(
    writer: JournalWriter, memories: Sequence[Memory], places: Mapping[str, Sequence[Evidence]] = _NO_PLACES
) -> None:
    """Forget memories: erase their texts, and leave marks that refuse them.

    The caller erases the other places with the same words, by memory.
    """
    for memory in memories:
        values = _mark_values(memory, writer.journal.key)
        marked = _describe_marked(places.get(memory.id, ()))
        add_forget(writer, memory, [*values, *marked, *map(_describe_place, memory.evidence)])
    erase_memories(writer, memories)


def _describe_marked(places: Iterable[Evidence]) -> list[dict[str, str | int]]:
    return [_describe_place(one) | {"mark": one.mark, "words": one.words} for one in places]


def _describe_place(one: Evidence) -> dict[str, str | int]:
    return {"agent": one.agent, "session": one.session, "turn": one.turn, "at": one.at}


def read_undone_memories(journal: Journal, prefix: str) -> list[Memory]:
    """Return undone memories, which only the journal knows, by an id prefix."""
    found: dict[str, Memory] = {}
    for one in journal.find_by_memory([prefix]):
        if one.memory.startswith(prefix):
            found.setdefault(one.memory, Memory(one.memory))
            if one.kind in MAKES_MEMORY and not found[one.memory].text:
                found[one.memory] = create_memory(one.memory, one, (one.at, one.machine, one.number))
    return [found[name] for name in sorted(found)]


def memories_of_sessions(memories: Memories, sessions: Sequence[str]) -> list[Memory]:
    """Return the memories that come from sessions."""
    rows = [row for session in sessions for row in memories.of_session(session)]
    return [one for one in memories.load(dict.fromkeys(rows)).values() if one.text]


def include_duplicates(journal: Journal, memories: Memories, forgotten: Sequence[Memory]) -> list[Memory]:
    """Add duplicates, and memories of an interrupted run, to those to forget."""
    every = [*forgotten, *find_duplicates(memories, forgotten)]
    ids = {memory.id for memory in every}
    operations = [one for one in journal.find_by_kind(("forget",)) if one.payload]
    groups = {one.payload.get(ACT) for one in operations if one.payload and one.memory in ids} - {None}
    unfinished = {one.memory for one in operations if one.payload and one.payload.get(ACT) in groups} - ids
    every += memories.get(sorted(unfinished)).values()
    return [*every, *_find_undone(journal, memories, every)]


def _find_undone(journal: Journal, memories: Memories, forgotten: Sequence[Memory]) -> list[Memory]:
    """Return undone memories with the words of forgotten ones, or that would have replaced one.

    Only the journal knows them, so nobody could name them.
    """
    undone = {one.memory for one in journal.find_by_kind((UNDO,)) if one.memory}
    undone -= memories.get(undone).keys() | {memory.id for memory in forgotten}
    if not undone:
        return []
    ids = {memory.id for memory in forgotten}
    operations = [one for one in journal.find_by_kind(("supersede",)) if one.memory in ids and one.payload]
    successors = {one.payload.get("by") for one in operations if one.payload}
    statements = [_spaced_words(text) for memory in forgotten for text in list_statements(memory)]
    found = [one for name in sorted(undone) for one in read_undone_memories(journal, name) if one.id == name]
    return [one for one in found if one.text and (one.id in successors or _contains_any(one, statements))]


def find_duplicates(memories: Memories, forgotten: Sequence[Memory]) -> list[Memory]:
    """Return other memories that contain the words of those to forget."""
    known = {memory.id: memory for memory in forgotten}
    found: dict[str, Memory] = {}
    pending = list(forgotten)
    while pending:
        one = pending.pop()
        statements = list(map(_spaced_words, list_statements(one)))
        for other in _find_candidates(memories, one, statements):
            if other.id not in known and _contains_any(other, statements):
                known[other.id] = found[other.id] = other
                pending.append(other)
    return list(found.values())


def _find_candidates(memories: Memories, memory: Memory, statements: Sequence[str]) -> list[Memory]:
    rows = [row for place in memory.evidence if place.session for row in memories.of_session(place.session)]
    for words in statements:
        phrase = match_in("text", quote_phrase(words.strip()))
        for ended in (False, True):
            rows += [row for row, _ in memories.match(phrase, (1.0, 0.0, 0.0), 50, ended=ended)]
    return list(memories.load(dict.fromkeys(rows)).values())


def _spaced_words(text: str) -> str:
    """Return the words of a text, each between spaces."""
    return "".join(f" {word.text}" for word in split_words(text)) + " "


def _contains_any(memory: Memory, statements: Sequence[str]) -> bool:
    texts = [_spaced_words(one) for one in (memory.text, *(place.quote for place in memory.evidence))]
    return any(
        words == text or (len(words.split()) >= _MIN_PHRASE and words in text)
        for words in statements
        for text in texts
    )
