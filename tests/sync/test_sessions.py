"""Archived sessions of one machine are searched on the others, if the user wants that."""

from __future__ import annotations

import io
import random
import shutil
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.soak import points
from tests.sync.machines import Machine, Make, Shelf
from told.hashing import blake2b
from told.ingest.archive import archive_path, format_draft, list_archive_files, read_draft, restore_sessions
from told.ingest.archive import write_lines as write_archive
from told.ingest.fold import SessionDraft
from told.ingest.projects import normalize_remote
from told.journal.files import get_machine_id
from told.jsontext import dump_json
from told.memories.forget import forget, plan_forget
from told.memories.sync import sync_space
from told.model import Facts
from told.store.sessions.facts import TO_CAPTURE, WorkQueue
from told.store.sessions.read import Filter, SessionReader, TurnText
from told.sync.exchange import Exchange
from told.sync.heads import BadHeadError, Head, decode_head, encode_head, sign_head
from told.sync.identity import load_machine_key
from told.sync.receipts import read_receipts
from told.sync.session_files import SessionFiles, SessionList
from told.sync.spaces import Space, save_space

REMOTE = "https://github.com/acme/shop.git"
KEY, _ = normalize_remote(REMOTE)
ZEBRA = "The zebra export loses its last column."
CANARY = "The canary password rotates on Mondays."


def space_of(machine: Machine, *, wanted: bool = True) -> Space:
    space = replace(machine.space(plain=True), sessions=wanted)
    save_space(machine.home, space)
    return space


def sync(
    machine: Machine, shelf: Shelf, *, wanted: bool = True, is_excluded: Callable[[str], bool] | None = None
) -> Exchange:
    machine.time += 1000
    stores = machine.stores()
    stores = replace(stores, is_excluded=is_excluded) if is_excluded else stores
    return sync_space(stores, space_of(machine, wanted=wanted), "shelf", shelf)


def exchange(shelf: Shelf, *machines: Machine) -> None:
    for one in (*machines, *machines):
        assert sync(one, shelf).problems == []


def archive(
    machine: Machine, *turns: str, native: str = "s1", parent: str = "", cwd: str = "/code/shop"
) -> str:
    """Let an agent of a machine have a session."""
    draft = SessionDraft(native, begin=True)
    draft.facts = Facts(native, cwd=cwd, repository=REMOTE, title=turns[0][:40], started=1000, parent=parent)
    draft.turns = tuple(TurnText(n, 1000 + n, "", text, "Done.", "") for n, text in enumerate(turns))
    draft.next_n, draft.last_at, draft.place = len(turns), 2000, cwd
    path = archive_path(machine.home, "codex", native)
    write_archive(path, format_draft(draft))
    restore_sessions(machine.connection, machine.home, str)
    return path


def asked(machine: Machine, native: str = "s1") -> list[str]:
    reader = SessionReader(machine.connection)
    return [
        turn.asked
        for row in reader.sessions_like(native, 9)
        if row.native == native
        for turn in reader.turns(row.id)
    ]


def listed(machine: Machine) -> list[str]:
    return sorted(row.native for row in SessionReader(machine.connection).sessions(Filter(), 99))


def texts_at(shelf: Shelf) -> str:
    """Return all text of sessions at a place, and everything else that lies there."""
    every = [item for _, files in shelf.series.values() for item in files.items()]
    found = [text_of(data) for name, data in every if name.endswith(".session")]
    return "\n".join([shelf.bytes().decode("latin-1"), *found])


def text_of(data: bytes) -> str:
    draft = read_draft(io.BytesIO(data), str)
    assert draft is not None
    return "\n".join([draft.facts.title, *(text for turn in draft.turns for text in turn.texts)])


def texts_of(machine: Machine) -> str:
    """Return all that a machine has in its files, those of the archive unpacked."""
    drafts = [read_draft(path, str) for _, path in list_archive_files(machine.home)]
    turns = [text for draft in drafts if draft for turn in draft.turns for text in turn.texts]
    return "\n".join([machine.bytes().decode("latin-1"), *turns])


