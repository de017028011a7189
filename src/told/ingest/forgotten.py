"""Recognise forgotten text by keyed hashes and cut it out of sessions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from told.hashing import blake2s
from told.ingest import agent_prompts
from told.ingest.fold import SessionDraft, change_state, change_summary
from told.journal.apply import open_memories
from told.journal.files import journal_folder, read_key
from told.journal.registry import list_series
from told.model import Checkpoint, Cursor
from told.pattern import lazy_pattern
from told.store.memories.records import FORGOTTEN as STATUS_FORGOTTEN
from told.store.memories.records import Evidence
from told.store.sessions.read import TurnText
from told.store.sessions.write import NOTE_TEXTS, hash_key
from told.words import UNSPACED

FORGOTTEN = "[forgotten]"
# Topics of notes in the journal: {"agent/native": "1"}, and {hash of a turn's key: "agent/native"}.
SESSION_TOPIC = "forgotten_session"
TURN_TOPIC = "forgotten_turn"
ANYWHERE = -1  # instead of a turn number: the words may be anywhere in the session

# In scripts without spaces each character counts as a word.
_WORD = lazy_pattern(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")
_END = lazy_pattern(r"[.!?…]+(?=\s)|[。！？]+|\n+|[.!?…]+\Z")  # noqa: RUF001 - Chinese and Japanese marks
_PREFIX = 2  # characters of a mark that depend on the first word only


@dataclass(frozen=True, slots=True)
class Word:
    """A word and its position."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Mark:
    """A keyed hash of a span of words."""

    mark: str
    words: int


def split_words(text: str) -> list[Word]:
    """Split a text into words, folded to lower case."""
    return [Word(found.group().casefold(), *found.span()) for found in _WORD.finditer(text)]


def find_sentences(text: str) -> list[tuple[int, int]]:
    """Return start and end of each sentence, without the marks between them."""
    found, at = [], 0
    for start, end in [*(sign.span() for sign in _END.finditer(text)), (len(text), len(text))]:
        inner = text[at:start]
        begin = at + len(inner) - len(inner.lstrip())
        if inner.strip():
            found.append((begin, begin + len(inner.strip())))
        at = end
    return found


class Marker:
    """Create marks with told's key, and find spans that have them."""

    def __init__(self, key: bytes) -> None:
        self._key = key[:32]
        self._prefixes: dict[str, str] = {}

    def mark(self, words: Sequence[str]) -> Mark:
        """Create the mark of some words."""
        digest = blake2s("\0".join(words).encode("utf-8", "replace"), key=self._key, digest_size=8)
        return Mark(self._prefix(words[0]) + digest.hexdigest(), len(words))

    def _prefix(self, word: str) -> str:
        """Return one byte for a word: it avoids hashing most spans, and reveals nothing."""
        known = self._prefixes.get(word)
        if known is None:
            digest = blake2s(word.encode("utf-8", "replace"), key=self._key, digest_size=1, person=b"first")
            known = self._prefixes[word] = digest.hexdigest()
        return known

    def find_spans(self, text: str, marks: Iterable[Mark]) -> list[tuple[int, int, Mark]]:
        """Return start, end and mark of the spans that have one of the marks."""
        wanted: dict[int, set[str]] = {}
        for one in marks:
            wanted.setdefault(one.words, set()).add(one.mark)
        words = split_words(text) if wanted else []
        spans = []
        for size, of_size in wanted.items():
            prefixes = {mark[:_PREFIX] for mark in of_size}
            for at in range(len(words) - size + 1 if size else 0):
                if self._prefix(words[at].text) in prefixes:
                    mark = self.mark([word.text for word in words[at : at + size]])
                    if mark.mark in of_size:
                        spans.append((words[at].start, words[at + size - 1].end, mark))
        return spans


