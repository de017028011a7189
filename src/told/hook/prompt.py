"""At a prompt: keeps at once what it teaches, obeys the user's own commands, and hands over the brief."""

from __future__ import annotations

from told.hook import settled
from told.memory._capture_gate import may_teach
from told.memory._recall_quiet import quiet
from told.search.topics import spoken
from told.snapshot import CAPTURE, RECALL, load_apsw, ready

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.hook.moment import Moment
    from told.memory.capture import Statement

_COMMAND = "/mem:"
_LONGEST = 4000  # characters of a prompt that are looked at for recall


def at_prompt(moment: Moment) -> str:
    """Return what the agent should know for a prompt; nothing where nothing fits."""
    prompt = moment.call.prompt
    if prompt.startswith(_COMMAND):
        from told.hook.commands import carried_out

        return carried_out(moment)
    taught = _statements(prompt) if may_teach(prompt) and moment.settings.learn else []
    if not taught:
        settled()
    asked = prompt[:_LONGEST]
    if not taught and quiet(asked, spoken(asked)):
        return ""
    load_apsw()
    ready(RECALL)
    from told.hook.briefing import brief_for  # for many prompts their words are enough

    return brief_for(moment, asked, taught)


def _statements(prompt: str) -> list[Statement]:
    """Return what it teaches; secrets may still be in it, so nothing of it may be kept as it is."""
    ready(CAPTURE)
    from told.memory.capture import capture

    return capture(prompt)
