"""Find the message that a memory came from, and the words around its quote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from told.capture.grammar import leans_back
from told.pattern import lazy_pattern
from told.store.memories.records import Evidence, Memory
from told.store.sessions.read import SessionRow, TurnRow
from told.text import clean

if TYPE_CHECKING:
    from told.store.sessions.protocols import SessionReading

_MAX_SESSIONS = 4  # rows that share the beginning of an id
_GAP = lazy_pattern(r"\s*(?:\[?(?:…|\.{3,})\]?)\s*")  # an agent may leave out words of a quote


@dataclass(frozen=True, slots=True)
class Quote:
    """The user's words that a memory came from, in their message."""

    agent: str
    session: str  # told's id of it, or the agent's own if it is not stored any more
    turn: int | None
    at: int
    before: str  # the message's words before the quote
    words: str
    after: str
    sessions: int  # in which it was said


def find_quote(reader: SessionReading, memory: Memory, room: int) -> Quote | None:
    """Return the latest quote of a memory with up to `room` characters on each side."""
    last = _find_latest(memory)
    if last is None:
        return None
    sessions = len({place.session for place in memory.evidence if place.session})
    session = _find_session(reader, last)
    turn, message, span = _find_message(reader, session, last) if session else (None, "", None)
    before, words, after = "", _one_line(last.quote), ""
    if span:
        before, words, after = _cut_around(message, span, room)
    return Quote(
        last.agent, session.public if session else last.session, turn.n if turn else None, last.at,
        before, words, after, sessions,
    )  # fmt: skip


def find_text_before(reader: SessionReading, memory: Memory, room: int) -> str:
    """Return the end of the agent's text before a quote that leans on it, on one line."""
    last = _find_latest(memory)
    session = _find_session(reader, last) if last else None
    if last is None or session is None or not (leans_back(memory.text) or leans_back(last.quote)):
        return ""
    turn, _, _ = _find_message(reader, session, last)
    before = reader.turn(session.id, turn.n - 1) if turn else None
    said = _one_line(before.answered) if before else ""
    return said if len(said) <= room else f"…{said[-room:].partition(' ')[2]}"


def _find_latest(memory: Memory) -> Evidence | None:
    """Return where a memory was said last, of the places with a quote; in a session if possible."""
    places = [place for place in memory.evidence if place.quote]
    return max(places, key=lambda place: (bool(place.session), place.at), default=None)


def _find_session(reader: SessionReading, place: Evidence) -> SessionRow | None:
    rows = reader.sessions_like(place.session, _MAX_SESSIONS) if place.session else []
    return next((row for row in rows if (row.native, row.agent) == (place.session, place.agent)), None)


def _find_message(
    reader: SessionReading, session: SessionRow, place: Evidence
) -> tuple[TurnRow | None, str, tuple[int, int] | None]:
    """Return the turn with the quote, its message on one line, and where the quote is in it."""
    named = reader.turn(session.id, place.turn)
    for turn in [*([named] if named else []), *reader.turns(session.id)]:
        message = _one_line(turn.asked)
        if span := _find_span(message, place.quote):
            return turn, message, span
    return named, "", None


def _find_span(message: str, quote: str) -> tuple[int, int] | None:
    parts = [part for part in _GAP.split(_one_line(quote)) if part]
    folded = message.casefold()
    if not parts or len(folded) != len(message):
        return None
    first = folded.find(parts[0].casefold())
    last = folded.find(parts[-1].casefold(), max(0, first))
    return (first, last + len(parts[-1])) if first >= 0 and last >= 0 else None


def _cut_around(message: str, span: tuple[int, int], room: int) -> tuple[str, str, str]:
    start, end = span
    before, after = message[:start], message[end:]
    if len(before) > room:
        before = f"…{before[-room:].partition(' ')[2]}"
    if len(after) > room:
        after = f"{after[:room].rpartition(' ')[0]}…"
    return before, message[start:end], after


def _one_line(text: str) -> str:
    return " ".join(clean(text).split())
