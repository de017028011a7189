"""Publish what the user shares with a team: the difference between what is shared and what was published.

Only snapshots of shared memories leave: a statement, its kind and the words that it is found by. Where it was
said, its history, and whatever else the journal has stay here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from told.files import cannot_write, make_folder
from told.hashing import blake2b
from told.journal.append import append_copies
from told.journal.copies import PROJECT_KEY
from told.journal.erase import erase_in
from told.journal.files import FORGET, IDENTITY, MAKES_MEMORY, Operation, SeriesLock, get_machine_id
from told.journal.fold import sort_operations
from told.journal.read import find_in_series
from told.jsontext import dump_json
from told.redact.rescan import Rescanner
from told.store.database import public_id
from told.store.memories.protocol import Memories
from told.store.memories.records import (
    ACTIVE,
    DISMISSED,
    FORGOTTEN,
    PROJECT,
    SHARED_WITH,
    SUPERSEDED,
    TEAM,
    USER,
    Memory,
    is_private,
    project_key,
)
from told.sync.identity import Identity
from told.sync.outbox import SEGMENT_BYTES
from told.sync.spaces import Space
from told.sync.state import State
from told.sync.teams import MEMBER, has_said, person_series, say

_ENDED = (SUPERSEDED, DISMISSED, FORGOTTEN)
NAMES = frozenset((IDENTITY, PROJECT_KEY, "kind", "marks", "created"))  # payload fields without text
_ABSOLUTE = ("/", "~", "\\")  # at the start of a path that only this machine has


@dataclass(slots=True)
class _Published:
    """A memory as this user's machines have published it."""

    payload: dict[str, Any] = field(default_factory=dict)
    worded: tuple[str, int] = ("", 0)  # machine and time of that payload
    is_superseded: bool = False
    is_retracted: bool = False  # its text must not lie there any more
    is_erased: bool = False  # its text is gone, but nobody was told yet
    is_own: bool = False  # in this machine's series
    is_ended_here: bool = False  # by this machine
    has_text: bool = False  # some payload is not erased yet
    last: int = 0  # time of its latest operation

    @property
    def is_ended(self) -> bool:
        return self.is_superseded or self.is_retracted or self.is_erased


class Changes(NamedTuple):
    """What a series lacks of what its user shares now."""

    operations: list[Operation]
    ended: set[str]  # memories whose text must not lie there any more
    problems: list[str]  # of memories that were not shared


class TeamOutbox:
    """Brings this machine's series of a team up to what the user shares."""

    def __init__(
        self, home: str, space: Space, memories: Memories, *, state: State, identity: Identity, now: int,
        redact: Callable[[str], str],
    ) -> None:  # fmt: skip
        self._home, self._space, self._memories, self._now = home, space, memories, now
        self._redact = redact
        self._series = [
            one for person, one in person_series(home, space, state, identity) if person == identity.public
        ]
        self._public = identity.public
        self._machine = get_machine_id(home)
        self.problems: list[str] = []  # of memories that were not shared

    def collect(self) -> int:
        """Append what changed to this machine's series, erase what was taken back; return how many."""
        folder = self._space.series_folder(self._home, self._machine)
        try:
            make_folder(folder)
            if not has_said(self._home, self._space, MEMBER):
                name = self._space.author
                say(self._home, self._space, MEMBER, self._now, name=name, person=self._public)
            changes = self._find_changes()
            with SeriesLock(folder):
                count = append_copies(folder, self._machine, changes.operations, SEGMENT_BYTES)
        except OSError as error:
            raise cannot_write(folder, error) from None
        self.problems += changes.problems
        if changes.ended:
            erase_in(self._series, changes.ended)
        return count

    def _find_changes(self) -> Changes:
        edges = [one for one in self._memories.edges([self._space.id]) if one[1] == SHARED_WITH]
        shared_at = {source: at for source, _, _, at, by in edges if by == USER}
        finder = ChangeFinder(
            self._space.id, self._machine, self._memories, projects=self._space.projects, now=self._now,
            redact=self._redact,
        )  # fmt: skip
        return finder.find(
            (one for series in self._series for one in find_in_series(series, [], lambda _: True)), shared_at
        )


