"""Invented memories of a team: words by Zipf's law, topics, projects, people; always the same ones."""

from __future__ import annotations

import random
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from told.search.vectors.table import TABLE_PATH, open_table
from told.store.database import public_id
from told.store.memories.names import ACTIVE, GLOBAL, PROJECT, SHARED, USER
from told.store.memories.records import SHARED_WITH, Edge, Memory

TEAM_NAME = "acme"
PEOPLE = tuple(f"person {number}" for number in range(24))
PROJECTS = tuple(f"acme/project-{number}" for number in range(40))
BLOCK = 1000  # memories that share a source of chance, so that blocks can be made in any order
_SEED = "told server benchmark"
_TOPICS, _TOPIC_WORDS = 500, 80
_FIRST_MS, _LAST_MS = 1_700_000_000_000, 1_762_000_000_000
_KINDS = ("fact", "rule", "decision")
_SHARED, _TEAM_SCOPE, _GLOBAL = 0.7, 0.1, 0.05  # of the memories; the others are their owner's, of a project
_ASKED_BLOCKS = 5  # that questions are made of
_COMMON = ("how", "do", "we", "the", "what", "is", "for", "should", "when", "with")


class Invented(NamedTuple):
    """A memory, and which of PEOPLE it belongs to."""

    owner: int
    memory: Memory


class Question(NamedTuple):
    """What somebody asks."""

    person: int
    project: str  # empty: everywhere
    text: str


class _Words(NamedTuple):
    words: list[str]
    heaps: list[float]  # added up chances of the words
    topics: list[list[str]]


@cache
def _load_words() -> _Words:
    """Return the words that the built-in table of meaning knows, in an order of chance."""
    table = open_table(TABLE_PATH)
    assert table
    words = sorted(name for name in table.list_rows() if name.isascii() and name.isalpha() and len(name) > 2)
    chance = random.Random(_SEED)
    chance.shuffle(words)
    heaps = _add_up(len(words))
    topics = [chance.sample(words[200:], _TOPIC_WORDS) for _ in range(_TOPICS)]
    return _Words(words, heaps, topics)


@cache
def _add_up(count: int) -> list[float]:
    return list(accumulate(1.0 / (rank + 2.7) for rank in range(count)))


def make_text(chance: random.Random) -> str:
    """Return a statement of 8 to 25 words, half of them of one topic."""
    known = _load_words()
    length = chance.randint(8, 25)
    topic = chance.choice(known.topics)
    half = length // 2
    words = chance.choices(topic, cum_weights=_add_up(len(topic)), k=half)
    words += chance.choices(known.words, cum_weights=known.heaps, k=length - half)
    if chance.random() < 0.2:
        words.append(f"{words[0]}{words[-1].capitalize()}{chance.randint(1, 99)}")
    chance.shuffle(words)
    return " ".join(words).capitalize() + "."


def make_block(number: int, total: int, team: str) -> list[Invented]:
    """Return the memories of one block of a history of so many."""
    chance = random.Random(f"{_SEED} {number}")
    step = (_LAST_MS - _FIRST_MS) // total
    return [
        _make_one(at, _FIRST_MS + at * step, chance, team)
        for at in range(number * BLOCK, (number + 1) * BLOCK)
    ]


def _make_one(at: int, created: int, chance: random.Random, team: str) -> Invented:
    owner = chance.randrange(len(PEOPLE))
    project = _choose_project(chance)
    place = chance.random()
    scope = PROJECT + project
    edges: tuple[Edge, ...] = ()
    if place < _TEAM_SCOPE:
        scope = SHARED + TEAM_NAME
    elif place < _TEAM_SCOPE + _SHARED:
        edges = (Edge(SHARED_WITH, team, created, USER),)
    elif place < _TEAM_SCOPE + _SHARED + _GLOBAL:
        scope = GLOBAL
    machine = f"machine{owner}"
    return Invented(owner, Memory(
        public_id("m", _SEED, str(at), length=12), machine, at, make_text(chance), chance.choice(_KINDS),
        scope=scope, status=ACTIVE, trust=USER, importance=5.0, alpha=2.0, created=created, updated=created,
        worded_by=USER, edges=edges, last=(created, machine, at),
    ))  # fmt: skip


def _choose_project(chance: random.Random) -> str:
    return chance.choices(PROJECTS, cum_weights=_add_up(len(PROJECTS)))[0]


def make_questions(count: int, total: int, seed: str) -> list[Question]:
    """Return questions in words of memories that exist, and common words."""
    chance = random.Random(f"{_SEED} {seed}")
    blocks = [make_block(chance.randrange(total // BLOCK), total, "") for _ in range(_ASKED_BLOCKS)]
    found = []
    for _ in range(count):
        asked = chance.choice(chance.choice(blocks)).memory
        words = asked.text.rstrip(".").lower().split()
        words = chance.sample(words, min(len(words), chance.randint(4, 7)))
        words += chance.sample(_COMMON, 3)
        chance.shuffle(words)
        project = _choose_project(chance) if chance.random() < 0.5 else ""
        found.append(Question(chance.randrange(len(PEOPLE)), project, " ".join(words)))
    return found
