"""Makes stores of memories of any size, always the same ones: many projects, one of them large."""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Iterator

from benchmarks import topics
from benchmarks.words import rare_words
from told.capture.entities import find_entities, find_triggers
from told.search.index_text import make_index_fields
from told.store.memories.read import SqliteMemories, memory_path, open_memory_database
from told.store.memories.records import (
    ACTIVE,
    AGENT,
    GLOBAL,
    PROJECT,
    SUPERSEDED,
    TOOL,
    USER,
    Evidence,
    Memory,
    Trigger,
    split_kind,
)

LARGE = f"{PROJECT}large"
NOW = 1_794_000_000_000
_DAY = 86_400_000
_PROJECTS = 60
_IN_LARGE, _GLOBAL = 0.4, 0.03
_LOCKED = 12  # rules that the user locked, in the large project
_KINDS = {
    "rule": 18, "preference": 10, "decision": 20, "fact": 26, "correction": 8, "warning": 6,
    "observation": 12,
}  # fmt: skip
_SAID = (
    "Never change the {word} of the {area} without the {other}, because {name} depends on it.",
    "The {area} lives in {file}; the {word} comes from {name}.",
    "Use {name} for the {word}, not {second}.",
    "We decided that the {area} keeps its {word} for {n} minutes.",
    "In {file} the {word} is checked before the {other}.",
    "The {area} {problem} when {name} is missing: {cure}.",
    "Always run {name} after a change of the {word} in {file}.",
    "The {word} of the {area} is owned by the {second} team, ask them first.",
    "Deploys of the {area} wait for the {other} check, port {n}.",
    "Tests of the {area} need {name} running and {n} workers.",
    "Fixed: the {area} {problem}; {cure}.",
    "Ask before the {word} is renamed; {name} and {second} read it by its name.",
    "Customers see the {word} in their own time zone, stored is UTC.",
    "The budget for the {area} is {n} ms, measured with {name}.",
)


def build(home: str, size: int, seed: int = 1) -> SqliteMemories:
    """Write a store with that many memories.

    Args:
        home: The folder that told would use.
        size: How many memories.
        seed: The same gives the same store.
    """
    os.makedirs(home, exist_ok=True)
    database = open_memory_database(memory_path(home))
    assert database is not None
    memories = SqliteMemories(database)
    for some in _few(generated(size, seed), 5_000):
        with memories.writer.transaction():
            for memory in some:
                memories.writer.put(memory, make_index_fields, fresh=True)
    return memories


def generated(size: int, seed: int = 1) -> Iterator[Memory]:
    """Yield memories, the oldest first."""
    drawn = random.Random(seed)
    names = list(itertools.islice(rare_words(), min(40_000, max(2_000, size // 2))))
    weights = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(len(names))))
    kinds, often = list(_KINDS), list(itertools.accumulate(_KINDS.values()))
    gap = 700 * _DAY // size
    for number in range(1, size + 1):
        text = _text(drawn, names, weights)
        created = NOW - 710 * _DAY + number * gap
        kind = drawn.choices(kinds, cum_weights=often)[0]
        trust = AGENT if kind == "observation" else drawn.choices((USER, AGENT, TOOL), (88, 9, 3))[0]
        locked = number % max(1, size // _LOCKED) == 1
        scope = LARGE if locked else _scope(drawn)
        ended = not locked and drawn.random() < 0.05
        yield Memory(
            f"m{number:07d}", "bench", number, text, split_kind(kind)[0], "", scope,
            SUPERSEDED if ended else ACTIVE, locked, USER if locked else trust, alpha=2.0, created=created,
            updated=created, marks=split_kind(kind)[1],
            evidence=(Evidence("claude-code", f"s{number // 6}", number % 6, text[:60], created),),
            triggers=tuple(Trigger(one.kind, one.value) for one in find_triggers(text)),
            entities=find_entities(text),
        )  # fmt: skip


def _text(drawn: random.Random, names: list[str], weights: list[float]) -> str:
    area = drawn.choice(list(topics.AREAS))
    words, file = topics.AREAS[area]
    problem, cure = drawn.choice(list(topics.PROBLEMS.items()))
    word, other = drawn.sample(words.split(), 2)
    name, second = drawn.choices(names, cum_weights=weights, k=2)
    said = drawn.choice(_SAID).format(
        area=area, file=file, word=word, other=other, name=name, second=second,
        problem=problem, cure=cure.format(n=drawn.randrange(2, 90)), n=drawn.randrange(2, 9_000),
    )  # fmt: skip
    more = drawn.choices(names, cum_weights=weights, k=drawn.randrange(5))
    return f"{said} See {' '.join(more)}." if more else said


def _scope(drawn: random.Random) -> str:
    where = drawn.random()
    if where < _GLOBAL:
        return GLOBAL
    if where < _GLOBAL + _IN_LARGE:
        return LARGE
    return f"{PROJECT}{int(_PROJECTS * drawn.random() ** 2)}"


def _few(memories: Iterator[Memory], size: int) -> Iterator[list[Memory]]:
    while some := list(itertools.islice(memories, size)):
        yield some
