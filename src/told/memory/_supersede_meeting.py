"""What shows that two statements of one project, which nobody brought together, are about the same thing."""

from __future__ import annotations

from itertools import pairwise

from told.memory import _supersede_cues as cues
from told.memory._supersede_grammar import STANDS_FOR
from told.search.tokens import key_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from told.memory._supersede_read import Reading

# Words of these slots stand in many sentences without being their point.
WEAK = frozenset((
    "environment", "sequence", "side", "length", "token", "branch", "aggregate", "concurrency", "class-style",
    "clock",
))  # fmt: skip
# After these comes what was chosen: "logging over RTT", "the metric is recall".
_AT = frozenset(("in", "on", "at", "under", "to", "with", "by", "as", "from", "since", "for"))
_OVER = frozenset((
    "over", "against", "via", "through", "per", "über", "gegen", "sur", "sobre", "every", "alle", "until",
))  # fmt: skip
_IS = frozenset(("is", "are", "means", "use", "was", "only", "not"))
_UNSAID = frozenset(("the", "a", "always", "please", "all"))
_PARTICIPLES = ("ed", "en", "t")
_NUMBERED = frozenset((
    "part", "module", "step", "phase", "chapter", "stage", "worker", "shard", "zone", "room", "floor",
    "lesson", "exercise", "task", "section", "page", "layer", "case", "unit", "service", "team", "lane",
    "slot", "bucket", "tier", "group", "region", "level", "teil", "schritt", "partie", "étape", "parte",
    "paso", "etapa", "item", "entry", "row", "example", "fact", "rule", "test",
))  # fmt: skip
_BEFORE_NUMBERS = frozenset(("number", "no", "nr", "nummer", "numéro", "número"))
_MOST = 14
_LONG = 5  # telling words
_ALL = cues.words("""
all every everything everywhere each alle alles jede jeder jedes tous toutes tout todos todas todo
""")
_BUT = cues.words("but except außer ausser sauf excepté excepto salvo menos exceto")


def meeting(old: Reading, new: Reading, *, conflict: float, change: float) -> dict[str, float]:
    """Return how an old statement and a new one meet: by their heads, openings, names and states.

    Args:
        old: The old statement.
        new: The new one, with the old one's forms of words.
        conflict: How much their values differ.
        change: Whether the new one announces a change.
    """
    shared = old.words.keys() & new.words.keys()
    turned = any(old.states.get(pair, side) != side for pair, side in new.states.items())
    held = any(old.states.get(pair) == side for pair, side in new.states.items())
    same = float(bool(old.head) and old.head == new.head)
    known = new.head in old.words
    only_names = bool(shared) and shared <= old.proper
    swapped = float(bool(old.names - new.names) and bool(new.names - old.names))
    typed = (
        conflict >= 0.4
        or turned
        or bool(old.names & old.point and new.names - old.names)
        or bool(old.proper & old.point)
    )
    early = sum(old.words[word] for word in list(new.words)[:3] if word in old.words)
    opening, turn = _opening(old, new)
    return {
        "opening": opening,
        "opening_at": float(turn == "at") * min(1.0, opening),
        "opening_is": float(turn == "is") * min(1.0, opening),
        "opening_short": min(1.0, opening) * float(len(old.words) <= 4) * float(bool(turn)),
        "slot_share": _choice_share(old, new),
        "early": min(2.0, early) / 2,
        "early_cover": early / (sum(old.words.values()) or 1.0),
        "late_only": float(bool(shared) and not early),
        "turned": float(turned),
        "held": float(held),
        "head_same": same,
        "head_known": float(known),
        "head_same_conflict": same * min(1.0, conflict),
        "head_other": float(not known and bool(shared)),
        "head_other_conflict": float(not known) * min(1.0, conflict),
        "head_other_still": float(not known and conflict == 0 and not change),
        "names_only": float(only_names),
        "names_only_still": float(only_names and conflict == 0),
        "names_none": float(bool(old.proper) and not old.proper & shared),
        "typed": float(typed),
        "typed_change": float(typed) * change,
        "typed_not_still": float(not typed and not change),
        "choice_only": float(_choice_only(old, new)),
        "elsewhere": float(_elsewhere(old, new) or _left_out(old, new)),
        "apart": float(_apart(old, new, shared)),
        "name_swapped": swapped,
        "name_swapped_head": same * swapped,
    }


