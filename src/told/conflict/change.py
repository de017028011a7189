"""Tell whether a new statement itself says that an old one is no longer true.

It does so with a change word and what it ends ("npm is gone", "the port is 9090 now"), or by giving another
value of the same attribute ("The port is 8000.", "The port is 9000.").
"""

from __future__ import annotations

from told.conflict.align import (
    are_alternatives,
    find_values,
    give_other_measure,
    give_other_number,
    give_other_value,
)
from told.conflict.parts import denies_whole, read_list, restates_rest
from told.conflict.places import ALL, ARTICLES
from told.conflict.reading import (
    CJK_PHRASES,
    EMPTY,
    PLACE,
    WEAK_SLOTS,
    Reading,
    find_denied,
    has_phrase,
    is_name,
    is_number,
    load_words,
)
from told.conflict.subjects import Frame, find_difference, read_frame
from told.search.tokens import PUNCTUATION, SLOTS, VALUES, canonical_stem, tokenize
from told.words import is_unspaced

_IS_SINGULAR, _BACK, _ONLY = load_words("is_singular"), load_words("back"), load_words("only")
_FORMING, _BEFORE_NOUN = load_words("forming"), ARTICLES | ALL
_MAX_VALUE = 3  # words
BARE_CHOICE = "switches to another choice"  # ends one statement at most


def find_ending(old: Reading, new: Reading) -> str:
    """Return why a new statement ends an old one; empty if it does not say so."""
    if not old.words or find_difference(old, new) or has_phrase(new, "except"):
        return ""
    if rest := find_rest(old, new):  # the list ends only if the new one repeats what is left of it
        return "drops a part of the old one" if restates_rest(old, new, rest) else ""
    if denies_whole(old, new):
        return "denies what the old one says"
    is_announced = has_phrase(new, "change") or has_phrase(new, "announce")
    if is_announced or not _BACK.isdisjoint(new.tokens):
        if not _ONLY.intersection(new.tokens) <= set(old.tokens):
            return ""
        has_other = give_other_value(old, new) and not has_phrase(new, "add")
        other = "gives another value" if has_other else ""
        return _find_dropped(old, new) or _find_new_value(old, new) or other
    return _find_contrast(old, new) or _find_other_value(old, new)


def find_rest(old: Reading, new: Reading) -> frozenset[str]:
    """Return what is left of an old list of which a new statement drops a part; else nothing."""
    items = read_list(old)
    clauses = _split_dropped(new) if items else []
    dropped = {item for clause in clauses if clause - items <= old.words.keys() for item in clause & items}
    return items - dropped if dropped else frozenset()


def goes_back_to(new: Reading, former: Reading) -> bool:
    """Tell whether a statement returns to the choice of a former one."""
    return not _BACK.isdisjoint(new.tokens) and not find_choices(former).isdisjoint(new.affirmed)


def find_choices(reading: Reading) -> frozenset[str]:
    """Return what a statement chose: values of slots, and names in its value."""
    frame = read_frame(reading)
    if is_unspaced_text(reading):
        return frozenset(key for key in frame.keys if key.isascii() and key in VALUES.values())
    chosen = {value for slot, found in reading.values.items() if slot not in WEAK_SLOTS for value in found}
    for number, place in enumerate(frame.at):
        token, key = reading.tokens[place], frame.keys[number]
        if number >= frame.value and (is_name(token) or key in reading.proper_names):
            chosen.add(key)
    if frame.keys and (frame.value == 0 or len(frame.keys) == 1):
        chosen.add(frame.keys[0])  # "Use Foo for the docs."
    return frozenset(chosen & reading.affirmed) - _find_modifiers(frame)


def _find_modifiers(frame: Frame) -> set[str]:
    """Return the words before another noun: "Redis" in "the Redis password"."""
    places = zip(frame.keys, frame.at, frame.at[1:], strict=False)
    return {key for key, place, after in places if after == place + 1}


