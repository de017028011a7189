"""Find what is already known of a statement: the same words, a candidate, or what the user put away."""

from __future__ import annotations

import string
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from told.capture.grammar import cut_lead
from told.capture.statements import Statement
from told.conflict.compare import compare_statement
from told.conflict.same import say_same
from told.hashing import blake2s
from told.ingest.forgotten import Marker, split_words
from told.memories.journal_writer import JournalWriter
from told.memories.scopes import active_scopes
from told.search.query import parse_query
from told.search.value_key import make_value_key
from told.store.fts import match_any
from told.store.memories.protocol import Memories
from told.store.memories.records import (
    CANDIDATE,
    CAPTURE,
    DISMISSED,
    FORGOTTEN,
    GLOBAL,
    PRIVATE,
    PROJECT,
    USER,
    Evidence,
    Memory,
    is_private,
    private_scope,
    project_key,
)
from told.words import is_unspaced

if TYPE_CHECKING:
    from told.memories.remember import NewMemory

_SAME = 0.6  # share of a captured quote that another quote must contain
_PUNCTUATION = f"{string.punctuation}…“”„«»。、"  # "…" marks what a quote leaves out
_COLUMN_WEIGHTS = (1.0, 1.0, 0.5)
_MAX_TERMS, _MAX_COMPARED = 16, 8


def find_same_words(memories: Memories, agent: str, session: str, quote: str) -> list[Memory]:
    """Return the memories made from a quote of a session, the best match first.

    A captured memory matches if the quote has most of its words, another one if it has most of the quote's.
    Dismissed ones are included, so that they do not come back; forgotten ones have no words any more.
    """
    if not session or not quote:
        return []
    found = []
    for memory in memories.load(memories.of_session(session)).values():
        if memory.status == FORGOTTEN or memory.trust != USER:
            continue
        places = [one for one in memory.evidence if (one.agent, one.session) == (agent, session)]
        share = max((_measure_share(memory, one, quote) for one in places), default=0.0)
        if share >= _SAME:
            found.append((-share, memory.created, memory.number, memory))
    return [one[-1] for one in sorted(found, key=lambda one: one[:-1])]


def _measure_share(memory: Memory, place: Evidence, quote: str) -> float:
    """Return the share of the captured quote that both have in one piece; 0 if one says another word."""
    captured, other = (place.quote, quote) if memory.worded_by == CAPTURE else (quote, place.quote)
    words, others = _split(captured), _split(other)
    if captured == other or not words or not others:
        return float(captured == other)
    matcher = SequenceMatcher(None, words, others, autojunk=False)
    if any(kind == "replace" for kind, *_ in matcher.get_opcodes()):
        return 0.0  # other words in the same place: a statement of its own
    return matcher.find_longest_match().size / len(words)


def _split(quote: str) -> list[str]:
    """Return the words of a quote, or its characters where spaces do not separate words."""
    words = [chunk.strip(_PUNCTUATION) for chunk in quote.lower().split()]
    if any(map(is_unspaced, quote)):
        return list("".join(words))
    return [word for word in words if word]


def find_rejected(memories: Memories, text: str, scope: str, now: int) -> Memory | None:
    """Return the memory that the user rejected and that says the same, where a statement would apply."""
    scopes = _list_applying_scopes(memories, scope)
    rejected = memories.rejected(scopes)
    if not rejected:
        return None
    key = _find_key(text)
    for one in memories.load(rejected).values():
        said = (one.text, *(place.quote for place in one.evidence))
        if key and key in map(_find_key, said):
            return one
    found = find_same(memories, text, scopes, now, DISMISSED)
    return next((one for one in found if one.is_rejected), None)


def find_forgotten(memories: Memories, text: str, scope: str, key: bytes) -> Memory | None:
    """Return the memory that the user forgot and that had the same words, where a statement would apply."""
    words = [word.text for word in split_words(text)]
    if not words or not key:
        return None
    marks = (make_value_mark(text, key), Marker(key).mark(words).mark)  # older versions only made the second
    rows = memories.forgotten_with(marks, _list_applying_scopes(memories, scope))
    return next(iter(memories.load(rows).values()), None)


