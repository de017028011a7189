"""Leave out memories that are hidden, elsewhere or overruled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from told.conflict.places import find_own_folder
from told.recall.prompt import Prompt, RecallRequest, is_elsewhere, match_place
from told.search.vectors.arithmetic import similarities
from told.search.vectors.table import DIMENSIONS, table_model_id
from told.store.memories.protocol import Memories
from told.store.memories.records import ACTIVE, TEAM, TOOL, WAS, Memory

MIN_CONFIDENCE = 0.3  # of a memory that is shown; a user's statement starts at 0.8
ELSEWHERE = "for another folder"
_MAX_CHAIN = 4  # newer memories that are followed
_SAME_SUBJECT = 0.36  # similarity to a rule for a folder


def find_reason_against(memory: Memory, prompt: Prompt, request: RecallRequest) -> str:
    """Return why a memory must not be shown for a prompt."""
    reason = find_reason_hidden(memory, request.scopes, request.now, tools=request.tools)
    return reason or (ELSEWHERE if is_elsewhere(memory.text, prompt) else "")


def find_reason_hidden(memory: Memory, scopes: Sequence[str], now: int, *, tools: bool = False) -> str:
    """Return why a memory must never be shown.

    Args:
        memory: The memory.
        scopes: The active scopes.
        now: Milliseconds since 1970.
        tools: Show what tools and pages said.
    """
    if memory.status != ACTIVE:
        return memory.status
    if memory.trust == TOOL and not tools:
        return "not said by a person"
    if memory.scope not in scopes:
        return "of another project"
    if memory.expires and memory.expires <= now:
        return "expired"
    if not memory.locked and memory.confidence < MIN_CONFIDENCE:
        return "did not help before"
    return ""


def find_overruled(memories: Memories, found: Mapping[int, Memory], prompt: Prompt) -> frozenset[str]:
    """Return the memories that a similar rule for the prompt's folder overrules."""
    folders = {row: find_own_folder(one.text) for row, one in found.items()}
    special = [row for row, folder in folders.items() if folder and match_place(folder, prompt)]
    model = table_model_id() if special else ""
    stored = memories.vectors.vectors(list(found), model) if model else {}

    def is_overruled(row: int, one: Memory) -> bool:
        # What a colleague said overrules nothing that the user did.
        over = [by for by in special if not (one.is_decided_by_user and found[by].trust.startswith(TEAM))]
        vectors = [stored[by][:DIMENSIONS] for by in over if by in stored]
        return bool(vectors) and max(similarities(stored[row][:DIMENSIONS], vectors)) >= _SAME_SUBJECT

    return frozenset(
        one.id
        for row, one in found.items()
        if row in stored and not folders[row] and not one.locked and is_overruled(row, one)
    )


def find_newer(
    memories: Memories, shown: Sequence[Memory], scopes: Sequence[str], now: int
) -> dict[str, Memory]:
    """Return by id the newest memory that probably replaces each, by the edges written for them."""
    direct: dict[str, Memory] = {}
    current = [one for one in shown if not one.locked]
    for _ in range(_MAX_CHAIN):
        found = _find_direct(memories, [one for one in current if one.id not in direct], scopes, now)
        if not found:
            break
        direct |= found
        current = [one for one in found.values() if not one.locked]
    newest = {}
    for one in shown:
        if one.id in direct:
            new, seen = direct[one.id], {one.id}
            while new.id in direct and direct[new.id].id not in seen:
                seen.add(new.id)
                new = direct[new.id]
            newest[one.id] = new
    return newest


def _find_direct(
    memories: Memories, shown: Sequence[Memory], scopes: Sequence[str], now: int
) -> dict[str, Memory]:
    """Return by id the memory that probably replaces each; of two that replace each other, the later edge."""
    known = {one.id: one for one in shown}
    edges = memories.edges(known) if known else []
    times = {(source, target): at for source, kind, target, at, _ in edges if kind == WAS}
    sources = memories.get({source for source, target in times if target in known})
    found: dict[str, Memory] = {}
    for (source, target), at in times.items():
        new, old = sources.get(source), known.get(target)
        if new is None or old is None or times.get((target, source), -1) >= at:
            continue
        is_of_equals = new.is_decided_by_user or not old.is_decided_by_user
        is_hidden = bool(find_reason_hidden(new, scopes, now))
        if new.scope == old.scope and is_of_equals and not is_hidden:
            found[target] = max(found.get(target, new), new, key=lambda one: (one.created, one.id))
    return found
