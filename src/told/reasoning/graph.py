"""Find the memories and turns related to a topic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from told.capture.entities import find_entities
from told.conflict.reading import EMPTY, read_statement
from told.recall.prompt import RecallRequest
from told.recall.recall import recall
from told.search.memories import search_memories
from told.search.query import parse_query
from told.search.sessions import search_sessions
from told.search.tokens import PUNCTUATION, canonical_stem, tokenize
from told.search.vectors.arithmetic import similarity
from told.search.vectors.table import make_vector
from told.store.memories.protocol import Memories
from told.store.memories.records import ARCHIVED, UNCONFIRMED, Memory
from told.store.sessions.read import SessionRow

if TYPE_CHECKING:
    from told.store.sessions.protocols import SessionReading, TurnMatching

SPECULATION = "speculation"  # label of a guess
SUPERSEDES = "supersedes"
_MAX_NODES = 60  # memories
_DEPTH = 2
MAX_WORD_MATCHES, _MAX_TOPIC_MATCHES = 40, 12
_MIN_RECALL_SCORE = 0.18  # of recall
_MIN_OF_BEST = 0.4  # share of the best fit
_STEP_FACTOR = 0.6  # for each step away
_MAX_SHARING = 8  # memories with a name; more common names say nothing
_MAX_NAMES = 16
_MIN_TOPIC_COVER = 0.5  # share of a topic's words that a memory about it has
_MIN_SIMILARITY = 0.4  # of meaning, without a shared word
_SHORT_WORD = 3


@dataclass(frozen=True, slots=True)
class SearchScope:
    """Which memories and sessions to search."""

    scopes: tuple[str, ...]
    project: str  # the index token of the project's sessions; empty for all
    now: int


@dataclass(frozen=True, slots=True)
class Node:
    """A related memory."""

    memory: Memory
    fit: float  # 0 to 1


@dataclass(frozen=True, slots=True)
class TopicGraph:
    """The memories related to a topic, with their edges."""

    nodes: tuple[Node, ...]  # nearest first
    edges: tuple[tuple[str, str, str], ...]  # source, kind, target; both are nodes

    def of(self, *statuses: str) -> list[Node]:
        """Return the nodes with some statuses, without guesses."""
        return [
            one for one in self.nodes if one.memory.status in statuses and one.memory.label != SPECULATION
        ]

    @property
    def guesses(self) -> list[Node]:
        """Return the guesses."""
        return [one for one in self.nodes if one.memory.label == SPECULATION]


def find_touching(memories: Memories, topic: str, scopes: Sequence[str], now: int) -> TopicGraph:
    """Return the memories that share a topic's words or are clearly near in meaning, with their edges."""
    around = find_related(memories, topic, scopes, now)
    words = [token for token in tokenize(topic.lower()) if token not in EMPTY and token not in PUNCTUATION]
    vector = make_vector(topic)
    touching = [
        one for one in around.nodes if one.memory.label == SPECULATION or _touches(one.memory, words, vector)
    ]
    known = {one.memory.id for one in touching}
    edges = tuple(edge for edge in around.edges if edge[0] in known and edge[2] in known)
    return TopicGraph(tuple(touching), edges)


def _touches(memory: Memory, words: Sequence[str], vector: bytes | None) -> bool:
    """Tell whether a memory has a topic's words, also in a name or as the kind of a choice, or means it."""
    reading = read_statement(f"{memory.text} {memory.context}")
    kinds = {part for slot in (*reading.values, *reading.rejected) for part in slot.split("-")}
    names = " ".join(
        (*memory.entities, *(one.value for one in memory.triggers if one.kind != "task"))
    ).lower()
    known = {*reading.tokens, *map(canonical_stem, reading.tokens), *kinds}
    hits = sum(
        not known.isdisjoint((word, canonical_stem(word))) or (len(word) > _SHORT_WORD and word in names)
        for word in words
    )
    if words and hits >= _MIN_TOPIC_COVER * len(words):
        return True
    own = make_vector(memory.text) if vector else None
    return vector is not None and own is not None and similarity(vector, own) >= _MIN_SIMILARITY


