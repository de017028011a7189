"""Walks from a topic to the memories around it: by words and topics, by names in common, along edges."""

from __future__ import annotations

from told.memory.recall import Ask, recall
from told.record import record, replaced
from told.search.analyse import analyse
from told.search.memories import search_memories
from told.store.memory_records import ARCHIVED
from told.store.memory_search import MemorySearch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from told.store.memories import Memories
    from told.store.memory_records import Memory

SPECULATION = "speculation"  # the label of a note that is only a guess
SUPERSEDES = "supersedes"
MOST = 60  # memories
DEPTH = 2
BY_WORDS, _BY_TOPICS = 40, 12
_LEAST_TOPIC = 0.18  # of recall's score
_NEAR_BEST = 0.4  # of the best fit; what fits less is about something else
_STEP = 0.6  # how much less each step away says
_FEW = 8  # memories that share a name: what more of them name says nothing
_NAMES = 16


@record
class Node:
    """A memory, and how it was come by."""

    memory: Memory
    depth: int
    fit: float  # 0 to 1
    via: str = ""  # "name TokenStore", "contradicts mabc…"; empty if the topic itself leads to it


@record
class Around:
    """What is around a topic."""

    nodes: tuple[Node, ...]  # the nearest first
    edges: tuple[tuple[str, str, str], ...]  # source, kind, target; both are nodes

    def of(self, *statuses: str) -> list[Node]:
        """Return the nodes of some statuses, without notes that are guesses."""
        return [
            one for one in self.nodes if one.memory.status in statuses and one.memory.label != SPECULATION
        ]

    @property
    def guesses(self) -> list[Node]:
        """The notes that are guesses."""
        return [one for one in self.nodes if one.memory.label == SPECULATION]


def walk(memories: Memories, topic: str, scopes: Sequence[str], now: int, depth: int = DEPTH) -> Around:
    """Return the memories around a topic, at most 60 of them. Same input, same output."""
    nodes = {one.memory.id: one for one in _seeds(memories, topic, scopes, now)}
    edges: set[tuple[str, str, str]] = set()
    frontier = list(nodes)
    for step in range(1, depth + 1):
        reached = _along_edges(memories, frontier, nodes, edges)
        if step == 1:
            reached += _by_names(memories, nodes.values(), scopes)
        frontier = []
        loaded = memories.get(dict.fromkeys(name for name, _, _ in reached if name not in nodes))
        for name, source, via in reached:
            if name in nodes or name not in loaded or len(nodes) >= MOST:
                continue
            memory = loaded[name]
            if memory.text and memory.status != ARCHIVED and not 0 < memory.expires <= now:
                nodes[name] = Node(memory, step, round(_STEP * nodes[source].fit, 3), via)
                frontier.append(name)
    _along_edges(memories, frontier, nodes, edges)
    known = tuple(sorted(one for one in edges if one[0] in nodes and one[2] in nodes))
    ordered = sorted(nodes.values(), key=lambda one: (-one.fit, -one.memory.created, one.memory.id))
    return Around(tuple(ordered), known)


def _seeds(memories: Memories, topic: str, scopes: Sequence[str], now: int) -> list[Node]:
    answers = search_memories(MemorySearch(memories.connection), analyse(topic, now), now, scopes)[:BY_WORDS]
    best = max((one.score for one in answers), default=1.0)
    loaded = memories.get([one.memory.id for one in answers])
    nodes = {
        memory.id: Node(memory, 0, round(max(one.cover, 0.2) * (0.5 + 0.5 * one.score / best), 3))
        for one in answers
        if (memory := loaded.get(one.memory.id)) is not None
    }
    found = recall(memories, Ask(topic, tuple(scopes), now))
    near = [one for one in (*found.chosen, *found.left_out) if one.score >= _LEAST_TOPIC and one.memory.text]
    for one in near[:_BY_TOPICS]:
        fit = round(min(0.6, one.score), 3)
        known = nodes.get(one.memory.id)
        if known is None or known.fit < fit:
            nodes[one.memory.id] = replaced(known, fit=fit) if known else Node(one.memory, 0, fit)
    least = _NEAR_BEST * max((one.fit for one in nodes.values()), default=0.0)
    return [one for one in nodes.values() if one.fit >= least and not 0 < one.memory.expires <= now]


def _along_edges(
    memories: Memories, ids: Sequence[str], nodes: dict[str, Node], edges: set[tuple[str, str, str]]
) -> list[tuple[str, str, str]]:
    """Return (reached, from where, how) for every edge at some memories, and note the edges."""
    reached = []
    for source, kind, target, _, _ in memories.edges(ids):
        edges.add((source, kind, target))
        if source in nodes:
            reached.append((target, source, f"{kind} {source}"))
        if target in nodes:
            reached.append((source, target, f"{kind} {target}"))
    for new, ended in memories.superseded(ids).items():
        for old in ended:
            edges.add((new, SUPERSEDES, old))
            reached.append((old, new, f"before {new}"))
    for one in ids:
        later = nodes[one].memory.superseded_by
        if later:
            edges.add((later, SUPERSEDES, one))
            reached.append((later, one, f"after {one}"))
    return reached


def _by_names(memories: Memories, nodes: Iterable[Node], scopes: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return the memories that share a rare name with one that is known to be of the topic."""
    named: dict[str, str] = {}
    for node in nodes:
        for name in node.memory.entities if node.depth == 0 else ():
            named.setdefault(name, node.memory.id)
    reached = []
    for name, source in list(named.items())[:_NAMES]:
        rows = memories.by_entity([name], scopes, _FEW + 1)
        if len(rows) <= _FEW:
            reached += [(one.id, source, f"name {name}") for one in memories.load(rows).values()]
    return reached
