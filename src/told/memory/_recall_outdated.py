"""Which memories that fit a prompt may be out of date: a terse older one beside a newer of its subject.

Nothing is ended here. What looks outdated is only not said next to what is newer.
"""

from __future__ import annotations

from told.memory._recall_places import own_place
from told.store.memory_records import CORRECTION, USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from told.search.about import About
    from told.store.memory_records import Memory

_TERSE = 7  # telling words
_FREE = frozenset(("preference", "observation", "rule"))
_PLAIN = frozenset(("fact", "decision", "correction"))


def outdated(
    fitting: Sequence[Memory], found: Sequence[Memory], about: Mapping[str, About], prompt: str = ""
) -> dict[str, str]:
    """Return those of some memories that look outdated by another, each with the id of the newer one."""
    given: dict[str, str] = {}
    asked = _Asked(prompt)
    for old in fitting:
        head = head_of(old, about[old.id])
        for new in found if head else ():
            if (
                new.created > old.created and new.scope == old.scope and head in about[new.id].heads
                and _may_follow(old, new) and asked.is_answered_as_much(old, new)
            ):  # fmt: skip
                given[old.id] = new.id
                break
    return given


def head_of(memory: Memory, about: About) -> str:
    """Return the word by which a newer memory of the same subject is found; none if none would matter."""
    if memory.locked or memory.kind in _FREE or not 0 < about.telling <= _TERSE:
        return ""
    return about.heads[0]


def _may_follow(old: Memory, new: Memory) -> bool:
    """Tell whether a memory is of the kind that can take the place of another; an agent's takes no user's."""
    same = old.kind == new.kind or {old.kind, new.kind} <= _PLAIN or new.kind == CORRECTION
    return same and new.trust in (old.trust, USER) and own_place(new.text) in ("", own_place(old.text))


class _Asked:
    """A prompt, and how many of its words memories have: counted once, and only if it comes to that."""

    def __init__(self, prompt: str) -> None:
        self._prompt = prompt
        self._words: set[str] | None = None
        self._counts: dict[str, int] = {}

    def is_answered_as_much(self, old: Memory, new: Memory) -> bool:
        """Tell whether the newer one has no less of the prompt's words: else it answers something else."""
        return self._count(new) >= self._count(old)

    def _count(self, memory: Memory) -> int:
        if memory.id not in self._counts:
            from told.search.subject import telling  # few prompts come this far

            if self._words is None:
                self._words = set(telling(self._prompt))
            self._counts[memory.id] = len(self._words.intersection(telling(memory.text)))
        return self._counts[memory.id]
