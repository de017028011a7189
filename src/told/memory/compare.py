"""Holds a new statement against what is known: what it repeats, what it ends, what it differs from."""

from __future__ import annotations

from told.memory._supersede_tokens import key_of, tokens_of
from told.memory.supersede import REFINES, REPEATS, REPLACES, judge
from told.record import record
from told.search.analyse import analyse
from told.search.stop_words import STOP_WORDS
from told.store.memory_records import ACTIVE, GLOBAL, SUPERSEDED, USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from told.store.memories import Memories
    from told.store.memory_records import Memory

_BY_WORDS = 60
_NEWEST = 120
_SURE = 0.9  # the least certainty of a repetition in other words
# Stop words elsewhere; here they turn a statement round. Those of a group say the same.
_DENYING = """
no not never don't dont mustn't shouldn't cannot can't nor without nicht nie kein keine ohne ne pas jamais
sans nunca jamás sin não nem sem
"""
_LIMITING = "only except unless before after from to over under instead"
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


def compare(memories: Memories, text: str, scope: str, now: int) -> Compared:
    """Judge a new statement against the active memories of its scope and the global ones.

    Only what has the same scope can be ended or repeated. What was valid once and is said again ends what had
    taken its place.
    """
    scopes = list(dict.fromkeys((scope, GLOBAL)))
    near = _near(memories, text, scopes, now)
    active = [one for one in near if one.status == ACTIVE]
    repeats, refines = [], []
    replaces: dict[str, tuple[Memory, str]] = {}
    kept: dict[str, tuple[Memory, str]] = {}
    for old, found in zip(active, judge(text, [one.text for one in active]), strict=True):
        if old.scope == scope and _same(old.text, text, found.label, found.certainty):
            repeats.append(old)
        elif found.label == REPLACES or _reverses(old.text, text):
            (replaces if old.scope == scope and not old.locked else kept)[old.id] = (
                old,
                found.why if found.label == REPLACES else "says the opposite",
            )
        elif found.label == REFINES:
            refines.append(old)
    if not repeats:
        for heir in _heirs(memories, text, [one for one in near if one.status == SUPERSEDED]):
            if heir.scope == scope and heir.id not in replaces:
                (kept if heir.locked else replaces)[heir.id] = (heir, "goes back to what it was before")
    return Compared(tuple(repeats), tuple(replaces.values()), tuple(kept.values()), tuple(refines))


def _near(memories: Memories, text: str, scopes: Sequence[str], now: int) -> list[Memory]:
    """Return what could be about the same thing: what shares words, ended ones as well, and what is new."""
    terms = analyse(text, now).terms
    found = [] if not terms else [
        row for row, _ in memories.match(
            " OR ".join(terms), (1.0, 1.0, 0.5), _BY_WORDS, scopes=scopes, ended=True)
    ]  # fmt: skip
    found += memories.listed(scopes=scopes, limit=_NEWEST)
    loaded = memories.load(dict.fromkeys(found))
    return [loaded[row] for row in dict.fromkeys(found) if row in loaded]


def _heirs(memories: Memories, text: str, ended: list[Memory]) -> list[Memory]:
    """Return the active memories that stand where one that said the same once stood."""
    heirs = []
    for old, found in zip(ended, judge(text, [one.text for one in ended]), strict=True):
        if found.label != REPEATS or not _same(old.text, text, found.label, found.certainty):
            continue
        heir, seen = old, {old.id}
        while heir.superseded_by and heir.superseded_by not in seen:
            seen.add(heir.superseded_by)
            after = memories.get([heir.superseded_by]).get(heir.superseded_by)
            if after is None:
                break
            heir = after
        if heir.status == ACTIVE:
            heirs.append(heir)
    return heirs


def _same(old: str, new: str, label: str, certainty: float) -> bool:
    """Tell whether a statement says the same as another and nothing more: only then is it no new one."""
    before, now = _claim(old), _claim(new)
    if old.split() == new.split() or (before and before == now):
        return True
    if label != REPEATS or ("not" in before) != ("not" in now):
        return False
    return set(before) == set(now) or (certainty >= _SURE and set(now) < set(before))


def _reverses(old: str, new: str) -> bool:
    """Tell whether a statement denies another word for word, or affirms what it denies."""
    before, now = _claim(old), _claim(new)
    bare = [word for word in before if word != "not"]
    return len(bare) > 1 and ("not" in before) != ("not" in now) and bare == [w for w in now if w != "not"]


def stands_in(quote: str, text: str) -> bool:
    """Tell whether a statement says no more than what is quoted: its words in order, no denial less."""
    said, claimed = _telling(quote), _telling(text)
    rest = iter(said)
    return bool(claimed) and all(word in rest for word in claimed) and ("not" in claimed) == ("not" in said)


def _claim(text: str) -> tuple[str, ...]:
    """Return what a statement says; to insist adds nothing to it."""
    return tuple(word for word in _telling(text) if word != "always")


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
