"""Build sessions and turns from a reader's events; clean and redact them."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable
from dataclasses import replace
from typing import Any, NamedTuple

from told.agents.reading import PLAN_MARK, split_plan
from told.fence import strip_fenced
from told.model import USER, Begin, Checkpoint, Cursor, Event, Facts, Mark, Message, Problem, Ref, Touch
from told.pattern import lazy_pattern
from told.redact.engine import redact_all
from told.redact.names import redact_path
from told.store.sessions.read import TurnText
from told.store.sessions.write import NOTE_TEXTS
from told.text import clean, cut_at_word, shorten, strip_message

# Limits in characters; longer texts are pasted logs.
_MAX_ASKED = 32_000
_MAX_ANSWERED = 64_000
_MAX_STEPS = 8_000
_MAX_NOTE = 32_000
_MAX_NAME = 1_000
MAX_SUMMARY = 200

_ISSUE_URL = lazy_pattern(r"https?://[\w.-]+/([\w.-]+/[\w.-]+)/(pull|issues|merge_requests)/(\d{1,9})\b")


class _Turn:
    """A turn that is being built."""

    def __init__(self, n: int, at: int, key: str | int, asked: str) -> None:
        self.n = n
        self.at = at
        self.key = key
        self.asked = asked
        self._answers: list[str] = []
        self._steps: list[str] = []
        self._plan = ""  # the agent's latest to-do list
        self._answer_room = _MAX_ANSWERED
        self._step_room = _MAX_STEPS

    @property
    def texts(self) -> tuple[str, str, str]:
        """What was asked, what was answered, and the agent's steps."""
        steps = [*self._steps, self._plan] if self._plan else self._steps
        return self.asked, "\n\n".join(self._answers), "\n".join(steps)

    def add_answer(self, text: str, key: str) -> None:
        """Add a text of the agent, as far as there is room."""
        if self._answer_room > 0:
            if not self._answers and key:
                self.key = key
            self._answers.append(cut_at_word(text, self._answer_room))
            self._answer_room -= len(text) + 2  # with the blank line before the next

    def add_step(self, text: str) -> None:
        """Add a step of the agent; of its to-do lists only the last stays complete."""
        text, plan = split_plan(text)
        self._plan = plan or self._plan
        self._append_step(text)

    def add_stored_steps(self, steps: str) -> None:
        """Add the steps that are stored already."""
        before, _, last = steps.rpartition("\n")
        if last.startswith(PLAN_MARK):
            self._plan, steps = last, before
        if steps:
            self._append_step(steps)

    def _append_step(self, text: str) -> None:
        if self._step_room > 0:
            self._steps.append(cut_at_word(text, self._step_room))
            self._step_room -= len(text) + 1


def is_informative(summary: str) -> bool:
    """Return whether a text says more than "hi" or "go on"."""
    return len(summary) > 30 or len(summary.split()) > 2


class Origin(NamedTuple):
    """The machine of the user's that a session comes from, and its project there."""

    machine: str
    key: str = ""
    name: str = ""
    part: str = ""


class SessionDraft:
    """What one source says about one session since the cursor."""

    def __init__(self, native: str, *, begin: bool) -> None:
        self.native = native
        self.begin = begin  # replaces what is stored instead of adding to it
        self.facts = Facts(native)
        self.place = ""  # the real working folder; never stored
        self.parts: list[_Turn] = []
        self.turns: tuple[TurnText, ...] = ()  # the finished parts
        self.open = False  # the first turn continues a stored one
        self.next_n = 0
        self.touches: dict[str, Touch] = {}
        self.refs: dict[tuple[str, str], Ref] = {}
        self.notes: dict[int, Checkpoint] = {}
        self.last_at = 0
        self.about = ""  # the summary, if it is known
        self.origin: Origin | None = None  # of a session of another machine

    @property
    def summary(self) -> str:
        """The first informative prompt of the user."""
        if self.about:
            return self.about
        first = ""
        for turn in self.turns:
            summary = shorten(turn.asked, MAX_SUMMARY)
            if is_informative(summary):
                return summary
            first = first or summary
        return first


