"""Judge how a new statement relates to an old one.

`CHANGES` ends the old statement: the new one says so itself (`change.py`). `MAY_CHANGE` is only asked. All
other relations leave the old statement as it is.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from told.conflict.align import find_values, give_other_number
from told.conflict.change import find_choices, find_ending, find_rest
from told.conflict.parts import read_list
from told.conflict.reading import PLACE, WEAK_SLOTS, Reading, has_phrase, load_words
from told.conflict.same import reverses, say_same
from told.conflict.statement import read_rules, read_whole
from told.conflict.subjects import find_difference, read_frame
from told.search.tokens import SLOTS, canonical_stem

SAME, CHANGES, MAY_CHANGE = "same", "changes", "may change"
REFINES, ELSEWHERE, INDEPENDENT = "refines", "elsewhere", "independent"
KINDS = (SAME, CHANGES, MAY_CHANGE, REFINES, ELSEWHERE, INDEPENDENT)
_AREA = load_words("area")
_BEFORE_CASE = PLACE - {"on"}  # also "we", in French
_ONLY, _IS = load_words("only"), load_words("is_singular") | {"means"}
_PARTICIPLES = ("ed", "en", "ing")
_MEASURED = frozenset(map(canonical_stem, load_words("measured")))
_MIN_COMMON, _MIN_ALIKE = 0.5, 0.7  # share of an old statement that a new one must have
_MIN_FORM = 5  # letters of a word of which another may be a longer form


class Relation(NamedTuple):
    """How a new statement relates to an old one."""

    kind: str
    why: str
    common: float = 0.0  # share of the old statement that the new one names


_NOTHING = Relation(INDEPENDENT, "nothing in common")


def judge(old: str, new: str) -> Relation:
    """Judge a new statement against an old one."""
    if say_same(old, new):
        return Relation(SAME, "the same words", 1.0)
    if reverses(old, new):
        return Relation(CHANGES, "says the opposite", 1.0)
    whole = _judge_sentences(read_whole(old), read_whole(new))
    if whole.kind == CHANGES:
        return whole
    before, now = read_rules(old), read_rules(new)
    parts = [_judge_sentences(one, other) for one in before for other in now]
    ended = next((one for one in parts if one.kind == CHANGES), None)
    if ended and len(before) == 1:
        return ended
    if ended:  # the other half of the old statement may still be true
        return Relation(MAY_CHANGE, "changes a part of it", ended.common)
    return whole if len(parts) == 1 else max((whole, *parts), key=lambda one: -KINDS.index(one.kind))


def _judge_sentences(old: Reading, new: Reading) -> Relation:
    forms = _find_forms(old, new)
    words = {forms.get(word, word) for word in new.words}
    shared = sum(weight for word, weight in old.words.items() if word in words)
    common = round(shared / (sum(old.words.values()) or 1.0), 3)
    is_other, is_rejected = _compare_choices(old, new)
    if not old.words or not new.words or not (common or is_other or is_rejected):
        return _NOTHING
    if (why := find_ending(old, new)) and not _begins_elsewhere(old, new):
        return Relation(CHANGES, why, common)
    if why := find_difference(old, new):
        return Relation(INDEPENDENT, why, common)
    if is_rejected and is_other and common >= _MIN_COMMON and not has_phrase(new, "except"):
        return Relation(MAY_CHANGE, "drops what the old one names", common)
    if _give_same_subject(old, new):
        return Relation(MAY_CHANGE, "gives another value", common)
    if _limits_list(old, new) or find_rest(old, new):
        return Relation(MAY_CHANGE, "drops a part of the old one", common)
    is_denied = not old.affirmed.isdisjoint(forms.get(word, word) for word in new.denied)
    is_conflict = is_other or is_rejected or is_denied or give_other_number(old, new)
    if _is_elsewhere(old, new):
        return Relation(ELSEWHERE if is_conflict else INDEPENDENT, "for another part", common)
    if has_phrase(new, "except") or has_phrase(new, "add"):
        return Relation(REFINES, "adds a condition or a detail", common)
    is_mention = "?" in new.tokens or has_phrase(new, "insist")
    if not is_mention and (why := _find_likely_change(old, new, words, common, is_conflict=is_conflict)):
        return Relation(MAY_CHANGE, why, common)
    is_detail = has_phrase(new, "allow") or (new.counts and not old.counts)
    return Relation(REFINES if is_detail else INDEPENDENT, "about something else", common)


def _find_likely_change(
    old: Reading, new: Reading, words: Collection[str], common: float, *, is_conflict: bool
) -> str:
    """Return why a new statement probably ends an old one, although it does not say so."""
    if common >= _MIN_COMMON and _changes_choice_only(old, new, words):
        return "names another choice for the same thing"
    if any(find_values(old, new)):
        return "gives another value"
    if common >= _MIN_ALIKE and new.words.keys() <= old.words.keys() and _give_other_measure(old, new):
        return "gives another number"
    is_announced = any(has_phrase(new, name) for name in ("change", "announce", "hint"))
    is_near = is_conflict or common >= _MIN_COMMON or not find_choices(old).isdisjoint(words)
    return "announces a change of the same thing" if is_announced and is_near else ""


def _give_same_subject(old: Reading, new: Reading) -> bool:
    """Tell whether both say what the same thing is: "The main metric is …"."""
    topic = read_frame(old).topic
    found = [next((at for at, word in enumerate(one.tokens) if word in _IS), 0) for one in (old, new)]
    after = [one.tokens[at + 1 : at + 2] for one, at in zip((old, new), found, strict=True)]
    is_state = any(not word or word[0].endswith(_PARTICIPLES) for word in after)  # "is stored on"
    return bool(topic) and topic == read_frame(new).topic and all(found) and not is_state


def _limits_list(old: Reading, new: Reading) -> bool:
    """Tell whether a statement names only a part of what the old one lists."""
    is_limited = not _ONLY.isdisjoint({*new.tokens}.difference(old.tokens))
    return is_limited and new.words.keys() < old.words.keys() and bool(read_list(old))


def _is_elsewhere(old: Reading, new: Reading) -> bool:
    """Tell whether a statement is limited to a part or a place that the old one does not name."""
    if _begins_elsewhere(old, new):
        return True
    areas = {canonical_stem(token) for token in new.tokens if token in _AREA} - old.words.keys()
    return (
        bool(areas)
        or has_phrase(new, "stays")
        or any("/" in word for word in new.words.keys() - old.words.keys())
    )


def _begins_elsewhere(old: Reading, new: Reading) -> bool:
    """Tell whether a statement begins with a place or case that the old one does not name: "For yen …"."""
    return new.first in _BEFORE_CASE and bool(new.head) and new.head not in old.words


def _find_forms(old: Reading, new: Reading) -> dict[str, str]:
    """Map new words to the old words that they are longer or shorter forms of."""
    fresh = [word for word in new.words if word not in old.words and len(word) >= _MIN_FORM]
    known = [word for word in old.words if word not in new.words and len(word) >= _MIN_FORM]
    pairs = [(one, other) for one in known for other in fresh]
    return {new: old for old, new in pairs if new.startswith(old) or old.startswith(new)}


def _compare_choices(old: Reading, new: Reading) -> tuple[bool, bool]:
    """Tell whether a statement makes another choice, and whether it rejects the old one."""
    slots = [slot for slot in old.values if slot not in WEAK_SLOTS]
    chosen = [(old.values[slot], new.values.get(slot, frozenset())) for slot in slots]
    is_rejected = any(old.values[slot] & new.rejected.get(slot, frozenset()) for slot in slots)
    return any(now and before.isdisjoint(now) for before, now in chosen), is_rejected


def _changes_choice_only(old: Reading, new: Reading, words: Collection[str]) -> bool:
    """Tell whether another choice is all that a statement names and the old one does not."""
    lost = {slot for key in find_choices(old) - {*words} for slot in SLOTS.get(key, ())} - WEAK_SLOTS
    is_other = not lost.isdisjoint(new.values)
    return is_other and all(set(SLOTS.get(word, ())) - WEAK_SLOTS for word in words if word not in old.words)


def _give_other_measure(old: Reading, new: Reading) -> bool:
    """Tell whether both give one measure of the same thing, in other words: "on port 9090"."""
    named = {count.about for count in (*old.counts, *new.counts) if not count.unit}
    return len(new.counts) == 1 and named <= _MEASURED and give_other_number(old, new)
