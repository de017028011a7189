"""Remembers what a question about a word was answered: many words stand in a text more than once."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Answers(dict["Any", bool]):
    """What was answered so far, by word."""

    def __init__(self, ask: Callable[[Any], bool]) -> None:
        """Take the question."""
        super().__init__()
        self._ask = ask

    def __missing__(self, word: Any) -> bool:
        """Answer it for a word."""
        answer = self[word] = self._ask(word)
        return answer
