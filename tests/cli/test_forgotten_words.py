"""Forgotten words are in no byte of told's folder, however and in whatever store they were forgotten."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from tests.cli.machine import ago
from tests.cli.test_forget import left
from tests.cli.test_memory_remember import remember
from tests.soak import sampled

# The measuring room is not installed; it stands beside the tests.
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from benchmarks import forget

if TYPE_CHECKING:
    from tests.cli.machine import Machine

# Words that are forgotten one by one begin to pile up in an index after some thirty times.
EVERYDAY = [("one by one", 5, 132), ("in one go", 50, 12), ("by session", 5, 4), ("by source", 5, 4)]
SOAK = [(way, size, forget.WORDS) for size in forget.SIZES for way in forget.WAYS]


@pytest.mark.parametrize("case", sampled([*EVERYDAY, *SOAK], EVERYDAY), ids=str)
def test_no_word_is_left(case: tuple[str, int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COVERAGE_PROCESS_START", "")
    found: dict[str, Any] = forget.check(*case)
    assert (found["left"], found["files"]) == (0, {})


def test_check_finds_words(tmp_path: Any) -> None:
    """The check itself sees a word in plain text, compressed, in a database and in a name."""
    store = forget.Store(str(tmp_path))
    secrets = forget.make_secrets(4, 1)
    assert all(any(one in text.lower() for text in secrets.statements) for one in secrets.needles)
    store.remember(secrets.statements[0])
    store.say([f"{secrets.statements[0]} And so on."])
    found = forget.find_words(store.home, secrets.needles)
    kinds = {os.path.splitext(name)[1] for name in found}
    assert {".db", ".jsonl", ".gz"} <= kinds
    (tmp_path / ".told" / f"{secrets.needles[0]}.md").touch()
    assert f"{secrets.needles[0]}.md" in forget.find_words(store.home, secrets.needles)


def plant(machine: Machine) -> None:
    """Leave two words in each index as earlier versions could."""
    for name, index, column in (
        ("memory.db", "memory_words", "text"),
        ("sessions.db", "turn_words", "asked"),
    ):
        database = apsw.Connection(str(machine.told_home / name))
        if name == "memory.db":
            database.execute(f"INSERT INTO {index}({index}, rank) VALUES('secure-delete', 0)")
        database.execute(f"INSERT INTO {index}(rowid, {column}) VALUES(7, 'mountaingoat zebu')")
        delete = f"INSERT INTO {index}({index}, rowid, {column}) VALUES('delete', 7, 'mountaingoat zebu')"
        database.execute(delete)
        if name == "memory.db":
            database.execute(f"INSERT INTO {index}({index}, rank) VALUES('secure-delete', 1)")
        database.close()


def test_deep_health_finds_words_that_an_index_still_has(machine: Machine) -> None:
    """What it advises removes them; so does the next forgetting."""
    machine.claude(("Where does the cache live?", "In Redis."), at=ago(days=2))
    machine.told("index")
    first, second = (
        remember(machine, f"Our {name} is called Blue Zebrafish")["id"] for name in ("yak", "gnu")
    )
    plant(machine)
    assert "replaced text" not in machine.told("health", "--deep").out  # nothing was forgotten
    assert machine.told("forget", first, "--force").code == 0
    assert left(machine, "mountaingoat") == []
    plant(machine)
    shown = machine.told("health", "--deep").out
    for file in ("memory.db", "sessions.db"):
        assert f"The index of {file} still has 2 words of deleted or replaced text: `told rebuild`" in shown
    found = machine.told("health", "--deep", "--json").json["deep"]["leftover_words"]
    assert found == {"memory.db": 2, "sessions.db": 2}
    assert left(machine, "mountaingoat") != []
    assert machine.told("rebuild").code == 0
    assert left(machine, "mountaingoat") == []
    assert machine.told("health", "--deep", "--json").json["deep"]["leftover_words"] == {}
    assert machine.told("forget", second, "--force").code == 0


def test_undone_corrections_and_undone_copies_go_too(machine: Machine) -> None:
    """Only the journal knows them, so nobody could name them."""
    first = remember(machine, "The main ledger is in vorbixane")["id"]
    assert machine.told("undo").code == 0
    again = remember(machine, "The main ledger is in vorbixane")["id"]
    assert machine.told("correct", again, "The main ledger is in wendrikota").code == 0
    assert machine.told("undo").code == 0
    kept = remember(machine, "Never use tabs")["id"]
    assert machine.told("undo").code == 0
    answer = machine.told("forget", again, "--force", "--json").json
    assert {first, again} < {one["id"] for one in answer["memories"]}
    assert left(machine, "vorbixane", "wendrikota") == []
    assert left(machine, "never use tabs") == ["000001.jsonl"]
    assert machine.told("forget", kept, "--force").code == 0
    assert left(machine, "never use tabs") == []
    assert machine.told("health", "--deep").code == 0
