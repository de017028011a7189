"""What a new statement does to an old one: replaces, repeats or refines it, differs elsewhere, or nothing.

A wrong "replaces" ends a rule of the user's, so it must be far likelier than anything else. Among many old
statements that merely share a word it is judged by a model of its own, and only the likeliest is ended.
"""

from __future__ import annotations

from math import exp

from told.memory._supersede_features import features, in_common, marks_of
from told.memory._supersede_read import read
from told.memory._supersede_weights import ENDING, WEIGHTS
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from told.memory._supersede_read import Reading

REPLACES = "replaces"
REPEATS = "repeats"
REFINES = "refines"
CONTRADICTS_SCOPE = "contradicts_scope"
INDEPENDENT = "independent"
LABELS = (REPLACES, REPEATS, REFINES, CONTRADICTS_SCOPE, INDEPENDENT)

# The least certainty with which a statement ends the one it was brought together with, and one of many:
# if the relation looks otherwise, and if it looks the same. Beside the likeliest, others end only if obvious.
SURE, ENDS, ENDS_ALIKE, OBVIOUS = 0.65, 0.6, 0.5, 0.97
DOUBTED = 0.36  # below this the relation looks too much otherwise
_MOST_KEPT = 4096
_EVIDENCE = (
    ("slot_other", 1.0), ("slot_rejected", 1.0), ("number_other", 1.0), ("ends", 0.3), ("allows", 0.3),
    ("turned", 1.0), ("change", 1.0), ("hint", 1.0), ("opening_at", 0.1), ("opening_is", 0.1),
    ("name_swapped", 1.0),
)  # fmt: skip
# An order of its own, with no word in common and none of these, does not lean on the old one.
_LEANS = (
    "change",
    "hint",
    "insist",
    "allow",
    "excepts",
    "adds",
    "starts_adding",
    "points_back",
    "kin",
    "back",
)

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
    before, now = _read(old), _read(new)
    if before.plain == now.plain:
        return Relation(REPEATS, 1.0, "the same words")
    found = features(before, now, marks_of(now), _read(older) if older else None)
    orders = before.verb and now.verb and not before.subject and not now.subject
    alone = not (before.words and now.words) or (orders and not any(map(found.get, _LEANS)))
    if found.get("none") and alone and not found.get("number_other"):
        return Relation(INDEPENDENT, 1.0, "nothing in common")
    chances = _chances(found)
    may_end = chances[REPLACES] >= SURE and (_evident(found) or chances[REPLACES] >= OBVIOUS)
    return _likeliest(found, chances, LABELS if may_end else LABELS[1:])


def judge(new: str, candidates: Sequence[str]) -> list[Relation]:
    """Judge what a new statement does to each of several old ones, in their order.

    A pair given to `relation` was brought together for a reason, and may share no word; these were not.
    """
    now = _read(new)
    marks = marks_of(now)
    seen: list[tuple[dict[str, float], float] | Relation] = []
    best = 0.0
    for old in candidates:
        before = _read(old)
        if before.plain == now.plain:
            seen.append(Relation(REPEATS, 1.0, "the same words"))
        elif not in_common(before, now):
            seen.append(Relation(INDEPENDENT, 1.0, "nothing in common"))
        else:
            found = features(before, now, marks)
            ending = _ending(found)
            seen.append((found, ending))
            best = max(best, _rank(found, ending))
    return [one if isinstance(one, Relation) else _met(*one, best) for one in seen]


def likely(old: str, new: str) -> tuple[dict[str, float], float]:
    """Return how likely each relation is between two statements, and how likely the new one ends the old.

    The first is for two that were brought together, the second for two that merely meet.
    """
    now = _read(new)
    found = features(_read(old), now, marks_of(now))
    return _chances(found), _ending(found)


def _met(found: dict[str, float], ending: float, best: float) -> Relation:
    chances = _chances(found)
    if found.get("apart"):
        return _likeliest(found, chances, LABELS[1:])
    alike = chances[REPLACES] >= max(chances.values())
    if found.get("choice_only") and ending >= OBVIOUS:
        return Relation(REPLACES, ending, _why(REPLACES, found))
    if ending < (ENDS_ALIKE if alike else ENDS) or chances[REPLACES] < DOUBTED or not _evident(found):
        return _likeliest(found, chances, LABELS[1:])
    if _rank(found, ending) >= best or ending >= OBVIOUS:
        return Relation(REPLACES, round(ending, 3), _why(REPLACES, found))
    return _likeliest(found, chances, LABELS[1:])


def _rank(found: dict[str, float], ending: float) -> float:
    """Return how near a statement is to being the one that is meant: best if the choice is all it says."""
    return ending + 0.2 * found.get("slot_share", 0.0)


def _likeliest(found: dict[str, float], chances: dict[str, float], labels: Sequence[str]) -> Relation:
    label = max(labels, key=lambda one: chances[one])
    return Relation(label, round(chances[label], 3), _why(label, found))


_readings: dict[str, Reading] = {}


def _read(text: str) -> Reading:
    """Read a text; what is held against many is read once."""
    found = _readings.get(text)
    if found is None:
        if len(_readings) >= _MOST_KEPT:
            _readings.clear()
        found = _readings[text] = read(text)
    return found


def _chances(found: dict[str, float]) -> dict[str, float]:
    scores = [0.0] * len(LABELS)
    for name, value in found.items():
        for place, weight in enumerate(WEIGHTS.get(name, ())):
            scores[place] += weight * value / 100
    top = max(scores)
    parts = [exp(score - top) for score in scores]
    total = sum(parts)
    return {label: part / total for label, part in zip(LABELS, parts, strict=True)}


def _evident(found: dict[str, float]) -> bool:
    """Tell whether something is seen to change: a value, a denial, an announcement, or what follows alike."""
    if found.get("slot_same", 0.0) >= 1 and not any(
        map(found.get, ("slot_rejected", "slot_added", "number_other", "opening_at", "opening_is"))
    ):
        return False  # it makes the same choice
    if found.get("elsewhere"):
        return False
    return any(found.get(name, 0.0) >= least for name, least in _EVIDENCE)


def _ending(found: dict[str, float]) -> float:
    if found.get("choice_only") and not found.get("elsewhere"):
        return OBVIOUS
    score = sum(ENDING.get(name, 0) * value for name, value in found.items()) / 100
    return 1 / (1 + exp(-max(-30.0, min(30.0, score))))


def _why(label: str, found: dict[str, float]) -> str:
    return next((text for name, text in _WHY[label] if found.get(name)), _OTHERWISE[label])
