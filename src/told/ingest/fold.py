"""Folds a reader's events into sessions and turns, cleaned and redacted on the way in."""

from __future__ import annotations

import json
import re

from told.agents._plans import MARK, apart
from told.guard.cutting import whole_words
from told.guard.fence import strip_fenced
from told.guard.names import plain_path
from told.guard.text import clean, one_line
from told.guard.together import together
from told.model import USER, Begin, Checkpoint, Cursor, Facts, Mark, Problem, Ref, Said, Touch
from told.store.writing import TurnText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container
    from typing import Any

    from told.model import Event

# Longer than anything a person types; pasted logs are cut.
_MAX_ASKED = 32_000
_MAX_ANSWERED = 64_000
_MAX_STEPS = 8_000
_MAX_NOTE = 32_000
_MAX_NAME = 1_000
SUMMARY = 200

_ISSUE_URL = re.compile(r"https?://[\w.-]+/([\w.-]+/[\w.-]+)/(pull|issues|merge_requests)/(\d{1,9})\b")


class _Turn:
    """A turn as its parts come in."""

    __slots__ = ("answered", "asked", "at", "key", "n", "plan", "room", "steps", "steps_room")

    def __init__(self, n: int, at: int, key: str | int, asked: str) -> None:
        self.n = n
        self.at = at
        self.key = key
        self.asked = asked
        self.answered: list[str] = []
        self.steps: list[str] = []
        self.plan: str = ""  # what the agent has yet to do, as it said last
        self.room = _MAX_ANSWERED
        self.steps_room = _MAX_STEPS

    @property
    def texts(self) -> tuple[str, str, str]:
        """What was asked, what was answered, and what the agent did."""
        steps = [*self.steps, self.plan] if self.plan else self.steps
        return self.asked, "\n\n".join(self.answered), "\n".join(steps)

    def answer(self, text: str, key: str) -> None:
        """Add a text of the agent; what goes beyond the room for answers is left out."""
        if self.room > 0:
            if not self.answered and key:
                self.key = key
            self.answered.append(whole_words(text, self.room))
            self.room -= len(text) + 2  # and the empty line before the next

    def step(self, text: str) -> None:
        """Add a line about what the agent did; of its lists of what to do only the last is kept whole."""
        text, plan = apart(text)
        self.plan = plan or self.plan
        self._step(text)

    def stepped(self, steps: str) -> None:
        """Take in what was kept of the steps so far."""
        before, _, last = steps.rpartition("\n")
        if last.startswith(MARK):
            self.plan, steps = last, before
        if steps:
            self._step(steps)

    def _step(self, text: str) -> None:
        if self.steps_room > 0:
            self.steps.append(whole_words(text, self.steps_room))
            self.steps_room -= len(text) + 1


def is_telling(summary: str) -> bool:
    """Whether a text says what a session is about, rather than "hi" or "go on"."""
    return len(summary) > 30 or len(summary.split()) > 2


class Draft:
    """What one source says of one session, since the cursor."""

    def __init__(self, native: str, *, begin: bool) -> None:
        self.native = native
        self.begin = begin  # it replaces what was known, rather than adding to it
        self.facts = Facts(native)
        self.place = ""  # the folder that it ran in, as it is really called; never stored
        self.parts: list[_Turn] = []
        self.turns: tuple[TurnText, ...] = ()  # the parts, put together
        self.open = False  # the first turn goes on one that is already stored
        self.next_n = 0
        self.touches: dict[str, Touch] = {}
        self.refs: dict[tuple[str, str], Ref] = {}
        self.notes: dict[int, Checkpoint] = {}
        self.last_at = 0
        self.about = ""  # the summary, where it is known already

    @property
    def summary(self) -> str:
        """The first thing the user said that tells what the session is about."""
        if self.about:
            return self.about
        first = ""
        for turn in self.turns:
            summary = one_line(turn.asked, SUMMARY)
            if is_telling(summary):
                return summary
            first = first or summary
        return first