def forget_session(machine: Machine, native: str = "s1") -> None:
    plan = plan_forget(machine.connection, machine.key, machine.home, [], [("codex", native)])
    forget(machine.writer(), machine.connection, plan)


def test_a_session_is_found_on_other_machines(make: Make) -> None:
    here, there = make(2)
    shelf = Shelf()
    archive(here, ZEBRA, "And its second one.")
    exchange(shelf, here, there)
    assert asked(there) == asked(here) == [ZEBRA, "And its second one."]
    assert listed(there) == ["s1"]
    assert SessionReader(there.connection).project_names()["codex/s1"][0] == KEY
    assert WorkQueue(there.connection).count(TO_CAPTURE) == 0  # learned where it happened


def test_its_project_is_found_by_identity_and_not_by_path(make: Make, tmp_path: Path) -> None:
    here, there = make(2)
    shelf = Shelf()
    archive(here, ZEBRA)
    exchange(shelf, here, there)
    other = tmp_path / "other"
    other.mkdir()
    archive(there, "Another project.", native="s2", cwd=str(other))
    names = SessionReader(there.connection).project_names()
    assert names["codex/s1"][0] == KEY
    assert names["codex/s2"][0] != KEY
    shutil.rmtree(Path(there.home) / "sync")  # a rebuild needs nothing but the archive
    for name in ("sessions.db", "sessions.db-wal", "sessions.db-shm"):
        (Path(there.home) / name).unlink(missing_ok=True)
    there.reopen()
    restore_sessions(there.connection, there.home, str)
    assert SessionReader(there.connection).project_names()["codex/s1"][0] == KEY
    assert asked(there) == [ZEBRA]


def test_without_the_option_none_leaves_and_what_left_is_taken_back(make: Make) -> None:
    here, there = make(2)
    shelf = Shelf()
    archive(here, ZEBRA)
    sync(here, shelf, wanted=False)
    assert "zebra" not in texts_at(shelf)
    sync(here, shelf)
    assert "zebra" in texts_at(shelf)
    sync(there, shelf, wanted=False)
    assert listed(there) == []
    sync(there, shelf)
    assert listed(there) == ["s1"]
    sync(here, shelf, wanted=False)
    assert "zebra" not in texts_at(shelf)
    sync(there, shelf)
    assert listed(there) == ["s1"]


def test_many_rounds_change_nothing(make: Make) -> None:
    here, there, third = make(3)
    shelf = Shelf()
    archive(here, ZEBRA)
    archive(there, "Another one.", native="s2")
    for _ in range(3):
        exchange(shelf, here, there, third)
    before = shelf.bytes()
    exchange(shelf, here, there, third)
    assert shelf.bytes() == before
    assert shelf.bytes().count(b"codex/") == 0  # the list is compressed
    for one in (here, there, third):
        assert listed(one) == ["s1", "s2"]
        assert sum(name.endswith(".session") for _, files in shelf.series.values() for name in files) == 2


def test_a_session_that_goes_on_is_brought_up_to_date(make: Make) -> None:
    here, there = make(2)
    shelf = Shelf()
    archive(here, ZEBRA)
    exchange(shelf, here, there)
    archive(here, ZEBRA, "And its second one.")
    exchange(shelf, here, there)
    assert asked(there) == [ZEBRA, "And its second one."]
    assert sum(name.endswith(".session") for _, files in shelf.series.values() for name in files) == 1


def test_an_old_copy_of_the_place_brings_nothing_back(make: Make) -> None:
    here, there = make(2)
    shelf, old = Shelf(), Shelf()
    archive(here, ZEBRA)
    archive(here, CANARY, native="s2")
    exchange(shelf, here, there)
    old.series = dict(shelf.series)
    archive(here, ZEBRA, "And its second one.")
    forget_session(here, "s2")
    exchange(shelf, here, there)
    sync(there, old)
    assert asked(there) == [ZEBRA, "And its second one."]
    assert "canary" not in texts_of(there)
    assert listed(there) == ["s1"]


