"""At the start of a session, after a compaction, and for a helper: hands over what holds here."""

from __future__ import annotations

from told.agents.dialects import has_lost_briefs
from told.agents.events import HELPER
from told.errors import ToldError
from told.guard.fence import Fence
from told.guard.text import tokens
from told.hook.catching_up import learn_a_little, open_sessions, take_in
from told.hook.current import note as note_current
from told.hook.handing_over import make_up
from told.hook.places import found_out
from told.hook.service import wait, wake
from told.hook.shown import clear_left_behind, note, note_compaction, write_down
from told.ingest.whole import Whole
from told.journal.apply import open_memories
from told.memory._brief_start import start_brief
from told.memory.authority import Caller
from told.memory.brief import handed
from told.memory.checkpoint_count import clear_old
from told.memory.pen import Pen
from told.memory.scopes import holding_in
from told.record import replaced
from told.settings import in_project
from told.store.key import own_key
from told.store.memory_records import CAPTURE, PROJECT
from told.store.projects import Projects
from told.store.reading import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

    from told.agents.dialects import Call
    from told.hook.moment import Moment
    from told.model import Handover

_COMPACT, _RESUME = "compact", "resume"
_WAKING = 0.18  # seconds after the hook began


def at_start(moment: Moment) -> str:
    """Return what a session should know before anything is asked."""
    call, home, now = moment.call, moment.home, moment.now
    woken = call.event != HELPER and wake(home, call.agent, moment.environ)
    connection = open_sessions(home)
    memories = open_memories(home, hurry=True)
    if call.event != HELPER:
        note_current(moment)
        _tidy(Pen(home, memories, now, Caller(CAPTURE)), now)
        if connection is not None:
            take_in(connection, replaced(moment, call=replaced(call, transcript="")))
            make_up(connection, memories, moment)
            learn_a_little(connection, memories, moment)
    if has_lost_briefs(call):
        note_compaction(moment)
    place = found_out(connection, home, call.cwd, moment.hide)
    made = start_brief(
        memories, Whole(connection, home) if connection else None,
        _own_sessions(connection, place.scope, call), holding_in(memories, place.scope),
        Fence(own_key(home)), now=now, budget=in_project(moment.settings, place.root).brief_start_tokens,
        goes_on=_going_on(moment), clean_one=lambda one: _cleaned(moment, one),
    )  # fmt: skip
    if call.session and made.memories and call.event != HELPER:
        note(moment, made.memories, tokens(made.text))
    if woken:
        wait(home, moment.began + _WAKING)
    return handed(made)


def _tidy(pen: Pen, now: int) -> None:
    """Write down what sessions were shown, and clear away what hooks that were cut off left behind."""
    try:
        write_down(pen, now)
        clear_left_behind(pen.home, now)
        clear_old(pen.home, now)
    except (ToldError, OSError):
        return  # full, locked or read-only: a session starts all the same


def _going_on(moment: Moment) -> tuple[str, str, bool]:
    """Return which session goes on, and whether it was compacted; an empty id if a new one begins."""
    call = moment.call
    if call.event == HELPER or not call.session or call.source not in (_COMPACT, _RESUME):
        return "", "", False
    return call.agent, moment.hidden_session(), call.source == _COMPACT


def _cleaned(moment: Moment, one: Handover) -> Handover | None:
    """Return a checkpoint without what may not be said; its file is not as it was taken in."""
    if moment.settings.problem:
        return None  # there may be a rule that takes something out, and nobody knows which
    from told.guard.redact import Redactor
    from told.ingest.checkpoint_rows import cleaned

    return cleaned(one, moment.home, Redactor(own_key(moment.home), moment.settings.redaction).redact)


def _own_sessions(connection: apsw.Connection | None, scope: str, call: Call) -> Filter:
    """Return which sessions tell where the last one stopped; a helper and one that goes on need none."""
    if connection is None or call.event == HELPER or call.source in (_COMPACT, _RESUME):
        return Filter()
    project = Projects(connection).by_key(scope.removeprefix(PROJECT))
    return Filter(project.id if project else 0, helpers=False)
