"""Compare statements with stored memories and with each other."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from told.conflict.change import BARE_CHOICE, goes_back_to
from told.conflict.judge import REFINES, REPEATS, REPLACES, Relation, judge_many, judge_pair, read_cached
from told.conflict.reading import WEAK_SLOTS, Claim, Reading, load_words, read_claim
from told.conflict.subjects import find_difference
from told.search.query import parse_query
from told.search.rank import plan_query
from told.search.tokens import SLOTS, STOP_WORDS, canonical_stem, tokenize
from told.store.fts import quote_phrase
from told.store.memories.protocol import Memories
from told.store.memories.records import (
    ACTIVE,
    AGENT,
    ARCHIVED,
    GLOBAL,
    PRIVATE,
    PROJECT,
    SUPERSEDED,
    TEAM,
    TOOL,
    USER,
    Memory,
    is_private,
    project_key,
)

_BY_WORDS, _BY_CHOICE = 16, 8  # candidates found by shared words and by another choice
_SPARE = 3  # times as many rows are read, because some are not statements
_MAX_RANKED = 300  # rows
_MAX_COMMON = 4  # common terms used for ranking
_COLUMN_WEIGHTS = (1.0, 1.0, 0.5)
_MAX_ALTERNATIVES = 16
_SURE_REPEAT = 0.9  # lowest certainty of a repetition in other words
_MIN_SHARED = 2  # words that a denial must share
_REPEATED, _REPLACED, _BLOCKED, _REFINED, _LATER, _LIKELY = _EFFECTS = (
    "repeated", "replaced", "blocked", "refined", "later", "likely",
)  # fmt: skip
_MAX_LIKELY = 1  # probable replacements of one statement
_OPPOSITE = "says the opposite"
_LIMITING = load_words("limiting", "claims")
# Stop words elsewhere; here they reverse or limit a statement. Words of a group mean the same.
_OPERATORS = (
    dict.fromkeys(load_words("denying", "claims"), "not")
    | dict.fromkeys(load_words("insisting", "claims"), "always")
    | {word: word for word in _LIMITING}
)
_MIN_BAN_SHARE = 0.66  # of the words of a ban that the other statement must have
_MIN_OTHER_SHARE = 0.4  # of the words of the other statement


class Comparison(NamedTuple):
    """The effect of a new statement on the stored ones."""

    repeats: tuple[Memory, ...] = ()
    replaces: tuple[tuple[Memory, str], ...] = ()  # with the reason
    blocked: tuple[
        tuple[Memory, str], ...
    ] = ()  # it contradicts them, but they are locked or of another scope
    refines: tuple[Memory, ...] = ()
    outdated_by: tuple[tuple[Memory, str], ...] = ()  # later statements that replace it
    likely: tuple[tuple[Memory, str], ...] = ()  # probably replaced: to be asked, never done


def compare_statement(memories: Memories, text: str, scope: str, now: int, said_at: int = 0) -> Comparison:
    """Judge a new statement against the memories of its scope.

    A memory is replaced only if the statement says so itself; one that is only probable is `likely`.
    Only memories of the same scope can be replaced or repeated. A statement that was valid before and is said
    again replaces its replacement. Archived memories count with the status they had before.

    Args:
        memories: The open memories.
        text: The statement.
        scope: The scope of the statement.
        now: The time that words like "yesterday" refer to.
        said_at: When it was said, if not now: later statements may replace it, not the other way round.
    """
    near = _find_candidates(memories, text, _list_compared_scopes(scope), now)
    active = [one for one in near if _former_status(one) == ACTIVE]
    found: dict[str, dict[str, tuple[Memory, str, float]]] = {name: {} for name in _EFFECTS}
    for old, relation in zip(active, judge_many(text, [one.text for one in active]), strict=True):
        effect, why = _find_effect(old, text, scope, said_at, relation)
        if effect:
            found[effect][old.id] = (old, why, relation.certainty)
    bare = [one for one, (_, why, _) in found[_REPLACED].items() if why == BARE_CHOICE]
    if len(bare) > 1:  # "switched to pnpm": nothing tells which of them it means
        found[_LIKELY] |= {one: found[_REPLACED].pop(one) for one in bare}
    superseded = [one for one in near if _former_status(one) == SUPERSEDED] if not found[_REPEATED] else []
    for heir in _find_heirs(memories, text, _normalise_claim(text), superseded):
        if heir.trust.startswith(TEAM):
            continue
        if heir.scope == scope and said_at and _last_said(heir) > said_at:
            found[_LATER][heir.id] = (heir, "was said after it", 1.0)
        elif heir.scope == scope and heir.id not in found[_REPLACED]:
            effect = _BLOCKED if heir.locked else _REPLACED
            found[effect][heir.id] = (heir, "goes back to what it was before", 1.0)
    likely = [] if found[_REPLACED] else sorted(found[_LIKELY].values(), key=lambda one: -one[2])
    pairs = {name: tuple((old, why) for old, why, _ in some.values()) for name, some in found.items()}
    return Comparison(
        tuple(old for old, _ in pairs[_REPEATED]),
        pairs[_REPLACED],
        pairs[_BLOCKED],
        tuple(old for old, _ in pairs[_REFINED]),
        pairs[_LATER],
        tuple((old, why) for old, why, _ in likely[:_MAX_LIKELY]),
    )


def _list_compared_scopes(scope: str) -> list[str]:
    """Return a statement's scope and the wider ones; a public one is never compared with private ones."""
    key = project_key(scope)
    private = [PRIVATE, *([PROJECT + key] if key else [])] if is_private(scope) else []
    return list(dict.fromkeys((scope, *private, GLOBAL)))