class ChangeFinder:
    """Compares what a user shares with a team to what the user's series say."""

    def __init__(
        self, space: str, machine: str, memories: Memories, *, projects: Collection[str] | None, now: int,
        redact: Callable[[str], str],
    ) -> None:  # fmt: skip
        """Name what is compared.

        Args:
            space: The id of the team's log.
            machine: Whose series gets the operations.
            memories: What the user knows.
            projects: The keys of the projects that may leave; None for all.
            now: The time, in ms since 1970.
            redact: Removes secrets from a text.
        """
        self._space, self._machine, self._memories, self._now = space, machine, memories, now
        self._projects = projects
        self._rescanner = Rescanner(redact)
        self._problems: list[str] = []

    def find(self, operations: Iterable[Operation], shared_at: Mapping[str, int]) -> Changes:
        """Return what is to be published.

        Args:
            operations: All that the user's series say.
            shared_at: When each memory was shared that the user shares now.
        """
        published = self._read_published(one for one in operations if one.memory)
        new = list(self._find_changes(published, shared_at))
        ended = {one.memory for one in new if one.kind == FORGET}
        ended |= {name for name, one in published.items() if one.is_retracted and one.has_text}
        return Changes(new, ended, self._problems)

    def _read_published(self, operations: Iterable[Operation]) -> dict[str, _Published]:
        found: dict[str, _Published] = {}
        for _, one in sort_operations(operations):
            state = found.setdefault(one.memory, _Published())
            state.is_own |= one.machine == self._machine
            state.last = max(state.last, one.at)
            if one.kind in (FORGET, "supersede"):
                state.is_retracted |= one.kind == FORGET
                state.is_superseded |= one.kind != FORGET
                state.is_ended_here = one.machine == self._machine
            elif one.payload is None:
                state.is_erased |= one.kind in MAKES_MEMORY
            else:
                state.payload, state.has_text = one.payload, True
                state.worded = one.machine, one.at
        return found

    def _find_changes(
        self, published: dict[str, _Published], shared_at: Mapping[str, int]
    ) -> Iterator[Operation]:
        known = self._memories.get({*shared_at, *published})
        shared = {one.id: one for one in known.values() if one.id in shared_at and _may_leave(one)}
        names = {one: _published_id(one, published, shared_at[one]) for one in shared}
        for one in shared.values():
            name = names[one.id]
            change = self._update(one, name, published.get(name), shared_at[one.id]) if name else None
            if change:
                yield change
        kept = set(names.values())
        for name, state in published.items():
            memory = known.get(name)
            is_over = memory is not None and (memory.status in _ENDED or is_private(memory))
            if state.is_retracted or name in kept or not (state.is_own or is_over):
                continue
            heir = names.get(memory.superseded_by, "") if memory and memory.status == SUPERSEDED else ""
            if state.is_erased or not (state.is_superseded and heir):
                yield self._end(name, "" if state.is_erased else heir, state)

    def _update(self, memory: Memory, name: str, old: _Published | None, shared_at: int) -> Operation | None:
        """Return the operation that publishes a memory as it is now; None if nothing changed."""
        key = project_key(memory.scope)
        is_left_out = bool(key) and self._projects is not None and key not in self._projects
        if memory.status != ACTIVE or is_left_out:
            return None  # as it is until it is active again
        payload = make_snapshot(memory)
        if old and {field: old.payload.get(field) for field in payload} == payload:
            return None
        if old and old.worded[0] != self._machine and old.worded[1] >= memory.updated:
            return None  # another machine of the user knows more than this one
        if self._rescanner.redact_value(payload, NAMES) != payload:
            self._problems.append(f"{memory.id} contains a secret and was not shared. Correct it first.")
            return None
        if old is None:
            return self._operation("remember", name, payload, shared_at)
        return self._operation("revise", name, payload, max(memory.updated, old.last + 1))

    def _end(self, name: str, heir: str, state: _Published) -> Operation:
        at = max(self._now, state.last + 1)
        if heir:
            return self._operation("supersede", name, {"by": heir}, at)
        return self._operation(FORGET, name, {}, at)

    def _operation(self, kind: str, name: str, payload: dict[str, Any], at: int) -> Operation:
        # Two machines of one user that publish the same at once give it the same name.
        seed = dump_json([self._space, kind, name, payload, at]).encode("utf-8", "replace")
        identity = blake2b(seed, digest_size=8).hexdigest()
        return Operation(self._machine, 0, at, kind, name, USER, {**payload, IDENTITY: identity})


def make_snapshot(memory: Memory) -> dict[str, Any]:
    """Return all that leaves of a memory."""
    key = project_key(memory.scope)
    triggers = [[one.kind, one.value] for one in memory.triggers if not one.value.startswith(_ABSOLUTE)]
    return {
        "text": memory.text, "kind": memory.kind, "marks": list(memory.marks), "context": memory.context,
        "label": memory.label, "triggers": triggers, "entities": list(memory.entities),
        "importance": memory.importance, "created": memory.created,
        PROJECT_KEY: key if memory.scope == PROJECT + key else "",
    }  # fmt: skip


def _may_leave(memory: Memory) -> bool:
    is_colleagues = memory.trust.startswith(TEAM)
    return not is_private(memory) and not is_colleagues and memory.status not in _ENDED


def _published_id(memory: str, published: dict[str, _Published], shared_at: int) -> str:
    """Return the id by which a team knows a memory: another one after it was taken back.

    Empty if another machine of the user took it back, and this one does not know that yet.
    """
    name, times = memory, 0
    while name in published and published[name].is_ended:
        if not published[name].is_ended_here and shared_at <= published[name].last:
            return ""
        times += 1
        name = public_id("m", memory, str(times), length=9)
    return name
