"""Count how often users had to repeat themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from told.capture.grammar import blank_quotations
from told.capture.pasted import mask_pasted
from told.learning import TABLE
from told.pattern import lazy_pattern
from told.store.memories.protocol import Memories
from told.store.memories.records import PROJECT, Memory, project_key

if TYPE_CHECKING:
    from told.store.sessions.protocols import TurnMatching

_MAX_TEXT = 4000  # characters of a message
_SENTENCE_START = r"(?:^|[.!?…\n]\s*|,\s*)"


@dataclass(frozen=True, slots=True)
class RepeatCounts:
    """Repeated corrections: in this project, and in all before and after the first brief."""

    here: int
    before: int
    after: int

    @property
    def total(self) -> int:
        """Return the number in all projects."""
        return self.before + self.after


@dataclass(frozen=True, slots=True)
class _Repeat:
    session: str
    turn: int
    at: int
    project: str  # its key


def count_repeats(memories: Memories, turns: TurnMatching, since: int, project: str) -> RepeatCounts:
    """Count the statements that users repeated in a later session, and the prompts that complain of it.

    A statement in N sessions counts N - 1; a prompt that complains and repeats a statement counts once.

    Args:
        memories: The open memories.
        turns: The indexed turns of all sessions.
        since: When the first brief was given; 0 without any.
        project: The scope of this project.
    """
    projects = turns.session_projects()
    found = [
        _Repeat(session, turn, at, projects.get(session, project_key(memory.scope)))
        for memory in memories.load(memories.repeated()).values()
        for session, turn, at in _find_restated(memory)
    ]
    known = {(one.session, one.turn) for one in found}
    found += [one for one in _find_complaints(turns) if (one.session, one.turn) not in known]
    here = sum(PROJECT + one.project == project for one in found)
    after = sum(bool(since) and one.at >= since for one in found)
    return RepeatCounts(here, len(found) - after, after)


def _find_restated(memory: Memory) -> Iterator[tuple[str, int, int]]:
    """Yield (session, turn, time) of the sessions that said it again."""
    places = sorted(memory.evidence, key=lambda place: (place.at, place.session, place.turn))
    seen = {places[0].session} if places else set()
    for place in places:
        if place.session and place.session not in seen:
            seen.add(place.session)
            yield place.session, place.turn, place.at


def _find_complaints(turns: TurnMatching) -> Iterator[_Repeat]:
    """Yield the prompts that say that it was said before: "how often do I have to …"."""
    table = TABLE["complaints"]
    phrases, openings, unspaced = table["phrases"], table["openings"], table["unspaced"]
    anywhere = "|".join(map(re.escape, phrases))
    starting = "|".join(map(re.escape, openings))
    pattern = lazy_pattern(
        rf"(?<!\w)(?:{anywhere})(?!\w)|{_SENTENCE_START}(?:{starting})\s?[:,!\u2013\u2014-]|{'|'.join(unspaced)}",
        re.IGNORECASE,
    )
    for session, n, at, project, asked in turns.find_prompts([*phrases, *openings], unspaced):
        if pattern.search(blank_quotations(mask_pasted(asked[:_MAX_TEXT]))):
            yield _Repeat(session, n, at, project)
