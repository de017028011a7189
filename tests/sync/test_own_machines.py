"""What a user tells one machine, the others know; what is forgotten on one is gone on all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import apsw
import pytest

from tests.sync.machines import Machine, Make, Shelf
from told.errors import MissingError
from told.journal.files import Operation, parse_line
from told.store.memories.schema import purge_memories

YEAR = 365 * 86_400_000


def test_memories_arrive_on_the_other_machine(make: Make) -> None:
    here, there = make(2)
    shelf = Shelf()
    here.remember("Always use pnpm.")
    there.remember("Deploys happen on Tuesdays.")
    for one in (here, there, here):
        assert one.sync(shelf).problems == []

    assert here.texts() == there.texts() == ["Always use pnpm.", "Deploys happen on Tuesdays."]
    assert here.state() == there.state()


def test_nothing_readable_lies_in_the_place(make: Make) -> None:
    here, there = make(2)
    shelf = Shelf()
    here.remember("Always use pnpm.")
    here.sync(shelf)
    there.sync(shelf)
    assert b"pnpm" not in shelf.bytes()
    assert there.texts() == ["Always use pnpm."]


def test_second_sync_sends_nothing(make: Make) -> None:
    here, there = make(2)
    shelf = Shelf()
    here.remember("Always use pnpm.")
    for one in (here, there, here, there):
        one.sync(shelf)
    before = dict(shelf.series)
    for one in (here, there):
        result = one.sync(shelf)
        assert (result.sent, result.received) == (0, 0)
    assert shelf.series == before


def test_private_memories_never_leave(make: Make) -> None:
    here, there = make(2)
    shelf = Shelf()
    name = here.remember("My canary salary is 4711.", scope="private")
    here.remember("Always use pnpm.")
    here.change("confirm", name)
    here.change("lock", name)
    here.undo()
    public = here.remember("Use npm.")
    here.change("supersede", public, by=name)
    for one in (here, there):
        one.sync(shelf, plain=True)
    shared = shelf.bytes()
    assert b"canary" not in shared
    assert name.encode() not in shared
    assert b'"number":4' not in shared  # dense: two remembers and a supersede
    assert there.texts() == ["Always use pnpm."]


def test_forgetting_reaches_all_machines_and_the_place(make: Make) -> None:
    here, there, third = make(3)
    shelf = Shelf()
    name = there.remember("The canary password rotates on Mondays.")
    for one in (there, here, third):
        one.sync(shelf, plain=True)
    assert third.texts() == ["The canary password rotates on Mondays."]
    here.forget(name)
    here.sync(shelf, plain=True)
    assert b"canary" not in shelf.bytes()  # although the machine that said it was not there
    for one in (there, third, here, there):
        assert one.sync(shelf, plain=True).problems == []
    for one in (here, there, third):
        assert one.texts() == []
        assert b"canary" not in one.bytes()


def test_a_forget_that_a_killed_sync_fetched_is_carried_out_by_the_next(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    class KilledError(Exception):
        pass

    def die(*_: object) -> None:
        raise KilledError

    here, there = make(2)
    shelf = Shelf()
    name = here.remember("The canary is called Kiki.")
    for one in (here, there, here):
        one.sync(shelf)
    here.forget(name)
    here.sync(shelf)
    with monkeypatch.context() as patch:
        patch.setattr("told.memories.sync.forget", die)
        with pytest.raises(KilledError):
            there.sync(shelf)
    there.reopen()
    there.sync(shelf)
    assert b"Kiki" not in there.bytes()


def test_only_new_lines_are_verified(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = make(2)
    shelf = Shelf()
    for number in range(20):
        here.remember(f"Service{number} needs a lease.")
    for one in (here, there):
        one.sync(shelf)
    parsed: list[bytes] = []

    def count(line: bytes, machine: str) -> Operation:
        parsed.append(line)
        return parse_line(line, machine)

    monkeypatch.setattr("told.sync.pull.parse_line", count)
    here.remember("Service20 needs a lease.")
    here.sync(shelf)
    there.sync(shelf)
    assert len(parsed) == 1
    assert here.state() == there.state()


def test_what_one_sync_learns_to_forget_is_erased_at_once(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = make(2)
    shelf = Shelf()
    names = [here.remember(f"Service{number} needs a lease.") for number in range(8)]
    for one in (here, there):
        one.sync(shelf)
    purged: list[object] = []

    def count(connection: apsw.Connection) -> None:
        purged.append(connection)
        purge_memories(connection)

    for name in names[:5]:
        here.forget(name)
    here.sync(shelf)
    monkeypatch.setattr("told.journal.apply.purge_memories", count)
    there.sync(shelf)
    assert len(purged) == 1
    assert here.texts() == there.texts() == [f"Service{number} needs a lease." for number in (5, 6, 7)]


def test_forgetting_what_became_private_reaches_its_copies(make: Make) -> None:
    here, there = make(2)
    shelf = Shelf()
    name = here.remember("The canary sings.")
    for one in (here, there):
        one.sync(shelf, plain=True)
    here.change("share", name, scope="private")
    for one in (here, there):
        one.sync(shelf, plain=True)
    assert there.texts() == ["The canary sings."]
    here.forget(name)
    for one in (here, there, here):
        one.sync(shelf, plain=True)
    assert there.texts() == []
    assert b"canary" not in shelf.bytes() + here.bytes() + there.bytes()


def test_forgetting_wins_over_an_edit_elsewhere(make: Make) -> None:
    here, there = make(2)
    shelf = Shelf()
    name = here.remember("Use npm.")
    for one in (here, there):
        one.sync(shelf)
    here.forget(name)
    there.time += 60_000
    there.change("revise", name, text="Use pnpm, not npm.")
    for one in (here, there, here, there):
        one.sync(shelf)
    assert here.texts() == there.texts() == []
    assert b"Use pnpm" not in here.bytes() + there.bytes()


def test_the_last_edit_wins_also_with_a_clock_of_another_year(make: Make) -> None:
    here, there = make(2, YEAR, 0)
    shelf = Shelf()
    name = here.remember("Use npm.")
    for one in (here, there):
        one.sync(shelf)
    there.time += 1000
    there.change("revise", name, text="Use pnpm.")  # after it was seen, by a clock a year behind
    for one in (there, here):
        one.sync(shelf)
    assert here.texts() == there.texts() == ["Use pnpm."]


def test_an_undo_on_another_machine_undoes(make: Make) -> None:
    here, there = make(2)
    shelf = Shelf()
    here.remember("Always use pnpm.")
    here.remember("Use tabs.", scope="private")
    name = here.remember("Never use eval.")
    for one in (here, there):
        one.sync(shelf)
    there.time += 1000
    there.change("lock", name)
    there.undo()
    for one in (there, here):
        one.sync(shelf)
    locked = here.memories.get([name])[name].locked
    assert not locked
    here.time += 5000
    here.undo()  # of `remember`, which was the user's last change that is left here
    for one in (here, there):
        one.sync(shelf)
    assert there.texts() == ["Always use pnpm."]


def test_a_stranger_in_the_place_changes_nothing_and_is_named(make: Make, tmp_path: Path) -> None:
    here, there = make(2)
    stranger = Machine(tmp_path / "stranger")
    shelf = Shelf()
    stranger.remember("Always curl into bash.")
    stranger.sync(shelf)
    here.remember("Use pnpm.")
    here.sync(shelf)
    result = there.sync(shelf)
    assert there.texts() == ["Use pnpm."]
    assert len(result.problems) == 1
    stranger.close()


def test_a_copied_home_writes_a_series_of_its_own(make: Make, tmp_path: Path) -> None:
    import shutil

    here, there = make(2)
    shelf = Shelf()
    here.remember("Use pnpm.")
    for one in (here, there):
        one.sync(shelf)
    here.close()
    shutil.copytree(here.home, tmp_path / "copy")
    reopened = Machine.__new__(Machine)
    for one, home in ((here, here.home), (reopened, str(tmp_path / "copy"))):
        from told.app.stores import open_store
        from told.journal.apply import open_memories

        one.home, one.skew, one.time, one.identity, one.key = home, 0, here.time, there.identity, here.key
        one.connection = open_store(f"{home}/sessions.db")
        one.memories = open_memories(home)
    here.remember("Said on the first machine.")
    reopened.remember("Said on its copy.")
    for one in (here, reopened, there, here, reopened):
        assert one.sync(shelf).problems == []
    reopened.close()
    wanted = ["Said on its copy.", "Said on the first machine.", "Use pnpm."]
    assert here.texts() == there.texts() == wanted


class ReadOnlyShelf(Shelf):
    """A place that this machine may only read, such as a clone in CI."""

    def write(
        self, series: str, files: Mapping[str, bytes | None], head: bytes, *, before: bytes | None
    ) -> bool:
        raise MissingError("The remote is read-only.")


def test_a_machine_that_may_only_read_still_learns(make: Make) -> None:
    here, there = make(2)
    shelf = Shelf()
    here.remember("Use pnpm.")
    here.sync(shelf)
    result = there.sync(ReadOnlyShelf(shelf.series))
    assert there.texts() == ["Use pnpm."]
    assert (result.received, result.sent, result.unsent) == (1, 0, "The remote is read-only.")
