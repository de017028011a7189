"""The well-known actions that rules name in plain words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from told.hook.guard import load_table
from told.hook.guard.pattern import Pattern, read_pattern
from told.hook.guard.sentences import OPTION, Token

TASK = "@task"  # the program of a pattern that any task runner matches
_GAP = 3  # words that a `*` of a phrase may skip


@dataclass(frozen=True, slots=True)
class Action:
    """A well-known thing that commands do, or one command that a rule names."""

    commands: tuple[str, ...]
    says: tuple[tuple[str, ...], ...] = ()  # phrases as stems; "*" is a gap
    variables: tuple[str, ...] = ()  # assignments that do it
    sql: str = ""
    target: str = ""  # what a place in the rule means: a branch or an environment

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """The commands, parsed."""
        return tuple(pattern for one in self.commands if (pattern := read_pattern(one)))


@cache
def load_actions() -> tuple[Action, ...]:
    """Load the well-known actions."""
    return tuple(
        Action(
            (*_items(row, "commands"), *(f"{TASK} {name}" for name in _items(row, "tasks"))),
            tuple(tuple(_stem(word) for word in phrase.split()) for phrase in _items(row, "says")),
            tuple(_items(row, "variables")),
            row.get("sql", ""),
            row.get("target", ""),
        )
        for row in load_table("actions")["action"]
    )


def _items(row: dict[str, str], name: str) -> list[str]:
    return [one for part in row.get(name, "").split(",") if (one := " ".join(part.split()))]


def _stem(word: str) -> str:
    return word if word == "*" else Token(word, OPTION).stem if word.startswith("-") else Token(word).stem


def match_phrase(stems: list[str], at: int, phrase: tuple[str, ...]) -> frozenset[int]:
    """Return the places of a phrase that starts at a word; empty if it does not."""
    if stems[at] != phrase[0]:
        return frozenset()
    places, place, gap = [at], at + 1, 0
    for word in phrase[1:]:
        if word == "*":
            gap = _GAP
            continue
        end = min(place + gap + 1, len(stems))
        found = next((i for i in range(place, end) if stems[i] == word), -1)
        if found < 0:
            return frozenset()
        places.append(found)
        place, gap = found + 1, 0
    return frozenset(places)
