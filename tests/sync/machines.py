"""Several machines of one user or of a team, and a place between them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from told.app.stores import open_store
from told.hashing import blake2b
from told.journal.append import new_memory_id
from told.journal.apply import open_memories, rebuild
from told.journal.file_journal import FileJournal
from told.memories.forget import forget, plan_forget
from told.memories.journal_writer import JournalWriter
from told.memories.sync import SyncStores, sync_space
from told.memories.undo import undo
from told.store.database import load_key
from told.store.memories.records import Memory
from told.sync.exchange import Exchange
from told.sync.identity import Identity, make_identity, set_identity
from told.sync.spaces import Space, save_space
from told.sync.transports import Transport


@dataclass
class Shelf:
    """A place in memory that behaves as the worst folder does."""

    series: dict[str, tuple[bytes, dict[str, bytes]]] = field(default_factory=dict)
    is_down: bool = False

    def heads(self) -> dict[str, bytes]:
        return {name: head for name, (head, _) in self.series.items()}

    def read(self, series: str, names: Sequence[str]) -> dict[str, bytes]:
        files = self.series[series][1]
        return {name: files[name] for name in names if name in files}

    def write(
        self, series: str, files: Mapping[str, bytes | None], head: bytes, *, before: bytes | None
    ) -> bool:
        old, known = self.series.get(series, (None, {}))
        if old != before:
            return False
        merged = {**known, **files}
        self.series[series] = head, {name: data for name, data in merged.items() if data is not None}
        return True

    def close(self) -> None:
        """Do nothing."""

    def bytes(self) -> bytes:
        """Return everything that lies there."""
        return b"\n".join(part for head, files in self.series.values() for part in (head, *files.values()))


class Machine:
    """One machine, with a clock of its own."""

    def __init__(self, root: Path, identity: Identity | None = None, skew: int = 0) -> None:
        self.home = str(root)
        root.mkdir(parents=True)
        self.skew = skew
        self.time = 1_790_000_000_000
        if identity:
            set_identity(self.home, identity)
        self.identity = make_identity(self.home)
        self.key = load_key(self.home)
        self._open()

    def _open(self) -> None:
        self.connection = open_store(os.path.join(self.home, "sessions.db"))
        self.memories = open_memories(self.home)

    def reopen(self) -> None:
        """Switch the machine on again."""
        self.close()
        self._open()

    def rebuild(self) -> None:
        """Make the database again from the journal."""
        self.memories.close()
        self.memories = rebuild(self.home)

    @property
    def now(self) -> int:
        return self.time + self.skew

    def writer(self) -> JournalWriter:
        return JournalWriter(FileJournal(self.home), self.memories, self.now)

    def remember(self, text: str, scope: str = "global", **more: object) -> str:
        writer = self.writer()
        name = new_memory_id()
        writer.add("remember", name, text=text, kind="rule", scope=scope, trust="user", **more)
        writer.write()
        return name

    def change(self, kind: str, memory: str, /, **payload: object) -> None:
        writer = self.writer()
        writer.add(kind, memory, **payload)
        writer.write()

    def undo(self) -> None:
        undo(self.writer())

    def forget(self, *names: str) -> None:
        found = list(self.memories.get(names).values())
        plan = plan_forget(self.connection, self.key, self.home, found)
        forget(self.writer(), self.connection, plan)

    def space(self, *, plain: bool = False) -> Space:
        space = Space(self.identity.space, key="" if plain else self.identity.space_key.hex())
        save_space(self.home, space)
        return space

    def stores(self) -> SyncStores:
        return SyncStores(self.home, self.memories, self.connection, self.key, str, self.now)

    def sync(self, place: Transport, space: Space | None = None, *, plain: bool = False) -> Exchange:
        return sync_space(self.stores(), space or self.space(plain=plain), "shelf", place)

    def texts(self, status: str = "active") -> list[str]:
        return sorted(one.text for one in self.all() if one.status == status)

    def all(self) -> list[Memory]:
        return list(self.memories.get(self.memories.ids()).values())

    def state(self) -> str:
        """Return a hash of everything that users can see of the memories."""
        rows = [
            [*one._replace(number=0, last=(0, "", 0))] for one in sorted(self.all(), key=lambda one: one.id)
        ]
        return blake2b(json.dumps(rows, default=str).encode()).hexdigest()[:16]

    def bytes(self) -> bytes:
        """Return everything in the home folder."""
        return b"\n".join(path.read_bytes() for path in sorted(Path(self.home).rglob("*")) if path.is_file())

    def close(self) -> None:
        self.memories.close()
        self.connection.close()


Make = Callable[..., list[Machine]]