def test_a_session_of_this_machine_is_not_replaced(make: Make) -> None:
    here, there = make(2)
    shelf = Shelf()
    archive(here, ZEBRA, "And its second one.")
    archive(there, "Our own.")
    exchange(shelf, here, there)
    assert asked(there) == ["Our own."]
    assert asked(here) == [ZEBRA, "And its second one."]


def test_forgetting_a_session_reaches_all_machines_and_the_place(make: Make) -> None:
    here, there, away = make(3)
    shelf = Shelf()
    path = archive(here, CANARY)
    archive(here, "Ask for the canary.", native="s1/helper", parent="s1")
    archive(here, ZEBRA, native="s2")
    exchange(shelf, here, there, away)
    old = Path(path).read_bytes()
    forget_session(there)
    sync(there, shelf)
    assert "canary password" not in texts_at(shelf)  # the machine that wrote it is switched off
    exchange(shelf, away, here, there)
    for one in (here, there, away):
        assert listed(one) == ["s2"]
        assert "canary" not in texts_of(one)
    assert "canary" not in texts_at(shelf)
    (receipt,) = read_receipts(there.home, [], ["codex/s1"])
    assert receipt.is_sent
    assert [one.is_confirmed for one in receipt.machines] == [True, True]
    Path(path).write_bytes(old)  # a backup brings the file back on one machine
    restore_sessions(here.connection, here.home, str)
    exchange(shelf, here, there, away)
    assert "canary" not in texts_at(shelf)
    assert [listed(one) for one in (here, there, away)] == [["s2"]] * 3


@pytest.mark.parametrize("is_known", [True, False])
def test_forgotten_words_are_cut_out_everywhere(make: Make, is_known: bool) -> None:
    here, there, away = make(3)
    shelf = Shelf()
    archive(here, ZEBRA, f"One thing. {CANARY} Go on.", f"Again: {CANARY}", "The end.")
    exchange(shelf, here, there, away)
    quote = {"agent": "codex", "session": "s1", "turn": 1, "quote": CANARY}
    name = there.remember(CANARY, evidence=[quote])
    if is_known:
        exchange(shelf, there, here, away)
    there.forget(name)
    sync(there, shelf)
    assert "canary" not in texts_at(shelf)  # the machine that wrote it is switched off
    exchange(shelf, away, here)
    exchange(shelf, here, there, away)
    assert "canary" not in texts_at(shelf)
    for one in (here, there, away):
        assert "canary" not in texts_of(one)
        assert asked(one)[::3] == [ZEBRA, "The end."]
    before = shelf.bytes()
    exchange(shelf, here, there, away)
    assert shelf.bytes() == before


def test_what_private_memories_say_never_leaves(make: Make) -> None:
    here, there = make(2)
    shelf = Shelf()
    archive(here, ZEBRA, f"One thing. {CANARY} Go on.")
    quote = {"agent": "codex", "session": "s1", "turn": 1, "quote": CANARY}
    here.remember(CANARY, scope="private", evidence=[quote])
    exchange(shelf, here, there)
    assert "canary" not in texts_at(shelf)
    assert "canary" not in texts_of(there)
    assert asked(there)[0] == ZEBRA
    assert "canary" in asked(here)[1]


def test_excluded_projects_never_leave(make: Make) -> None:
    here, there = make(2)
    shelf = Shelf()
    archive(here, ZEBRA)
    sync(here, shelf, is_excluded=KEY.__eq__)
    assert "zebra" not in texts_at(shelf)
    assert not [name for _, files in shelf.series.values() for name in files if name.endswith("session")]
    archive(here, "Something else.", native="s2", cwd="/code/other")
    sync(here, shelf, is_excluded=KEY.__eq__)
    sync(there, shelf)
    assert "zebra" not in texts_at(shelf)


def test_a_large_session_comes_in_parts(make: Make) -> None:
    here, there = make(2)
    shelf = Shelf()
    turns = [f"{number} {random.Random(number).randbytes(300_000).hex()}" for number in range(12)]
    archive(here, *turns)
    exchange(shelf, here, there)
    assert asked(there) == asked(here)
    sizes = [len(data) for _, files in shelf.series.values() for data in files.values()]
    assert sum(sizes) > 4_000_000
    assert max(sizes) < 4_000_000