def _choice_only(old: Reading, new: Reading) -> bool:
    """Tell whether two statements differ in nothing but the choice: "use npm here" and "use bun here"."""
    before = {value for slot, found in old.values.items() if slot not in WEAK for value in found}
    now = {value for slot, found in new.values.items() if slot not in WEAK for value in found}
    if len(before) != 1 or len(now) != 1 or before == now or old.rejected or new.rejected:
        return False
    same_slot = any(slot in new.values for slot in old.values if slot not in WEAK)
    return same_slot and old.words.keys() - before == new.words.keys() - now and old.states == new.states


def _elsewhere(old: Reading, new: Reading) -> bool:
    """Tell whether one is about staging or part 1, and the other about production or part 2."""
    before, now = old.values.get("environment"), new.values.get("environment")
    if before and now and not before & now:
        return True
    first, second = _numbered(old), _numbered(new)
    return any(first[label] != second[label] for label in first.keys() & second.keys())


def _left_out(old: Reading, new: Reading) -> bool:
    """Tell whether the new one is about all but what the old one is about: "all modules but legacy"."""
    words = [word for word in new.text.split()[:_MOST] if word not in cues.PLACE]
    if not words or words[0] not in _ALL:
        return False
    return any(before in _BUT and key_of(word) in old.words for before, word in pairwise(words))


def _apart(old: Reading, new: Reading, shared: AbstractSet[str]) -> bool:
    """Tell whether two long statements about other things have but one word in common, and no choice."""
    if len(shared) > 1 or new.head in old.words or old.head in new.words:
        return False
    choices = (new.values.keys() | new.rejected.keys()) & old.values.keys()
    return not choices - WEAK and min(len(old.words), len(new.words)) >= _LONG


def _numbered(one: Reading) -> dict[str, str]:
    """Return the numbers that only tell things of a kind apart: which part, which step."""
    words = [word for word in one.text.split() if word not in _BEFORE_NUMBERS]
    return {
        label: words[at] for at, label in enumerate(words[:-1], 1)
        if label in _NUMBERED and words[at].isdigit()
    }  # fmt: skip


def _opening(old: Reading, new: Reading) -> tuple[float, str]:
    """Return how many telling words two statements begin with alike, and what follows: at, is or nothing."""
    before, now = _said(old), _said(new)
    telling = 0
    for at, (one, two) in enumerate(zip(before, now, strict=False)):
        if STANDS_FOR.get(one, key_of(one)) == STANDS_FOR.get(two, key_of(two)):
            telling += one not in cues.EMPTY and one not in STANDS_FOR
            continue
        if not telling:
            return 0.0, ""
        last = STANDS_FOR.get(before[at - 1], before[at - 1])
        if last in _AT or before[at - 1] in _OVER:
            return min(3.0, telling) / 2, "at"
        if last in _IS and not (one.endswith(_PARTICIPLES) or two.endswith(_PARTICIPLES)):
            return min(3.0, telling) / 2, "is"
        break
    return min(3.0, telling) / 2, ""


def _said(reading: Reading) -> list[str]:
    return [word for word in reading.text.split()[:_MOST] if STANDS_FOR.get(word) not in _UNSAID]


def _choice_share(old: Reading, new: Reading) -> float:
    """Return how much of the old statement is the choice that the new one makes otherwise."""
    for slot, values in old.values.items():
        fresh, refused = new.values.get(slot, frozenset()), new.rejected.get(slot, frozenset())
        if slot not in WEAK and (fresh - values or refused & values):
            return 1 / (len(old.words) or 1)
    return 0.0
