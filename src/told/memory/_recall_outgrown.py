"""How likely the nearest newer memory took the place of an older one: by meaning, words and wording together.

Where the wording alone is not sure enough to end anything, nearness in meaning tells which of two that hold
at once belong to one subject.
"""

from __future__ import annotations

from math import exp, log

from told.memory._recall_outgrown_weights import WEIGHTS
from told.memory._recall_replaced import chosen_in, lets_go, said, same_subject
from told.memory._recall_replaced_words import BACK, GONE, MOVES, NOW

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.memory._recall_replaced import Said
    from told.store.memory_records import Memory

NEAR_ENOUGH = 0.2  # in meaning; what is further away is about something else
LIKELY = 0.4
_MOST_WORDS = 15
STATED = frozenset(("decision", "fact"))
_CHANGE = BACK | GONE | MOVES | NOW
_SLACK = 0.02  # nothing is certain


def likelihood(old: Memory, new: Memory, near: float) -> float:
    """Return how likely a newer memory took the place of an older one, from 0 to 1."""
    if _both_hold(old.text, new.text):
        return 0.0
    found = evidence(old.text, new.text, near, same_kind=old.kind == new.kind, stated=old.kind in STATED)
    return 1 / (1 + exp(-sum(WEIGHTS[name] * value for name, value in found.items())))


def evidence(old: str, new: str, near: float, *, same_kind: bool, stated: bool) -> dict[str, float]:
    """Return what speaks for it and against it.

    Args:
        old: The older statement.
        new: The newer one.
        near: How near they are in meaning.
        same_kind: Both are rules, or both are decisions, and so on.
        stated: The older one is a decision or a fact.
    """
    from told.memory.supersede import likely  # few prompts come this far
    from told.search.subject import telling

    before, now = set(telling(old)), set(telling(new))
    first, then = said(old), said(new)
    named, let_go = _named(first, then)
    chances, ending = likely(old, new)
    return {
        "": 1.0,
        "near": near,
        "shared": len(before & now) / max(1, len(before)),
        "same kind": float(same_kind),
        "stated": float(stated),
        "words": min(len(before), _MOST_WORDS) / _MOST_WORDS,
        "newer words": min(len(now), _MOST_WORDS) / _MOST_WORDS,
        "named": float(named),
        "let go": float(let_go),
        "same subject": float(same_subject(first, then)),
        "change": float(not _CHANGE.isdisjoint(then.words)),
        "ending": _odds(ending),
        **{name: _odds(chance) for name, chance in chances.items()},
    }


def _both_hold(old: str, new: str) -> bool:
    """Tell whether the newer one speaks of the same, and of no change: prices are integers, and net."""
    first, then = said(old), said(new)
    if first.subject and first.subject == then.subject:
        return not same_subject(first, then)
    named, let_go = _named(first, then)
    return named and not let_go and _CHANGE.isdisjoint(then.words)


def _named(first: Said, then: Said) -> tuple[bool, bool]:
    """Tell whether the newer one names what the older one chose, and whether it lets go of it."""
    named = [name for name in chosen_in(first) if name in then.words]
    return bool(named), any(lets_go(name, first, then) for name in named)


def _odds(chance: float) -> float:
    return log((chance + _SLACK) / (1 + _SLACK - chance))
