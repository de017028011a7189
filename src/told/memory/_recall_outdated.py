"""Which memories that fit a prompt may be out of date: a terse older one beside a newer of its subject.

Nothing is ended here. What looks outdated is only not said next to what is newer.
"""

from __future__ import annotations

from told.memory._recall_places import own_place
from told.memory._supersede_tokens import BREAKS, key_of, tokens_of
from told.search.stop_words import STOP_WORDS
from told.store.memory_records import CORRECTION, USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from told.store.memory_records import Memory

_TERSE = 7  # telling words
_HEAD_OLD, _HEAD_NEW = 2, 4
_EMPTY_WORDS = """
use uses used using run runs ran running put puts keep keeps kept go goes come comes make makes new all always
never only must may not no every each prefer written write writes done does default see back still now per
switched switch back moved changed again since instead via through everywhere nie immer nur nicht kein keine
wird werden muss soll dürfen verwenden nutzen benutzen toujours jamais usar siempre nunca sempre
"""
_EMPTY = frozenset(_EMPTY_WORDS.split())
_FREE = frozenset(("preference", "observation", "rule"))
_PLAIN = frozenset(("fact", "decision", "correction"))


def outdated(fitting: Sequence[Memory], found: Sequence[Memory], prompt: str = "") -> dict[str, str]:
    """Return those of some memories that look outdated by another, each with the id of the newer one.

    A newer one that has less of the prompt's words answers something else.
    """
    given: dict[str, str] = {}
    asked = set(_telling(prompt))
    for old in fitting:
        words = heads(old)
        answers = len(asked.intersection(_telling(old.text))) if words else 0
        for new in found if words else ():
            if new.created <= old.created or new.scope != old.scope or not _may_follow(old, new):
                continue
            says = _telling(new.text)
            if _same_subject(words, says[:_HEAD_NEW]) and len(asked.intersection(says)) >= answers:
                given[old.id] = new.id
                break
    return given


def heads(memory: Memory) -> tuple[str, ...]:
    """Return the words by which a newer memory of the same subject is found; none if none would matter."""
    words = [] if memory.locked or memory.kind in _FREE else _telling(memory.text)
    return tuple(words[:_HEAD_OLD]) if len(words) <= _TERSE else ()


def _may_follow(old: Memory, new: Memory) -> bool:
    """Tell whether a memory is of the kind that can take the place of another; an agent's takes no user's."""
    same = old.kind == new.kind or {old.kind, new.kind} <= _PLAIN or new.kind == CORRECTION
    return same and new.trust in (old.trust, USER) and own_place(new.text) in ("", own_place(old.text))


def _same_subject(old: Sequence[str], new: Sequence[str]) -> bool:
    return old[0] in new


def _telling(text: str) -> list[str]:
    found = []
    for token in tokens_of(text.lower()):
        bare = token.strip("`'\"()[]*_.")
        if token in BREAKS or not bare or bare in STOP_WORDS or bare in _EMPTY:
            continue
        found.append(key_of(bare))
    return found
