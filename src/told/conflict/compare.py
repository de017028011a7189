"""Compare a new statement with the stored memories: which does it repeat, end, or perhaps end?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from told.conflict.change import BARE_CHOICE, goes_back_to
from told.conflict.reading import WEAK_SLOTS
from told.conflict.relation import CHANGES, MAY_CHANGE, REFINES, judge
from told.conflict.same import say_same
from told.conflict.statement import read_whole
from told.search.query import parse_query
from told.search.rank import plan_query
from told.search.tokens import SLOTS, tokenize
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
_MAX_LIKELY = 1  # probable replacements of one statement


class Comparison(NamedTuple):
    """The effect of a new statement on the stored ones."""

    repeats: tuple[Memory, ...] = ()
    replaces: tuple[tuple[Memory, str], ...] = ()  # with the reason
    blocked: tuple[tuple[Memory, str], ...] = ()  # contradicted, but locked or of another scope
    refines: tuple[Memory, ...] = ()
    outdated_by: tuple[tuple[Memory, str], ...] = ()  # later statements that replace it
    likely: tuple[tuple[Memory, str], ...] = ()  # probably replaced: to be asked, never done


_REPLACED, _BLOCKED, _REFINED, _LATER, _LIKELY = "replaced", "blocked", "refined", "later", "likely"


class _Effect(NamedTuple):
    """What a statement does to a memory."""

    memory: Memory
    name: str  # empty: nothing
    why: str
    common: float = 0.0


def compare_statement(
    memories: Memories, text: str, scope: str, now: int, said_at: int = 0, *, without: str = ""
) -> Comparison:
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
        without: The id of a memory that is not compared.
    """
    found = _find_candidates(memories, text, _list_compared_scopes(scope), now)
    near = [one for one in found if one.id != without]
    active = [one for one in near if _former_status(one) == ACTIVE]
    own = [one for one in active if one.scope == scope and not one.trust.startswith(TEAM)]
    repeats = [one for one in own if say_same(one.text, text)]
    effects = [_judge_effect(one, text, scope, said_at) for one in active if one not in repeats]
    if not repeats:
        ended = [one for one in near if _former_status(one) == SUPERSEDED]
        known = {one.memory.id for one in effects if one.name == _REPLACED}
        for heir in _find_heirs(memories, text, ended):
            if heir.id not in known and heir.scope == scope and not heir.trust.startswith(TEAM):
                is_later = bool(said_at) and _last_said(heir) > said_at
                name = _LATER if is_later else _BLOCKED if heir.locked else _REPLACED
                why = "was said after it" if is_later else "goes back to what it was before"
                effects.append(_Effect(heir, name, why))
    bare = [one for one in effects if one.name == _REPLACED and one.why == BARE_CHOICE]
    if len(bare) > 1:  # "switched to pnpm": nothing tells which of them it means
        effects = [one._replace(name=_LIKELY) if one in bare else one for one in effects]

    def pick(name: str) -> tuple[tuple[Memory, str], ...]:
        return tuple({one.memory.id: (one.memory, one.why) for one in effects if one.name == name}.values())

    likely = sorted((one for one in effects if one.name == _LIKELY), key=lambda one: -one.common)
    return Comparison(
        tuple(repeats),
        pick(_REPLACED),
        pick(_BLOCKED),
        tuple(old for old, _ in pick(_REFINED)),
        pick(_LATER),
        () if pick(_REPLACED) else tuple((one.memory, one.why) for one in likely[:_MAX_LIKELY]),
    )


def _list_compared_scopes(scope: str) -> list[str]:
    """Return a statement's scope and the wider ones; a public one is never compared with private ones."""
    key = project_key(scope)
    private = [PRIVATE, *([PROJECT + key] if key else [])] if is_private(scope) else []
    return list(dict.fromkeys((scope, *private, GLOBAL)))


def _judge_effect(old: Memory, text: str, scope: str, said_at: int) -> _Effect:
    """Return what a statement does to an active memory, and why."""
    found = judge(old.text, text)
    ends = found.kind == CHANGES
    in_scope = old.scope == scope
    is_team = old.trust.startswith(TEAM)  # its author may change it: it is no place for what the user said
    if said_at and _last_said(old) > said_at:
        after = judge(text, old.text)
        is_over = after.kind == CHANGES and in_scope and not is_team
        return _Effect(old, _LATER if is_over else "", after.why)
    if ends and in_scope and (is_team or not old.locked):
        return _Effect(old, _REPLACED, found.why)
    if ends:
        return _Effect(old, _BLOCKED if old.status == ACTIVE and not is_team else "", found.why)
    if is_team or old.status != ACTIVE:
        return _Effect(old, "", "")
    if found.kind == MAY_CHANGE:
        may_ask = in_scope and old.trust == USER and not old.locked
        return _Effect(old, _LIKELY if may_ask else "", found.why, found.common)
    return _Effect(old, _REFINED if found.kind == REFINES else "", found.why)


def _former_status(memory: Memory) -> str:
    """Return the status of a memory before it was archived."""
    return memory.was if memory.status == ARCHIVED else memory.status


def _last_said(memory: Memory) -> int:
    return max((place.at for place in memory.evidence), default=memory.created)


def _find_candidates(memories: Memories, text: str, scopes: Sequence[str], now: int) -> list[Memory]:
    """Return memories that share words or a choice, also superseded ones, before archived ones."""
    found: list[Memory] = []
    searches = []
    for terms, limit in ((parse_query(text, now).terms, _BY_WORDS), (_find_alternatives(text), _BY_CHOICE)):
        # A term that only ended statements have counts as rare: one of them may be repeated.
        counts = {term: max(1, memories.frequency(term, _MAX_RANKED, scopes=scopes)) for term in terms}
        if expression := plan_query(counts, _MAX_RANKED + 1, _MAX_RANKED, _MAX_COMMON):
            searches.append((expression, limit))
    for archived in (None, True) if memories.listed(status=ARCHIVED, limit=1) else (None,):
        for expression, limit in searches:
            many = _SPARE * limit
            rows = memories.match(
                expression, _COLUMN_WEIGHTS, many, scopes=scopes, ended=not archived, archived=archived
            )
            found += _load_statements(memories, [row for row, _ in rows], limit)
        if not found and not archived:  # only words without a meaning: compare with the latest
            latest = memories.listed(scopes=scopes, limit=_SPARE * _BY_WORDS)
            found = _load_statements(memories, latest, _BY_WORDS)
    return list(dict.fromkeys(found))


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


def _find_heirs(memories: Memories, text: str, ended: list[Memory]) -> list[Memory]:
    """Return the active memories that replaced one to which a statement returns."""
    heirs = []
    for old in ended:
        if not say_same(old.text, text) and not goes_back_to(read_whole(text), read_whole(old.text)):
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


def is_user_statement(memory: Memory) -> bool:
    """Tell whether a user made or locked a memory."""
    return memory.trust == USER or memory.locked