def find_put_away(memories: Memories, text: str, scope: str, now: int, key: bytes) -> Memory | None:
    """Return the memory that the user rejected or forgot and that says the same."""
    return find_rejected(memories, text, scope, now) or find_forgotten(memories, text, scope, key)


def _find_key(text: str) -> str:
    """Return the key of a statement; `remember that` and `from now on` say nothing of it."""
    return make_value_key(cut_lead(text, henceforth=True)) if text.strip() else ""


def make_value_mark(text: str, key: bytes) -> str:
    """Return a keyed hash of what a statement says; look-alikes of the text have the same."""
    return blake2s(_find_key(text).encode("utf-8", "replace"), key=key[:32], digest_size=12).hexdigest()


def _list_applying_scopes(memories: Memories, scope: str) -> tuple[str, ...]:
    """Return the scopes whose rejections count for a statement; a global one applies in all."""
    if scope in (GLOBAL, PRIVATE):
        return ()
    return active_scopes(memories, PROJECT + project_key(scope) if is_private(scope) else scope)


def keep_private(memories: Memories, text: str, scope: str, now: int, said_at: int = 0) -> str:
    """Return the scope of a statement: private if it repeats, refines or replaces a private memory."""
    own = private_scope(scope)
    if is_private(scope):
        return scope
    for private in memories.private_scopes():
        if private in (own, PRIVATE) or not project_key(scope):
            found = compare_statement(memories, text, private, now, said_at)
            pairs = (*found.replaces, *found.blocked, *found.outdated_by)
            near = (*found.repeats, *found.refines, *(old for old, _ in pairs))
            if any(one.scope == private for one in near):
                return private
    return scope


def find_same(memories: Memories, text: str, scopes: Sequence[str], now: int, status: str) -> list[Memory]:
    """Return the memories of a status that say the same as a statement."""
    if not memories.listed(status=status, limit=1):
        return []
    terms = list(dict.fromkeys(parse_query(text, now).terms))[:_MAX_TERMS]
    if not terms:
        return []
    rows = memories.match(match_any(terms), _COLUMN_WEIGHTS, _MAX_COMPARED, scopes=scopes, status=status)
    loaded = memories.load([row for row, _ in rows])
    near = [loaded[row] for row, _ in rows if row in loaded]
    return [old for old in near if say_same(old.text, text)]


def may_confirm(memory: Memory, session: str, trust: str, *, sure: bool) -> bool:
    """Tell whether a statement of a session that says the same confirms a candidate, or a dismissed one."""
    if trust != USER:
        return False
    if memory.status == DISMISSED and memory.was != CANDIDATE:  # by the reader, not expired
        return sure
    return sure or (bool(session) and all(place.session != session for place in memory.evidence))


def find_refusing(writer: JournalWriter, new: NewMemory) -> Memory | None:
    """Return the memory that the user put away and that a statement would bring back."""
    found = find_put_away(writer.memories, new.text, new.scope, writer.now, writer.journal.key)
    return None if found is None or is_users_request(writer, new, found) else found


def is_users_request(writer: JournalWriter, new: NewMemory, old: Memory) -> bool:
    """Tell whether the user asks for a statement after having put it away: the only way back."""
    asks = isinstance(new.about, Statement) and new.about.requested and new.at > old.updated
    return writer.caller.is_user or (writer.caller.is_told and asks)


def refuse(writer: JournalWriter, new: NewMemory, old: Memory) -> Memory:
    """Record that a statement was not saved, without its words; return the memory that refuses it."""
    place = {"agent": new.agent, "session": new.session, "turn": new.turn, "at": new.at or writer.now}
    writer.add("refuse", old.id, evidence=[place])
    return old
