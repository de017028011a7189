"""Random homes: what an export brings into an empty home is what was there."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.soak import points
from told.app.stores import open_store
from told.journal.append import append
from told.journal.apply import find_memory_damage, open_memories
from told.journal.file_journal import FileJournal
from told.journal.files import SET, Draft, journal_folder
from told.journal.read import verify
from told.memories.exports import Source, collect
from told.memories.forget import add_forget, erase_memories
from told.memories.journal_writer import JournalWriter
from told.memories.restore import apply_restore, plan_restore
from told.memories.undo import undo
from told.store.database import load_key
from told.store.memories.records import Memory
from told.sync.formats.native import format_export, parse_export

_NOW = 1_790_000_000_000
_MACHINES = ("aaaaaaaa", "mmmmmmmm", "77777777")
_TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=40).map(
    "word {}".format
)
_CHANGES = st.sampled_from((
    "lock", "unlock", "confirm", "reject", "supersede", "quarantine", "release", "show", "follow", "repeat",
    "edge", "revise", "expire", "share", "refuse", "undo", "forget", "set", "remember", "correct", "restore",
))  # fmt: skip
_STEPS = st.lists(
    st.tuples(
        st.integers(0, len(_MACHINES) - 1), _CHANGES, st.integers(0, 9), st.integers(0, 9), _TEXTS,
        st.sampled_from(("user", "capture", "agent")), st.integers(-5_000, 90_000_000),
    ),
    min_size=1, max_size=30,
)  # fmt: skip


class _Home:
    """A home that several machines have written to."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.key = load_key(folder)
        self.connection = open_store(os.path.join(folder, "sessions.db"))
        self._made: list[str] = []
        self.now = _NOW

    def do(self, step: tuple[int, str, int, int, str, str, int]) -> None:
        machine, kind, first, second, text, by, later = step
        self.now += later
        with open(os.path.join(self.folder, "machine"), "w", encoding="utf-8") as file:
            file.write(_MACHINES[machine])
        if kind in ("remember", "correct") or not self._made:
            status = ("", "candidate")[first % 2]
            payload = {"text": text, "kind": "fact", "scope": "global", "trust": by, "status": status}
            self._made.append(append(self.folder, [Draft("remember", by, payload)], now=self.now)[0].memory)
            return
        memory, other = (self._made[at % len(self._made)] for at in (first, second))
        if kind in ("undo", "forget"):
            self._write(kind, memory)
        elif kind == "set":
            notes = {"scope": {f"s{first}": "1"}, "subscription": {f"s{first}\nproject:p": "1"}}
            append(self.folder, [Draft(SET, by, {SET: notes})], now=self.now)
        else:
            names: dict[str, Any] = {
                "by": other,
                "target": other,
                "session": f"s{second}",
                "memories": [memory, other],
            }
            content: dict[str, Any] = {"text": text, "expires": self.now + 5, "scope": "shared:s1"}
            payload = {**names, **content, "kind": "supports" if kind == "edge" else "rule"}
            listed = kind == "show" and second % 2
            append(self.folder, [Draft(kind, by, payload, "" if listed else memory)], now=self.now)

    def _write(self, kind: str, memory: str) -> None:
        memories = open_memories(self.folder)
        writer = JournalWriter(FileJournal(self.folder), memories, self.now)
        found = memories.get([memory]).get(memory)
        if kind == "undo":
            undo(writer)
        elif found is not None:
            add_forget(writer, found)
            erase_memories(writer, [found])
        writer.memories.close()

    def export(self) -> dict[str, Any]:
        memories = open_memories(self.folder)
        source = Source(self.folder, memories, self.connection, self.key, str, self.now)
        found = collect(source, version="1", made="now", private=True, sessions=False)
        memories.close()
        value: dict[str, Any] = json.loads("".join(format_export(*found)))
        return value

    def load(self, value: dict[str, Any]) -> bool:
        """Import an export; return whether there was anything to import."""
        memories = open_memories(self.folder)
        document = parse_export(value)
        plan = plan_restore(self.folder, memories, document, str, self.key)
        if not plan.is_empty:
            apply_restore(
                JournalWriter(FileJournal(self.folder), memories, self.now), document, plan, conflicting=False
            )
        memories.close()
        return not plan.is_empty

    def undo(self) -> None:
        memories = open_memories(self.folder)
        undo(JournalWriter(FileJournal(self.folder), memories, self.now + 1))
        memories.close()

    def state(self) -> tuple[list[Memory], dict[str, Any]]:
        """Return all memories in the order of lists, with everything but their place in the journal."""
        memories = open_memories(self.folder)
        every = memories.load_ids(memories.ids())
        found = [one._replace(machine="", number=0, last=(one.last[0], "", 0)) for one in every.values()]
        notes = {topic: memories.noted(topic) for topic in ("scope", "subscription")}
        shown = {one.id: memories.sessions_showing(one.id) for one in found}
        memories.close()
        return found, {"notes": notes, "shown": shown}

    def close(self) -> None:
        self.connection.close()


@settings(
    max_examples=points(everyday=20, soak=1000), deadline=None, derandomize=True, database=None,
    suppress_health_check=list(HealthCheck), phases=[Phase.generate],  # shrinking takes minutes
)  # fmt: skip
@given(_STEPS)
def test_a_random_home_comes_back_as_it_was(steps: list[tuple[int, str, int, int, str, str, int]]) -> None:
    folder = tempfile.mkdtemp()
    try:
        old, new = _Home(os.path.join(folder, "old")), _Home(os.path.join(folder, "new"))
        for step in steps:
            old.do(step)
        value = old.export()
        assert new.load(value)
        assert new.state() == old.state()
        assert verify(journal_folder(new.folder)) == []
        assert find_memory_damage(new.folder) == []
        assert not new.load(value)
        assert not old.load(value)
        lists = ("memories", "operations")
        assert {name: new.export()[name] for name in lists} == {name: value[name] for name in lists}
        new.undo()
        assert [one for one in new.state()[0] if one.status != "forgotten"] == []
        assert new.state()[1]["notes"] == {"scope": {}, "subscription": {}}
        new.load(value)
        assert _without_last(new.state()) == _without_last(old.state())
        old.close()
        new.close()
    finally:
        shutil.rmtree(folder)


def _without_last(state: tuple[list[Memory], dict[str, Any]]) -> tuple[list[Memory], dict[str, Any]]:
    return [one._replace(last=(0, "", 0)) for one in state[0]], state[1]["shown"]
