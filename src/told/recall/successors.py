"""Find newer memories that seem to replace some about to be shown.

Nothing is ended here: an outdated memory is only not shown, and the newer one is shown in its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from told.conflict.outdated import (
    MIN_LIKELIHOOD,
    MIN_SIMILARITY,
    STATED,
    ReplacementFinder,
    estimate_likelihood,
    find_supposed,
    get_head,
    may_replace,
    sort_newest_first,
)
from told.recall.filters import WAS, find_reason_hidden, find_replaced
from told.recall.prompt import RecallRequest
from told.search.about import About, parse_about
from told.search.query import find_keywords
from told.search.vectors.arithmetic import similarities
from told.search.vectors.table import table_model_id
from told.store.fts import quote_phrase
from told.store.memories.protocol import Memories
from told.store.memories.records import CORRECTION, Memory

_MAX_LATEST = 12  # rows of the same head
_MAX_NAMING, _MAX_ALL_NAMING = 6, 12  # rows that name one choice, and any
_MAX_CHAIN = 4
# Similarity in meaning of two statements about one subject; the lower one if the later one fits the prompt
# better, or is a correction.
SAME_SUBJECT, LIKELY_SAME_SUBJECT = 0.6, 0.4


class Successor(NamedTuple):
    """A newer memory that seems to replace another."""

    row: int
    memory: Memory
    sure: bool  # whether it can be shown instead


def find_successors(
    memories: Memories,
    shown: Mapping[int, Memory],
    seen: Mapping[int, Memory],
    scores: Mapping[int, float],
    request: RecallRequest,
) -> dict[int, Successor]:
    """Find newer memories that replaced some about to be shown.

    Args:
        memories: The open memories.
        shown: The memories about to be shown.
        seen: All memories that were considered.
        scores: How well each of those fits the prompt.
        request: The prompt.
    """
    topics: dict[str, About] = {}

    def add_topics(some: Mapping[int, Memory]) -> None:
        topics.update(
            (one.id, parse_about(memories.about(one))) for one in some.values() if one.id not in topics
        )

    finder = ReplacementFinder(topics)
    ids = {one.id for one in shown.values() if not one.locked}
    newer = [source for source, kind, target, *_ in memories.edges(ids) if kind == WAS and target in ids]
    known = {**seen, **shown, **memories.load_ids(newer)}
    add_topics(shown)
    naming: dict[int, None] = {}
    for own, memory in shown.items():
        scopes, head = (memory.scope,), get_head(memory, topics[memory.id])
        if head.replace("-", "").isalnum():
            latest = memories.latest(quote_phrase(head, prefix=True), _MAX_LATEST, scopes=scopes)
            later = memories.about_rows([row for row in latest if row > own and row not in known])
            known |= memories.load([row for row, line in later.items() if head in parse_about(line).heads])
        for name in finder.get_choices(memory):
            rows = memories.with_term(quote_phrase(name), _MAX_NAMING, scopes=scopes)
            naming |= dict.fromkeys([row for row in rows if row > own])
    known |= memories.load([row for row in naming if row not in known][:_MAX_ALL_NAMING])
    add_topics(known)
    valid = {
        row: memory
        for row, memory in known.items()
        if not find_reason_hidden(memory, request.scopes, request.now)
    }
    found = _find_by_wording(list(shown.values()), valid, topics, finder, request.prompt)
    for row, new in valid.items():
        found |= {old: Successor(row, new, sure=True) for old in ids.intersection(find_replaced(new))}
    rest = {row: one for row, one in shown.items() if one.id in ids and one.id not in found}
    found |= _find_by_meaning(memories, rest, valid, scores, request.prompt)
    return {row: found[memory.id] for row, memory in shown.items() if memory.id in found}


def _find_by_wording(
    shown: Sequence[Memory],
    valid: Mapping[int, Memory],
    about: Mapping[str, About],
    finder: ReplacementFinder,
    prompt: str,
) -> dict[str, Successor]:
    """Return the memories that replaced others by their words or subject."""
    rows = {memory.id: row for row, memory in valid.items()}
    newest_first = sort_newest_first(valid.values())
    sure = finder.find(shown, newest_first)
    unsure = [one for one in shown if one.id not in sure]
    supposed = find_supposed(unsure, list(valid.values()), about, prompt)
    found: dict[str, Successor] = {}
    for old, new in (supposed | sure).items():
        last = _follow_chain(valid[rows[new]], newest_first, finder)
        found[old] = Successor(rows[last.id], last, old in sure)
    return found


def _follow_chain(memory: Memory, newest_first: Sequence[Memory], finder: ReplacementFinder) -> Memory:
    """Return the last of a chain of replacements: A, B, A."""
    by_id = {one.id: one for one in newest_first}
    for _ in range(_MAX_CHAIN):
        after = finder.find([memory], newest_first)
        if not after:
            break
        memory = by_id[after[memory.id]]
    return memory


def _find_by_meaning(
    memories: Memories,
    shown: Mapping[int, Memory],
    valid: Mapping[int, Memory],
    scores: Mapping[int, float],
    prompt: str,
) -> dict[str, Successor]:
    """Return the newer memories nearest in meaning that are about the same subject."""
    model = table_model_id()
    later = {
        row: [one for one, new in valid.items() if new.created > old.created and may_replace(old, new)]
        for row, old in shown.items()
    }
    wanted = dict.fromkeys([row for own, rows in later.items() if rows for row in (own, *rows)])
    vectors = memories.vectors.vectors(list(wanted), model) if wanted and model else {}
    asked = set(find_keywords(prompt))
    found: dict[str, Successor] = {}
    for row, old in shown.items():
        rows = [one for one in later[row] if one in vectors]
        if row not in vectors or not rows:
            continue
        near = sorted(zip(similarities(vectors[row], [vectors[one] for one in rows]), rows, strict=True))
        score, nearest = near[-1]
        fitting = {one for one in rows if scores.get(one, 0.0) > scores.get(row, 0.0)}
        said = _count(asked, old)
        same = [
            one
            for score, one in near
            if _is_same_subject(old, valid[one], score, one in fitting) and _count(asked, valid[one]) >= said
        ]
        if not same and old.kind in STATED and score >= MIN_SIMILARITY:
            same = [nearest] * (estimate_likelihood(old, valid[nearest], score) >= MIN_LIKELIHOOD)
        if same:
            found[old.id] = Successor(same[-1], valid[same[-1]], sure=True)
    return found


def _is_same_subject(old: Memory, new: Memory, similarity: float, is_fitting: bool) -> bool:
    """Tell whether a later memory states the same subject again, or corrects it."""
    if CORRECTION in new.marks:
        return similarity >= LIKELY_SAME_SUBJECT
    if old.leading_kind not in STATED or new.leading_kind != old.leading_kind:
        return False
    return similarity >= (LIKELY_SAME_SUBJECT if is_fitting else SAME_SUBJECT)


def _count(asked: set[str], memory: Memory) -> int:
    return len(asked.intersection(find_keywords(memory.text)))
