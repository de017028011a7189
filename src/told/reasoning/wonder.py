"""Report what is known about a topic, what conflicts, and what to ask next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from told.capture.entities import find_entities
from told.conflict.compare import find_conflicts, is_same_claim
from told.conflict.reading import read_claim
from told.memories.history import find_predecessors
from told.memories.journal_writer import JournalWriter
from told.memories.lookup import find_refusing, refuse
from told.memories.remember import NewMemory
from told.reasoning.graph import (
    SPECULATION,
    Node,
    SearchScope,
    SessionMatches,
    TopicGraph,
    Turn,
    UnknownName,
    find_related,
    find_touching,
    find_unknown_names,
    search_turns,
    turn_id,
)
from told.reasoning.question import load_cues
from told.search.query import parse_query
from told.store.memories.protocol import Memories
from told.store.memories.records import ACTIVE, OBSERVATION, QUARANTINED, Memory

if TYPE_CHECKING:
    from told.store.sessions.protocols import SessionReading, TurnMatching

# ruff: noqa: RUF001 - punctuation of many languages


_MAX_TEXT = 3000
_MIN_COVER = 0.6  # share of its words
_MAX_QUESTION = 200
_DAY = 86_400_000
_OLD_AFTER = 180 * _DAY
_LOW_CONFIDENCE = 0.5
_QUESTION_MARKS = "?？"
_SENTENCE_ENDS = ".!?。！？\n"
_SHORT_ANSWER = 200  # characters: a short answer that ends with a question only asks back


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question of the user's without a later answer."""

    text: str
    place: str
    at: int


@dataclass(frozen=True, slots=True)
class WeakMemory:
    """A memory with weak or old evidence."""

    memory: Memory
    why: str


def _find_open_questions(
    reading: SessionReading, spoken: SessionMatches, known: Sequence[Node]
) -> list[OpenQuestion]:
    found = {}
    for turn in spoken.turns:
        question = _find_question(turn.asked, spoken.words) if turn.by_user else ""
        is_open = not turn.answered.strip() or _defers(turn.answered)
        if question and is_open and not _is_answered_later(reading, turn, question, spoken, known):
            found[question.lower()] = OpenQuestion(question, turn.place, turn.at)
    return sorted(found.values(), key=lambda one: (-one.at, one.place))


def _find_question(asked: str, words: Sequence[str]) -> str:
    for end, sign in enumerate(asked[:_MAX_TEXT]):
        if sign in _QUESTION_MARKS:
            start = max(asked.rfind(stop, 0, end) for stop in _SENTENCE_ENDS) + 1
            question = " ".join(asked[start : end + 1].split())
            if 1 < len(question) <= _MAX_QUESTION and any(word in question.lower() for word in words):
                return question
    return ""


def _defers(answer: str) -> bool:
    text = answer[-_MAX_TEXT:].lower().replace("’", "'")
    asks_back = len(text) < _SHORT_ANSWER and text.rstrip().endswith(tuple(_QUESTION_MARKS))
    return asks_back or any(cue in text for cue in load_cues()["deferring_phrases"])


def _is_answered_later(
    reading: SessionReading, turn: Turn, question: str, spoken: SessionMatches, known: Sequence[Node]
) -> bool:
    words = parse_query(question, turn.at).words
    following = reading.turn(turn.row, turn.n + 1)
    texts = [one.answered for one in spoken.turns if one.at > turn.at]
    if following is not None:
        texts.append(following.answered)
    if any(text and not _defers(text) and _covers(text, words) for text in texts):
        return True
    return any(one.memory.created > turn.at and _covers(one.memory.text, words) for one in known)


def _covers(text: str, words: Sequence[str]) -> bool:
    lower = text.lower()
    return sum(word[: max(3, len(word) - 2)] in lower for word in words) >= _MIN_COVER * len(words)


def _find_weak_memories(known: Sequence[Node], now: int) -> list[WeakMemory]:
    """Return memories with weak or old evidence, most doubtful first."""
    found = []
    for one in known:
        memory = one.memory
        last = max([memory.created, *(place.at for place in memory.evidence)])
        if memory.locked:
            continue
        if memory.confidence < _LOW_CONFIDENCE:
            found.append((0, WeakMemory(memory, f"confidence {memory.confidence:.2f}")))
        elif memory.trust != "user" and not memory.confirmed:
            who = {"agent": "an agent's", "tool": "a tool's"}.get(memory.trust, "a colleague's")
            found.append((1, WeakMemory(memory, f"only {who} word")))
        elif now - last > _OLD_AFTER and not memory.followed:
            found.append((2, WeakMemory(memory, f"last said {(now - last) // _DAY} days ago")))
    found.sort(key=lambda pair: pair[0])
    return [one for _, one in found]