def find_related(memories: Memories, topic: str, scopes: Sequence[str], now: int) -> TopicGraph:
    """Return up to 60 memories related to a topic."""
    nodes = {one.memory.id: one for one in _find_matches(memories, topic, scopes, now)}
    edges: set[tuple[str, str, str]] = set()
    frontier = list(nodes)
    for step in range(_DEPTH):
        reached = _follow_edges(memories, frontier, nodes, edges)
        if step == 0:
            reached += _follow_names(memories, nodes.values(), scopes)
        frontier = []
        loaded = memories.get(dict.fromkeys(name for name, _ in reached if name not in nodes))
        for name, source in reached:
            if name in nodes or name not in loaded or len(nodes) >= _MAX_NODES:
                continue
            memory = loaded[name]
            is_hidden = memory.status in (ARCHIVED, *UNCONFIRMED) or 0 < memory.expires <= now
            if memory.text and not is_hidden:
                nodes[name] = Node(memory, round(_STEP_FACTOR * nodes[source].fit, 3))
                frontier.append(name)
    _follow_edges(memories, frontier, nodes, edges)
    known = tuple(sorted(one for one in edges if one[0] in nodes and one[2] in nodes))
    ordered = sorted(nodes.values(), key=lambda one: (-one.fit, -one.memory.created, one.memory.id))
    return TopicGraph(tuple(ordered), known)


def _find_matches(memories: Memories, topic: str, scopes: Sequence[str], now: int) -> list[Node]:
    query = parse_query(topic, now)
    answers = search_memories(memories, query, now, scopes)[:MAX_WORD_MATCHES]
    best = max((one.score for one in answers), default=1.0)
    nodes = {
        one.memory.id: Node(one.memory, round(max(one.cover, 0.2) * (0.5 + 0.5 * one.score / best), 3))
        for one in answers
    }
    found = recall(memories, RecallRequest(topic, tuple(scopes), now))
    near = [
        one for one in (*found.chosen, *found.left_out) if one.score >= _MIN_RECALL_SCORE and one.memory.text
    ]
    for one in near[:_MAX_TOPIC_MATCHES]:
        fit = round(min(0.6, one.score), 3)
        known = nodes.get(one.memory.id)
        if known is None or known.fit < fit:
            nodes[one.memory.id] = replace(known, fit=fit) if known else Node(one.memory, fit)
    least = _MIN_OF_BEST * max((one.fit for one in nodes.values()), default=0.0)
    return [one for one in nodes.values() if one.fit >= least and not 0 < one.memory.expires <= now]


def _follow_edges(
    memories: Memories, ids: Sequence[str], nodes: dict[str, Node], edges: set[tuple[str, str, str]]
) -> list[tuple[str, str]]:
    """Return (reached, source) for every edge of memories; collect the edges."""
    reached = []
    for source, kind, target, _, _ in memories.edges(ids):
        edges.add((source, kind, target))
        if source in nodes:
            reached.append((target, source))
        if target in nodes:
            reached.append((source, target))
    for new, ended in memories.superseded(ids).items():
        for old in ended:
            edges.add((new, SUPERSEDES, old))
            reached.append((old, new))
    for one in ids:
        later = nodes[one].memory.superseded_by
        if later:
            edges.add((later, SUPERSEDES, one))
            reached.append((later, one))
    return reached


def _follow_names(memories: Memories, nodes: Iterable[Node], scopes: Sequence[str]) -> list[tuple[str, str]]:
    """Return the memories that share a rare name with a direct match, and that match."""
    named: dict[str, str] = {}
    for node in nodes:
        for name in node.memory.entities:
            named.setdefault(name, node.memory.id)
    reached = []
    for name, source in list(named.items())[:_MAX_NAMES]:
        rows = memories.by_entity([name], scopes, _MAX_SHARING + 1)
        if len(rows) <= _MAX_SHARING:
            reached += [(one.id, source) for one in memories.load(rows).values()]
    return reached


_MAX_SESSIONS, _MAX_TURNS = 8, 30
_MAX_FILES = 6
_CHANGE_FACTOR = 2.0  # of a change over a read
_NAME_FACTOR = 3.0  # of a path that names the topic


@dataclass(frozen=True, slots=True)
class Turn:
    """One exchange about the topic."""

    place: str  # s7abc.3
    session: str
    at: int
    asked: str
    answered: str
    by_user: bool  # not for a subagent's prompt
    row: int  # of the session
    n: int


@dataclass(frozen=True, slots=True)
class Touched:
    """A file that sessions about the topic touched."""

    path: str
    folder: str  # of the session
    sessions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SessionMatches:
    """Turns and files about a topic."""

    turns: tuple[Turn, ...] = ()  # best first
    files: tuple[Touched, ...] = ()
    words: tuple[str, ...] = ()  # of the topic

    @property
    def sessions(self) -> tuple[str, ...]:
        """Return the session ids, best first."""
        return tuple(dict.fromkeys(one.session for one in self.turns))