def test_each_damaged_byte_is_found_and_named(make: Make) -> None:
    here, there = make(2)
    shelf = Shelf()
    archive(here, ZEBRA)
    exchange(shelf, here)
    rng = random.Random(4)
    series = get_machine_id(here.home)
    head, files = shelf.series[series]
    names = [one for one in files if not one.endswith(".jsonl")]
    for number in range(points(everyday=40, soak=1000)):
        name = names[number % len(names)]
        data = bytearray(files[name])
        at = rng.randrange(len(data))
        if number % 3:
            data[at] ^= 1 << rng.randrange(8)
        else:
            del data[at:]
        (problem,) = sync(there, Shelf({series: (head, {**files, name: bytes(data)})})).problems
        assert series in problem
        assert "cut off or was changed" in problem
        assert listed(there) == []
    missing = {name: data for name, data in files.items() if name not in names}
    (problem,) = sync(there, Shelf({series: (head, missing)})).problems
    assert "has not arrived yet" in problem
    assert sync(there, shelf).problems == []
    assert listed(there) == ["s1"]


def test_a_damaged_session_does_not_stop_the_others(make: Make) -> None:
    here, there = make(2)
    shelf = Shelf()
    archive(here, ZEBRA)
    archive(here, CANARY, native="s2")
    exchange(shelf, here)
    series = get_machine_id(here.home)
    head, files = shelf.series[series]
    name = next(one for one, data in files.items() if one.endswith(".session") and CANARY in text_of(data))
    (problem,) = sync(there, Shelf({series: (head, {**files, name: files[name][:-1]})})).problems
    assert "codex/s2" in problem
    assert listed(there) == ["s1"]
    assert sync(there, shelf).problems == []
    assert listed(there) == ["s1", "s2"]


def publish_list(machine: Machine, shelf: Shelf, sessions: dict[str, bytes]) -> None:
    """Publish sessions as no told writes them."""
    series, space = get_machine_id(machine.home), space_of(machine)
    files = SessionFiles(space, shelf)
    parts = {name: files.split(data) for name, data in sessions.items()}
    name, data = files.pack_list(SessionList({one: tuple(found) for one, found in parts.items()}))
    raw, known = shelf.series[series]
    head = sign_head(
        replace(decode_head(raw, space.secret), sessions=name), series, load_machine_key(machine.home)
    )
    added = {part: piece for found in parts.values() for part, piece in found.items()}
    shelf.series[series] = encode_head(head, space.secret), {**known, **added, name: data}


@pytest.mark.parametrize(
    "name", ["../../evil/s9", "/etc/s9", "co dex/s9", "codex/../s9", "codex", "/s9", "Ä/s9"]
)
def test_no_file_outside_the_archive(make: Make, tmp_path: Path, name: str) -> None:
    here, there = make(2)
    shelf = Shelf()
    path = archive(here, ZEBRA, native="s9")
    exchange(shelf, here)
    data = Path(path).read_bytes()
    publish_list(here, shelf, {name: data})
    before = {path for path in tmp_path.rglob("*") if "m1" not in path.parts}
    (problem,) = sync(there, shelf).problems
    assert "not a session that told wrote" in problem
    assert listed(there) == []
    assert {path for path in tmp_path.rglob("*") if "m1" not in path.parts} == before


@pytest.mark.parametrize(
    "parts", [{"codex/s1": []}, {"codex/s1": ["../head"]}, {"codex/s1": "head"}, {"codex/s1": 7}, [], 7]
)
def test_a_list_that_told_did_not_write_changes_nothing(make: Make, parts: object) -> None:
    here, _ = make(2)
    data = zlib.compress(dump_json(parts).encode())
    name = blake2b(data, digest_size=16).hexdigest() + ".list"
    files = SessionFiles(here.space(plain=True), Shelf({"a" * 8: (b"", {name: data})}))
    with pytest.raises(BadHeadError, match="list of sessions is damaged"):
        files.read_list(Head("", "a" * 8, 0, "", (), "", "", "", sessions=name))