_MAX_QUESTIONS = 6
_MIN_QUESTIONS = 3
_MAX_PLACES = 4  # places
_PER_KIND = 2
_DECISION_KINDS = ("decision", "rule")


@dataclass(frozen=True, slots=True)
class NextQuestion:
    """A question worth asking next."""

    ask: str  # with {} for the subject
    why: str
    look: tuple[str, ...]  # ids of memories, sessions and turns
    subject: str = ""
    by_user: bool = True  # whether the user said the subject
    files: tuple[str, ...] = ()  # to read


class _Questioner:
    """Make the questions about a topic."""

    def __init__(self, found: TopicReport, reading: SessionReading) -> None:
        self._found = found
        self._reading = reading

    def pressing(self) -> Iterator[NextQuestion]:
        """Yield questions about conflicts, open questions, unknown names and doubts."""
        found = self._found
        for pair in found.conflicts[:_PER_KIND]:
            ask = f"Which holds, {pair.old.id} or {pair.new.id}?"
            yield NextQuestion(ask, pair.why, self._places(pair.old, pair.new))
        for flip in found.flips[:_PER_KIND]:
            back = ", and back again" if flip.back else ""
            why = f"changed {len(flip.before)} times{back}"
            yield NextQuestion(f"Is {flip.memory.id} settled?", why, self._places(flip.memory, *flip.before))
        for question in found.questions[:_PER_KIND]:
            why = "asked, and nothing later answers it"
            yield NextQuestion("{}", why, (question.place,), question.text, files=self._files())
        for name in found.names[:_PER_KIND]:
            times = "1 turn" if len(name.turns) == 1 else f"{len(name.turns)} turns"
            why, files = f"in {times}, in no memory", self._files(name.name)
            yield NextQuestion(
                "What holds for {}?", why, name.turns[:_MAX_PLACES], name.name, by_user=False, files=files
            )
        for weak in found.weak[:_PER_KIND]:
            ask, files = f"Is {weak.memory.id} still right?", self._files()
            yield NextQuestion(ask, weak.why, self._places(weak.memory), files=files)

    def further(self) -> Iterator[NextQuestion]:
        """Yield less urgent questions."""
        found = self._found
        for memory in found.known:
            if memory.kind in _DECISION_KINDS and not any(
                word in memory.text.lower() for word in load_cues()["decision_reasons"]
            ):
                yield NextQuestion(
                    f"Why {memory.id}?", "decided, and no reason is kept", self._places(memory)
                )
                break
        for guess in found.guesses[:1]:
            yield NextQuestion(f"Is the guess {guess.id} right?", "only a guess so far", (guess.id,))
        for file in found.spoken.files[:1]:
            why = f"touched in {len(file.sessions)} of the sessions about it"
            ask, files = "What does {} do in this?", (file.path,)
            yield NextQuestion(ask, why, file.sessions[:_MAX_PLACES], file.path, by_user=False, files=files)
        topic = found.topic[:_MAX_TOPIC]
        ids = tuple(memory.id for memory in found.known[:_MAX_PLACES])
        turns = tuple(turn.place for turn in found.spoken.turns[:_MAX_PLACES])
        if found.known:
            yield NextQuestion("What else holds for {}?", "this is all that is remembered", ids, topic)
        elif turns:
            yield NextQuestion(
                "What was decided about {}?", "sessions speak of it, no memory does", turns, topic
            )
        if not found.spoken.files:
            ask = "Which code has to do with {}?"
            yield NextQuestion(ask, "no session about it touched a file", (ids or turns)[:_MAX_PLACES], topic)

    def _places(self, *memories: Memory) -> tuple[str, ...]:
        """Return the ids of memories and of their turns."""
        said = [
            turn_id(self._reading, one.session, one.turn)
            for memory in memories
            for one in memory.evidence[:2]
            if one.session
        ]
        ids = [memory.id for memory in memories[: _MAX_PLACES // 2]]
        return tuple(dict.fromkeys((*ids, *said)))[:_MAX_PLACES]

    def _files(self, name: str = "") -> tuple[str, ...]:
        """Return the file with the name in its path, or the most touched one."""
        files = [file.path for file in self._found.spoken.files]
        return tuple([path for path in files if name and name.lower() in path.lower()] or files)[:1]


def _choose_questions(found: TopicReport, reading: SessionReading) -> tuple[NextQuestion, ...]:
    asking = _Questioner(found, reading)
    chosen = list(asking.pressing())[:_MAX_QUESTIONS]
    for axis in asking.further() if len(chosen) < _MIN_QUESTIONS else ():
        if len(chosen) < _MIN_QUESTIONS:
            chosen.append(axis)
    return tuple(chosen)


DAYS = 14
_MAX_COMPARED = 24  # memories
_MAX_EDGES = 3  # of a guess to memories
_MIN_FLIPS = 2  # changes of one memory that raise a question
_MAX_TOPIC = 60


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two conflicting memories."""

    old: Memory
    new: Memory
    why: str


@dataclass(frozen=True, slots=True)
class Flip:
    """A memory that was changed more than once."""

    memory: Memory  # the current one
    before: tuple[Memory, ...]  # oldest first
    back: bool  # it returned to an earlier state


@dataclass(frozen=True, slots=True)
class TopicReport:
    """Everything known about a topic."""

    topic: str
    around: TopicGraph
    known: tuple[Memory, ...]  # active memories, nearest first
    conflicts: tuple[Conflict, ...]
    flips: tuple[Flip, ...]
    names: tuple[UnknownName, ...]
    questions: tuple[OpenQuestion, ...]
    weak: tuple[WeakMemory, ...]
    guesses: tuple[Memory, ...]
    spoken: SessionMatches
    axes: tuple[NextQuestion, ...] = ()

    @property
    def nothing(self) -> bool:
        """Return whether neither memories nor sessions mention it."""
        return not self.around.nodes and not self.spoken.turns


def wonder(
    memories: Memories, reading: SessionReading, matching: TurnMatching, topic: str, where: SearchScope
) -> TopicReport:
    """Collect what memories and sessions contain about a topic."""
    around = find_touching(memories, topic, where.scopes, where.now)
    spoken = _keep_touching(search_turns(reading, matching, topic, where.project, where.now))
    nodes = around.of(ACTIVE)
    known = [one.memory for one in nodes]
    found = _find_conflicts(around, known)
    flips = _find_flips(memories, known)
    names = find_unknown_names(memories, spoken, where.scopes, where.now)
    questions = _find_open_questions(reading, spoken, nodes)
    weak = _find_weak_memories(nodes, where.now)
    guesses = tuple(one.memory for one in around.guesses)
    gathered = TopicReport(
        topic, around, tuple(known), tuple(found), tuple(flips), tuple(names), tuple(questions),
        tuple(weak), guesses, spoken,
    )  # fmt: skip
    return replace(gathered, axes=_choose_questions(gathered, reading))


def _keep_touching(spoken: SessionMatches) -> SessionMatches:
    """Keep the turns that have the topic's words, and the files of their sessions."""
    turns = tuple(one for one in spoken.turns if _covers(f"{one.asked}\n{one.answered}", spoken.words))
    sessions = {one.session for one in turns}
    files = tuple(one for one in spoken.files if sessions.intersection(one.sessions))
    return SessionMatches(turns, files, spoken.words)


def _find_conflicts(around: TopicGraph, known: Sequence[Memory]) -> list[Conflict]:
    by_id = {one.id: one for one in known}
    found: dict[frozenset[str], Conflict] = {}
    for source, kind, target in around.edges:
        if kind == "contradicts" and source in by_id and target in by_id:
            pair = sorted((by_id[source], by_id[target]), key=lambda one: (one.created, one.number))
            found[frozenset((source, target))] = Conflict(pair[0], pair[1], "they contradict each other")
    for old, new, why in find_conflicts(known[:_MAX_COMPARED]):
        found.setdefault(frozenset((old.id, new.id)), Conflict(old, new, why))
    return list(found.values())


def _find_flips(memories: Memories, known: Sequence[Memory]) -> list[Flip]:
    flips = []
    for one in known:
        earlier = sorted(find_predecessors(memories, one.id), key=lambda old: (old.created, old.number))
        if len(earlier) >= _MIN_FLIPS:
            now = read_claim(one.text)
            back = any(is_same_claim(read_claim(old.text), now) for old in earlier)
            flips.append(Flip(one, tuple(earlier), back))
    return flips


def _normalise(text: str) -> str:
    return " ".join(text.lower().split()).strip(" .!")


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
    around = find_related(writer.memories, topic, (said.scope,), writer.now)
    expires = writer.now + DAYS * _DAY
    for one in around.guesses:
        if _normalise(one.memory.text) == _normalise(said.text):
            writer.add("expire", one.memory.id, expires=expires)
            writer.write()
            return writer.read(one.memory.id), True
    made = writer.new_id()
    names = dict.fromkeys((*find_entities(said.text), " ".join(topic.split())[:_MAX_TOPIC]))
    place = {
        "agent": said.agent, "session": said.session, "turn": said.turn, "quote": said.text, "at": writer.now,
    }  # fmt: skip
    writer.add(
        "remember", made, text=said.text, kind=OBSERVATION, label=SPECULATION, scope=said.scope,
        trust=said.trust, importance=1.0, alpha=1.0, beta=1.0, status=QUARANTINED, expires=expires,
        entities=list(names), evidence=[place],
    )  # fmt: skip
    for node in around.of(ACTIVE)[:_MAX_EDGES]:
        writer.add("edge", made, kind="about", target=node.memory.id)
    writer.write()
    return writer.read(made), False
