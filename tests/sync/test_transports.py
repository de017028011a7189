"""What every transport does: a folder, a git ref, ssh, a team server."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from tests.server.site import make_site
from tests.sync.places import PYTHON, Connection, Folder, Git, Ssh, Team
from told.errors import BusyError, ToldError

Place = Folder | Git | Ssh | Team
PLACES: list[type[Place]] = [Folder, Git, Ssh, Team]
A, B = "aaaaaaaa", "zzzzzzz9"
ONE, TWO, THREE = "000001.jsonl", "000002.jsonl", "000003.jsonl"


@pytest.fixture(params=PLACES, ids=lambda kind: kind.__name__.lower())
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    if request.param is not Team:
        yield request.param(tmp_path)
        return
    team = Team(make_site(request.getfixturevalue("postgres"), str(tmp_path)))
    yield team
    team.disconnect()


@pytest.fixture
def connect(place: Place) -> Iterator[Callable[[str], Connection]]:
    made: list[Connection] = []

    def connect(machine: str) -> Connection:
        made.append(place.connect(machine))
        return made[-1]

    yield connect
    for connection in made:
        connection.close()


@pytest.fixture
def mine(connect: Callable[[str], Connection]) -> Connection:
    return connect("mine")


@pytest.fixture
def theirs(connect: Callable[[str], Connection]) -> Connection:
    return connect("theirs")


def test_an_unused_place_is_empty(mine: Connection) -> None:
    assert mine.heads() == {}
    assert mine.read(A, [ONE]) == {}


def test_other_machines_read_what_one_wrote(mine: Connection, theirs: Connection) -> None:
    every_byte = bytes(range(256)) * 4
    assert mine.write(A, {ONE: every_byte, TWO: b""}, b"head\n\0 1", before=None)
    assert theirs.heads() == {A: b"head\n\0 1"}
    assert theirs.read(A, [TWO, ONE]) == {ONE: every_byte, TWO: b""}
    assert mine.heads() == theirs.heads()


def test_a_write_keeps_the_files_it_does_not_name(mine: Connection, theirs: Connection) -> None:
    mine.write(A, {ONE: b"one", TWO: b"two"}, b"1", before=None)
    assert mine.write(A, {TWO: b"two again", THREE: b"three"}, b"2", before=b"1")
    assert theirs.heads() == {A: b"2"}
    assert theirs.read(A, [ONE, TWO, THREE]) == {ONE: b"one", TWO: b"two again", THREE: b"three"}


def test_only_a_head_changes(mine: Connection, theirs: Connection) -> None:
    mine.write(A, {ONE: b"one"}, b"1", before=None)
    assert mine.write(A, {}, b"2", before=b"1")
    assert theirs.heads() == {A: b"2"}
    assert theirs.read(A, [ONE]) == {ONE: b"one"}


def test_deleted_files_are_gone(mine: Connection, theirs: Connection) -> None:
    mine.write(A, {ONE: b"one", TWO: b"two"}, b"1", before=None)
    assert mine.write(A, {ONE: None, THREE: None}, b"2", before=b"1")
    assert theirs.heads() == {A: b"2"}
    assert theirs.read(A, [ONE, TWO, THREE]) == {TWO: b"two"}


def test_missing_and_foreign_names_are_left_out(mine: Connection) -> None:
    mine.write(A, {ONE: b"one"}, b"1", before=None)
    names = [THREE, "head", "../aaaaaaaa/000001.jsonl", "/etc/passwd", "", ".", "000001.jsonl\n", ONE]
    assert mine.read(A, names) == {ONE: b"one"}
    for series in ("../aaaaaaaa", "", ".", "AAAAAAAA", "aaaaaaaa/", "bbbbbbbb"):
        assert mine.read(series, [ONE]) == {}


def test_foreign_names_are_not_written(mine: Connection) -> None:
    for name in ("../x.jsonl", "head", "1.jsonl", "000001.JSONL", "-00001.jsonl", "000001.jsonl\n"):
        with pytest.raises(ValueError, match="not the name of a file"):
            mine.write(A, {name: b"x"}, b"1", before=None)
    with pytest.raises(ValueError, match="not the name of a series"):
        mine.write("../aaaaa", {ONE: b"x"}, b"1", before=None)
    assert mine.heads() == {}


def test_a_lost_race_changes_nothing(mine: Connection, theirs: Connection) -> None:
    mine.write(A, {ONE: b"one"}, b"1", before=None)
    assert theirs.heads() == {A: b"1"}
    assert mine.write(A, {ONE: b"one, newer"}, b"2", before=b"1")
    assert not theirs.write(A, {ONE: b"late", TWO: b"late"}, b"3", before=b"1")
    assert not theirs.write(A, {ONE: b"late"}, b"3", before=None)
    assert not theirs.write(B, {ONE: b"late"}, b"3", before=b"never there")
    assert theirs.heads() == mine.heads() == {A: b"2"}
    assert theirs.read(A, [ONE, TWO]) == {ONE: b"one, newer"}
    assert theirs.write(A, {TWO: b"two"}, b"3", before=b"2")
    assert mine.heads() == {A: b"3"}


def test_one_of_many_racing_writers_wins(mine: Connection, connect: Callable[[str], Connection]) -> None:
    mine.write(A, {ONE: b"start"}, b"start", before=None)
    machines = [connect(f"machine{number}") for number in range(4)]
    won = run_together(
        [
            lambda number=number, machine=machine: machine.write(  # type: ignore[misc]
                A, {ONE: b"%d" % number}, b"head %d" % number, before=b"start"
            )
            for number, machine in enumerate(machines)
        ]
    )
    assert won.count(True) == 1
    number = won.index(True)
    assert mine.heads() == {A: b"head %d" % number}
    assert mine.read(A, [ONE]) == {ONE: b"%d" % number}


def test_writers_of_different_series_do_not_disturb_each_other(
    mine: Connection, connect: Callable[[str], Connection]
) -> None:
    names = [f"machine{number}" for number in range(4)]
    machines = [connect(name) for name in names]

    def write_often(machine: Connection, series: str) -> bool:
        before = None
        for turn in range(5):
            head = b"%d" % turn
            if not machine.write(series, {f"{turn:06}.jsonl": series.encode() + head}, head, before=before):
                return False
            before = head
        return True

    assert run_together([
        lambda machine=machine, name=name: write_often(machine, name[:7] + name[-1])  # type: ignore[misc]
        for machine, name in zip(machines, names, strict=True)
    ]) == [True] * 4  # fmt: skip
    series = [name[:7] + name[-1] for name in names]
    assert mine.heads() == dict.fromkeys(series, b"4")
    for name in series:
        files = {f"{turn:06}.jsonl": b"%s%d" % (name.encode(), turn) for turn in range(5)}
        assert mine.read(name, list(files)) == files


def test_a_thousand_files(mine: Connection, theirs: Connection) -> None:
    files = {f"{number:06}.jsonl": b"%d " % number * 50 for number in range(1000)}
    assert mine.write(A, files, b"h" * 100_000, before=None)
    assert mine.write(A, {"000500.jsonl": b"new", "000501.jsonl": None}, b"2", before=b"h" * 100_000)
    assert theirs.heads() == {A: b"2"}
    files["000500.jsonl"] = b"new"
    del files["000501.jsonl"]
    assert theirs.read(A, [f"{number:06}.jsonl" for number in range(1001)]) == files


def test_large_files_arrive_whole(mine: Connection, theirs: Connection) -> None:
    files: dict[str, bytes | None] = {
        f"{number:06}.jsonl": random.Random(number).randbytes(256 * 1024) for number in range(8)
    }
    assert mine.write(A, files, b"1", before=None)
    assert theirs.heads() == {A: b"1"}
    assert theirs.read(A, list(files)) == files


def test_junk_in_the_place_is_ignored(mine: Connection, place: Place) -> None:
    mine.write(A, {ONE: b"one"}, b"1", before=None)
    place.add_junk()
    assert mine.heads() == {A: b"1"}
    assert mine.read(A, [f"{number:06}.jsonl" for number in range(10)]) == {ONE: b"one"}
    assert mine.read("bbbbbbbb", [ONE]) == {}
    assert mine.write(A, {TWO: b"two"}, b"2", before=b"1")
    assert mine.heads() == {A: b"2"}


def test_a_place_that_is_away_is_named(mine: Connection, place: Place) -> None:
    mine.write(A, {ONE: b"one"}, b"1", before=None)
    place.disconnect()
    for call in (mine.heads, lambda: mine.write(A, {TWO: b"two"}, b"2", before=b"1")):
        with pytest.raises(ToldError) as told:
            call()
        assert isinstance(told.value, (BusyError, place.away))
        assert "\n" not in str(told.value)
    assert isinstance(told.value, place.away)


def test_a_killed_writer_leaves_the_old_or_the_new(place: Place, mine: Connection) -> None:
    """A head never describes files that are not there, and the next writer goes on."""
    script = place.script("killed") + KILLED
    choose = random.Random(18)
    heads = set()
    for _ in range(place.kills):
        with subprocess.Popen([PYTHON, "-c", script], stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            for _ in range(choose.randint(1, 4)):  # when it started, and after each write
                child.stdout.readline()
            time.sleep(choose.uniform(0, place.kill_within))
            child.send_signal(signal.SIGKILL)
        found = mine.heads()
        if head := found.get(A):
            described = json.loads(head)
            files = mine.read(A, list(described))
            assert {name: sha256(data).hexdigest() for name, data in files.items()} == described
            heads.add(head)
    # What a killed client sent whole may still be written on the other side.
    deadline = time.monotonic() + 60
    while not mine.write(A, {"999999.jsonl": b"last"}, b"{}", before=mine.heads().get(A)):
        assert time.monotonic() < deadline
    assert mine.heads() == {A: b"{}"}
    assert len(heads) > 1


KILLED = """
import hashlib, json, os
before = place.heads().get("aaaaaaaa")
described = json.loads(before or b"{}")
print("ready", flush=True)
for turn in range(1000):
    new = {f"{len(described) + n:06}.jsonl": os.urandom(3000) for n in range(4)}
    described |= {name: hashlib.sha256(data).hexdigest() for name, data in new.items()}
    head = json.dumps(described).encode()
    assert place.write("aaaaaaaa", new, head, before=before)
    before = head
    print("written", flush=True)
"""


def run_together(calls: list[Callable[[], bool]]) -> list[bool]:
    """Run calls in threads that start at once; return their results."""
    results: list[bool | Exception] = [False] * len(calls)
    barrier = threading.Barrier(len(calls))

    def run(number: int) -> None:
        barrier.wait()
        try:
            results[number] = calls[number]()
        except BusyError as error:
            results[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not [found for found in results if isinstance(found, Exception)], results
    return [bool(found) for found in results]
