"""Start the model that reads sessions, and show what it has not read yet."""

from __future__ import annotations

from dataclasses import replace

import apsw

from told.fence import Fence
from told.hook.context import HookContext
from told.ingest.agent_prompts import TOPIC as PROMPTED
from told.ingest.agent_prompts import is_said_by_agent
from told.ingest.complete_sessions import CompleteSessions
from told.memories.session_notes import find_running_session
from told.recall.brief import UNREAD, Brief, Line, fit_budget
from told.store.memories.protocol import Memories
from told.store.memories.records import READ, USER
from told.store.sessions.read import Filter
from told.text import clean, shorten

_RECENT_MS = 86_400_000
_SESSIONS = 3  # latest ones of a project, of which one may be the one that starts
_MESSAGES = 5
_LONGEST = 200  # characters of a message
_LOOKED_AT = 20  # turns


def start_reader(context: HookContext, session: str = "") -> None:
    """Let the model read a session, by default the call's, in the background."""
    session = session or context.stored_session()
    if session and context.settings.reads_sessions:
        from told.reader.background import start_reading  # noqa: PLC0415 - only with a reader

        start_reading(context.settings, context.environ, f"{context.call.agent}/{session}")


def read_cleared(context: HookContext) -> None:
    """Let the model read the session that ran here before the user cleared it."""
    call = context.call
    if call.source == "clear" and context.settings.reads_sessions:
        home = context.environ.get("HOME", "")
        before = find_running_session(context.home, call.agent, call.cwd, home)
        if before not in ("", context.stored_session()):
            start_reader(context, before)


def add_unread(
    context: HookContext, brief: Brief, connection: apsw.Connection | None, memories: Memories, *,
    sessions: Filter, fence: Fence, budget: int,
) -> Brief:  # fmt: skip
    """Add what the user typed last in the project's previous session, if the model has not read it."""
    if connection is None or not sessions.project or not context.settings.reads_sessions:
        return brief
    reading = CompleteSessions(connection, context.home)
    own = (context.call.agent, context.stored_session())
    recent = sessions._replace(since=context.now - _RECENT_MS)
    found = (one for one in reading.sessions(recent, _SESSIONS) if (one.agent, one.native) != own)
    session = next(found, None)
    if session is None or session.kind:
        return brief
    name = f"{session.agent}/{session.native}"
    start = int(memories.noted(READ).get(name, "0"))
    is_agents = is_said_by_agent(memories.noted(PROMPTED).get(name, ""))
    turns = [
        one for one in reading.turns(session.id, _LOOKED_AT, newest=True)
        if one.n >= start and one.asked.strip() and not is_agents(one.at)
    ]  # fmt: skip
    latest = sorted(turns, key=lambda one: one.n, reverse=True)[:_MESSAGES]
    texts = [fence.inline(shorten(" ".join(clean(one.asked).split()), _LONGEST), USER) for one in latest]
    lines = [Line(UNREAD, f"- {text}", "", one.at) for text, one in zip(texts, latest, strict=True)]
    fitting = fit_budget([*brief.lines, *lines], budget).lines[len(brief.lines) :]
    return replace(brief, lines=(*brief.lines, *reversed(fitting)))
