"""Embed the turns of sessions that have no vectors yet; may stop at any time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import apsw

from told.search.index_text import split_passages
from told.search.vectors.arithmetic import pack_signs, pack_vectors, unpack_vectors
from told.search.vectors.embedder import Embedder
from told.store.sessions.match import Turn, TurnVectors

_SESSIONS = 100  # queried at once
_TURNS, _TURNS_WITH_DEADLINE = 256, 16  # embedded and written at once


@dataclass(frozen=True, slots=True)
class EmbedResult:
    """How much was embedded."""

    sessions: int = 0
    turns: int = 0
    left: bool = False  # some sessions remain


def embed_turns(
    connection: apsw.Connection, embedder: Embedder, *, seconds: float | None = None,
    report: Callable[[int], None] | None = None,
) -> EmbedResult:  # fmt: skip
    """Embed all turns that have no vector of this model; `report` gets the number just embedded."""
    deadline = None if seconds is None else time.monotonic() + seconds
    vectors = TurnVectors(connection, embedder.model)
    if vectors.has_only_other_models():
        vectors.queue(drop=False)
    size = _TURNS if deadline is None else _TURNS_WITH_DEADLINE
    sessions = turns = 0
    skipped: set[int] = set()  # their turns changed meanwhile
    while waiting := [one for one in vectors.waiting(_SESSIONS + len(skipped)) if one not in skipped]:
        for session in waiting:
            missing = vectors.missing(session)
            for start in range(0, len(missing), size):
                part = missing[start : start + size]
                vectors.put(_embed(embedder, part))
                turns += len(part)
                if report is not None:
                    report(len(part))
                if deadline is not None and time.monotonic() > deadline:
                    return EmbedResult(sessions, turns, left=True)
            if _put_signs(vectors, session):
                sessions += 1
            else:
                skipped.add(session)
        if deadline is not None and time.monotonic() > deadline:
            return EmbedResult(sessions, turns, left=bool(vectors.waiting(1)))
    return EmbedResult(sessions, turns, left=bool(skipped))


def _embed(embedder: Embedder, turns: Sequence[Turn]) -> list[tuple[int, str, str, bytes]]:
    """Embed the passages of turns in one call."""
    parts = [split_passages(asked, answered) for _, asked, answered in turns]
    texts = [text for one in parts for text in (*one.asked, *one.answered)]
    found = embedder.vectors(texts) if texts else []
    made, at = [], 0
    for turn, one in zip(turns, parts, strict=True):
        end = at + len(one.asked) + len(one.answered)
        made.append((*turn, pack_vectors(found[at:end], len(one.asked))))
        at = end
    return made


def _put_signs(vectors: TurnVectors, session: int) -> bool:
    """Store the vector signs of a session's prompts and answers."""
    known = vectors.all_of(session)
    turns, signs = bytearray(), bytearray()
    for row, blob in known:
        for side in unpack_vectors(blob):
            if side:
                turns += row.to_bytes(8, "little")
                signs += pack_signs(side[0])
    return vectors.put_sketch(session, bytes(turns), bytes(signs), len(known))
