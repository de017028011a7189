"""Take back what the user said, on the user's word, without a new value.

A memory is only dismissed if it is the only one that the words can mean; otherwise the user is asked.
"""

from __future__ import annotations

from typing import NamedTuple

from told.capture.retractions import FILLERS, NEGATION, NOT_THERE, PAST, Retraction
from told.conflict.reading import read_statement
from told.memories.change import REJECT, read_proposals
from told.memories.journal_writer import JournalWriter
from told.memories.scopes import active_scopes
from told.pattern import lazy_pattern
from told.search.query import parse_query
from told.search.tokens import STOP_WORDS, is_identifier, tokenize
from told.store.fts import match_any
from told.store.memories.records import ACTIVE, RULE, TOOL, Memory
from told.words import stem

_WHY = "taken back by the user"
_MAX_ROWS = 60
_MAX_ASKED = 3
_COLUMN_WEIGHTS = (1.0, 1.0, 0.5)
_CAPITAL = lazy_pattern(r"(?<=[\w,;] )[A-Z]\w+")


class TakenBack(NamedTuple):
    """A retraction and where it was said."""

    what: Retraction
    project: str  # scope
    agent: str
    session: str
    turn: int
    at: int
    heard: tuple[str, ...] = ()  # what the user typed in the session before


class Retracted(NamedTuple):
    """What a retraction did."""

    done: tuple[Memory, ...] = ()
    asked: tuple[Memory, ...] = ()


def retract(writer: JournalWriter, said: TakenBack) -> Retracted:
    """Dismiss the one memory that the user takes back; propose it where that is not sure."""
    with writer.lock():
        found = [one for one in _find_meant(writer, said) if not _was_processed(writer, said, one)]
        if not found or len(found) > _MAX_ASKED:
            return Retracted()
        writer.begin_group()
        if len(found) == 1 and _is_sure(said, found[0]):
            place = {"agent": said.agent, "session": said.session, "turn": said.turn, "at": said.at}
            evidence = [place | {"quote": said.what.quote}]
            writer.add("reject", found[0].id, retracted=True, why=_WHY, evidence=evidence)
            writer.write()
            return Retracted(done=tuple(found))
        waiting = {
            one.memory
            for one in read_proposals(writer.journal)
            if (one.action, one.session) == (REJECT, said.session)
        }
        new = [one for one in found if one.id not in waiting]
        for one in new:
            writer.propose(REJECT, one.id, source=(said.agent, said.session))
        writer.write()
    return Retracted(asked=tuple(new))


def _find_meant(writer: JournalWriter, said: TakenBack) -> list[Memory]:
    """Return the statements with all words that a retraction names, said before it."""
    terms = set(_name_terms(said.what.about))
    query = parse_query(said.what.about, writer.now).terms
    if not terms or not query:
        return []
    memories = writer.memories
    scopes = active_scopes(memories, said.project)
    rows = memories.match(match_any(query), _COLUMN_WEIGHTS, _MAX_ROWS, scopes=scopes)
    return [
        one
        for one in memories.load([row for row, _ in rows]).values()
        if one.status == ACTIVE
        and one.trust != TOOL
        and not one.label
        and terms <= set(_name_terms(one.text))
        and max((place.at for place in one.evidence), default=one.created) < said.at
        and not (said.what.denies and NEGATION.search(one.text))
    ]


def _name_terms(text: str) -> list[str]:
    words = (word.strip("`'\"()[]*_") for word in tokenize(text.lower()))
    kept = (word for word in words if word not in STOP_WORDS and word not in FILLERS)
    return list(dict.fromkeys(stem(word) for word in kept if any(map(str.isalnum, word))))


def _is_sure(said: TakenBack, memory: Memory) -> bool:
    """Tell whether a retraction can mean nothing else than the one memory with its words."""
    what, is_rule = said.what, memory.kind == RULE
    if memory.locked or not what.is_first or (what.of_rule and not is_rule):
        return False
    if what.denies and PAST.search(what.about):
        return False  # it may only say what somebody did
    terms, words = _name_terms(what.about), _name_terms(memory.text)
    if len(terms) > len(words) // 2:
        return True
    if what.denies and (is_rule or words[0] not in terms or not NOT_THERE.search(what.about)):
        return False  # "the server is not down" denies no statement about it
    is_own = any(place.session == said.session for place in memory.evidence)
    if not is_own and any(set(terms) <= set(_name_terms(text)) for text in said.heard):
        return False  # it may only end the talk of this session
    if max(read_statement(what.about).words.values(), default=0.0) < 1:
        return False  # every project has such a thing: a server
    named = {stem(name.lower()) for name in _CAPITAL.findall(memory.text)}
    leading = words[: (len(words) + 1) // 2 if len(terms) > 1 else 1]
    return any(is_identifier(one) or one in named or one in leading for one in terms)


def _was_processed(writer: JournalWriter, said: TakenBack, memory: Memory) -> bool:
    """Tell whether this retraction was done before, also if the user undid it since."""
    for one in writer.journal.find_by_memory([memory.id]):
        places = (one.payload or {}).get("evidence") if one.kind == "reject" else None
        for place in places if isinstance(places, list) else ():
            if (place.get("session"), place.get("quote")) == (said.session, said.what.quote):
                return True
    return False
