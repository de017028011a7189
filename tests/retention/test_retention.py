"""Archive unused memories and restore them; ignore clock jumps."""

from __future__ import annotations

import shutil
import tempfile
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from tests.journal.writing import fold
from tests.soak import points
from told.journal.append import append
from told.journal.apply import open_memories, rebuild
from told.journal.file_journal import FileJournal
from told.journal.files import Draft, Operation, journal_folder
from told.journal.read import read_operations
from told.memories.caller import Caller
from told.memories.change import change
from told.memories.journal_writer import JournalWriter
from told.memories.remember import NewMemory, add_memory, remember
from told.memories.undo import undo
from told.retention import retention as clock_module
from told.retention.retention import (
    DAY,
    ClockReading,
    archive,
    archive_unused,
    expire_candidates,
    find_unused,
    list_archived,
    ms_until_next_archive,
    read_clock,
    restore,
    retention_windows,
    tick,
)
from told.store.memories.records import (
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
from told.store.memories.schema import dump_facts, find_damage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from told.store.memories.read import SqliteMemories
    from told.store.memories.records import Memory

BEGIN = 1_750_000_000_000
HOUR = DAY // 24
YEAR = 365 * DAY


class FakeMachine:
    """A machine with real time and a wall clock that may be wrong."""

    def __init__(self, home: str) -> None:
        self.home = home
        self.memories: SqliteMemories = open_memories(home)
        self.real = 0
        self.offset = BEGIN
        self.started = -30 * DAY
        self.said = 0

    def close(self) -> None:
        """Close the memories."""
        self.memories.close()

    @property
    def now(self) -> int:
        """Return the wall clock."""
        return max(1, self.real + self.offset)

    @property
    def running(self) -> int:
        """Return the uptime."""
        return self.real - self.started

    def writer(self, by: str = USER) -> JournalWriter:
        """Return a writer for the current time."""
        return JournalWriter(FileJournal(self.home), self.memories, self.now, Caller(by))

    def teach(self, kind: str = OBSERVATION, trust: str = AGENT, text: str = "", **more: Any) -> str:
        """Add a memory; return its id."""
        self.said += 1
        writer = self.writer(AGENT if trust == AGENT else USER)
        made = add_memory(
            writer, NewMemory(text or f"Statement {self.said}.", GLOBAL, kind, trust=trust, **more)
        )
        writer.write(sync=False)
        return made

    def do(self, operation: str, memory: str, author: str = USER, /, **payload: Any) -> None:
        """Write down what happens to a memory."""
        writer = self.writer(author)
        writer.add(operation, memory, **payload)
        writer.write(sync=False)

    def show(self, memory: str) -> None:
        """Let a session be shown a memory."""
        self.do("show", "", CAPTURE, memories=[memory], session=f"s{self.real}", tokens=9)

    def pass_time(self, days: float, step: float = 7.0) -> None:
        """Live on, with a tick every few days."""
        while days > 0:
            self.real += int(min(days, step) * DAY)
            days -= step
            tick(self.writer(CAPTURE), self.running)

    def check(self, days: int = 90) -> None:
        """Do what the end of a session does."""
        tick(self.writer(CAPTURE), self.running)
        archive_unused(self.writer(CAPTURE), days, limit=1000)

    def status(self, memory: str) -> str:
        """Return the status of a memory."""
        return self.read(memory).status

    def read(self, memory: str) -> Memory:
        """Return a memory as it is now."""
        return self.memories.get([memory])[memory]

    def put_away(self, memory: str) -> None:
        """Archive one memory, however old it is."""
        found = [one for one in self.memories.idle(1 << 62) if one.id == memory]
        clock = ClockReading(self.now, read_clock(FileJournal(self.home), self.memories))
        archive(self.writer(CAPTURE), [_fading(one, clock) for one in found])


def _fading(one: Any, clock: ClockReading) -> Any:
    from told.retention.retention import UnusedMemory

    return UnusedMemory(one, clock.elapsed.now // DAY, "in a test")


@pytest.fixture
def machine(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeMachine]:
    made = FakeMachine(str(tmp_path))
    monkeypatch.setattr(clock_module, "read_uptime", lambda: made.running)
    yield made
    made.close()


# -- when memories are archived ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "trust", "windows"),
    [
        (OBSERVATION, AGENT, 1), (FACT, TOOL, 1), (OBSERVATION, USER, 1), (FACT, USER, 2),
        ("decision", USER, 2), (RULE, USER, 4), ("correction", USER, 4), ("preference", USER, 4),
        ("warning", USER, 4),
    ],
)  # fmt: skip
def test_important_memories_are_archived_later(
    machine: FakeMachine, kind: str, trust: str, windows: int
) -> None:
    memory = machine.teach(kind, trust)
    machine.pass_time(90 * windows - 6)
    machine.check()
    assert machine.status(memory) == ACTIVE
    machine.pass_time(13)
    machine.check()
    assert machine.status(memory) == ARCHIVED


def test_use_restarts_the_window(machine: FakeMachine) -> None:
    shown, repeated, followed, left = (machine.teach() for _ in range(4))
    machine.pass_time(60)
    machine.show(shown)
    machine.do("repeat", repeated, CAPTURE, weight=0.0)
    machine.do("follow", followed, CAPTURE)
    machine.pass_time(60)
    machine.check()
    assert [machine.status(one) for one in (shown, repeated, followed, left)] == [ACTIVE] * 3 + [ARCHIVED]
    machine.pass_time(40)
    machine.check()
    assert {machine.status(one) for one in (shown, repeated, followed)} == {ARCHIVED}


def test_ended_and_unhelpful_memories_are_archived_after_one_window(machine: FakeMachine) -> None:
    old, rejected, expired, kept = (machine.teach(RULE, USER) for _ in range(4))
    machine.do("supersede", old, by=kept)
    for _ in range(6):
        machine.do("reject", rejected, weight=2.0)
    machine.do("expire", expired, expires=machine.now + DAY)
    machine.pass_time(102)
    machine.check()
    assert [machine.status(one) for one in (old, rejected, expired, kept)] == [ARCHIVED] * 3 + [ACTIVE]
    assert machine.read(old).was == SUPERSEDED


def test_shown_memories_stay_90_days(machine: FakeMachine) -> None:
    shown, never = machine.teach(), machine.teach()
    machine.show(shown)
    machine.pass_time(60)
    machine.check(days=7)
    assert (machine.status(shown), machine.status(never)) == (ACTIVE, ARCHIVED)


def test_window_of_0_turns_retention_off(machine: FakeMachine) -> None:
    memory = machine.teach()
    machine.pass_time(200)
    assert archive_unused(machine.writer(CAPTURE), 0, limit=9)
    assert machine.status(memory) == ACTIVE


def test_locked_and_confirmed_memories_stay(machine: FakeMachine) -> None:
    locked, confirmed, taken_back = (machine.teach() for _ in range(3))
    machine.do("lock", locked)
    machine.do("confirm", confirmed)
    machine.do("confirm", taken_back)
    undo(machine.writer())
    machine.pass_time(400)
    machine.check()
    assert [machine.status(one) for one in (locked, confirmed, taken_back)] == [ACTIVE, ACTIVE, ARCHIVED]


def test_agent_cannot_confirm(machine: FakeMachine) -> None:
    memory = machine.teach()
    machine.do("confirm", memory, AGENT)
    machine.pass_time(102)
    machine.check()
    assert machine.status(memory) == ARCHIVED


def test_memories_with_open_proposals_stay(machine: FakeMachine) -> None:
    asked, draft = machine.teach(), machine.teach()
    writer = machine.writer(AGENT)
    writer.propose("correct", asked, by=draft)
    writer.write()
    machine.pass_time(200)
    machine.check()
    assert (machine.status(asked), machine.status(draft)) == (ACTIVE, ACTIVE)


def test_successor_of_locked_memory_stays(machine: FakeMachine) -> None:
    old, heir = machine.teach(), machine.teach()
    machine.do("lock", old)
    machine.do("supersede", old, by=heir)
    machine.pass_time(200)
    machine.check()
    assert (machine.status(old), machine.status(heir)) == (SUPERSEDED, ACTIVE)


def test_memories_of_colleagues_stay(machine: FakeMachine) -> None:
    memory = machine.teach(FACT, "team:red")
    machine.pass_time(200)
    machine.check()
    assert machine.status(memory) == ACTIVE


def test_next_archive_time_is_known(machine: FakeMachine) -> None:
    machine.teach()
    machine.pass_time(30)
    clock = ClockReading(machine.now, read_clock(FileJournal(machine.home), machine.memories))
    left = ms_until_next_archive(machine.memories, clock, 90)
    assert left is not None
    assert 53 * DAY <= left <= 70 * DAY
    assert find_unused(FileJournal(machine.home), machine.memories, clock, 90) == []


# -- the clock -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("jump", [10 * YEAR, -10 * YEAR])
def test_clock_jump_archives_nothing(machine: FakeMachine, jump: int) -> None:
    before = [machine.teach() for _ in range(3)]
    machine.pass_time(20)
    machine.offset += jump
    during = machine.teach()
    machine.check()
    machine.pass_time(3, 1)
    machine.check()
    machine.offset -= jump
    machine.check()
    assert {machine.status(one) for one in (*before, during)} == {ACTIVE}


def test_repeated_clock_jumps_archive_nothing(machine: FakeMachine) -> None:
    memory = machine.teach()
    for number in range(40):
        machine.real += HOUR
        machine.offset += (-1) ** number * 10 * YEAR + number * DAY
        machine.check()
    assert machine.status(memory) == ACTIVE
    assert read_clock(FileJournal(machine.home), machine.memories).now <= machine.real


def test_long_break_counts_as_a_week(machine: FakeMachine) -> None:
    memory = machine.teach()
    machine.check()
    machine.real += 300 * DAY
    machine.check()
    assert machine.status(memory) == ACTIVE
    assert read_clock(FileJournal(machine.home), machine.memories).now == 7 * DAY


def test_restart_counts_uptime_only(machine: FakeMachine) -> None:
    machine.check()
    machine.real += 5 * DAY
    machine.started = machine.real - 2 * HOUR
    machine.check()
    assert read_clock(FileJournal(machine.home), machine.memories).now == 2 * HOUR


def test_day_is_counted_once(machine: FakeMachine) -> None:
    machine.check()
    for _ in range(5):
        machine.real += HOUR // 10
        machine.check()
    assert len(machine.memories.noted("lived")) == 1


def test_age_of_synced_memory_starts_on_arrival(machine: FakeMachine, tmp_path: Any) -> None:
    machine.pass_time(200)
    other = tmp_path / "other"
    written = append(str(other), [Draft("remember", AGENT, {"text": "From elsewhere."})], now=BEGIN)[0]
    shutil.copytree(other / "journal" / written.machine, tmp_path / "journal" / written.machine)
    machine.close()
    machine.memories = open_memories(machine.home)
    machine.check()
    assert machine.status(written.memory) == ACTIVE
    machine.pass_time(102)
    machine.check()
    assert machine.status(written.memory) == ARCHIVED


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


class CheckedMachine(FakeMachine):
    """A machine that records what must not be archived."""

    def __init__(self, home: str, window: int) -> None:
        super().__init__(home)
        self.window = window
        self.made: dict[str, int] = {}
        self.shown: dict[str, int] = {}
        self.locked: set[str] = set()
        self.confirmed: set[str] = set()
        self.archived = 0

    def act(self, what: str, memory: str, much: float) -> None:
        """Perform one random step."""
        times: dict[str, Callable[[float], None]] = {
            "live": self._live, "sleep": self._sleep, "jump": self._jump, "drift": self._jump,
            "restart": self._restart,
        }  # fmt: skip
        if what in times:
            times[what](much)
            self.archive_and_check()
        elif what == "teach" or not memory:
            trust = (AGENT, USER)[int(much) % 2]
            self.made[self.teach(KINDS[int(much) // 2 % len(KINDS)], trust)] = self.real
        elif not self.memories.ids_with_prefix(memory):
            return  # the user undid it
        elif what == "restore":
            if self.status(memory) == ARCHIVED:
                restore(self.writer(), [self.read(memory)])
                assert self.status(memory) != ARCHIVED
        else:
            self._to(what, memory)

    def _to(self, what: str, memory: str) -> None:
        if what == "show":
            self.show(memory)
        elif what == "undo":
            undo(self.writer(), memory)
        else:
            self.do(what, memory, CAPTURE if what == "follow" else USER)
        if what in ("show", "follow"):
            self.shown[memory] = self.real
        after = self.read(memory) if self.memories.ids_with_prefix(memory) else None
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

    def archive_and_check(self) -> None:
        """Run the archive job and check what it archived."""
        before = {one.id for one in list_archived(self.memories)}
        self.check(self.window)
        for one in list_archived(self.memories):
            if one.id not in before:
                self.archived += 1
                assert not one.locked
                assert one.id not in self.locked
                assert one.id not in self.confirmed
                assert self.real - self.shown.get(one.id, -YEAR) >= 90 * DAY
                assert self.real - self.made[one.id] >= self.window * DAY


@given(steps(), st.sampled_from((10, 10, 90, 120)))
@settings(max_examples=points(everyday=15, soak=200), deadline=None)
def test_random_operations_never_archive_too_early(
    happened: list[tuple[str, int, float]], window: int
) -> None:
    home = tempfile.mkdtemp()
    machine = CheckedMachine(home, window)
    try:
        for much in (0.0, 1.0, 10.0):  # an agent's rule, the user's rule, an agent's warning
            machine.act("teach", "", much)
        for what, which, much in happened:
            every = [*machine.made]
            machine.act(what, every[which] if which < len(every) else "", much)
        event("archived something" if machine.archived else "archived nothing")
        assert read_clock(FileJournal(home), machine.memories).now <= machine.real
        kept = dump_facts(machine.memories.connection)
        assert find_damage(machine.memories.connection) == []
        machine.close()
        machine.memories = rebuild(home)
        assert dump_facts(machine.memories.connection) == kept
    finally:
        machine.close()
        shutil.rmtree(home)


# -- archive and restore -------------------------------------------------------------------------------


@given(
    st.lists(st.sampled_from(("show", "follow", "repeat", "edge", "supersede", "quarantine",
                              "release", "revise", "expire")), max_size=8),
    st.lists(st.sampled_from(("edge", "supersede", "quarantine", "archive", "move")), max_size=3),
)  # fmt: skip
@settings(max_examples=points(everyday=15, soak=200), deadline=None)
def test_archive_and_restore_is_lossless(before: list[str], meanwhile: list[str]) -> None:
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
    assert returned._replace(last=never.last) == never
    assert away._replace(status=never.status, was="", last=never.last) == never


def test_rebuild_restores_archived_memory(machine: FakeMachine) -> None:
    memory = machine.teach(FACT, TOOL, "The API of billing lives in src/billing/api.py.")
    machine.show(memory)
    tables = dump_facts(machine.memories.connection)
    before = machine.read(memory)
    machine.put_away(memory)
    assert machine.status(memory) == ARCHIVED
    assert find_damage(machine.memories.connection) == []
    for table in ("trigger_of", "word_of"):
        assert dump_facts(machine.memories.connection)[table] == []
    restore(machine.writer(), [machine.read(memory)])
    assert machine.read(memory)._replace(last=before.last) == before
    again = dump_facts(machine.memories.connection)
    assert {name: rows for name, rows in again.items() if name != "memory"} == {
        name: rows for name, rows in tables.items() if name != "memory"
    }
    assert find_damage(machine.memories.connection) == []


def test_use_restores_archived_memory(machine: FakeMachine) -> None:
    for kind in ("lock", "confirm", "repeat", "follow", "revise"):
        memory = machine.teach()
        machine.put_away(memory)
        machine.do(kind, memory)
        assert machine.status(memory) == ACTIVE, kind
    memory = machine.teach()
    machine.put_away(memory)
    machine.show(memory)
    assert machine.status(memory) == ACTIVE


def test_use_on_another_machine_prevents_archiving(machine: FakeMachine) -> None:
    memory = machine.teach()
    known = [one for one in machine.memories.idle(1 << 62) if one.id == memory]
    machine.show(memory)  # what the one who archives it has not seen
    archive(
        machine.writer(CAPTURE),
        [
            _fading(one, ClockReading(machine.now, read_clock(FileJournal(machine.home), machine.memories)))
            for one in known
        ],
    )
    assert machine.status(memory) == ACTIVE


@pytest.mark.parametrize("by", [AGENT, TOOL, "team:red"])
def test_only_user_and_told_can_archive(machine: FakeMachine, by: str) -> None:
    memory = machine.teach()
    one = machine.read(memory)
    machine.do("archive", memory, by, known=[one.updated, 0, 0, 0, 0])
    assert machine.status(memory) == ACTIVE


def test_forget_removes_archived_memory(machine: FakeMachine) -> None:
    memory = machine.teach()
    machine.put_away(memory)
    machine.do("forget", memory)
    assert machine.status(memory) == "forgotten"
    assert machine.read(memory).text == ""


def test_repeat_restores_archived_memory(machine: FakeMachine) -> None:
    at_terminal = machine.teach(RULE, USER, "Use pnpm for every package, never npm.")
    in_session = machine.teach(RULE, USER, "Deploy only from the release branch.")
    machine.put_away(at_terminal)
    machine.put_away(in_session)
    done = remember(machine.writer(), NewMemory("Use pnpm for every package, never npm.", GLOBAL))
    assert (done.memory.id, done.again, done.memory.status) == (at_terminal, True, ACTIVE)
    said = NewMemory(
        "Deploy only from the release branch.", GLOBAL, session="s1", agent="codex", at=machine.now
    )
    done = remember(machine.writer(CAPTURE), said)
    assert (done.memory.id, done.again) == (in_session, True)
    assert machine.status(in_session) == ACTIVE
    assert len(machine.memories.ids()) == 2


def test_superseded_archived_memory_stays_superseded(machine: FakeMachine) -> None:
    old = machine.teach("decision", USER, "We use npm as the package manager.")
    machine.put_away(old)
    done = remember(machine.writer(), NewMemory("We use pnpm as the package manager instead of npm.", GLOBAL))
    assert not done.again
    assert [one.id for one, _ in done.superseded] == [old]
    assert machine.status(old) == ARCHIVED
    restore(machine.writer(), [machine.read(old)])
    assert machine.status(old) == SUPERSEDED


def test_archived_memory_can_be_superseded_back(machine: FakeMachine) -> None:
    first = machine.teach("decision", USER, "We use npm as the package manager.")
    second = remember(
        machine.writer(), NewMemory("We use pnpm as the package manager instead of npm.", GLOBAL)
    ).memory
    assert machine.status(first) == SUPERSEDED
    machine.put_away(first)
    again = remember(machine.writer(), NewMemory("We use npm as the package manager.", GLOBAL))
    assert second.id in [one.id for one, _ in again.superseded]
    assert again.memory.status == ACTIVE


def test_undo_restores_archived_memory(machine: FakeMachine) -> None:
    memory = machine.teach()
    machine.put_away(memory)
    assert undo(machine.writer()) is None or machine.status(memory) == ARCHIVED
    assert undo(machine.writer(), memory) is not None
    assert machine.status(memory) == ACTIVE


def test_archive_lists_longest_unused_first(machine: FakeMachine) -> None:
    first, second, third = (machine.teach() for _ in range(3))
    machine.real += DAY
    machine.show(first)
    for one in (third, first, second):
        machine.put_away(one)
    ordered = [one.id for one in list_archived(machine.memories)]
    assert ordered[-1] == first
    assert set(ordered) == {first, second, third}


def test_confirm_change_prevents_archiving(machine: FakeMachine) -> None:
    memory = machine.teach()
    assert change(machine.writer(), "confirm", machine.read(memory)).memory.confirmed == machine.now
    assert change(machine.writer(), "reject", machine.read(memory)).memory.confirmed == 0
    assert retention_windows(machine.read(memory), machine.now)[0] == 1


def test_journal_keeps_all_operations(machine: FakeMachine) -> None:
    memory = machine.teach(text="Kept to the letter.")
    machine.put_away(memory)
    every = [one for one in read_operations(journal_folder(machine.home)) if isinstance(one, Operation)]
    assert [one.kind for one in every if one.memory == memory] == ["remember", "archive"]
    assert all(one.payload for one in every)


def _keep_candidate(machine: FakeMachine, text: str) -> str:
    new = NewMemory(text, GLOBAL, trust=USER, quote=text, agent="codex", session="one", at=machine.now)
    return remember(machine.writer(CAPTURE), new._replace(candidate=True)).memory.id


def _expire(machine: FakeMachine) -> None:
    clock = ClockReading(machine.now, tick(machine.writer(CAPTURE), machine.running))
    expire_candidates(machine.writer(CAPTURE), clock)


def test_unconfirmed_candidates_are_dismissed_after_60_days(machine: FakeMachine) -> None:
    old = _keep_candidate(machine, "The exporter writes to the attic bucket.")
    machine.pass_time(30)
    new = _keep_candidate(machine, "Invoices are numbered by quarter.")
    machine.pass_time(28)
    _expire(machine)
    assert [machine.status(one) for one in (old, new)] == ["candidate", "candidate"]
    machine.pass_time(10)  # time counts from the first tick, which came after 7 days
    _expire(machine)
    machine.check()
    assert [machine.status(one) for one in (old, new)] == ["dismissed", "candidate"]


def test_clock_that_jumps_dismisses_no_candidate(machine: FakeMachine) -> None:
    one = _keep_candidate(machine, "Invoices are numbered by quarter.")
    machine.offset += YEAR
    _expire(machine)
    assert machine.status(one) == "candidate"


def test_expired_candidate_is_confirmed_when_it_is_said_again(machine: FakeMachine) -> None:
    one = _keep_candidate(machine, "Invoices are numbered by quarter.")
    machine.pass_time(70)
    _expire(machine)
    text = "Invoices are numbered by quarter."
    new = NewMemory(text, GLOBAL, quote=text, agent="codex", session="two", at=machine.now, candidate=True)
    assert remember(machine.writer(CAPTURE), new).memory.id == one
    assert machine.status(one) == ACTIVE
