"""Recognise sessions whose prompts a program wrote: they teach nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from told.agents.headless_signs import is_headless
from told.pattern import lazy_pattern
from told.store.sessions.facts import QueuedSession
from told.store.sessions.read import SessionReader, TurnRow
from told.words import WORD

_MIN_SESSIONS = 3  # that begin with the same prompt
_MIN_WORDS = 12  # of such a prompt: people repeat short ones
_READ = 600  # characters of a prompt
# What differs between the prompts of one program: quotations, code, addresses, paths, names and numbers.
_VALUE = lazy_pattern(
    r"\"[^\"\n]{1,200}\"|“[^”\n]{1,200}”|`[^`\n]{1,200}`|\S*[/\\@#_]\S*|\S*\d\S*|\b[A-Z]{2,}\b"
)


class Programs:
    """Tells which sessions a program prompts; reads what sessions begin with once."""

    def __init__(self, reading: SessionReader) -> None:
        self._reading = reading
        self._counted: Counter[str] | None = None

    def prompt(self, session: QueuedSession, turns: Sequence[TurnRow]) -> bool:
        """Tell whether a program prompts a session: it was started headless, or repeats a template."""
        if is_headless(session.agent, self._reading.source_path(session.id)):
            return True
        template = find_template(turns[0].asked[:_READ]) if turns else ""
        return bool(template) and self._count()[template] >= _MIN_SESSIONS

    def _count(self) -> Counter[str]:
        if self._counted is None:
            self._counted = Counter(map(find_template, self._reading.openings(_READ)))
        return self._counted


def find_template(prompt: str) -> str:
    """Return a prompt without its values; empty if it is too short to be a program's.

    >>> find_template("Reply with the exact marker OK-17, and do not add any markdown or explanation to it.")
    'reply with the exact marker and do not add any markdown or explanation to it'
    """
    words = WORD.findall(_VALUE.sub(" ", prompt).lower())
    return " ".join(words) if len(words) >= _MIN_WORDS else ""
