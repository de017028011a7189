"""When an agent stops, ends a session or is about to compact it: takes in what is new, and says nothing."""

from __future__ import annotations

from told.agents.events import END
from told.hook.catching_up import learn_a_little, open_sessions, take_in
from told.hook.fading import fade_a_little
from told.hook.handing_over import hand_over
from told.hook.places import found_out
from told.hook.shown import note_compaction, write_down
from told.journal.apply import open_memories
from told.memory.authority import Caller
from told.memory.checkpoint_count import reset
from told.memory.pen import Pen
from told.store.memory_records import CAPTURE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.hook.moment import Moment


def at_rest(moment: Moment, *, compacting: bool) -> None:
    """Save what the session has so far."""
    call, home, now = moment.call, moment.home, moment.now
    memories = open_memories(home, hurry=True)
    write_down(Pen(home, memories, now, Caller(CAPTURE)), now, own=call.session)
    if compacting:
        note_compaction(moment)
    if call.event == END:
        reset(home, call.agent, moment.hidden_session())
    connection = open_sessions(home, make=True)
    if connection is not None:
        take_in(connection, moment)
    hand_over(connection, memories, moment)
    if connection is None:
        return
    learn_a_little(connection, memories, moment)
    if call.cwd:
        found_out(connection, home, call.cwd, moment.hide)
    if call.event == END:
        fade_a_little(memories, moment)