def _find_effect(old: Memory, text: str, scope: str, said_at: int, found: Relation) -> tuple[str, str]:
    """Return what a statement does to an active memory, and why."""
    before, claim = _normalise_claim(old.text), _normalise_claim(text)
    in_scope = old.scope == scope
    is_later = bool(said_at) and _last_said(old) > said_at
    if old.trust.startswith(TEAM):  # its author may change it: it is no place for what the user said
        is_over = in_scope and not is_later and (found.ends or _reverses(before, claim))
        return (_REPLACED, found.why if found.ends else _OPPOSITE) if is_over else ("", "")
    if in_scope and _is_repetition(before, claim, found):
        return _REPEATED, found.why
    if is_later:
        after = judge_pair(text, old.text)
        is_over = in_scope and (after.ends or _reverses(claim, before))
        return (_LATER, after.why if after.ends else _OPPOSITE) if is_over else ("", "")
    if found.ends or _reverses(before, claim):
        why = found.why if found.ends else _OPPOSITE
        if in_scope and not old.locked:
            return _REPLACED, why
        return (_BLOCKED, why) if old.status == ACTIVE else ("", "")
    if old.status == ACTIVE and found.label == REPLACES:
        may_ask = in_scope and old.trust == USER and not old.locked
        return (_LIKELY, found.why) if may_ask else ("", "")
    return (_REFINED, found.why) if found.label == REFINES and old.status == ACTIVE else ("", "")


def find_repeated(memories: Sequence[Memory], text: str) -> list[Memory]:
    """Return the memories that say the same as a statement."""
    claim = _normalise_claim(text)
    near = [one for one in memories if _shares_half(_normalise_claim(one.text), claim)]
    pairs = zip(near, judge_many(text, [one.text for one in near]) if near else (), strict=True)
    return [old for old, found in pairs if _is_repetition(_normalise_claim(old.text), claim, found)]


