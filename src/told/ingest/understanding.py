"""Works out what turns mean, session by session, after they were taken in. It may stop at any time."""

from __future__ import annotations

import time

from told.record import record
from told.search.passages import packed, passages, unpacked
from told.search.signs import signs_of
from told.store.vectors import TurnVectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import apsw

    from told.search.embedder import Embedder
    from told.store.vectors import Turn

_SESSIONS = 100  # asked for at once
_TURNS, _FEW_TURNS = 256, 16  # whose vectors are made, and written, at once; where there is little time


@record
class Understood:
    """What came of it."""

    sessions: int = 0
    turns: int = 0
    left: bool = False  # there was no time for the rest


def understand(
    connection: apsw.Connection, embedder: Embedder, *, seconds: float | None = None,
    said: Callable[[int], None] | None = None,
) -> Understood:  # fmt: skip
    """Make the vectors of all turns that have none of this model.

    Args:
        connection: The store of sessions.
        embedder: What turns texts into vectors.
        seconds: How long it may take.
        said: Is told how many turns more are done.

    Raises:
        BusyError: another told is writing, or the embedder does not answer.
        MissingError: the embedder needs what is not there.
    """
    ends = None if seconds is None else time.monotonic() + seconds
    vectors = TurnVectors(connection, embedder.model)
    if vectors.is_of_another():
        vectors.queue(drop=False)
    together = _TURNS if ends is None else _FEW_TURNS
    sessions = turns = 0
    passed: set[int] = set()  # whose turns changed while they were looked at
    while waiting := [one for one in vectors.waiting(_SESSIONS + len(passed)) if one not in passed]:
        for session in waiting:
            missing = vectors.missing(session)
            for start in range(0, len(missing), together):
                part = missing[start : start + together]
                vectors.put(_made(embedder, part))
                turns += len(part)
                if said is not None:
                    said(len(part))
                if ends is not None and time.monotonic() > ends:
                    return Understood(sessions, turns, left=True)
            if _sketch(vectors, session):
                sessions += 1
            else:
                passed.add(session)
        if ends is not None and time.monotonic() > ends:
            return Understood(sessions, turns, left=bool(vectors.waiting(1)))
    return Understood(sessions, turns, left=bool(passed))


def _made(embedder: Embedder, turns: Sequence[Turn]) -> list[tuple[int, str, str, bytes]]:
    """Return turns with the vectors of their passages, which are asked for together."""
    parts = [passages(asked, answered) for _, asked, answered in turns]
    texts = [text for one in parts for text in (*one.asked, *one.answered)]
    found = embedder.vectors(texts) if texts else []
    made, at = [], 0
    for turn, one in zip(turns, parts, strict=True):
        end = at + len(one.asked) + len(one.answered)
        made.append((*turn, packed(found[at:end], len(one.asked))))
        at = end
    return made


def _sketch(vectors: TurnVectors, session: int) -> bool:
    """Put the signs of a session's turns together: of what was asked, and of what was answered."""
    known = vectors.all_of(session)
    turns, signs = bytearray(), bytearray()
    for row, blob in known:
        for side in unpacked(blob):
            if side:
                turns += row.to_bytes(8, "little")
                signs += signs_of(side[0])
    return vectors.sketched(session, bytes(turns), bytes(signs), len(known))
