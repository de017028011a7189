"""Which answer each moment of a session gets."""

from __future__ import annotations

import os
import time

from told.agents.dialects import context, listens_after_compaction
from told.agents.events import COMPACTED, END, HELPER, PROMPT, START, STOP, TOOL
from told.hook.moment import Moment
from told.hook.wishes import settings_of
from told.record import replaced
from told.snapshot import RECALL, REST, ready

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from told.agents.dialects import Call
    from told.hook.moment import Serving


def answer_to(call: Call, environ: Mapping[str, str], serving: Serving | None = None) -> dict[str, Any]:
    """Do what a moment asks for, and return the answer; empty where nothing is to be said."""
    now = time.time_ns() // 1_000_000
    if call.cwd:  # the same folder by whatever way it is named
        call = replaced(call, cwd=os.path.realpath(call.cwd))
    began = time.monotonic()
    settings = settings_of(environ)
    if settings.problem:
        from told.errors import UsageError
        from told.hook.trouble import note

        note(UsageError(settings.problem), environ)
    if call.agent in settings.agents_off:
        return {}
    moment = Moment(call, settings.home, environ, now, began, settings, serving)
    if call.event == PROMPT:
        from told.hook.prompt import at_prompt

        return context(call, at_prompt(moment)) if call.prompt else {}
    if call.event == TOOL:
        from told.hook.guarding import at_tool

        return at_tool(moment)
    if call.event == COMPACTED and listens_after_compaction(call):
        moment = replaced(moment, call=replaced(call, event=START, source="compact"))
    ready(RECALL)
    ready(REST)
    if moment.call.event in (START, HELPER):
        from told.hook.start import at_start

        return context(call, at_start(moment))
    from told.hook.rest import at_rest

    at_rest(moment, compacting=call.event not in (STOP, END))
    return {}
