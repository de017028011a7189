"""Looks for memories that have become wrong or needless, and says what to do; it changes nothing."""

from __future__ import annotations

from told.memory._audit_finding import EXPIRED, FADED, KINDS, NAMED, STALE, Finding, erase
from told.memory._audit_ground import Ground
from told.memory._audit_names import names_gone
from told.memory._audit_pairs import between_memories, with_files
from told.memory._onboard_instructions import instruction_files, statements_of
from told.memory._recall_filters import FADED as NO_LONGER_SHOWN
from told.memory.onboard import learn, place_of, plan
from told.record import record
from told.store.memory_records import ACTIVE, GLOBAL, TOOL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from told.memory._onboard_files import Tree
    from told.store.memories import Memories
    from told.store.memory_records import Memory

__all__ = ["NAMED", "Audit", "Finding", "Ground", "audit"]

MOST = 3000  # memories that are looked at, the newest first


@record
class Audit:
    """What was looked at, and what was found."""

    looked: int
    findings: tuple[Finding, ...]
    left: int = 0  # older ones that were not looked at
    elsewhere: int = 0  # memories of projects whose folder is not on this machine


def audit(
    memories: Memories, scopes: Sequence[str], grounds: Mapping[str, Ground], now: int, *,
    redact: Callable[[str], str], key: bytes,
) -> Audit:  # fmt: skip
    """Look at the active memories of some scopes; of all, if none is given.

    Args:
        memories: The open memories.
        scopes: Which are looked at.
        grounds: The projects whose folders are on this machine, by their scope.
        now: When, in ms since 1970.
        redact: Takes secrets out of what files say.
        key: The machine's own key, with which places in files are marked.
    """
    rows = memories.listed(scopes=scopes)
    loaded = memories.load(rows[:MOST])
    every = [loaded[row] for row in rows[:MOST] if row in loaded]
    said = [one for one in every if not place_of(one)]
    found = [*_worn(every, now), *between_memories([one for one in said if not _expired(one, now)])]
    for scope, ground in grounds.items():
        own = [one for one in said if one.scope == scope]
        for one in own:
            found += names_gone(one, ground)
        documents = instruction_files(ground.tree)
        stated = [statement for document in documents for statement in statements_of(document)]
        # What came from a tool is never put before an agent, so a file does not repeat it.
        shown = [one for one in said if one.scope in (scope, GLOBAL) and one.trust != TOOL]
        found += with_files(shown, stated, documents)
        if any(one.scope == scope and place_of(one) for one in every):
            found += _stale(memories, scope, ground.tree, redact, key)
    known = {*grounds, GLOBAL}
    elsewhere = sum(one.scope.startswith("project:") and one.scope not in known for one in every)
    once = {(one.what, one.memory.id, one.name, one.other.id if one.other else ""): one for one in found}
    ordered = sorted(once.values(), key=lambda one: (
        KINDS.index(one.what), not one.sure, one.memory.created, one.memory.number, one.memory.id, one.name,
        one.other.id if one.other else "",
    ))  # fmt: skip
    return Audit(len(every), tuple(ordered), max(0, len(rows) - MOST), elsewhere)


def _worn(every: Sequence[Memory], now: int) -> Iterator[Finding]:
    for one in every:
        if _expired(one, now):
            yield Finding(EXPIRED, one, "Its time is over; it is no longer shown.", do=(erase(one),))
        elif not one.locked and one.confidence < NO_LONGER_SHOWN:
            cases = (f"if it is right: told confirm {one.id}", f"if not: {erase(one)}")
            why = f"It did not help: confidence {one.confidence:.2f}. It is no longer shown."
            yield Finding(FADED, one, why, do=cases)


def _expired(memory: Memory, now: int) -> bool:
    return bool(memory.expires) and memory.expires <= now


def _stale(
    memories: Memories, scope: str, tree: Tree, redact: Callable[[str], str], key: bytes
) -> Iterator[Finding]:
    """Yield what was learned from files that say something else now."""
    planned = plan(memories, learn(tree, redact), scope, key)
    changed = [one.instead for one in planned.new if one.instead]
    for old in (one for one in (*planned.gone, *changed) if one.status == ACTIVE):
        where = place_of(old).rpartition("#")[0]
        yield Finding(STALE, old, "{} no longer says so.", where, do=("told onboard",))
