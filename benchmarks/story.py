"""Makes up sessions: a developer and an agent working through the topics of their projects."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from typing import NamedTuple

from benchmarks import topics
from benchmarks.words import Language

DAY = 86_400_000
TWO_YEARS = 730 * DAY

# What the benchmarks search for. The first stands in very few turns, which hold the others, too.
RARE_WORD = "thundersnow"
TWO_WORDS = "redis TTL"
QUESTION = "what did we decide about the cache TTL?"


class Call(NamedTuple):
    """A tool call of the agent with its result."""

    tool: str
    target: str  # the file, or the command of a shell
    output: str
    text: str = ""  # what is written, or replaced
    remark: str = ""  # what the agent says before it


class Turn(NamedTuple):
    """What the user asked and what the agent did and answered."""

    at: int
    asked: str
    answered: str
    thought: str = ""
    calls: tuple[Call, ...] = ()


class Session(NamedTuple):
    """One made-up conversation."""

    id: str
    folder: str
    repository: str
    branch: str
    title: str
    turns: tuple[Turn, ...]
    summary: str = ""  # what the agent wrote when it compacted the session


class Shape(NamedTuple):
    """How much the agent does and says in a turn."""

    sentences: tuple[int, int] = (2, 6)
    thoughts: tuple[int, int] = (1, 3)
    remarks: float = 0.2  # of the calls
    calls: tuple[int, int] = (0, 3)
    output: tuple[int, int] = (200, 3_000)
    compacted: float = 0.06


def sessions(
    language: Language, home: str, count: int, turns: int, *, now: int, shape: Shape | None = None
) -> Iterator[Session]:
    """Make up `count` sessions with `turns` turns in all, spread over the two years up to `now`."""
    chance = random.Random(language.random.getrandbits(64))
    rare_every = max(1, count // 3)
    ages = sorted((chance.random() ** 1.5 for _ in range(count)), reverse=True)
    for number, (age, length) in enumerate(zip(ages, shares(chance, count, turns), strict=True)):
        ended = now - int(age * TWO_YEARS)
        rare = number % rare_every == rare_every // 2
        yield session(language, chance, home, length, ended=ended, shape=shape or Shape(), rare=rare)


def session(
    language: Language,
    chance: random.Random,
    home: str,
    length: int,
    *,
    ended: int,
    shape: Shape,
    rare: bool = False,
) -> Session:
    """Make up one session of `length` turns that ends at `ended`."""
    project = chance.choice(topics.PROJECTS)
    folder = os.path.join(home, "src", project)
    area, (words, file) = chance.choice(list(topics.AREAS.items()))
    problem, remedy = chance.choice(list(topics.PROBLEMS.items()))
    at = ended - length * 240_000
    told: list[Turn] = []
    for number in range(length):
        at += chance.randint(60_000, 240_000)
        word, other = chance.sample(words.split(), 2)
        slots = {"area": area, "problem": problem, "file": file, "word": word, "other": other}
        slots["n"] = str(chance.choice((2, 3, 5, 10, 15, 20, 30, 45, 60, 90, 120)))
        slots["remedy"] = remedy.format(**slots)
        asked = chance.choice(topics.ASKED).format(**slots)
        answered = chance.choice(topics.ANSWERED).format(**slots)
        answered += f" {language.prose(chance.randint(*shape.sentences))}"
        if rare and number == length // 2:
            answered += (
                f" The release is called {RARE_WORD}. We decided on a cache TTL of 15 minutes in redis."
            )
        calls = tuple(
            _call(language, chance, os.path.join(folder, file), word, shape)
            for _ in range(chance.randint(*shape.calls))
        )
        thought = language.prose(chance.randint(*shape.thoughts)) if calls else ""
        told.append(Turn(at, asked, answered, thought, calls))
    summary = f"The {area} {problem}. {language.prose(4)}" if chance.random() < shape.compacted else ""
    return Session(
        identifier(chance),
        folder,
        f"acme/{project}",
        chance.choice(("main", "main", f"fix/{area.split(maxsplit=1)[0].lower()}", "develop")),
        f"{area.capitalize()} {problem}",
        tuple(told),
        summary,
    )


def shares(chance: random.Random, count: int, total: int) -> list[int]:
    """Divide `total` turns among sessions: most are short, a few long, none empty."""
    if not count:
        return []
    weights = [chance.expovariate(1) + 0.2 for _ in range(count)]
    scale = max(0, total - count) / sum(weights)
    lengths = [1 + int(weight * scale) for weight in weights]
    for number in range(total - sum(lengths)):
        lengths[number % count] += 1
    return lengths


def identifier(chance: random.Random) -> str:
    """Return a random UUID (version 4) as text."""
    digits = f"{chance.getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


def _call(language: Language, chance: random.Random, path: str, word: str, shape: Shape) -> Call:
    tool = chance.choices(("Read", "Bash", "Edit", "Grep", "Write"), (30, 35, 20, 10, 5))[0]
    # Outputs have a long tail: many short ones, a few that fill pages.
    low, high = shape.output
    size = low + int((high - low) * chance.random() ** 3)
    remark = language.prose(chance.randint(1, 2)) if chance.random() < shape.remarks else ""
    if tool in ("Edit", "Write"):
        return Call(tool, path, f"The file {path} has been updated.", language.output(size // 3), remark)
    target = {
        "Read": path,
        "Bash": f"pytest -q {os.path.basename(path)} -k {word}",
        "Grep": word,
    }[tool]
    return Call(tool, target, language.output(size), "", remark)
