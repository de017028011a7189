"""What is never brought up, however well it fits: ended, untrusted, of another project or another folder."""

from __future__ import annotations

from told.memory._recall_places import applies_at, is_elsewhere, own_place
from told.store.memory_records import ACTIVE, TOOL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from told.memory._recall_structure import Structure
    from told.search.about import About
    from told.store.memory_records import Memory

_PLAINLY = 0.7
FADED = 0.3  # confidence below which a memory is no longer shown; a user's word starts at 0.8


def reason_against(
    memory: Memory, prompt: Structure, scopes: Sequence[str], now: int, *, tools: bool = False
) -> str:
    """Return why a memory must not be shown for a prompt; empty if it may be."""
    never = never_shown(memory, scopes, now, tools=tools)
    return never or ("for another folder" if is_elsewhere(memory.text, prompt) else "")


def never_shown(memory: Memory, scopes: Sequence[str], now: int, *, tools: bool = False) -> str:
    """Return why a memory must not be shown at all; empty if it may be.

    Args:
        memory: The memory.
        scopes: Whose memories hold here.
        now: When, in ms since 1970.
        tools: Also what tools and pages said, because it was asked for.
    """
    if memory.status != ACTIVE:
        return memory.status
    if memory.trust == TOOL and not tools:
        return "not said by a person"
    if memory.scope not in scopes:
        return "of another project"
    if memory.expires and memory.expires <= now:
        return "expired"
    if not memory.locked and memory.confidence < FADED:
        return "did not help before"
    return ""


def overruled(found: Sequence[Memory], about: Mapping[str, About], prompt: Structure) -> frozenset[str]:
    """Return the memories that give way, in this folder, to a rule that is made for it."""
    special = [one for one in found if (place := own_place(one.text)) and applies_at(place, prompt)]
    if not special:
        return frozenset()
    named = {name for one in special for name in _plain_topics(about[one.id])}
    return frozenset(
        one.id for one in found
        if not one.locked and not own_place(one.text)
        and not named.isdisjoint(_plain_topics(about[one.id]))
    )  # fmt: skip


def _plain_topics(about: About) -> list[str]:
    return [name for name, plainly in about.topics.items() if plainly >= _PLAINLY]
