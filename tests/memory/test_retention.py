"""What fades goes to the archive and comes back as it was; what is needed stays, whatever the clock says."""

from __future__ import annotations

import shutil
import tempfile
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from told.journal.append import Draft, append
from told.journal.apply import open_memories, rebuild
from told.journal.files import journal_folder
from told.journal.fold import fold
from told.journal.model import Operation
from told.journal.read import read
from told.memory import lived as lived_room
from told.memory.authority import Caller
from told.memory.change import change
from told.memory.hearing import take
from told.memory.lived import DAY, lived, tick
from told.memory.pen import Pen
from told.memory.proposals import propose
from told.memory.remember import Said, remember, write_down
from told.memory.retention import (
    Clock,
    archive,
    archived_oldest_first,
    check,
    fading,
    next_left,
    patience,
    restore,
)
from told.record import replaced
from told.store.memory_condition import damaged, facts
from told.store.memory_records import (
    ACTIVE,
    AGENT,
    ARCHIVED,
    CAPTURE,
    FACT,
    GLOBAL,
    KINDS,
    OBSERVATION,
    RULE,
    SUPERSEDED,
    TOOL,
    USER,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from told.store.memories import Memories
    from told.store.memory_records import Memory

BEGIN = 1_750_000_000_000
HOUR = DAY // 24
YEAR = 365 * DAY


class Life:
    """A machine on which real time passes, and whose clock says what it likes."""

    def __init__(self, home: str) -> None:
        self.home = home
        self.memories: Memories = open_memories(home)
        self.real = 0
        self.offset = BEGIN
        self.started = -30 * DAY
        self.said = 0

    def close(self) -> None:
        """Let the file go."""
        self.memories.close()

    @property
    def now(self) -> int:
        """What the clock says."""
        return max(1, self.real + self.offset)

    @property
    def running(self) -> int:
        """How long the machine has been running."""
        return self.real - self.started

    def pen(self, by: str = USER) -> Pen:
        """Return a pen for what is written now."""
        return Pen(self.home, self.memories, self.now, Caller(by))

    def teach(self, kind: str = OBSERVATION, trust: str = AGENT, text: str = "", **more: Any) -> str:
        """Write down a memory; return its id."""
        self.said += 1
        pen = self.pen(AGENT if trust == AGENT else USER)
        made = write_down(pen, Said(text or f"Statement {self.said}.", GLOBAL, kind, trust=trust, **more))
        pen.write(sync=False)
        return made

    def do(self, operation: str, memory: str, author: str = USER, /, **payload: Any) -> None:
        """Write down what happens to a memory."""
        pen = self.pen(author)
        pen.note(operation, memory, **payload)
        pen.write(sync=False)

    def show(self, memory: str) -> None:
        """Let a session be shown a memory."""
        self.do("show", "", CAPTURE, memories=[memory], session=f"s{self.real}", tokens=9)

    def pass_time(self, days: float, step: float = 7.0) -> None:
        """Live on, with a tick every few days."""
        while days > 0:
            self.real += int(min(days, step) * DAY)
            days -= step
            tick(self.pen(CAPTURE), self.running)

    def check(self, days: int = 90) -> None:
        """Do what the end of a session does."""
        tick(self.pen(CAPTURE), self.running)
        check(self.pen(CAPTURE), days, most=1000)

    def status(self, memory: str) -> str:
        """Return the status of a memory."""
        return self.read(memory).status

    def read(self, memory: str) -> Memory:
        """Return a memory as it is now."""
        return self.memories.get([memory])[memory]

    def put_away(self, memory: str) -> None:
        """Archive one memory, however old it is."""
        found = [one for one in self.memories.idle(1 << 62) if one.id == memory]
        clock = Clock(self.now, lived(self.home, self.memories))
        archive(self.pen(CAPTURE), [_fading(one, clock) for one in found])


def _fading(one: Any, clock: Clock) -> Any:
    from told.memory.retention import Fading

    return Fading(one, clock.lived.now // DAY, "in a test")


@pytest.fixture
def life(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Life]:
    made = Life(str(tmp_path))
    monkeypatch.setattr(lived_room, "running_for", lambda: made.running)
    yield made
    made.close()


# -- what fades, and when ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "trust", "windows"),
    [
        (OBSERVATION, AGENT, 1), (FACT, TOOL, 1), (OBSERVATION, USER, 1), (FACT, USER, 2),
        ("decision", USER, 2), (RULE, USER, 4), ("correction", USER, 4), ("preference", USER, 4),
        ("warning", USER, 4),
    ],
)  # fmt: skip
def test_what_is_worth_more_fades_later(life: Life, kind: str, trust: str, windows: int) -> None:
    memory = life.teach(kind, trust)
    life.pass_time(90 * windows - 6)
    life.check()
    assert life.status(memory) == ACTIVE
    life.pass_time(13)
    life.check()
    assert life.status(memory) == ARCHIVED


def test_what_is_needed_begins_anew(life: Life) -> None:
    shown, repeated, followed, left = (life.teach() for _ in range(4))
    life.pass_time(60)
    life.show(shown)
    life.do("repeat", repeated, CAPTURE, weight=0.0)
    life.do("follow", followed, CAPTURE)
    life.pass_time(60)
    life.check()
    assert [life.status(one) for one in (shown, repeated, followed, left)] == [ACTIVE] * 3 + [ARCHIVED]
    life.pass_time(40)
    life.check()
    assert {life.status(one) for one in (shown, repeated, followed)} == {ARCHIVED}


def test_what_ended_or_did_not_help_fades_after_one_window(life: Life) -> None:
    old, rejected, expired, kept = (life.teach(RULE, USER) for _ in range(4))
    life.do("supersede", old, by=kept)
    for _ in range(6):
        life.do("reject", rejected, weight=2.0)
    life.do("expire", expired, expires=life.now + DAY)
    life.pass_time(102)
    life.check()
    assert [life.status(one) for one in (old, rejected, expired, kept)] == [ARCHIVED] * 3 + [ACTIVE]
    assert life.read(old).was == SUPERSEDED


def test_a_short_window_keeps_what_an_agent_was_shown_for_90_days(life: Life) -> None:
    shown, never = life.teach(), life.teach()
    life.show(shown)
    life.pass_time(60)
    life.check(days=7)
    assert (life.status(shown), life.status(never)) == (ACTIVE, ARCHIVED)


def test_a_window_of_0_turns_it_off(life: Life) -> None:
    memory = life.teach()
    life.pass_time(200)
    assert check(life.pen(CAPTURE), 0, most=9)
    assert life.status(memory) == ACTIVE


def test_what_the_user_locked_or_confirmed_never_fades(life: Life) -> None:
    locked, confirmed, taken_back = (life.teach() for _ in range(3))
    life.do("lock", locked)
    life.do("confirm", confirmed)
    life.do("confirm", taken_back)
    life.do("reject", taken_back)
    life.pass_time(400)
    life.check()
    assert [life.status(one) for one in (locked, confirmed, taken_back)] == [ACTIVE, ACTIVE, ARCHIVED]


def test_an_agents_own_word_confirms_nothing(life: Life) -> None:
    memory = life.teach()
    life.do("confirm", memory, AGENT)
    life.pass_time(102)
    life.check()
    assert life.status(memory) == ARCHIVED


def test_what_waits_for_the_user_does_not_fade(life: Life) -> None:
    asked, draft = life.teach(), life.teach()
    pen = life.pen(AGENT)
    propose(pen, "correct", asked, by=draft)
    pen.write()
    life.pass_time(200)
    life.check()
    assert (life.status(asked), life.status(draft)) == (ACTIVE, ACTIVE)


def test_what_stands_in_the_place_of_a_locked_one_does_not_fade(life: Life) -> None:
    old, heir = life.teach(), life.teach()
    life.do("lock", old)
    life.do("supersede", old, by=heir)
    life.pass_time(200)
    life.check()
    assert (life.status(old), life.status(heir)) == (SUPERSEDED, ACTIVE)


def test_what_colleagues_wrote_stays(life: Life) -> None:
    memory = life.teach(FACT, "team:red")
    life.pass_time(200)
    life.check()
    assert life.status(memory) == ACTIVE


def test_what_is_next_is_known_before(life: Life) -> None:
    life.teach()
    life.pass_time(30)
    clock = Clock(life.now, lived(life.home, life.memories))
    left = next_left(life.memories, clock, 90)
    assert left is not None
    assert 53 * DAY <= left <= 70 * DAY
    assert fading(life.home, life.memories, clock, 90) == []


# -- the clock -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("jump", [10 * YEAR, -10 * YEAR])
def test_a_jump_of_the_clock_archives_nothing(life: Life, jump: int) -> None:
    before = [life.teach() for _ in range(3)]
    life.pass_time(20)
    life.offset += jump
    during = life.teach()
    life.check()
    life.pass_time(3, 1)
    life.check()
    life.offset -= jump
    life.check()
    assert {life.status(one) for one in (*before, during)} == {ACTIVE}


def test_a_clock_that_jumps_at_every_session_archives_nothing(life: Life) -> None:
    memory = life.teach()
    for number in range(40):
        life.real += HOUR
        life.offset += (-1) ** number * 10 * YEAR + number * DAY
        life.check()
    assert life.status(memory) == ACTIVE
    assert lived(life.home, life.memories).now <= life.real


def test_a_long_absence_counts_as_a_week(life: Life) -> None:
    memory = life.teach()
    life.check()
    life.real += 300 * DAY
    life.check()
    assert life.status(memory) == ACTIVE
    assert lived(life.home, life.memories).now == 7 * DAY


def test_after_a_restart_only_the_time_since_is_sure(life: Life) -> None:
    life.check()
    life.real += 5 * DAY
    life.started = life.real - 2 * HOUR
    life.check()
    assert lived(life.home, life.memories).now == 2 * HOUR


def test_a_day_is_counted_once(life: Life) -> None:
    life.check()
    for _ in range(5):
        life.real += HOUR // 10
        life.check()
    assert len(life.memories.noted("lived")) == 1


def test_what_another_machine_wrote_is_as_old_as_it_is_known_here(life: Life, tmp_path: Any) -> None:
    life.pass_time(200)
    other = tmp_path / "other"
    written = append(str(other), [Draft("remember", AGENT, {"text": "From elsewhere."})], now=BEGIN)[0]
    shutil.copytree(other / "journal" / written.machine, tmp_path / "journal" / written.machine)
    life.close()
    life.memories = open_memories(life.home)
    life.check()
    assert life.status(written.memory) == ACTIVE
    life.pass_time(102)
    life.check()
    assert life.status(written.memory) == ARCHIVED


@st.composite
def steps(draw: st.DrawFn) -> list[tuple[str, int, float]]:
    """What happens: (what, to which memory, how much)."""
    acts = (
        "teach", "lock", "unlock", "confirm", "reject", "show", "follow", "supersede", "restore", "undo",
    )  # fmt: skip
    times = ("live", "live", "live", "live", "sleep", "jump", "jump", "drift", "restart")
    amounts = {
        "live": st.sampled_from((12.0, 30.0, 100.0)), "sleep": st.sampled_from((0.1, 3.0, 400.0)),
        "jump": st.sampled_from((-3650.0, 3650.0)), "drift": st.floats(-2, 2), "teach": st.integers(0, 13),
    }  # fmt: skip
    found = []
    for _ in range(draw(st.integers(4, 22))):
        what = draw(st.sampled_from((*acts, *times)))
        found.append((what, draw(st.integers(0, 3)), float(draw(amounts.get(what, st.just(0.0))))))
    return found


class Watched(Life):
    """A life in which somebody writes down, by real time, what must not fade."""

    def __init__(self, home: str, window: int) -> None:
        super().__init__(home)
        self.window = window
        self.made: dict[str, int] = {}
        self.shown: dict[str, int] = {}
        self.locked: set[str] = set()
        self.confirmed: set[str] = set()
        self.archived = 0

    def act(self, what: str, memory: str, much: float) -> None:
        """Let something happen."""
        times: dict[str, Callable[[float], None]] = {
            "live": self._live, "sleep": self._sleep, "jump": self._jump, "drift": self._jump,
            "restart": self._restart,
        }  # fmt: skip
        if what in times:
            times[what](much)
            self.look()
        elif what == "teach" or not memory:
            trust = (AGENT, USER)[int(much) % 2]
            self.made[self.teach(KINDS[int(much) // 2 % len(KINDS)], trust)] = self.real
        elif not self.memories.like(memory):
            return  # the user took back that it was ever said
        elif what == "restore":
            if self.status(memory) == ARCHIVED:
                restore(self.pen(), [self.read(memory)])
                assert self.status(memory) != ARCHIVED
        else:
            self._to(what, memory)

    def _to(self, what: str, memory: str) -> None:
        if what == "show":
            self.show(memory)
        elif what == "undo":
            from told.memory.undo import undo

            undo(self.pen(), memory)
        else:
            self.do(what, memory, CAPTURE if what == "follow" else USER)
        if what in ("show", "follow"):
            self.shown[memory] = self.real
        after = self.read(memory) if self.memories.like(memory) else None
        self.locked.discard(memory)
        self.confirmed.discard(memory)
        self.locked |= {memory} if after and after.locked else set()
        self.confirmed |= {memory} if after and after.confirmed else set()
        if what == "lock":
            assert memory in self.locked
        if what == "confirm":
            assert memory in self.confirmed

    def _live(self, days: float) -> None:
        self.pass_time(days)

    def _sleep(self, days: float) -> None:
        self.real += int(days * DAY)

    def _jump(self, days: float) -> None:
        self.offset += int(days * DAY)

    def _restart(self, _: float) -> None:
        self.real += HOUR
        self.started = self.real

    def look(self) -> None:
        """Do what the end of a session does, and look at what is archived then."""
        before = {one.id for one in archived_oldest_first(self.memories)}
        self.check(self.window)
        for one in archived_oldest_first(self.memories):
            if one.id not in before:
                self.archived += 1
                assert not one.locked
                assert one.id not in self.locked
                assert one.id not in self.confirmed
                assert self.real - self.shown.get(one.id, -YEAR) >= 90 * DAY
                assert self.real - self.made[one.id] >= self.window * DAY


@given(steps(), st.sampled_from((10, 10, 90, 120)))
@settings(max_examples=50, deadline=None)
def test_whatever_happens_and_whatever_the_clock_says(
    happened: list[tuple[str, int, float]], window: int
) -> None:
    home = tempfile.mkdtemp()
    life = Watched(home, window)
    try:
        for much in (0.0, 1.0, 10.0):  # an agent's rule, the user's rule, an agent's warning
            life.act("teach", "", much)
        for what, which, much in happened:
            every = [*life.made]
            life.act(what, every[which] if which < len(every) else "", much)
        event("something faded" if life.archived else "nothing faded")
        assert lived(home, life.memories).now <= life.real
        kept = facts(life.memories.connection)
        assert damaged(life.memories.connection) == []
        life.close()
        life.memories = rebuild(home)
        assert facts(life.memories.connection) == kept
    finally:
        life.close()
        shutil.rmtree(home)


# -- the archive, and back -------------------------------------------------------------------------------


@given(
    st.lists(st.sampled_from(("show", "follow", "repeat", "reject", "edge", "supersede", "quarantine",
                              "release", "revise", "expire")), max_size=8),
    st.lists(st.sampled_from(("edge", "supersede", "reject", "quarantine", "archive", "move")), max_size=3),
)  # fmt: skip
@settings(max_examples=50, deadline=None)
def test_archive_and_back_is_lossless(before: list[str], meanwhile: list[str]) -> None:
    """Compared with the same memory that was never archived, also in what happened to it meanwhile."""
    payloads: dict[str, dict[str, Any]] = {
        "edge": {"kind": "supports", "target": "mabcdefg"}, "supersede": {"by": "mabcdefg"},
        "revise": {"text": "Use pip."}, "expire": {"expires": 9}, "show": {"session": "s1"},
        "repeat": {"evidence": [{"session": "s2", "quote": "Use uv!"}]},
        "archive": {"known": [1, 0, 0, 0, 0]},
    }  # fmt: skip

    def line(kinds: list[str], start: int) -> list[Operation]:
        return [
            Operation("one", start + place, start + place, kind, "mmmmmmma", USER, payloads.get(kind, {}))
            for place, kind in enumerate(kinds)
        ]

    made = Operation("one", 1, 1, "remember", "mmmmmmma", USER, {"text": "Use uv.", "kind": "rule"})
    first = [made, *line(before, 2)]
    plain = fold(first)["mmmmmmma"]
    known = [plain.updated, plain.shown, plain.shown_last, plain.followed, plain.repeated]
    put_away = Operation("one", 20, 20, "archive", "mmmmmmma", CAPTURE, {"known": known})
    after = line(meanwhile, 30)
    back = Operation("one", 40, 40, "restore", "mmmmmmma", USER, {})
    away = fold([*first, put_away, *after])["mmmmmmma"]
    assert away.status == ARCHIVED
    returned = fold([*first, put_away, *after, back])["mmmmmmma"]
    never = fold([*first, *[one for one in after if one.kind != "archive"]])["mmmmmmma"]
    assert replaced(returned, last=never.last) == never
    assert replaced(away, status=never.status, was="", last=never.last) == never


def test_a_memory_comes_back_from_the_database_as_it_was(life: Life) -> None:
    memory = life.teach(FACT, TOOL, "The API of billing lives in src/billing/api.py.")
    life.show(memory)
    tables = facts(life.memories.connection)
    before = life.read(memory)
    life.put_away(memory)
    assert life.status(memory) == ARCHIVED
    assert damaged(life.memories.connection) == []
    for table in ("trigger_of", "entity_of", "topic_of", "word_of"):
        assert facts(life.memories.connection)[table] == []
    restore(life.pen(), [life.read(memory)])
    assert replaced(life.read(memory), last=before.last) == before
    again = facts(life.memories.connection)
    assert {name: rows for name, rows in again.items() if name != "memory"} == {
        name: rows for name, rows in tables.items() if name != "memory"
    }
    assert damaged(life.memories.connection) == []


def test_what_is_needed_after_all_comes_back_by_itself(life: Life) -> None:
    for kind in ("lock", "confirm", "repeat", "follow", "revise"):
        memory = life.teach()
        life.put_away(memory)
        life.do(kind, memory)
        assert life.status(memory) == ACTIVE, kind
    memory = life.teach()
    life.put_away(memory)
    life.show(memory)
    assert life.status(memory) == ACTIVE


def test_what_was_needed_elsewhere_meanwhile_is_not_archived(life: Life) -> None:
    memory = life.teach()
    known = [one for one in life.memories.idle(1 << 62) if one.id == memory]
    life.show(memory)  # what the one who archives it has not seen
    archive(
        life.pen(CAPTURE), [_fading(one, Clock(life.now, lived(life.home, life.memories))) for one in known]
    )
    assert life.status(memory) == ACTIVE


@pytest.mark.parametrize("by", [AGENT, TOOL, "team:red"])
def test_nobody_else_can_archive(life: Life, by: str) -> None:
    memory = life.teach()
    one = life.read(memory)
    life.do("archive", memory, by, known=[one.updated, 0, 0, 0, 0])
    assert life.status(memory) == ACTIVE


def test_forgetting_reaches_the_archive(life: Life) -> None:
    memory = life.teach()
    life.put_away(memory)
    life.do("forget", memory)
    assert life.status(memory) == "forgotten"
    assert life.read(memory).text == ""


def test_to_say_it_again_brings_it_back_and_makes_no_twin(life: Life) -> None:
    at_terminal = life.teach(RULE, USER, "Use pnpm for every package, never npm.")
    in_session = life.teach(RULE, USER, "Deploy only from the release branch.")
    life.put_away(at_terminal)
    life.put_away(in_session)
    done = remember(life.pen(), Said("Use pnpm for every package, never npm.", GLOBAL))
    assert (done.memory.id, done.again, done.memory.status) == (at_terminal, True, ACTIVE)
    said = Said("Deploy only from the release branch.", GLOBAL, session="s1", agent="codex", at=life.now)
    assert take(life.pen(CAPTURE), said, sync=True) == (in_session, False)
    assert life.status(in_session) == ACTIVE
    assert len(life.memories.ids()) == 2


def test_what_is_replaced_while_it_is_archived_does_not_come_back_as_valid(life: Life) -> None:
    old = life.teach("decision", USER, "We use npm as the package manager.")
    life.put_away(old)
    done = remember(life.pen(), Said("We use pnpm as the package manager instead of npm.", GLOBAL))
    assert not done.again
    assert [one.id for one, _ in done.ended] == [old]
    assert life.status(old) == ARCHIVED
    restore(life.pen(), [life.read(old)])
    assert life.status(old) == SUPERSEDED


def test_a_to_b_to_a_works_where_the_first_is_archived(life: Life) -> None:
    first = life.teach("decision", USER, "We use npm as the package manager.")
    second = remember(life.pen(), Said("We use pnpm as the package manager instead of npm.", GLOBAL)).memory
    assert life.status(first) == SUPERSEDED
    life.put_away(first)
    again = remember(life.pen(), Said("We use npm as the package manager.", GLOBAL))
    assert second.id in [one.id for one, _ in again.ended]
    assert again.memory.status == ACTIVE


def test_the_user_takes_back_what_told_archived(life: Life) -> None:
    from told.memory.undo import undo

    memory = life.teach()
    life.put_away(memory)
    assert undo(life.pen()) is None or life.status(memory) == ARCHIVED
    assert undo(life.pen(), memory) is not None
    assert life.status(memory) == ACTIVE


def test_the_archive_is_sorted_by_need(life: Life) -> None:
    first, second, third = (life.teach() for _ in range(3))
    life.real += DAY
    life.show(first)
    for one in (third, first, second):
        life.put_away(one)
    ordered = [one.id for one in archived_oldest_first(life.memories)]
    assert ordered[-1] == first
    assert set(ordered) == {first, second, third}


def test_a_confirmation_by_change_is_one(life: Life) -> None:
    memory = life.teach()
    assert change(life.pen(), "confirm", life.read(memory)).memory.confirmed == life.now
    assert change(life.pen(), "reject", life.read(memory)).memory.confirmed == 0
    assert patience(life.read(memory), life.now)[0] == 1


def test_the_journal_still_has_everything(life: Life) -> None:
    memory = life.teach(text="Kept to the letter.")
    life.put_away(memory)
    every = [one for one in read(journal_folder(life.home)) if isinstance(one, Operation)]
    assert [one.kind for one in every if one.memory == memory] == ["remember", "archive"]
    assert all(one.payload for one in every)
