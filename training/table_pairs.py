"""Read the pairs in `pairs.tar.xz`: statements and the prompts that need them.

A line that begins with `= ` is a statement; the lines below it are prompts or questions that it answers.
Files whose name begins with `talk` are about conversations, the others about what a coding agent is told.
To change them, unpack the archive (`tar -C training -xf training/pairs.tar.xz`) and pack it again
(`tar -C training --sort=name -cJf training/pairs.tar.xz pairs`).
"""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator

ARCHIVE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pairs.tar.xz")
_TALK, _LANGUAGES = "talk", "languages"


def statements(*, talk: bool, english: bool | None = None) -> Iterator[tuple[str, list[str]]]:
    """Yield each statement with its prompts, ordered by file name.

    Args:
        talk: Those about conversations, or the others.
        english: Only those in English, or only those in other languages.
    """
    with tarfile.open(ARCHIVE) as archive:
        for member in archive:
            name = os.path.basename(member.name)
            is_wanted = english is None or name.startswith(_LANGUAGES) != english
            file = archive.extractfile(member) if name.endswith(".txt") else None
            if file and name.startswith(_TALK) == talk and is_wanted:
                yield from of_text(file.read().decode("utf-8"))


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
