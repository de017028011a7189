"""Finds, in the whole store, what is newer than the few memories that are about to be shown."""

from __future__ import annotations

from told.memory._recall_filters import never_shown
from told.memory._recall_outdated import Replacing, head_of, latest_first, may_replace, supposed
from told.memory._recall_outgrown import LIKELY, NEAR_ENOUGH, STATED, likelihood
from told.record import record
from told.search.about import about_of
from told.search.meaning import model_id, similarities
from told.store.memory_records import TOOL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from told.memory.recall import Ask, Recalled
    from told.search.about import About
    from told.store.memories import Memories
    from told.store.memory_records import Memory

_SUCCESSORS = 12
_NAMING, _MOST_NAMING = 6, 12  # rows of one name, and of all
_LONGEST_CHAIN = 4


@record
class Heir:
    """What is newer than a memory."""

    row: int
    memory: Memory
    sure: bool  # whether it took its place by its own words, and so can be said in its stead


def newer_than(
    memories: Memories, some: Mapping[int, Memory], found: Sequence[Recalled], about: Mapping[str, About],
    ask: Ask,
) -> dict[int, Heir]:  # fmt: skip
    """Return which of some memories look outdated, by row, and what holds today: also what nobody looked at.

    Args:
        memories: Where to look.
        some: What would be shown.
        found: All that was looked at.
        about: What each of these is about.
        ask: The prompt.
    """
    whole = dict(about)
    replacing = Replacing(whole)
    known = {one.row: one.memory for one in found} | dict(some)
    whole |= {one.id: about_of(memories.about(one)) for one in some.values() if one.id not in whole}
    naming: dict[int, None] = {}
    for own, memory in some.items():
        scopes, head = (memory.scope,), head_of(memory, whole[memory.id])
        if head.replace("-", "").isalnum():
            listed = memories.latest(f'"{head}"*', _SUCCESSORS, scopes=scopes)
            later = memories.about_rows([row for row in listed if row > own and row not in known])
            known |= memories.load([row for row, line in later.items() if head in about_of(line).heads])
        for name in replacing.names_of(memory):
            listed = memories.with_term(f'"{name}"', _NAMING, scopes=scopes)
            naming |= dict.fromkeys([row for row in listed if row > own])
    known |= memories.load([row for row in naming if row not in known][:_MOST_NAMING])
    whole |= {one.id: about_of(memories.about(one)) for one in known.values() if one.id not in whole}
    spoken = {
        row: memory for row, memory in known.items()
        if memory.trust != TOOL and not never_shown(memory, ask.scopes, ask.now)
    }  # fmt: skip
    heirs = _heirs(list(some.values()), spoken, whole, replacing, ask.prompt)
    left = {
        row: memory for row, memory in some.items()
        if memory.id not in heirs and not memory.locked and memory.kind in STATED  # two rules may both hold
    }  # fmt: skip
    heirs |= _outgrown(memories, left, spoken)
    return {row: heirs[memory.id] for row, memory in some.items() if memory.id in heirs}


def _outgrown(
    memories: Memories, some: Mapping[int, Memory], spoken: Mapping[int, Memory]
) -> dict[str, Heir]:
    """Return those of some memories whose nearest newer one in meaning took their place, most likely."""
    model = model_id()
    later = {
        row: [one for one, new in spoken.items() if new.created > old.created and may_replace(old, new)]
        for row, old in some.items()
    }
    wanted = dict.fromkeys([row for own, rows in later.items() if rows for row in (own, *rows)])
    vectors = memories.meanings.vectors(list(wanted), model) if wanted and model else {}
    found: dict[str, Heir] = {}
    for row, old in some.items():
        rows = [one for one in later[row] if one in vectors]
        if row not in vectors or not rows:
            continue
        near, nearest = max(
            zip(similarities(vectors[row], [vectors[one] for one in rows]), rows, strict=True)
        )
        if near >= NEAR_ENOUGH and likelihood(old, spoken[nearest], near) >= LIKELY:
            found[old.id] = Heir(nearest, spoken[nearest], sure=True)
    return found


def _heirs(
    some: Sequence[Memory], spoken: Mapping[int, Memory], about: Mapping[str, About], replacing: Replacing,
    prompt: str,
) -> dict[str, Heir]:  # fmt: skip
    rows = {memory.id: row for row, memory in spoken.items()}
    latest = latest_first(spoken.values())
    sure = replacing.of(some, latest)
    likely = supposed([one for one in some if one.id not in sure], list(spoken.values()), about, prompt)
    given: dict[str, Heir] = {}
    ends: dict[str, Memory] = {}
    for old, new in (likely | sure).items():
        if new not in ends:
            ends[new] = _end_of(spoken[rows[new]], latest, replacing)
        last = ends[new]
        given[old] = Heir(rows[last.id], last, old in sure)
    return given


def _end_of(memory: Memory, latest: Sequence[Memory], replacing: Replacing) -> Memory:
    """Return what holds in the end: what took a place may be over itself, as in A, B, and A again."""
    by_id = {one.id: one for one in latest}
    for _ in range(_LONGEST_CHAIN):
        after = replacing.of([memory], latest)
        if not after:
            break
        memory = by_id[after[memory.id]]
    return memory
