"""Kills lose nothing acknowledged and leave no torn lines."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import told
from tests.journal.writing import dump_tables
from tests.soak import points
from told.journal.apply import open_memories, rebuild
from told.journal.files import Operation
from told.journal.read import read_operations
from told.store.memories.schema import find_damage

KILLS = points(everyday=5, soak=1000)

# Each line it prints is an acknowledgement.
WRITER = """
import sys
sys.path.insert(0, sys.argv[1])
from told.journal import append as appending
from told.journal.append import append
from told.journal.apply import catch_up, open_memories
from told.journal.erase import erase
from told.journal.files import Draft
appending.SEGMENT_BYTES = 20_000
home, start = sys.argv[2], int(sys.argv[3])
memories = open_memories(home)
before = ""
for number in range(start, start + 100_000):
    drafts = [Draft("remember", "user", {"text": f"rule{number} says this", "entities": [f"e{number % 9}"]})]
    if before:
        drafts.append(Draft("show", "tool", {"memories": [before], "session": "s"}))
    before = append(home, drafts, now=1_750_000_000_000 + number)[0].memory
    print(number, before, flush=True)
    if number % 3 == 0:
        catch_up(home, memories)
    if number % 50 == 0:
        append(home, [Draft("forget", "user", {}, before)], now=1_750_000_000_000 + number)
        erase(home, [before])
        print("gone", before, flush=True)
"""


def test_random_kills_lose_nothing_acknowledged(tmp_path: Path) -> None:
    source = str(Path(told.__file__).parents[1])
    rng = random.Random(11)
    acknowledged: dict[str, str] = {}
    gone: set[str] = set()
    start = 0
    for kill in range(KILLS):
        child = subprocess.Popen(
            [sys.executable, "-I", "-c", WRITER, source, str(tmp_path), str(start)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert child.stdout is not None
        first = child.stdout.readline()
        time.sleep(rng.random() * 0.08)
        child.send_signal(signal.SIGKILL)
        rest = child.stdout.read()
        child.wait()
        child.stdout.close()
        for line in (first + rest).splitlines():
            number, _, memory = line.partition(" ")
            if number == "gone":
                gone.add(memory)
            elif memory:
                acknowledged[memory] = f"rule{number} says this"
                start = int(number) + 1
        if kill % 20 == 19 or kill == KILLS - 1:
            check(tmp_path, acknowledged, gone)
    assert acknowledged


def check(home: Path, acknowledged: dict[str, str], gone: set[str]) -> None:
    found = list(read_operations(str(home / "journal")))
    assert {one.what.split(" at ")[0] for one in found if not isinstance(one, Operation)} <= {"cut off"}
    memories = open_memories(str(home))
    stored = memories.get(memories.ids())
    for memory, text in acknowledged.items():
        # A memory may have been forgotten just before the kill.
        assert stored[memory].text == text or stored[memory].status == "forgotten", memory
        assert memory not in gone or stored[memory].text == ""
    assert find_damage(memories.connection) == []
    expected = dump_tables(memories.connection)
    memories.close()
    memories = rebuild(str(home))
    assert dump_tables(memories.connection) == expected
    memories.close()