class Fold:
    """Collects the events of one source; the caller takes the drafts at a mark."""

    def __init__(
        self,
        *,
        from_start: bool,
        begun: Container[str],
        redact: Callable[[str], str],
        open_turn: Callable[[str], tuple[int, TurnText | None]],
        name: Callable[[str], str] = str,
    ) -> None:
        """Begin.

        Args:
            from_start: the source is read from its start, so every session in it begins anew …
            begun: … except these, which have begun in an earlier portion.
            redact: removes secrets from a text.
            open_turn: for a session that goes on, the number of its next turn and the turn before that
                (None when that turn is a copy that another session holds).
            name: makes an agent's own id one that may be stored.
        """
        self._from_start = from_start
        self._begun = begun
        self._redact = redact
        self._open_turn = open_turn
        self._name = name
        self.drafts: dict[str, Draft] = {}
        self.problems: list[Problem] = []
        self.cursor: Cursor | None = None
        self.weight = 0  # characters held
        self._paths: dict[str, str] = {}

    def add(self, event: Event | Problem) -> None:
        """Take one event in."""
        if isinstance(event, Said):
            self._said(event)
        elif isinstance(event, Facts):
            self._facts(event)
        elif isinstance(event, Touch):
            draft = self._draft(event.session)
            path = self._paths.get(event.path)
            if path is None:
                path = self._paths[event.path] = self._text(event.path, _MAX_NAME).strip()
            if path:
                known = draft.touches.get(path)
                how = known.how if known is not None and event.how == "read" else event.how
                draft.touches[path] = Touch("", path, how, max(event.at, known.at if known else 0))
                draft.last_at = max(draft.last_at, event.at)
        elif isinstance(event, Ref):
            self._ref(self._draft(event.session), event.kind, self._text(event.value, _MAX_NAME), event.at)
        elif isinstance(event, Checkpoint):
            self._note(event)
        elif isinstance(event, Begin):
            self.drafts[event.session] = Draft(self._native(event.session), begin=True)
        elif isinstance(event, Mark):
            self.cursor = self._without_secrets(event.cursor)
        elif isinstance(event, Problem):
            self.problems.append(Problem(event.line, self._text(event.reason, _MAX_NAME)))

    def _draft(self, session: str) -> Draft:
        draft = self.drafts.get(session)
        if draft is None:
            begin = self._from_start and session not in self._begun
            draft = self.drafts[session] = Draft(self._native(session), begin=begin)
            if not begin:
                draft.next_n, last = self._open_turn(draft.native)
                draft.open = draft.next_n > 0
                if last is not None:
                    turn = _Turn(last.n, last.at, last.key, last.asked)
                    if last.answered:
                        turn.answer(last.answered, "")
                    if last.steps:
                        turn.stepped(last.steps)
                    draft.parts.append(turn)
        return draft

    def _native(self, session: str) -> str:
        return self._name(_storable(session))

    def _text(self, text: str, limit: int) -> str:
        if not text:
            return ""
        return self._redact(whole_words(text, limit * 2))[:limit]

    def _said(self, said: Said) -> None:
        if not said.text:
            return
        draft = self._draft(said.session)
        draft.last_at = max(draft.last_at, said.at)
        self.weight += len(said.text)
        if said.who == USER:
            draft.parts.append(_Turn(draft.next_n, said.at, said.key, whole_words(said.text, _MAX_ASKED)))
            draft.next_n += 1
            draft.open = False
            return
        if not draft.parts:
            if draft.open:  # it goes on a turn that is a copy and is kept elsewhere
                return
            draft.parts.append(_Turn(draft.next_n, said.at, said.key, ""))
            draft.next_n += 1
        turn = draft.parts[-1]
        turn.at = turn.at or said.at
        if said.form == "step":
            turn.step(said.text)
        else:
            turn.answer(said.text, said.key)

    def finished(self) -> tuple[Draft, ...]:
        """Put the turns together, cleaned and redacted, and return the drafts."""
        for draft in self.drafts.values():
            turns = []
            texts = iter(together(self._redact, [text for part in draft.parts for text in part.texts]))
            for part in draft.parts:
                asked, answered, steps = (next(texts).strip() for _ in range(3))
                asked = strip_fenced(asked).strip()
                turns.append(TurnText(part.n, part.at, part.key, asked, answered, steps))
                for text in (asked, answered):
                    if "://" in text:
                        self._links(draft, text, part.at)
            draft.turns = tuple(turn for turn in turns if turn.asked or turn.answered or turn.steps)
        return tuple(self.drafts.values())

    def _links(self, draft: Draft, text: str, at: int) -> None:
        for repository, kind, number in _ISSUE_URL.findall(text):
            self._ref(draft, "issue" if kind == "issues" else "pr", f"{repository}#{number}", at)

    def _facts(self, facts: Facts) -> None:
        draft = self._draft(facts.session)
        old = draft.facts
        keeps_title = not facts.title or (old.title_by == USER and old.title and facts.title_by != USER)
        draft.place = draft.place or whole_words(clean(facts.cwd), _MAX_NAME)
        draft.facts = Facts(
            session=draft.native,
            cwd=old.cwd or plain_path(draft.place, self._redact),
            branch=self._text(facts.branch, 200) or old.branch,
            repository=self._text(facts.repository, 400) or old.repository,
            title=old.title if keeps_title else one_line(self._text(facts.title, 400), SUMMARY),
            title_by=old.title_by if keeps_title else facts.title_by,
            started=min(filter(None, (old.started, facts.started)), default=0),
            parent=self._native(facts.parent) or old.parent,
            kind=facts.kind or old.kind,
            archived=facts.archived or old.archived,
            model=self._text(facts.model, 100) or old.model,
        )

    def _without_secrets(self, cursor: Cursor) -> Cursor:
        """Redact what a reader wants to remember: it is stored like all the rest."""
        if not cursor.state or self._redact(cursor.state) == cursor.state:
            return cursor
        try:
            state = json.dumps(self._redacted(json.loads(cursor.state)))
        except (ValueError, RecursionError):
            state = self._redact(cursor.state)
        return Cursor(cursor.offset, cursor.line, state)

    def _redacted(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._redact(value)
        if isinstance(value, dict):
            return {self._redact(name): self._redacted(item) for name, item in value.items()}
        return [self._redacted(item) for item in value] if isinstance(value, list) else value

    def _ref(self, draft: Draft, kind: str, value: str, at: int) -> None:
        if value:
            draft.refs.setdefault((kind, value), Ref("", kind, value, at))

    def _note(self, note: Checkpoint) -> None:
        draft = self._draft(note.session)
        texts = {
            name: self._text(getattr(note, name), _MAX_NOTE).strip()
            for name in (
                "overview",
                "work_done",
                "technical_details",
                "important_files",
                "next_steps",
                "history",
            )
        }
        self.weight += sum(map(len, texts.values()))
        title = one_line(self._text(note.title, _MAX_NAME), SUMMARY)
        number = max(0, min(note.number, 1_000_000))
        draft.notes[number] = Checkpoint(session="", number=number, title=title, at=note.at, **texts)
        draft.last_at = max(draft.last_at, note.at)


def _storable(name: str) -> str:
    """Return an agent's own id without halves of characters, which cannot be written as UTF-8."""
    return name if name.isascii() else name.encode("utf-8", "replace").decode()
