"""Find what a user teaches explicitly in a message; nothing by guess."""

from __future__ import annotations

from dataclasses import dataclass

from told.capture.entities import find_entities, find_triggers
from told.capture.explicit import find_explicit
from told.capture.grammar import find_kind, is_task
from told.capture.pasted import is_unsure
from told.capture.retractions import find_retractions
from told.capture.sentences import count_words
from told.store.memories.records import Trigger

_UNSURE = 0.5  # certainty of a candidate
_MAX_WORDS = 90  # of a memory; longer sentences have no full stops, and say many things


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing a user said that a later session should know."""

    kind: str  # rule, decision or fact
    quote: str  # the exact words, a part of the message
    text: str  # the user's own sentences
    scope: str = "project"  # or global
    triggers: tuple[Trigger, ...] = ()
    entities: tuple[str, ...] = ()
    certainty: float = 1.0
    marks: tuple[str, ...] = ()  # of correction, preference, warning
    sure: bool = True  # False for a candidate
    requested: bool = False  # the user asked for it to be remembered
    pasted: bool = False  # it may be pasted: a candidate that no repeat confirms


@dataclass(frozen=True, slots=True)
class Description:
    """The kind, triggers and entities of a statement."""

    kind: str
    triggers: tuple[Trigger, ...]
    entities: tuple[str, ...]


def describe_statement(text: str) -> Description:
    """Describe a statement that somebody asked to keep."""
    kind = find_kind(text) or ("rule" if is_task(text) else "fact")
    return Description(kind, find_triggers(text), find_entities(text))


def capture(message: str, before: str = "", asked: str = "") -> list[Statement]:  # noqa: ARG001 - one day
    """Return what a user teaches explicitly in a message after the agent's text `before`, in its order."""
    found = find_explicit(message, before)
    if not found:
        return []
    taken_back = [one.quote for one in find_retractions(message)]  # it ends a memory and makes none
    statements = []
    for one in found:
        if any(one.quote in quote or quote in one.quote for quote in taken_back):
            continue
        pasted = is_unsure(message, one.start, one.end)
        sure = not pasted and not one.leans and count_words(one.text) <= _MAX_WORDS
        statements.append(Statement(
            one.kind, one.quote, one.text, one.scope, find_triggers(one.text), find_entities(one.text),
            1.0 if sure else _UNSURE, (one.cue.mark,) if one.cue.mark else (),
            sure=sure, requested=sure and one.cue.is_request, pasted=pasted,
        ))  # fmt: skip
    return statements
