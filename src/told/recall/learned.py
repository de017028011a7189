"""Add what was learned since a session began to a prompt's brief."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from told.fence import Fence
from told.recall.brief import LEARNED, Brief, fit_budget, make_line
from told.recall.filters import find_reason_hidden
from told.store.memories.protocol import Memories
from told.store.memories.records import DECISION, RULE

_MAX_LINES = 3
_MAX_LOADED = 20


class RunningSession(NamedTuple):
    """A session that gets a prompt's brief."""

    native: str  # the agent's id of it
    since: int  # when it got its start brief, in ms; 0 if unknown
    known: Collection[str] = ()  # ids of memories that it was shown


def add_learned(
    brief: Brief, memories: Memories, session: RunningSession, scopes: Sequence[str], fence: Fence, *,
    now: int, budget: int,
) -> Brief:  # fmt: skip
    """Add the user's rules and decisions that were learned elsewhere since a session began, each once.

    What a reader learned from the session itself comes as well: its wording is better.
    """
    if not session.native or not session.since:
        return brief
    new = memories.changed_since(session.since, scopes, (RULE, DECISION), session=session.native)
    if not new:
        return brief
    known = {*session.known, *brief.memories, *memories.shown_in(session.native)}
    found = memories.get([one for one in new if one not in known][:_MAX_LOADED])
    lines = [
        replace(make_line(found[one], fence, now), zone=LEARNED)
        for one in new
        if one in found and not find_reason_hidden(found[one], scopes, now)
    ]
    fitting = fit_budget([*brief.lines, *lines[:_MAX_LINES]], budget).lines[len(brief.lines) :]
    return replace(brief, lines=(*brief.lines, *fitting))
