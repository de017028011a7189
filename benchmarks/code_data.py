"""Reads the coding histories in `code_sessions` and makes up sessions that are easily confused with them.

A session is `# id date | what it is about | file | words of it`, followed by what the user asked (`>`),
what the agent answered (`<`), and the questions that it answers (`?`): all written by hand.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator, Sequence
from hashlib import blake2s
from typing import NamedTuple

from benchmarks import CannotMeasureError
from benchmarks.retrieval import Corpus, Said

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "code_sessions")
DAY = 86_400_000
SESSIONS = 200
_SPAN = 250  # days
_STEM = 5

# Work on the same things that fixed nothing: what is asked, and what is answered.
_OTHER_WORK = (
    (
        "Explain how the {a} and the {b} work together in {file}",
        "The {area} reads the {a} first and looks at the {b} after that. I changed nothing.",
    ),
    (
        "Rename the function around the {a} in {file}, the name misleads",
        "Renamed, {n} callers follow. The {area} does the same as before.",
    ),
    ("Add a test for the {b} of the {area}", "There are {n} cases now, all pass. {file} is as it was."),
    (
        "Write a paragraph about the {area} for the handbook",
        "It is in the handbook: what the {a} is, where {file} is called, and whom to ask about the {b}.",
    ),
    (
        "Is the {area} slower since yesterday? I suspect the {a}",
        "It is not: {n} ms as last week. The machine was busy with something else.",
    ),
    ("Is {file} still needed?", "Yes, {n} places import it. The {b} depends on it."),
    (
        "Somebody says that the {area} does not work",
        "I cannot see it. The {a} is there, the {b} too; the report was about another branch.",
    ),
    (
        "Bump what the {area} depends on",
        "{n} packages are newer now. Their notes say nothing about the {a}; tests pass.",
    ),
    (
        "Please review my change in {file}",
        "Two remarks: the {b} is read twice, and a comment still speaks of the old {a}. Otherwise fine.",
    ),
    (
        "What would it take to replace the {a} in the {area}?",
        "About {n} days, most of it for the {b}. I would not do it this year.",
    ),
    (
        "There is a TODO at the {b} in {file}, what does it mean?",
        "It is from the first version of the {area} and was done long ago. I removed the comment.",
    ),
    (
        "Split {file}, it has become too long",
        "The {a} and the {b} are two modules now, with {n} functions each. Imports are unchanged.",
    ),
)
_SMALL_TALK = (
    ("run the tests again", "All {n} pass."),
    ("ok, commit it", "Committed as {hash}."),
    ("thanks, open a pull request", "It is #{n}, with a short description."),
    ("format the file, too", "Done, only white space changed."),
)


class Session(NamedTuple):
    """One session as it was written down."""

    id: str
    at: int
    area: str
    file: str
    words: tuple[str, ...]
    turns: list[tuple[str, str]]
    questions: list[str]


class History(NamedTuple):
    """The sessions of one project: those that fixed something, and all others."""

    now: int
    fixed: list[Session]
    others: list[Session]

    def corpus(self) -> Corpus:
        """Return the history as turns that can be found, and all questions about it."""
        sessions = sorted((*self.fixed, *self.others), key=lambda one: (one.at, one.id))
        said = [
            Said(f"{one.id}:{n}", one.id, one.at + n * 300_000, asked, answered)
            for one in sessions
            for n, (asked, answered) in enumerate([*one.turns, *_small_talk(one)])
        ]
        return Corpus(said, [(question, self.now) for one in self.fixed for question in one.questions])


def history(path: str, count: int) -> History:
    """Read the sessions of a file and make up others, `count` in all, the same ones each time."""
    now = 0
    sessions: list[Session] = []
    with open(path, encoding="utf-8") as file:
        for line in file.read().splitlines():
            mark, _, rest = line.partition(" ")
            if mark == "#":
                sessions.append(_headed(rest, path))
            elif mark == ">" and sessions:
                sessions[-1].turns.append((rest, ""))
            elif mark == "<" and sessions and sessions[-1].turns:
                sessions[-1].turns[-1] = (sessions[-1].turns[-1][0], rest)
            elif mark == "?" and sessions:
                sessions[-1].questions.append(rest.strip())
            elif mark == "now":
                now = _day(rest)
    if not now or not all(one.turns and one.questions for one in sessions):
        raise CannotMeasureError(f"{path} is no coding history.")
    return History(now, sessions, list(_others(sessions, max(0, count - len(sessions)), now)))


def overlap(question: str, session: Session) -> int:
    """Return how many longer words a question shares with what was said in a session, endings aside."""
    return len(
        _stems(question) & _stems(" ".join(f"{asked} {answered}" for asked, answered in session.turns))
    )


def _others(sessions: Sequence[Session], count: int, now: int) -> Iterator[Session]:
    for number in range(count):
        like = sessions[number % len(sessions)]
        chance = _chance(f"other {number} {like.id}")
        kinds = chance.sample(_OTHER_WORK, 2)
        a, b = chance.sample(like.words, 2)
        slots = {"area": like.area, "file": like.file, "a": a, "b": b, "n": str(chance.randint(2, 60))}
        turns = [(asked.format(**slots), answered.format(**slots)) for asked, answered in kinds]
        at = now - chance.randint(1, _SPAN) * DAY + chance.randint(8, 18) * 3_600_000
        yield Session(f"o{number:03d}", at, like.area, like.file, like.words, turns, [])


def _small_talk(session: Session) -> list[tuple[str, str]]:
    chance = _chance(f"talk {session.id}")
    slots = {"n": str(chance.randint(20, 900)), "hash": f"{chance.getrandbits(28):07x}"}
    kinds = chance.sample(_SMALL_TALK, chance.randint(0, 2))
    return [(asked, answered.format(**slots)) for asked, answered in kinds]


def _chance(name: str) -> random.Random:
    return random.Random(int.from_bytes(blake2s(name.encode(), digest_size=8).digest(), "big"))


def _headed(line: str, path: str) -> Session:
    try:
        head, area, file, words = (part.strip() for part in line.split("|"))
        name, date = head.split()
    except ValueError as error:
        raise CannotMeasureError(f"{path} has a session without its four parts: {line}") from error
    return Session(name, _day(date) + 10 * 3_600_000, area, file, tuple(words.split()), [], [])


def _day(date: str) -> int:
    return int(time.mktime(time.strptime(date.strip(), "%Y-%m-%d"))) * 1000


def _stems(text: str) -> set[str]:
    words = "".join(char if char.isalnum() else " " for char in text.lower()).split()
    return {word[:_STEM] for word in words if len(word) >= _STEM}
