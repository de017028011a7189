"""Keeps the last tool calls of a file that is read line by line, to say which of them a bad result is of."""

from __future__ import annotations

from told.agents.text import FAILED, items, text
from told.model import AGENT, Said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

# An agent rarely makes more calls at once; of those beyond, nothing is said.
_KEPT = 8


class Calls:
    """The last calls, by their ids alone: what they say must not stay in a cursor."""

    def __init__(self, saved: Any = None) -> None:
        """Go on from what `saved` returned."""
        pairs = (items(pair) for pair in items(saved))
        self._made = [[text(pair[0]), text(pair[1])] for pair in pairs if len(pair) == 2][-_KEPT:]

    def saved(self) -> list[list[str]]:
        """Return the calls as JSON can hold them."""
        return self._made

    def made(self, session: str, call: str) -> None:
        """Take note of a call whose line has just been told."""
        self._made = [*self._made, [session, call]][-_KEPT:]

    def ended(self, session: str, call: str, at: int, how: str = FAILED) -> Iterator[Said]:
        """Yield the line that says how a call ended; `back` counts the calls that were made after it."""
        own = [made for of, made in self._made if of == session]
        if call and call in own:
            back = own[::-1].index(call)
            yield Said(session, AGENT, f"{how} {back} back" if back else how, at, form="step")
