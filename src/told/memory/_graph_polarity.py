"""What statements affirm and deny, and whether two of them can hold together."""

from __future__ import annotations

from told.memory import _supersede_cues as cues
from told.memory._supersede_denials import denials
from told.memory._supersede_read import Reading, read
from told.memory.supersede import CONTRADICTS_SCOPE, REPLACES, relation
from told.record import record
from told.search.tokens import BREAKS, key_of, tokens_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from told.store.memory_records import Memory

_MOST_TEXT = 2000
# After a "never" these turn what follows round again: "never push without a review".
EXCEPTING = cues.words("without unless before ohne bevor sans sin sem antes avant except außer sauf salvo")
_PREFERS = cues.words("prefer prefers preferred chose choose chosen picked favour favor took take")
_MOST_OF_BAN = 0.66  # of the words that a ban is about: these the other one must have
_PART = 0.4  # of the words of the other one


@record
class Claim:
    """A statement as it is held against others."""

    reading: Reading
    denied: frozenset[str]  # with double denials resolved
    affirmed: frozenset[str]
    unless: bool = False  # what it denies is allowed under a condition


def claim(text: str) -> Claim:
    """Read a statement of any kind and language; never fails."""
    tokens = tokens_of(text[:_MOST_TEXT].lower())
    affirmed: set[str] = set()
    denied: set[str] = set()
    under = turned = prefers = beaten = unless = False
    for token, flag in zip(tokens, denials(tokens), strict=True):
        if token in BREAKS:
            under = turned = prefers = beaten = False
            continue
        turned = turned or (under and token in EXCEPTING)
        unless = unless or turned
        under = under or flag or token in cues.DENY
        prefers = prefers or token in _PREFERS
        beaten = (beaten or (prefers and token == "over")) and token not in cues.HALT  # noqa: S105 - a word
        if token not in cues.EMPTY:
            (denied if (flag and not turned) or beaten else affirmed).add(key_of(token))
    return Claim(read(text), frozenset(denied - affirmed), frozenset(affirmed), unless)


def opposed(old: Memory, new: Memory, before: Claim, now: Claim) -> str:
    """Return why two statements cannot both hold; empty if they can, or hold in different places."""
    if not _in_common(before, now):
        return ""
    if denies(before, now) or denies(now, before):
        return "one denies what the other says"
    found = relation(old.text, new.text)
    return found.why if found.label == REPLACES else ""


def elsewhere(old: Memory, new: Memory) -> bool:
    """Tell whether two statements differ because they are for different places."""
    return relation(old.text, new.text).label == CONTRADICTS_SCOPE


def conflicts(found: Sequence[Memory]) -> list[tuple[Memory, Memory, str]]:
    """Return the pairs of memories that cannot both hold: the older, the newer, and why."""
    read_once = {one.id: claim(one.text) for one in found}
    pairs = []
    ordered = sorted(found, key=lambda one: (one.created, one.number, one.id))
    for place, new in enumerate(ordered):
        for old in ordered[:place]:
            why = opposed(old, new, read_once[old.id], read_once[new.id])
            if why:
                pairs.append((old, new, why))
    return pairs


def _in_common(one: Claim, other: Claim) -> bool:
    """Tell whether two statements share a telling word, or name values of one slot."""
    first, second = one.reading, other.reading
    shared = first.words.keys() & second.words.keys()
    if any(first.words[word] >= 1 for word in shared):
        return True
    slots = first.values.keys() | first.rejected.keys()
    return not slots.isdisjoint(second.values.keys() | second.rejected.keys())


def denies(one: Claim, other: Claim) -> bool:
    """Tell whether a statement denies what another says: most of its ban, and a good part of the other."""
    banned = [word for word in one.denied if one.reading.words.get(word, 0.0) >= 1]
    hit = [word for word in banned if word in other.affirmed]
    return bool(hit) and len(hit) >= _MOST_OF_BAN * len(banned) and len(hit) >= _PART * len(other.affirmed)


def same(one: Claim, other: Claim) -> bool:
    """Tell whether two statements say the same: of the same things, in the same sense, the same numbers."""
    first, second = one.reading, other.reading
    return (
        first.words.keys() == second.words.keys()
        and one.denied == other.denied
        and [count.value for count in first.counts] == [count.value for count in second.counts]
    )
