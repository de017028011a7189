"""The cap on all that told writes, as a user meets it: in health, in searches, in forgetting, in pruning."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from tests.cli.machine import NOW, ago, remember, stamp
from tests.cli.test_memory_remember import desk
from tests.soak import points
from told.ingest.archive import archive_path
from told.journal.apply import open_memories
from told.journal.file_journal import FileJournal
from told.journal.files import Operation, journal_folder
from told.journal.read import read_operations
from told.memories.caller import Caller
from told.memories.journal_writer import JournalWriter
from told.retention.disk import MB
from told.retention.retention import UnusedMemory, archive
from told.store.memories.records import CAPTURE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.machine import Machine
    from tests.cli.template import Build

__all__ = ["desk"]
FREE, TIGHT = "[retention]\ncap_mb = 0\n", "[retention]\ncap_mb = 2\n"
SESSIONS = 28
WISH = "Never deploy the flamingo service on a Friday"


def prose(chance: random.Random, count: int) -> str:
    return " ".join(f"{chance.choice('bcdfgklmnprst')}{chance.randrange(16**5):x}" for _ in range(count))


def talks(machine: Machine, agent: str = "claude") -> list[str]:
    """Write sessions of which the store takes more than the cap; the first is the oldest."""
    chance = random.Random(4)
    made = []
    for number in range(SESSIONS):
        turns = [
            (f"Question {n} of talk{number}: {prose(chance, 200)}", prose(chance, 700)) for n in range(3)
        ]
        if number == 1:
            turns.insert(0, (f"{WISH}, please.", "I will not."))
        made.append(getattr(machine, agent)(*turns, at=ago(days=90 - number)))
    return made


def size(machine: Machine) -> int:
    return sum(path.stat().st_size for path in machine.told_home.rglob("*") if path.is_file())


def files_with(machine: Machine, text: str) -> list[Path]:
    import gzip

    found = []
    for path in machine.told_home.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            content = gzip.decompress(content) if path.suffix == ".gz" else content
            if text.encode() in content:
                found.append(path)
    return found


def not_searched(machine: Machine) -> int:
    return int(machine.told("health", "--json").json["disk"]["not_searched"])


def build_tight(machine: Machine) -> None:
    talks(machine)
    machine.config(FREE)
    assert machine.told("index").code == 0
    machine.config(TIGHT)
    assert machine.told("index").code == 0
    assert size(machine) <= 2 * MB
    assert not_searched(machine) > 5


@pytest.fixture
def tight(machine: Machine, prepared: Callable[[Build], Machine]) -> list[str]:
    """A machine at its cap, whose older sessions lost their texts; the oldest is the first."""
    prepared(build_tight)
    listed = machine.told("list", "--all-projects", "-n", "100", "--json").json["sessions"]
    return [row["native_id"] for row in reversed(listed)]


def test_health_says_how_much_disk_there_is_and_what_is_left_out(machine: Machine, tight: list[str]) -> None:
    found = machine.told("health", "--json").json["disk"]
    assert found["cap"] == 2 * MB
    assert found["over"] == 0
    assert abs(found["bytes"] - size(machine)) < 100_000
    assert sum(found["parts"].values()) == found["bytes"]
    many = found["not_searched"]
    line = next(line for line in machine.told("health").out.splitlines() if line.startswith("Disk:"))
    assert " of 2 MB (sessions " in line
    assert line.endswith(f"{many} older sessions not searched.")
    machine.config(FREE)
    assert machine.told("health", "--json").json["disk"]["cap"] is None


def test_forgetting_leaves_no_byte_in_sessions_that_are_not_searched(
    machine: Machine, tight: list[str]
) -> None:
    assert files_with(machine, "flamingo")  # in the archive alone
    memory = remember(machine, WISH, "--scope", "global")
    machine.told("forget", memory, "--force")
    assert files_with(machine, "flamingo") == []
    assert "[forgotten]" in machine.told("show", tight[1], "--full").out
    assert "talk1:" in machine.told("show", tight[1], "--full").out
    machine.told("index")
    assert files_with(machine, "flamingo") == []
    machine.config(FREE)
    machine.told("rebuild")
    assert files_with(machine, "flamingo") == []
    assert len(machine.told("show", tight[1], "--full", "--json").json["turns_shown"]) == 4


@pytest.mark.soak
def test_a_session_in_a_database_that_changes_does_not_bring_the_others_back(machine: Machine) -> None:
    made = talks(machine, "copilot")
    machine.config(FREE)
    machine.told("index")
    before = {one: machine.told("show", one, "--full").out for one in made[:5]}
    machine.config(TIGHT)
    machine.told("index")
    many = not_searched(machine)
    assert many > 5
    store = machine.copilot_store()
    store.execute(
        "INSERT INTO turns(session_id, turn_index, user_message, assistant_response, timestamp)"
        " VALUES(?, 3, 'And the heron?', 'It flew.', ?)",
        (made[0], stamp(NOW - timedelta(hours=1))),
    )
    store.execute("UPDATE sessions SET updated_at = ? WHERE id = ?", (stamp(NOW), made[0]))
    store.close()
    machine.config(FREE)
    machine.told("index")
    assert not_searched(machine) == many - 1
    assert machine.told("search", "heron", "talk0", "--all-projects", "--json").json["results"]
    after = {one: machine.told("show", one, "--full").out for one in made[:5]}
    assert {one: after[one] for one in made[1:5]} == {one: before[one] for one in made[1:5]}
    assert len(machine.told("show", made[0], "--full", "--json").json["turns_shown"]) == 4


def only_copies(machine: Machine) -> list[str]:
    """Make a machine whose agents deleted everything, and where that does not fit below the cap."""
    made = talks(machine)
    machine.config(FREE)
    machine.told("index")
    for one in made:
        next(machine.home.rglob(f"{one}.jsonl")).unlink()
    machine.told("index")
    notes = machine.told_home / "checkpoints"
    notes.mkdir()
    (notes / "long.md").write_bytes(b"#" * int(1.05 * MB))
    machine.config(TIGHT)
    machine.told("index")
    return made


def journal_of(machine: Machine) -> bytes:
    paths = sorted((machine.told_home / "journal").rglob("*.jsonl"))
    return b"".join(path.read_bytes() for path in paths)


def test_what_nobody_else_has_goes_at_the_users_word_alone(desk: Machine) -> None:
    remember(desk, "The gateway listens on 8443")
    made = only_copies(desk)
    written = journal_of(desk)
    archived = {one: desk.told_home / archive_path(str(desk.told_home), "claude-code", one) for one in made}
    for words in (("retention", "prune"), ("retention",), ("sweep",), ("index",), ("health",)):
        desk.told(*words)
    assert all(path.exists() for path in archived.values())
    assert journal_of(desk).startswith(written)
    written = journal_of(desk)
    status = desk.told("retention")
    assert "MB over its cap of 2 MB." in status.out
    dry = desk.told("retention", "prune", "--json").json["over_cap"]
    assert dry["deleted"] is False
    assert 0 < len(dry["sessions"]) < SESSIONS
    assert "Would delete" in desk.told("retention", "prune").out

    agent = desk.environ
    desk.environ = agent | {"CLAUDECODE": "1"}
    assert desk.told("retention", "prune", "--force").code != 0
    desk.environ = agent
    assert all(path.exists() for path in archived.values())

    done = desk.told("retention", "prune", "--force", "--json").json["over_cap"]
    assert done["deleted"] is True
    assert (done["sessions"], done["memories"]) == (dry["sessions"], dry["memories"])
    assert size(desk) <= 2 * MB
    gone = len(dry["sessions"])
    assert [one for one in made if not archived[one].exists()] == made[:gone]
    assert desk.told("show", made[0]).code == 1
    assert desk.told("show", made[-1]).code == 0
    assert journal_of(desk) == written
    assert desk.told("health", "--json").json["disk"]["over"] == 0
    assert desk.told("health", "--deep").code == 0
    desk.config(FREE)
    desk.told("rebuild")
    assert len(desk.ids("-n", "100")) == SESSIONS - gone


def test_archived_memories_go_last_and_leave_only_that_they_were(desk: Machine) -> None:
    kept = remember(desk, "The gateway listens on 8443")
    old = remember(desk, "The flamingo once stood on one leg")
    memories = open_memories(str(desk.told_home))
    writer = JournalWriter(
        FileJournal(str(desk.told_home)), memories, int(NOW.timestamp() * 1000), Caller(CAPTURE)
    )
    archive(writer, [UnusedMemory(one, 100, "fact") for one in memories.get([old]).values()])  # type: ignore[arg-type]
    memories.close()
    (desk.told_home / "checkpoints").mkdir()
    (desk.told_home / "checkpoints" / "long.md").write_bytes(b"#" * 3 * MB)
    desk.config(TIGHT)
    written = journal_of(desk)
    dry = desk.told("retention", "prune", "--json").json["over_cap"]
    assert (dry["sessions"], dry["memories"], dry["fits"]) == ([], [old], False)
    assert "Raise the cap" in desk.told("retention", "prune").out
    assert journal_of(desk) == written
    desk.told("retention", "prune", "--force")
    assert b"flamingo" not in journal_of(desk)
    assert files_with(desk, "flamingo") == []
    assert kept in desk.told("memories", "--json").out
    assert desk.told("health", "--deep").code == 0
    operations = [
        one for one in read_operations(journal_folder(str(desk.told_home))) if isinstance(one, Operation)
    ]
    assert [one.kind for one in operations if one.memory == old][-1] == "forget"


def test_the_files_of_a_long_life_do_not_grow_without_end(machine: Machine) -> None:
    """Whatever is written at every call is bounded by itself, without any cap."""
    machine.config(FREE)
    machine.claude(("Which port does the gateway use?", "8443."), at=ago(days=3))
    for _ in range(points(everyday=4, soak=15)):
        machine.told("index")
    first = {path.name: path.stat().st_size for path in machine.told_home.iterdir() if path.is_file()}
    for _ in range(points(everyday=60, soak=300)):
        machine.told("list")
    for _ in range(3):
        (machine.told_home / "sessions.db").write_bytes(b"damaged")
        machine.told("index")
    last = {path.name: path.stat().st_size for path in machine.told_home.iterdir() if path.is_file()}
    assert {name for name in last if name not in first} <= {
        "sessions.db.damaged", "sessions.db.damaged-wal", "sessions.db.damaged-shm",
    }  # fmt: skip
    assert last["calls"] <= 16_500
    assert all(last[name] < 64_000 for name in last if ".db" not in name)
