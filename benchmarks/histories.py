"""Made-up histories of developers, the same ones for the same seed, in the formats real agents write."""

from __future__ import annotations

import os
import random
from typing import NamedTuple

from benchmarks import claude_files, copilot_files, story, topics
from benchmarks.story import Session, Shape
from benchmarks.words import Language

# Of Copilot's sessions, how many are only in `session-state`, and how many are there as well.
_ONLY_STATE, _BOTH = 0.15, 0.10

# The kinds of lines are those of real transcripts; their shares are an estimate, as the ones at hand are
# short and trimmed: about half of the bytes tool results, a twelfth text that is worth keeping.
_BULK = story.Shape(
    sentences=(6, 30), thoughts=(3, 12), remarks=0.5, calls=(1, 6), output=(300, 12_000), compacted=0.15
)
_SMALLEST, _LARGEST = 200_000, 5_000_000


class Written(NamedTuple):
    """What a generator wrote."""

    sessions: int
    turns: int
    bytes: int
    newest: str  # the file of the newest session; empty when it is not in a file of its own
    last: Session


def copilot(
    home: str, sessions: int, turns: int, *, now: int, seed: int = 1, shape: Shape | None = None,
    searchable: bool = True, language: Language | None = None,
) -> Written:  # fmt: skip
    """Write a Copilot CLI history: most sessions in `session-store.db`, some in `session-state` (too)."""
    projects(home)
    language = language or Language(seed)
    chance = random.Random(seed + 1)
    stored: list[Session] = []
    last: Session | None = None
    for session in story.sessions(language, home, sessions, turns, now=now, shape=shape):
        place = chance.random()
        if place < _ONLY_STATE + _BOTH:
            copilot_files.write_state(home, session, chance)
        if place >= _ONLY_STATE:
            stored.append(session)
        if len(stored) == 2_000:
            copilot_files.write_store(home, stored, chance, searchable=searchable)
            stored.clear()
        last = session
    copilot_files.write_store(home, stored, chance, searchable=searchable)
    assert last is not None
    return Written(sessions, turns, _size(os.path.join(home, ".copilot")), "", last)


def claude(
    home: str, sessions: int, turns: int, *, now: int, seed: int = 2, shape: Shape | None = None,
    language: Language | None = None, framed: bool = True,
) -> Written:  # fmt: skip
    """Write a Claude Code history: one transcript a session, in the folder of its project.

    `framed` adds what surrounds each request in real files.
    """
    projects(home)
    language = language or Language(seed)
    chance = random.Random(seed + 1)
    extras = claude_files.Extras(*(language.prose(count) for count in (20, 20, 6, 2))) if framed else None
    size = 0
    last: Session | None = None
    for session in story.sessions(language, home, sessions, turns, now=now, shape=shape):
        size += claude_files.write(home, session, chance, extras)
        last = session
    assert last is not None
    return Written(sessions, turns, size, claude_files.path_of(home, last), last)


def claude_bulk(home: str, megabytes: float, *, now: int, seed: int = 3) -> Written:
    """Write that many megabytes of Claude Code transcripts of 0.2 to 5 MB, as fast as the disk allows."""
    projects(home)
    language = Language(seed)
    chance = random.Random(seed + 1)
    extras = claude_files.Extras(*(language.prose(count) for count in (400, 300, 45, 5)))
    size = sessions = turns = 0
    newest: tuple[int, Session] | None = None
    while size < megabytes * 1_000_000:
        # About 44 kB a turn: the files' sizes spread evenly over their orders of magnitude.
        aim = _SMALLEST * (_LARGEST / _SMALLEST) ** chance.random()
        length = max(1, int(min(aim, megabytes * 1_000_000 - size) / 44_000))
        ended = now - int(chance.random() * story.TWO_YEARS)
        session = story.session(language, chance, home, length, ended=ended, shape=_BULK)
        size += claude_files.write(home, session, chance, extras)
        sessions, turns = sessions + 1, turns + length
        if newest is None or ended > newest[0]:
            newest = ended, session
    assert newest is not None
    return Written(sessions, turns, size, claude_files.path_of(home, newest[1]), newest[1])


def projects(home: str) -> None:
    """Make the folders of the projects, each a Git work tree with a remote."""
    for name in topics.PROJECTS:
        folder = os.path.join(home, "src", name, ".git")
        for part in ("objects", "refs/heads"):
            os.makedirs(os.path.join(folder, part), exist_ok=True)
        with open(os.path.join(folder, "HEAD"), "w", encoding="utf-8") as file:
            file.write("ref: refs/heads/main\n")
        with open(os.path.join(folder, "config"), "w", encoding="utf-8") as file:
            file.write(
                "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
                f'[remote "origin"]\n\turl = git@github.com:acme/{name}.git\n'
            )


def _size(folder: str) -> int:
    return sum(
        os.path.getsize(os.path.join(where, name)) for where, _, names in os.walk(folder) for name in names
    )
