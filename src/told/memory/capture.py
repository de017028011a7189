"""Finds what is worth remembering in what a user typed: offline, without a model, the same every time."""

from __future__ import annotations

from told.memory._capture_gate import may_teach
from told.record import record

__all__ = ("Statement", "Trigger", "capture", "may_teach")


@record
class Trigger:
    """When a statement applies: at work on a path, before a command, or during a kind of task."""

    kind: str  # path, command or task
    value: str


@record
class Statement:
    """One thing a user said that a later session should know."""

    kind: str  # rule, correction, preference, decision, fact or warning
    quote: str  # the exact words, a part of the message
    text: str  # one sentence that can be understood without the conversation
    scope: str = "project"  # or global
    triggers: tuple[Trigger, ...] = ()
    entities: tuple[str, ...] = ()
    certainty: float = 0.0


def capture(message: str, before: str = "") -> list[Statement]:
    """Return the statements worth keeping in a user's message.

    Args:
        message: What the user typed in one prompt.
        before: The end of the agent's text before it, to which the message may refer.

    Returns:
        The statements in the order of the message; none for most messages.
    """
    if not may_teach(message):
        return []
    from told.memory._capture_statements import statements

    return statements(message, before)