def _find_dropped(old: Reading, new: Reading) -> str:
    """Detect that the new statement drops what the old one chose."""
    frame = read_frame(old)
    choices = find_choices(old)
    values = frozenset(frame.keys[frame.value :]) & old.affirmed - _find_modifiers(frame)
    for clause in _split_dropped(new):
        dropped = (values if len(clause & values) == len(clause) == 1 else choices) & clause
        if dropped and clause - dropped <= old.words.keys():
            return "drops what the old one names"
    return ""


def _find_contrast(old: Reading, new: Reading) -> str:
    """Detect another choice for the same subject that names the old one: "spaces, not tabs"."""
    chosen, dropped = find_choices(new) - old.affirmed, find_choices(old) & new.denied
    before, now = set(read_frame(old).keys) - dropped, set(read_frame(new).keys) - dropped - chosen
    is_same = before <= now or now <= before
    return _find_dropped(old, new) if chosen and dropped and is_same else ""


def _split_dropped(new: Reading) -> list[frozenset[str]]:
    """Return the denied content words of each clause."""
    if is_unspaced_text(new):
        return _split_dropped_unspaced(new)
    clauses: list[set[str]] = [set()]
    for token, is_denied in zip(new.tokens, find_denied(list(new.tokens)), strict=True):
        if token in PUNCTUATION:
            clauses.append(set())
        elif is_denied and token not in EMPTY and not is_number(token):
            clauses[-1].add(canonical_stem(token))
    return [frozenset(clause) for clause in clauses if clause]


def is_unspaced_text(reading: Reading) -> bool:
    """Tell whether a statement is Chinese, Japanese or the like."""
    return any(is_unspaced(token[0]) for token in reading.tokens)


def _split_dropped_unspaced(new: Reading) -> list[frozenset[str]]:
    """Return the names in the clauses that deny something: grammar is in the raw text only."""
    clauses = [new.raw]
    for mark in CJK_PHRASES["marks"]:
        clauses = [part for clause in clauses for part in clause.split(mark)]
    return [
        frozenset(canonical_stem(token) for token in tokenize(clause) if token.isascii() or token in VALUES)
        for clause in clauses
        if any(negation in clause for negation in CJK_PHRASES["negations"])
    ]


def _find_new_value(old: Reading, new: Reading) -> str:
    """Detect a change word with another value of the same subject."""
    if give_other_measure(old, new):
        return "gives another number"
    before, now = read_frame(old), read_frame(new)
    lost = [key for key in before.keys if key not in now.keys]
    fresh = [key for key in now.keys if key not in before.keys]
    is_bare = 0 < len(now.keys) <= 2 and all(set(SLOTS.get(key, ())) - WEAK_SLOTS for key in now.keys)
    if is_bare:  # "switched to pnpm"
        is_other = are_alternatives([key for key in lost if key in find_choices(old)], fresh)
        return BARE_CHOICE if is_other else ""
    if now.topic.isdisjoint(before.topic) or not now.topic <= set(before.keys):
        return ""
    if not before.topic <= now.topic and old.head not in now.topic:
        return ""
    if max(len(lost), len(fresh)) > _MAX_VALUE + 1:
        return ""
    if are_alternatives(lost, fresh):
        return "names another choice for the same thing"
    has_number = len(old.counts) == len(new.counts) == 1 and give_other_number(old, new)
    return "gives another number" if has_number and lost and fresh else ""


def _find_other_value(old: Reading, new: Reading) -> str:
    """Detect two statements that differ only in the value of one attribute."""
    if give_other_measure(old, new):
        return "gives another number"
    ours, theirs = find_values(old, new)
    if len(ours) != 1 or len(theirs) != 1:
        return ""
    if are_alternatives(ours, theirs):
        return "names another choice for the same thing"
    before = [one for one in old.units[: old.units.index(ours[0])] if one not in _BEFORE_NOUN]
    if before and before[-1] in PLACE:
        before.pop()  # "is in Dublin"
    is_definite = bool(before) and before[-1] in _IS_SINGULAR
    has_form = not _FORMING.isdisjoint(before)
    return "gives another name" if (is_definite or has_form) and give_other_value(old, new) else ""
