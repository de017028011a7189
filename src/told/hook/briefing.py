"""Finds what a prompt needs, after keeping what it teaches, and notes what was shown."""

from __future__ import annotations

from told.guard.fence import Fence
from told.guard.text import tokens
from told.hook import settled
from told.hook.places import here
from told.hook.shown import note, shown
from told.memory._recall_structure import below
from told.memory.brief import handed, prompt_brief
from told.memory.recall import Ask
from told.memory.scopes import holding_in
from told.settings import in_project
from told.snapshot import TEACH, ready
from told.store.key import own_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.hook.moment import Moment
    from told.memory.capture import Statement


def brief_for(moment: Moment, asked: str, taught: list[Statement]) -> str:
    """Return the brief for a prompt.

    Args:
        moment: The call.
        asked: What is looked at of the prompt.
        taught: What there is in it to keep, with secrets if it has any.
    """
    call, home, now = moment.call, moment.home, moment.now
    memories = moment.memories()
    place = here(home, call.cwd, moment.hide)
    key = own_key(home)
    seen = shown(moment)
    known = seen.memories
    settings = in_project(moment.settings, place.root)
    if taught and settings.learn:
        ready(TEACH)
        from told.hook.teaching import learn_from

        known |= dict.fromkeys(learn_from(moment, taught, place, memories, key), now)
    settled()
    ask = Ask(asked, holding_in(memories, place.scope), now, below(place.root, call.cwd))
    made = prompt_brief(
        memories, ask, Fence(key), budget=settings.brief_tokens, session=call.session, since=seen.since,
        known=known,
    )  # fmt: skip
    if call.session and made.memories and not moment.is_late:
        note(moment, made.memories, tokens(made.text))
    return handed(made)
