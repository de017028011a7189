"""Reads the pairs in `pairs`: what was said, and below it what is asked when it is needed.

A line that begins with `= ` is a statement; the lines below it are prompts or questions that it answers.
Files whose name begins with `talk` are about conversations, the others about what a coding agent is told.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pairs")
_TALK, _LANGUAGES = "talk", "languages"


def statements(*, talk: bool, english: bool | None = None) -> Iterator[tuple[str, list[str]]]:
    """Yield each statement with what asks for it, in the order of the files' names.

    Args:
        talk: Those about conversations, or the others.
        english: Only those in English, or only those in other languages.
    """
    for name in sorted(os.listdir(FOLDER)):
        is_wanted = english is None or name.startswith(_LANGUAGES) != english
        if name.endswith(".txt") and name.startswith(_TALK) == talk and is_wanted:
            with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
                yield from of_text(file.read())


def of_text(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the statements of one file."""
    said, asking = "", list[str]()
    for line in text.splitlines():
        if line.startswith("= "):
            if said and asking:
                yield said, asking
            said, asking = line[2:].strip(), []
        elif line.strip():
            asking.append(line.strip())
    if said and asking:
        yield said, asking
