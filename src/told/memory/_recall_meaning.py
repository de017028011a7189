"""Layer 2: which memories are near a prompt in meaning, also where they share no word with it.

A prompt's vector is compared with the signs of all memories of its scopes, and with the whole vectors of the
nearest. What counts is how much nearer a memory is than memories usually are to this prompt: to a short or
general one, all of them are.
"""

from __future__ import annotations

from told.record import record
from told.search.meaning import model_id, similarities, vector
from told.search.meaning_signs import differences, likeness
from told.store.memory_meaning import SIGNS, signs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from told.store.memories import Memories

_LOOKED_AT = 4096  # the newest of a scope
_COMPARED = 24  # of which the whole vector is
_USUALLY = 0.06  # how near a memory is to a prompt that is about something else …
_AS_MANY = 10  # … which counts like that many memories of the scope


@record
class NearMeaning:
    """How much nearer than usual the nearest memories are, and those that were asked for."""

    count: int  # how many memories they are the nearest of
    nearer: dict[int, float]


def near_meaning(memories: Memories, text: str, scopes: Sequence[str], also: Iterable[int]) -> NearMeaning:
    """Return what is near a text in meaning. Nothing, if there is no table or no word of it is known.

    Args:
        memories: Where to look.
        text: The prompt.
        scopes: Whose memories hold here.
        also: Rows of which it is wanted in any case.
    """
    own, model = vector(text, asking=True), model_id()
    if not own or not model:
        return NearMeaning(0, {})
    parts = memories.meanings.signs(scopes, model, _LOOKED_AT)
    counted = differences(signs(own), [columns for _, columns in parts])
    near = [(rows, counts[-len(rows) :]) for (rows, _), counts in zip(parts, counted, strict=True)]
    count = sum([len(rows) for rows, _ in near])
    if not count:
        return NearMeaning(0, {})
    mean = sum([sum(counts) for _, counts in near]) / count
    usual = (count * likeness(mean) + _AS_MANY * _USUALLY) / (count + _AS_MANY)
    vectors = memories.meanings.vectors(list(dict.fromkeys([*_nearest(near), *also])), model)
    figures = similarities(own, list(vectors.values()))
    return NearMeaning(count, {row: figure - usual for row, figure in zip(vectors, figures, strict=True)})


def _nearest(near: Sequence[tuple[memoryview[int], bytes]]) -> list[int]:
    """Return the rows with the fewest differences, the newest first where these are equal."""
    found: list[int] = []
    for value in range(min([min(counts) for _, counts in near]), SIGNS + 1):
        same = []
        for rows, counts in near:
            at = counts.find(value)
            while at >= 0:
                same.append(rows[at])
                at = counts.find(value, at + 1)
        found += sorted(same, reverse=True)
        if len(found) >= _COMPARED:
            break
    return found[:_COMPARED]
