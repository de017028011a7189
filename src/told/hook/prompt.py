"""At a prompt: keeps at once what it teaches, obeys the user's own commands, and hands over the brief."""

from __future__ import annotations

from told.guard.fence import Fence
from told.guard.text import tokens
from told.hook.places import here
from told.hook.shown import note, shown
from told.journal.apply import open_memories
from told.memory._capture_gate import may_teach
from told.memory._recall_quiet import quiet
from told.memory._recall_structure import below
from told.memory.brief import handed, prompt_brief
from told.memory.recall import Ask
from told.memory.scopes import holding_in
from told.search.topics import spoken
from told.settings import may_learn
from told.store.key import own_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.hook.moment import Moment

_COMMAND = "/mem:"
_LONGEST = 4000  # characters of a prompt that are looked at for recall


def at_prompt(moment: Moment) -> str:
    """Return what the agent should know for a prompt; nothing where nothing fits."""
    call, home, now = moment.call, moment.home, moment.now
    prompt = call.prompt
    if prompt.startswith(_COMMAND):
        from told.hook.commands import carried_out

        return carried_out(moment)
    teaches = may_teach(prompt) and may_learn(home, moment.environ)
    asked = prompt[:_LONGEST]
    if not teaches and quiet(asked, spoken(asked)):
        return ""
    memories = open_memories(home, hurry=True)
    place = here(home, call.cwd)
    key = own_key(home)
    seen = shown(moment)
    known = seen.memories
    if teaches:
        from told.hook.teaching import learn_from

        known |= dict.fromkeys(learn_from(moment, place, memories, key), now)
    ask = Ask(asked, holding_in(memories, place.scope), now, below(place.root, call.cwd))
    made = prompt_brief(memories, ask, Fence(key), session=call.session, since=seen.since, known=known)
    if call.session and made.memories:
        note(moment, made.memories, tokens(made.text))
    return handed(made)
