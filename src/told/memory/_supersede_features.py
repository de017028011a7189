"""What can be seen between an old and a new reading: the evidence from which a relation is judged."""

from __future__ import annotations

from told.memory import _supersede_cues as cues
from told.memory._supersede_meeting import WEAK, meeting
from told.memory._supersede_phrasing import phrasing
from told.memory._supersede_read import has
from told.record import record, replaced
from told.search.kinship import SLOTS, TASKS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.memory._supersede_counts import Count
    from told.memory._supersede_read import Reading

_ADDING = cues.words("""
and also plus und auch et aussi y además e também but aber except außer sauf unless excepto salvo exceto
with only
""")
_PATHS = "/"
# What tells only between statements that nobody brought together.
SEEN_BY_MANY = frozenset((
    "opening", "opening_at", "opening_is", "opening_short", "slot_share", "early", "early_cover", "late_only",
    "turned", "held", "head_same", "head_known", "head_same_conflict", "head_other", "head_other_conflict",
    "head_other_still", "names_only", "names_only_still", "names_none", "typed", "typed_change",
    "typed_not_still", "elsewhere", "apart", "choice_only", "name_swapped", "name_swapped_head",
))  # fmt: skip


@record
class Marks:
    """The turns of phrase of a message: 1.0 where there is one."""

    change: float
    hint: float
    allow: float
    stays: float
    insist: float
    adds: float
    excepts: float
    asks: float


def marks_of(new: Reading) -> Marks:
    """Find the turns of phrase of a message."""
    return Marks(
        float(has(new, cues.CHANGE, cues.CHANGE_UNSPACED)),
        float(has(new, cues.HINT)),
        float(has(new, cues.ALLOW)),
        float(has(new, cues.STAYS, cues.STAYS_UNSPACED)),
        float(has(new, cues.INSIST, cues.INSIST_UNSPACED)),
        float(has(new, cues.ADD, cues.ADD_UNSPACED)),
        float(has(new, cues.EXCEPT, cues.EXCEPT_UNSPACED)),
        float(has(new, cues.ASKS)),
    )


def in_common(old: Reading, new: Reading) -> bool:
    """Tell whether two readings share a word, a form of one, or a choice."""
    if not old.words.keys().isdisjoint(new.words):
        return True
    choices = (new.values.keys() | new.rejected.keys()) & (old.values.keys() | old.rejected.keys())
    return bool(choices) or bool(forms_of(old, new))


