"""Leave out memories that are hidden, elsewhere or overruled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from told.conflict.places import find_own_folder
from told.recall.prompt import Prompt, RecallRequest, is_elsewhere, match_place
from told.search.about import About
from told.store.memories.protocol import Memories
from told.store.memories.records import ACTIVE, TEAM, TOOL, WAS, Memory

MIN_CONFIDENCE = 0.3  # of a memory that is shown; a user's statement starts at 0.8
ELSEWHERE = "for another folder"
_MAX_CHAIN = 4  # newer memories that are followed
_CLEAR_TOPIC = 0.7


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


def find_overruled(memories: Sequence[Memory], about: Mapping[str, About], prompt: Prompt) -> frozenset[str]:
    """Return the memories that a rule for the prompt's folder overrules."""

    def get_clear_topics(memory: Memory) -> set[str]:
        return {name for name, clarity in about[memory.id].topics.items() if clarity >= _CLEAR_TOPIC}

    special, general = [], []
    for one in memories:
        folder = find_own_folder(one.text)
        if not folder:
            general.append(one)
        elif match_place(folder, prompt):
            special.append(one)
    topics = set().union(*map(get_clear_topics, special))
    decided = set().union(*(get_clear_topics(one) for one in special if not one.trust.startswith(TEAM)))
    return frozenset(
        one.id
        for one in general
        if not one.locked
        # What a colleague said overrules nothing that the user did.
        and not (decided if one.is_decided_by_user else topics).isdisjoint(get_clear_topics(one))
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
