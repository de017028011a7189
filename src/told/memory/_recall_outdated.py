"""Which memories that fit a prompt may be out of date: an older one beside a newer that took its place.

Nothing is ended here. What looks outdated is only not said next to what is newer.
"""

from __future__ import annotations

from told.memory._recall_places import own_place
from told.memory._recall_replaced import Said, chosen_in, lets_go, other_number, said, same_subject
from told.store.memory_records import CORRECTION, USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from told.search.about import About
    from told.store.memory_records import Memory

_TERSE, _TERSE_RULE = 7, 5  # telling words
_FREE = frozenset(("preference", "observation", "rule"))
_PLAIN = frozenset(("fact", "decision", "correction"))
_CHOOSING = _PLAIN | {"preference", "rule"}
_MOST_NAMES = 3
_COMPARED = 6  # of the newest that speak of the same, so that a prompt costs no more where very many do


def outdated(
    fitting: Sequence[Memory], found: Sequence[Memory], about: Mapping[str, About], prompt: str = ""
) -> dict[str, str]:
    """Return those of some memories that look outdated by another, each with the id of the newer one."""
    return {**supposed(fitting, found, about, prompt), **Replacing(about).of(fitting, latest_first(found))}


def supposed(
    fitting: Sequence[Memory], found: Sequence[Memory], about: Mapping[str, About], prompt: str = ""
) -> dict[str, str]:
    """Return those beside which a newer one has the same subject and answers the prompt no less."""
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


class Replacing:
    """Tells which memories took the place of others by their own words; each is read once."""

    def __init__(self, about: Mapping[str, About]) -> None:
        self._about = about
        self._read: dict[str, Said] = {}

    def of(self, fitting: Sequence[Memory], latest: Sequence[Memory]) -> dict[str, str]:
        """Return those of some memories that were replaced, each with the id of the newest that did it.

        Args:
            fitting: The memories.
            latest: What may have replaced them, as `latest_first` orders it.
        """
        pairs = [(old.id, self._replacing(old, latest)) for old in fitting]
        return {old: new.id for old, new in pairs if new is not None}

    def names_of(self, memory: Memory) -> list[str]:
        """Return the words by which a newer memory is found that lets go of what this one chose."""
        about = self._about[memory.id]
        terse = _TERSE_RULE if memory.kind == "rule" else _TERSE
        if memory.locked or memory.kind not in _CHOOSING or not 0 < about.telling <= terse:
            return []
        return chosen_in(self._said(memory))[:_MOST_NAMES]

    def _replacing(self, old: Memory, latest: Sequence[Memory]) -> Memory | None:
        about = self._about[old.id]
        heads = about.heads[:2] if head_of(old, about) else ()
        names = self.names_of(old)
        compared = 0
        for new in latest if names or heads else ():
            if new.created <= old.created or compared >= _COMPARED:
                break
            small = new.text.lower()
            mentioned = [name for name in names if name in small]
            alike = self._about[new.id].heads[:1]
            if not (mentioned or (alike and alike[0] in heads)) or not may_replace(old, new):
                continue
            compared += 1
            before, now = self._said(old), self._said(new)
            same = heads and (same_subject(before, now) or other_number(before, now))
            if same or any(lets_go(name, before, now) for name in mentioned):
                return new
        return None

    def _said(self, memory: Memory) -> Said:
        found = self._read.get(memory.id)
        if found is None:
            found = self._read[memory.id] = said(memory.text)
        return found


def latest_first(found: Iterable[Memory]) -> list[Memory]:
    """Return memories, the newest first."""
    return sorted(found, key=lambda one: (-one.created, one.id))


def head_of(memory: Memory, about: About) -> str:
    """Return the word by which a newer memory of the same subject is found; none if none would matter."""
    if memory.locked or memory.kind in _FREE or not 0 < about.telling <= _TERSE:
        return ""
    return about.heads[0]


def _may_follow(old: Memory, new: Memory) -> bool:
    """Tell whether a memory is of the kind that can take the place of another; an agent's takes no user's."""
    same = old.kind == new.kind or {old.kind, new.kind} <= _PLAIN or new.kind == CORRECTION
    return same and _has_a_say(old, new)


def may_replace(old: Memory, new: Memory) -> bool:
    """Tell whether a memory can take the place of another by what it is and where it holds."""
    return new.scope == old.scope and new.kind in _CHOOSING and _has_a_say(old, new)


def _has_a_say(old: Memory, new: Memory) -> bool:
    if new.trust not in (old.trust, USER):
        return False
    place = own_place(new.text)
    return not place or place == own_place(old.text)


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
