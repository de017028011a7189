"""Find memories that a newer one seems to replace.

Nothing is ended here: an outdated memory is only not shown next to the newer one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from told.conflict.change import find_choices, leaves_choice, states_same_subject
from told.conflict.judge import judge_many, read_cached
from told.conflict.subjects import find_difference
from told.search.about import About
from told.search.query import find_keywords
from told.store.memories.records import CORRECTION, USER, Memory

STATED = frozenset(("decision", "fact"))  # two rules may both be valid, two of these seldom are
MIN_SIMILARITY = 0.2  # in meaning, of two memories about the same thing
MIN_LIKELIHOOD = 0.65
_MIN_CHANCE = 0.65  # of a replacement that names the same choice or subject
_SHORT, _SHORT_RULE = 7, 5  # keywords of a memory that states one thing
_NEVER_SUPPOSED = frozenset(("preference", "observation", "rule"))
_PLAIN = frozenset(("fact", "decision", "correction"))
_CHOOSING = _PLAIN | {"preference", "rule"}
_MAX_NAMES = 3
_MAX_COMPARED = 6  # of the newest memories about the same thing


def find_outdated(
    memories: Sequence[Memory], others: Sequence[Memory], about: Mapping[str, About], prompt: str = ""
) -> dict[str, str]:
    """Map outdated memories to the id of the newer one."""
    return {
        **find_supposed(memories, others, about, prompt),
        **ReplacementFinder(about).find(memories, sort_newest_first(others)),
    }


def find_supposed(
    memories: Sequence[Memory], others: Sequence[Memory], about: Mapping[str, About], prompt: str = ""
) -> dict[str, str]:
    """Map memories to a newer one about the same subject."""

    @cache
    def count_asked(text: str) -> int:
        return len(asked.intersection(find_keywords(text)))

    asked = set(find_keywords(prompt))
    found: dict[str, str] = {}
    for old in memories:
        head = get_head(old, about[old.id])
        for new in others if head else ():
            if (
                new.created > old.created
                and new.scope == old.scope
                and head in about[new.id].heads
                and _may_follow(old, new)
                and count_asked(new.text) >= count_asked(old.text)
            ):
                found[old.id] = new.id
                break
    return found


class ReplacementFinder:
    """Finds memories that the judge calls replaced by a newer one."""

    def __init__(self, about: Mapping[str, About]) -> None:
        self._about = about

    def find(self, memories: Sequence[Memory], newest_first: Sequence[Memory]) -> dict[str, str]:
        """Map replaced memories to the id of their newest replacement."""
        pairs = [(old.id, self._find_replacement(old, newest_first)) for old in memories]
        return {old: new.id for old, new in pairs if new is not None}

    def get_choices(self, memory: Memory) -> list[str]:
        """Return the chosen names that a newer memory may drop."""
        limit = _SHORT_RULE if memory.kind == "rule" else _SHORT
        is_short = 0 < self._about[memory.id].keyword_count <= limit
        if memory.locked or memory.leading_kind not in _CHOOSING or not is_short:
            return []
        return sorted(find_choices(read_cached(memory.text)))[:_MAX_NAMES]

    def _find_replacement(self, old: Memory, newest_first: Sequence[Memory]) -> Memory | None:
        about = self._about[old.id]
        heads = about.heads[:2] if get_head(old, about) else ()
        names = self.get_choices(old)
        compared = 0
        for new in newest_first if names or heads else ():
            if new.created <= old.created or compared >= _MAX_COMPARED:
                break
            now = read_cached(new.text)
            alike = self._about[new.id].heads[:1]
            is_near = any(name in now.raw or name in now.words for name in names)
            is_near = is_near or bool(alike and alike[0] in heads)
            if is_near and may_replace(old, new):
                compared += 1
                before = read_cached(old.text)
                says_so = states_same_subject(before, now) or leaves_choice(before, now)
                if says_so or judge_many(new.text, [old.text])[0].chance >= _MIN_CHANCE:
                    return new
        return None


def sort_newest_first(memories: Iterable[Memory]) -> list[Memory]:
    """Sort memories by age, newest first."""
    return sorted(memories, key=lambda one: (-one.created, one.id))


def get_head(memory: Memory, about: About) -> str:
    """Return the first keyword of a memory that can be outdated."""
    if memory.locked or memory.leading_kind in _NEVER_SUPPOSED or not 0 < about.keyword_count <= _SHORT:
        return ""
    return about.heads[0]


def may_replace(old: Memory, new: Memory) -> bool:
    """Tell whether kind, scope and trust allow a memory to replace another."""
    return new.scope == old.scope and new.leading_kind in _CHOOSING and _may_concern(old, new)


def _may_follow(old: Memory, new: Memory) -> bool:
    before, after = old.leading_kind, new.leading_kind
    same = before == after or {before, after} <= _PLAIN or after == CORRECTION
    return same and _may_concern(old, new)


def _may_concern(old: Memory, new: Memory) -> bool:
    """Tell whether a memory's trust and subject allow a replacement."""
    return new.trust in (old.trust, USER) and not find_difference(
        read_cached(old.text), read_cached(new.text)
    )


def estimate_likelihood(old: Memory, new: Memory, similarity: float) -> float:
    """Return the probability that a newer memory replaced an older one."""
    return judge_many(new.text, [old.text])[0].chance if similarity >= MIN_SIMILARITY else 0.0