def search_turns(
    reading: SessionReading, matching: TurnMatching, topic: str, project: str, now: int
) -> SessionMatches:
    """Find the turns about a topic, in a project or in all, and the files of their sessions."""
    found = search_sessions(matching, topic, now=now, project=project or None, limit=_MAX_SESSIONS)
    if not found.sessions or (project and found.widened):
        return SessionMatches(words=found.query.words)
    rows = {group.session: reading.session(group.session) for group in found.sessions}
    turns: list[Turn] = []
    for hit in found.turns:
        row = rows.get(hit.session)
        text = reading.turn(hit.session, hit.n) if row and hit.n >= 0 and len(turns) < _MAX_TURNS else None
        if row and text:
            said = (text.asked, text.answered, not row.kind)
            turns.append(Turn(f"{row.public}.{hit.n}", row.public, text.at, *said, hit.session, hit.n))
    return SessionMatches(
        tuple(turns), _find_files(reading, list(rows.values()), found.query.words), found.query.words
    )


def _find_files(
    reading: SessionReading, sessions: list[SessionRow], words: tuple[str, ...]
) -> tuple[Touched, ...]:
    worth: dict[str, float] = {}
    by: dict[str, dict[str, None]] = {}
    folders: dict[str, str] = {}
    for row in sessions:
        for path, how, _ in reading.files_of(row.id):
            named = any(word in path.lower() for word in words)
            says = (1.0 if how == "read" else _CHANGE_FACTOR) * (_NAME_FACTOR if named else 1.0)
            worth[path] = worth.get(path, 0.0) + says
            by.setdefault(path, {})[row.public] = None
            folders.setdefault(path, row.cwd)
    best = sorted(worth, key=lambda path: (-worth[path], path))[:_MAX_FILES]
    return tuple(Touched(path, folders[path], tuple(by[path])) for path in best)


def turn_id(reading: SessionReading, session: str, turn: int) -> str:
    """Return a turn's public id from the agent's session id."""
    for row in reading.sessions_like(session, 4) if session else ():
        if session in (row.native, row.public):
            return f"{row.public}.{turn}"
    return f"{session}.{turn}" if session else ""


_MAX_NAME_TEXT = 3000  # characters of a message
_NEAR_CHARACTERS = 160  # between a name and the topic
_MAX_UNKNOWN_NAMES = 16
_MIN_TURNS = 2


@dataclass(frozen=True, slots=True)
class UnknownName:
    """A name in sessions that no memory contains."""

    name: str
    turns: tuple[str, ...]


def find_unknown_names(
    memories: Memories, spoken: SessionMatches, scopes: Sequence[str], now: int
) -> list[UnknownName]:
    """Return names in turns about the topic that no memory contains, best first."""
    scores: dict[str, float] = {}
    places: dict[str, dict[str, None]] = {}
    spelling: dict[str, str] = {}
    for turn in spoken.turns:
        seen: dict[str, float] = {}
        for text, weight in ((turn.asked, 1.5 if turn.by_user else 1.0), (turn.answered, 1.0)):
            for name in find_entities(text[:_MAX_NAME_TEXT]):
                key = name.lower()
                spelling.setdefault(key, name)
                near = 2.0 if _is_near(text, name, spoken.words) else 1.0
                seen[key] = max(seen.get(key, 0.0), weight * near)
        for key, weight in seen.items():
            scores[key] = scores.get(key, 0.0) + weight
            places.setdefault(key, {})[turn.place] = None
    own = set(spoken.words)
    ordered = sorted(scores, key=lambda key: (-scores[key], key))
    frequent = [key for key in ordered if len(places[key]) >= _MIN_TURNS or scores[key] >= _MIN_TURNS]
    return [
        UnknownName(spelling[key], tuple(places[key]))
        for key in frequent[:_MAX_UNKNOWN_NAMES]
        if key not in own and not _is_known(memories, key, scopes, now)
    ]


def _is_near(text: str, name: str, words: Sequence[str]) -> bool:
    at = text.find(name)
    near = text[max(0, at - _NEAR_CHARACTERS) : at + len(name) + _NEAR_CHARACTERS].lower()
    return at >= 0 and any(word in near for word in words)


def _is_known(memories: Memories, name: str, scopes: Sequence[str], now: int) -> bool:
    if memories.by_entity([name], scopes, 1):
        return True
    terms = parse_query(name, now).terms
    return bool(terms) and memories.frequency(terms[0], 1, scopes=scopes) > 0
