"""Pairs of independent statements that share a frame and differ in their subject."""

from __future__ import annotations

import itertools
import random

# Each frame has a subject {s} and a value {v}.
FRAMES = (
    "Name branch {s} with prefix {v}.", "The {s} timeout is {v}.", "Use {v} for {s}.",
    "{s} runs on port {v}.", "Deploy {s} with {v}.", "The owner of {s} is {v}.", "{s} lives in {v}.",
    "Never restart {s} before {v}.", "In {s} we use {v}.", "Logs of {s} go to {v}.",
    "The limit for {s} is {v} requests.", "Ask {v} before changing {s}.", "Der Server für {s} ist {v}.",
    "{s} wird um {v} Uhr gesichert.", "Le port de {s} est {v}.", "El responsable de {s} es {v}.",
    "Always tag {s} as {v}.", "Backups of {s} are kept for {v} days.", "From now on {s} uses {v}.",
    "{s} moved to {v}.", "{s} is now on {v}.", "We switched {s} to {v}.", "{s} no longer uses {v}.",
    "For {s} we dropped {v}.",
)  # fmt: skip
# Subjects of a group are alike; any two of them are different things.
SUBJECTS = {
    "identifiers": [f"number{one}" for one in range(1, 12)],
    "numbers": [f"customer {one}" for one in range(1041, 1052)],
    "issues": [f"issue {one}" for one in range(12, 20)],
    "versions": [f"release v{one}" for one in range(1, 9)],
    "apps": [f"app{one}" for one in range(1, 9)],
    "paths": ["src/api", "src/web", "src/worker", "packages/ui", "tools/sim", "lib/core"],
    "environments": ["staging", "production", "development"],
    "parts": ["checkout", "search", "billing", "the mobile app", "the importer", "reporting"],
    "customers": ["customer Acme", "customer Borealis", "customer Cygnus", "customer Dorado"],
    "languages": ["Python code", "Go code", "TypeScript code", "Kotlin code"],
    "purposes": ["unit tests", "load tests", "database migrations", "the docs", "message queues"],
}
VALUES = (
    "zulu7", "zulu8", "yankee", "xray", "8000", "8001", "30", "45", "60", "npm", "pnpm", "Redis", "Postgres",
    "MySQL", "pytest", "Helm", "Marta", "Jonas", "db1", "db2", "Hetzner", "AWS", "10", "14",
)  # fmt: skip


def make_pairs(count: int, seed: int = 17) -> list[tuple[str, str]]:
    """Return pairs of statements, each about another subject."""
    choose = random.Random(seed)
    pairs: dict[tuple[str, str], None] = {}
    subjects = [pair for group in SUBJECTS.values() for pair in itertools.permutations(group, 2)]
    while len(pairs) < count:
        frame = choose.choice(FRAMES)
        one, other = choose.choice(subjects)
        first = choose.choice(VALUES)
        second = first if choose.random() < 0.3 else choose.choice(VALUES)
        old = frame.format(s=one, v=first)
        # The later statement may have another frame that says a change.
        later = frame if choose.random() < 0.8 else choose.choice(FRAMES)
        pairs[_capitalize(old), _capitalize(later.format(s=other, v=second))] = None
    return list(pairs)


def make_groups(size: int = 32) -> list[list[str]]:
    """Return groups of statements of one frame, each about another thing."""
    return [
        [_capitalize(frame.format(s=f"number{at}", v=f"zulu{at}")) for at in range(1, size + 1)]
        for frame in FRAMES
    ]


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]