class SessionBuilder:
    """Collect the events of one source; the caller takes the drafts at a mark."""

    def __init__(
        self,
        *,
        from_start: bool,
        begun: Container[str],
        redact: Callable[[str], str],
        open_turn: Callable[[str], tuple[int, TurnText | None]],
        name: Callable[[str], str] = str,
    ) -> None:
        """Configure the builder.

        `from_start`: the source is read from its start, so its sessions begin, except those that have `begun`
        in an earlier portion. `open_turn` returns the number of a continued session's next turn, and the turn
        before it (None if that turn is a copy stored with another session). `name` redacts a session id.
        """
        self._from_start = from_start
        self._begun = begun
        self._redact = redact
        self._open_turn = open_turn
        self._name = name
        self.drafts: dict[str, SessionDraft] = {}
        self.problems: list[Problem] = []
        self.cursor: Cursor | None = None
        self.weight = 0  # characters
        self._paths: dict[str, str] = {}

    def add(self, event: Event | Problem) -> None:
        """Add one event."""
        if isinstance(event, Message):
            self._add_message(event)
        elif isinstance(event, Facts):
            self._add_facts(event)
        elif isinstance(event, Touch):
            self._add_touch(event)
        elif isinstance(event, Ref):
            self._add_ref(
                self._draft(event.session), event.kind, self._clip(event.value, _MAX_NAME), event.at
            )
        elif isinstance(event, Checkpoint):
            self._add_note(event)
        elif isinstance(event, Begin):
            self.drafts[event.session] = SessionDraft(self._native(event.session), begin=True)
        elif isinstance(event, Mark):
            self.cursor = self._redact_cursor(event.cursor)
        elif isinstance(event, Problem):
            self.problems.append(Problem(event.line, self._clip(event.reason, _MAX_NAME)))

    def finish(self) -> tuple[SessionDraft, ...]:
        """Clean and redact the turns; return the drafts."""
        for draft in self.drafts.values():
            turns = []
            texts = iter(redact_all(self._redact, [text for part in draft.parts for text in part.texts]))
            for part in draft.parts:
                asked, answered, steps = (next(texts) for _ in range(3))
                # What told gave to the agent would be found again as the agent's own words.
                asked, answered = strip_message(strip_fenced(asked)), strip_fenced(answered).strip()
                turns.append(TurnText(part.n, part.at, part.key, asked, answered, steps.strip()))
                for repository, kind, number in _ISSUE_URL.findall(f"{asked}\n{answered}"):
                    ref_kind = "issue" if kind == "issues" else "pr"
                    self._add_ref(draft, ref_kind, f"{repository}#{number}", part.at)
            draft.turns = tuple(turn for turn in turns if turn.asked or turn.answered or turn.steps)
        return tuple(self.drafts.values())

    def _draft(self, session: str) -> SessionDraft:
        draft = self.drafts.get(session)
        if draft is None:
            begin = self._from_start and session not in self._begun
            draft = self.drafts[session] = SessionDraft(self._native(session), begin=begin)
            if not begin:
                draft.next_n, last = self._open_turn(draft.native)
                draft.open = draft.next_n > 0
                if last is not None:
                    turn = _Turn(last.n, last.at, last.key, last.asked)
                    if last.answered:
                        turn.add_answer(last.answered, "")
                    if last.steps:
                        turn.add_stored_steps(last.steps)
                    draft.parts.append(turn)
        return draft

    def _native(self, session: str) -> str:
        # Lone surrogates cannot be stored as UTF-8.
        return self._name(session.encode("utf-8", "replace").decode())

    def _clip(self, text: str, limit: int) -> str:
        if not text:
            return ""
        return self._redact(cut_at_word(text, limit * 2))[:limit]

    def _add_message(self, message: Message) -> None:
        if not message.text:
            return
        draft = self._draft(message.session)
        draft.last_at = max(draft.last_at, message.at)
        self.weight += len(message.text)
        if message.who == USER:
            asked = cut_at_word(message.text, _MAX_ASKED)
            draft.parts.append(_Turn(draft.next_n, message.at, message.key, asked))
            draft.next_n += 1
            draft.open = False
            return
        if not draft.parts:
            if draft.open:  # continues a copied turn that is stored with another session
                return
            draft.parts.append(_Turn(draft.next_n, message.at, message.key, ""))
            draft.next_n += 1
        turn = draft.parts[-1]
        turn.at = turn.at or message.at
        if message.form == "step":
            turn.add_step(message.text)
        else:
            turn.add_answer(message.text, message.key)

    def _add_facts(self, facts: Facts) -> None:
        draft = self._draft(facts.session)
        old = draft.facts
        keeps_title = not facts.title or (old.title_by == USER and old.title and facts.title_by != USER)
        draft.place = draft.place or cut_at_word(clean(facts.cwd), _MAX_NAME)
        draft.facts = Facts(
            session=draft.native,
            cwd=old.cwd or redact_path(draft.place, self._redact),
            branch=self._clip(facts.branch, 200) or old.branch,
            repository=self._clip(facts.repository, 400) or old.repository,
            title=old.title if keeps_title else shorten(self._clip(facts.title, 400), MAX_SUMMARY),
            title_by=old.title_by if keeps_title else facts.title_by,
            started=min(filter(None, (old.started, facts.started)), default=0),
            parent=self._native(facts.parent) or old.parent,
            kind=facts.kind or old.kind,
            archived=facts.archived or old.archived,
            model=self._clip(facts.model, 100) or old.model,
        )

    def _add_touch(self, touch: Touch) -> None:
        draft = self._draft(touch.session)
        path = self._paths.get(touch.path)
        if path is None:
            path = self._paths[touch.path] = self._clip(touch.path, _MAX_NAME).strip()
        if path:
            known = draft.touches.get(path)
            how = known.how if known is not None and touch.how == "read" else touch.how
            draft.touches[path] = Touch("", path, how, max(touch.at, known.at if known else 0))
            draft.last_at = max(draft.last_at, touch.at)

    def _add_ref(self, draft: SessionDraft, kind: str, value: str, at: int) -> None:
        if value:
            draft.refs.setdefault((kind, value), Ref("", kind, value, at))

    def _add_note(self, note: Checkpoint) -> None:
        draft = self._draft(note.session)
        texts: dict[str, Any] = {
            name: self._clip(getattr(note, name), _MAX_NOTE).strip() for name in NOTE_TEXTS[1:]
        }
        self.weight += sum(map(len, texts.values()))
        title = shorten(self._clip(note.title, _MAX_NAME), MAX_SUMMARY)
        number = max(0, min(note.number, 1_000_000))
        draft.notes[number] = Checkpoint(session="", number=number, title=title, at=note.at, **texts)
        draft.last_at = max(draft.last_at, note.at)

    def _redact_cursor(self, cursor: Cursor) -> Cursor:
        """Redact the state of a reader, which is stored, too."""
        if not cursor.state or self._redact(cursor.state) == cursor.state:
            return cursor
        return replace(cursor, state=change_state(cursor.state, self._redact, names=True))


def change_state(state: str, change: Callable[[str], str], *, names: bool = False) -> str:
    """Change every text in the state of a reader, with `names` also the keys."""

    def change_value(value: Any) -> Any:
        if isinstance(value, str):
            return change(value)
        if isinstance(value, dict):
            return {change(name) if names else name: change_value(item) for name, item in value.items()}
        return [change_value(item) for item in value] if isinstance(value, list) else value

    try:
        value = json.loads(state)
        new = change_value(value)
    except (ValueError, RecursionError):
        return change(state)
    return state if new == value else json.dumps(new)


def change_summary(
    summary: str, before: Iterable[TurnText], after: Iterable[TurnText], change: Callable[[str], str]
) -> str:
    """Change a summary, which may be a shortened prompt, as the turns were changed."""
    for old, new in zip(before, after, strict=True):
        if old.asked != new.asked and summary and shorten(old.asked, MAX_SUMMARY) == summary:
            return shorten(new.asked, MAX_SUMMARY)
    return change(summary)
