"""Checkpoints of one machine are there on the others, if the user wants that."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.sync.machines import Machine, Make, Shelf
from told.checkpoints.save import close_checkpoint, save_checkpoint
from told.ingest.checkpoint_files import list_checkpoints, read_checkpoint
from told.ingest.checkpoint_rows import forget_checkpoint
from told.memories.forget import forget, plan_forget
from told.memories.sync_checkpoints import note_forgotten
from told.model import AGENT, USER, Handover
from told.store.sessions.read import Filter, SessionReader
from told.sync.receipts import read_receipts
from told.sync.spaces import Space, save_space

KEY = "github.com/acme/shop"


def space_of(machine: Machine, *, wanted: bool = True) -> Space:
    space = replace(machine.space(plain=True), checkpoints=wanted)
    save_space(machine.home, space)
    return space


def exchange(shelf: Shelf, *machines: Machine) -> None:
    for one in (*machines, *machines):
        one.time += 1000
        assert one.sync(shelf, space_of(one)).problems == []


def save(machine: Machine, goal: str, session: str = "s1", by: str = USER) -> str:
    handover = Handover(
        goal, pending=("Write the tests",), agent="codex", session=session, project=KEY, by=by
    )
    done = save_checkpoint(machine.connection, machine.home, handover, str, name="shop", root="")
    return done.handover.id


def path_of(machine: Machine, public: str) -> str:
    return next(path for path in list_checkpoints(machine.home) if read_checkpoint(path).id == public)


def rewrite(machine: Machine, public: str, old: str, new: str) -> None:
    path = Path(path_of(machine, public))
    path.write_text(path.read_text().replace(old, new))


def goals(machine: Machine) -> list[str]:
    return sorted(read_checkpoint(path).goal for path in list_checkpoints(machine.home))


def listed(machine: Machine) -> list[tuple[str, str]]:
    """Return id and status of what `told checkpoints` lists."""
    return [(one.public, one.status) for one in SessionReader(machine.connection).checkpoints(Filter(), 99)]


def operations(shelf: Shelf) -> int:
    return shelf.bytes().count(b'"kind":"checkpoint"')


def test_a_checkpoint_arrives_as_the_users_own(make: Make) -> None:
    here, there = make(2)
    shelf = Shelf()
    public = save(here, "Move the shop to Postgres", by=AGENT)
    exchange(shelf, here, there)
    assert goals(there) == ["Move the shop to Postgres"]
    assert listed(there) == [(public, "open")]
    assert read_checkpoint(path_of(there, public)) == read_checkpoint(path_of(here, public))
    assert read_checkpoint(path_of(there, public)).by == AGENT
    assert os.stat(path_of(there, public)).st_mode & 0o077 == 0


def test_without_the_option_none_leaves(make: Make) -> None:
    here, there = make(2)
    shelf = Shelf()
    save(here, "Move the shop to Postgres")
    here.sync(shelf, space_of(here, wanted=False))
    assert b"Postgres" not in shelf.bytes()
    exchange(shelf, here)
    there.sync(shelf, space_of(there, wanted=False))
    assert goals(there) == []
    exchange(shelf, there)  # turned on later
    assert goals(there) == ["Move the shop to Postgres"]


def test_many_rounds_make_no_duplicates(make: Make) -> None:
    here, there, third = make(3)
    shelf = Shelf()
    save(here, "Move the shop to Postgres")
    save(there, "Write the changelog", session="s2")
    for _ in range(4):
        exchange(shelf, here, there, third)
    assert operations(shelf) == 2
    for one in (here, there, third):
        assert goals(one) == ["Move the shop to Postgres", "Write the changelog"]
    before = shelf.bytes()
    exchange(shelf, here, there, third)
    assert shelf.bytes() == before


def test_a_closed_checkpoint_is_closed_everywhere(make: Make) -> None:
    here, there = make(2)
    shelf = Shelf()
    public = save(here, "Move the shop to Postgres")
    exchange(shelf, here, there)
    close_checkpoint(there.connection, there.home, public)
    exchange(shelf, there, here)
    assert listed(here) == [(public, "closed")]
    assert goals(here) == ["Move the shop to Postgres"]


def test_edits_on_both_sides_keep_both(make: Make) -> None:
    here, there = make(2)
    shelf = Shelf()
    public = save(here, "Move the shop to Postgres")
    exchange(shelf, here, there)
    rewrite(here, public, "Postgres", "Postgres 17")
    rewrite(there, public, "Postgres", "MariaDB")
    exchange(shelf, here, there)
    exchange(shelf, here, there)
    for one in (here, there):
        assert goals(one) == ["Move the shop to MariaDB", "Move the shop to Postgres 17"]
        assert len(listed(one)) == 2
    ids = [{read_checkpoint(path).id for path in list_checkpoints(one.home)} for one in (here, there)]
    assert ids[0] == ids[1]


def test_both_published_before_they_met(make: Make) -> None:
    here, there = make(2)
    shelf, other = Shelf(), Shelf()
    public = save(here, "Move the shop to Postgres")
    exchange(shelf, here, there)
    exchange(other, here, there)
    rewrite(here, public, "Postgres", "Postgres 17")
    rewrite(there, public, "Postgres", "MariaDB")
    for one, place in ((here, shelf), (there, other)):
        exchange(place, one)
    for _ in range(2):
        exchange(shelf, here, there)
    for one in (here, there):
        assert goals(one) == ["Move the shop to MariaDB", "Move the shop to Postgres 17"]


def test_only_the_newest_version_is_kept(make: Make) -> None:
    here, there = make(2)
    shelf = Shelf()
    public = save(here, "Move the canary shop")
    exchange(shelf, here, there)
    rewrite(there, public, "canary ", "")
    exchange(shelf, there, here)
    assert goals(here) == ["Move the shop"]
    assert b"canary" not in shelf.bytes()


def test_forgetting_reaches_all_machines_and_the_place(make: Make) -> None:
    here, there, away = make(3)
    shelf = Shelf()
    public = save(here, "Move the canary shop")
    exchange(shelf, here, there, away)
    old = path_of(away, public), Path(path_of(away, public)).read_bytes()
    forget_checkpoint(there.connection, there.home, public)
    note_forgotten(there.home, [public], there.now)
    exchange(shelf, there)
    assert b"canary" not in shelf.bytes()
    exchange(shelf, here, away, there)
    for one in (here, there, away):
        assert (goals(one), listed(one)) == ([], [])
        assert b"canary" not in one.bytes()
    (receipt,) = read_receipts(there.home, [public])
    assert receipt.is_sent
    assert [one.is_confirmed for one in receipt.machines] == [True, True]
    Path(old[0]).write_bytes(old[1])  # a backup brings the file back on one machine
    exchange(shelf, away, here, there)
    assert (goals(here), goals(there)) == ([], [])
    assert b"canary" not in shelf.bytes()


def test_forgetting_its_session_reaches_all(make: Make) -> None:
    here, there = make(2)
    shelf = Shelf()
    save(here, "Move the canary shop")
    exchange(shelf, here, there)
    plan = plan_forget(here.connection, here.key, here.home, [], [("codex", "s1")])
    forget(here.writer(), here.connection, plan)
    assert goals(here) == []
    exchange(shelf, here, there)
    assert goals(there) == []
    assert b"canary" not in shelf.bytes() + there.bytes()


def test_forgotten_words_are_cut_out_of_what_was_shared(make: Make) -> None:
    here, there = make(2)
    shelf = Shelf()
    name = here.remember("The canary password rotates on Mondays.", evidence=[{
        "agent": "codex", "session": "s1", "turn": 1, "quote": "The canary password rotates on Mondays.",
    }])  # fmt: skip
    save(here, "Move the shop. The canary password rotates on Mondays. Then rest.", by=AGENT)
    exchange(shelf, here, there)
    assert b"canary" in shelf.bytes()
    here.forget(name)
    exchange(shelf, here, there)
    assert b"canary" not in shelf.bytes() + here.bytes() + there.bytes()
    assert len(goals(there)) == 1


def test_a_file_deleted_by_hand_stays_deleted_here_only(make: Make) -> None:
    here, there = make(2)
    shelf = Shelf()
    public = save(here, "Move the shop to Postgres")
    exchange(shelf, here, there)
    os.remove(path_of(there, public))
    exchange(shelf, there, here)
    assert (goals(here), goals(there)) == (["Move the shop to Postgres"], [])


@pytest.mark.parametrize("folder", ["..", "../../etc", "/etc", ".hidden", "a/b", "a\\b", "x" * 200])
def test_no_file_outside_the_folder(make: Make, tmp_path: Path, folder: str) -> None:
    here, there = make(2)
    shelf = Shelf()
    save(here, "Move the shop to Postgres")
    exchange(shelf, here)
    publish_with_folder(here, folder)
    exchange(shelf, here, there)
    assert list(tmp_path.rglob("*evil*")) == []
    assert goals(there) == ["Move the shop to Postgres"]


def test_a_plain_folder_is_made(make: Make, tmp_path: Path) -> None:
    here, there = make(2)
    shelf = Shelf()
    exchange(shelf, here)
    publish_with_folder(here, "shop-1a2b3c4d")
    exchange(shelf, here, there)
    assert len(list((tmp_path / "m1" / "checkpoints" / "shop-1a2b3c4d").glob("*evil*.md"))) == 1


def publish_with_folder(machine: Machine, folder: str) -> None:
    """Append an operation as no told writes it."""
    from told.journal.append import append_copies
    from told.journal.files import Operation, get_machine_id

    name = get_machine_id(machine.home)
    text = "---\nid: cabcdefghi\nstatus: open\n---\n\n# evil\n\n## Goal\n\nevil\n"
    payload = {"op": "e" * 16, "folder": folder, "text": text, "before": []}
    one = Operation(name, 0, machine.now, "checkpoint", "cabcdefghi", "user", payload)
    append_copies(machine.space().series_folder(machine.home, name), name, [one])