def _shares_half(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Tell whether statements share half of the shorter one's words; what repeats does."""
    return 2 * len({*one} & {*other}) >= min(len({*one}), len({*other}))


def _former_status(memory: Memory) -> str:
    """Return the status of a memory before it was archived."""
    return memory.was if memory.status == ARCHIVED else memory.status


def _last_said(memory: Memory) -> int:
    return max((place.at for place in memory.evidence), default=memory.created)


def _find_candidates(memories: Memories, text: str, scopes: Sequence[str], now: int) -> list[Memory]:
    """Return memories that share words or a choice, also superseded ones."""
    found: list[Memory] = []
    archived: list[Memory] = []
    has_archived = bool(memories.listed(status=ARCHIVED, limit=1))
    for terms, limit in ((parse_query(text, now).terms, _BY_WORDS), (_find_alternatives(text), _BY_CHOICE)):
        # A term that only ended statements have counts as rare: one of them may be repeated.
        counts = {term: max(1, memories.frequency(term, _MAX_RANKED, scopes=scopes)) for term in terms}
        expression = plan_query(counts, _MAX_RANKED + 1, _MAX_RANKED, _MAX_COMMON)
        if expression:
            rows = memories.match(expression, _COLUMN_WEIGHTS, _SPARE * limit, scopes=scopes, ended=True)
            found += _load_statements(memories, [row for row, _ in rows], limit)
            if not has_archived:
                continue
            rows = memories.match(expression, _COLUMN_WEIGHTS, _SPARE * limit, scopes=scopes, archived=True)
            archived += _load_statements(memories, [row for row, _ in rows], limit)
    if not found:  # only words without a meaning: compare with the latest
        latest = memories.listed(scopes=scopes, limit=_SPARE * _BY_WORDS)
        found = _load_statements(memories, latest, _BY_WORDS)
    return list(dict.fromkeys((*found, *archived)))


def _load_statements(memories: Memories, rows: list[int], limit: int) -> list[Memory]:
    """Load the first statements; texts of tools and agents' observations are none."""
    loaded = memories.load(rows)
    found = [loaded[row] for row in rows if row in loaded]
    return [one for one in found if one.trust != TOOL and not (one.trust == AGENT and one.label)][:limit]


def _find_alternatives(text: str) -> list[str]:
    """Return search terms for other choices: npm for a statement about bun."""
    slots = {slot for word in tokenize(text.lower()) for slot in SLOTS.get(word, ())} - WEAK_SLOTS
    others = [word for word, found in SLOTS.items() if word.isalnum() and not slots.isdisjoint(found)]
    return list(map(quote_phrase, others[:_MAX_ALTERNATIVES]))


def _find_heirs(memories: Memories, text: str, claim: tuple[str, ...], ended: list[Memory]) -> list[Memory]:
    """Return the active memories that replaced one with the same claim."""
    heirs = []
    for old, found in zip(ended, judge_many(text, [one.text for one in ended]), strict=True):
        returns = goes_back_to(read_cached(text), read_cached(old.text))
        if not returns and not _is_repetition(_normalise_claim(old.text), claim, found):
            continue
        heir, seen = old, {old.id}
        while heir.superseded_by and heir.superseded_by not in seen:
            seen.add(heir.superseded_by)
            after = memories.get([heir.superseded_by]).get(heir.superseded_by)
            if after is None:
                break
            heir = after
        if _former_status(heir) == ACTIVE:
            heirs.append(heir)
    return heirs


def _is_repetition(before: tuple[str, ...], now: tuple[str, ...], found: Relation) -> bool:
    """Tell whether a statement says the same as another and nothing more."""
    if found.differs:
        return False
    if (found.certainty == 1.0 and found.label == REPEATS) or (before and before == now and not found.ends):
        return True
    if found.label != REPEATS or ("not" in before) != ("not" in now):
        return False
    return set(before) == set(now) or (found.certainty >= _SURE_REPEAT and set(now) < set(before))


def _reverses(before: tuple[str, ...], now: tuple[str, ...]) -> bool:
    """Tell whether a statement denies another one, or affirms what it denies.

    A shorter denial covers a longer statement: "never cache invoices" denies "cache invoices for an hour".
    """
    old, new = ([word for word in one if word != "not"] for one in (before, now))
    if ("not" in before) == ("not" in now) or min(len(old), len(new)) < _MIN_SHARED:
        return False
    return old == new or ("not" in now and _is_subsequence(new, old) and _LIMITING.isdisjoint(old))


def _is_subsequence(words: Sequence[str], others: Sequence[str]) -> bool:
    rest = iter(others)
    return all(word in rest for word in words)


def quote_covers(quote: str, text: str) -> bool:
    """Tell whether a statement says no more than a quote."""
    said, claimed = _find_operative_words(quote), _find_operative_words(text)
    return bool(claimed) and _is_subsequence(claimed, said) and ("not" in claimed) == ("not" in said)


@lru_cache(maxsize=1024)
def _normalise_claim(text: str) -> tuple[str, ...]:
    """Return the words of a statement that matter, without insistence."""
    return tuple(word for word in _find_operative_words(text) if word != "always")


def _find_operative_words(text: str) -> tuple[str, ...]:
    words = (word.strip("`'\"()[]*_") for word in tokenize(text.lower()))
    return tuple(
        _OPERATORS.get(word) or canonical_stem(word)
        for word in words
        if any(map(str.isalnum, word)) and (word in _OPERATORS or word not in STOP_WORDS)
    )


def is_user_statement(memory: Memory) -> bool:
    """Tell whether a user made or locked a memory."""
    return memory.trust == USER or memory.locked


def find_conflicts(memories: Sequence[Memory]) -> list[tuple[Memory, Memory, str]]:
    """Return contradicting pairs of memories, older first, with the reason."""
    claims = {one.id: read_claim(one.text) for one in memories}
    ordered = sorted(memories, key=lambda one: (one.created, one.number, one.id))
    return [
        (old, new, why)
        for place, new in enumerate(ordered)
        for old in ordered[:place]
        if (why := _explain_conflict(old, new, claims[old.id], claims[new.id]))
    ]


def _explain_conflict(old: Memory, new: Memory, before: Claim, now: Claim) -> str:
    """Return why two statements contradict each other; empty if they do not."""
    if not _share_subject(before.reading, now.reading):
        return ""
    if find_difference(before.reading, now.reading):
        return ""
    if _denies(before, now) or _denies(now, before):
        return "one denies what the other says"
    found = judge_pair(old.text, new.text)
    return found.why if found.label == REPLACES else ""


def _share_subject(one: Reading, other: Reading) -> bool:
    """Tell whether two statements share a keyword or a slot."""
    if any(one.words[word] >= 1 for word in one.words.keys() & other.words.keys()):
        return True
    slots = one.values.keys() | one.rejected.keys()
    return not slots.isdisjoint(other.values.keys() | other.rejected.keys())


def _denies(one: Claim, other: Claim) -> bool:
    """Tell whether a ban covers much of the other statement."""
    banned = [word for word in one.denied if one.reading.words.get(word, 0.0) >= 1]
    hit = sum(word in other.affirmed for word in banned)
    return hit > 0 and hit >= _MIN_BAN_SHARE * len(banned) and hit >= _MIN_OTHER_SHARE * len(other.affirmed)


def is_same_claim(one: Claim, other: Claim) -> bool:
    """Tell whether two statements have the same words, denials and numbers."""
    first, second = one.reading, other.reading
    return (
        first.words.keys() == second.words.keys()
        and one.denied == other.denied
        and [count.value for count in first.counts] == [count.value for count in second.counts]
    )
