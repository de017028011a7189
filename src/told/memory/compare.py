"""Holds a new statement against what is known: what it repeats, what it ends, what it differs from."""

from __future__ import annotations

from told.memory._supersede_meeting import WEAK
from told.memory.supersede import REFINES, REPEATS, REPLACES, judge
from told.record import record
from told.search.analyse import analyse
from told.search.kinship import SLOTS
from told.search.plan import plan
from told.search.stop_words import STOP_WORDS
from told.search.tokens import key_of, tokens_of
from told.store.memory_records import ACTIVE, AGENT, ARCHIVED, GLOBAL, SUPERSEDED, TOOL, USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from told.memory.supersede import Relation
    from told.store.memories import Memories
    from told.store.memory_records import Memory

_BY_WORDS = 16
_BY_CHOICE = 8
_BESIDE = 3  # so many times as many are looked at, for those that turn out to be no statements
_RANKED = 300  # rows that may be ranked
_COMMON = 4  # common terms that take part in ranking
_WEIGHTS = (1.0, 1.0, 0.5)
_ALTERNATIVES = 16  # other choices to look for: who says bun may mean what npm was said of
_MOST_KEPT = 4096
_SURE = 0.9  # the least certainty of a repetition in other words
# Stop words elsewhere; here they turn a statement round. Those of a group say the same.
_DENYING = """
no not never don't dont mustn't shouldn't cannot can't nor without nicht nie kein keine ohne ne pas jamais
sans nunca jamás sin não nem sem
"""
_TELLING = 2  # words that a denial must share
_LIMITING = "only except unless before after from to over under instead"
_LIMITS = frozenset(_LIMITING.split())
_INSISTING = "always must should immer stets toujours siempre sempre"
_TURNING = (
    dict.fromkeys(_DENYING.split(), "not")
    | dict.fromkeys(_INSISTING.split(), "always")
    | {word: word for word in _LIMITING.split()}
)


@record
class Compared:
    """What a new statement does to the ones that are there."""

    repeats: tuple[Memory, ...] = ()
    replaces: tuple[tuple[Memory, str], ...] = ()  # with the reason
    kept: tuple[tuple[Memory, str], ...] = ()  # it would replace them, but they stay: locked, or elsewhere
    refines: tuple[Memory, ...] = ()
    outdated_by: tuple[tuple[Memory, str], ...] = ()  # what was said later and replaces it


def compare(memories: Memories, text: str, scope: str, now: int, said_at: int = 0) -> Compared:
    """Judge a new statement against the active memories of its scope and the global ones.

    Only what has the same scope can be ended or repeated. What was valid once and is said again ends what had
    taken its place. What is archived counts as what it was before: said again it is no new one, and what ends
    it ends it there.

    Args:
        memories: The open memories.
        text: What the statement says.
        scope: Where it holds.
        now: What words like "yesterday" are counted from.
        said_at: When it was said, if that was not just now: what was said later may end it, not it that.
    """
    scopes = list(dict.fromkeys((scope, GLOBAL)))
    near = _near(memories, text, scopes, now)
    claim = _claim(text)
    active = [one for one in near if _stood(one) == ACTIVE]
    repeats, refines = [], []
    outdated: dict[str, tuple[Memory, str]] = {}
    replaces: dict[str, tuple[Memory, str]] = {}
    kept: dict[str, tuple[Memory, str]] = {}
    for old, found in zip(active, judge(text, [one.text for one in active]), strict=True):
        before = _claim(old.text)
        if old.scope == scope and _same(before, claim, found):
            repeats.append(old)
        elif said_at and _last_said(old) > said_at:
            after = judge(old.text, [text])[0]
            if old.scope == scope and (after.label == REPLACES or _reverses(claim, before)):
                outdated[old.id] = (old, after.why if after.label == REPLACES else "says the opposite")
        elif found.label == REPLACES or _reverses(before, claim):
            ends = replaces if old.scope == scope and not old.locked else kept
            if ends is replaces or old.status == ACTIVE:
                ends[old.id] = (old, found.why if found.label == REPLACES else "says the opposite")
        elif found.label == REFINES and old.status == ACTIVE:
            refines.append(old)
    if not repeats:
        for heir in _heirs(memories, text, claim, [one for one in near if _stood(one) == SUPERSEDED]):
            if said_at and _last_said(heir) > said_at:
                if heir.scope == scope:
                    outdated[heir.id] = (heir, "was said after it")
            elif heir.scope == scope and heir.id not in replaces:
                (kept if heir.locked else replaces)[heir.id] = (heir, "goes back to what it was before")
    return Compared(
        tuple(repeats), tuple(replaces.values()), tuple(kept.values()), tuple(refines),
        tuple(outdated.values()),
    )  # fmt: skip


def _stood(memory: Memory) -> str:
    """Return the status of a memory; of an archived one, that which it had before."""
    return memory.was if memory.status == ARCHIVED else memory.status


def _last_said(memory: Memory) -> int:
    return max((place.at for place in memory.evidence), default=memory.created)


