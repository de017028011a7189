"""What was forgotten and must not be read in again: sessions, and spans of which only marks are left."""

from __future__ import annotations

import json

from told.guard.text import one_line
from told.ingest.spans import FORGOTTEN, Mark, Marker, without
from told.record import replaced
from told.store.writing import hash_of_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from told.ingest.fold import Draft
    from told.model import Checkpoint, Cursor
    from told.store.memory_records import Evidence
    from told.store.writing import TurnText

# Topics of notes in the journal: {"agent/native": "1"}, and {number of a turn's own id: "agent/native"}.
SESSION_TOPIC = "forgotten_session"
TURN_TOPIC = "forgotten_turn"
# Stands for no turn: the words may be anywhere in the session.
ANYWHERE = -1
_SUMMARY = 200


class Forgotten:
    """Cuts what was forgotten out of sessions. Those in which nothing was forgotten cost nothing."""

    def __init__(
        self, key: bytes, places: Iterable[Evidence] = (), sessions: Iterable[str] = (),
        turns: Mapping[int, str] | None = None,
    ) -> None:  # fmt: skip
        """Take told's key, the places where something was forgotten, and sessions that were as a whole.

        Args:
            key: With which the marks were made.
            places: Each with a mark; the words have to stand in the turn, or else all of it is left out.
            sessions: As "agent/native".
            turns: By the numbers of turns' own ids, the session in which something of it was forgotten: the
                same turn may be copied into another session's file.
        """
        self._marker = Marker(key)
        self._places: dict[str, list[tuple[int, Mark]]] = {}
        for one in places:
            if one.mark and one.session:
                name = f"{one.agent}/{one.session}"
                self._places.setdefault(name, []).append((one.turn, Mark(one.mark, one.words)))
        self.sessions = frozenset(sessions)
        self._turns = turns or {}

    def has(self, agent: str, native: str, parent: str = "") -> bool:
        """Tell whether a session was forgotten as a whole, or the one that started it."""
        return f"{agent}/{native}" in self.sessions or f"{agent}/{parent}" in self.sessions

    def marks(self, agent: str, native: str) -> list[Mark]:
        """Return the marks of what was forgotten in a session."""
        return list(dict.fromkeys(mark for _, mark in self._places.get(f"{agent}/{native}", ())))

    def long_marks(self, least: int) -> list[Mark]:
        """Return the marks of what was forgotten anywhere, if it has at least so many words."""
        found = (mark for places in self._places.values() for _, mark in places if mark.words >= least)
        return list(dict.fromkeys(found))

    def take(self, agent: str, drafts: Iterable[Draft], cursor: Cursor) -> tuple[list[Draft], Cursor]:
        """Cut what was forgotten out of what was read: return what is left, and the cursor behind it.

        A reader may keep in its cursor some of what was said.
        """
        kept, marks, all_of_it = [], [], False
        for draft in drafts:
            if self.has(agent, draft.native, draft.facts.parent):
                all_of_it = True
            else:
                marks += self.cut(agent, draft)
                kept.append(draft)
        if cursor.state and (marks or all_of_it):
            cursor = replaced(cursor, state=self.state(cursor.state, marks, all_of_it=all_of_it))
        return kept, cursor

    def cut(self, agent: str, draft: Draft) -> list[Mark]:
        """Cut what was forgotten out of what was read of a session; return the marks it was known by."""
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
        key = hash_of_key(agent, turn.key)
        return self._turns.get(key, "") if key is not None else ""

    def _cut_draft(self, agent: str, draft: Draft, marks: list[Mark]) -> None:
        before = draft.turns
        draft.turns = self.turns(agent, draft.native, draft.turns, marks)
        draft.about = self.summary(draft.about, before, draft.turns, marks)
        facts = draft.facts
        draft.facts = replaced(
            facts, title=self.text(facts.title, marks), branch=self.text(facts.branch, marks)
        )
        draft.notes = {number: self.note(note, marks) for number, note in draft.notes.items()}
        draft.touches = {path: one for path, one in draft.touches.items() if self.keeps(path, marks)}
        draft.refs = {name: one for name, one in draft.refs.items() if self.keeps(name[1], marks)}

    def turns(
        self, agent: str, native: str, turns: Iterable[TurnText], marks: list[Mark]
    ) -> tuple[TurnText, ...]:
        """Return turns without what was forgotten; all of a turn goes whose place is known but not found."""
        found: set[Mark] = set()
        cut: dict[int, TurnText] = {}
        for turn in turns:
            texts = []
            for text in (turn.asked, turn.answered, turn.steps):
                spans = self._marker.spans(text, marks)
                found |= {mark for _, _, mark in spans}
                texts.append(without(text, [span[:2] for span in spans]) if spans else text)
            asked, answered, steps = texts
            cut[turn.n] = replaced(turn, asked=asked, answered=answered, steps=steps)
        for n, mark in self._places.get(f"{agent}/{native}", ()):
            if n in cut and mark not in found and not _is_cut(cut[n]):
                cut[n] = replaced(cut[n], asked=FORGOTTEN, answered="", steps="")
        return tuple(cut.values())

    def summary(
        self, summary: str, before: Iterable[TurnText], after: Iterable[TurnText], marks: list[Mark]
    ) -> str:
        """Return a session's summary without what was forgotten; it may have been a turn cut short."""
        if not summary:
            return ""
        for old, new in zip(before, after, strict=True):
            if old.asked != new.asked and one_line(old.asked, _SUMMARY) == summary:
                return one_line(new.asked, _SUMMARY)
        return self.text(summary, marks)

    def text(self, text: str, marks: list[Mark]) -> str:
        """Return a text without the sentences that have a span with one of the marks."""
        spans = self._marker.spans(text, marks) if text else []
        return without(text, [span[:2] for span in spans]) if spans else text

    def note(self, note: Checkpoint, marks: list[Mark]) -> Checkpoint:
        """Return a checkpoint without what was forgotten."""
        values: dict[str, Any] = {
            name: self.text(getattr(note, name), marks)
            for name in ("title", "overview", "work_done", "technical_details", "important_files",
                         "next_steps", "history")
        }  # fmt: skip
        return replaced(note, **values)

    def keeps(self, name: str, marks: list[Mark]) -> bool:
        """Tell whether a path or the like says nothing that was forgotten."""
        return not self._marker.spans(name, marks)

    def state(self, state: str, marks: list[Mark], *, all_of_it: bool = False) -> str:
        """Return what a reader wanted to remember, without what was forgotten, or without anything said."""

        def cut(text: str) -> str:
            return _without_texts(text) if all_of_it else self.text(text, marks)

        try:
            value = json.loads(state)
        except (ValueError, RecursionError):
            return cut(state)
        new = _mapped(value, cut)
        return state if new == value else json.dumps(new)


def _is_cut(turn: TurnText) -> bool:
    return any(FORGOTTEN in text for text in (turn.asked, turn.answered, turn.steps))


def _without_texts(text: str) -> str:
    """Return an id, a path or the like as it is, and nothing of what was said."""
    return "" if len(text.split()) > 1 else text


def _mapped(value: Any, cut: Any) -> Any:
    if isinstance(value, str):
        return cut(value)
    if isinstance(value, dict):
        return {name: _mapped(item, cut) for name, item in value.items()}
    return [_mapped(item, cut) for item in value] if isinstance(value, list) else value
