"""Recognise prompts that an agent gave to another agent, which are not the user's words.

The journal notes for such a session when an agent prompts it: `{"agent/native": "0-"}` if it began so, else
spans of time such as `1763467200000-1763467260000`.
"""

from __future__ import annotations

from collections.abc import Callable

TOPIC = "agent_prompts"
WHOLE = "0-"  # an agent started the session, and the user has not continued it
KIND = "agent"  # of such a session
_SLACK_MS = 2_000  # an agent may date a prompt before its hook runs


def change_speaker(spans: str, now: int, *, by_agent: bool, is_new: bool) -> str:
    """Return the spans after a prompt; the same if nothing changes.

    >>> change_speaker("", 5000, by_agent=True, is_new=True)
    '0-'
    >>> change_speaker("0-", 9000, by_agent=False, is_new=False)
    '0-7000'
    """
    if spans.endswith("-") == by_agent:
        return spans
    at = 0 if is_new and not spans else now - _SLACK_MS
    return f"{spans} {at}-".strip() if by_agent else f"{spans}{at}"


def is_said_by_agent(spans: str) -> Callable[[int], bool]:
    """Return what tells for a time in ms whether an agent prompted the session then."""
    pairs = [one.partition("-") for one in spans.split()]
    ends = [(int(start), int(end) if end else None) for start, _, end in pairs]

    def is_agents(at: int) -> bool:
        return any((not at or start <= at) and (end is None or at < end) for start, end in ends)

    return is_agents
