"""Tell which places and machines have erased what the user forgot."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from told.journal.files import FORGET, FORGET_CHECKPOINT, SET, Operation, get_machine_id
from told.journal.read import find_in_series
from told.journal.registry import Series
from told.jsontext import dump_json
from told.sync.outbox import FORGOTTEN_SESSION
from told.sync.session_files import was_shared
from told.sync.spaces import GIT, Space, load_spaces
from told.sync.state import load_state


@dataclass(frozen=True, slots=True)
class MachineReceipt:
    """Whether a machine has erased it."""

    machine: str
    name: str
    is_confirmed: bool


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of forgotten memories in one space."""

    space: Space
    machines: tuple[MachineReceipt, ...]
    is_sent: bool  # whether this machine has published that they are forgotten

    @property
    def may_linger(self) -> bool:
        """Whether a git host may keep what nobody refers to for a while."""
        return any(one.startswith(f"{GIT}:") for one in self.space.places)


def read_receipts(
    home: str, memories: Collection[str], sessions: Collection[str] = ()
) -> list[Receipt]:  # fmt: skip
    """Return a receipt for each space that knew one of the memories, checkpoints or sessions.

    Args:
        home: told's folder.
        memories: Ids of memories or checkpoints.
        sessions: Forgotten sessions, as agent/native id.
    """
    found = []
    machine = get_machine_id(home)
    needles = [dump_json(name).encode() for name in (*memories, *sessions)]
    for space in load_spaces(home):
        state = load_state(home, space)
        own = Series(space.series_folder(home, machine), machine)
        numbers = [
            one.number
            for one in find_in_series(
                own, needles, lambda one: one.memory in memories and one.kind in (FORGET, FORGET_CHECKPOINT)
            )
        ]
        if sessions and not space.is_team and was_shared(home, space):
            noted = find_in_series(own, needles, lambda one: _forgets(one, sessions))
            numbers += [one.number for one in noted]
        if not numbers and not _has_any(home, space, [*state.series, machine], memories):
            continue
        last = max(numbers, default=0)
        machines = tuple(
            MachineReceipt(name, one.name, bool(last) and one.seen.get(machine, 0) >= last)
            for name, one in sorted(state.series.items())
        )
        found.append(Receipt(space, machines, bool(last) and state.published >= last))
    return found


def _forgets(operation: Operation, sessions: Collection[str]) -> bool:
    """Tell whether an operation says that one of the sessions is forgotten."""
    topics = (operation.payload or {}).get(SET)
    notes = topics.get(FORGOTTEN_SESSION) if isinstance(topics, dict) else None
    return isinstance(notes, dict) and any(name in notes for name in sessions)


def _has_any(home: str, space: Space, machines: list[str], memories: Collection[str]) -> bool:
    """Tell whether a series of a space knows one of the memories."""
    needles = [dump_json(name).encode() for name in memories]
    return any(
        next(find_in_series(series, needles, lambda one: one.memory in memories), None) is not None
        for series in (Series(space.series_folder(home, name), name) for name in machines)
    )