def cut_sentences(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Replace the sentences that contain spans with a placeholder."""
    cut: list[tuple[int, int]] = []
    sentences = find_sentences(text)
    for start, end in spans:
        touched = [one for one in sentences if one[0] < end and start < one[1]]
        if touched:
            cut.append((touched[0][0], touched[-1][1]))
    parts, at = [], 0
    for start, end in sorted(cut, key=lambda one: (one[0], -one[1])):
        if start >= at:
            parts += [text[at:start], FORGOTTEN]
        at = max(at, end)
    return "".join(parts) + text[at:]


class Forgotten:
    """Cut forgotten text out of sessions."""

    def __init__(
        self, key: bytes, places: Iterable[Evidence] = (), sessions: Iterable[str] = (),
        turns: Mapping[int, str] | None = None,
    ) -> None:  # fmt: skip
        """Take the evidence with marks, sessions as "agent/native", and sessions by hashed turn key.

        If the words are not found in their turn, all of the turn is cut. Agents copy turns to other sessions.
        """
        self._marker = Marker(key)
        self._places: dict[str, list[tuple[int, Mark]]] = {}
        for one in places:
            if one.mark and one.session:
                name = f"{one.agent}/{one.session}"
                self._places.setdefault(name, []).append((one.turn, Mark(one.mark, one.words)))
        self.sessions = frozenset(sessions)
        self._turns = turns or {}
        self.agent_sessions: frozenset[str] = frozenset()  # that agents started, as "agent/native"

    @property
    def names(self) -> set[tuple[str, str]]:
        """Return the agent and native id of all sessions that lost something."""
        found = (name.partition("/") for name in (*self._places, *self.sessions))
        return {(agent, native) for agent, _, native in found}

    def has(self, agent: str, native: str, parent: str = "") -> bool:
        """Return whether a session or its parent was forgotten completely."""
        return f"{agent}/{native}" in self.sessions or f"{agent}/{parent}" in self.sessions

    def marks(self, agent: str, native: str) -> list[Mark]:
        """Return the marks of what was forgotten in a session."""
        return list(dict.fromkeys(mark for _, mark in self._places.get(f"{agent}/{native}", ())))

    def long_marks(self, words: int) -> list[Mark]:
        """Return all marks of spans of at least so many words."""
        found = (mark for places in self._places.values() for _, mark in places if mark.words >= words)
        return list(dict.fromkeys(found))

    def cut_drafts(
        self, agent: str, drafts: Iterable[SessionDraft], cursor: Cursor
    ) -> tuple[list[SessionDraft], Cursor]:
        """Cut forgotten text out of drafts and out of the reader's state."""
        left, marks, all_texts = [], [], False
        for draft in drafts:
            if self.has(agent, draft.native, draft.facts.parent):
                all_texts = True
            else:
                marks += self.cut(agent, draft)
                left.append(draft)
        if cursor.state and (marks or all_texts):
            cursor = replace(cursor, state=self.cut_state(cursor.state, marks, all_texts=all_texts))
        return left, cursor

    def cut(self, agent: str, draft: SessionDraft) -> list[Mark]:
        """Cut forgotten text out of a draft; return the marks it was known by."""
        marks = self.marks(agent, draft.native)
        if self._turns:
            owners = {turn.n: self._owner(agent, turn) for turn in draft.turns}
            draft.turns = tuple(turn for turn in draft.turns if owners[turn.n] not in self.sessions)
            for owner in sorted({*owners.values()}):
                marks += [mark for _, mark in self._places.get(owner, ())]
        if marks:
            self._cut_draft(agent, draft, marks)
        return marks

    def _owner(self, agent: str, turn: TurnText) -> str:
        key = hash_key(agent, turn.key)
        return self._turns.get(key, "") if key is not None else ""

    def _cut_draft(self, agent: str, draft: SessionDraft, marks: list[Mark]) -> None:
        before = draft.turns
        draft.turns = self.cut_turns(agent, draft.native, draft.turns, marks)
        draft.about = self.cut_summary(draft.about, before, draft.turns, marks)
        facts = draft.facts
        draft.facts = replace(
            facts, title=self.cut_text(facts.title, marks), branch=self.cut_text(facts.branch, marks)
        )
        draft.notes = {number: self.cut_note(note, marks) for number, note in draft.notes.items()}
        draft.touches = {path: one for path, one in draft.touches.items() if self.allows(path, marks)}
        draft.refs = {name: one for name, one in draft.refs.items() if self.allows(name[1], marks)}

    def cut_turns(
        self, agent: str, native: str, turns: Iterable[TurnText], marks: list[Mark]
    ) -> tuple[TurnText, ...]:
        """Cut forgotten text out of turns; replace known turns where it is not found."""
        found: set[Mark] = set()
        cut: dict[int, TurnText] = {}
        for turn in turns:
            texts = []
            for text in turn.texts:
                spans = self._marker.find_spans(text, marks)
                found |= {mark for _, _, mark in spans}
                texts.append(cut_sentences(text, [span[:2] for span in spans]) if spans else text)
            asked, answered, steps = texts
            cut[turn.n] = turn._replace(asked=asked, answered=answered, steps=steps)
        for n, mark in self._places.get(f"{agent}/{native}", ()):
            if n in cut and mark not in found and not any(FORGOTTEN in text for text in cut[n].texts):
                cut[n] = cut[n]._replace(asked=FORGOTTEN, answered="", steps="")
        return tuple(cut.values())

    def cut_summary(
        self, summary: str, before: Iterable[TurnText], after: Iterable[TurnText], marks: list[Mark]
    ) -> str:
        """Cut forgotten text out of a summary, which may be a shortened prompt."""
        return change_summary(summary, before, after, lambda text: self.cut_text(text, marks))

    def cut_text(self, text: str, marks: list[Mark]) -> str:
        """Cut the sentences with one of the marks out of a text."""
        spans = self._marker.find_spans(text, marks) if text else []
        return cut_sentences(text, [span[:2] for span in spans]) if spans else text

    def cut_note(self, note: Checkpoint, marks: list[Mark]) -> Checkpoint:
        """Cut forgotten text out of a checkpoint."""
        values: dict[str, Any] = {name: self.cut_text(getattr(note, name), marks) for name in NOTE_TEXTS}
        return replace(note, **values)

    def allows(self, name: str, marks: list[Mark]) -> bool:
        """Return whether a path or reference contains no forgotten text."""
        return not self._marker.find_spans(name, marks)

    def cut_state(self, state: str, marks: list[Mark], *, all_texts: bool = False) -> str:
        """Cut forgotten text, or all texts, out of a reader's state."""

        def cut(text: str) -> str:
            if all_texts:  # ids and paths have no spaces
                return "" if len(text.split()) > 1 else text
            return self.cut_text(text, marks)

        return change_state(state, cut)


class Tombstones:
    """Provide what was forgotten according to the journal."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._seen: list[tuple[str, int, int]] = []
        self._forgotten = Forgotten(b"")

    def current(self) -> Forgotten:
        """Return what was forgotten; reload it if the journal changed."""
        state = _journal_state(self._home)
        if state and state != self._seen:
            self._forgotten = _load(self._home)
            self._seen = state
        return self._forgotten


def _journal_state(home: str) -> list[tuple[str, int, int]]:
    """Return name, size and time of each series' newest segment."""
    found = []
    for series in list_series(journal_folder(home)):
        for name in series.segments()[-1:]:
            state = os.stat(os.path.join(series.folder, name))
            found.append((f"{series.name}/{name}", state.st_size, state.st_mtime_ns))
    return found


def _load(home: str) -> Forgotten:
    memories = open_memories(home)
    try:
        forgotten = memories.load(memories.listed(status=STATUS_FORGOTTEN)).values()
        places = [place for memory in forgotten for place in memory.evidence]
        sessions = memories.noted(SESSION_TOPIC)
        turns = {int(key): name for key, name in memories.noted(TURN_TOPIC).items()}
        prompted = memories.noted(agent_prompts.TOPIC)
    finally:
        memories.close()
    found = Forgotten(read_key(home), places, sessions, turns)
    found.agent_sessions = frozenset(name for name in prompted if prompted[name] == agent_prompts.WHOLE)
    return found