def features(old: Reading, new: Reading, marks: Marks, older: Reading | None = None) -> dict[str, float]:
    """Compare two readings; every figure lies between 0 and about 3."""
    forms = forms_of(old, new)
    new = _aligned(new, forms)
    change, hint, allow, stays = marks.change, marks.hint, marks.allow, marks.stays
    insist, adds, excepts = marks.insist, marks.adds, marks.excepts
    shared = old.words.keys() & new.words.keys()
    weight = sum(old.words[word] for word in shared)
    point_cover = len(old.point & new.words.keys()) / (len(old.point) or 1)
    topic = old.words.keys() - old.point
    topic_cover = len(topic & new.words.keys()) / (len(topic) or 1)
    cover = weight / (sum(old.words.values()) or 1.0)
    cover_new = weight / (sum(new.words.values()) or 1.0)
    ends = _sum(old, shared & old.affirmed & new.denied)
    allows = _sum(old, shared & old.denied & new.affirmed)
    agrees = _sum(old, (shared & old.affirmed & new.affirmed) | (shared & old.denied & new.denied))
    slot_other, slot_same, slot_rejected = _slots(old, new)
    number_other, number_same = _numbers(old.counts, new.counts)
    old_keys = old.words.keys() | old.areas
    area = min(2.0, float(len(new.areas - old_keys)))
    path = float(any(_PATHS in name for name in new.names - old_keys))
    place = min(2.0, float(len([word for word in new.places - old_keys if not _valued(word, old)])))
    novel = len([word for word in new.words if word not in old.words and not _valued(word, old)])
    conflict = min(2.0, max(slot_other, slot_rejected, number_other, min(1.0, ends), min(1.0, allows)))
    anchor = min(1.0, weight + slot_rejected)
    back = _back(old, new, older)
    subject_same = float(bool(old.subject & new.subject))
    subject_new = float(bool(new.subject) and not new.subject & old_keys and not _any_value(new.subject, old))
    subject_other = float(bool(old.subject) and subject_new > 0)
    kin = _kin(old, new)
    limited = min(1.0, area + 0.5 * place + stays)
    found = {
        "bias": 1.0,
        "cover": cover,
        "cover_new": cover_new,
        "both": cover * cover_new,
        "shared": min(3.0, weight) / 3,
        "none": float(not weight and not slot_other and not slot_rejected),
        "ends": min(1.0, ends),
        "ends_point": float(bool(old.point & old.affirmed & new.denied)),
        "allows": min(1.0, allows),
        "agrees": min(3.0, agrees) / 3,
        "agrees_only": cover * float(conflict == 0),
        "slot_other": slot_other,
        "slot_same": slot_same,
        "slot_rejected": slot_rejected,
        "slot_added": float(
            any(
                values & new.values.get(slot, values) and new.values.get(slot, values) - values
                for slot, values in old.values.items()
            )
        ),
        "slot_foreign": float(bool(old.values and new.values) and old.values.keys().isdisjoint(new.values)),
        "slot_moved": min(slot_other, slot_rejected),
        "number_other": number_other,
        "number_same": number_same,
        "number_new": float(bool(new.counts) and not old.counts),
        "number_gone": float(bool(old.counts) and not new.counts),
        "change": change,
        "hint": hint,
        "subject_hit": float(bool(old.subject & new.words.keys())),
        "subject_named": float(not old.subject or bool(old.subject & new.words.keys())),
        "change_anchor": change * anchor,
        "change_conflict": change * min(1.0, conflict),
        "hint_conflict": hint * min(1.0, conflict),
        "hint_free": hint * min(1.0, conflict) * float(limited == 0),
        "change_free": change * float(limited == 0),
        "conflict": min(1.0, conflict),
        "conflict_limited": min(1.0, conflict) * limited,
        "conflict_path": min(1.0, conflict) * path,
        "conflict_free": min(1.0, conflict) * float(limited == 0),
        "conflict_anchor": min(1.0, conflict) * min(1.0, weight),
        "conflict_new_subject": min(1.0, conflict) * subject_new,
        "conflict_other_subject": min(1.0, conflict) * subject_other,
        "allow": allow,
        "allow_conflict": allow * min(1.0, conflict),
        "stays": stays,
        "insist": insist,
        "insist_anchor": insist * anchor * float(conflict == 0),
        "adds": adds,
        "excepts": excepts,
        "starts_adding": float(new.first in _ADDING),
        "area": area,
        "path": path,
        "place": place,
        "novel": min(6, novel) / 6,
        "nothing_new": float(novel == 0),
        "subject_same": subject_same,
        "subject_new": subject_new,
        "subject_other": subject_other,
        "kin": kin,
        "back": back,
        "point_cover": point_cover,
        "topic_cover": topic_cover,
        "topic_only": topic_cover * float(not old.point & new.words.keys()),
        "topic_change": topic_cover * change * float(not old.point & new.affirmed),
        "point_agrees": float(bool(old.point)) * point_cover * float(conflict == 0 and not change),
        "starts_place": float(new.first in cues.PLACE),
        "starts_place_conflict": float(new.first in cues.PLACE) * min(1.0, conflict),
        "one_off": float(new.one_off),
        "points_back": float(new.points_back and not new.subject),
        "narrower": float(bool(old.subject) and old.subject < new.subject),
        "narrower_conflict": float(bool(old.subject) and old.subject < new.subject) * min(1.0, conflict),
        "fragment": float(not new.subject and not new.verb),
        "asks": marks.asks,
        "short_new": float(len(new.words) <= 2),
        "denies": float(bool(new.denied)),
        "old_denies": float(bool(old.denied)),
    }
    found |= meeting(old, new, conflict=conflict, change=change)
    verb_only = bool(old.verb) and old.verb == new.verb and weight < 1.5
    found["verb_only"] = float(verb_only and not (found["opening_at"] or found["opening_is"]))
    found = {name: value for name, value in found.items() if value}
    found.update(dict.fromkeys([f"~{sign}" for sign in phrasing(old, new, forms)], 0.5))
    return found


