"""Make the parts of the operation that remembers a statement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from told.capture.statements import describe_statement
from told.store.memories.records import AGENT, OBSERVATION, USER, split_kind

if TYPE_CHECKING:
    from told.memories.remember import NewMemory

_PRIORS = {USER: (4.0, 1.0), AGENT: (1.0, 1.0)}  # alpha and beta before any evidence
# A captured statement starts with a confidence between 0.3 and 0.85, depending on its certainty.
_MIN_CONFIDENCE, _CONFIDENCE_RANGE = 0.3, 0.55
# Marks decide before kinds.
_IMPORTANCE = {
    "rule": 8.0, "correction": 7.0, "warning": 7.0, "decision": 6.0, "preference": 6.0, "fact": 5.0
}  # fmt: skip


def make_content(new: NewMemory) -> dict[str, Any]:
    """Return the payload fields of what a statement says."""
    about = new.about if new.about is not None else describe_statement(new.text)
    kind, marks = split_kind(new.kind or (about.kind if new.trust == USER else OBSERVATION))
    marks = tuple(dict.fromkeys((*marks, *new.marks)))
    return {
        "text": new.text, "kind": kind, "marks": list(marks), "context": new.context,
        "importance": max(_IMPORTANCE.get(one, 4.0) for one in marks or (kind,)),
        "triggers": [[one.kind, one.value] for one in about.triggers], "entities": list(about.entities),
    }  # fmt: skip


def evidence_of(new: NewMemory, now: int) -> dict[str, Any]:
    """Return where and when a statement was said."""
    return {
        "agent": new.agent, "session": new.session, "turn": new.turn,
        "quote": new.quote or new.text, "at": new.at or now,
    }  # fmt: skip


def estimate_prior(new: NewMemory) -> tuple[float, float]:
    """Return alpha and beta of a new memory, lower for an uncertain statement."""
    alpha, beta = _PRIORS.get(new.trust, (1.0, 1.0))
    if new.certainty >= 1:
        return alpha, beta
    weight = alpha + beta
    guess = round(min(alpha, weight * (_MIN_CONFIDENCE + _CONFIDENCE_RANGE * new.certainty)), 3)
    return guess, round(weight - guess, 3)
