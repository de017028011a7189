"""Find the memories related to a topic, and the edges that the journal has between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from told.memories.history import find_predecessors
from told.recall.search import MemoryQuestion, search_memories
from told.search.query import parse_query
from told.store.fts import match_all
from told.store.memories.protocol import Memories
from told.store.memories.records import ACTIVE, SUPERSEDED, WAS, Memory

SUPERSEDES, SUPPORTS, CONTRADICTS = "supersedes", "supports", "contradicts"
_MAX_MATCHES = 40
_MAX_NODES = 60
_MIN_OF_BEST = 0.6  # share of the best score
_MAX_ENDED = 12  # superseded memories found by their words
_STEP_FACTOR = 0.6  # for what is reached along an edge
_WEIGHTS = (1.0, 0.6, 0.4)


class Node(NamedTuple):
    """A related memory."""

    memory: Memory
    fit: float  # 0 to 1


class TopicGraph(NamedTuple):
    """The memories related to a topic, with their edges."""

    nodes: tuple[Node, ...]  # nearest first
    edges: tuple[tuple[str, str, str], ...]  # source, kind, target; both are nodes

    def of(self, status: str) -> list[Node]:
        """Return the nodes with a status."""
        return [one for one in self.nodes if one.memory.status == status]

    def conflicts(self) -> list[tuple[Memory, Memory, str]]:
        """Return the active memories that the journal says contradict, older first, and why."""
        by_id = {one.memory.id: one.memory for one in self.of(ACTIVE)}
        found: dict[frozenset[str], tuple[Memory, Memory, str]] = {}
        for source, kind, target in self.edges:
            if kind in _DISPUTES and source in by_id and target in by_id:
                old, new = sorted((by_id[source], by_id[target]), key=lambda one: (one.created, one.number))
                found.setdefault(frozenset((source, target)), (old, new, _DISPUTES[kind]))
        return list(found.values())


_DISPUTES = {CONTRADICTS: "they contradict each other", WAS: "one probably replaces the other"}


def find_related(
    memories: Memories, topic: str, scopes: Sequence[str], now: int, *, ended: bool = False
) -> TopicGraph:
    """Return up to 60 memories related to a topic: those found, and those reached along their edges.

    With `ended`, superseded memories are also found by their words.
    """
    query = parse_query(topic, now)
    found = search_memories(memories, MemoryQuestion(query, tuple(scopes), now))[:_MAX_MATCHES]
    least = _MIN_OF_BEST * max((one.score for one in found), default=0.0)
    nodes = {
        one.memory.id: Node(one.memory, round(min(1.0, one.score), 3)) for one in found if one.score >= least
    }
    for old in _find_ended(memories, query.terms, scopes) if ended else ():
        nodes.setdefault(old.id, Node(old, 1.0))
    edges: set[tuple[str, str, str]] = set()
    for source, target in _follow_edges(memories, list(nodes), edges):
        for name, origin in ((source, target), (target, source)):
            if name in nodes or origin not in nodes or len(nodes) >= _MAX_NODES:
                continue
            memory = memories.get([name]).get(name)
            is_shown = memory and memory.status in (ACTIVE, SUPERSEDED) and not 0 < memory.expires <= now
            if memory and memory.text and is_shown:
                nodes[name] = Node(memory, round(_STEP_FACTOR * nodes[origin].fit, 3))
    _follow_edges(memories, list(nodes), edges)
    known = tuple(sorted(one for one in edges if one[0] in nodes and one[2] in nodes))
    order = {name: place for place, name in enumerate(nodes)}  # matches come ranked
    ordered = sorted(nodes.values(), key=lambda one: (-one.fit, order[one.memory.id]))
    return TopicGraph(tuple(ordered), known)


def _find_ended(memories: Memories, terms: Sequence[str], scopes: Sequence[str]) -> list[Memory]:
    """Return the superseded memories that have all terms."""
    if not terms:
        return []
    rows = memories.match(match_all(terms), _WEIGHTS, _MAX_ENDED, scopes=scopes, ended=True, archived=False)
    loaded = memories.load([row for row, _ in rows]).values()
    return [one for one in loaded if one.status == SUPERSEDED and one.text]


def _follow_edges(
    memories: Memories, ids: Sequence[str], edges: set[tuple[str, str, str]]
) -> list[tuple[str, str]]:
    """Collect the edges of memories; return (source, target) of each."""
    found = [(source, kind, target) for source, kind, target, _, _ in memories.edges(ids)]
    found += [(new, SUPERSEDES, old) for new, ended in memories.superseded(ids).items() for old in ended]
    loaded = memories.get(ids).values()
    found += [(one.superseded_by, SUPERSEDES, one.id) for one in loaded if one.superseded_by]
    edges.update(found)
    return [(source, target) for source, _, target in sorted(found)]


def find_changes(memories: Memories, memory: Memory) -> list[Memory]:
    """Return what a memory replaced, the oldest first."""
    return sorted(find_predecessors(memories, memory.id), key=lambda one: (one.created, one.number))
