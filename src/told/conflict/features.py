"""Compute the features from which the relation of two statements is judged."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from itertools import pairwise

from told.conflict.change import find_choices, find_ending
from told.conflict.reading import (
    DENY,
    EMPTY,
    PLACE,
    WEAK_SLOTS,
    Count,
    Reading,
    has_phrase,
    is_number,
    load_groups,
    load_words,
    split_number,
)
from told.conflict.subjects import find_difference, read_frame
from told.search.tokens import PUNCTUATION, SLOTS, TASKS, VALUES, canonical_stem
from told.search.vectors.arithmetic import similarity
from told.search.vectors.table import make_vector

_CANONICAL = load_groups("canonical")
_AREA, _ONE_OFF, _ONE_THING = load_words("area"), load_words("one_off"), load_words("one_thing")
_MARKS = ("hint", "allow", "insist", "add", "stays", "except")
_MIN_FORM, _MIN_COMPOUND = 4, 5  # letters of a word that another may be a longer form or compound of
_MAX_PHRASING = 40  # words
_SIGN = "~"  # before the name of a feature of the wording


def share_anything(old: Reading, new: Reading) -> bool:
    """Tell whether two readings share a word or a choice."""
    if not old.words.keys().isdisjoint(new.words):
        return True
    choices = (new.values.keys() | new.rejected.keys()) & (old.values.keys() | old.rejected.keys())
    return bool(choices) or bool(_find_forms(old, new))


def measure_common(old: Reading, new: Reading) -> float:
    """Return the share of an old statement that a new one names, or gives another choice for."""
    forms = _find_forms(old, new)
    words = {forms.get(word, word) for word in new.words}
    other, _, rejected = _compare_slots(old, new)
    chosen = float(max(other, rejected) == 1 and len(old.words.keys() & words) == 0)
    return (_sum_weights(old, words) + chosen) / (sum(old.words.values()) or 1.0)


def extract_features(old: Reading, new: Reading, older: Reading | None = None) -> dict[str, float]:
    """Compare two readings; every feature is between 0 and about 3.

    Args:
        old: The stored statement.
        new: The new one.
        older: The statement that the old one replaced, if known.
    """
    forms = _find_forms(old, new)
    words = {forms.get(word, word): weight for word, weight in new.words.items()}
    denied = {forms.get(word, word) for word in new.denied}
    affirmed = {forms.get(word, word) for word in new.affirmed}
    shared = old.words.keys() & words.keys()
    weight = _sum_weights(old, shared)
    cover = weight / (sum(old.words.values()) or 1.0)
    cover_new = weight / (sum(words.values()) or 1.0)
    ends = min(1.0, _sum_weights(old, shared & old.affirmed & denied))
    allows = min(1.0, _sum_weights(old, shared & old.denied & affirmed))
    other, same, rejected = _compare_slots(old, new)
    number_other, number_same = _compare_counts(old.counts, new.counts)
    conflict = max(other, rejected, number_other, ends, allows)
    change = float(has_phrase(new, "change"))
    marks = {name: float(has_phrase(new, name)) for name in _MARKS}
    novel = [word for word in words if word not in old.words and not _fills_slot(word, old)]
    limited = [word for word in new.places if word in novel]
    one, two = read_frame(old), read_frame(new)
    topic_shared = bool(one.topic & set(two.keys))
    calm = float(conflict == 0)
    areas = {canonical_stem(token) for token in new.tokens if token in _AREA} - old.words.keys()
    elsewhere = min(1.0, len(areas) + 0.5 * len(limited) + marks["stays"])
    found = {
        "bias": 1.0,
        "cover": cover,
        "cover_new": cover_new,
        "both": cover * cover_new,
        "shared": min(3.0, weight) / 3,
        "none": float(not weight and not other and not rejected),
        "ends": ends,
        "allows": allows,
        "agrees": cover * calm,
        "slot_other": other,
        "slot_same": same,
        "slot_rejected": rejected,
        "slot_foreign": float(bool(old.values and new.values) and old.values.keys().isdisjoint(new.values)),
        "number_other": number_other,
        "number_same": number_same,
        "number_new": float(bool(new.counts) and not old.counts),
        "number_gone": float(bool(old.counts) and not new.counts),
        "change": change,
        "change_shared": change * min(1.0, weight + rejected),
        "change_conflict": change * conflict,
        "conflict": conflict,
        "conflict_elsewhere": conflict * elsewhere,
        "conflict_here": conflict * float(not elsewhere),
        "change_here": change * float(not elsewhere),
        "conflict_shared": conflict * min(1.0, weight),
        "ending": float(bool(find_ending(old, new))),
        "other_subject": float(bool(find_difference(old, new))),
        "choice_named": float(not find_choices(old).isdisjoint(words)),
        **marks,
        "hint_conflict": marks["hint"] * conflict,
        "allow_conflict": marks["allow"] * conflict,
        "insist_calm": marks["insist"] * calm * min(1.0, weight),
        "area": min(2.0, float(len(areas))),
        "one_off": float(_is_one_off(new)),
        "path": float(any("/" in name for name in new.names - old.names)),
        "name_new": float(bool(new.proper_names - old.words.keys()) or bool(new.names - old.names)),
        "limited": min(2.0, float(len(limited))),
        "starts_place": float(new.first in PLACE),
        "starts_place_conflict": float(new.first in PLACE) * conflict,
        "novel": min(6, len(novel)) / 6,
        "nothing_new": float(not novel),
        "topic_shared": float(topic_shared),
        "topic_same": float(bool(one.topic) and one.topic == two.topic),
        "topic_other": float(bool(one.topic and two.topic) and one.topic.isdisjoint(two.topic)),
        "topic_other_conflict": conflict * float(bool(two.topic) and not topic_shared),
        "head_same": float(bool(old.head) and old.head == new.head),
        "head_known": float(new.head in old.words),
        "kin": float(_shares_task(old, new)),
        "back": float(older is not None and bool((older.affirmed - old.affirmed) & new.affirmed)),
        "points_back": float(new.has_pronoun),
        "asks": float("?" in new.tokens),
        "short_new": float(len(words) <= 2),
        "short_old": float(len(old.words) <= 2),
        "denies": float(bool(denied)),
        "old_denies": float(not DENY.isdisjoint(old.tokens)),
        **_compare_meaning(old, new, novel),
    }
    found = {name: value for name, value in found.items() if value}
    found.update(dict.fromkeys(_describe_wording(old, new, forms), 0.5))
    return found


def _is_one_off(new: Reading) -> bool:
    """Detect an order for one thing now: "fix the login page"."""
    words = [token for token in new.tokens if token not in PUNCTUATION]
    return len(words) > 1 and words[0] in _ONE_OFF and not _ONE_THING.isdisjoint(words[1:4])


def _describe_wording(old: Reading, new: Reading, forms: dict[str, str]) -> list[str]:
    """Return the words of a message and their pairs, with signs for what the old one has.

    S is a word both have, V another choice, / a new path; #=, #! and # are the same number, another one and
    a first one.
    """
    slots = old.values.keys() | old.rejected.keys()
    numbers = {count.digits for count in old.counts}
    signs = []
    for token in new.tokens[:_MAX_PHRASING]:
        key = canonical_stem(token)
        if token in PUNCTUATION:
            signs.append(token)
        elif is_number(token):
            signs.append("#=" if split_number(token)[0] in numbers else "#!" if numbers else "#")
        elif token not in EMPTY and (forms.get(key, key) in old.words or VALUES.get(token) in old.words):
            signs.append("S")
        elif any(slot in slots for slot in SLOTS.get(token, ())):
            signs.append("V")
        elif "/" in token:
            signs.append("/")
        else:
            signs.append(_CANONICAL.get(token, token))
    pairs = [f"{one} {two}" for one, two in pairwise(["^", *signs, "$"])]
    return sorted({f"{_SIGN}{sign}" for sign in (*signs, *pairs)})


def _compare_meaning(old: Reading, new: Reading, novel: Collection[str]) -> dict[str, float]:
    """Return how near two statements are in meaning, and the words that only one has."""
    lost = [word for word in old.words if word not in new.words]
    return {
        "near": _similarity(old.raw, new.raw),
        "near_rest": _similarity(" ".join(lost), " ".join(novel)),
    }


_embed = lru_cache(maxsize=1024)(make_vector)  # a statement that is compared with many is embedded once


def _similarity(one: str, other: str) -> float:
    first, second = _embed(one), _embed(other)
    return max(0.0, similarity(first, second)) if first and second else 0.0


def _find_forms(old: Reading, new: Reading) -> dict[str, str]:
    """Map new words to the old words they are forms of."""
    forms = {}
    fresh = [word for word in new.words if word not in old.words and len(word) >= _MIN_FORM]
    for known in old.words:
        if len(known) < _MIN_FORM or known in new.words:
            continue
        for word in fresh:
            short, long = (known, word) if len(known) < len(word) else (word, known)
            if long.startswith(short) or (len(short) >= _MIN_COMPOUND and long.endswith(short)):
                forms[word] = known
    return forms


def _sum_weights(reading: Reading, words: Collection[str]) -> float:
    return sum(weight for word, weight in reading.words.items() if word in words)


def _compare_slots(old: Reading, new: Reading) -> tuple[float, float, float]:
    """Return how much choices differ, agree and are rejected."""
    other = same = rejected = 0.0
    for slot, values in old.values.items():
        strength = 0.5 if slot in WEAK_SLOTS else 1.0
        fresh = new.values.get(slot, frozenset())
        if fresh & values:
            same = max(same, strength)
        elif fresh:
            other = max(other, strength)
        if values & new.rejected.get(slot, frozenset()):
            rejected = max(rejected, strength)
    return (0.0 if same == 1.0 and not rejected else other), same, rejected


def _compare_counts(old: tuple[Count, ...], new: tuple[Count, ...]) -> tuple[float, float]:
    """Return how far numbers for the same thing differ, and agree."""
    before = {count.value for count in old}
    after = {count.value for count in new}
    other = 0.0
    for one in old:
        for two in new:
            if two.value in before or one.value in after:
                continue
            around = (two.about, two.of)
            alike = (one.about and one.about in around) or (one.of and one.of in around)
            if one.unit == two.unit and (one.unit or alike):
                other = 1.0
            elif not one.unit or not two.unit:
                other = max(other, 0.4)
    return other, float(bool(before & after))


def _fills_slot(word: str, old: Reading) -> bool:
    """Tell whether a word fills a slot of the old reading."""
    return any(slot in old.values or slot in old.rejected for slot in SLOTS.get(word, ()))


def _shares_task(old: Reading, new: Reading) -> bool:
    """Tell whether a new and an old word share a task."""
    tasks = frozenset().union(*(TASKS.get(word, frozenset()) for word in old.words))
    return any(TASKS.get(word, frozenset()) & tasks for word in new.words if word not in old.words)
