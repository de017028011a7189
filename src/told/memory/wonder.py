"""What is known around a topic, what conflicts, what is missing, and what to look into next."""

from __future__ import annotations

from told.memory._graph_polarity import claim, conflicts, same
from told.memory._graph_turns import Spoken, spoken_of
from told.memory._graph_walk import SPECULATION, Around, walk
from told.memory._wonder_axes import Axis, axes
from told.memory._wonder_gaps import Name, Open, Weak, open_questions, unknown_names, weak_memories
from told.memory.why import before
from told.record import record, replaced
from told.store.memory_records import ACTIVE, OBSERVATION, QUARANTINED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from told.memory.pen import Pen
    from told.memory.remember import Said
    from told.store.matching import Matching
    from told.store.memories import Memories
    from told.store.memory_records import Memory
    from told.store.reading import Reading

DAYS = 14
_DAY = 86_400_000
_COMPARED = 24  # memories that are held against each other
_ABOUT = 3  # memories that a note is tied to
_OFTEN = 2  # changes of the same thing that are worth a question
_TOPIC = 60


@record
class Conflict:
    """Two memories that do not go together."""

    old: Memory
    new: Memory
    why: str


@record
class Flip:
    """Something that was changed more than once."""

    memory: Memory  # as it is now
    before: tuple[Memory, ...]  # the oldest first
    back: bool  # it is again what it was once


@record
class Wonder:
    """All that there is to say about a topic."""

    topic: str
    around: Around
    known: tuple[Memory, ...]  # what holds, the nearest first
    conflicts: tuple[Conflict, ...]
    flips: tuple[Flip, ...]
    names: tuple[Name, ...]
    questions: tuple[Open, ...]
    weak: tuple[Weak, ...]
    guesses: tuple[Memory, ...]
    spoken: Spoken
    axes: tuple[Axis, ...] = ()

    @property
    def nothing(self) -> bool:
        """Whether neither memories nor sessions have anything of it."""
        return not self.around.nodes and not self.spoken.turns


@record
class Where:
    """Where is looked, and from when."""

    scopes: tuple[str, ...]
    project: str  # the index token of the project's sessions; empty for all
    now: int


def wonder(memories: Memories, reading: Reading, matching: Matching, topic: str, where: Where) -> Wonder:
    """Gather what memories and sessions have of a topic. Same input, same output."""
    around = walk(memories, topic, where.scopes, where.now)
    spoken = spoken_of(reading, matching, topic, where.project, where.now)
    nodes = around.of(ACTIVE)
    known = [one.memory for one in nodes]
    found = _conflicts(around, known)
    flips = _flips(memories, known)
    names = unknown_names(memories, spoken, where.scopes, where.now)
    questions = open_questions(reading, spoken, nodes)
    weak = weak_memories(nodes, where.now)
    guesses = tuple(one.memory for one in around.guesses)
    gathered = Wonder(
        topic, around, tuple(known), tuple(found), tuple(flips), tuple(names), tuple(questions),
        tuple(weak), guesses, spoken,
    )  # fmt: skip
    return replaced(gathered, axes=axes(gathered, reading))


def _conflicts(around: Around, known: Sequence[Memory]) -> list[Conflict]:
    """Return what contradicts: by an edge that somebody made, or by what is said."""
    by_id = {one.id: one for one in known}
    found: dict[frozenset[str], Conflict] = {}
    for source, kind, target in around.edges:
        if kind == "contradicts" and source in by_id and target in by_id:
            pair = sorted((by_id[source], by_id[target]), key=lambda one: (one.created, one.number))
            found[frozenset((source, target))] = Conflict(pair[0], pair[1], "they contradict each other")
    for old, new, why in conflicts(known[:_COMPARED]):
        found.setdefault(frozenset((old.id, new.id)), Conflict(old, new, why))
    return list(found.values())


def _flips(memories: Memories, known: Sequence[Memory]) -> list[Flip]:
    flips = []
    for one in known:
        earlier = sorted(before(memories, one.id), key=lambda old: (old.created, old.number))
        if len(earlier) >= _OFTEN:
            now = claim(one.text)
            back = any(same(claim(old.text), now) for old in earlier)
            flips.append(Flip(one, tuple(earlier), back))
    return flips


def _bare(text: str) -> str:
    return " ".join(text.lower().split()).strip(" .!")


def note(pen: Pen, topic: str, said: Said) -> tuple[Memory, bool]:
    """Keep a guess about a topic for 14 days; said again, it is kept for 14 more.

    It is kept apart, so that no brief has it and nothing is ended by it.

    Returns:
        The note, and whether it was known.
    """
    from told.memory._capture_names import entities

    around = walk(pen.memories, topic, (said.scope,), pen.now)
    expires = pen.now + DAYS * _DAY
    for one in around.guesses:
        if _bare(one.memory.text) == _bare(said.text):
            pen.note("expire", one.memory.id, expires=expires)
            pen.write()
            return pen.read(one.memory.id), True
    made = pen.new_id()
    names = dict.fromkeys((*entities(said.text), " ".join(topic.split())[:_TOPIC]))
    place = {
        "agent": said.agent, "session": said.session, "turn": said.turn, "quote": said.text, "at": pen.now,
    }  # fmt: skip
    pen.note(
        "remember", made, text=said.text, kind=OBSERVATION, label=SPECULATION, scope=said.scope,
        trust=said.trust, importance=1.0, alpha=1.0, beta=1.0, status=QUARANTINED, expires=expires,
        entities=list(names), evidence=[place],
    )  # fmt: skip
    for node in around.of(ACTIVE)[:_ABOUT]:
        pen.note("edge", made, kind="about", target=node.memory.id)
    pen.write()
    return pen.read(made), False