def _near(memories: Memories, text: str, scopes: Sequence[str], now: int) -> list[Memory]:
    """Return what could be about the same thing, ended ones as well: what shares words or makes a choice."""
    found: list[Memory] = []
    put_away: list[Memory] = []
    for terms, most in ((analyse(text, now).terms, _BY_WORDS), (_alternatives(text), _BY_CHOICE)):
        # A word that only ended statements have counts as rare: one of them may be what is said again.
        counts = {term: max(1, memories.frequency(term, _RANKED, scopes=scopes)) for term in terms}
        expression = plan(counts, _RANKED + 1, _RANKED, _COMMON)
        if expression:
            matched = memories.match(expression, _WEIGHTS, _BESIDE * most, scopes=scopes, ended=True)
            found += _first(memories, [row for row, _ in matched], most)
            away = memories.match(expression, _WEIGHTS, _BESIDE * most, scopes=scopes, archived=True)
            put_away += _first(memories, [row for row, _ in away], most)
    if not found:  # nothing but words that say nothing: then only what was said of late is held against it
        found = _first(memories, memories.listed(scopes=scopes, limit=_BESIDE * _BY_WORDS), _BY_WORDS)
    return list(dict.fromkeys((*found, *put_away)))


def _first(memories: Memories, rows: list[int], most: int) -> list[Memory]:
    """Return the first statements of some rows; what files say and agents did is none to hold against."""
    loaded = memories.load(rows)
    stated = [loaded[row] for row in rows if row in loaded and not _is_note(loaded[row])]
    return stated[:most]


def _is_note(memory: Memory) -> bool:
    return memory.trust == TOOL or bool(memory.trust == AGENT and memory.label)


def _alternatives(text: str) -> list[str]:
    """Return, as search terms, the other choices where a statement makes one: npm where it says bun."""
    slots = {slot for word in tokens_of(text.lower()) for slot in SLOTS.get(word, ()) if slot not in WEAK}
    if not slots:
        return []
    others = [word for word, found in SLOTS.items() if word.isalnum() and not slots.isdisjoint(found)]
    return [f'"{word}"' for word in others[:_ALTERNATIVES]]


def _heirs(memories: Memories, text: str, claim: tuple[str, ...], ended: list[Memory]) -> list[Memory]:
    """Return the active memories that stand where one that said the same once stood."""
    heirs = []
    for old, found in zip(ended, judge(text, [one.text for one in ended]), strict=True):
        if found.label != REPEATS or not _same(_claim(old.text), claim, found):
            continue
        heir, seen = old, {old.id}
        while heir.superseded_by and heir.superseded_by not in seen:
            seen.add(heir.superseded_by)
            after = memories.get([heir.superseded_by]).get(heir.superseded_by)
            if after is None:
                break
            heir = after
        if _stood(heir) == ACTIVE:
            heirs.append(heir)
    return heirs


def _same(before: tuple[str, ...], now: tuple[str, ...], found: Relation) -> bool:
    """Tell whether a statement says the same as another and nothing more: only then is it no new one."""
    if found.certainty == 1.0 and found.label == REPEATS:
        return True
    if before and before == now:
        return True
    if found.label != REPEATS or ("not" in before) != ("not" in now):
        return False
    return set(before) == set(now) or (found.certainty >= _SURE and set(now) < set(before))


def _reverses(before: tuple[str, ...], now: tuple[str, ...]) -> bool:
    """Tell whether a statement denies another word for word, or affirms what it denies.

    A denial that says less denies the whole: who never caches invoices does not cache them for an hour.
    """
    bare, said = ([word for word in one if word != "not"] for one in (before, now))
    if ("not" in before) == ("not" in now) or min(len(bare), len(said)) < _TELLING:
        return False
    rest = iter(bare)
    return bare == said or ("not" in now and all(word in rest for word in said) and _LIMITS.isdisjoint(bare))


def stands_in(quote: str, text: str) -> bool:
    """Tell whether a statement says no more than what is quoted: its words in order, no denial less."""
    said, claimed = _telling(quote), _telling(text)
    rest = iter(said)
    return bool(claimed) and all(word in rest for word in claimed) and ("not" in claimed) == ("not" in said)


_claims: dict[str, tuple[str, ...]] = {}


def _claim(text: str) -> tuple[str, ...]:
    """Return what a statement says; to insist adds nothing to it."""
    found = _claims.get(text)
    if found is None:
        if len(_claims) >= _MOST_KEPT:
            _claims.clear()
        found = _claims[text] = tuple(word for word in _telling(text) if word != "always")
    return found


def _telling(text: str) -> tuple[str, ...]:
    words = (word.strip("`'\"()[]*_") for word in tokens_of(text.lower()))
    return tuple(
        _TURNING.get(word) or key_of(word)
        for word in words
        if any(map(str.isalnum, word)) and (word in _TURNING or word not in STOP_WORDS)
    )


def by_user(memory: Memory) -> bool:
    """Tell whether a memory is the user's word."""
    return memory.trust == USER or memory.locked
