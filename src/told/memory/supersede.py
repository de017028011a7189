"""What a new statement does to an old one: replaces, repeats or refines it, differs elsewhere, or nothing.

A wrong "replaces" ends a rule of the user's, so it needs evidence of its own: a word in common and a
value that changed, was denied, or was announced to change. Everything else is the milder relation.
"""

from __future__ import annotations

from math import exp

from told.memory._supersede_features import features, in_common, marks_of
from told.memory._supersede_read import read
from told.memory._supersede_weights import WEIGHTS
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from told.memory._supersede_features import Marks
    from told.memory._supersede_read import Reading

REPLACES = "replaces"
REPEATS = "repeats"
REFINES = "refines"
CONTRADICTS_SCOPE = "contradicts_scope"
INDEPENDENT = "independent"
LABELS = (REPLACES, REPEATS, REFINES, CONTRADICTS_SCOPE, INDEPENDENT)

# The least certainty with which an old statement is ended: with plain evidence, without, and if never.
SURE_ENOUGH, VERY_SURE, NEVER = 0.55, 0.7, 2.0

# The evidence worth naming to a user, strongest first, by label.
_WHY = {
    REPLACES: (
        ("back", "goes back to what it was before"),
        ("slot_moved", "names another choice and drops the old one"),
        ("slot_rejected", "drops what the old one names"),
        ("number_other", "gives another number"),
        ("slot_other", "names another choice for the same thing"),
        ("ends", "denies what the old one says"),
        ("allows", "allows what the old one forbids"),
        ("change", "announces a change of the same thing"),
    ),
    REPEATS: (("insist", "says it again"), ("both", "says the same in other words")),
    REFINES: (
        ("excepts", "adds a condition or an exception"),
        ("allow", "adds an exception"),
        ("adds", "adds a detail"),
        ("number_new", "adds a figure"),
    ),
    CONTRADICTS_SCOPE: (
        ("path", "differs, but for another folder"),
        ("stays", "differs, but only there"),
        ("area", "differs, but for another part or audience"),
        ("place", "differs, but for another place"),
    ),
    INDEPENDENT: (
        ("none", "nothing in common"),
        ("subject_other", "about another subject"),
        ("verb_only", "only the verb in common"),
    ),
}
_OTHERWISE = {
    REPLACES: "changes the same thing",
    REPEATS: "says the same",
    REFINES: "adds to it",
    CONTRADICTS_SCOPE: "differs, but elsewhere",
    INDEPENDENT: "about something else",
}


@record
class Relation:
    """How a new statement stands to an old one."""

    label: str
    certainty: float  # 0 to 1
    why: str  # a short phrase for the user


def relation(old: str, new: str, *, older: str = "") -> Relation:
    """Judge what a new statement does to an old one.

    Args:
        old: A stored statement.
        new: What the user says now, a statement or a whole message.
        older: What stood before `old` in its place, if anything did.
    """
    before, now = read(old), read(new)
    return _judged(before, now, marks_of(now), read(older) if older else None)


def judge(new: str, candidates: Sequence[str]) -> list[Relation]:
    """Judge what a new statement does to each of several old ones, in their order.

    A pair given to `relation` was brought together for a reason, and may share no word; these were not.
    """
    reading = read(new)
    marks = marks_of(reading)
    return [_stranger(read(old), reading, marks) for old in candidates]


def _stranger(old: Reading, new: Reading, marks: Marks) -> Relation:
    if not in_common(old, new) and old.raw.split() != new.raw.split():
        return Relation(INDEPENDENT, 1.0, "nothing in common")
    return _judged(old, new, marks, None, strangers=True)


def _judged(
    old: Reading, new: Reading, marks: Marks, older: Reading | None, *, strangers: bool = False
) -> Relation:
    if old.raw.split() == new.raw.split():
        return Relation(REPEATS, 1.0, "the same words")
    found = features(old, new, marks, older)
    empty = not (old.words and new.words) and not found.get("number_other")
    if found.get("none") and (strangers or empty):
        return Relation(INDEPENDENT, 1.0, "nothing in common")
    chances = _chances(found)
    label = max(LABELS, key=lambda one: chances[one])
    sure = SURE_ENOUGH if _may_replace(found) else NEVER if strangers or _keeps(found) else VERY_SURE
    if label == REPLACES and chances[REPLACES] < sure:
        label = max(LABELS[1:], key=lambda one: chances[one])
    return Relation(label, round(chances[label], 3), _why(label, found))


def _chances(found: dict[str, float]) -> dict[str, float]:
    scores = [0.0] * len(LABELS)
    for name, value in found.items():
        for place, weight in enumerate(WEIGHTS.get(name, ())):
            scores[place] += weight * value / 100
    top = max(scores)
    parts = [exp(score - top) for score in scores]
    return {label: part / sum(parts) for label, part in zip(LABELS, parts, strict=True)}


def _may_replace(found: dict[str, float]) -> bool:
    """Tell whether even a stranger is ended: something in common, something changed, no limit to where."""
    changes = found.get("change")
    if found.get("back") or (found.get("slot_rejected", 0.0) >= 1 and not found.get("excepts")):
        return True
    if _keeps(found):
        return False
    if found.get("slot_other", 0.0) >= 1:
        return True
    if found.get("none"):
        # "bumped everything to 22": no subject of its own, so it may mean the number of the old one.
        return bool(changes and found.get("number_other") and found.get("nothing_new"))
    if found.get("shared", 0.0) < 0.33:  # not one telling word in common
        return False
    if found.get("number_other", 0.0) >= 1:
        return bool(found.get("subject_named") or (changes and found.get("nothing_new")))
    cover = found.get("cover", 0.0)
    if found.get("ends") or found.get("allows"):
        return cover >= (0.2 if found.get("ends_point") else 0.33)
    # Only announced: it must be about the old subject, and not about another choice than the old one's.
    about = (found.get("subject_hit") and cover >= 0.3) or cover >= 0.5
    return bool(changes and about and not found.get("slot_foreign"))


def _keeps(found: dict[str, float]) -> bool:
    """Tell whether the old one stays: it says the same, is limited or added to, or a rule of its own."""
    if found.get("slot_same", 0.0) >= 1 and not found.get("number_other") and not found.get("slot_added"):
        return True
    if found.get("change"):
        return False
    if any(found.get(name) for name in ("path", "stays", "excepts", "adds", "starts_adding")):
        return True
    polar = found.get("ends") or found.get("allows")
    new_ban = (
        polar and not found.get("hint") and found.get("novel", 0.0) >= 0.33 and found.get("cover", 0.0) < 0.6
    )
    return bool(new_ban and found.get("slot_other", 0.0) < 1)


def _why(label: str, found: dict[str, float]) -> str:
    return next((text for name, text in _WHY[label] if found.get(name)), _OTHERWISE[label])
