"""Decides, with string methods alone, that most messages teach nothing and need no closer look."""

# ruff: noqa: RUF001 - words and signs of many languages are the subject
from __future__ import annotations

from told.memory._capture_cues import cues, is_unspaced, plain
from told.memory._capture_weights import GATE, GATE_PASS
from told.memory._capture_words import ABSOLUTE, POLICY_VERBS, TASK_VERBS

_LONG = 1500  # characters; something may hide in a message of this length whatever its cues are
_HEAD = 4000
_SURE = frozenset(("henceforth", "meant", "prefer", "actually", "wrong", "g:absolute"))


def may_teach(message: str) -> bool:
    """Say whether a message could hold a statement worth keeping."""
    if len(message) > _LONG:
        return True
    found = gate_features(message)
    if found & _SURE or found >= {"never", "always"}:
        return True
    return bool(found) and sum(GATE.get(name, 0.0) for name in found) >= GATE_PASS


def gate_features(message: str) -> set[str]:
    """Return what a glance at a whole message shows; nothing if it has no words."""
    text = message[:_HEAD]
    bare = plain(text)
    words = bare.split()
    if len(text) < 6 or not words:
        return set()
    found = cues(bare, with_unspaced=is_unspaced(text))
    stripped = text.rstrip()
    shape = {
        "g:all": True,
        "g:question": stripped.endswith(("?", "？")),
        "g:task": words[0] in TASK_VERBS or (len(words) > 1 and words[1] in TASK_VERBS),
        "g:policy": words[0] in POLICY_VERBS,
        "g:absolute": not ABSOLUTE.isdisjoint(words),
        "g:short": len(words) < 5,
        "g:brief": 5 <= len(words) < 10,
        "g:long": len(words) > 40,
        "g:lines": stripped.count("\n") > 2,
        "g:code": "`" in text,
        "g:commas": ", " in text,
    }
    return found | {name for name, true in shape.items() if true}