def forms_of(old: Reading, new: Reading) -> dict[str, str]:
    """Return the words of the new reading that are a longer or shorter form of an old one, with that one."""
    names = {}
    fresh = [word for word in new.words if word not in old.words and len(word) >= 4]
    for known in old.words:
        if len(known) < 4 or known in new.words:
            continue
        for word in fresh:
            short, long = (known, word) if len(known) < len(word) else (word, known)
            if long.startswith(short) or (len(short) >= 5 and long.endswith(short)):
                names[word] = known
    return names


def _aligned(new: Reading, names: dict[str, str]) -> Reading:
    """Give words of the new reading the name of the old word they are a form of."""
    if not names:
        return new
    return replaced(
        new,
        words={names.get(word, word): weight for word, weight in new.words.items()},
        affirmed=frozenset(names.get(word, word) for word in new.affirmed),
        denied=frozenset(names.get(word, word) for word in new.denied),
        subject=frozenset(names.get(word, word) for word in new.subject),
    )


def _sum(reading: Reading, words: frozenset[str] | set[str]) -> float:
    return sum(reading.words.get(word, 0.0) for word in words)


def _slots(old: Reading, new: Reading) -> tuple[float, float, float]:
    other = same = rejected = 0.0
    for slot, values in old.values.items():
        strength = 0.5 if slot in WEAK else 1.0
        fresh = new.values.get(slot, frozenset())
        if fresh & values:
            same = max(same, strength)
        elif fresh:
            other = max(other, strength)
        if values & new.rejected.get(slot, frozenset()):
            rejected = max(rejected, strength)
    for slot, values in old.rejected.items():
        if values & new.rejected.get(slot, frozenset()):
            same = max(same, 0.5)
    return (0.0 if same == 1.0 and not rejected else other), same, rejected


def _numbers(old: tuple[Count, ...], new: tuple[Count, ...]) -> tuple[float, float]:
    before = {count.value for count in old}
    after = {count.value for count in new}
    same = float(bool(before & after))
    other = 0.0
    for one in old:
        for two in new:
            if two.value in before or one.value in after:
                continue
            alike = (one.about and one.about in (two.about, two.of)) or (
                one.of and one.of in (two.about, two.of)
            )
            if (one.unit and one.unit == two.unit) or (alike and one.unit == two.unit):
                other = max(other, 1.0)
            elif not one.unit or not two.unit:
                other = max(other, 0.4)
    return other, same


def _back(old: Reading, new: Reading, older: Reading | None) -> float:
    if older is None:
        return 0.0
    fresh = (older.affirmed - old.affirmed) & new.affirmed
    return float(bool(fresh))


def _valued(word: str, old: Reading) -> bool:
    return any(slot in old.values or slot in old.rejected for slot in SLOTS.get(word, ()))


def _any_value(words: frozenset[str], old: Reading) -> bool:
    return any(_valued(word, old) for word in words)


def _kin(old: Reading, new: Reading) -> float:
    tasks: set[str] = set()
    for word in old.words:
        tasks |= TASKS.get(word, frozenset())
    return float(any(TASKS.get(word, frozenset()) & tasks for word in new.words if word not in old.words))
